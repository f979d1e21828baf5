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

std::uint64_t hash_of(std::uint32_t mask, const std::uint64_t* delta) {
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
  std::uint64_t sum = mask;
  for_each_lane(mask, [&](unsigned lane) { sum += delta[lane] * (2 * lane + 1); });
  return sum * golden_ratio >> 32;
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
  forget_places();
}

void SiteRecording::forget_places() {
  patterns_ = {};
  hashes_ = {};
  slots_ = {};
  last_ = none;
  place_count_ = 0;
}

/// The number of such a pattern, or the `none` that becomes it.
std::uint32_t& SiteRecording::slot(std::uint64_t hash, AddressSpace space, std::uint32_t mask,
                                   const std::uint64_t* delta) {
  const std::size_t last_slot = slots_.size() - 1;
  std::size_t at = hash & last_slot;
  while (slots_[at] != none && !(hashes_[slots_[at]] == hash &&
                                 lies_so(patterns_[slots_[at]].first, space, mask, delta))) {
    at = (at + 1) & last_slot;
  }
  return slots_[at];
}

void SiteRecording::make_slots() {
  constexpr std::size_t fewest = 32;
  if (hashes_.size() != patterns_.size()) {
    hashes_.clear();
    for (const auto& [pattern, places] : patterns_) {
      hashes_.push_back(hash_of(pattern.mask, pattern.delta.data()));
    }
  }
  slots_.assign(std::max(fewest, std::bit_ceil(4 * (patterns_.size() + 1))), none);
  for (std::uint32_t i = 0; i < patterns_.size(); ++i) {
    std::size_t at = hashes_[i] & (slots_.size() - 1);
    while (slots_[at] != none) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = i;
  }
}

void SiteRecording::lie(AddressSpace space, std::uint32_t mask, const std::uint64_t* delta) {
  if (is_full_) return;
  if (last_ != none && lies_so(patterns_[last_].first, space, mask, delta)) return;
  if (slots_.size() < 2 * (patterns_.size() + 1)) make_slots();
  const std::uint64_t hash = hash_of(mask, delta);
  std::uint32_t& number = slot(hash, space, mask, delta);
  if (number == none) {
    number = static_cast<std::uint32_t>(patterns_.size());
    LanePattern& pattern = patterns_.emplace_back().first;
    pattern.space = space;
    pattern.mask = mask;
    for_each_lane(mask, [&](unsigned lane) { pattern.delta[lane] = delta[lane]; });
    hashes_.push_back(hash);
  }
  last_ = number;
}

void SiteRecording::add(std::uint32_t place, std::uint64_t times) {
  if (is_full_) return;
  Places& places = patterns_[last_].second;
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

void SiteRecording::sort() {
  const auto in_order = [](const Entry& a, const Entry& b) { return a.first < b.first; };
  if (std::is_sorted(patterns_.begin(), patterns_.end(), in_order)) return;
  std::sort(patterns_.begin(), patterns_.end(), in_order);
  hashes_.clear();
  slots_.clear();
  last_ = none;
}

void SiteRecording::add(const SiteRecording& other) {
  is_full_ |= other.is_full_;
  if (is_full_) return forget_places();
  std::vector<Entry> sum;
  sum.reserve(patterns_.size() + other.patterns_.size());
  place_count_ = 0;
  auto a = patterns_.begin();
  for (auto b = other.patterns_.begin(); a != patterns_.end() || b != other.patterns_.end();) {
    if (b == other.patterns_.end() || (a != patterns_.end() && a->first < b->first)) {
      sum.push_back(std::move(*a++));
    } else if (a == patterns_.end() || b->first < a->first) {
      sum.push_back(*b++);
    } else {
      sum.emplace_back(a->first, sum_of(a->second, b->second));
      ++a, ++b;
    }
    place_count_ += sum.back().second.size();
  }
  patterns_ = std::move(sum);
  hashes_.clear();
  slots_.clear();
  last_ = none;
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

void Recording::sort() {
  for (SiteRecording& site : sites) site.sort();
  for (CopyRecording& copy : copies) copy.ways.sort();
  for (SiteTrace& trace : traces) trace.sample.sort();
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
