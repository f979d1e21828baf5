// SPDX-License-Identifier: MIT
#include "collector/model/machine/texture/filter.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warpmeter::model {
namespace {

/// The bits of halves, and of 32-bit floats.
constexpr int half_element_bits = 15, half_bits = 11, element_bits = 28, float_bits = 24;
constexpr int weight_bits = 8, sum_bits = element_bits + weight_bits;

int exponent_of(float value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return exponent;
}

/// Times 2^−by, downwards.
std::int64_t shifted(std::int64_t value, int by) {
  if (by <= 0) return value << std::min(-by, 62);
  return value >> std::min(by, 63);
}

unsigned magnitude_bits(std::int64_t value) {
  const std::uint64_t magnitude =
      value < 0 ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  return static_cast<unsigned>(std::bit_width(magnitude));
}

}  // namespace

std::array<std::uint32_t, 8> corner_weights(const Fractions& fractions, unsigned axes,
                                            std::uint32_t total) {
  const auto part = [](std::uint32_t whole, std::uint32_t fraction) {
    return (whole * fraction + 128) >> 8;
  };
  std::array<std::uint32_t, 8> weights{};
  const std::uint32_t upper_z = axes > 2 ? part(total, fractions[2]) : 0;
  for (unsigned z = 0; z < 2; ++z) {
    const std::uint32_t slice = z != 0 ? upper_z : total - upper_z;
    const std::uint32_t upper_x = part(slice, fractions[0]);
    const std::uint32_t lower_x = slice - upper_x;
    const std::uint32_t upper_of_upper = axes > 1 ? part(upper_x, fractions[1]) : 0;
    const std::uint32_t lower_of_lower = axes > 1 ? part(lower_x, 256 - fractions[1]) : lower_x;
    weights[4 * z] = lower_of_lower;
    weights[4 * z + 1] = upper_x - upper_of_upper;
    weights[4 * z + 2] = lower_x - lower_of_lower;
    weights[4 * z + 3] = upper_of_upper;
  }
  return weights;
}

void WeightedSum::add(std::span<const float> elements, std::span<const std::uint32_t> weights) {
  bool is_zero = true;
  int exponent = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (!std::isfinite(elements[i])) {
      special_ += elements[i];
      has_special_ = true;
      continue;
    }
    if (weights[i] == 0 || elements[i] == 0) continue;
    const int own = exponent_of(elements[i]);
    exponent = is_zero ? own : std::max(exponent, own);
    is_zero = false;
  }
  if (is_zero) return;
  const int kept = is_half_ ? half_element_bits : element_bits;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (weights[i] == 0 || !std::isfinite(elements[i])) continue;
    const auto cut = static_cast<std::int64_t>(std::ldexp(elements[i], kept - exponent));
    sum += (cut << (element_bits - kept)) * weights[i];
  }
  if (is_empty_ || value_ == 0) {
    value_ = sum;
    exponent_ = exponent;
  } else if (sum != 0) {
    const int before = exponent_ - sum_bits + static_cast<int>(magnitude_bits(value_));
    const int larger = std::max(before, exponent);
    value_ = shifted(value_, larger - exponent_) + shifted(sum, larger - exponent);
    exponent_ = larger;
  }
  is_empty_ = false;
}

float WeightedSum::value() const {
  if (has_special_) return special_;
  const int bits = is_half_ ? half_bits : float_bits;
  const bool is_negative = value_ < 0;
  std::uint64_t magnitude =
      is_negative ? -static_cast<std::uint64_t>(value_) : static_cast<std::uint64_t>(value_);
  const int surplus = std::max(0, static_cast<int>(std::bit_width(magnitude)) - bits);
  if (surplus > 0) magnitude = (magnitude + (std::uint64_t{1} << (surplus - 1))) >> surplus;
  const auto rounded = static_cast<float>(
      std::ldexp(static_cast<double>(magnitude), surplus + exponent_ - sum_bits));
  return is_negative ? -rounded : rounded;
}

}  // namespace warpmeter::model
