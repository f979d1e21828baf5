#include "collector/runtime/host_reads.h"

#include <sys/mman.h>

#include <cstring>
#include <iterator>
#include <map>

namespace warpmeter::runtime {
namespace {

/// Of all operations that are under way.
constexpr std::size_t most_bytes = std::size_t{64} << 20;

/// Registered memory is the program's own, which it may have given back to the system.
bool is_there(const Block& block, std::uint64_t address, std::uint64_t bytes) {
  if (block.kind != MemoryKind::registered) return true;
  const std::uint64_t begin = address / host_page_bytes * host_page_bytes;
  return msync(reinterpret_cast<void*>(begin), address - begin + bytes, MS_ASYNC) == 0;
}

}  // namespace

void HostReads::keep(std::uint32_t operation, std::uint64_t address, std::uint64_t bytes) {
  const Block* block = memory_.find(address);
  const bool is_of_host = block != nullptr && (block->kind == MemoryKind::managed ||
                                               block->kind == MemoryKind::pinned ||
                                               block->kind == MemoryKind::registered);
  if (!is_of_host || !block->holds(address, bytes)) return;
  if (bytes > most_bytes - kept_) {
    is_partial_ = true;
    return;
  }
  const std::byte* from = block->host + (address - block->address);
  reads_.push_back({operation, address, {from, from + bytes}});
  kept_ += bytes;
}

void HostReads::settle(const IsDone& is_done, const IsByDevice& is_by_device, const Tell& tell) {
  struct Changed {
    std::uint64_t address = 0, bytes = 0;
  };
  std::map<std::uint32_t, Changed> changed;
  for (auto read = reads_.begin(); read != reads_.end();) {
    if (!is_done(read->operation)) {
      ++read;
      continue;
    }
    const std::size_t count = read->bytes.size();
    const Block* block = memory_.find(read->address);
    if (block != nullptr && block->holds(read->address, count) &&
        is_there(*block, read->address, count)) {
      const std::byte* now = block->host + (read->address - block->address);
      const bool is_same = std::memcmp(now, read->bytes.data(), count) == 0;
      for (std::size_t i = 0; !is_same && i < count; ++i) {
        if (now[i] == read->bytes[i] || is_by_device(read->operation, read->address + i)) continue;
        const auto [place, is_new] = changed.try_emplace(read->operation);
        if (is_new) place->second.address = read->address + i;
        ++place->second.bytes;
      }
    }
    kept_ -= count;
    read = reads_.erase(read);
  }
  for (const auto& [operation, what] : changed) tell(operation, what.address, what.bytes);
}

void HostReads::forget(const Block& block) {
  for (auto read = reads_.begin(); read != reads_.end();) {
    const bool is_inside = read->address - block.address < block.bytes;
    if (is_inside) kept_ -= read->bytes.size();
    read = is_inside ? reads_.erase(read) : std::next(read);
  }
}

void HostReads::forget_all() {
  reads_.clear();
  kept_ = 0;
}

}  // namespace warpmeter::runtime
