// SPDX-License-Identifier: MIT
// Floats of 16, 10 and 8 bits: what one lane computes with them. Values are widened to f64, where
// sums and products of two of them are exact or can be told apart from a tie, and rounded once.
//
// Every unit includes this file, like semantics.h, in its own namespace.
#pragma once

#include "collector/model/machine/execute/semantics.h"

namespace warpmeter::model::WARPMETER_ISA {

using f16 = u16;
using bf16 = u16;

/// How a number is rounded that lies between two of the format.
enum class Narrowing : u32 { nearest, towards_zero, down, up, away };

/// Sign, exponent and this many bits of mantissa, as IEEE 754 has it.
struct Format {
  u32 mantissa;  ///< bits
  s32 least;     ///< exponent of the least normal number
  u32 infinity;  ///< its bits; of a format without one, the bits after the greatest number
  u32 nan;       ///< the result for a NaN
  bool has_infinity;
};
inline constexpr Format format_f16 = {10, -14, 0x7c00, 0x7fff, true};
inline constexpr Format format_bf16 = {7, -126, 0x7f80, 0x7fff, true};
inline constexpr Format format_tf32 = {10, -126, 0x3fc00, 0x3ffff, true};
inline constexpr Format format_e4m3 = {3, -6, 0x7f, 0x7f, false};
inline constexpr Format format_e5m2 = {2, -14, 0x7c, 0x7f, true};

/// The bits of the number nearest to `value`, without its sign. `saturates`: never an infinity.
inline u32 narrow_magnitude(f64 value, const Format& format, Narrowing rounding, bool saturates) {
  const u64 bits = bits_as<u64>(value);
  const bool is_negative = (bits >> 63) != 0;
  const u64 whole = bits & 0x7fffffffffffffffu;
  if (whole > infinity_bits) return format.nan;
  const u32 greatest = format.infinity - 1;
  if (whole == infinity_bits) {
    return saturates || !format.has_infinity ? greatest : format.infinity;
  }
  const s32 field = static_cast<s32>(whole >> 52);
  const s32 exponent = field == 0 ? -1022 : field - 1023;
  const u64 significand = (whole & 0xfffffffffffffu) | (field == 0 ? 0 : u64{1} << 52);
  // The step of the format at this exponent is 2^(top − mantissa).
  const s32 top = exponent > format.least ? exponent : format.least;
  const s32 dropped = top - exponent + 52 - static_cast<s32>(format.mantissa);
  const u64 kept = dropped < 64 ? significand >> dropped : 0;
  const u64 rest = dropped < 64 ? significand & ((u64{1} << dropped) - 1) : significand;
  const u64 half = dropped < 64 ? u64{1} << (dropped - 1) : ~u64{0};
  bool up = false;
  switch (rounding) {
    case Narrowing::nearest:
      up = rest > half || (rest == half && (kept & 1) != 0);
      break;
    case Narrowing::away:
      up = rest >= half;
      break;
    case Narrowing::down:
      up = is_negative && rest != 0;
      break;
    case Narrowing::up:
      up = !is_negative && rest != 0;
      break;
    case Narrowing::towards_zero:
      break;
  }
  const u64 steps = static_cast<u64>(top - format.least);
  const u64 result = (steps << format.mantissa) + kept + (up ? 1 : 0);
  if (steps > 4096 || result >= format.infinity) {
    const bool stays = rounding == Narrowing::towards_zero ||
                       (rounding == Narrowing::down && !is_negative) ||
                       (rounding == Narrowing::up && is_negative);
    return saturates || stays || !format.has_infinity ? greatest : format.infinity;
  }
  return static_cast<u32>(result);
}

/// The bits with the sign; a NaN has none.
inline u32 narrow(f64 value, const Format& format, u32 sign_bit, Narrowing rounding,
                  bool saturates) {
  const u32 magnitude_of = narrow_magnitude(value, format, rounding, saturates);
  const bool is_negative = (bits_as<u64>(value) >> 63) != 0 && value == value;
  return magnitude_of | (is_negative ? sign_bit : 0);
}

/// A quiet NaN with the sign and the upper bits of another.
inline u32 narrow_nan(f64 value, const Format& format, u32 sign_bit) {
  const u64 bits = bits_as<u64>(quiet(value));
  const u32 fraction = static_cast<u32>(bits >> (52 - format.mantissa));
  return format.infinity | (fraction & ((1u << format.mantissa) - 1)) |
         ((bits >> 63) != 0 ? sign_bit : 0);
}

/// A number of 8 bits.
inline f64 widen_8(u32 bits, const Format& format) {
  const u32 whole = bits & 0x7f;
  f64 value;
  if (format.has_infinity ? whole > format.infinity : whole == format.nan) {
    return bits_as<f64>(u64{0x7ff8000000000000u});
  }
  if (format.has_infinity && whole == format.infinity) {
    value = bits_as<f64>(infinity_bits);
  } else {
    const u32 field = whole >> format.mantissa;
    const u32 fraction = whole & ((1u << format.mantissa) - 1);
    const u32 significand = field == 0 ? fraction : fraction | 1u << format.mantissa;
    const s32 exponent = (field == 0 ? format.least : static_cast<s32>(field) - 1 + format.least) -
                         static_cast<s32>(format.mantissa);
    value = static_cast<f64>(significand) * bits_as<f64>(static_cast<u64>(exponent + 1023) << 52);
  }
  return (bits & 0x80) != 0 ? -value : value;
}

/// The two 16-bit formats that instructions compute with.
struct F16 {
  static f64 widen(u16 bits) { return static_cast<f64>(float_from_half(bits)); }
  static u16 round(f64 value) {
    return static_cast<u16>(narrow(value, format_f16, 0x8000, Narrowing::nearest, false));
  }
  static constexpr u16 infinity = 0x7c00, least_normal = 0x0400;
};
struct Bf16 {
  static f64 widen(u16 bits) { return static_cast<f64>(float_from_bfloat(bits)); }
  static u16 round(f64 value) {
    return static_cast<u16>(narrow(value, format_bf16, 0x8000, Narrowing::nearest, false));
  }
  static constexpr u16 infinity = 0x7f80, least_normal = 0x0080;
};

/// x + y, with the last bit set when the sum is not exact: rounding it to fewer bits then gives
/// what rounding the exact sum would.
inline f64 sticky_sum(f64 x, f64 y) {
  const f64 sum = x + y;
  const f64 part = sum - x;
  const f64 error = (x - (sum - part)) + (y - part);
  const u64 bits = bits_as<u64>(sum);
  if (!(error < 0 || error > 0) || (bits & 1) != 0) return sum;
  return bits_as<f64>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

template <class T>
inline u16 narrow_add(u16 a, u16 b) {
  return T::round(T::widen(a) + T::widen(b));
}
template <class T>
inline u16 narrow_sub(u16 a, u16 b) {
  return T::round(T::widen(a) - T::widen(b));
}
template <class T>
inline u16 narrow_mul(u16 a, u16 b) {
  return T::round(T::widen(a) * T::widen(b));
}
template <class T>
inline u16 narrow_fma(u16 a, u16 b, u16 c) {
  return T::round(sticky_sum(T::widen(a) * T::widen(b), T::widen(c)));
}
template <class T>
inline bool narrow_is_nan(u16 bits) {
  return (bits & 0x7fff) > T::infinity;
}
/// −0 is less than +0; a NaN loses against a number, unless it is passed on.
template <class T>
inline u16 narrow_min(u16 a, u16 b, bool passes_nan) {
  const bool a_nan = narrow_is_nan<T>(a), b_nan = narrow_is_nan<T>(b);
  if ((a_nan && b_nan) || (passes_nan && (a_nan || b_nan))) return 0x7fff;
  if (a_nan) return b;
  if (b_nan) return a;
  // Signed magnitudes as whole numbers that order alike.
  const s32 x = (a & 0x8000) != 0 ? -1 - (a & 0x7fff) : a;
  const s32 y = (b & 0x8000) != 0 ? -1 - (b & 0x7fff) : b;
  return x < y ? a : b;
}
template <class T>
inline u16 narrow_max(u16 a, u16 b, bool passes_nan) {
  const u16 smaller = narrow_min<T>(a, b, passes_nan);
  if (narrow_is_nan<T>(a) || narrow_is_nan<T>(b)) return smaller;
  return static_cast<u16>(smaller == a ? b : a);
}
/// The chosen magnitude, with the product of the signs.
template <class T>
inline u16 with_xor_sign(u16 a, u16 b, u16 chosen) {
  if (narrow_is_nan<T>(chosen)) return 0x7fff;
  return static_cast<u16>((chosen & 0x7fff) | ((a ^ b) & 0x8000));
}
template <class T>
inline u16 narrow_neg(u16 a) {
  return narrow_is_nan<T>(a) ? u16{0x7fff} : static_cast<u16>(a ^ 0x8000);
}
template <class T>
inline u16 narrow_abs(u16 a) {
  return narrow_is_nan<T>(a) ? u16{0x7fff} : static_cast<u16>(a & 0x7fff);
}
template <class T>
inline u16 narrow_flush(u16 a) {
  return static_cast<u16>((a & 0x7fff) < T::least_normal ? a & 0x8000 : a);
}
/// To 0 … 1; NaN gives 0.
template <class T>
inline u16 narrow_clamp(u16 a) {
  const f64 value = T::widen(a);
  return value > 0 ? value < 1 ? a : T::round(1) : u16{0};
}
/// Negative numbers to 0; NaN stays.
template <class T>
inline u16 narrow_relu(u16 a) {
  return narrow_is_nan<T>(a) ? u16{0x7fff} : (a & 0x8000) != 0 ? u16{0} : a;
}
/// A function of 16 bits on both halves of 32.
template <class Function>
inline u32 halves(u32 a, Function function) {
  const u32 low = function(static_cast<u16>(a)), high = function(static_cast<u16>(a >> 16));
  return (low & 0xffff) | high << 16;
}
template <class Function>
inline u32 halves(u32 a, u32 b, Function function) {
  const u32 low = function(static_cast<u16>(a), static_cast<u16>(b));
  const u32 high = function(static_cast<u16>(a >> 16), static_cast<u16>(b >> 16));
  return (low & 0xffff) | high << 16;
}
template <class Function>
inline u32 halves(u32 a, u32 b, u32 c, Function function) {
  const u32 low = function(static_cast<u16>(a), static_cast<u16>(b), static_cast<u16>(c));
  const u32 high =
      function(static_cast<u16>(a >> 16), static_cast<u16>(b >> 16), static_cast<u16>(c >> 16));
  return (low & 0xffff) | high << 16;
}

inline u16 saturate_u16(s32 value) {
  return static_cast<u16>(value < 0 ? 0 : value > 0xffff ? 0xffff : value);
}
inline u16 saturate_s16(s32 value) {
  return static_cast<u16>(value < -0x8000 ? -0x8000 : value > 0x7fff ? 0x7fff : value);
}
inline s32 signed_16(u16 value) { return static_cast<s16>(value); }

inline u32 saturate_byte(s32 value, s32 least, s32 greatest) {
  return static_cast<u32>(value < least ? least : value > greatest ? greatest : value) & 255;
}

/// To f64 with the last bit set when something was lost (see sticky_sum).
inline f64 sticky_from_integer(u64 value) {
  const u32 zeros = leading_zeros(value);
  if (zeros < 11) {
    const u64 step = u64{1} << (11 - zeros);
    const u64 lost = value & (step - 1);
    value = (value - lost) | (lost != 0 ? step : 0);
  }
  return static_cast<f64>(value);
}
inline f64 sticky_from_integer(s64 value) {
  const u64 whole = value < 0 ? 0 - static_cast<u64>(value) : static_cast<u64>(value);
  const f64 result = sticky_from_integer(whole);
  return value < 0 ? -result : result;
}

/// A magnitude with the product of two signs.
inline f32 xor_sign(f32 a, f32 b, f32 value) {
  const u32 sign = (bits_as<u32>(a) ^ bits_as<u32>(b)) & 0x80000000u;
  return value != value ? canonical(value)
                        : bits_as<f32>((bits_as<u32>(value) & 0x7fffffffu) | sign);
}

/// Two numbers of 32 bits in 64.
template <class Function>
inline u64 words(u64 a, u64 b, u64 c, Function function) {
  const auto part = [](u64 value, int shift) {
    return bits_as<f32>(static_cast<u32>(value >> shift));
  };
  const u32 low = bits_as<u32>(function(part(a, 0), part(b, 0), part(c, 0)));
  const u32 high = bits_as<u32>(function(part(a, 32), part(b, 32), part(c, 32)));
  return low | u64{high} << 32;
}

template <class A, class B>
inline u32 dot_2(u32 a, u32 b, u32 shift) {
  u32 sum = 0;
  for (u32 i = 0; i < 2; ++i) {
    sum += static_cast<u32>(s32{static_cast<A>(a >> 16 * i)}) *
           static_cast<u32>(s32{static_cast<B>(b >> (shift + 8 * i))});
  }
  return sum;
}

/// The position of the n-th one from `base` on: upwards for n > 0, downwards for n < 0.
inline u32 find_nth(u32 value, u32 base, s32 n) {
  if (n == 0) return base < 32 && (value >> base & 1) != 0 ? base : ~0u;
  const s32 step = n > 0 ? 1 : -1;
  u32 left = n > 0 ? static_cast<u32>(n) : 0u - static_cast<u32>(n);  // for the least number, too
  if (base > 31) return ~0u;
  for (s32 at = static_cast<s32>(base); at >= 0 && at < 32; at += step) {
    if ((value >> at & 1) != 0 && --left == 0) return static_cast<u32>(at);
  }
  return ~0u;
}

}  // namespace warpmeter::model::WARPMETER_ISA
