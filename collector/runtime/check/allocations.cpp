// SPDX-License-Identifier: MIT
#include "collector/runtime/check/allocations.h"

#include <chrono>
#include <optional>

namespace warpmeter::runtime {
namespace {

/// Nothing for what the program has not allocated by itself: a module's variables, its own memory
/// that it has registered, and memory of another process.
std::optional<inject::MemoryKind> kind_of(const Block& block) {
  if (block.is_imported) return std::nullopt;
  switch (block.kind) {
    case MemoryKind::device:
    case MemoryKind::mapped:
      return inject::MemoryKind::device;
    case MemoryKind::managed:
      return inject::MemoryKind::managed;
    case MemoryKind::pinned:
      return inject::MemoryKind::pinned;
    case MemoryKind::registered:
    case MemoryKind::module:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

void Allocations::allocated(const Block& block) {
  const std::optional<inject::MemoryKind> kind = kind_of(block);
  if (!kind) return;
  living_[block.address] = {block.address,
                            block.bytes,
                            static_cast<std::uint32_t>(block.device),
                            *kind,
                            std::chrono::steady_clock::now(),
                            std::nullopt};
}

void Allocations::released(const Block& block) {
  const auto found = living_.find(block.address);
  if (found == living_.end()) return;
  found->second.end = std::chrono::steady_clock::now();
  report_.allocated(found->second);
  living_.erase(found);
}

void Allocations::end() {
  for (const auto& [address, memory] : living_) report_.allocated(memory);
  living_.clear();
}

}  // namespace warpmeter::runtime
