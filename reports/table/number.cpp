// SPDX-License-Identifier: MIT
// Rounding is done on the decimal digits of the shortest text, not on the binary value: printf
// turns 56.25 into 56.2 (half to even), and a reader of a table takes that for a mistake.
#include "reports/table/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/with_noun.h"

namespace warpmeter::reports {
namespace {

constexpr int significant_digits = 3;
constexpr int smallest_fixed_exponent = -6;  // 0.000001; anything smaller reads better as 1.0e-07

std::string text_of(double value, std::chars_format format) {
  std::array<char, 400> buffer;
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format);
  return error == std::errc() ? std::string(buffer.data(), end) : std::string("?");
}

/// |value| = 0.d₁d₂d₃… × 10^(exponent + 1), so that exponent 0 is a value from 1 to 9.99….
struct Decimal {
  std::string digits;
  int exponent = 0;
};

Decimal decimal_of(double magnitude) {
  const std::string text = text_of(magnitude, std::chars_format::scientific);
  const std::size_t e = text.find('e');
  Decimal decimal;
  for (const char c : text.substr(0, e)) {
    if (c != '.') decimal.digits += c;
  }
  decimal.exponent = std::atoi(text.c_str() + e + 1);
  return decimal;
}

void round_to(Decimal& decimal, std::size_t count) {
  if (decimal.digits.size() <= count) return;
  const bool up = decimal.digits[count] >= '5';
  decimal.digits.resize(count);
  if (!up) return;
  std::size_t i = count;
  while (i > 0 && decimal.digits[i - 1] == '9') decimal.digits[--i] = '0';
  if (i > 0) {
    ++decimal.digits[i - 1];
  } else {
    decimal.digits.insert(decimal.digits.begin(), '1');
    decimal.digits.pop_back();
    ++decimal.exponent;
  }
}

std::string with_separators(const std::string& digits) {
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

/// The fraction's digits with the point before them; empty when there are none to show.
std::string fraction_of(std::string digits, Zeros zeros) {
  if (zeros == Zeros::trim) digits.erase(digits.find_last_not_of('0') + 1);
  return digits.empty() ? digits : fmt::format(".{}", digits);
}

std::string fixed_text(Decimal decimal, Zeros zeros, int digits) {
  const int whole = decimal.exponent + 1;  // digits before the point
  const auto wanted = static_cast<std::size_t>(std::max(digits, whole));
  decimal.digits.resize(wanted, '0');
  if (whole <= 0) {
    const std::string zeros_after_point(static_cast<std::size_t>(-whole), '0');
    return fmt::format("0{}", fraction_of(zeros_after_point + decimal.digits, zeros));
  }
  const auto point = static_cast<std::size_t>(whole);
  return with_separators(decimal.digits.substr(0, point)) +
         fraction_of(decimal.digits.substr(point), zeros);
}

std::string scientific_text(Decimal decimal, Zeros zeros, int digits) {
  decimal.digits.resize(static_cast<std::size_t>(digits), '0');
  return fmt::format("{}{}e{}", decimal.digits[0], fraction_of(decimal.digits.substr(1), zeros),
                     decimal.exponent);
}

std::string rounded_number(double value, Zeros zeros, int digits) {
  if (!std::isfinite(value)) return exact_number(value);
  if (value == 0) return "0";
  Decimal decimal = decimal_of(std::abs(value));
  round_to(decimal, static_cast<std::size_t>(std::max(digits, decimal.exponent + 1)));
  const bool fixed = decimal.exponent >= smallest_fixed_exponent && decimal.exponent < 18;
  return fmt::format(
      "{}{}", value < 0 ? "-" : "",
      fixed ? fixed_text(decimal, zeros, digits) : scientific_text(decimal, zeros, digits));
}

}  // namespace

std::string exact_number(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (value == std::trunc(value) && std::abs(value) <= largest_exact_integer) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  const double magnitude = std::abs(value);
  return text_of(value, magnitude >= 1e-5 && magnitude < largest_exact_integer
                            ? std::chars_format::fixed
                            : std::chars_format::scientific);
}

std::string grouped_number(std::int64_t value) {
  const std::string text = std::to_string(value);
  const bool negative = value < 0;
  return fmt::format("{}{}", negative ? "-" : "", with_separators(text.substr(negative ? 1 : 0)));
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return with_noun(grouped_number(static_cast<std::int64_t>(count)), one, many);
}

std::string readable_number(double value, Zeros zeros) {
  return rounded_number(value, zeros, significant_digits);
}

std::string number_beside(double value, double other) {
  constexpr int all_digits = std::numeric_limits<double>::max_digits10;
  int digits = significant_digits;
  while (value != other && digits < all_digits &&
         rounded_number(value, Zeros::trim, digits) == rounded_number(other, Zeros::trim, digits)) {
    ++digits;
  }
  return rounded_number(value, Zeros::trim, digits);
}

std::string signed_percent(double fraction, Digits digits) {
  if (std::isnan(fraction)) return "unknown";
  const double percent = 100 * fraction, magnitude = std::abs(percent);
  const char sign = percent < 0 ? '-' : '+';
  constexpr double least = 0.001, most = 1e9;
  if (magnitude > most) return fmt::format("over {}1,000,000,000", sign);
  // From here on there are three digits before the point, and nobody misses those behind it.
  if (digits == Digits::tenth && magnitude < 1000) return fmt::format("{:+.1f}", percent);
  if (percent == 0) return "0";
  if (magnitude < least) return fmt::format("{}<0.001", sign);
  return sign + readable_number(magnitude, Zeros::trim);
}

DurationUnit duration_unit(std::span<const double> durations_ns) {
  constexpr std::array<DurationUnit, 4> units = {{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}}};
  double shortest = 0;
  for (const double duration : durations_ns) {
    if (duration > 0 && (shortest == 0 || duration < shortest)) shortest = duration;
  }
  for (const DurationUnit& unit : units) {
    if (shortest >= unit.in_ns) return unit;
  }
  return units.back();
}

}  // namespace warpmeter::reports
