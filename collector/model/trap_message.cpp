#include "collector/model/trap_message.h"

#include <fmt/format.h>

#include <bit>

#include "collector/model/counting.h"
#include "collector/model/kernel_file.h"

namespace warpmeter::model {
namespace {

std::string place_of(const Program& program, const Place& place) {
  if (place.line == 0 || static_cast<std::size_t>(place.file) >= program.files.size()) {
    return fmt::format("line {} of its PTX", place.ptx_line);
  }
  return fmt::format("{}:{} (line {} of its PTX)",
                     program.files[static_cast<std::size_t>(place.file)], place.line,
                     place.ptx_line);
}

kernels::Dim3 position(std::uint64_t linear, const kernels::Dim3& size) {
  return {static_cast<std::uint32_t>(linear % size.x),
          static_cast<std::uint32_t>(linear / size.x % size.y),
          static_cast<std::uint32_t>(linear / size.x / size.y)};
}

std::string to_string(const kernels::Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

/// Where a global address lies in relation to what is allocated.
std::string neighbourhood(std::uint64_t address, const DeviceMemory& memory) {
  const Allocation* nearest = memory.nearest(address);
  if (nearest == nullptr) return "nothing is allocated";
  const std::string what = fmt::format("'{}' ({} bytes at {:#x})", nearest->name,
                                       nearest->data.size(), nearest->address);
  if (address < nearest->address) {
    return fmt::format("{} bytes before {}", nearest->address - address, what);
  }
  if (address >= nearest->end()) {
    return fmt::format("{} bytes past the end of {}", address - nearest->end(), what);
  }
  return fmt::format("the last bytes of {}", what);
}

std::string_view verb(AccessKind kind) {
  switch (kind) {
    case AccessKind::load:
      return "loads";
    case AccessKind::store:
      return "stores";
    case AccessKind::atomic:
    case AccessKind::reduction:
      break;
  }
  return "changes";
}

const SiteInfo* site_of(const Program& program, std::uint32_t instruction) {
  for (const SiteInfo& site : program.sites) {
    if (site.instruction == instruction) return &site;
  }
  return nullptr;
}

std::string what_happened(const BlockTrap& trap, const Program& program,
                          const kernels::Geometry& geometry, const DeviceMemory& memory) {
  const RaisedTrap& raised = trap.raised;
  const auto space = static_cast<AddressSpace>(raised.space);
  const SiteInfo* site = site_of(program, raised.instruction);
  const std::string access =
      site == nullptr ? ""
                      : fmt::format("{} {} bytes of {} memory at {:#x}", verb(site->kind),
                                    raised.width, to_string(space), raised.address);
  const std::string kernel = readable_name(program.kernel);
  switch (raised.kind) {
    case TrapKind::out_of_bounds: {
      if (space == AddressSpace::global) {
        return fmt::format("illegal address: kernel '{}' {}, {}", kernel, access,
                           neighbourhood(raised.address, memory));
      }
      const std::uint64_t shared =
          geometry.dynamic_shared_bytes == 0
              ? program.static_shared_bytes
              : program.dynamic_shared_offset + std::uint64_t{geometry.dynamic_shared_bytes};
      const std::uint64_t has = space == AddressSpace::shared     ? shared
                                : space == AddressSpace::local    ? program.local_bytes
                                : space == AddressSpace::constant ? program.constant_memory.size()
                                                                  : program.parameter_bytes;
      return fmt::format("illegal address: kernel '{}' {}, of which there are {} bytes", kernel,
                         access, has);
    }
    case TrapKind::misaligned:
      return fmt::format("misaligned address: kernel '{}' {}, which is no multiple of {}", kernel,
                         access, raised.width);
    case TrapKind::divergent_barrier:
      return fmt::format(
          "barrier not reached: {} threads of a warp of kernel '{}' are at a barrier "
          "that the others of the warp do not come to",
          std::popcount(raised.mask), kernel);
    case TrapKind::barrier_not_reached:
      return fmt::format(
          "barrier not reached: kernel '{}' waits at a barrier that other threads of "
          "the block never come to",
          kernel);
    case TrapKind::endless:
      return fmt::format("endless loop: a warp of kernel '{}' has used up its instruction budget",
                         kernel);
    case TrapKind::no_progress:
      return fmt::format(
          "no progress: kernel '{}' waits in a loop for what no thread of the grid brings about",
          kernel);
    case TrapKind::stack_overflow:
      return fmt::format("stack overflow: functions of kernel '{}' call each other too deeply",
                         kernel);
    case TrapKind::bad_call:
      return fmt::format(
          "illegal call: kernel '{}' calls through a pointer that leads to no function", kernel);
    case TrapKind::assertion:
      return fmt::format("failed assertion in kernel '{}': {}", kernel, trap.assertion);
    case TrapKind::trap_instruction:
    case TrapKind::none:
      break;
  }
  return fmt::format("trap: kernel '{}' ended itself (a trap or a jump past its table)", kernel);
}

}  // namespace

Trap describe(const BlockTrap& trap, const Program& program, const kernels::Geometry& geometry,
              const DeviceMemory& memory) {
  Trap result;
  result.kind = trap.raised.kind;
  result.address = trap.raised.address;
  result.place = program.places[trap.raised.instruction];
  result.block = position(trap.block, geometry.grid);
  result.thread = position(trap.warp * warp_lanes + trap.raised.lane, geometry.block);
  result.message = fmt::format(
      "{}; {}, block {}, thread {}", what_happened(trap, program, geometry, memory),
      place_of(program, result.place), to_string(result.block), to_string(result.thread));
  return result;
}

}  // namespace warpmeter::model
