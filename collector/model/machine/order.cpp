// SPDX-License-Identifier: MIT
#include "collector/model/machine/order.h"

#include <cstring>
#include <iterator>

namespace warpmeter::model {
namespace {

/// Null where it is no pointer, or nobody's.
Allocation* allocation_of(const LastingMemory& piece, std::span<const std::byte> parameters,
                          DeviceMemory& memory) {
  std::uint64_t address = piece.place;
  if (piece.kind == LastingMemory::Kind::parameter) {
    if (piece.place + sizeof address > parameters.size()) return nullptr;
    std::memcpy(&address, parameters.data() + piece.place, sizeof address);
  }
  return memory.find(address);
}

class Follower {
 public:
  Follower(const Program& program, std::span<const std::byte> parameters, DeviceMemory& memory)
      : program_(program), parameters_(parameters), memory_(memory) {}

  std::vector<std::uint8_t> follow() {
    for (const LastingMemory& piece : program_.lasting_memory) {
      if (piece.is_left_ordered) mark(piece);
    }
    std::vector<bool> is_done(program_.lasting_memory.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < is_done.size(); ++i) {
        const LastingMemory& piece = program_.lasting_memory[i];
        if (is_done[i] || !is_ordered(piece)) continue;
        is_done[i] = changed = true;
        for (const std::uint32_t to : piece.leads_to) mark(program_.lasting_memory[to]);
        if (piece.ordered_sites.empty()) continue;
        sites_.resize(program_.sites.size(), 0);
        for (const std::uint32_t site : piece.ordered_sites) sites_[site] = 1;
      }
    }
    return std::move(sites_);
  }

 private:
  template <class Visit>
  void each_allocation(const LastingMemory& piece, Visit visit) {
    if (piece.kind == LastingMemory::Kind::elsewhere) {
      memory_.for_each([&](Allocation& allocation) { visit(allocation); });
    } else if (Allocation* allocation = allocation_of(piece, parameters_, memory_)) {
      visit(*allocation);
    }
  }

  bool is_ordered(const LastingMemory& piece) {
    bool found = false;
    each_allocation(piece, [&](const Allocation& allocation) { found |= allocation.is_ordered; });
    return found;
  }

  void mark(const LastingMemory& piece) {
    each_allocation(piece, [](Allocation& allocation) {
      if (!allocation.is_read_only) allocation.is_ordered = true;
    });
  }

  const Program& program_;
  const std::span<const std::byte> parameters_;
  DeviceMemory& memory_;
  std::vector<std::uint8_t> sites_;
};

}  // namespace

std::vector<std::uint8_t> follow_order(const Program& program,
                                       std::span<const std::byte> parameters,
                                       DeviceMemory& memory) {
  if (program.lasting_memory.empty()) return {};
  return Follower(program, parameters, memory).follow();
}

std::optional<std::set<std::uint64_t>> stored_allocations(const Program& program,
                                                          std::span<const std::byte> parameters,
                                                          DeviceMemory& memory) {
  std::set<std::uint64_t> stored;
  for (const LastingMemory& piece : program.lasting_memory) {
    if (!piece.is_stored) continue;
    if (piece.kind == LastingMemory::Kind::elsewhere) return std::nullopt;
    const Allocation* allocation = allocation_of(piece, parameters, memory);
    if (allocation == nullptr) return std::nullopt;
    stored.insert(allocation->address);
  }
  return stored;
}

void HostOrder::note(std::uint64_t address, std::uint64_t bytes, bool is_ordered) {
  const std::uint64_t end = address + bytes;
  auto next = ends_.upper_bound(address);
  if (next != ends_.begin() && std::prev(next)->second > address) --next;
  while (next != ends_.end() && next->first < end) {
    const auto [first, last] = *next;
    next = ends_.erase(next);
    if (first < address) ends_.emplace(first, address);
    if (last > end) ends_.emplace(end, last);
  }
  if (is_ordered && bytes > 0) ends_.emplace(address, end);
}

bool HostOrder::reaches(std::uint64_t address, std::uint64_t bytes) const {
  auto next = ends_.upper_bound(address);
  if (next != ends_.begin() && std::prev(next)->second > address) return bytes > 0;
  return next != ends_.end() && next->first < address + bytes;
}

void follow_copy(DeviceMemory& memory, HostOrder& host, std::uint64_t to, std::uint64_t from,
                 std::uint64_t bytes) {
  Allocation* target = memory.find(to);
  const Allocation* source = from == 0 ? nullptr : memory.find(from);
  const bool is_ordered =
      source != nullptr ? source->is_ordered.load() : from != 0 && host.reaches(from, bytes);
  if (target == nullptr) {
    host.note(to, bytes, is_ordered);
  } else if (is_ordered) {
    target->is_ordered = true;
  } else if (to == target->address && bytes >= target->data.size()) {
    target->is_ordered = false;
  }
}

}  // namespace warpmeter::model
