// SPDX-License-Identifier: MIT
// `new` and `delete` of the library: its own heap's. They are of this library alone, as all its
// names are but those that `exports.map` lists; the program's are what they were.
#include <pthread.h>

#include <cstddef>
#include <new>

#include "collector/runtime/entry/own_heap.h"

namespace {

constinit warpmeter::runtime::OwnHeap heap;

[[gnu::constructor]] void stay_whole_in_children() {
  ::pthread_atfork([] { heap.lock(); }, [] { heap.unlock(); }, [] { heap.unlock(); });
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (void* const block = heap.allocate(bytes, alignment); block != nullptr) return block;
  throw std::bad_alloc();
}

constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, usual); }
void* operator new[](std::size_t bytes) { return allocate(bytes, usual); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return heap.allocate(bytes, usual);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return heap.allocate(bytes, usual);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { heap.free(block); }
void operator delete[](void* block) noexcept { heap.free(block); }
void operator delete(void* block, std::size_t) noexcept { heap.free(block); }
void operator delete[](void* block, std::size_t) noexcept { heap.free(block); }
void operator delete(void* block, std::align_val_t) noexcept { heap.free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { heap.free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { heap.free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { heap.free(block); }
