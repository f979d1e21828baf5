// SPDX-License-Identifier: MIT
// Numbers as text, in two voices. For people: three significant digits, thousands separators, units
// kept out of the cell. For programs (CSV, JSON, `query`): the shortest text that reads back as the
// same number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace warpmeter::reports {

/// Shortest text that reads back as `value`; a whole number has no ".0": 56.25, 131072, 1e-07.
std::string exact_number(double value);

/// 1048576 → "1,048,576".
std::string grouped_number(std::int64_t value);

/// "1 pair", "2 pairs", "1,000 pairs".
std::string counted(std::size_t count, std::string_view one, std::string_view many);

enum class Zeros {
  keep,  ///< 9.20: of a reading, the zero is known too
  trim,  ///< 1.2: of a count a request, the rest is exactly nothing
};

/// Up to here every whole number is a double: 2^53.
inline constexpr double largest_exact_integer = 9007199254740992.0;

/// Three significant digits with thousands separators; digits before the point are never rounded
/// away (12,345 stays). Halves round away from zero in decimal, as a reader expects: 56.25 → 56.3.
std::string readable_number(double value, Zeros zeros);

/// The same without zeros at the end, with so many more digits that it differs from the other
/// number: 99.9996 beside 100.
std::string number_beside(double value, double other);

/// How many digits of a change people see.
enum class Digits {
  three,  ///< significant ones: -72.2, +300, +0.0313
  tenth,  ///< one after the point, so that a column of small changes lines up: -3.2, +0.0
};

/// A change in per cent as people read it, with its sign and without its unit; `fraction` is 1 for
/// a value that doubled: "+3,100", "-72.2", "0". Numbers that are too small or too large to be read
/// is said so, "+<0.001", "over +1,000,000,000", and never written with an exponent.
std::string signed_percent(double fraction, Digits digits = Digits::three);

/// A unit that durations of one column share.
struct DurationUnit {
  std::string_view symbol;  ///< "ns", "µs", "ms" or "s"
  double in_ns = 1;         ///< value shown = ns / in_ns
};

/// The largest unit in which the shortest of the durations is at least 1; ns when there are none.
DurationUnit duration_unit(std::span<const double> durations_ns);

}  // namespace warpmeter::reports
