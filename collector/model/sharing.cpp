// A word's owner: 0 for nobody, 2 × (block + 1) for a block that only read, one more for one that
// wrote, or `many` for several that only read.
#include "collector/model/sharing.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace warpmeter::model {
namespace {

constexpr std::uint32_t many = ~std::uint32_t{1};
constexpr std::uint64_t word_bytes = 4;

/// Whether the word may be touched; false when another block is in the way.
bool claim(std::uint32_t& word, std::uint32_t reader, bool stores) {
  const std::atomic_ref<std::uint32_t> owner(word);
  std::uint32_t now = owner.load();
  while (true) {
    if (now == (reader | 1)) return true;
    std::uint32_t next = 0;
    if (stores) {
      if (now != 0 && now != reader) return false;
      next = reader | 1;
    } else {
      if (now == reader || now == many) return true;
      if ((now & 1) != 0) return false;
      next = now == 0 ? reader : many;
    }
    if (owner.compare_exchange_weak(now, next)) return true;
  }
}

}  // namespace

void Sharing::Free::operator()(std::uint32_t* words) const { std::free(words); }

Sharing::Sharing(DeviceMemory& memory) : memory_(memory) {
  memory_.for_each([](Allocation& allocation) {
    allocation.is_loaded = false;
    allocation.is_stored = false;
    allocation.owners = nullptr;
  });
}

void Sharing::keep(Allocation& allocation) {
  // Zero pages, which cost nothing until they are touched.
  auto* words = static_cast<std::uint32_t*>(
      std::calloc(allocation.data.size() / word_bytes + 1, sizeof(std::uint32_t)));
  if (words == nullptr) throw std::bad_alloc();
  allocation.owners = words;
  kept_.push_back({&allocation, allocation.data, std::unique_ptr<std::uint32_t, Free>(words)});
}

void Sharing::begin() {
  side_by_side_ = true;
  memory_.for_each([&](Allocation& allocation) {
    if (allocation.is_stored) keep(allocation);
    allocation.is_loaded = false;  // by the first block, which came before all others
  });
}

std::uint32_t* Sharing::enter(Allocation& allocation, bool stores) {
  if (!stores) {
    // A store that comes now either sees this, or is seen here.
    allocation.is_loaded = true;
    return allocation.is_stored && side_by_side_ ? allocation.owners.load() : nullptr;
  }
  if (!side_by_side_) {
    allocation.is_stored = true;
    return nullptr;
  }
  if (allocation.owners.load() == nullptr) {
    const std::lock_guard lock(mutex_);
    if (allocation.owners.load() == nullptr) keep(allocation);
    allocation.is_stored = true;
    if (allocation.is_loaded) conflict_ = true;  // by blocks of which nothing is known
  }
  return allocation.owners.load();
}

void Sharing::touch(std::uint32_t* owners, std::uint64_t offset, std::uint32_t width,
                    std::uint64_t block, bool stores) {
  const auto reader = static_cast<std::uint32_t>(2 * (block + 1));
  const std::uint64_t last = (offset + width - 1) / word_bytes;
  for (std::uint64_t word = offset / word_bytes; word <= last; ++word) {
    if (!claim(owners[word], reader, stores)) conflict_.store(true, std::memory_order_relaxed);
  }
}

void Sharing::restore() {
  for (Kept& kept : kept_) {
    std::copy(kept.contents.begin(), kept.contents.end(), kept.allocation->data.begin());
  }
}

}  // namespace warpmeter::model
