#include "collector/model/explain/alike.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace warpmeter::model::explain {
namespace {

/// The bytes that a site's requests touch around the place of a lane.
struct Reach {
  std::int64_t low = 0, high = 0;
};

Reach reach_of(const SiteInfo& site) {
  Reach reach = {0, site.width};
  for (const Request& request : site.requests) {
    const std::int64_t before = request.is_window ? request.width - 1 : 0;
    reach.low = std::min<std::int64_t>(reach.low, request.offset - before);
    reach.high = std::max<std::int64_t>(reach.high, request.offset + request.width);
  }
  return reach;
}

/// Where the lanes of an access lie in the array: all in [first_row, …), between two columns.
struct Extent {
  std::int64_t first_byte = std::numeric_limits<std::int64_t>::max();
  std::int64_t first_row = std::numeric_limits<std::int64_t>::max();
  std::int64_t first_column = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_column = 0;
  bool is_within_rows = true;
};

Extent extent_of(const Placed& access, const Reach& reach, std::int64_t row) {
  Extent extent;
  for_each_lane(access.pattern->mask, [&](unsigned lane) {
    const std::int64_t begin =
        static_cast<std::uint32_t>(access.place + access.pattern->delta[lane]) + reach.low;
    extent.first_byte = std::min(extent.first_byte, begin);
    // Before the array's first byte: where an aligned access begins, which then touches no other.
    const std::int64_t in_row = begin < 0 ? 0 : begin % row;
    extent.first_row = std::min(extent.first_row, begin < 0 ? 0 : begin / row);
    extent.first_column = std::min(extent.first_column, in_row);
    extent.last_column = std::max(extent.last_column, in_row);
    extent.is_within_rows =
        extent.is_within_rows && begin >= 0 && in_row + reach.high - reach.low <= row;
  });
  return extent;
}

std::int64_t down_to(std::int64_t value, std::int64_t multiple) {
  return value <= 0 ? 0 : value / multiple * multiple;
}

/// By how many bytes the access may be moved towards the array's beginning.
std::int64_t move_of(const Extent& extent, const Reach& reach, const Likeness& likeness) {
  const std::int64_t row = likeness.row, element = likeness.element, grain = likeness.grain;
  const auto rows_that_make = [&](std::int64_t bytes) { return grain / std::gcd(bytes, grain); };
  switch (likeness.kind) {
    case Layout::Kind::padding: {
      const std::int64_t rows = down_to(extent.first_row, rows_that_make(row)) * row;
      return rows + (extent.is_within_rows ? down_to(extent.first_column, grain) : 0);
    }
    case Layout::Kind::swizzle: {
      const std::int64_t rows =
          down_to(extent.first_row, std::lcm<std::int64_t>(likeness.rows, rows_that_make(row))) *
          row;
      // One column, exclusive or with a number: the elements of the row change places.
      const bool is_column = extent.is_within_rows && extent.first_column == extent.last_column &&
                             reach.low == 0 && element >= grain &&
                             std::has_single_bit(likeness.element);
      return rows + (is_column ? down_to(extent.first_column, element) : 0);
    }
    case Layout::Kind::transpose: {
      const std::int64_t rows = down_to(extent.first_row, rows_that_make(element)) * row;
      const bool is_whole = element * likeness.height % grain == 0;
      return rows + (extent.is_within_rows && is_whole ? down_to(extent.first_column, element) : 0);
    }
    case Layout::Kind::as_is:
      return down_to(extent.first_byte, grain);
    case Layout::Kind::split:
      break;
  }
  return down_to(extent.first_byte, std::lcm(element, grain));
}

}  // namespace

std::vector<Placed> different_accesses(const Subject& subject, const std::vector<Placed>& accesses,
                                       const Likeness& likeness) {
  std::map<std::size_t, Reach> reaches;
  std::map<std::tuple<std::size_t, const LanePattern*, std::uint32_t>, std::uint64_t> times;
  for (const Placed& access : accesses) {
    const auto [reach, is_new] = reaches.try_emplace(access.site);
    if (is_new) reach->second = reach_of(subject.site(access.site));
    const Extent extent = extent_of(access, reach->second, likeness.row);
    const auto place =
        static_cast<std::uint32_t>(access.place - move_of(extent, reach->second, likeness));
    times[{access.site, access.pattern, place}] += access.times;
  }
  std::vector<Placed> different;
  different.reserve(times.size());
  for (const auto& [key, of_all] : times) {
    different.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), of_all});
  }
  return different;
}

}  // namespace warpmeter::model::explain
