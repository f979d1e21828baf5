// SPDX-License-Identifier: MIT
#include "collector/runtime/entry/own_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>
#include <utility>

namespace warpmeter::runtime {
namespace {

constexpr std::size_t mapping_step = 4096;

std::size_t rounded_to(std::size_t bytes, std::size_t step) {
  return (bytes + step - 1) / step * step;
}

/// Fresh memory that begins at a multiple of `alignment`; null where there is none.
std::byte* map_fresh(std::size_t bytes, std::size_t alignment) {
  void* const mapped = ::mmap(nullptr, bytes + alignment, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapped);
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  const std::size_t before = rounded_to(address, alignment) - address;
  if (before != 0) ::munmap(begin, before);
  if (before != alignment) ::munmap(begin + before + bytes, alignment - before);
  return begin + before;
}

}  // namespace

std::size_t OwnHeap::index_of(std::size_t bytes) {
  if (bytes <= smallest) return 0;
  const auto doubling =
      static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;  // 2^doubling < bytes
  const std::size_t step = (std::size_t{1} << doubling) / steps;
  const std::size_t in_doubling = (bytes - 1 - (std::size_t{1} << doubling)) / step;
  return (doubling - 4) * steps + in_doubling + 1;
}

std::size_t OwnHeap::bytes_of(std::size_t index) {
  if (index == 0) return smallest;
  const std::size_t doubling = (index - 1) / steps + 4;
  const std::size_t base = std::size_t{1} << doubling;
  return base + base / steps * ((index - 1) % steps + 1);
}

OwnHeap::Chunk* OwnHeap::chunk_of(void* block) {
  return reinterpret_cast<Chunk*>(reinterpret_cast<std::uintptr_t>(block) & ~(chunk_bytes - 1));
}

OwnHeap::Part& OwnHeap::own_part() {
  // As the library is loaded with the program, its threads have room for it from the start: to
  // ask for it would allocate.
  [[gnu::tls_model("initial-exec")]] static thread_local std::size_t part = part_count;
  static constinit std::atomic<std::size_t> threads = 0;
  if (part == part_count) part = threads.fetch_add(1, std::memory_order_relaxed) % part_count;
  return parts_[part];
}

void* OwnHeap::allocate(std::size_t bytes, std::size_t alignment) {
  // Blocks of a power of two begin at its multiples.
  if (alignment > smallest) bytes = std::bit_ceil(std::max(bytes, alignment));
  if (bytes > largest_small) return allocate_large(bytes, alignment);
  return allocate_small(index_of(rounded_to(bytes, smallest)));
}

void* OwnHeap::allocate_small(std::size_t index) {
  Part& part = own_part();
  const std::lock_guard lock(part.mutex);
  Size& size = part.sizes[index];
  if (Free* const block = size.free; block != nullptr) {
    size.free = block->next;
    return block;
  }
  const std::size_t bytes = bytes_of(index);
  if (static_cast<std::size_t>(size.end - size.next) < bytes) {
    std::byte* const chunk = map_fresh(chunk_bytes, chunk_bytes);
    if (chunk == nullptr) return nullptr;
    new (chunk) Chunk{&part, index, 0, nullptr};
    size.next = chunk + rounded_to(sizeof(Chunk), bytes);
    size.end = chunk + chunk_bytes;
  }
  return std::exchange(size.next, size.next + bytes);
}

void* OwnHeap::allocate_large(std::size_t bytes, std::size_t alignment) {
  const std::size_t begin = std::max(alignment, std::size_t{64});
  if (begin >= chunk_bytes || bytes > SIZE_MAX / 2) return nullptr;
  const std::size_t needed = rounded_to(bytes + begin, mapping_step);
  {
    const std::lock_guard lock(large_mutex_);
    for (Chunk** kept = &kept_; *kept != nullptr; kept = &(*kept)->next_free) {
      Chunk* const chunk = *kept;
      if (chunk->mapped_bytes < needed || chunk->mapped_bytes / 2 > needed) continue;
      *kept = chunk->next_free;
      kept_bytes_ -= chunk->mapped_bytes;
      return reinterpret_cast<std::byte*>(chunk) + begin;
    }
  }
  std::byte* const mapped = map_fresh(needed, chunk_bytes);
  if (mapped == nullptr) return nullptr;
  new (mapped) Chunk{nullptr, 0, needed, nullptr};
  return mapped + begin;
}

void OwnHeap::free(void* block) {
  if (block == nullptr) return;
  Chunk* const chunk = chunk_of(block);
  if (chunk->part == nullptr) return free_large(chunk);
  const std::lock_guard lock(chunk->part->mutex);
  Size& size = chunk->part->sizes[chunk->index];
  size.free = new (block) Free{size.free};
}

void OwnHeap::free_large(Chunk* chunk) {
  {
    const std::lock_guard lock(large_mutex_);
    if (kept_bytes_ + chunk->mapped_bytes <= most_kept_bytes) {
      chunk->next_free = kept_;
      kept_ = chunk;
      kept_bytes_ += chunk->mapped_bytes;
      return;
    }
  }
  ::munmap(chunk, chunk->mapped_bytes);
}

void OwnHeap::lock() {
  for (Part& part : parts_) part.mutex.lock();
  large_mutex_.lock();
}

void OwnHeap::unlock() {
  large_mutex_.unlock();
  for (Part& part : parts_) part.mutex.unlock();
}

}  // namespace warpmeter::runtime
