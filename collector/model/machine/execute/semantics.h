// SPDX-License-Identifier: MIT
// The computations of one lane: pure functions of values, for the expressions in operations.h.
//
// Every unit of execute/ includes this header inside its own namespace, WARPMETER_ISA, so that no
// two units share a compiled function. For the same reason nothing here is a template or inline
// function of the standard library. Where PTX leaves a result open, the comment says what the
// hardware does.
#pragma once

#ifndef WARPMETER_ISA
#error "define WARPMETER_ISA as the namespace of the unit"
#endif

#include <cstdint>

#include "collector/model/machine/warp/rounding.h"

namespace warpmeter::model::WARPMETER_ISA {

using u8 = std::uint8_t;
using s8 = std::int8_t;
using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

template <class To, class From>
inline To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  __builtin_memcpy(&result, &value, sizeof(To));
  return result;
}

// Integers.
inline s32 saturate_s32(s64 value) {
  return static_cast<s32>(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}
inline u32 mul_hi(u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }
inline u64 mul_hi(u64 a, u64 b) { return static_cast<u64>(u128{a} * b >> 64); }
inline s64 mul_hi(s64 a, s64 b) { return static_cast<s64>(s128{a} * b >> 64); }
/// The high half of the product of signed numbers.
inline u32 signed_high(u32 a, u32 b) {
  return static_cast<u32>(s64{static_cast<s32>(a)} * static_cast<s32>(b) >> 32);
}
inline u64 signed_high(u64 a, u64 b) {
  return static_cast<u64>(mul_hi(static_cast<s64>(a), static_cast<s64>(b)));
}
inline u32 low_24(u32 value) { return value & 0xffffff; }
inline s32 low_24(s32 value) { return static_cast<s32>(static_cast<u32>(value) << 8) >> 8; }
inline u32 distance(s32 a, s32 b) {
  return a < b ? static_cast<u32>(b) - static_cast<u32>(a)
               : static_cast<u32>(a) - static_cast<u32>(b);
}
inline u64 distance(s64 a, s64 b) {
  return a < b ? static_cast<u64>(b) - static_cast<u64>(a)
               : static_cast<u64>(a) - static_cast<u64>(b);
}

/// Zero divides to all ones. The least signed number over −1 is itself, with remainder 0.
template <class T>
inline T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (static_cast<T>(-1) < T{0}) {
    if (b == -1) return static_cast<T>(0 - static_cast<u64>(a));
  }
  return static_cast<T>(a / b);
}
template <class T>
inline T remainder(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (static_cast<T>(-1) < T{0}) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

/// High word of b:a shifted left, and low word of b:a shifted right; 0 to 32 bits.
inline u32 funnel_left(u32 a, u32 b, u32 shift) {
  return static_cast<u32>(((u64{b} << 32 | a) << shift) >> 32);
}
inline u32 funnel_right(u32 a, u32 b, u32 shift) {
  return static_cast<u32>((u64{b} << 32 | a) >> shift);
}

inline u32 count_ones(u32 value) { return static_cast<u32>(__builtin_popcount(value)); }
inline u32 count_ones(u64 value) { return static_cast<u32>(__builtin_popcountll(value)); }
inline u32 leading_zeros(u32 value) {
  return value == 0 ? 32 : static_cast<u32>(__builtin_clz(value));
}
inline u32 leading_zeros(u64 value) {
  return value == 0 ? 64 : static_cast<u32>(__builtin_clzll(value));
}
/// A number whose highest one is the highest bit that differs from the sign.
inline u32 without_sign(s32 value) { return static_cast<u32>(value < 0 ? ~value : value); }
inline u64 without_sign(s64 value) { return static_cast<u64>(value < 0 ? ~value : value); }
/// How far to shift left to bring the highest one to the top; all ones when there is none.
inline u32 shift_amount(u32 zeros, u32 width) { return zeros == width ? ~0u : zeros; }
inline u32 reverse(u32 v) {
  v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
  v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
  v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(v);
}
inline u64 reverse(u64 v) {
  return u64{reverse(static_cast<u32>(v))} << 32 | reverse(static_cast<u32>(v >> 32));
}

/// `length` bits from `position` on. Past the top an unsigned field has zeros, a signed one copies
/// of its sign, which is the field's highest bit or the number's.
template <class T>
inline T extract_field(T value, u32 position, u32 length) {
  constexpr u32 width = sizeof(T) * 8;
  constexpr bool is_signed = static_cast<T>(-1) < T{0};
  if (length == 0) return 0;
  const u32 last = position + length - 1;
  u64 bits = static_cast<u64>(value);
  if (width == 32) bits &= 0xffffffffu;
  const u32 top = last < width - 1 ? last : width - 1;
  const u64 sign = is_signed && (bits >> top & 1) != 0 ? ~u64{0} : 0;
  u64 field = position < width ? bits >> position : 0;
  const u32 kept = position < width ? top - position + 1 : 0;
  if (kept < 64) {
    const u64 mask = (u64{1} << kept) - 1;
    field = (field & mask) | (sign & ~mask);
  }
  return static_cast<T>(field);
}
/// Instructions on 64 bits take a field's position and length as they are, those on 32 bits their
/// low bytes.
inline u32 at_most_255(u32 value) { return value < 255 ? value : 255; }
/// `a` with `length` bits from `position` on replaced by the low bits of `field`.
template <class T>
inline T insert_field(T field, T a, u32 position, u32 length) {
  constexpr u32 width = sizeof(T) * 8;
  if (length == 0 || position >= width) return a;
  const T ones = length >= width ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
  const T mask = static_cast<T>(ones << position);
  return static_cast<T>((a & ~mask) | (field << position & mask));
}
inline u32 field_mask(u32 position, u32 length) {
  const u64 ones = (u64{1} << length) - 1;
  return position > 31 ? 0 : static_cast<u32>(ones << position);
}

/// Four bytes out of the eight of b:a; the top bit of a selector copies the byte's sign.
inline u32 permute_bytes(u32 a, u32 b, u32 selectors) {
  const u64 bytes = u64{b} << 32 | a;
  u32 result = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 selector = selectors >> 4 * i & 15;
    u32 byte = static_cast<u32>(bytes >> 8 * (selector & 7)) & 255;
    if ((selector & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}
inline u32 forward_4(u32 c) { return 0x3210 + (c & 3) * 0x1111; }
inline u32 backward_4(u32 c) {
  u32 selectors = 0;
  for (u32 i = 0; i < 4; ++i) selectors |= (((c & 3) - i) & 7) << 4 * i;
  return selectors;
}

inline u32 clamp_left(u32 c) {
  u32 selectors = 0;
  for (u32 i = 0; i < 4; ++i) selectors |= (i > (c & 3) ? i : c & 3) << 4 * i;
  return selectors;
}
inline u32 clamp_right(u32 c) {
  u32 selectors = 0;
  for (u32 i = 0; i < 4; ++i) selectors |= (i < (c & 3) ? i : c & 3) << 4 * i;
  return selectors;
}

template <class A, class B>
inline u32 dot_4(u32 a, u32 b) {
  u32 sum = 0;
  for (u32 i = 0; i < 4; ++i) {
    sum += static_cast<u32>(s32{static_cast<A>(a >> 8 * i)} * s32{static_cast<B>(b >> 8 * i)});
  }
  return sum;
}
inline u32 logic_3(u32 a, u32 b, u32 c, u32 table) {
  u32 result = 0;
  for (u32 i = 0; i < 8; ++i) {
    if ((table >> i & 1) == 0) continue;
    result |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  }
  return result;
}

// Floats.
inline f32 canonical(f32 value) { return value == value ? value : bits_as<f32>(0x7fffffffu); }
inline f64 canonical(f64 value) { return value; }
/// The NaN itself, but never a signalling one.
inline f64 quiet(f64 value) { return value != value ? value + value : value; }
/// Which NaN an instruction on f64 gives of several: the one of `first`, else what `otherwise` has
/// come to, as a processor chooses in another order. An H100 prefers the second operand of add,
/// sub, mul, min and max, the first of div, and of fma the second, then the third.
inline f64 nan_of(f64 first, f64 otherwise) { return first != first ? quiet(first) : otherwise; }
inline f32 fused(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
inline f64 fused(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
inline f32 root(f32 value) { return __builtin_sqrtf(value); }
inline f64 root(f64 value) { return __builtin_sqrt(value); }
inline f32 flushed(f32 value) {
  const u32 bits = bits_as<u32>(value);
  return bits_as<f32>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}
/// To 0 … 1; NaN gives 0.
inline f32 clamped(f32 value) { return value > 0.0f ? value < 1.0f ? value : 1.0f : 0.0f; }
inline f64 clamped(f64 value) { return value > 0.0 ? value < 1.0 ? value : 1.0 : 0.0; }
/// A NaN loses against a number; −0 is less than +0.
inline f32 minimum(f32 a, f32 b) {
  const bool first = a < b || b != b || (a == b && (bits_as<u32>(a) & 0x80000000u) != 0);
  return first ? a : b;
}
inline f64 minimum(f64 a, f64 b) {
  const bool first = a < b || b != b || (a == b && (bits_as<u64>(a) & 0x8000000000000000u) != 0);
  return first ? a : b;
}
inline f32 maximum(f32 a, f32 b) {
  const bool first = a > b || b != b || (a == b && (bits_as<u32>(b) & 0x80000000u) != 0);
  return first ? a : b;
}
inline f64 maximum(f64 a, f64 b) {
  const bool first = a > b || b != b || (a == b && (bits_as<u64>(b) & 0x8000000000000000u) != 0);
  return first ? a : b;
}
/// b with the sign of a.
inline f32 with_sign_of(f32 a, f32 b) {
  return bits_as<f32>((bits_as<u32>(b) & 0x7fffffffu) | (bits_as<u32>(a) & 0x80000000u));
}
inline f64 with_sign_of(f64 a, f64 b) {
  return bits_as<f64>((bits_as<u64>(b) & 0x7fffffffffffffffu) |
                      (bits_as<u64>(a) & 0x8000000000000000u));
}
inline u64 magnitude(u64 bits) { return bits & 0x7fffffffffffffffu; }
inline constexpr u64 infinity_bits = 0x7ff0000000000000u;
inline constexpr u64 least_normal_bits = 0x0010000000000000u;

// Whole numbers out of floats. Nothing here depends on the processor's rounding mode, which is
// always to nearest outside of rounding.cpp.
inline f32 nearest_whole(f32 value) { return __builtin_rintf(value); }
inline f64 nearest_whole(f64 value) { return __builtin_rint(value); }
inline f32 whole_towards_zero(f32 value) { return __builtin_truncf(value); }
inline f64 whole_towards_zero(f64 value) { return __builtin_trunc(value); }
inline f32 whole_below(f32 value) { return __builtin_floorf(value); }
inline f64 whole_below(f64 value) { return __builtin_floor(value); }
inline f32 whole_above(f32 value) { return __builtin_ceilf(value); }
inline f64 whole_above(f64 value) { return __builtin_ceil(value); }

/// The truncated and clamped value. NaN gives 0 from f32 to at most 32 bits, else only the highest
/// bit.
inline s32 truncated(f64 value, s32 least, s32 greatest, s32 of_nan) {
  if (!(value > least)) return value != value ? of_nan : least;
  return value < greatest ? static_cast<s32>(value) : greatest;
}
inline u32 truncated_u32(f32 value) {
  return value >= 4294967296.0f ? ~0u : value > 0 ? static_cast<u32>(value) : 0;
}
inline s32 truncated_s32(f32 value) {
  return value >= 2147483648.0f   ? INT32_MAX
         : value > -2147483648.0f ? static_cast<s32>(value)
         : value != value         ? 0
                                  : INT32_MIN;
}
inline u32 truncated_u32(f64 value) {
  return value >= 4294967296.0 ? ~0u
         : value > 0           ? static_cast<u32>(value)
         : value != value      ? 0x80000000u
                               : 0;
}
inline s32 truncated_s32(f64 value) {
  return value >= 2147483648.0   ? INT32_MAX
         : value > -2147483648.0 ? static_cast<s32>(value)
                                 : INT32_MIN;
}
inline u64 truncated_u64(f64 value) {
  return value >= 18446744073709551616.0 ? ~u64{0}
         : value > 0                     ? static_cast<u64>(value)
         : value != value                ? u64{1} << 63
                                         : 0;
}
inline s64 truncated_s64(f64 value) {
  return value >= 9223372036854775808.0   ? INT64_MAX
         : value > -9223372036854775808.0 ? static_cast<s64>(value)
                                          : INT64_MIN;
}
inline u64 truncated_u64(f32 value) { return truncated_u64(static_cast<f64>(value)); }
inline s64 truncated_s64(f32 value) { return truncated_s64(static_cast<f64>(value)); }
inline s64 clamp_s64(s64 value, s64 least, s64 greatest) {
  return value < least ? least : value > greatest ? greatest : value;
}

// 16-bit floats.
inline f32 float_from_bfloat(u16 bits) { return bits_as<f32>(u32{bits} << 16); }
inline u16 bfloat_from_float(f32 value) {
  if (value != value) return 0x7fff;
  const u32 bits = bits_as<u32>(value);
  return static_cast<u16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline f32 float_from_half(u16 half) {
  const u32 sign = u32{static_cast<u16>(half & 0x8000)} << 16;
  const u32 magnitude_bits = half & 0x7fffu;
  if (magnitude_bits > 0x7c00) return bits_as<f32>(0x7fffffffu);
  if (magnitude_bits == 0x7c00) return bits_as<f32>(sign | 0x7f800000u);
  // 2^-24 is the step of a subnormal half; a normal one has its exponent moved by 112.
  if (magnitude_bits < 0x400) {
    const f32 value = static_cast<f32>(magnitude_bits) * 0x1p-24f;
    return bits_as<f32>(bits_as<u32>(value) | sign);
  }
  return bits_as<f32>(sign | ((magnitude_bits << 13) + (112u << 23)));
}
/// Unlike to f32, a NaN keeps its payload.
inline f64 double_from_half(u16 half) {
  if ((half & 0x7fffu) <= 0x7c00) return static_cast<f64>(float_from_half(half));
  return bits_as<f64>(u64{static_cast<u16>(half & 0x8000)} << 48 | 0x7ff8000000000000u |
                      u64{half & 0x3ffu} << 42);
}
inline u16 half_from_float(f32 value) {
  if (value != value) return 0x7fff;
  const u32 bits = bits_as<u32>(value);
  const u16 sign = static_cast<u16>(bits >> 16 & 0x8000);
  const u32 m = bits & 0x7fffffff;
  if (m >= 0x47800000u) return static_cast<u16>(sign | 0x7c00);  // 65536 or more
  if (m < 0x38800000u) {
    // Subnormal: adding 0.5 lets the processor round to steps of 2^-24.
    const f32 rounded = bits_as<f32>(m) + 0.5f;
    return static_cast<u16>(sign | (bits_as<u32>(rounded) - bits_as<u32>(0.5f)));
  }
  const u32 rounded = m + 0xfff + (m >> 13 & 1) - (112u << 23);
  return static_cast<u16>(sign | rounded >> 13);
}

}  // namespace warpmeter::model::WARPMETER_ISA
