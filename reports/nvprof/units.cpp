// SPDX-License-Identifier: MIT
#include "reports/nvprof/units.h"

#include <fmt/format.h>

#include <cstddef>
#include <span>

namespace warpmeter::reports::nvprof {
namespace {

constexpr ColumnUnit times[] = {{"ns", 1, true}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr ColumnUnit sizes[] = {
    {"B", 1, true}, {"KB", 1024}, {"MB", 1024. * 1024}, {"GB", 1024. * 1024 * 1024}};
constexpr ColumnUnit rates[] = {
    {"B/s", 1}, {"KB/s", 1024}, {"MB/s", 1024. * 1024}, {"GB/s", 1024. * 1024 * 1024}};

constexpr double most_before_next = 1000;  ///< from here on the next unit is taken

/// As many digits as fit into that many characters.
std::string fitting_number(double value, std::size_t characters) {
  // A million rows of a trace have two such numbers each: start from the digits before the point.
  std::size_t taken = 2;  // the first digit and the point
  for (double rest = value; rest >= 10 && taken < characters; rest /= 10) ++taken;
  for (std::size_t decimals = characters < taken ? 0 : characters - taken; decimals > 0;
       --decimals) {
    std::string text = fmt::format("{:.{}f}", value, decimals);
    if (text.size() <= characters) return text;
  }
  return fmt::format("{:.0f}", value);
}

std::string with_unit(double value, const ColumnUnit& unit, std::size_t width) {
  const double scaled = value / unit.factor;
  return (unit.is_whole ? fmt::format("{:.0f}", scaled)
                        : fitting_number(scaled, width - unit.name.size())) +
         std::string(unit.name);
}

/// True if the number rounds to 1000 or more in this unit.
bool is_too_large(double value, const ColumnUnit& unit, std::size_t width) {
  double half_of_last = 0.5;
  for (std::size_t digits = unit.is_whole ? 4 : width - unit.name.size(); digits > 4; --digits) {
    half_of_last /= 10;
  }
  return value / unit.factor >= most_before_next - half_of_last;
}

std::string fitted(double value, std::span<const ColumnUnit> units, std::size_t width) {
  for (const ColumnUnit& unit : units.first(units.size() - 1)) {
    if (!is_too_large(value, unit, width)) return with_unit(value, unit, width);
  }
  const ColumnUnit& last = units.back();
  if (last.name == "s" && is_too_large(value, last, width)) {
    return fmt::format("{:.1e}s", value / last.factor);  // "2.4e+03s"
  }
  return with_unit(value, last, width);
}

const ColumnUnit& unit_of(double greatest, std::span<const ColumnUnit> units) {
  for (const ColumnUnit& unit : units.first(units.size() - 1)) {
    if (greatest / unit.factor < most_before_next) return unit;
  }
  return units.back();
}

const ColumnUnit* fixed(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::automatic:
    case TimeUnit::column:
      return nullptr;
    case TimeUnit::ns:
      return &times[0];
    case TimeUnit::us:
      return &times[1];
    case TimeUnit::ms:
      return &times[2];
    case TimeUnit::s:
      return &times[3];
  }
  return nullptr;
}

constexpr std::size_t narrow = 8, wide = 10;

}  // namespace

std::string time_text(double ns, TimeUnit unit) {
  const ColumnUnit* one = fixed(unit);
  return one == nullptr ? fitted(ns, times, narrow) : with_unit(ns, *one, narrow);
}
std::string size_text(double bytes) { return fitted(bytes, sizes, narrow); }
std::string rate_text(double bytes_per_second) { return fitted(bytes_per_second, rates, wide); }
std::string total_time_text(double ns) { return fitted(ns, times, wide); }
std::string total_size_text(double bytes) { return fitted(bytes, sizes, wide); }

TimeUnit text_unit(double greatest_ns, TimeUnit unit) {
  constexpr TimeUnit all[] = {TimeUnit::ns, TimeUnit::us, TimeUnit::ms, TimeUnit::s};
  if (unit != TimeUnit::column) return unit;
  return all[&unit_of(greatest_ns, times) - std::data(times)];
}

ColumnUnit time_unit(double greatest_ns, TimeUnit unit) {
  const ColumnUnit* one = fixed(unit);
  return one == nullptr ? unit_of(greatest_ns, times) : *one;
}
ColumnUnit size_unit(double greatest_bytes) { return unit_of(greatest_bytes, sizes); }
ColumnUnit rate_unit(double greatest_bytes_per_second) {
  return unit_of(greatest_bytes_per_second, rates);
}

std::string in_unit(double value, const ColumnUnit& unit) {
  return unit.is_whole && unit.name == "ns" ? fmt::format("{:.0f}", value)
                                            : fmt::format("{:.6f}", value / unit.factor);
}

std::string exact_rate_text(double bytes_per_second) {
  const ColumnUnit& unit = unit_of(bytes_per_second, rates);
  return fmt::format("{:.6f}{}", bytes_per_second / unit.factor, unit.name);
}

std::string csv_text(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"') all += '"';
    all += c;
  }
  return all + '"';
}

}  // namespace warpmeter::reports::nvprof
