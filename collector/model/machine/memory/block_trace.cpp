// SPDX-License-Identifier: MIT
#include "collector/model/machine/memory/block_trace.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/model/counts/rules/counting.h"

namespace warpmeter::model {
namespace {

/// Limits for one block: what takes a few milliseconds.
constexpr std::uint64_t most_touches = 1 << 14, most_atomics = 2048;
/// Sectors that stand for all of a block at least.
constexpr std::size_t least_sectors = 64;
/// Requests of a site that are kept of each block that is followed.
constexpr unsigned most_sampled = 64;
/// The most requests of a warp, between a store and the load of what was stored: a thread that
/// goes through a stretch and back again cannot keep all of it in registers.
constexpr std::uint32_t most_requests_kept = 32;
/// A request is efficient that asks for this much of what it fetches.
constexpr unsigned least_useful_bytes_of_sector = 16;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
  return (std::rotl(hash, 23) ^ value) * golden_ratio;
}

}  // namespace

unsigned level_of_sector(std::uint64_t sector) {
  const std::uint64_t hash = mixed(0, sector);
  // A product's low bits know of the low bits of its factors alone.
  return std::min(static_cast<unsigned>(std::countr_zero(hash ^ hash >> 32)), sector_levels - 1);
}

/// Forgets the lowest level, where enough sectors are left, and the requests that none of them
/// needs.
void BlockTrace::thin() {
  const auto left = std::count_if(fetched_.begin(), fetched_.end(), [&](const auto& fetched) {
    return level_of_sector(fetched.first) > level_;
  });
  if (level_ + 1 == levels || static_cast<std::size_t>(left) < least_sectors) {
    is_narrow_ = true;
    return;
  }
  ++level_;
  std::erase_if(fetched_,
                [&](const auto& fetched) { return level_of_sector(fetched.first) < level_; });
  std::erase_if(loaded_, [&](const auto& known) { return known.first % levels < level_; });
  keep_needed_requests();
  touches_ = 0;
  for (const auto& [site, by_level] : loads_) {
    for (unsigned level = level_; level < levels; ++level) touches_ += by_level[level].sectors;
  }
}

/// Those that a sector was last fetched by, and their shapes.
void BlockTrace::keep_needed_requests() {
  std::vector<LoadRequest> requests;
  std::vector<Shape> shapes;
  std::vector<std::uint32_t> places(requests_.size(), no_request),
      numbers(shapes_.size(), no_shape);
  for (auto& [sector, fetched] : fetched_) {
    if (fetched.last == no_request) continue;
    std::uint32_t& place = places[fetched.last];
    if (place == no_request) {
      place = static_cast<std::uint32_t>(requests.size());
      requests.push_back(requests_[fetched.last]);
      std::uint32_t& number = numbers[requests.back().shape];
      if (number == no_shape) {
        number = static_cast<std::uint32_t>(shapes.size());
        shapes.push_back(shapes_[requests.back().shape]);
      }
      requests.back().shape = number;
    }
    fetched.last = place;
  }
  requests_ = std::move(requests);
  shapes_ = std::move(shapes);
  for (Followed& followed : followed_) followed.shape = no_shape;
}

void BlockTrace::start() {
  finish();
  atomics_left_ = most_atomics;
  fetched_.clear();
  loaded_.clear();
  requests_.clear();
  shapes_.clear();
  atomics_.clear();
  stores_.start();
  made_.fill(0);
  followed_.clear();
  followed_.resize(recording_.traces.size());
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
      trace.known += seen.known << level_;
    }
  }
  loads_.clear();
  stores_.finish(recording_);
}

void BlockTrace::follow(const TracedAccess& access, const std::uint64_t* delta) {
  SiteTrace& trace = recording_.traces[access.site];
  Followed& followed = followed_[access.site];
  const unsigned seen = followed.requests++;
  if (seen < most_sampled) {
    const bool is_global = access.space == AddressSpace::global;
    // The sample's last access may be of another block.
    const bool is_known = access.lies_as_before && seen > 0;
    if (!is_known) trace.sample.lie(access.space, access.mask, delta);
    trace.sample.add(static_cast<std::uint32_t>(
                         is_global ? access.first % place_period(access.mask, delta, access.width)
                                   : access.first),
                     1);
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
  }
  if (access.space != AddressSpace::global) return;
  ++made_[access.warp % warp_lanes];
  const Sectors& sectors = sectors_of(access, delta, followed);
  if (access.is_load || access.is_atomic) {
    if (stores_.has_stores()) {
      for (std::size_t i = 0; i < sectors.count; ++i) {
        stores_.load(sectors.number[i], sectors.bytes[i]);
      }
    }
  }
  if (access.is_load) {
    follow_load(access, delta, followed);
    return;
  }
  follow_store(access, followed);
  if (access.is_atomic) return;
  for (std::size_t i = 0; i < sectors.count; ++i) {
    stores_.store(access.site, access.warp, sectors.number[i], sectors.level[i], sectors.bytes[i]);
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
  const std::uint32_t line = lines_.empty() ? traced.site : lines_[traced.site];
  const std::uint64_t place = mixed(line, static_cast<std::uint64_t>(traced.space));
  std::vector<std::uint64_t> own;
  for_each_lane(traced.mask, [&](unsigned lane) {
    if (atomics_.insert(mixed(place, traced.first + delta[lane])).second) ++trace.addresses;
    if (std::find(own.begin(), own.end(), delta[lane]) != own.end()) ++trace.meeting;
    own.push_back(delta[lane]);
  });
}

namespace {

/// The hash of the lanes and how they lie.
std::uint64_t hash_of(const TracedAccess& traced, const std::uint64_t* delta) {
  std::uint64_t hash = mixed(traced.mask, traced.width);
  for_each_lane(traced.mask, [&](unsigned lane) { hash = mixed(hash, delta[lane]); });
  return hash;
}

/// The same of the warp and where they go.
std::uint64_t hash_of(const TracedAccess& traced, std::uint64_t lanes) {
  return mixed(mixed(lanes, traced.warp), traced.first);
}

}  // namespace

/// Lanes that lie as before, whole sectors further, go to as many sectors, and to the same bytes.
const BlockTrace::Sectors& BlockTrace::sectors_of(const TracedAccess& traced,
                                                  const std::uint64_t* delta, Followed& followed) {
  const std::uint64_t moved = traced.first - std::exchange(followed.first, traced.first);
  const bool is_known = followed.sectors != nullptr;
  if (!is_known) followed.sectors = std::make_unique<Sectors>();
  Sectors& sectors = *followed.sectors;
  if (!is_known || !traced.lies_as_before) {
    followed.hash = hash_of(traced, delta);
    followed.shape = no_shape;
  }
  if (!is_known || !traced.lies_as_before || moved % sector_bytes != 0) {
    find_sectors(traced, delta, sectors);
    return sectors;
  }
  for (std::size_t i = 0; i < sectors.count; ++i) {
    sectors.number[i] += static_cast<std::uint64_t>(static_cast<std::int64_t>(moved) /
                                                    static_cast<std::int64_t>(sector_bytes));
    sectors.level[i] = level_of_sector(sectors.number[i]);
  }
  return sectors;
}

void BlockTrace::find_sectors(const TracedAccess& traced, const std::uint64_t* delta,
                              Sectors& sectors) {
  sectors.count = 0;
  const std::uint32_t own_bytes =
      static_cast<std::uint32_t>((std::uint64_t{1} << traced.width) - 1);
  std::size_t at = 0;
  for_each_lane(traced.mask, [&](unsigned lane) {
    const std::uint64_t address = traced.first + delta[lane], sector = address / sector_bytes;
    const std::uint32_t bytes = own_bytes << address % sector_bytes;
    const bool is_last = sectors.count > 0 && sectors.number[at] == sector;
    if (!is_last) {
      const auto* begin = sectors.number.data();
      at = static_cast<std::size_t>(std::find(begin, begin + sectors.count, sector) - begin);
    }
    if (at == sectors.count) {
      sectors.number[at] = sector;
      sectors.bytes[at] = 0;
      sectors.level[at] = level_of_sector(sector);
      ++sectors.count;
    }
    sectors.bytes[at] |= bytes;
  });
}

bool BlockTrace::is_followed(const Sectors& sectors) const {
  const auto* end = sectors.level.data() + sectors.count;
  return !is_narrow_ &&
         std::any_of<const unsigned*>(sectors.level.data(), end,
                                      [&](unsigned level) { return level >= level_; });
}

/// True if those of the lanes that now go to the sector went to the same places of it when it was
/// last fetched, maybe with others: behind a condition fewer lanes load once more.
bool BlockTrace::is_known_to_its_lanes(const Fetched& fetched, const TracedAccess& traced,
                                       const std::uint64_t* delta, std::uint64_t sector) const {
  if (fetched.last == no_request || fetched.version_of_last != fetched.version) return false;
  const LoadRequest& last = requests_[fetched.last];
  if (last.warp != traced.warp || last.width != traced.width) return false;
  const Shape& shape = shapes_[last.shape];
  bool is_known = true;
  for_each_lane(traced.mask, [&](unsigned lane) {
    const std::uint64_t address = traced.first + delta[lane];
    if (address / sector_bytes != sector) return;
    is_known &= (last.mask >> lane & 1) != 0 && last.first + shape[lane] == address;
  });
  return is_known;
}

/// The number of the request, which is kept.
std::uint32_t BlockTrace::kept(const TracedAccess& traced, const std::uint64_t* delta,
                               Followed& followed) {
  if (followed.shape == no_shape) {
    followed.shape = static_cast<std::uint32_t>(shapes_.size());
    Shape& shape = shapes_.emplace_back();
    for_each_lane(traced.mask, [&](unsigned lane) { shape[lane] = delta[lane]; });
  }
  requests_.push_back({traced.warp, traced.mask, traced.width, followed.shape, traced.first});
  return static_cast<std::uint32_t>(requests_.size() - 1);
}

namespace {

bool is_efficient(const TracedAccess& traced, const std::uint64_t* delta) {
  WarpAccess access;
  access.mask = traced.mask;
  access.width = traced.width;
  for_each_lane(traced.mask,
                [&](unsigned lane) { access.address[lane] = traced.first + delta[lane]; });
  const Cost cost = global_cost(access);
  return cost.bytes >= least_useful_bytes_of_sector * cost.transactions;
}

}  // namespace

void BlockTrace::follow_load(const TracedAccess& traced, const std::uint64_t* delta,
                             Followed& followed) {
  const Sectors& sectors = *followed.sectors;
  if (!is_followed(sectors)) return;
  const std::uint64_t hash = hash_of(traced, followed.hash);
  auto& by_level = loads_[traced.site];
  std::uint32_t number = no_request;
  std::optional<bool> asks_for_much;
  const std::uint32_t own = 1u << traced.warp % warp_lanes;  // for at most 32 warps
  for (std::size_t i = 0; i < sectors.count; ++i) {
    const unsigned level = sectors.level[i];
    if (level < level_) continue;
    Seen& seen = by_level[level];
    ++seen.sectors;
    ++touches_;
    Fetched& fetched = fetched_[sectors.number[i]];
    const std::uint32_t others = fetched.warps & ~own;
    const bool is_again = (fetched.warps & own) != 0;
    if (fetched.warps != 0) ++seen.known;
    fetched.warps |= own;
    const auto [place, is_new] = loaded_.try_emplace(
        mixed(hash, sectors.number[i]) / levels * levels + level, Known{fetched.version});
    const Known known = std::exchange(place->second, Known{fetched.version});
    const bool is_same = !is_new && known.version == fetched.version;
    const bool is_of_old = is_same && known.stored_at &&
                           made_[traced.warp % warp_lanes] - *known.stored_at > most_requests_kept;
    if ((is_same && !is_of_old) ||
        is_known_to_its_lanes(fetched, traced, delta, sectors.number[i])) {
      ++seen.repeated;
      continue;
    }
    if (number == no_request) number = kept(traced, delta, followed);
    fetched.last = number;
    fetched.version_of_last = fetched.version;
    // All lanes at one place walk through a sector, which is no fault.
    if (is_again && !is_of_old && sectors.count > 1) {
      if (!asks_for_much) asks_for_much = is_efficient(traced, delta);
      if (*asks_for_much) ++seen.by_own_warp;
    }
    if (others != 0) ++seen.by_other_warps;
  }
  if (touches_ > most_touches) thin();
}

/// Loaded values of these sectors may have changed, but for those lanes that store it themselves.
void BlockTrace::follow_store(const TracedAccess& traced, const Followed& followed) {
  const Sectors& sectors = *followed.sectors;
  if (fetched_.empty() || !is_followed(sectors)) return;
  const std::uint64_t hash = hash_of(traced, followed.hash);
  for (std::size_t i = 0; i < sectors.count; ++i) {
    const auto fetched = fetched_.find(sectors.number[i]);
    if (fetched == fetched_.end()) continue;
    const std::uint32_t before = fetched->second.version++;
    const auto known =
        loaded_.find(mixed(hash, sectors.number[i]) / levels * levels + sectors.level[i]);
    const bool knows =
        !traced.is_atomic && known != loaded_.end() && known->second.version == before;
    if (knows) known->second = {fetched->second.version, made_[traced.warp % warp_lanes]};
    // Whoever else had it has to fetch it anew.
    fetched->second.warps = knows ? 1u << traced.warp % warp_lanes : 0;
  }
}

bool is_traced(std::uint64_t block, std::uint64_t blocks) {
  return block == blocks / 2 || block == blocks / 3;
}

}  // namespace warpmeter::model
