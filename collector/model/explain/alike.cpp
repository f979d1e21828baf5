// SPDX-License-Identifier: MIT
#include "collector/model/explain/alike.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>
#include <utility>

namespace warpmeter::model::explain {
namespace {

constexpr std::size_t usual_different = 16;  ///< accesses of a small array

/// By which multiples of bytes, rows and columns an access may be moved towards the beginning.
struct Steps {
  Divisor bytes, rows, columns;
  bool is_by_bytes = false;
  bool has_columns = true;  ///< else within its rows it has to stay where it is
  bool turns_bits = false;  ///< see Likeness
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
      steps.has_columns = false;
      steps.turns_bits = likeness.turns_bits();
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
    case Layout::Kind::members:
      steps.bytes = Divisor(std::lcm(element, grain));
      break;
    case Layout::Kind::boxes:  // none stands for others
      steps.bytes = Divisor(1u << 31);
      break;
  }
  steps.is_by_bytes = true;
  return steps;
}

/// The bits above those in which the two differ.
std::uint32_t common_bits(std::uint32_t first, std::uint32_t last) {
  const int differ = std::bit_width(first ^ last);
  return differ >= 32 ? 0 : first >> differ << differ;
}

auto key_of(const Placed& access) { return std::tie(access.site, access.pattern, access.place); }

/// One of several neighbours that are the same access stays, with the times of all.
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
  std::size_t count = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (count > 0 && key_of(all[count - 1]) == key_of(all[i])) {
      all[count - 1].times += all[i].times;
    } else {
      all[count++] = all[i];
    }
  }
  all.resize(count);
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
    extent.last_column =
        std::max(extent.last_column, column + static_cast<std::uint32_t>(length) - 1);
    extent.is_within_rows &= begin >= 0 && column + length <= row_.number();
  });
  return extent;
}

std::optional<LyingAccesses::Extent> LyingAccesses::moved(const Extent& extent, std::uint32_t from,
                                                          std::uint32_t to) const {
  if (!extent.is_within_rows) return std::nullopt;
  const std::uint32_t from_row = row_.quotient(from), to_row = row_.quotient(to);
  const std::int64_t rows = std::int64_t{to_row} - from_row;
  const std::int64_t bytes = std::int64_t{to} - from, columns = bytes - rows * row_.number();
  const bool stays = extent.first_column + columns >= 0 &&
                     extent.last_column + columns < row_.number() && extent.first_row + rows >= 0;
  if (!stays) return std::nullopt;
  Extent result = extent;
  result.first_byte = static_cast<std::uint32_t>(extent.first_byte + bytes);
  result.first_row = static_cast<std::uint32_t>(extent.first_row + rows);
  result.last_row = static_cast<std::uint32_t>(extent.last_row + rows);
  result.first_column = static_cast<std::uint32_t>(extent.first_column + columns);
  result.last_column = static_cast<std::uint32_t>(extent.last_column + columns);
  return result;
}

LyingAccesses::LyingAccesses(const Subject& subject, const std::vector<Placed>& accesses,
                             std::uint32_t row)
    : accesses_(accesses), row_(std::max(row, 1u)) {
  extents_.reserve(accesses.size());
  Reach reach;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Placed& access = accesses[i];
    const bool is_same_site = i > 0 && access.site == accesses[i - 1].site;
    if (!is_same_site) reach = reach_of(subject.site(access.site));
    const std::optional<Extent> known =
        is_same_site && access.pattern == accesses[i - 1].pattern
            ? moved(extents_.back(), accesses[i - 1].place, access.place)
            : std::nullopt;
    extents_.push_back(known ? *known : extent_of(access, reach));
  }
}

std::vector<Placed> LyingAccesses::different(const Likeness& likeness) const {
  const Steps steps = moves_of(likeness, row_.number());
  std::vector<Placed> different;
  different.reserve(usual_different);
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    const Extent& extent = extents_[i];
    if (!likeness.has_rows && extent.is_one_row()) continue;
    Placed moved = accesses_[i];
    if (steps.is_by_bytes) {
      moved.place -= steps.bytes.multiple(extent.first_byte);
    } else if (steps.turns_bits && extent.is_within_rows) {
      moved.place -= common_bits(extent.first_row, extent.last_row) * row_.number() +
                     common_bits(steps.columns.quotient(extent.first_column),
                                 steps.columns.quotient(extent.last_column)) *
                         likeness.element;
    } else {
      moved.place -= steps.rows.multiple(extent.first_row) * row_.number();
      if (steps.has_columns && extent.is_within_rows) {
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
  different.reserve(usual_different);
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
