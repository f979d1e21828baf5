// SPDX-License-Identifier: MIT
#include "collector/runtime/memory/registered_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace warpmeter::runtime {
namespace {

/// The limit for all operations under way.
constexpr std::size_t most_bytes = std::size_t{64} << 20;

/// It is the program's own, which it may have given back to the system.
bool is_there(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t begin = address / host_page_bytes * host_page_bytes;
  return msync(reinterpret_cast<void*>(begin), address - begin + bytes, MS_ASYNC) == 0;
}

}  // namespace

void RegisteredMemory::keep(std::uint32_t operation, const Stretch& bytes, bool writes) {
  const Block* block = memory_.find(bytes.begin);
  if (block == nullptr || block->kind != MemoryKind::registered) return;
  if (!block->holds(bytes.begin, bytes.end - bytes.begin)) return;
  if (writes) {
    written_.push_back(bytes);
  } else {
    add(operation, bytes, false);
  }
}

void RegisteredMemory::keep_written(std::uint32_t operation) {
  for (const Stretch& bytes : written_) add(operation, bytes, true);
  written_.clear();
}

void RegisteredMemory::add(std::uint32_t operation, const Stretch& bytes, bool is_written) {
  const std::size_t count = bytes.end - bytes.begin;
  if (count > most_bytes - kept_) {
    is_partial_ = true;
    return;
  }
  const auto* from = reinterpret_cast<const std::byte*>(bytes.begin);
  touched_.push_back({operation, bytes.begin, is_written, {from, from + count}});
  kept_ += count;
}

void RegisteredMemory::look(const IsByDevice& is_by_device, const Tell& tell) {
  struct Changed {
    std::uint64_t address = 0, bytes = 0;
    bool was_written = false;
  };
  std::map<std::uint32_t, Changed> changed;
  for (Touched& one : touched_) {
    const std::size_t count = one.bytes.size();
    if (!is_there(one.address, count)) continue;
    const auto* now = reinterpret_cast<const std::byte*>(one.address);
    if (std::memcmp(now, one.bytes.data(), count) == 0) continue;
    for (std::size_t i = 0; i < count; ++i) {
      if (now[i] == one.bytes[i] || is_by_device(one.operation, one.address + i)) continue;
      const auto [place, is_new] = changed.try_emplace(one.operation);
      if (is_new) place->second.address = one.address + i;
      place->second.was_written |= one.is_written;
      ++place->second.bytes;
    }
    one.bytes.assign(now, now + count);  // it is reported once
  }
  for (const auto& [operation, what] : changed) {
    tell(operation, what.address, what.bytes, what.was_written);
  }
}

void RegisteredMemory::drop_if(const std::function<bool(std::uint32_t)>& is_done) {
  std::erase_if(touched_, [&](const Touched& one) {
    const bool goes = is_done(one.operation);
    if (goes) kept_ -= one.bytes.size();
    return goes;
  });
}

void RegisteredMemory::forget(const Block& block) {
  std::erase_if(touched_, [&](const Touched& one) {
    const bool goes = one.address - block.address < block.bytes;
    if (goes) kept_ -= one.bytes.size();
    return goes;
  });
}

void RegisteredMemory::forget_all() {
  touched_.clear();
  kept_ = 0;
}

}  // namespace warpmeter::runtime
