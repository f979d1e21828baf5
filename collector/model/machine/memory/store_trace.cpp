// SPDX-License-Identifier: MIT
#include "collector/model/machine/memory/store_trace.h"

#include <algorithm>

namespace warpmeter::model {
namespace {

constexpr std::uint64_t most_touches = 1 << 14;
/// Sectors that stand for all of a block at least.
constexpr std::size_t least_sectors = 64;
constexpr std::size_t first_places = 64;

}  // namespace

void StoreTrace::start() {
  pending_.clear();
  taken_ = 0;
  others_.clear();
  sites_.clear();
  last_site_ = 0;
  level_ = 0;
  touches_ = 0;
  is_over_ = false;
}

StoreTrace::Seen& StoreTrace::find(std::uint32_t site) {
  const auto found = std::find_if(sites_.begin(), sites_.end(),
                                  [&](const Seen& other) { return other.site == site; });
  last_site_ = static_cast<std::size_t>(found - sites_.begin());
  if (found != sites_.end()) return *found;
  sites_.emplace_back().site = site;
  return sites_.back();
}

StoreTrace::Pending& StoreTrace::place_of(std::uint64_t sector) {
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
  std::size_t place = sector * golden_ratio >> 32 & (pending_.size() - 1);
  while (pending_[place].is_taken && pending_[place].sector != sector) {
    place = (place + 1) & (pending_.size() - 1);
  }
  return pending_[place];
}

void StoreTrace::grow() {
  std::vector<Pending> before(std::max(first_places, 2 * pending_.size()));
  before.swap(pending_);
  for (const Pending& pending : before) {
    if (pending.is_taken) place_of(pending.sector) = pending;
  }
}

StoreTrace::Part& StoreTrace::free_part(Pending& pending) {
  if (pending.first.bytes == 0) return pending.first;
  if (pending.others == 0) {
    if (others_.empty()) others_.emplace_back();
    pending.others = static_cast<std::uint32_t>(others_.size());
    others_.emplace_back();
  }
  for (Part& part : others_[pending.others]) {
    if (part.bytes == 0) return part;
  }
  return pending.first;  // for single bytes there may be more: those before are taken to last
}

void StoreTrace::store(std::uint32_t site, std::uint32_t warp, std::uint64_t sector, unsigned level,
                       std::uint32_t bytes) {
  if (is_over_ || level < level_) return;
  if (2 * (taken_ + 1) > pending_.size()) grow();
  Pending& pending = place_of(sector);
  if (!pending.is_taken) {
    ++taken_;
    pending = {sector, {}, 0, static_cast<std::uint8_t>(level), true};
  }
  Part* own = nullptr;
  for_each_part(pending, [&](Part& part) {
    const bool is_beside = (part.bytes & bytes) == 0;
    part.bytes &= ~bytes;
    if (part.bytes == 0) {
      Seen& before = seen(part.site);
      (part.warp == warp ? before.over_by_own_warp : before.over_by_others)[level] += part.times;
    } else if (is_beside && part.site == site && part.warp == warp) {
      own = &part;
    }
  });
  if (own == nullptr) {
    own = &free_part(pending);
    *own = {0, site, warp, 0};
  }
  own->bytes |= bytes;
  ++own->times;
  ++seen(site).stored[level];
  if (++touches_ > most_touches) thin();
}

void StoreTrace::load(std::uint64_t sector, std::uint32_t bytes) {
  for_each_part(place_of(sector), [&](Part& part) {
    if ((part.bytes & bytes) != 0) part.bytes = 0;
  });
}

/// Forgets the lowest level, where enough sectors are left.
void StoreTrace::thin() {
  const auto is_left = [&](const Pending& pending) {
    return pending.is_taken && pending.level > level_;
  };
  const auto left = std::count_if(pending_.begin(), pending_.end(), is_left);
  if (level_ + 1 == sector_levels || static_cast<std::size_t>(left) < least_sectors) {
    is_over_ = true;
    pending_.clear();
    taken_ = 0;
    return;
  }
  std::vector<Pending> before(pending_.size());
  before.swap(pending_);
  taken_ = static_cast<std::size_t>(left);
  for (const Pending& pending : before) {
    if (is_left(pending)) place_of(pending.sector) = pending;
  }
  ++level_;
  touches_ = 0;
  for (const Seen& site : sites_) {
    for (unsigned level = level_; level < sector_levels; ++level) touches_ += site.stored[level];
  }
}

void StoreTrace::finish(Recording& recording) {
  for (const Seen& seen : sites_) {
    SiteTrace& trace = recording.traces[seen.site];
    for (unsigned level = level_; level < sector_levels; ++level) {
      trace.stored += seen.stored[level] << level_;
      trace.over_by_own_warp += seen.over_by_own_warp[level] << level_;
      trace.over_by_others += seen.over_by_others[level] << level_;
    }
  }
  sites_.clear();
}

}  // namespace warpmeter::model
