// SPDX-License-Identifier: MIT
#include "collector/runtime/stream/wrong_copy.h"

#include "base/with_noun.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace warpmeter::runtime {
namespace {

/// One side of a copy that leads to nothing that may be copied: the sentence for it.
std::string why_unreachable(Process& process, std::uint64_t address, std::uint64_t bytes,
                            const char* side) {
  if (const Block* block = process.memory().find(address)) {
    const std::uint64_t end = address - block->address + bytes;
    return fmt::format("its {} goes {} past the end of {}", side,
                       with_noun(end - block->bytes, "byte"), block->name);
  }
  if (process.checks() == nullptr) return fmt::format("its {} is no memory of the device", side);
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

/// Where the rows of one side of a copy lie.
struct Rows {
  std::uint64_t base, pitch, layer;
};

/// Rows ascend on both sides. A copy onto itself changes nothing, whatever its order.
bool has_common_bytes(const Rows& to, const Rows& from, const CopyWork& copy) {
  const bool has_rows = copy.height > 1 || copy.depth > 1;
  const bool has_layers = copy.depth > 1;
  if (to.base == from.base && (!has_rows || to.pitch == from.pitch) &&
      (!has_layers || to.layer == from.layer)) {
    return false;
  }
  const auto begin = [&](const Rows& side, std::uint64_t row) {
    return side.base + row / copy.height * side.layer + row % copy.height * side.pitch;
  };
  const std::uint64_t rows = copy.height * copy.depth;
  const auto end = [&](const Rows& side) { return begin(side, rows - 1) + copy.width; };
  if (end(to) <= from.base || end(from) <= to.base) return false;
  for (std::uint64_t i = 0, k = 0; i < rows && k < rows;) {
    const std::uint64_t target = begin(to, i), source = begin(from, k);
    if (target < source + copy.width && source < target + copy.width) return true;
    ++(target < source ? i : k);
  }
  return false;
}

}  // namespace

Obstacle obstacle_at(Process& process, std::uint64_t address, std::uint64_t bytes,
                     const char* side) {
  const bool is_past_end = process.memory().find(address) != nullptr;
  const bool is_freed =
      process.checks() != nullptr && process.checks()->freed_at(address) != nullptr;
  return {is_past_end ? "out of bounds"
          : is_freed  ? "use after free"
                      : "failed call",
          why_unreachable(process, address, bytes, side)};
}

cudaError_t unreachable(Process& process, std::uint64_t address, std::uint64_t bytes,
                        const char* side) {
  if (process.checks() == nullptr) return cudaErrorInvalidValue;
  const auto [kind, why] = obstacle_at(process, address, bytes, side);
  return wrong_copy(process, kind, why);
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
  process.checks()->find_in_call(
      "wrong direction", process.function(),
      fmt::format("{} is {} and its {} is {}: CUDA does not say what becomes of such a copy",
                  process.function(), kind_name(copy.kind),
                  to != nullptr ? "destination" : "source", to != nullptr ? to->name : from->name));
}

void look_at_overlap(Process& process, const CopyWork& copy, std::uint64_t to, std::uint64_t from) {
  if (!has_common_bytes(
          {to, copy.to_pitch, copy.to_pitch * std::max(copy.to_height, copy.height)},
          {from, copy.from_pitch, copy.from_pitch * std::max(copy.from_height, copy.height)},
          copy)) {
    return;
  }
  const Block* block = process.memory().find(copy.from);
  const std::uint64_t apart = std::max(to, from) - std::min(to, from);
  process.checks()->find_in_call(
      "overlapping copy", process.function(),
      fmt::format(
          "{} copies within {}: its destination begins {} {} its source, and both "
          "have bytes in common; CUDA does not say what is there afterwards: copy by way of "
          "another buffer",
          process.function(), block != nullptr ? block->name : "memory of the host",
          with_noun(apart, "byte"), to < from ? "before" : "behind"));
}

cudaError_t null_side(Process& process, const char* side) {
  return wrong_copy(process, "failed call", fmt::format("its {} is a null pointer", side));
}

}  // namespace warpmeter::runtime
