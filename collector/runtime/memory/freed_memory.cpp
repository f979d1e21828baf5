// SPDX-License-Identifier: MIT
#include "collector/runtime/memory/freed_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace warpmeter::runtime {
namespace {

/// Most of a larger piece is rarely touched, and all of it would be zeroed.
constexpr std::uint64_t most_page_bytes = std::uint64_t{256} << 20;

}  // namespace

FreedMemory::~FreedMemory() { keep(0); }

void FreedMemory::drop_pages(Freed& freed) {
  if (freed.pages == nullptr) return;
  munmap(freed.pages, freed.page_bytes);
  kept_ -= std::exchange(freed.page_bytes, 0);
  freed.pages = nullptr;
}

void FreedMemory::add(std::uint64_t begin, std::uint64_t bytes, std::uint64_t free,
                      std::byte* pages) {
  Freed freed{bytes + free, bytes, pages};
  kept_ += pages == nullptr ? 0 : bytes;
  if (bytes > most_page_bytes) drop_pages(freed);
  // Neighbours make one piece, without pages.
  const auto after = pieces_.find(begin + freed.bytes);
  const auto next = pieces_.lower_bound(begin);
  const auto before = next == pieces_.begin() ? pieces_.end() : std::prev(next);
  const bool is_behind = before != pieces_.end() && before->first + before->second.bytes == begin &&
                         before->second.pages == nullptr && freed.pages == nullptr;
  if (after != pieces_.end() && after->second.pages == nullptr && freed.pages == nullptr) {
    freed.bytes += after->second.bytes;
    pieces_.erase(after);
  }
  if (is_behind) {
    before->second.bytes += freed.bytes;
  } else {
    pieces_[begin] = freed;
  }
}

std::optional<FreedMemory::Piece> FreedMemory::take(std::uint64_t bytes, std::uint64_t free) {
  const auto found = std::find_if(pieces_.begin(), pieces_.end(), [&](const auto& piece) {
    return piece.second.bytes >= bytes + free;
  });
  if (found == pieces_.end()) return std::nullopt;
  Freed freed = found->second;
  Piece piece{found->first, nullptr};
  pieces_.erase(found);
  if (freed.pages != nullptr && freed.page_bytes == bytes) {
    std::memset(freed.pages, 0, bytes);
    piece.pages = std::exchange(freed.pages, nullptr);
    kept_ -= bytes;
  }
  drop_pages(freed);
  const std::uint64_t rest = freed.bytes - bytes - free;
  if (rest > free) add(piece.begin + bytes + free, rest - free, free, nullptr);
  return piece;
}

void FreedMemory::keep(std::uint64_t most) {
  for (auto& [begin, freed] : pieces_) {
    if (kept_ <= most) return;
    drop_pages(freed);
  }
}

}  // namespace warpmeter::runtime
