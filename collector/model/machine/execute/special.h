// SPDX-License-Identifier: MIT
// The special-function unit: what ex2, lg2, sin, cos, rcp, rsqrt, sqrt and tanh with .approx give,
// to the last bit, and the divisions made of them.
//
// The unit knows each function as a table of segments. The upper bits of an argument's mantissa
// choose a segment, the lower ones, x, go into c0 + c1 x + c2 x², in fixed point. It leaves out the
// lowest columns of the square's sum of bit products that a multiplier makes; all else is exact and
// cut off at the end, not rounded. The tables (special_tables.h) and the columns were found from
// all results of an H100 and give each of them again (tests/golden/special_functions.csv).
//
// How instructions use the unit is what ptxas makes of them: without .ftz, arguments that are
// subnormal, or have subnormal results, are scaled into its range and back. Whatever follows is
// written so that lanes are computed together: without branches, and with loads of the tables that
// no condition stands before.
//
// Every unit includes this file, like semantics.h, in its own namespace.
#pragma once

#include "collector/model/machine/execute/semantics.h"
#include "collector/model/machine/execute/special_tables.h"

namespace warpmeter::model::WARPMETER_ISA {

inline constexpr u32 sign_bit = 0x80000000u, nan_bits = 0x7fffffffu, f32_infinity = 0x7f800000u;
inline constexpr u32 hidden_bit = 0x00800000u, fraction_bits = 0x007fffffu;
inline constexpr u32 f64_infinity_high = 0x7ff00000u, f64_hidden_high = 0x00100000u;

inline bool is_nan(u32 bits) { return (bits & 0x7fffffffu) > f32_infinity; }
inline bool is_subnormal(u32 bits) { return (bits & 0x7fffffffu) < hidden_bit; }
/// Either, without a condition that a compiler could move the making of one behind.
inline u32 chosen(bool first, u32 a, u32 b) {
  const u32 mask = 0u - static_cast<u32>(first);
  return (a & mask) | (b & ~mask);
}

/// x² in units of 2^18, x of 17 bits: 8 of them, h, over 9, l. The bit products below column 18 are
/// left out, and of column 18 that of h's lowest bit with itself: all of l², and of h l what each
/// row has there.
inline s32 truncated_square(u32 x) {
  const u32 h = x >> 9, l = x & 511;
  u32 rows = 0;
  for (u32 i = 1; i < 8; ++i) rows += l >> (9 - i) & (0u - (h >> i & 1));
  return static_cast<s32>(h * h - (h & 1) + 2 * rows);
}

/// c0 + c1 x + c2 x², x from 0 to 1 in steps of 2^-17. Every product and sum fits into the 53 bits
/// of an f64.
inline f64 interpolated(const Segment* table, u32 segment, u32 x) {
  const Segment& s = table[segment];
  return s.c0 + s.c1 * (static_cast<f64>(static_cast<s32>(x)) * 0x1p-17) +
         s.c2 * (static_cast<f64>(truncated_square(x)) * 0x1p-16);
}
/// Cut off after 24 bits.
inline f32 cut(f64 value) {
  return static_cast<f32>(bits_as<f64>(bits_as<u64>(value) & ~u64{0x1fffffff}));
}

/// A table for whole results, of which 32 bits of each step are enough: c0 in steps of 2^-8 (no
/// more than quarters of it are taken), and c1 and twice c2 in one word, for each is a load. The
/// part of c0 below its quarters is the same in all segments.
template <u32 count>
struct Digits {
  static constexpr u32 c2_bits = 13;
  u32 c0[count];
  s32 c1_c2[count];
  s32 below;  ///< in steps of 2^-17

  constexpr explicit Digits(const Segment (&table)[count]) : c0(), c1_c2(), below() {
    for (u32 i = 0; i < count; ++i) {
      const u64 quarters = static_cast<u64>(table[i].c0 * 4);
      c0[i] = static_cast<u32>(quarters << 6 & 0xffffffffu);
      c1_c2[i] = static_cast<s32>(table[i].c1) * (1 << c2_bits) +
                 (static_cast<s32>(table[i].c2 * 2) & ((1 << c2_bits) - 1));
      below = static_cast<s32>((table[i].c0 * 4 - static_cast<f64>(quarters)) * 0x1p15);
    }
  }
  /// The whole part of c0 + c1 x + c2 x².
  u32 operator()(u32 segment, u32 x) const {
    const u32 first = c0[segment];
    const s32 both = c1_c2[segment];
    const s32 slope = both >> c2_bits, bend = both << (32 - c2_bits) >> (32 - c2_bits);
    const s32 h = static_cast<s32>(x >> 9), l = static_cast<s32>(x & 511);
    const s32 low = (slope * l + bend * truncated_square(x) + below) >> 9;
    return (first + static_cast<u32>(slope * h + low)) >> 8;
  }
};
inline constexpr Digits<64> exponential_digits(exponential_table);
inline constexpr Digits<128> reciprocal_digits_of(reciprocal_table);
inline constexpr Digits<128> inverse_root_digits_of(inverse_root_table);
inline constexpr Digits<128> square_root_digits(square_root_table);

// 24 bits of the functions of a mantissa's 23 bits m.

/// 1 / (1 + m), with the point before the first.
inline u32 reciprocal_digits(u32 m) {
  return chosen(m == 0, 2 * hidden_bit, reciprocal_digits_of(m >> 16, m << 1 & 0x1ffff));
}
/// 1 / √(1 + m), or 1 / √(2 + 2 m) where the exponent's field is even; the point before the first.
inline u32 inverse_root_digits(u32 m, u32 field) {
  const u32 is_odd_power = (field & 1) ^ 1;
  const u32 digits = inverse_root_digits_of((m >> 17) + is_odd_power * 64, m & 0x1ffff);
  return chosen((m | is_odd_power) == 0, 2 * hidden_bit, digits);
}

// The unit's functions, of bits and to bits. Subnormal numbers are zeros to it.

inline u32 unit_rcp(u32 a) {
  const u32 sign = a & sign_bit, field = a >> 23 & 255;
  const u32 digits = reciprocal_digits(a & fraction_bits);
  const u32 result = ((253 - field) << 23) + (digits - hidden_bit);
  const u32 flushed_result = static_cast<s32>(result) < static_cast<s32>(hidden_bit) ? 0 : result;
  const u32 value = field == 0 ? f32_infinity : flushed_result;
  return is_nan(a) ? nan_bits : sign | (field == 255 ? 0 : value);
}
inline u32 unit_rsqrt(u32 a) {
  const u32 sign = a & sign_bit, field = a >> 23 & 255;
  const u32 digits = inverse_root_digits(a & fraction_bits, field);
  const u32 result = ((190 - ((field + 1) >> 1)) << 23) + (digits - hidden_bit);
  const u32 value = sign != 0 ? nan_bits : field == 255 ? 0 : result;
  return is_nan(a) ? nan_bits : field == 0 ? sign | f32_infinity : value;
}
inline u32 unit_sqrt(u32 a) {
  const u32 sign = a & sign_bit, field = a >> 23 & 255, m = a & fraction_bits;
  const u32 digits = square_root_digits((m >> 17) + ((field & 1) ^ 1) * 64, m & 0x1ffff);
  const u32 result = (((field + 127) >> 1) << 23) + (digits - hidden_bit);
  const u32 value = sign != 0 ? nan_bits : field == 255 ? a : result;
  return is_nan(a) ? nan_bits : field == 0 ? sign : value;
}
/// The argument's parts of a number below zero are complements of one's.
inline u32 unit_ex2(u32 a) {
  const f32 x = bits_as<f32>(a);
  const f32 low = x > -127.0f ? x : -127.0f;
  const f32 within = low < 128.0f ? low : 127.0f;
  const s32 cut_argument = static_cast<s32>(within * 0x1p23f);
  const s32 step = x < 0 && (cut_argument & static_cast<s32>(fraction_bits)) != 0 ? 1 : 0;
  const u32 fixed = static_cast<u32>(cut_argument - step);
  const u32 m = fixed & fraction_bits;
  const u32 exponent = static_cast<u32>(static_cast<s32>(fixed) >> 23);
  const u32 result = ((126 + exponent) << 23) + exponential_digits(m >> 17, m & 0x1ffff);
  const u32 value = x >= 128.0f ? f32_infinity : x < -126.0f ? 0 : result;
  return is_nan(a) ? nan_bits : value;
}
/// In steps of 2^-36. The magnitude of a number below zero is the complement of one's.
inline u32 unit_lg2(u32 a) {
  const u32 field = a >> 23 & 255, m = a & fraction_bits;
  const f64 exponent = static_cast<f64>(static_cast<s32>(field) - 127);
  const f64 sum = interpolated(logarithm_table, m >> 17, m & 0x1ffff) + exponent * 0x1p23;
  const f64 steps = whole_below(sum * 0x1p13);
  const f32 magnitude = cut(steps < 0 ? -1.0 - steps : steps) * 0x1p-36f;
  const u32 result = bits_as<u32>(magnitude) | (steps < 0 ? sign_bit : 0);
  const u32 value = field == 255 ? a : a == 0x3f800000u ? 0 : result;
  const u32 of_number = field == 0            ? sign_bit | f32_infinity
                        : (a & sign_bit) != 0 ? nan_bits
                                              : value;
  return is_nan(a) ? nan_bits : of_number;
}
/// The sine of an angle in turns; 25 bits of it count.
inline u32 unit_sine(u32 a, u32 is_cosine) {
  const u32 digits = (a & fraction_bits) | hidden_bit;
  const s32 shift = static_cast<s32>(a >> 23 & 255) - 125;
  const u32 left = static_cast<u32>(shift < 0 ? 0 : shift > 31 ? 31 : shift);
  const u32 right = static_cast<u32>(shift > 0 ? 0 : shift < -31 ? 31 : -shift);
  const u32 turns = digits << left >> right;
  const u32 quadrant = turns >> 23;
  const u32 falls = (quadrant ^ is_cosine) & 1;
  const u32 m = (turns ^ (0u - falls)) & fraction_bits;
  const f32 magnitude = cut(interpolated(sine_table, m >> 17, m & 0x1ffff)) * 0x1p-23f;
  const u32 is_below = (quadrant + is_cosine) << 30;
  const u32 sign = (is_below ^ (a & (is_cosine - 1))) & sign_bit;
  return chosen((a & f32_infinity) == f32_infinity, nan_bits, bits_as<u32>(magnitude) | sign);
}
/// Below 2^-8 the argument itself.
inline u32 unit_tanh(u32 a) {
  constexpr u32 least = 119, greatest = 129;  // exponents whose numbers have segments
  const u32 sign = a & sign_bit, field = a >> 23 & 255;
  const u32 row = (field < least ? least : field > greatest ? greatest : field) - least;
  const u32 m = (a & fraction_bits) >> tangent_shift[row];
  const f64 digits = interpolated(tangent_table, tangent_first[row] + (m >> 17), m & 0x1ffff);
  const u32 within = bits_as<u32>(cut(digits) * 0x1p-24f);
  const u32 value = sign | chosen(field > greatest, 0x3f800000u, within);
  return chosen(is_nan(a), nan_bits, chosen(field < least, a, value));
}

// The reciprocal of the upper halves of f64.

inline u32 unit_rcp_64(u32 a) {
  const u32 sign = a & sign_bit, field = a >> 20 & 2047, whole = a & 0x7fffffffu;
  const u32 digits = reciprocal_digits(a << 3 & fraction_bits) >> 3;
  const u32 result = ((2045 - field) << 20) + (digits - f64_hidden_high);
  const bool is_small = static_cast<s32>(result) < static_cast<s32>(f64_hidden_high);
  const u32 value = field == 0 ? f64_infinity_high : is_small ? 0 : result;
  return whole > f64_infinity_high ? 0x7fffffffu : sign | (field == 2047 ? 0 : value);
}
inline u32 unit_rsqrt_64(u32 a) {
  const u32 sign = a & sign_bit, field = a >> 20 & 2047, whole = a & 0x7fffffffu;
  const u32 digits = inverse_root_digits(a << 3 & fraction_bits, field) >> 3;
  const u32 result = ((1534 - ((field + 1) >> 1)) << 20) + (digits - f64_hidden_high);
  const u32 value = sign != 0 ? 0x7fffffffu : field == 2047 ? 0 : result;
  const u32 of_number = field == 0 ? sign | f64_infinity_high : value;
  return whole > f64_infinity_high ? 0x7fffffffu : of_number;
}

// Instructions. Those with .ftz are the unit's functions themselves.

using UnitFunction = u32 (*)(u32);
inline f32 approximate(UnitFunction function, f32 a) {
  return bits_as<f32>(function(bits_as<u32>(a)));
}
inline u64 approximate_high(UnitFunction function, u64 a) {
  return u64{function(static_cast<u32>(a >> 32))} << 32;
}

inline f32 scaled_ex2(f32 a) {
  const bool is_small = a < -126.0f;
  const f32 value = approximate(unit_ex2, is_small ? a * 0.5f : a);
  return canonical(is_small ? value * value : value);
}
inline f32 scaled_lg2(f32 a) {
  const bool is_small = is_subnormal(bits_as<u32>(a));
  const f32 value = approximate(unit_lg2, is_small ? a * 0x1p24f : a);
  return canonical(is_small ? value - 24.0f : value);
}
inline f32 scaled_rsqrt(f32 a) {
  const bool is_small = is_subnormal(bits_as<u32>(a));
  const f32 value = approximate(unit_rsqrt, is_small ? a * 0x1p24f : a);
  return canonical(is_small ? value * 0x1p12f : value);
}
inline f32 scaled_sqrt(f32 a) {
  const bool is_small = is_subnormal(bits_as<u32>(a));
  const f32 value = approximate(unit_sqrt, is_small ? a * 0x1p24f : a);
  return canonical(is_small ? value * 0x1p-12f : value);
}
/// The factor of a divisor and its dividend that keeps the divisor's reciprocal normal.
inline f32 divisor_scale(f32 b) {
  const f32 magnitude = with_sign_of(0.0f, b);
  return is_subnormal(bits_as<u32>(b)) ? 0x1p24f : magnitude > 0x1p126f ? 0.25f : 1.0f;
}
inline f32 scaled_rcp(f32 a) {
  const f32 scale = divisor_scale(a);
  return canonical(scale * approximate(unit_rcp, a * scale));
}
/// a / b as a product with the reciprocal, whose factors are scaled. A sum that takes in the
/// product (ptx/contraction.h) adds c before it is rounded.
struct Quotient {
  f32 dividend, reciprocal;

  f32 alone() const { return canonical(dividend * reciprocal); }
  f32 plus(f32 c) const { return canonical(fused(dividend, reciprocal, c)); }
};
inline Quotient scaled_quotient(f32 a, f32 b, f32 scale) {
  return {a * scale, approximate(unit_rcp, b * scale)};
}
inline Quotient approximate_quotient(f32 a, f32 b) {
  return scaled_quotient(a, b, is_subnormal(bits_as<u32>(b)) ? 0x1p24f : 1.0f);
}
inline Quotient full_quotient(f32 a, f32 b) { return scaled_quotient(a, b, divisor_scale(b)); }
inline Quotient flushed_quotient(f32 a, f32 b) { return {flushed(a), approximate(unit_rcp, b)}; }
inline Quotient full_flushed_quotient(f32 a, f32 b) {
  const f32 scale = with_sign_of(0.0f, b) > 0x1p126f ? 0.25f : 1.0f;
  return {flushed(flushed(a) * scale), approximate(unit_rcp, b * scale)};
}
/// The angle in turns, rounded towards zero.
inline u32 turns_of(f32 a) {
  const bool is_number = (bits_as<u32>(a) & f32_infinity) != f32_infinity;
  const f64 turns = static_cast<f64>(a) * static_cast<f64>(0x1.45f306p-3f);
  return chosen(is_number, bits_as<u32>(cut(turns)), nan_bits);
}
inline f32 sine(f32 a) { return bits_as<f32>(unit_sine(turns_of(a), 0)); }
inline f32 cosine(f32 a) { return bits_as<f32>(unit_sine(turns_of(a), 1)); }

/// The unit's of the upper half, once improved; 0.375 is 3/8 of the error's series.
inline f64 inverse_root(f64 a) {
  const u64 bits = bits_as<u64>(a);
  const bool is_small = magnitude(bits) < least_normal_bits;
  const f64 x = is_small ? a * 0x1p54 : a;
  const f64 first = bits_as<f64>(approximate_high(unit_rsqrt_64, bits_as<u64>(x)));
  const f64 error = fused(x, -(first * first), 1.0);
  const f64 better = fused(fused(error, 0.375, 0.5), first * error, first);
  const f64 value = is_small ? better * 0x1p27 : better;
  const f64 of_number = magnitude(bits) == 0    ? bits_as<f64>(bits | infinity_bits)
                        : (bits >> 63) != 0     ? bits_as<f64>(0xfff8000000000000u)
                        : bits == infinity_bits ? 0.0
                                                : value;
  return a != a ? quiet(a) : of_number;
}

// 16-bit forms: the function of the widened number, cut off.

inline u16 half_cut_off(f32 value) {
  const u32 bits = bits_as<u32>(value), whole = bits & 0x7fffffffu;
  const u32 sign = bits >> 16 & 0x8000;
  const u32 shift = 126 - (whole >> 23);  // the shift of a subnormal half
  const u32 subnormal = ((whole & fraction_bits) | hidden_bit) >> (shift < 31 ? shift : 31);
  const u32 normal = (whole - (112u << 23)) >> 13;
  const u32 number = whole < 0x38800000u ? subnormal : normal;
  return static_cast<u16>(value != value ? 0x7fff : sign | (whole < 0x47800000u ? number : 0x7c00));
}
inline u16 bfloat_cut_off(f32 value) {
  return static_cast<u16>(value != value ? 0x7fff : bits_as<u32>(value) >> 16);
}
inline u16 approximate_half(UnitFunction function, u16 a) {
  return half_cut_off(approximate(function, float_from_half(a)));
}
inline u16 approximate_bfloat(UnitFunction function, u16 a) {
  return bfloat_cut_off(approximate(function, float_from_bfloat(a)));
}

}  // namespace warpmeter::model::WARPMETER_ISA
