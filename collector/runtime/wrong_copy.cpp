#include "collector/runtime/wrong_copy.h"

#include <fmt/format.h>

#include <string>

namespace warpmeter::runtime {
namespace {

/// One side of a copy that leads to nothing that may be copied: the sentence for it.
std::string why_unreachable(Process& process, std::uint64_t address, std::uint64_t bytes,
                            const char* side) {
  if (const Block* block = process.memory().find(address)) {
    const std::uint64_t end = address - block->address + bytes;
    return fmt::format("its {} goes {} byte{} past the end of {}", side, end - block->bytes,
                       end - block->bytes == 1 ? "" : "s", block->name);
  }
  if (const Checks::Freed* freed = process.checks()->freed_at(address)) {
    return fmt::format("its {} is {}, which was freed before{}", side, freed->name, freed->where);
  }
  return fmt::format("its {} is no memory of the device", side);
}

cudaError_t wrong_copy(Process& process, const char* kind, const std::string& why) {
  return process.refuse(cudaErrorInvalidValue, kind, [&] { return why; });
}

/// "cudaMemcpyHostToDevice"
const char* kind_name(cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return "cudaMemcpyHostToHost";
    case cudaMemcpyHostToDevice:
      return "cudaMemcpyHostToDevice";
    case cudaMemcpyDeviceToHost:
      return "cudaMemcpyDeviceToHost";
    case cudaMemcpyDeviceToDevice:
      return "cudaMemcpyDeviceToDevice";
    case cudaMemcpyDefault:
      break;
  }
  return "cudaMemcpyDefault";
}

}  // namespace

cudaError_t unreachable(Process& process, std::uint64_t address, std::uint64_t bytes,
                        const char* side) {
  if (process.checks() == nullptr) return cudaErrorInvalidValue;
  const bool is_past_end = process.memory().find(address) != nullptr;
  const bool is_freed = process.checks()->freed_at(address) != nullptr;
  return wrong_copy(process,
                    is_past_end ? "out of bounds"
                    : is_freed  ? "use after free"
                                : "failed call",
                    why_unreachable(process, address, bytes, side));
}

cudaError_t wrong_direction(Process& process, const CopyWork& copy, bool is_target) {
  const std::uint64_t address = is_target ? copy.to : copy.from;
  const Block* block = process.memory().find(address);
  const char* side = is_target ? "destination" : "source";
  const bool is_of_device =
      address >= model::first_module_variable && address < model::first_window;
  if (block == nullptr && is_of_device) return unreachable(process, address, 0, side);
  return wrong_copy(process, "wrong direction",
                    fmt::format("it is {} and its {} is {}", kind_name(copy.kind), side,
                                block != nullptr ? block->name : "memory of the host"));
}

void look_at_direction(Process& process, const CopyWork& copy) {
  if (process.checks() == nullptr || copy.kind == cudaMemcpyDefault) return;
  // Memory that both reach (managed, pinned) is on either side.
  const auto of_device = [&](std::uint64_t address) {
    const Block* block = process.memory().find(address);
    const bool is_of_device = block != nullptr && (block->kind == MemoryKind::device ||
                                                   block->kind == MemoryKind::mapped ||
                                                   block->kind == MemoryKind::module);
    return is_of_device ? block : nullptr;
  };
  const bool is_to_host = copy.kind == cudaMemcpyHostToHost || copy.kind == cudaMemcpyDeviceToHost;
  const bool is_from_host =
      copy.kind == cudaMemcpyHostToHost || copy.kind == cudaMemcpyHostToDevice;
  const Block* to = is_to_host ? of_device(copy.to) : nullptr;
  const Block* from = is_from_host ? of_device(copy.from) : nullptr;
  if (to == nullptr && from == nullptr) return;
  process.checks()->find_direction(
      process.function(),
      fmt::format("{} is {} and its {} is {}: CUDA does not say what becomes of such a copy",
                  process.function(), kind_name(copy.kind),
                  to != nullptr ? "destination" : "source", to != nullptr ? to->name : from->name));
}

cudaError_t null_side(Process& process, const char* side) {
  return wrong_copy(process, "failed call", fmt::format("its {} is a null pointer", side));
}

}  // namespace warpmeter::runtime
