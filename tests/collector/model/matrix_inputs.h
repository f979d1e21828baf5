// SPDX-License-Identifier: MIT
// Operands of matrix instructions, made from numbers: the same on the machine that recorded what a
// GPU answered and on the one that asks the model.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace matrix_inputs {

/// splitmix64.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// From 0 to below `count`.
  int below(int count) { return static_cast<int>((next() >> 16) % static_cast<unsigned>(count)); }

 private:
  std::uint64_t state_;
};

struct Format {
  int bits, mantissa, bias, exponents;  ///< exponents: how many codes there are
};

inline Format format_of(std::string_view type) {
  if (type == "f16") return {16, 10, 15, 32};
  if (type == "bf16") return {16, 7, 127, 256};
  if (type == "e4m3") return {8, 3, 7, 16};
  if (type == "e5m2") return {8, 2, 15, 32};
  if (type == "f64") return {64, 52, 1023, 2048};
  return {32, 23, 127, 256};  // f32, tf32
}

constexpr int class_count = 12;

/// An operand's element. `is_sum`: it is an accumulator, whose exponents are those of products of
/// `factor`'s.
inline std::uint64_t element(Numbers& numbers, const Format& format, const Format& factor,
                             bool is_sum, int kind) {
  const std::uint64_t random = numbers.next();
  const std::uint64_t mantissa = random & ((std::uint64_t{1} << format.mantissa) - 1);
  const std::uint64_t sign = (random >> 63) << (format.bits - 1);
  const auto make = [&](int exponent, std::uint64_t fraction) {
    if (exponent < 0) exponent = 0;
    if (exponent > format.exponents - 2) exponent = format.exponents - 2;
    return sign | static_cast<std::uint64_t>(exponent) << format.mantissa | fraction;
  };
  const auto around = [&](int centre, int width) {
    return make(centre + numbers.below(2 * width + 1) - width, mantissa);
  };
  const int one = format.bias;
  const int special = numbers.below(64);
  switch (kind) {
    case 0:
      return random &
             (format.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << format.bits) - 1);
    case 1:
      return is_sum ? around(one, 6) : around(one, 3);
    case 2:
      return make(numbers.below(format.exponents - 1), mantissa);
    case 3: {
      const int whole = numbers.below(8);  // 1, 2, 4, … as a power, or 0
      return whole == 0 ? sign : make(one + whole - 1, 0);
    }
    case 4:  // around the least numbers
      return is_sum ? around(one - 2 * factor.bias + 4, 8) : make(numbers.below(4), mantissa);
    case 5:
      return is_sum ? around(one, 20) : around(one, 6);
    case 6:
      if (special < 6) return sign;
      if (special == 6)
        return sign | static_cast<std::uint64_t>(format.exponents - 1) << format.mantissa;
      if (special == 7 && numbers.below(2) == 0)
        return make(one, mantissa) | static_cast<std::uint64_t>(format.exponents - 1)
                                         << format.mantissa;
      return around(one, 3);
    case 7:
      return special < 44 ? sign : around(one, is_sum ? 24 : 12);
    case 8:  // products near the least sums
      return is_sum ? make(numbers.below(12), mantissa) : around(format.bias / 2, 6);
    case 9:  // products near the greatest sums
      return is_sum ? make(format.exponents - 2 - numbers.below(8), mantissa)
                    : around(format.bias + format.bias / 2, 3);
    case 10:  // sums much greater than products, and the other way round
      return is_sum ? around(one + (special % 2 == 0 ? 12 : -12), 14) : around(one, 2);
    default:
      return make(one, special % 2 == 0 ? mantissa : 0);
  }
}

/// `count` numbers of 32 bits; `role`: 0 and 1 are factors, 2 is a sum.
inline void fill(std::uint32_t* to, std::size_t count, std::string_view type,
                 std::string_view factor, int role, int kind, std::uint64_t seed) {
  Numbers numbers(seed * 3 + static_cast<unsigned>(role) + 1);
  if (type == "bits") {
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = static_cast<std::uint32_t>(numbers.next() >> 13);
      if (role != 2) {
        if (kind % 4 == 1) to[i] &= 0x7f7f7f7f;
        if (kind % 4 == 2) to[i] |= 0x81818181;
        continue;
      }
      if (kind % 3 == 1) to[i] = 0x7fffffffu - (to[i] & 0x7ff);
      if (kind % 3 == 2) to[i] = 0x80000000u + (to[i] & 0x7ff);
    }
    return;
  }
  const Format format = format_of(type), of_factor = format_of(factor);
  if (format.bits == 64) {
    for (std::size_t i = 0; i < count; i += 64) {
      for (std::size_t lane = 0; lane < 32 && i + lane + 32 < count + 0; ++lane) {
        const std::uint64_t value = element(numbers, format, of_factor, role == 2, kind);
        to[i + lane] = static_cast<std::uint32_t>(value);
        to[i + lane + 32] = static_cast<std::uint32_t>(value >> 32);
      }
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = 0;
    for (int at = 0; at < 32; at += format.bits) {
      to[i] |= static_cast<std::uint32_t>(element(numbers, format, of_factor, role == 2, kind))
               << at;
    }
  }
}

/// A register of mma.sp's metadata: of each four numbers two that are there, of tf32 one of each
/// two; or any bits.
inline std::uint32_t metadata(Numbers& numbers, bool is_tf32, bool is_any) {
  if (is_any) return static_cast<std::uint32_t>(numbers.next() >> 13);
  constexpr std::uint32_t two_of_four[] = {4, 8, 12, 9, 13, 14};
  std::uint32_t bits = 0;
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t four =
        is_tf32 ? (numbers.below(2) != 0 ? 14 : 4) : two_of_four[numbers.below(6)];
    bits |= four << 4 * i;
  }
  return bits;
}

}  // namespace matrix_inputs
