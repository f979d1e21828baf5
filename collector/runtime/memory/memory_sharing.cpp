// SPDX-License-Identifier: MIT
// Device memory that processes share. The addresses are each process's own, the bytes the same.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "collector/runtime/memory/memory.h"

namespace warpmeter::runtime {
namespace {

/// Memory that nothing was written to takes no memory behind it either.
void copy_written(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  static constexpr std::array<std::byte, host_page_bytes> zeros{};
  for (std::uint64_t at = 0; at < bytes; at += host_page_bytes) {
    const std::uint64_t count = std::min(host_page_bytes, bytes - at);
    if (std::memcmp(from + at, zeros.data(), count) != 0) std::memcpy(to + at, from + at, count);
  }
}

}  // namespace

const Block* Memory::share(std::uint64_t address) {
  const Block* found = find(address);
  if (found == nullptr) return nullptr;
  Block& block = *blocks_[found->address];
  if (block.pages.process != 0) return &block;
  SharedPages pages = SharedPages::make(block.mapping_bytes);
  void* mapped = pages.process == 0 ? nullptr : map_pages(pages);
  if (mapped != nullptr) {
    copy_written(static_cast<std::byte*>(mapped), static_cast<const std::byte*>(block.mapping),
                 block.mapping_bytes);
    munmap(mapped, block.mapping_bytes);
    // In the place of what was there: the machine and pending copies know the address.
    mapped = map_pages(pages, block.mapping);
  }
  if (mapped == nullptr) {
    pages.drop();
    return nullptr;
  }
  block.pages = pages;
  return &block;
}

const Block* Memory::open(const SharedPages& pages, std::uint64_t before, std::uint64_t bytes,
                          int device, Label label) {
  for (const auto& [address, known] : blocks_) {
    if (!known->is_imported || known->pages.token != pages.token) continue;
    ++known->opened;
    return known.get();
  }
  if (before > pages.bytes || bytes == 0 || bytes > pages.bytes - before) return nullptr;
  Block block;
  block.bytes = bytes;
  block.device = device;
  block.name = std::move(label.name);
  block.where = std::move(label.where);
  block.pages = pages;
  block.is_imported = true;
  block.opened = 1;
  block.mapping = map_pages(pages);
  if (block.mapping == nullptr) return nullptr;
  block.mapping_bytes = pages.bytes;
  block.host = static_cast<std::byte*>(block.mapping) + before;
  block.address = place(bytes);
  if (block.address == 0) {
    munmap(block.mapping, block.mapping_bytes);
    return nullptr;
  }
  return keep(std::move(block), {before, pages.bytes - before - bytes});
}

bool Memory::close(std::uint64_t address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || !found->second->is_imported) return false;
  return release(address);
}

}  // namespace warpmeter::runtime
