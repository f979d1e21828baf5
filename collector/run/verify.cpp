// SPDX-License-Identifier: MIT
#include "collector/run/verify.h"

#include "base/with_noun.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace warpmeter::run {
namespace {

/// The error of one element; infinite where no tolerance can allow it.
double error_of(Element type, const std::byte* found, const std::byte* expected,
                const kernels::Tolerance& tolerance) {
  constexpr double beyond = std::numeric_limits<double>::infinity();
  const bool is_same = std::memcmp(found, expected, bytes_of(type)) == 0;
  if (!is_floating(type)) {
    if (is_same) return 0;
    return std::fabs(number_at(type, found) - number_at(type, expected));
  }
  const double is = number_at(type, found), wanted = number_at(type, expected);
  if (std::isnan(is) || std::isnan(wanted)) {
    return tolerance.nan_equals_nan && std::isnan(is) && std::isnan(wanted) ? 0 : beyond;
  }
  return is == wanted ? 0 : std::fabs(is - wanted);
}

/// Floating-point buffers of equal bytes hold equal values, but for NaN.
bool is_equal(const kernels::Buffer& buffer, std::span<const std::byte> expected,
              std::span<const std::byte> found) {
  if (std::memcmp(expected.data(), found.data(), found.size()) != 0) return false;
  if (!is_floating(buffer.type)) return true;
  const std::size_t width = bytes_of(buffer.type);
  for (std::size_t at = 0; at + width <= found.size(); at += width) {
    if (std::isnan(number_at(buffer.type, &found[at]))) return false;
  }
  return true;
}

/// The smallest power of ten that is twice the number at least, as a person writes it: "1e-6".
std::string round_tolerance(double needed) {
  return fmt::format("1e{}", static_cast<int>(std::ceil(std::log10(2 * needed))));
}

/// The differences in one buffer.
struct Differences {
  std::size_t wrong = 0;      ///< elements beyond the tolerance, without those that are NaN in both
  std::size_t both_nan = 0;   ///< NaN is found and expected, and NaN does not equal NaN
  std::size_t untouched = 0;  ///< for both_nan: what the buffer started with, bit for bit
  std::size_t first = 0, first_nan = 0, worst = 0;
  double largest = 0;           ///< error; infinite where no tolerance can allow it
  double relative = 0;          ///< the largest of a wrong element, of what is expected there
  double largest_expected = 0;  ///< for the whole buffer
};

class Comparison {
 public:
  void add(const kernels::Buffer& buffer, const kernels::Expected& wanted,
           std::span<const std::byte> found) {
    if (!verdict_.difference.empty()) return;
    if (wanted.values.size() != found.size()) {
      verdict_.difference = fmt::format("wrong answer: {} has {}, expected {}", buffer.name,
                                        with_noun(found.size(), "byte"), wanted.values.size());
      return;
    }
    if (is_equal(buffer, wanted.values, found)) return;
    const Differences all = differences(buffer, wanted, found);
    if (all.wrong + all.both_nan > 0) {
      verdict_.difference = sentence(buffer, wanted, found, all);
    } else if (all.largest > largest_) {
      largest_ = all.largest;
      verdict_.largest_error = fmt::format("{:.3g} at {}[{}]", all.largest, buffer.name, all.worst);
    }
  }

  Verdict verdict() const { return verdict_; }

 private:
  static Differences differences(const kernels::Buffer& buffer, const kernels::Expected& wanted,
                                 std::span<const std::byte> found) {
    const std::span<const std::byte> expected = wanted.values;
    const std::size_t width = bytes_of(buffer.type), count = found.size() / width;
    Differences all;
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte *is = &found[i * width], *should = &expected[i * width];
      const double number = std::fabs(number_at(buffer.type, should));
      if (std::isfinite(number)) all.largest_expected = std::max(all.largest_expected, number);
      const double error = error_of(buffer.type, is, should, wanted.tolerance);
      if (error == 0 && std::memcmp(is, should, width) == 0) continue;
      if (is_allowed(buffer.type, error, is, should, wanted.tolerance)) {
        note_error(all, error, i);
      } else if (std::isnan(number) && std::isnan(number_at(buffer.type, is))) {
        if (all.both_nan++ == 0) all.first_nan = i;
        if (is_initial(buffer, i * width, is) && is_initial(buffer, i * width, should)) {
          ++all.untouched;
        }
      } else {
        note_error(all, error, i);
        all.relative = std::max(all.relative, error / number);
        if (all.wrong++ == 0) all.first = i;
      }
    }
    return all;
  }

  static void note_error(Differences& all, double error, std::size_t at) {
    if (error <= all.largest) return;
    all.largest = error;
    all.worst = at;
  }

  static bool is_initial(const kernels::Buffer& buffer, std::size_t at, const std::byte* value) {
    const std::size_t width = bytes_of(buffer.type);
    return at + width <= buffer.initial.size() &&
           std::memcmp(&buffer.initial[at], value, width) == 0;
  }

  static std::string sentence(const kernels::Buffer& buffer, const kernels::Expected& wanted,
                              std::span<const std::byte> found, const Differences& all) {
    const std::size_t width = bytes_of(buffer.type), count = found.size() / width;
    const bool is_nan_alone = all.wrong == 0;
    const std::size_t first = (is_nan_alone ? all.first_nan : all.first) * width;
    const std::size_t different = is_nan_alone ? all.both_nan : all.wrong;
    std::string extent = fmt::format("{} of {} {}", different, with_noun(count, "element"),
                                     different == 1 ? "differs" : "differ");
    if (!is_nan_alone && all.both_nan > 0) {
      extent +=
          fmt::format(", {} more {} NaN in both", all.both_nan, all.both_nan == 1 ? "is" : "are");
    }
    if (all.wrong > 1 && std::isfinite(all.largest)) {
      extent += fmt::format("; the largest error is {:.3g} at {}[{}]", all.largest, buffer.name,
                            all.worst);
    }
    return fmt::format("wrong answer: {}[{}] is {}, expected {} ({}){}", buffer.name, first / width,
                       text_at(buffer.type, &found[first]),
                       text_at(buffer.type, &wanted.values[first]), extent,
                       is_nan_alone ? of_nan(buffer, all) : of_rounding(buffer, wanted, all));
  }

  /// Why NaN is not NaN, and what to write.
  static std::string of_nan(const kernels::Buffer& buffer, const Differences& all) {
    if (all.untouched < all.both_nan) {
      return ": both are NaN, which equals nothing unless the file says 'tolerance: { nan: equal "
             "}'";
    }
    return fmt::format(
        ": neither kernel stores {}, which still {} the NaN that {} began with; write '= zeros' "
        "behind {} in the file's arguments, or 'tolerance: {{ nan: equal }}'",
        all.untouched == 1 ? "this element" : "these elements",
        all.untouched == 1 ? "holds" : "hold", buffer.name, buffer.name);
  }

  /// The tolerance that would pass, where the errors are as small as those of rounding.
  static std::string of_rounding(const kernels::Buffer& buffer, const kernels::Expected& wanted,
                                 const Differences& all) {
    constexpr double largest_relative = 1e-3, largest_of_all = 1e-5;
    if (!is_floating(buffer.type) || !std::isfinite(all.largest)) return "";
    const kernels::Tolerance& is = wanted.tolerance;
    std::string parts;
    if (all.relative <= largest_relative) {
      parts = "relative: " + round_tolerance(all.relative);
      if (is.absolute > 0) parts += fmt::format(", absolute: {:g}", is.absolute);
    } else if (all.largest <= largest_of_all * all.largest_expected) {  // beside zeros
      if (is.relative > 0) parts = fmt::format("relative: {:g}, ", is.relative);
      parts += "absolute: " + round_tolerance(all.largest);
    }
    if (parts.empty()) return "";
    if (is.nan_equals_nan || all.both_nan > 0) parts += ", nan: equal";
    const bool is_exact = is.relative == 0 && is.absolute == 0;
    return fmt::format("{} if this is rounding, write 'tolerance: {{ {} }}' in the file",
                       is_exact ? "; without a tolerance floats are compared bit for bit:" : ";",
                       parts);
  }

  static bool is_allowed(Element type, double error, const std::byte* found,
                         const std::byte* expected, const kernels::Tolerance& tolerance) {
    if (!is_floating(type)) return std::memcmp(found, expected, bytes_of(type)) == 0;
    if (error == 0) return true;
    // An infinity equals itself alone, and a part of it would allow everything.
    if (!std::isfinite(error)) return false;
    return error <= tolerance.absolute + tolerance.relative * std::fabs(number_at(type, expected));
  }

  Verdict verdict_;
  double largest_ = 0;
};

}  // namespace

Verdict verify(const kernels::Problem& problem, std::span<const kernels::Expected> expected,
               std::span<const std::vector<std::byte>> buffers) {
  Comparison comparison;
  for (const kernels::Expected& buffer : expected) {
    comparison.add(problem.buffers.at(buffer.buffer), buffer, buffers[buffer.buffer]);
  }
  return comparison.verdict();
}

std::vector<std::string> first_values(const kernels::Buffer& buffer,
                                      std::span<const std::byte> contents, std::size_t count) {
  const std::size_t width = bytes_of(buffer.type);
  std::vector<std::string> values;
  count = std::min(count, contents.size() / width);
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(text_at(buffer.type, contents.data() + i * width));
  }
  return values;
}

}  // namespace warpmeter::run
