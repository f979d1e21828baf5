// SPDX-License-Identifier: MIT
// The costs of accesses: those that a site remembers, put into the counts when their shape changes
// and at the end, and those that cannot be remembered.
#include "collector/model/machine/access_counts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/lanes.h"

namespace warpmeter::model {
namespace {

/// The cost of one request.
AccessCounts request_counts(const SiteInfo& info, AddressSpace space, const WarpAccess& access) {
  const bool takes_turns = info.is_atomic() || info.carrier == Carrier::counted;
  const Cost cost = space == AddressSpace::global    ? global_cost(access)
                    : space == AddressSpace::cluster ? cluster_cost(access, takes_turns)
                                                     : wavefronts_of(info, access);
  return {1, cost.transactions, cost.bytes, cost.ideal};
}

/// The access as the machine makes it.
WarpAccess requested(const WarpAccess& access, const Request& request) {
  WarpAccess result = access;
  result.width = request.width;
  if (request.is_elected) result.mask &= ~result.mask + 1;
  for (std::uint64_t& address : result.address) {
    address += static_cast<std::uint64_t>(std::int64_t{request.offset});
    if (request.is_window) address &= ~std::uint64_t{request.width - 1u};
  }
  return result;
}

/// Loads of a loop that compares and swaps until every lane has had its turn: in each round those
/// lanes load that have not, one lane of each address a round.
AccessCounts loads_of_loop(const WarpAccess& access) {
  AccessCounts counts;
  WarpAccess left = access;
  while (left.mask != 0) {
    const Cost cost = shared_cost(left, SharedAccess::load);
    counts += {1, cost.transactions, 0, cost.ideal};
    std::uint32_t done = 0;
    for_each_lane(left.mask, [&](unsigned lane) {
      bool is_first = true;
      for_each_lane(left.mask & ((1u << lane) - 1),
                    [&](unsigned lower) { is_first &= left.address[lower] != left.address[lane]; });
      if (is_first) done |= 1u << lane;
    });
    left.mask &= ~done;
  }
  return counts;
}

/// True if count_copy() counts the transactions and bytes of the access.
bool counts_both_sides(const SiteInfo& info) {
  return info.carrier == Carrier::copy && (info.kind == AccessKind::store || info.bypasses_l1);
}

/// Adds what `times` executions of an access cost.
void add(SiteCounts& counts, const SiteInfo& info, AddressSpace space, const WarpAccess& access,
         std::uint64_t times) {
  counts.by_several |= (access.mask & (access.mask - 1)) != 0;
  const auto add_to = [&](AccessCounts& sum, AccessCounts once) {
    sum +=
        {once.requests * times, once.transactions * times, once.bytes * times, once.ideal * times};
  };
  if (space != AddressSpace::shared && !counts_sectors(space)) return;
  // The multiplication counts its own accesses, and so does a copy in bulk.
  if (info.carrier == Carrier::product || info.carrier == Carrier::bulk) return;
  // An atomic of floats in another block's memory is a loop, whose turns shared counters hold.
  counts.is_approximate |= space == AddressSpace::cluster && info.is_atomic() && info.is_float;
  for (const Request& request : info.requests) {
    if (space == AddressSpace::shared && info.kind == AccessKind::load &&
        info.carrier != Carrier::matrix) {
      counts.is_approximate |= !is_calibrated(requested(access, request), SharedAccess::load);
    }
    AccessCounts once = request_counts(info, space, requested(access, request));
    if (counts_both_sides(info)) once = {once.requests, 0, 0, 0};
    if (info.kind == AccessKind::load && info.may_fall_short) once = {};
    add_to(counts.*counts_of(space), once);
  }
  if (info.retries && space == AddressSpace::shared) {
    add_to(counts.loop_loads, loads_of_loop(access));
  }
}

/// Hits of a remembered shape into the counts: `hit` says what of the first address they depend on.
void count_hits(WorkerMemory& memory, std::size_t index, std::uint64_t first, std::uint64_t times) {
  const Site& site = memory.sites[index];
  WarpAccess access;
  access.mask = site.mask;
  access.width = memory.program->sites[index].width;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    access.address[lane] = first + site.delta[lane];
  }
  add(memory.counts[index], memory.program->sites[index], static_cast<AddressSpace>(site.space),
      access, times);
}

/// The first place with hits; most have none, so that several are looked at at a time.
std::uint64_t* next_hit(std::uint64_t* at, const std::uint64_t* end) {
  constexpr std::ptrdiff_t together = 8;
  const auto any = [](const std::uint64_t* of) {
    std::uint64_t all = 0;
    for (std::ptrdiff_t i = 0; i < together; ++i) all |= of[i];
    return all != 0;
  };
  while (end - at >= together && !any(at)) at += together;
  while (at != end && *at == 0) ++at;
  return at;
}

/// The same, and each place into the recording.
void settle_places(WorkerMemory& memory, std::size_t index) {
  Site& site = memory.sites[index];
  SiteRecording& recording = memory.recording->sites[index];
  const SiteInfo& info = memory.program->sites[index];
  const auto space = static_cast<AddressSpace>(site.space);
  const unsigned period = hit_places(info, space).mask + 1;
  std::array<std::uint64_t, sector_bytes> of_place{};
  std::vector<std::uint64_t>& places = memory.places[index];
  bool lies = false;
  std::uint64_t* const begin = places.data();
  std::uint64_t* const end = begin + places.size();
  for (auto* at = next_hit(begin, end); at != end; at = next_hit(at, end)) {
    const std::uint64_t times = std::exchange(*at, 0);
    if (!std::exchange(lies, true)) {
      recording.lie(space, site.mask, site.delta);
    }
    const std::uint64_t place = static_cast<std::uint64_t>(at - begin) << site.hit_shift;
    of_place[place % period] += times;
    recording.add(static_cast<std::uint32_t>(place), times);
  }
  for (std::size_t i = 0; i < of_place.size(); ++i) {
    if (of_place[i] > 0) count_hits(memory, index, (std::uint64_t{1} << 60) + i, of_place[i]);
  }
}

}  // namespace

SharedAccess shared_access(const SiteInfo& info) {
  // Equal addresses of an atomic that are added up beforehand are stored once.
  if (info.carrier == Carrier::matrix || info.counts_lanes) return SharedAccess::store;
  if (info.is_atomic()) return SharedAccess::atomic;
  return info.kind == AccessKind::load ? SharedAccess::load : SharedAccess::store;
}

HitPlaces hit_places(const SiteInfo& info, AddressSpace space) {
  // Sectors depend on the first address mod 32, in steps of the alignment; wavefronts of narrow
  // accesses on it mod 4, of merged ones mod the width that they were merged to.
  const bool is_merged = !info.requests.empty() && info.requests[0].is_window;
  const unsigned period = counts_sectors(space) || is_merged ? sector_bytes : 4;
  const unsigned step = std::min<unsigned>(info.alignment, period);
  return {period - 1, static_cast<std::uint8_t>(std::countr_zero(step))};
}

Cost wavefronts_of(const SiteInfo& info, const WarpAccess& access) {
  const SharedAccess kind = shared_access(info);
  return info.carrier == Carrier::matrix ? shared_cost(matrix_rows(access), kind)
                                         : shared_cost(access, kind);
}

AccessCounts& AccessCounts::operator+=(const AccessCounts& other) {
  requests += other.requests;
  transactions += other.transactions;
  bytes += other.bytes;
  ideal += other.ideal;
  empty += other.empty;
  return *this;
}

/// Counts an access that spreads over several windows, space by space.
void count_apart(SiteCounts& counts, const SiteInfo& info, std::uint32_t mask,
                 const std::array<AddressSpace, warp_lanes>& spaces,
                 const std::uint64_t* addresses) {
  WarpAccess access;
  std::copy_n(addresses, warp_lanes, access.address.begin());
  access.width = info.width;
  for (const AddressSpace space :
       {AddressSpace::shared, AddressSpace::global, AddressSpace::cluster}) {
    access.mask = 0;
    for_each_lane(mask, [&](unsigned lane) {
      if (spaces[lane] == space) access.mask |= 1u << lane;
    });
    if (access.mask != 0) add(counts, info, space, access, 1);
  }
}

bool is_recorded(const WorkerMemory& memory, std::size_t index) {
  return memory.recording != nullptr && !memory.recording->sites[index].is_full();
}

void count_once(WorkerMemory& memory, std::size_t index, const Window& window, std::uint32_t mask,
                const std::uint64_t* addresses) {
  const SiteInfo& info = memory.program->sites[index];
  const bool is_global = window.space == AddressSpace::global;
  WarpAccess access;
  std::copy_n(addresses, warp_lanes, access.address.begin());
  access.mask = mask;
  access.width = info.width;
  add(memory.counts[index], info, window.space, access, 1);
  memory.counts[index].on_heap |= is_on_heap(window);
  if (!is_global && window.space != AddressSpace::shared) return;
  if (!is_recorded(memory, index)) return;
  const std::uint64_t first = addresses[std::countr_zero(mask)];
  std::array<std::uint64_t, warp_lanes> delta{};
  for_each_lane(mask, [&](unsigned lane) { delta[lane] = addresses[lane] - first; });
  SiteRecording& recording = memory.recording->sites[index];
  recording.lie(window.space, mask, delta.data());
  auto place = static_cast<std::uint32_t>(first);
  if (is_global) place %= place_period(mask, delta.data(), info.narrowest_request());
  recording.add(place, 1);
}

std::uint64_t settle(WorkerMemory& memory, std::size_t index) {
  Site& site = memory.sites[index];
  site.local_places = 0;
  if (site.mask == 0) return 0;
  if (site.group != nullptr) site.group->shape = Shape::general;
  site.number = 0;
  std::uint64_t hits = 0;
  if (!memory.is_counted) {
    for (std::uint64_t& of_place : site.own_hits) hits += std::exchange(of_place, 0);
    site.mask = 0;
    return hits;
  }
  if (site.hits != site.own_hits) {
    settle_places(memory, index);
    site.mask = 0;
    return 0;
  }
  for (std::size_t hit = 0; hit < std::size(site.own_hits); ++hit) {
    const std::uint64_t times = std::exchange(site.own_hits[hit], 0);
    if (times == 0) continue;
    hits += times;
    // Any address with these low bits will do, as long as no lane's gets negative.
    const std::uint64_t place = hit << site.hit_shift;
    count_hits(memory, index, (std::uint64_t{1} << 60) + place, times);
    if (memory.recording != nullptr &&
        site.space == static_cast<std::uint8_t>(AddressSpace::global)) {
      SiteRecording& recording = memory.recording->sites[index];
      recording.lie(AddressSpace::global, site.mask, site.delta);
      recording.add(static_cast<std::uint32_t>(place), times);
    }
  }
  site.mask = 0;
  return hits;
}

}  // namespace warpmeter::model
