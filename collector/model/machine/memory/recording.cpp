// SPDX-License-Identifier: MIT
#include "collector/model/machine/memory/recording.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace warpmeter::model {
namespace {

/// Limits of one site: patterns, and places of all its patterns together.
constexpr std::size_t most_patterns = 1024, most_places = 1 << 16;

template <class T>
void add_each(std::vector<T>& sum, const std::vector<T>& other) {
  sum.resize(std::max(sum.size(), other.size()));
  for (std::size_t i = 0; i < other.size(); ++i) sum[i] += other[i];
}

bool lies_so(const LanePattern& pattern, AddressSpace space, std::uint32_t mask,
             const std::uint64_t* delta) {
  if (pattern.mask != mask || pattern.space != space) return false;
  std::uint64_t difference = 0;
  if (mask == ~0u) {  // mostly; and many lanes at a time
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      difference |= pattern.delta[lane] ^ delta[lane];
    }
  } else {
    for_each_lane(mask, [&](unsigned lane) { difference |= pattern.delta[lane] ^ delta[lane]; });
  }
  return difference == 0;
}

/// Both in order.
SiteRecording::Places sum_of(const SiteRecording::Places& some, const SiteRecording::Places& more) {
  SiteRecording::Places sum;
  sum.reserve(some.size() + more.size());
  for (auto a = some.begin(), b = more.begin(); a != some.end() || b != more.end();) {
    if (b == more.end() || (a != some.end() && a->first < b->first)) {
      sum.push_back(*a++);
    } else if (a == some.end() || b->first < a->first) {
      sum.push_back(*b++);
    } else {
      sum.emplace_back(a->first, a->second + b->second);
      ++a, ++b;
    }
  }
  return sum;
}

}  // namespace

bool LanePattern::operator<(const LanePattern& other) const {
  return std::tie(space, mask, delta) < std::tie(other.space, other.mask, other.delta);
}

std::uint32_t place_period(std::uint32_t mask, const std::uint64_t* delta, unsigned width) {
  constexpr std::uint32_t sector = 32, most = 2048;
  std::uint64_t bits = 0;
  for_each_lane(mask, [&](unsigned lane) { bits |= delta[lane]; });
  if (bits % width != 0 || bits == 0) return sector;
  // The power of two in the distance: the lowest bit that any lane's has.
  const std::uint64_t power = bits & (0 - bits);
  return power >= most
             ? most
             : std::clamp(static_cast<std::uint32_t>(power) / width * sector, sector, most);
}

void SiteRecording::limit() {
  if (patterns_.size() <= most_patterns && place_count_ <= most_places) return;
  is_full_ = true;
  patterns_.clear();
  index_.forget();
  place_count_ = 0;
}

SiteRecording::Entry*& SiteRecording::Index::slot(AddressSpace space, std::uint32_t mask,
                                                  const std::uint64_t* delta) {
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
  std::uint64_t sum = mask;
  for_each_lane(mask, [&](unsigned lane) { sum += delta[lane] * (2 * lane + 1); });
  const std::size_t last_slot = slots_.size() - 1;
  std::size_t at = sum * golden_ratio >> 32 & last_slot;
  while (slots_[at] != nullptr && !lies_so(slots_[at]->first, space, mask, delta)) {
    at = (at + 1) & last_slot;
  }
  return slots_[at];
}

SiteRecording::Entry*& SiteRecording::Index::find(std::map<LanePattern, Places>& patterns,
                                                  AddressSpace space, std::uint32_t mask,
                                                  const std::uint64_t* delta) {
  constexpr std::size_t fewest = 32;
  if (slots_.size() < 2 * (patterns.size() + 1)) {
    slots_.assign(std::max(fewest, std::bit_ceil(4 * (patterns.size() + 1))), nullptr);
    for (Entry& entry : patterns) {
      slot(entry.first.space, entry.first.mask, entry.first.delta.data()) = &entry;
    }
  }
  return slot(space, mask, delta);
}

void SiteRecording::lie(AddressSpace space, std::uint32_t mask, const std::uint64_t* delta) {
  if (is_full_) return;
  if (index_.last != nullptr && lies_so(index_.last->first, space, mask, delta)) return;
  Entry*& entry = index_.find(patterns_, space, mask, delta);
  if (entry == nullptr) {
    LanePattern pattern;
    pattern.space = space;
    pattern.mask = mask;
    for_each_lane(mask, [&](unsigned lane) { pattern.delta[lane] = delta[lane]; });
    entry = &*patterns_.try_emplace(pattern).first;
  }
  index_.last = entry;
}

void SiteRecording::add(std::uint32_t place, std::uint64_t times) {
  if (is_full_) return;
  Places& places = index_.last->second;
  auto at = places.end();
  if (!places.empty() && places.back().first >= place) {
    at = std::lower_bound(places.begin(), places.end(), std::pair(place, std::uint64_t{0}));
    if (at->first == place) {
      at->second += times;
      return;
    }
  }
  constexpr std::size_t usual_places = 4;
  if (places.empty()) {
    places.reserve(usual_places);
    at = places.end();
  }
  places.insert(at, {place, times});
  ++place_count_;
  limit();
}

void SiteRecording::add(const SiteRecording& other) {
  index_.forget();
  if (other.is_full_) is_full_ = true;
  if (is_full_) {
    patterns_.clear();
    place_count_ = 0;
    return;
  }
  for (const auto& [pattern, places] : other.patterns_) {
    Places& own = patterns_[pattern];
    place_count_ -= own.size();
    own = sum_of(own, places);
    place_count_ += own.size();
  }
  limit();
}

void BoxRecording::add(const BoxPlace& box) {
  constexpr std::size_t most_boxes = 1024;
  if (is_full_) return;
  places_.insert(box);
  if (places_.size() <= most_boxes) return;
  is_full_ = true;
  places_.clear();
}

void BoxRecording::add(const BoxRecording& other) {
  for (const BoxPlace& box : other.places_) add(box);
  if (!other.is_full_) return;
  is_full_ = true;
  places_.clear();
}

Recording::Recording(std::size_t site_count, std::size_t instruction_count)
    : sites(site_count), traces(site_count) {
  instructions.issues.resize(instruction_count + 1);
  instructions.lanes.resize(instruction_count + 1);
}

Recording& Recording::operator+=(const Recording& other) {
  sites.resize(std::max(sites.size(), other.sites.size()));
  traces.resize(std::max(traces.size(), other.traces.size()));
  copies.resize(std::max(copies.size(), other.copies.size()));
  boxes.resize(std::max(boxes.size(), other.boxes.size()));
  for (std::size_t i = 0; i < other.sites.size(); ++i) sites[i].add(other.sites[i]);
  for (std::size_t i = 0; i < other.copies.size(); ++i) copies[i].ways.add(other.copies[i].ways);
  for (std::size_t i = 0; i < other.boxes.size(); ++i) boxes[i].add(other.boxes[i]);
  add_each(instructions.issues, other.instructions.issues);
  add_each(instructions.lanes, other.instructions.lanes);
  for (std::size_t i = 0; i < other.traces.size(); ++i) {
    const SiteTrace& from = other.traces[i];
    SiteTrace& to = traces[i];
    for (auto count :
         {&SiteTrace::requests, &SiteTrace::sectors, &SiteTrace::repeated, &SiteTrace::by_own_warp,
          &SiteTrace::by_other_warps, &SiteTrace::known, &SiteTrace::lanes, &SiteTrace::addresses,
          &SiteTrace::meeting, &SiteTrace::stored, &SiteTrace::over_by_own_warp,
          &SiteTrace::over_by_others}) {
      to.*count += from.*count;
    }
    const auto first = [](const SiteTrace& trace) {
      return std::tie(trace.first_address, *trace.first);
    };
    if (from.first && (!to.first || first(from) < first(to))) {
      to.first = from.first;
      to.first_address = from.first_address;
    }
    to.is_cut |= from.is_cut;
    to.sample.add(from.sample);
  }
  return *this;
}

}  // namespace warpmeter::model
