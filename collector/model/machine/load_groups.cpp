// SPDX-License-Identifier: MIT
#include "collector/model/machine/load_groups.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "collector/model/machine/access_counts.h"

namespace warpmeter::model {

void know_groups(WorkerMemory& memory, std::span<const LoadGroup> groups) {
  memory.load_groups = groups;
  memory.groups.assign(groups.size(), SiteGroup{});
  for (std::size_t i = 0; i < groups.size(); ++i) {
    memory.groups[i].wait = memory.groups[i].patience = 1;
    for (const LoadGroup::Load& load : groups[i].loads) {
      memory.sites[load.site].group = &memory.groups[i];
    }
  }
}

namespace {

/// Where address 0 would be on this machine: a number, which leads nowhere.
std::uintptr_t origin_of(const Site& site) {
  return reinterpret_cast<std::uintptr_t>(site.host) - site.least;
}

}  // namespace

void know_group(Warp& w, std::uint32_t group) {
  constexpr std::uint32_t most_patience = 1024;
  constexpr std::uint64_t worth = 8;  // uses of what was known
  WorkerMemory& memory = *w.memory;
  SiteGroup& known = memory.groups[group];
  known.patience =
      std::exchange(known.uses, 0) >= worth ? 1 : std::min(2 * known.patience, most_patience);
  known.wait = known.patience;
  known.shape = Shape::general;
  const std::vector<LoadGroup::Load>& loads = memory.load_groups[group].loads;
  const Site& first = memory.sites[loads[0].site];
  // Addresses are less, so that no number here wraps.
  constexpr std::int64_t most_address = std::int64_t{1} << 62;
  std::int64_t least = 0, most = most_address;
  for (const LoadGroup::Load& load : loads) {
    const Site& site = memory.sites[load.site];
    const SiteInfo& info = memory.program->sites[load.site];
    const bool serves = site.mask == ~0u && site.touched == nullptr &&
                        site.space == static_cast<std::uint8_t>(info.space) &&
                        site.hit_shift == hit_places(info, info.space).shift &&
                        site.shape == first.shape && origin_of(site) == origin_of(first) &&
                        std::equal(std::begin(site.delta), std::end(site.delta), first.delta);
    const std::uint64_t end = site.least + site.most_above_least;
    if (!serves || end < site.least || end > static_cast<std::uint64_t>(most_address)) return;
    least = std::max(least, static_cast<std::int64_t>(site.least) - load.offset);
    most = std::min(most, static_cast<std::int64_t>(end) - load.offset);
  }
  if (most < least) return;
  known.least = static_cast<std::uint64_t>(least);
  known.most_above_least = static_cast<std::uint64_t>(most - least);
  known.host = reinterpret_cast<std::byte*>(origin_of(first) + known.least);
  known.half_apart = first.half_apart;
  known.misaligned = first.misaligned;
  known.shape = first.shape;
}

}  // namespace warpmeter::model
