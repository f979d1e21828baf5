// The special-function unit: what ex2, lg2, sin, cos, rcp, rsqrt, sqrt and tanh with .approx give,
// to the last bit.
//
// The unit knows each function as a table of segments. The upper bits of an argument's mantissa
// choose a segment, the lower ones, x, go into c0 + c1 x + c2 x², in fixed point. Of the square it
// leaves out the lowest columns of the sum of bit products that a multiplier makes; all else is
// exact and cut off at the end, not rounded. The tables (special_tables.h) and the columns were
// found from all results of an H100 and give each of them again
//. Every product and sum here fits into the 53 bits of an f64,
// so that it is exact.
//
// How instructions use the unit is what ptxas makes of them: without .ftz, arguments that are
// subnormal, or have subnormal results, are scaled into its range and back.
//
// Included like semantics.h, by every unit in its own namespace. Nothing branches, so that lanes
// are computed together.
#pragma once

#include "collector/model/machine/execute/semantics.h"
#include "collector/model/machine/execute/special_tables.h"

namespace warpmeter::model::WARPMETER_ISA {

inline constexpr u32 sign_bit = 0x80000000u, nan_bits = 0x7fffffffu, f32_infinity = 0x7f800000u;
inline constexpr u32 hidden_bit = 0x00800000u, fraction_bits = 0x007fffffu;

inline bool is_nan(u32 bits) { return (bits & 0x7fffffffu) > f32_infinity; }
inline bool is_subnormal(u32 bits) { return (bits & 0x7fffffffu) < hidden_bit; }
inline f64 whole(u32 value) { return static_cast<f64>(static_cast<s32>(value)); }

/// x² without the products of its bits i and j (i + j ≤ `last`, and bit i with itself where
/// 2 i ≤ last + 1).
template <u32 last>
inline f64 truncated_square(u32 x) {
  u32 dropped = 0;
  for (u32 i = 0; 2 * i <= last + 1; ++i) {
    const u32 others = 2 * i < last ? (2u << (last - i)) - (2u << i) : 0;
    const u32 products = ((x & others) << 1 | 1u << i) << i;
    dropped += (x >> i & 1) != 0 ? products : 0;
  }
  return whole(x) * whole(x) - whole(dropped);
}
/// Segments of 2^17 and of 2^16 arguments.
inline f64 interpolated(const Segment* table, u32 segment, u32 x) {
  const Segment& s = table[segment];
  return s.c0 + s.c1 * (whole(x) * 0x1p-17) + s.c2 * (truncated_square<17>(x) * 0x1p-34);
}
inline f64 interpolated_16(const Segment* table, u32 segment, u32 x) {
  const Segment& s = table[segment];
  return s.c0 + s.c1 * (whole(x) * 0x1p-16) + s.c2 * (truncated_square<15>(x) * 0x1p-32);
}
/// Cut off after 24 bits.
inline f32 cut(f64 value) {
  return static_cast<f32>(bits_as<f64>(bits_as<u64>(value) & ~u64{0x1fffffff}));
}

// 24 bits of the functions of a mantissa's 23 bits m.

/// 1 / (1 + m), with the point before the first.
inline u32 reciprocal_digits(u32 m) {
  const f64 value = interpolated_16(reciprocal_table, m >> 16, m & 0xffff);
  return m == 0 ? 2 * hidden_bit : static_cast<u32>(static_cast<s32>(value));
}
/// Of 1 + m, or 2 + 2 m where the exponent is not even; the point before the first.
inline u32 inverse_root_digits(u32 m, bool is_even) {
  const u32 segment = (is_even ? 0u : 64u) + (m >> 17);
  const f64 value = interpolated(inverse_root_table, segment, m & 0x1ffff);
  return is_even && m == 0 ? 2 * hidden_bit : static_cast<u32>(static_cast<s32>(value));
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
  const u32 digits = inverse_root_digits(a & fraction_bits, (field & 1) != 0);
  const u32 result = ((190 - ((field + 1) >> 1)) << 23) + (digits - hidden_bit);
  const u32 value = sign != 0 ? nan_bits : field == 255 ? 0 : result;
  return is_nan(a) ? nan_bits : field == 0 ? sign | f32_infinity : value;
}
inline u32 unit_sqrt(u32 a) {
  const u32 sign = a & sign_bit, field = a >> 23 & 255, m = a & fraction_bits;
  const u32 segment = ((field & 1) != 0 ? 0u : 64u) + (m >> 17);
  const f64 digits = interpolated(square_root_table, segment, m & 0x1ffff);
  const u32 result =
      (((field + 127) >> 1) << 23) + (static_cast<u32>(static_cast<s32>(digits)) - hidden_bit);
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
  const f64 digits = interpolated(exponential_table, m >> 17, m & 0x1ffff);
  const u32 exponent = static_cast<u32>(static_cast<s32>(fixed) >> 23);
  const u32 result = ((126 + exponent) << 23) + static_cast<u32>(static_cast<s32>(digits));
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
/// Of an angle in turns; 25 bits of it count.
inline u32 unit_sine(u32 a, bool is_cosine) {
  const u32 digits = (a & fraction_bits) | hidden_bit;
  const s32 shift = static_cast<s32>(a >> 23 & 255) - 125;
  const u32 left = static_cast<u32>(shift < 0 ? 0 : shift > 31 ? 31 : shift);
  const u32 right = static_cast<u32>(shift > 0 ? 0 : shift < -31 ? 31 : -shift);
  const u32 turns = digits << left >> right;
  const u32 quadrant = turns >> 23 & 3;
  const bool falls = ((quadrant & 1) != 0) != is_cosine;
  const u32 m = (falls ? ~turns : turns) & fraction_bits;
  const f32 magnitude = cut(interpolated(sine_table, m >> 17, m & 0x1ffff)) * 0x1p-23f;
  const u32 is_below = (is_cosine ? quadrant + 1 : quadrant) >> 1 & 1;
  const u32 sign = (is_below << 31) ^ (is_cosine ? 0 : a & sign_bit);
  const bool is_number = (a & f32_infinity) != f32_infinity;
  return is_number ? bits_as<u32>(magnitude) | sign : nan_bits;
}
/// Below 2^-8 the argument itself.
inline u32 unit_tanh(u32 a) {
  constexpr u32 least = 119, greatest = 129;  // exponents whose numbers have segments
  const u32 sign = a & sign_bit, magnitude = a & 0x7fffffffu, field = magnitude >> 23;
  const u32 row = (field < least ? least : field > greatest ? greatest : field) - least;
  const u32 m = (a & fraction_bits) >> tangent_shift[row];
  const f64 digits = interpolated(tangent_table, tangent_first[row] + (m >> 17), m & 0x1ffff);
  const u32 result = field > greatest ? 0x3f800000u : bits_as<u32>(cut(digits) * 0x1p-24f);
  return is_nan(a) ? nan_bits : field < least ? a : sign | result;
}

/// Of the upper halves of f64.
inline u32 unit_rcp_64(u32 a) {
  const u32 sign = a & sign_bit, field = a >> 20 & 2047, magnitude_of = a & 0x7fffffffu;
  const u32 digits = reciprocal_digits(a << 3 & fraction_bits) >> 3;
  const u32 result = ((2045 - field) << 20) + (digits - (1u << 20));
  const u32 flushed_result = static_cast<s32>(result) < 1 << 20 ? 0 : result;
  const u32 value = field == 0 ? 0x7ff00000u : flushed_result;
  return magnitude_of > 0x7ff00000u ? 0x7fffffffu : sign | (field == 2047 ? 0 : value);
}
inline u32 unit_rsqrt_64(u32 a) {
  const u32 sign = a & sign_bit, field = a >> 20 & 2047, magnitude_of = a & 0x7fffffffu;
  const u32 digits = inverse_root_digits(a << 3 & fraction_bits, (field & 1) != 0) >> 3;
  const u32 result = ((1534 - ((field + 1) >> 1)) << 20) + (digits - (1u << 20));
  const u32 value = sign != 0 ? 0x7fffffffu : field == 2047 ? 0 : result;
  return magnitude_of > 0x7ff00000u ? 0x7fffffffu : field == 0 ? sign | 0x7ff00000u : value;
}

// Instructions.

inline f32 approximate(u32 (*function)(u32), f32 a) {
  return bits_as<f32>(function(bits_as<u32>(a)));
}

inline f32 scaled_ex2(f32 a) {
  const bool is_small = a < -126.0f;
  const f32 value = bits_as<f32>(unit_ex2(bits_as<u32>(is_small ? a * 0.5f : a)));
  return canonical(is_small ? value * value : value);
}
inline f32 scaled_lg2(f32 a) {
  const bool is_small = is_subnormal(bits_as<u32>(a));
  const f32 value = bits_as<f32>(unit_lg2(bits_as<u32>(is_small ? a * 0x1p24f : a)));
  return canonical(is_small ? value - 24.0f : value);
}
inline f32 scaled_rsqrt(f32 a) {
  const bool is_small = is_subnormal(bits_as<u32>(a));
  const f32 value = bits_as<f32>(unit_rsqrt(bits_as<u32>(is_small ? a * 0x1p24f : a)));
  return canonical(is_small ? value * 0x1p12f : value);
}
inline f32 scaled_sqrt(f32 a) {
  const bool is_small = is_subnormal(bits_as<u32>(a));
  const f32 value = bits_as<f32>(unit_sqrt(bits_as<u32>(is_small ? a * 0x1p24f : a)));
  return canonical(is_small ? value * 0x1p-12f : value);
}
/// What a divisor and its dividend are multiplied with to keep the divisor's reciprocal normal.
inline f32 divisor_scale(f32 b) {
  const f32 magnitude = with_sign_of(0.0f, b);
  return is_subnormal(bits_as<u32>(b)) ? 0x1p24f : magnitude > 0x1p126f ? 0.25f : 1.0f;
}
inline f32 scaled_rcp(f32 a) {
  const f32 scale = divisor_scale(a);
  return canonical(scale * bits_as<f32>(unit_rcp(bits_as<u32>(a * scale))));
}
inline f32 divided(f32 a, f32 b) { return canonical(a * bits_as<f32>(unit_rcp(bits_as<u32>(b)))); }
inline f32 divide_approximately(f32 a, f32 b) {
  const f32 scale = is_subnormal(bits_as<u32>(b)) ? 0x1p24f : 1.0f;
  return divided(a * scale, b * scale);
}
inline f32 divide_fully(f32 a, f32 b) {
  const f32 scale = divisor_scale(b);
  return divided(a * scale, b * scale);
}
inline f32 divide_flushed(f32 a, f32 b) { return flushed(divided(flushed(a), b)); }
inline f32 divide_fully_flushed(f32 a, f32 b) {
  const f32 scale = with_sign_of(0.0f, b) > 0x1p126f ? 0.25f : 1.0f;
  return divide_flushed(flushed(flushed(a) * scale), b * scale);
}
/// The angle in turns, rounded towards zero.
inline u32 turns_of(f32 a) {
  const bool is_number = (bits_as<u32>(a) & f32_infinity) != f32_infinity;
  const f64 turns = static_cast<f64>(a) * static_cast<f64>(0x1.45f306p-3f);
  return is_number ? bits_as<u32>(cut(turns)) : nan_bits;
}
inline f32 sine(f32 a) { return bits_as<f32>(unit_sine(turns_of(a), false)); }
inline f32 cosine(f32 a) { return bits_as<f32>(unit_sine(turns_of(a), true)); }

}  // namespace warpmeter::model::WARPMETER_ISA
