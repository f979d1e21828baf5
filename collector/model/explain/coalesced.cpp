// SPDX-License-Identifier: MIT
#include "collector/model/explain/coalesced.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "collector/model/counts/rules/counting.h"

namespace warpmeter::model::explain {
namespace {

/// Elements `step` bytes apart, from the beginning of a buffer on. An address is known by its
/// remainder by a power of two alone, and no more of its element's number is needed than in which
/// place of a sector it comes to lie.
class Elements {
 public:
  Elements(const Buffer& buffer, std::uint64_t step, unsigned width)
      : begin_(buffer.begin), width_(width) {
    shift_ = static_cast<unsigned>(std::countr_zero(step));
    odd_ = step >> shift_;
    of_sector_ = std::max(1u, sector_bytes / width);
    period_ = (std::uint64_t{1} << shift_) * of_sector_;
    rows_ = buffer.bytes % step == 0 ? buffer.bytes / step : 0;
  }

  /// By which remainder of an address its element is known.
  std::uint64_t period() const { return period_; }

  /// The number of an element whose address leaves this place, its number modulo a sector's
  /// elements. `column`: where in its step an element of the site lies; that of others has to be
  /// the same where the step is no power of two.
  std::uint64_t number(std::uint64_t place, std::uint64_t column) const {
    std::uint64_t number = ((place - begin_) % period_) >> shift_;
    if (odd_ == 1) return number % of_sector_;
    number -= column >> shift_;
    std::uint64_t inverse = 1;  // the inverse of an odd number, modulo a power of two
    while (inverse * odd_ % of_sector_ != 1 % of_sector_) inverse += 2;
    return number * inverse % of_sector_;
  }
  std::uint64_t column(std::uint64_t place) const {
    return (place - begin_) % (std::uint64_t{1} << shift_);
  }
  /// True if every column, as a row of its own behind the others, begins with a sector.
  bool are_rows_whole() const { return rows_ > 0 && rows_ * width_ % sector_bytes == 0; }
  bool is_power() const { return odd_ == 1; }
  unsigned of_sector() const { return of_sector_; }

 private:
  std::uint64_t begin_;
  unsigned width_, shift_ = 0, of_sector_ = 1;
  std::uint64_t odd_ = 1, period_ = 0, rows_ = 0;
};

bool is_multiple(const LanePattern& pattern, std::uint64_t step) {
  bool all = true;
  for_each_lane(pattern.mask, [&](unsigned lane) {
    const auto delta = static_cast<std::int64_t>(pattern.delta[lane]);
    all &= delta % static_cast<std::int64_t>(step) == 0;
  });
  return all;
}

/// True if each lane takes the element that follows the one of the lane before.
bool is_in_order(const LanePattern& pattern, std::uint64_t step) {
  const auto first = static_cast<unsigned>(std::countr_zero(pattern.mask));
  bool all = true;
  for_each_lane(pattern.mask, [&](unsigned lane) {
    all &= pattern.delta[lane] == std::uint64_t{lane - first} * step;
  });
  return all;
}

/// One request of a site's, with the elements that it takes next to each other.
std::optional<AccessCounts> then(const Subject& subject, std::size_t index, const Request& request,
                                 const Buffer& buffer, std::uint64_t step) {
  const SiteInfo& site = subject.site(index);
  const SiteRecording& known = subject.recording.sites[index];
  const unsigned width = request.width;
  const auto offset = static_cast<std::uint64_t>(+request.offset);
  if (width > sector_bytes || step % width != 0) return std::nullopt;
  const Elements elements(buffer, step, width);
  const std::uint64_t first = subject.recording.traces[index].first_address + offset - buffer.begin;
  const std::uint64_t column = first % step;
  if (column % width != 0) return std::nullopt;
  AccessCounts sum;
  std::optional<std::uint64_t> begins;  // lane 0's number, of steps that are no power of two
  for (const auto& [pattern, places] : known.patterns()) {
    if (pattern.space != AddressSpace::global) continue;
    const bool is_one = (pattern.mask & (pattern.mask - 1)) == 0;
    if (!is_multiple(pattern, step)) return std::nullopt;
    const std::uint64_t period =
        place_period(pattern.mask, pattern.delta.data(), site.narrowest_request());
    if (!is_one && period < elements.period()) return std::nullopt;
    for (const auto& [begin, times] : places) {
      const std::uint64_t place = begin + offset;
      WarpAccess access;
      access.mask = pattern.mask;
      access.width = width;
      std::uint64_t number = 0;
      if (!is_one) {
        const bool is_elsewhere = elements.column(place) != column % (step & (0 - step));
        if (is_elsewhere && (!elements.is_power() || !elements.are_rows_whole())) {
          return std::nullopt;
        }
        number = elements.number(place, column);
        if (!elements.is_power()) {
          // Other columns could be taken for other elements: they are not when all begin alike.
          const auto lane = static_cast<unsigned>(std::countr_zero(pattern.mask));
          const std::uint64_t of_lane_0 = (number + warp_lanes - lane) % elements.of_sector();
          if (!is_in_order(pattern, step) || begins.value_or(of_lane_0) != of_lane_0) {
            return std::nullopt;
          }
          begins = of_lane_0;
        }
      }
      for_each_lane(access.mask, [&, &delta = pattern.delta](unsigned lane) {
        const auto distance = static_cast<std::int64_t>(delta[lane]) /
                              static_cast<std::int64_t>(step) * static_cast<std::int64_t>(width);
        access.address[lane] =
            (std::uint64_t{1} << 60) + number * width + static_cast<std::uint64_t>(distance);
      });
      sum.requests += times;
      sum.transactions += times * global_cost(access).transactions;
    }
  }
  return sum;
}

/// False for a copy of which some lanes had fewer bytes to read than they store.
bool is_recorded_as_counted(const Subject& subject, std::size_t index) {
  AccessCounts sum;
  for (const auto& [pattern, places] : subject.recording.sites[index].patterns()) {
    if (pattern.space != AddressSpace::global) return false;
    for (const auto& [place, times] : places) {
      WarpAccess access;
      access.mask = pattern.mask;
      access.width = subject.site(index).width;
      for_each_lane(pattern.mask, [&, begin = place, &delta = pattern.delta](unsigned lane) {
        access.address[lane] = (std::uint64_t{1} << 60) + begin + delta[lane];
      });
      sum.requests += times;
      sum.transactions += times * global_cost(access).transactions;
    }
  }
  const AccessCounts& counts = subject.outcome.counts[index].global;
  return sum.requests == counts.requests && sum.transactions == counts.transactions;
}

/// The site's accesses with the elements next to each other. A vector the compiler may load in
/// parts, without what nobody uses: each part is a member.
std::optional<AccessCounts> then(const Subject& subject, std::size_t index, const Buffer& buffer,
                                 std::uint64_t step) {
  const SiteInfo& site = subject.site(index);
  // Past L1 a copy's sectors depend on where it writes, too.
  const bool is_counted_alone =
      site.carrier == Carrier::registers || (site.carrier == Carrier::copy && !site.bypasses_l1 &&
                                             is_recorded_as_counted(subject, index));
  if (subject.recording.sites[index].is_full() || !is_counted_alone || site.is_apart) {
    return std::nullopt;
  }
  if (!makes_parts(site)) return then(subject, index, {0, site.width}, buffer, step);
  AccessCounts sum;
  for (const Request& request : site.requests) {
    const std::optional<AccessCounts> part = then(subject, index, request, buffer, step);
    if (!part) return std::nullopt;
    sum += *part;
  }
  return sum;
}

}  // namespace

std::optional<Coalesced> coalesced(const Subject& subject, const AccessGroup& group,
                                   std::int64_t step, schema::Finding& finding) {
  const SiteTrace& front = subject.recording.traces[group.sites.front()];
  if (!front.first || !subject.options.buffer || step == 0) return std::nullopt;
  const Buffer buffer = subject.options.buffer(front.first_address);
  if (buffer.bytes == 0) return std::nullopt;
  const auto apart = static_cast<std::uint64_t>(std::abs(step));
  Coalesced result;
  for (std::size_t i = 0; i < subject.program.sites.size(); ++i) {
    const SiteInfo& site = subject.site(i);
    const AccessCounts& now = subject.outcome.counts[i].global;
    // Those that others' requests include have none of their own.
    const bool is_made = now.requests > 0 || site.requests.empty();
    if (!is_made || site.is_atomic()) continue;
    const SiteTrace& trace = subject.recording.traces[i];
    if (!trace.first) {
      if (now.requests == 0 && subject.recording.sites[i].patterns().empty()) continue;
      return std::nullopt;
    }
    if (trace.first->space != AddressSpace::global ||
        subject.options.buffer(trace.first_address).begin != buffer.begin) {
      continue;
    }
    const std::optional<AccessCounts> moved = then(subject, i, buffer, apart);
    if (!moved) return std::nullopt;
    Coalesced::Change& change = site.kind == AccessKind::load ? result.loads : result.stores;
    change.now += now;
    change.then += *moved;
    weaken(subject, i, AddressSpace::global, finding);
    if (std::find(group.sites.begin(), group.sites.end(), i) != group.sites.end()) {
      result.transactions += moved->transactions;
    }
  }
  return result;
}

}  // namespace warpmeter::model::explain
