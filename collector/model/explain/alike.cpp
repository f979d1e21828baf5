#include "collector/model/explain/alike.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>
#include <utility>

namespace warpmeter::model::explain {
namespace {

/// By which multiples of bytes, rows and columns an access may be moved towards the beginning.
struct Steps {
  Divisor bytes, rows, columns;
  bool is_by_bytes = false;
  bool has_columns = true;  ///< else within its rows it has to stay where it is
};

Steps moves_of(const Likeness& likeness, std::uint32_t row) {
  const std::uint32_t element = likeness.element, grain = likeness.grain;
  const auto rows_that_make = [&](std::uint32_t bytes) { return grain / std::gcd(bytes, grain); };
  Steps steps;
  switch (likeness.kind) {
    case Layout::Kind::padding:
      steps.rows = Divisor(rows_that_make(row));
      steps.columns = Divisor(grain);
      return steps;
    case Layout::Kind::swizzle:
      steps.rows = Divisor(std::lcm(likeness.rows, rows_that_make(row)));
      steps.columns = Divisor(element);
      steps.has_columns = element >= grain && std::has_single_bit(element);
      return steps;
    case Layout::Kind::transpose:
      steps.rows = Divisor(rows_that_make(element));
      steps.columns = Divisor(element);
      steps.has_columns = std::uint64_t{element} * likeness.height % grain == 0;
      return steps;
    case Layout::Kind::as_is:
      steps.bytes = Divisor(grain);
      break;
    case Layout::Kind::split:
      steps.bytes = Divisor(std::lcm(element, grain));
      break;
  }
  steps.is_by_bytes = true;
  return steps;
}

auto key_of(const Placed& access) { return std::tie(access.site, access.pattern, access.place); }

/// Of neighbours that are the same access one stays, with the times of all.
void add(const Placed& access, std::vector<Placed>& all) {
  if (!all.empty() && key_of(all.back()) == key_of(access)) {
    all.back().times += access.times;
  } else {
    all.push_back(access);
  }
}

void unite(std::vector<Placed>& all) {
  std::sort(all.begin(), all.end(),
            [](const Placed& a, const Placed& b) { return key_of(a) < key_of(b); });
  std::vector<Placed> united;
  for (const Placed& access : all) add(access, united);
  all = std::move(united);
}

}  // namespace

LyingAccesses::Reach LyingAccesses::reach_of(const SiteInfo& site) {
  Reach reach = {0, site.width};
  for (const Request& request : site.requests) {
    const std::int64_t before = request.is_window ? request.width - 1 : 0;
    reach.low = std::min<std::int64_t>(reach.low, request.offset - before);
    reach.high = std::max<std::int64_t>(reach.high, request.offset + request.width);
  }
  return reach;
}

LyingAccesses::Extent LyingAccesses::extent_of(const Placed& access, const Reach& reach) const {
  Extent extent;
  const std::int64_t length = reach.high - reach.low;
  extent.begins_at_place = reach.low == 0;
  for_each_lane(access.pattern->mask, [&](unsigned lane) {
    const std::int64_t begin =
        static_cast<std::uint32_t>(access.place + access.pattern->delta[lane]) + reach.low;
    // Before the array's first byte: where an aligned access begins, which then touches no other.
    const auto at = static_cast<std::uint32_t>(std::max<std::int64_t>(begin, 0));
    const std::uint32_t row = row_.quotient(at), column = at - row * row_.number();
    extent.first_byte = std::min(extent.first_byte, at);
    extent.first_row = std::min(extent.first_row, row);
    extent.last_row = std::max(extent.last_row, row);
    extent.first_column = std::min(extent.first_column, column);
    extent.last_column = std::max(extent.last_column, column);
    extent.is_within_rows &= begin >= 0 && column + length <= row_.number();
  });
  return extent;
}

LyingAccesses::Spread LyingAccesses::spread_of(const LanePattern& pattern) const {
  Spread spread;
  for_each_lane(pattern.mask, [&](unsigned lane) {
    // As everywhere in shared memory, places are taken modulo 2³².
    const std::int64_t delta = static_cast<std::int32_t>(pattern.delta[lane]);
    spread.lowest = std::min(spread.lowest, delta);
    spread.highest = std::max(spread.highest, delta);
    const auto distance = static_cast<std::uint32_t>(delta < 0 ? -delta : delta);
    spread.is_column = spread.is_column && row_.remainder(distance) == 0;
  });
  return spread;
}

std::optional<LyingAccesses::Extent> LyingAccesses::extent_of(const Placed& access,
                                                              const Reach& reach,
                                                              const Spread& spread) const {
  const std::int64_t begin = access.place + spread.lowest + reach.low;
  const std::int64_t length = reach.high - reach.low, between = spread.highest - spread.lowest;
  if (begin < 0) return std::nullopt;
  Extent extent;
  extent.begins_at_place = reach.low == 0;
  extent.first_byte = static_cast<std::uint32_t>(begin);
  extent.first_row = extent.last_row = row_.quotient(extent.first_byte);
  extent.first_column = extent.last_column = extent.first_byte - extent.first_row * row_.number();
  if (extent.first_column + between + length <= row_.number()) {
    extent.last_column += static_cast<std::uint32_t>(between);
    return extent;
  }
  if (!spread.is_column) return std::nullopt;
  extent.last_row += row_.quotient(static_cast<std::uint32_t>(between));
  extent.is_within_rows = extent.first_column + length <= row_.number();
  return extent;
}

LyingAccesses::LyingAccesses(const Subject& subject, const std::vector<Placed>& accesses,
                             std::uint32_t row)
    : accesses_(accesses), row_(std::max(row, 1u)) {
  extents_.reserve(accesses.size());
  Reach reach;
  Spread spread;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Placed& access = accesses[i];
    if (i == 0 || access.site != accesses[i - 1].site) reach = reach_of(subject.site(access.site));
    if (i == 0 || access.pattern != accesses[i - 1].pattern) spread = spread_of(*access.pattern);
    const std::optional<Extent> seen = extent_of(access, reach, spread);
    extents_.push_back(seen ? *seen : extent_of(access, reach));
  }
}

std::vector<Placed> LyingAccesses::different(const Likeness& likeness) const {
  const Steps steps = moves_of(likeness, row_.number());
  // One column, exclusive or with a number: the elements of the row change places.
  const bool is_of_one_column = likeness.kind == Layout::Kind::swizzle;
  std::vector<Placed> different;
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    const Extent& extent = extents_[i];
    if (!likeness.has_rows && extent.is_one_row()) continue;
    Placed moved = accesses_[i];
    if (steps.is_by_bytes) {
      moved.place -= steps.bytes.multiple(extent.first_byte);
    } else {
      moved.place -= steps.rows.multiple(extent.first_row) * row_.number();
      const bool is_column = extent.first_column == extent.last_column && extent.begins_at_place;
      if (steps.has_columns && extent.is_within_rows && (is_column || !is_of_one_column)) {
        moved.place -= steps.columns.multiple(extent.first_column);
      }
    }
    add(moved, different);
  }
  unite(different);
  return different;
}

std::vector<Placed> LyingAccesses::different_in_rows(std::uint32_t grain) const {
  const Divisor bytes(grain);
  std::vector<Placed> different;
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    if (!extents_[i].is_one_row()) continue;
    Placed moved = accesses_[i];
    moved.place -= bytes.multiple(extents_[i].first_byte);
    add(moved, different);
  }
  unite(different);
  return different;
}

}  // namespace warpmeter::model::explain
