#include "collector/model/machine/recording.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "collector/model/counts/rules/counting.h"

namespace warpmeter::model {
namespace {

/// Of one site: patterns, and places of all its patterns together.
constexpr std::size_t most_patterns = 1024, most_places = 1 << 16;
/// Of one launch, followed access by access: what takes a few milliseconds.
constexpr std::uint64_t most_traced_requests = 4096;
/// Requests of a site that are kept of each block that is followed.
constexpr unsigned most_sampled = 64;
/// A request is efficient that asks for this much of what it fetches.
constexpr unsigned least_useful_bytes_of_sector = 16;

template <class T>
void add_each(std::vector<T>& sum, const std::vector<T>& other) {
  sum.resize(std::max(sum.size(), other.size()));
  for (std::size_t i = 0; i < other.size(); ++i) sum[i] += other[i];
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
  return (std::rotl(hash, 23) ^ value) * golden_ratio;
}

}  // namespace

bool LanePattern::operator<(const LanePattern& other) const {
  return std::tie(space, mask, delta) < std::tie(other.space, other.mask, other.delta);
}

void SiteRecording::limit() {
  if (patterns_.size() <= most_patterns && place_count_ <= most_places) return;
  is_full_ = true;
  patterns_.clear();
  last_ = nullptr;
  place_count_ = 0;
}

void SiteRecording::add(AddressSpace space, std::uint32_t mask, const std::uint64_t* delta,
                        std::uint32_t place, std::uint64_t times) {
  if (is_full_) return;
  LanePattern pattern;
  pattern.space = space;
  pattern.mask = mask;
  for_each_lane(mask, [&](unsigned lane) { pattern.delta[lane] = delta[lane]; });
  const bool is_last = last_ != nullptr && last_->first.mask == mask &&
                       last_->first.space == space && last_->first.delta == pattern.delta;
  if (!is_last) last_ = &*patterns_.try_emplace(pattern).first;
  std::uint64_t& count = last_->second[place];
  if (count == 0) ++place_count_;
  count += times;
  limit();
}

void SiteRecording::add(const SiteRecording& other) {
  last_ = nullptr;
  if (other.is_full_) is_full_ = true;
  if (is_full_) {
    patterns_.clear();
    place_count_ = 0;
    return;
  }
  for (const auto& [pattern, places] : other.patterns_) {
    Places& own = patterns_[pattern];
    for (const auto& [place, times] : places) {
      std::uint64_t& count = own[place];
      if (count == 0) ++place_count_;
      count += times;
    }
  }
  limit();
}

Recording::Recording(std::size_t site_count, std::size_t instruction_count)
    : sites(site_count), traces(site_count) {
  instructions.issues.resize(instruction_count + 1);
  instructions.lanes.resize(instruction_count + 1);
}

Recording& Recording::operator+=(const Recording& other) {
  sites.resize(std::max(sites.size(), other.sites.size()));
  traces.resize(std::max(traces.size(), other.traces.size()));
  for (std::size_t i = 0; i < other.sites.size(); ++i) sites[i].add(other.sites[i]);
  add_each(instructions.issues, other.instructions.issues);
  add_each(instructions.lanes, other.instructions.lanes);
  for (std::size_t i = 0; i < other.traces.size(); ++i) {
    const SiteTrace& from = other.traces[i];
    SiteTrace& to = traces[i];
    for (auto count : {&SiteTrace::requests, &SiteTrace::sectors, &SiteTrace::repeated,
                       &SiteTrace::by_own_warp, &SiteTrace::by_other_warps, &SiteTrace::lanes,
                       &SiteTrace::addresses, &SiteTrace::meeting}) {
      to.*count += from.*count;
    }
    const auto first = [](const SiteTrace& trace) {
      return std::tie(trace.first_address, *trace.first);
    };
    if (from.first && (!to.first || first(from) < first(to))) {
      to.first = from.first;
      to.first_address = from.first_address;
    }
    to.sample.add(from.sample);
  }
  return *this;
}

void BlockTrace::start() {
  left_ = most_traced_requests / 2;
  fetched_.clear();
  loaded_.clear();
  atomics_.clear();
  seen_.clear();
}

void BlockTrace::follow(const TracedAccess& access, const std::uint64_t* delta) {
  SiteTrace& trace = recording_.traces[access.site];
  const unsigned seen = seen_[access.site]++;
  if (seen < most_sampled) {
    const bool is_global = access.space == AddressSpace::global;
    trace.sample.add(
        access.space, access.mask, delta,
        static_cast<std::uint32_t>(is_global ? access.first % sector_bytes : access.first), 1);
  }
  if (left_ == 0 || (access.space != AddressSpace::global && !access.is_atomic)) return;
  --left_;
  if (seen == 0) {
    LanePattern first{access.space, access.mask, {}};
    for_each_lane(access.mask, [&](unsigned lane) { first.delta[lane] = delta[lane]; });
    if (!trace.first ||
        std::tie(access.first, first) < std::tie(trace.first_address, *trace.first)) {
      trace.first = first;
      trace.first_address = access.first;
    }
  }
  ++trace.requests;
  trace.lanes += static_cast<unsigned>(std::popcount(access.mask));
  if (access.is_atomic) {
    const std::uint64_t place = mixed(access.site, static_cast<std::uint64_t>(access.space));
    std::vector<std::uint64_t> own;
    for_each_lane(access.mask, [&](unsigned lane) {
      if (atomics_.insert(mixed(place, access.first + delta[lane])).second) ++trace.addresses;
      if (std::find(own.begin(), own.end(), delta[lane]) != own.end()) ++trace.meeting;
      own.push_back(delta[lane]);
    });
  } else if (access.is_load) {
    follow_load(access, delta, trace);
  }
}

void BlockTrace::follow_load(const TracedAccess& traced, const std::uint64_t* delta,
                             SiteTrace& trace) {
  WarpAccess access;
  access.mask = traced.mask;
  access.width = traced.width;
  std::uint64_t hash = mixed(traced.mask, std::uint64_t{traced.warp} << 8 | traced.width);
  std::array<std::uint64_t, warp_lanes> sectors{};
  std::size_t count = 0;
  for_each_lane(traced.mask, [&](unsigned lane) {
    access.address[lane] = traced.first + delta[lane];
    hash = mixed(hash, access.address[lane]);
    const std::uint64_t sector = access.address[lane] / sector_bytes;
    const auto* end = sectors.data() + count;
    if (std::find<const std::uint64_t*>(sectors.data(), end, sector) == end) {
      sectors[count++] = sector;
    }
  });
  trace.sectors += count;
  if (!loaded_.insert(hash).second) {
    trace.repeated += count;
    return;
  }
  const Cost cost = global_cost(access);
  // All lanes at one place walk through a sector, which is no fault.
  const bool is_efficient =
      count > 1 && cost.bytes >= least_useful_bytes_of_sector * cost.transactions;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [fetched, is_first] = fetched_.try_emplace(sectors[i], Fetched{traced.warp, false});
    if (is_first) continue;
    Fetched& before = fetched->second;
    if (before.warp != traced.warp) {
      ++trace.by_other_warps;
      before = {traced.warp, true};
    } else if (is_efficient) {
      ++trace.by_own_warp;
    }
  }
}

bool is_traced(std::uint64_t block, std::uint64_t blocks) {
  return block == blocks / 2 || block == blocks / 3;
}

}  // namespace warpmeter::model
