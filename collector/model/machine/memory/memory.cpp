// SPDX-License-Identifier: MIT
#include "collector/model/machine/memory/memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "collector/model/machine/memory/align.h"

namespace warpmeter::model {
namespace {

/// For messages about those who come too late.
constexpr std::size_t most_remembered = 1 << 16;

/// Between two pieces of the heap: kernels take millions of small ones.
constexpr std::uint64_t least_gap_of_heap = 1 << 12;

}  // namespace

std::string_view to_string(AddressSpace space) {
  switch (space) {
    case AddressSpace::generic:
      return "generic";
    case AddressSpace::global:
      return "global";
    case AddressSpace::shared:
      return "shared";
    case AddressSpace::local:
      return "local";
    case AddressSpace::constant:
      return "constant";
    case AddressSpace::param:
      return "parameter";
    case AddressSpace::cluster:
      return "the cluster's shared";
  }
  return "unknown";
}

std::uint64_t window_of(AddressSpace space) {
  switch (space) {
    case AddressSpace::shared:
    case AddressSpace::cluster:
      return shared_window;
    case AddressSpace::local:
      return local_window;
    case AddressSpace::constant:
      return constant_window;
    case AddressSpace::param:
      return param_window;
    case AddressSpace::generic:
    case AddressSpace::global:
      break;
  }
  return 0;
}

std::uint64_t DeviceMemory::allocate(std::vector<std::byte> contents, std::string name) {
  const std::uint64_t address = next_;
  const std::uint64_t bytes = contents.size();
  next_ = round_up(address + bytes + std::max(bytes, least_gap), allocation_alignment);
  place(address, std::move(contents), std::move(name));
  return address;
}

std::uint64_t DeviceMemory::take_of_heap(std::uint64_t bytes) {
  const std::uint64_t gap = std::max(bytes, least_gap_of_heap), address = heap_.next;
  if (bytes == 0) return 0;
  // How the driver rounds is not known; it is no more than this.
  heap_.demand += 2 * std::min(bytes, heap_.limit) + 64;
  if (bytes > heap_.limit - heap_.bytes) return 0;
  if (bytes > first_window - address || gap > first_window - address - bytes) return 0;
  heap_.next = round_up(address + bytes + gap, allocation_alignment);
  heap_.bytes += bytes;
  heap_.addresses.insert(address);
  place(address, std::vector<std::byte>(bytes), "");
  return address;
}

Allocation& DeviceMemory::add(std::uint64_t address, std::string name) {
  auto allocation = std::make_unique<Allocation>();
  allocation->address = address;
  allocation->name = std::move(name);
  const auto after = std::upper_bound(
      allocations_.begin(), allocations_.end(), address,
      [](std::uint64_t a, const std::unique_ptr<Allocation>& b) { return a < b->address; });
  return **allocations_.insert(after, std::move(allocation));
}

void DeviceMemory::place(std::uint64_t address, std::vector<std::byte> contents, std::string name) {
  Allocation& allocation = add(address, std::move(name));
  allocation.own = std::move(contents);
  allocation.data = allocation.own;
}

void DeviceMemory::lend(std::uint64_t address, std::span<std::byte> contents, std::string name,
                        const Slack& slack) {
  auto gone = removed_.lower_bound(address);
  if (gone != removed_.begin()) {
    const Removed& before = std::prev(gone)->second;
    if (before.address + before.bytes > address) --gone;
  }
  while (gone != removed_.end() && gone->first < address + contents.size()) {
    gone = removed_.erase(gone);
  }
  Allocation& allocation = add(address, std::move(name));
  allocation.data = contents;
  allocation.slack_before = slack.before;
  allocation.slack_behind = slack.behind;
}

const Allocation* DeviceMemory::find(std::uint64_t address) const {
  const auto after = std::upper_bound(
      allocations_.begin(), allocations_.end(), address,
      [](std::uint64_t a, const std::unique_ptr<Allocation>& b) { return a < b->address; });
  if (after == allocations_.begin()) return nullptr;
  const Allocation& allocation = **std::prev(after);
  return address < allocation.end() ? &allocation : nullptr;
}

Allocation* DeviceMemory::find(std::uint64_t address) {
  return const_cast<Allocation*>(std::as_const(*this).find(address));
}

Allocation* DeviceMemory::find_slack(std::uint64_t address) {
  const auto after = std::upper_bound(
      allocations_.begin(), allocations_.end(), address,
      [](std::uint64_t a, const std::unique_ptr<Allocation>& b) { return a < b->address; });
  if (after != allocations_.end() && (*after)->address - address <= (*after)->slack_before) {
    return after->get();
  }
  if (after == allocations_.begin()) return nullptr;
  Allocation& before = **std::prev(after);
  return address - before.address < before.data.size() + before.slack_behind ? &before : nullptr;
}

std::vector<std::byte> DeviceMemory::remove(std::uint64_t address) {
  const auto found = std::lower_bound(
      allocations_.begin(), allocations_.end(), address,
      [](const std::unique_ptr<Allocation>& a, std::uint64_t b) { return a->address < b; });
  if (found == allocations_.end() || (*found)->address != address) return {};
  const std::uint64_t bytes = (*found)->data.size();
  std::vector<std::byte> contents = std::move((*found)->own);
  if (address >= first_allocation || address < first_module_variable) {
    removed_[address] = {address, bytes, std::move((*found)->name)};
    if (removed_.size() > most_remembered) removed_.erase(removed_.begin());
  }
  allocations_.erase(found);
  return contents;
}

const DeviceMemory::Removed* DeviceMemory::find_removed(std::uint64_t address) const {
  const auto after = removed_.upper_bound(address);
  if (after == removed_.begin()) return nullptr;
  const Removed& removed = std::prev(after)->second;
  return address - removed.address < removed.bytes ? &removed : nullptr;
}

}  // namespace warpmeter::model
