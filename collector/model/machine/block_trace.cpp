#include "collector/model/machine/block_trace.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <vector>

#include "collector/model/counts/rules/counting.h"

namespace warpmeter::model {
namespace {

/// Of one block: what takes a few milliseconds.
constexpr std::uint64_t most_touches = 1 << 14, most_atomics = 2048;
/// Sectors that stand for all of a block at least.
constexpr std::size_t least_sectors = 64;
/// Requests of a site that are kept of each block that is followed.
constexpr unsigned most_sampled = 64;
/// A request is efficient that asks for this much of what it fetches.
constexpr unsigned least_useful_bytes_of_sector = 16;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
  return (std::rotl(hash, 23) ^ value) * golden_ratio;
}

}  // namespace

unsigned BlockTrace::level_of(std::uint64_t sector) {
  const std::uint64_t hash = mixed(0, sector);
  // A product's low bits know of the low bits of its factors alone.
  return std::min(static_cast<unsigned>(std::countr_zero(hash ^ hash >> 32)), levels - 1);
}

/// Forgets the lowest level, where enough sectors are left.
void BlockTrace::thin() {
  const auto left = std::count_if(fetched_.begin(), fetched_.end(), [&](const auto& fetched) {
    return level_of(fetched.first) > level_;
  });
  if (level_ + 1 == levels || static_cast<std::size_t>(left) < least_sectors) {
    is_narrow_ = true;
    return;
  }
  ++level_;
  std::erase_if(fetched_, [&](const auto& fetched) { return level_of(fetched.first) < level_; });
  std::erase_if(loaded_, [&](std::uint64_t key) { return key % levels < level_; });
  touches_ = 0;
  for (const auto& [site, by_level] : loads_) {
    for (unsigned level = level_; level < levels; ++level) touches_ += by_level[level].sectors;
  }
}

void BlockTrace::start() {
  finish();
  atomics_left_ = most_atomics;
  fetched_.clear();
  loaded_.clear();
  atomics_.clear();
  seen_.assign(recording_.traces.size(), 0);
  level_ = 0;
  touches_ = 0;
  is_narrow_ = false;
}

void BlockTrace::finish() {
  for (const auto& [site, by_level] : loads_) {
    SiteTrace& trace = recording_.traces[site];
    for (unsigned level = level_; level < levels; ++level) {
      const Seen& seen = by_level[level];
      trace.sectors += seen.sectors << level_;
      trace.repeated += seen.repeated << level_;
      trace.by_own_warp += seen.by_own_warp << level_;
      trace.by_other_warps += seen.by_other_warps << level_;
    }
  }
  loads_.clear();
}

void BlockTrace::follow(const TracedAccess& access, const std::uint64_t* delta) {
  SiteTrace& trace = recording_.traces[access.site];
  const unsigned seen = seen_[access.site]++;
  if (seen < most_sampled) {
    const bool is_global = access.space == AddressSpace::global;
    trace.sample.lie(access.space, access.mask, delta);
    trace.sample.add(
        static_cast<std::uint32_t>(is_global ? access.first % sector_bytes : access.first), 1);
  }
  if (access.space != AddressSpace::global && !access.is_atomic) return;
  if (seen == 0) {
    LanePattern first{access.space, access.mask, {}};
    for_each_lane(access.mask, [&](unsigned lane) { first.delta[lane] = delta[lane]; });
    if (!trace.first ||
        std::tie(access.first, first) < std::tie(trace.first_address, *trace.first)) {
      trace.first = first;
      trace.first_address = access.first;
    }
  }
  if (access.is_atomic) {
    follow_atomic(access, delta, trace);
  } else {
    ++trace.requests;
    trace.lanes += static_cast<unsigned>(std::popcount(access.mask));
    if (access.is_load) follow_load(access, delta);
  }
}

void BlockTrace::follow_atomic(const TracedAccess& traced, const std::uint64_t* delta,
                               SiteTrace& trace) {
  if (atomics_left_ == 0) {
    trace.is_cut = true;
    return;
  }
  --atomics_left_;
  ++trace.requests;
  trace.lanes += static_cast<unsigned>(std::popcount(traced.mask));
  const std::uint64_t place = mixed(traced.site, static_cast<std::uint64_t>(traced.space));
  std::vector<std::uint64_t> own;
  for_each_lane(traced.mask, [&](unsigned lane) {
    if (atomics_.insert(mixed(place, traced.first + delta[lane])).second) ++trace.addresses;
    if (std::find(own.begin(), own.end(), delta[lane]) != own.end()) ++trace.meeting;
    own.push_back(delta[lane]);
  });
}

void BlockTrace::follow_load(const TracedAccess& traced, const std::uint64_t* delta) {
  if (is_narrow_) return;
  std::array<std::uint64_t, warp_lanes> sectors{};
  std::size_t count = 0;
  for_each_lane(traced.mask, [&](unsigned lane) {
    const std::uint64_t sector = (traced.first + delta[lane]) / sector_bytes;
    if (count > 0 && sectors[count - 1] == sector) return;
    const auto* end = sectors.data() + count;
    if (std::find<const std::uint64_t*>(sectors.data(), end, sector) == end) {
      sectors[count++] = sector;
    }
  });
  std::array<unsigned, warp_lanes> level{};
  bool is_followed = false;
  for (std::size_t i = 0; i < count; ++i) {
    level[i] = level_of(sectors[i]);
    is_followed |= level[i] >= level_;
  }
  if (!is_followed) return;
  WarpAccess access;
  access.mask = traced.mask;
  access.width = traced.width;
  std::uint64_t hash = mixed(traced.mask, std::uint64_t{traced.warp} << 8 | traced.width);
  for_each_lane(traced.mask, [&](unsigned lane) {
    access.address[lane] = traced.first + delta[lane];
    hash = mixed(hash, access.address[lane]);
  });
  const Cost cost = global_cost(access);
  // All lanes at one place walk through a sector, which is no fault.
  const bool is_efficient =
      count > 1 && cost.bytes >= least_useful_bytes_of_sector * cost.transactions;
  auto& by_level = loads_[traced.site];
  for (std::size_t i = 0; i < count; ++i) {
    if (level[i] < level_) continue;
    Seen& seen = by_level[level[i]];
    ++seen.sectors;
    ++touches_;
    if (!loaded_.insert(mixed(hash, sectors[i]) / levels * levels + level[i]).second) {
      ++seen.repeated;
      continue;
    }
    const auto [fetched, is_first] = fetched_.try_emplace(sectors[i], traced.warp);
    if (is_first) continue;
    if (fetched->second != traced.warp) {
      ++seen.by_other_warps;
      fetched->second = traced.warp;
    } else if (is_efficient) {
      ++seen.by_own_warp;
    }
  }
  if (touches_ > most_touches) thin();
}

bool is_traced(std::uint64_t block, std::uint64_t blocks) {
  return block == blocks / 2 || block == blocks / 3;
}

}  // namespace warpmeter::model
