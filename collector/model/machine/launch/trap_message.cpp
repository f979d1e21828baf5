// SPDX-License-Identifier: MIT
#include "collector/model/machine/launch/trap_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/kernel_name.h"
#include "base/lanes.h"
#include "base/with_noun.h"
#include "collector/model/counts/rules/counting.h"
#include "collector/model/machine/bulk.h"
#include "collector/model/machine/cluster.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/model/machine/launch/waiting_message.h"
#include "collector/model/machine/memory/shown_name.h"

namespace warpmeter::model {
namespace {

std::string bytes(std::uint64_t count) { return with_noun(count, "byte"); }

/// Nothing lies so near to address 0 that it could be meant by an offset from a null pointer.
constexpr std::uint64_t most_from_null = std::uint64_t{1} << 20;

/// Where this machine's programs have their heaps, stacks and libraries. Device memory of the model
/// lies elsewhere.
bool is_of_host(std::uint64_t address) {
  return address >> 40 == 0x7f || address >> 40 == 0x55 || address >> 40 == 0x56;
}

std::string described(const Allocation& allocation) {
  return model::described(shown_name(allocation), allocation.data.size(), allocation.address);
}

/// Bytes between an address and an allocation that does not hold it.
std::uint64_t distance_to(const Allocation& allocation, std::uint64_t address) {
  return address < allocation.address ? allocation.address - address : address - allocation.end();
}

/// The nearest allocation that a person knows; null when none is so near that it could be meant.
const Allocation* neighbour(std::uint64_t address, const DeviceMemory& memory) {
  const Allocation* best = nullptr;
  memory.for_each([&](const Allocation& allocation) {
    const std::uint64_t distance = distance_to(allocation, address);
    if (distance > std::max<std::uint64_t>(least_gap, allocation.data.size())) return;
    if (!has_shown_name(allocation)) return;
    if (best == nullptr || distance < distance_to(*best, address)) best = &allocation;
  });
  return best;
}

std::string freed(const DeviceMemory::Removed& removed, std::uint64_t address) {
  const std::string inside = bytes(address - removed.address);
  if (removed.name.empty()) {
    return fmt::format("{} into memory from malloc ({} at {:#x}) that was freed before", inside,
                       bytes(removed.bytes), removed.address);
  }
  if (names_its_place(removed.name)) {
    return fmt::format("{} into {}, which was freed before", inside,
                       model::described(removed.name, removed.bytes, removed.address));
  }
  return fmt::format("{} into '{}' ({} at {:#x}), which an earlier launch had and this one has not",
                     inside, removed.name, bytes(removed.bytes), removed.address);
}

/// Where a global address lies in relation to what is allocated.
std::string neighbourhood(std::uint64_t address, std::uint64_t width, const DeviceMemory& memory) {
  if (address == 0) return "a null pointer";
  if (address < most_from_null) return fmt::format("a null pointer (plus {})", bytes(address));
  if (0 - address < most_from_null) {
    return fmt::format("a null pointer (minus {})", bytes(0 - address));
  }
  if (const Allocation* begun = memory.find(address)) {
    if (begun->is_out_of_reach) {
      return fmt::format(
          "{} into {}, which lies on another device; cudaDeviceEnablePeerAccess() opens what "
          "cudaMalloc() gave there, cudaMemPoolSetAccess() a pool, cuMemSetAccess() mapped memory",
          bytes(address - begun->address), described(*begun));
    }
    if (begun->is_read_only) {
      return fmt::format("{} into {}, which the device may only read",
                         bytes(address - begun->address), described(*begun));
    }
    return fmt::format("of which the last {} past the end of {}",
                       address + width - begun->end() == 1
                           ? "byte lies"
                           : with_noun(address + width - begun->end(), "", "bytes lie"),
                       described(*begun));
  }
  if (const auto* removed = memory.find_removed(address)) return freed(*removed, address);
  const Allocation* nearest = neighbour(address, memory);
  if (nearest == nullptr) {
    return fmt::format(
        "which is in no buffer and far from all{}",
        is_of_host(address) ? ": it looks like an address of the host's memory" : "");
  }
  if (address < nearest->address) {
    return fmt::format("{} before {}", bytes(nearest->address - address), described(*nearest));
  }
  if (address == nearest->end()) return fmt::format("just past the end of {}", described(*nearest));
  return fmt::format("{} past the end of {}", bytes(address - nearest->end()), described(*nearest));
}

/// An address as the offset in its space that it is, without the window of generic addresses.
std::uint64_t offset_in(AddressSpace space, std::uint64_t address) {
  const std::uint64_t window = window_of(space);
  return window != 0 && address - window < window_bytes ? address - window : address;
}

/// Where an address of another space lies, which has so many bytes: "at 0x20, of which there are
/// 32 bytes". Negative indices lead to the end of the addresses, or of the window before.
std::string place_in(AddressSpace space, std::uint64_t address, std::uint64_t width,
                     std::uint64_t has) {
  const std::uint64_t offset = offset_in(space, address);
  const std::uint64_t before = window_bytes - offset % window_bytes;
  if (before < most_from_null) {
    AddressSpace meant = space;
    for (const AddressSpace next :
         {AddressSpace::shared, AddressSpace::local, AddressSpace::constant}) {
      if (offset != address && window_of(next) == window_of(space) + window_bytes) meant = next;
    }
    return fmt::format("of {} memory, {} before its beginning", to_string(meant), bytes(before));
  }
  const std::string at = fmt::format("of {} memory at {:#x}", to_string(space), offset);
  if (offset < has && width <= has - offset) return at + ", which kernels can only read";
  return fmt::format("{}, of which there {} {}", at, has == 1 ? "is" : "are", bytes(has));
}

/// Where an address leads in the shared memory of other blocks of the cluster.
std::string place_in_cluster(std::uint64_t address, std::uint64_t width, std::uint64_t has,
                             std::uint64_t blocks) {
  const std::uint64_t offset = offset_in(AddressSpace::cluster, address);
  const std::uint64_t rank = offset / cluster_step - 1, place = offset % cluster_step;
  const std::string whose =
      fmt::format("of the shared memory of block {} of its cluster at {:#x}", rank, place);
  if (rank >= blocks) return fmt::format("{}, which has {}", whose, with_noun(blocks, "block"));
  if (place + width > has) return fmt::format("{}, of which there are {}", whose, bytes(has));
  return whose +
         ", which has not begun; let cluster.sync() stand before the first access to another block";
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

/// The site of an instruction; with several, as copies have, the first that goes to the trap's
/// space.
const SiteInfo* site_of(const Program& program, const RaisedTrap& raised) {
  const SiteInfo* first = nullptr;
  for (const SiteInfo& site : program.sites) {
    if (site.instruction != raised.instruction || site.is_texture) continue;
    if (site.space == static_cast<AddressSpace>(raised.space)) return &site;
    if (first == nullptr) first = &site;
  }
  return first;
}

/// The forbidden deed of the access: "stores 4 bytes".
std::string deed(const RaisedTrap& raised, const SiteInfo* site) {
  return site == nullptr ? "uses memory"
                         : fmt::format("{} {}", verb(site->kind), bytes(raised.width));
}

std::string illegal_box(const RaisedTrap& raised, const std::string& kernel) {
  const auto number = static_cast<std::int64_t>(raised.address);
  std::string what;
  switch (static_cast<BoxFault>(raised.space)) {
    case BoxFault::no_descriptor:
      what = fmt::format(
          "by {:#x}, where no descriptor of a tensor is (cuTensorMapEncodeTiled or "
          "tensormap.replace makes "
          "one)",
          raised.address);
      break;
    case BoxFault::other_rank:
      what =
          fmt::format("by the descriptor at {:#x}, whose tensor has another number of dimensions",
                      raised.address);
      break;
    case BoxFault::column:
      what = fmt::format(
          "from {} into a row of the tensor; the first coordinate has to be at a multiple of {} "
          "bytes",
          with_noun(number, "byte"), box_chunk);
      break;
    case BoxFault::negative:
      what = fmt::format(
          "to a place of the tensor whose coordinate is {}; only loads may begin "
          "before it",
          number);
      break;
    case BoxFault::reduction:
      what = "with a reduction that the type of the tensor's elements has not";
      break;
  }
  return fmt::format("illegal instruction: kernel '{}' copies a box of a tensor {}", kernel, what);
}

std::string illegal_address(const RaisedTrap& raised, const Program& program,
                            const Geometry& geometry, const DeviceMemory& memory) {
  const auto space = static_cast<AddressSpace>(raised.space);
  const std::uint64_t shared = program.shared_bytes(geometry);
  const std::uint64_t has = space == AddressSpace::shared     ? shared
                            : space == AddressSpace::local    ? program.local_bytes
                            : space == AddressSpace::constant ? program.constant_memory.size()
                                                              : program.parameter_bytes;
  const std::string where = space == AddressSpace::global
                                ? fmt::format("of global memory at {:#x}, {}", raised.address,
                                              neighbourhood(raised.address, raised.width, memory))
                                : place_in(space, raised.address, raised.width, has);
  const std::string kernel = readable_name(program.kernel);
  const std::string does = deed(raised, site_of(program, raised));
  if (space == AddressSpace::local && program.takes_stack &&
      offset_in(space, raised.address) >= program.local_bytes) {
    return fmt::format(
        "stack overflow: kernel '{}' {} behind the {} bytes that a thread may take with alloca on "
        "the model",
        kernel, does, most_taken_bytes);
  }
  return fmt::format("illegal address: kernel '{}' {} {}", kernel, does, where);
}

bool is_exchange(const Program& program, std::uint32_t instruction) {
  return std::any_of(program.syncs.begin(), program.syncs.end(),
                     [&](const SyncInfo& sync) { return sync.instruction == instruction; });
}

std::string what_happened(const BlockTrap& trap, const Program& program, const Geometry& geometry,
                          const DeviceMemory& memory) {
  const RaisedTrap& raised = trap.raised;
  const auto space = static_cast<AddressSpace>(raised.space);
  const SiteInfo* site = site_of(program, raised);
  const std::string kernel = readable_name(program.kernel);
  const int lanes = std::popcount(raised.mask);
  switch (raised.kind) {
    case TrapKind::out_of_bounds:
      return illegal_address(raised, program, geometry, memory);
    case TrapKind::outside_cluster:
      return fmt::format(
          "launch failure: kernel '{}' {} {}", kernel, deed(raised, site),
          place_in_cluster(raised.address, raised.width, program.shared_bytes(geometry),
                           in_clusters(program, geometry).cluster.count()));
    case TrapKind::misaligned:
      return fmt::format(
          "misaligned address: kernel '{}' {} of {} memory at {:#x}, which is no multiple of {}",
          kernel, deed(raised, site), to_string(space), offset_in(space, raised.address),
          site == nullptr || site->is_bulk ? raised.width : site->alignment);
    case TrapKind::divergent_barrier:
      if (is_exchange(program, raised.instruction)) {
        return fmt::format(
            "threads missing: {} of a warp of kernel '{}' {} for others of the warp that the mask "
            "names and that never come",
            with_noun(lanes, "thread"), kernel, lanes == 1 ? "waits" : "wait");
      }
      return fmt::format(
          "barrier not reached: {} of a warp of kernel '{}' {} at a barrier that the others of the "
          "warp do not come to",
          with_noun(lanes, "thread"), kernel, lanes == 1 ? "is" : "are");
    case TrapKind::barrier_not_reached:
      return fmt::format(
          "barrier not reached: kernel '{}' waits at a barrier that other threads of "
          "the block never come to",
          kernel);
    case TrapKind::endless:
      return fmt::format("endless loop: a warp of kernel '{}' has used up its instruction budget",
                         kernel);
    case TrapKind::no_progress:
      return waiting_message(trap, program, geometry);
    case TrapKind::waits_outside:
      return fmt::format(
          "limit of warpmeter: kernel '{}' waits in a loop for what no thread of the grid brings "
          "about, but host code or another process may, and nothing has come for long",
          kernel);
    case TrapKind::stack_overflow:
      if (!program.has_calls) {
        return fmt::format("stack overflow: loops of kernel '{}' are nested too deeply", kernel);
      }
      return fmt::format(
          "stack overflow: functions of kernel '{}' call each other too deeply (a thread has {} "
          "bytes of stack and {} calls on the model)",
          kernel, stack_bytes, frames_of_calls);
    case TrapKind::outside_surface:
      return fmt::format("illegal address: kernel '{}' leaves a surface: {} is {}", kernel,
                         raised.space == 0   ? "its x, in bytes,"
                         : raised.space == 1 ? "its y"
                         : raised.space == 2 ? "its z"
                                             : "its layer",
                         static_cast<std::int64_t>(raised.address));
    case TrapKind::misaligned_surface:
      return fmt::format(
          "misaligned address: kernel '{}' accesses {} of a surface at byte {} of a row, which is "
          "no multiple of that",
          kernel, bytes(raised.width), static_cast<std::int64_t>(raised.address));
    case TrapKind::illegal_box:
      return illegal_box(raised, kernel);
    case TrapKind::incomplete_warpgroup:
      return fmt::format(
          "illegal instruction: kernel '{}' multiplies by a warpgroup of which some warps do not "
          "take part; wgmma takes all four warps that follow a multiple of four",
          kernel);
    case TrapKind::bad_call:
      return fmt::format(
          "illegal call: kernel '{}' calls through a pointer that leads to no function", kernel);
    case TrapKind::assertion:
      return fmt::format("failed assertion in kernel '{}': {} ({}:{})", kernel,
                         trap.assertion.expression, trap.assertion.file, trap.assertion.line);
    case TrapKind::trap_instruction:
    case TrapKind::none:
      break;
  }
  return fmt::format("trap: kernel '{}' ended itself (a trap or a jump past its table)", kernel);
}

}  // namespace

std::string parted_remark(const Program& program, const LaunchOutcome& outcome) {
  const std::optional<std::uint32_t> place = parted_at(program, outcome);
  if (!place) return "";
  return fmt::format(
      "kernel '{}' comes to {} with some threads of a warp only, which goes well on hardware as "
      "long "
      "as the others end, and is undefined in CUDA; {}",
      readable_name(program.kernel),
      is_exchange(program, *place) ? "an exchange between threads that its mask names"
                                   : "a barrier",
      place_of(program, program.places[*place]));
}

Trap describe(const BlockTrap& trap, const Program& program, const Geometry& geometry,
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
  if (result.kind == TrapKind::assertion) {
    const Assertion& failed = trap.assertion;
    const auto named = [](const Dim3& d) { return fmt::format("[{},{},{}]", d.x, d.y, d.z); };
    for_each_lane(trap.raised.mask, [&](unsigned lane) {
      result.assertion += fmt::format(
          "{}:{}: {}: block: {}, thread: {} Assertion `{}` failed.\n", failed.file, failed.line,
          failed.function, named(result.block),
          named(position(trap.warp * warp_lanes + lane, geometry.block)), failed.expression);
    });
  }
  return result;
}

}  // namespace warpmeter::model
