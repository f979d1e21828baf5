#include "collector/run/verify.h"

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

/// Of floating-point buffers, equal bytes are equal values but for NaN.
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

class Comparison {
 public:
  void add(const kernels::Buffer& buffer, const kernels::Expected& wanted,
           std::span<const std::byte> found) {
    const std::span<const std::byte> expected = wanted.values;
    if (!verdict_.difference.empty()) return;
    if (expected.size() != found.size()) {
      verdict_.difference = fmt::format("wrong answer: {} has {} bytes, expected {}", buffer.name,
                                        found.size(), expected.size());
      return;
    }
    if (is_equal(buffer, expected, found)) return;
    const std::size_t width = bytes_of(buffer.type), count = found.size() / width;
    std::size_t wrong = 0, first = 0, worst = 0;
    double largest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double error =
          error_of(buffer.type, &found[i * width], &expected[i * width], wanted.tolerance);
      if (error == 0 && std::memcmp(&found[i * width], &expected[i * width], width) == 0) continue;
      if (error > largest) {
        largest = error;
        worst = i;
      }
      if (is_allowed(buffer.type, error, &found[i * width], &expected[i * width],
                     wanted.tolerance)) {
        continue;
      }
      if (wrong++ == 0) first = i;
    }
    if (wrong > 0) {
      verdict_.difference = fmt::format(
          "wrong answer: {}[{}] is {}, expected {} ({} of {} elements differ{})", buffer.name,
          first, text_at(buffer.type, &found[first * width]),
          text_at(buffer.type, &expected[first * width]), wrong, count,
          wrong > 1 && std::isfinite(largest)
              ? fmt::format("; the largest error is {:.3g} at {}[{}]", largest, buffer.name, worst)
              : "");
    } else if (largest > largest_) {
      largest_ = largest;
      verdict_.largest_error = fmt::format("{:.3g} at {}[{}]", largest, buffer.name, worst);
    }
  }

  Verdict verdict() const { return verdict_; }

 private:
  static bool is_allowed(Element type, double error, const std::byte* found,
                         const std::byte* expected, const kernels::Tolerance& tolerance) {
    if (!is_floating(type)) return std::memcmp(found, expected, bytes_of(type)) == 0;
    if (error == 0) return true;
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
