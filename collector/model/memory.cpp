#include "collector/model/memory.h"

#include <algorithm>
#include <utility>

#include "collector/model/align.h"

namespace warpmeter::model {
namespace {

/// Between two allocations: at least this, and at least as much as the first of them holds.
constexpr std::uint64_t least_gap = std::uint64_t{1} << 21;

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
  }
  return "unknown";
}

std::uint64_t window_of(AddressSpace space) {
  switch (space) {
    case AddressSpace::shared:
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

void DeviceMemory::place(std::uint64_t address, std::vector<std::byte> contents, std::string name) {
  auto allocation = std::make_unique<Allocation>();
  allocation->address = address;
  allocation->name = std::move(name);
  allocation->data = std::move(contents);
  const auto after = std::upper_bound(
      allocations_.begin(), allocations_.end(), address,
      [](std::uint64_t a, const std::unique_ptr<Allocation>& b) { return a < b->address; });
  allocations_.insert(after, std::move(allocation));
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

const Allocation* DeviceMemory::nearest(std::uint64_t address) const {
  const Allocation* best = nullptr;
  std::uint64_t least = 0;
  for (const auto& allocation : allocations_) {
    const std::uint64_t distance = address < allocation->address  ? allocation->address - address
                                   : address >= allocation->end() ? address - allocation->end()
                                                                  : 0;
    if (best == nullptr || distance < least) {
      best = allocation.get();
      least = distance;
    }
  }
  return best;
}

std::vector<std::byte> DeviceMemory::remove(std::uint64_t address) {
  const auto found =
      std::find_if(allocations_.begin(), allocations_.end(),
                   [&](const std::unique_ptr<Allocation>& a) { return a->address == address; });
  if (found == allocations_.end()) return {};
  std::vector<std::byte> contents = std::move((*found)->data);
  allocations_.erase(found);
  return contents;
}

}  // namespace warpmeter::model
