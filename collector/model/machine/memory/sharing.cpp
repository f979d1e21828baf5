// SPDX-License-Identifier: MIT
#include "collector/model/machine/memory/sharing.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace warpmeter::model {
namespace {

constexpr std::uint64_t word_bytes = 4, words_together = 32;
constexpr int written_shift = 32;

/// True if a block may have touched `now` beside those that touched `before`.
bool go_together(std::uint64_t now, std::uint64_t before) {
  const std::uint64_t all = now | now >> written_shift;
  const std::uint64_t written = now >> written_shift;
  return (all & before >> written_shift) == 0 && (written & before) == 0;
}

}  // namespace

void Sharing::Free::operator()(std::uint64_t* words) const { std::free(words); }

/// Zero pages, which cost nothing until they are touched.
Sharing::Words Sharing::no_words(const Allocation& allocation) {
  const std::size_t count = allocation.data.size() / (word_bytes * words_together) + 1;
  Words words(static_cast<std::uint64_t*>(std::calloc(count, sizeof(std::uint64_t))));
  if (words == nullptr) throw std::bad_alloc();
  return words;
}

Sharing::Sharing(DeviceMemory& memory, std::uint64_t most_bytes, unsigned threads)
    : memory_(memory), most_bytes_(most_bytes), threads_(threads) {
  memory_.for_each([](Allocation& allocation) {
    allocation.is_loaded = false;
    allocation.is_stored = false;
    allocation.touched = nullptr;
  });
}

void Sharing::keep(Allocation& allocation) {
  const std::uint64_t bytes = bytes_of(allocation);
  if (bytes > most_bytes_ - kept_bytes_) throw std::bad_alloc();
  kept_bytes_ += bytes;
  Kept& kept = kept_.emplace_back(
      Kept{&allocation, {allocation.data.begin(), allocation.data.end()}, no_words(allocation)});
  allocation.touched = kept.touched.get();
}

/// A copy, and what all blocks and each thread's touched.
std::uint64_t Sharing::bytes_of(const Allocation& allocation) const {
  constexpr std::uint64_t noted_bytes = word_bytes * words_together / sizeof(std::uint64_t);
  return allocation.data.size() + allocation.data.size() / noted_bytes * (threads_ + 1);
}

bool Sharing::begin() {
  std::uint64_t bytes = 0;
  memory_.for_each([&](const Allocation& allocation) {
    if (allocation.is_stored) bytes += bytes_of(allocation);
  });
  if (bytes > most_bytes_) return false;
  side_by_side_ = true;
  memory_.for_each([&](Allocation& allocation) {
    if (allocation.is_stored) keep(allocation);
    allocation.is_loaded = false;  // by the first block, which came before all others
  });
  return true;
}

std::uint64_t* Sharing::enter(Allocation& allocation, bool stores) {
  if (!stores) {
    // A store that comes now either sees this, or is seen here.
    if (!allocation.is_loaded) allocation.is_loaded = true;
    return allocation.is_stored && side_by_side_ ? allocation.touched.load() : nullptr;
  }
  if (!side_by_side_) {
    allocation.is_stored = true;
    return nullptr;
  }
  if (allocation.touched.load() == nullptr) {
    const std::lock_guard lock(mutex_);
    if (allocation.touched.load() == nullptr) keep(allocation);
    allocation.is_stored = true;
    if (allocation.is_loaded) conflict_ = true;  // by blocks of which nothing is known
  }
  return allocation.touched.load();
}

void Sharing::restore() {
  for (Kept& kept : kept_) {
    std::copy(kept.contents.begin(), kept.contents.end(), kept.allocation->data.begin());
  }
}

TouchedWords* Footprint::enter(Allocation& allocation, bool stores) {
  std::uint64_t* by_any = sharing_.enter(allocation, stores);
  if (by_any == nullptr) return nullptr;
  for (Entered& known : entered_) {
    if (known.allocation == &allocation) return &known.words;
  }
  Entered& entered = entered_.emplace_back();
  entered.allocation = &allocation;
  entered.own = Sharing::no_words(allocation);
  entered.words = {entered.own.get(), by_any};
  return &entered.words;
}

void Footprint::touch(const TouchedWords& words, std::uint64_t offset, std::uint64_t bytes,
                      bool stores) {
  std::uint64_t first = offset / word_bytes;
  const std::uint64_t end = (offset + bytes - 1) / word_bytes + 1;
  while (first < end) {
    const std::uint64_t at = first / words_together, low = first % words_together;
    const std::uint64_t count = std::min(end - first, words_together - low);
    const std::uint64_t bits = ((std::uint64_t{1} << count) - 1) << low;
    std::uint64_t& own = words.by_this_block[at];
    if (own == 0) touched_.push_back({&own, words.by_any + at});
    own |= stores ? bits << written_shift : bits;
    first += count;
  }
}

void Footprint::end_block() {
  for (const TouchedWords& words : touched_) {
    const std::uint64_t now = std::exchange(*words.by_this_block, 0);
    const std::atomic_ref<std::uint64_t> any(*words.by_any);
    const std::uint64_t known = any.load(std::memory_order_relaxed);
    const std::uint64_t before =
        (known & now) == now ? known : any.fetch_or(now, std::memory_order_relaxed);
    if (!go_together(now, before)) sharing_.conflict_.store(true, std::memory_order_relaxed);
  }
  touched_.clear();
}

}  // namespace warpmeter::model
