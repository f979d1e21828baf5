// SPDX-License-Identifier: MIT
// Linear filtering as the hardware does it, found by measuring (an H100, 32-bit floats, one texel 1
// and the others 0, then random ones; every sample of them is met but for 7 of 15,000 of wide
// exponents in three dimensions):
//
// - A coordinate is turned into 256ths, rounded; 8 bits of it say between which two elements.
// - The weights of the 2, 4 or 8 elements are whole 256ths and add up to 256. The total is split
//   along z, each part along x, each of these along y; a half goes to the upper part along x, along
//   y to the upper one of the upper and to the lower one of the lower.
// - Four elements are summed at a time: each is cut to 28 bits below the largest exponent among
//   them, times its weight, exactly. Sums of several fours are cut to 36 bits below the larger
//   exponent. The whole is rounded to 24 bits, halves away from zero.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace warpmeter::model {

/// Whole 256ths of the upper element along each axis that is filtered, x first.
using Fractions = std::array<std::uint32_t, 3>;

/// The weights of the elements by corner: bit 0 the upper one along x, bit 1 along y, bit 2 along
/// z. They add up to `total`.
std::array<std::uint32_t, 8> corner_weights(const Fractions& fractions, unsigned axes,
                                            std::uint32_t total = 256);

/// A weighted sum of elements, four at a time.
class WeightedSum {
 public:
  /// The sum of halves; else of 32-bit floats.
  explicit WeightedSum(bool is_half) : is_half_(is_half) {}

  void add(std::span<const float> elements, std::span<const std::uint32_t> weights);
  float value() const;

 private:
  bool is_half_ = false;
  std::int64_t value_ = 0;  ///< in units of 2^(exponent_ − 36)
  int exponent_ = 0;
  bool is_empty_ = true;
  bool has_special_ = false;
  float special_ = 0;  ///< infinities and what is no number, added up
};

}  // namespace warpmeter::model
