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

cudaError_t null_side(Process& process, const char* side) {
  return wrong_copy(process, "failed call", fmt::format("its {} is a null pointer", side));
}

}  // namespace warpmeter::runtime
