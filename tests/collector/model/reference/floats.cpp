// SPDX-License-Identifier: MIT
#include "tests/collector/model/reference/floats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

namespace warpmeter::model::reference {
namespace {

/// How a format narrower than 32 bits stores a number.
struct Format {
  int precision;       ///< bits of the significand, with the one that is not stored
  int least_exponent;  ///< the least exponent of a normal number
  double greatest;
  bool has_infinity;
  int unused_bits;  ///< below the number
};
Format format_of(Type type) {
  switch (type.kind) {
    case 'f':
      return {11, -14, 65504, true, 0};
    case 'h':
      return {8, -126, std::ldexp(255, 120), true, 0};
    case 't':
      return {11, -126, std::ldexp(2047, 117), true, 13};
    case 'e':
      return {4, -6, 448, false, 0};
    case 'm':
      return {3, -14, 57344, true, 0};
    default:
      throw std::invalid_argument("no narrow float");
  }
}
bool is_narrow(Type type) { return type.bits < 32 || type.kind == 't'; }
std::uint64_t sign_bit(Type type) { return std::uint64_t{1} << (type.bits - 1); }

/// The bits of a number that the format has.
std::uint64_t encoded(double value, Type type) {
  const Format format = format_of(type);
  const double magnitude = std::abs(value);
  const std::uint64_t sign = std::signbit(value) ? sign_bit(type) : 0;
  const std::uint64_t one = std::uint64_t{1} << (format.precision - 1);
  if (std::isinf(magnitude)) {
    const auto past = static_cast<std::uint64_t>(std::ilogb(format.greatest) + 1);
    return sign | (past - static_cast<std::uint64_t>(format.least_exponent - 1)) * one
                      << format.unused_bits;
  }
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), format.least_exponent);
  const auto significand =
      static_cast<std::uint64_t>(std::ldexp(magnitude, format.precision - 1 - exponent));
  const auto steps = static_cast<std::uint64_t>(exponent - format.least_exponent);
  return sign | (steps * one + significand) << format.unused_bits;
}

/// The last bit shows a result that does not fit into f64.
template <class Compute>
double odd_result(Compute compute) {
  std::fesetround(FE_TOWARDZERO);
  std::feclearexcept(FE_INEXACT);
  const volatile double result = compute();
  const bool is_inexact = std::fetestexcept(FE_INEXACT) != 0;
  std::fesetround(FE_TONEAREST);
  return is_inexact ? std::bit_cast<double>(std::bit_cast<std::uint64_t>(double{result}) | 1)
                    : double{result};
}

/// As instructions define it for f32 and f64 on the numbers themselves.
template <class F>
F arithmetic(const Line& line, F a, F b, F c) {
  const volatile F x = a, y = b, z = c;  // nothing is computed before the rounding is set
  volatile F result = 0;
  const std::string& name = line.words[0];
  if (name == "add") {
    result = x + y;
  } else if (name == "sub") {
    result = x - y;
  } else if (name == "mul") {
    result = x * y;
  } else if (name == "div") {
    result = x / y;
  } else if (name == "fma" || name == "mad") {
    result = std::fma(x, y, z);
  } else if (name == "rcp") {
    result = 1 / x;
  } else if (name == "sqrt") {
    result = std::sqrt(x);
  } else {
    throw std::invalid_argument("no float instruction " + name);
  }
  return result;
}

constexpr std::uint64_t quiet_bit = std::uint64_t{1} << 51;

/// The operand of f64, among those that are NaN, which an H100 gives on; nothing of none. It asks
/// the second first, of fma the third next, but of div the first.
std::optional<std::uint64_t> given_on(const Line& line, Type type,
                                      const std::array<std::uint64_t, 4>& in) {
  const std::string& name = line.words[0];
  const bool is_fused = name == "fma" || name == "mad";
  for (const int i : name == "div" ? std::array{0, 1, 1} : std::array{1, is_fused ? 2 : 0, 0}) {
    const bool is_there = static_cast<std::size_t>(i) + 1 < line.operands.size();
    if (is_there && is_nan(in[static_cast<std::size_t>(i)], type)) {
      return in[static_cast<std::size_t>(i)] | quiet_bit;
    }
  }
  return std::nullopt;
}

/// The lesser or greater of two numbers; −0 is less than +0, and a NaN loses unless it is asked
/// for.
std::uint64_t extreme(const Line& line, Type type, std::uint64_t a, std::uint64_t b) {
  const bool a_nan = is_nan(a, type), b_nan = is_nan(b, type);
  if (a_nan && b_nan && type.bits == 64) return b | quiet_bit;
  if ((a_nan && b_nan) || (line.has("NaN") && (a_nan || b_nan))) return canonical_nan(type);
  const std::uint64_t signs = (a ^ b) & sign_bit(type);
  if (line.has("xorsign")) {
    a &= ~sign_bit(type);
    b &= ~sign_bit(type);
  }
  std::uint64_t result = 0;
  if (a_nan || b_nan) {
    result = a_nan ? b : a;
  } else {
    const double x = widened(a, type), y = widened(b, type);
    const bool a_is_less = x == y ? (a & sign_bit(type)) != 0 : x < y;
    result = a_is_less == (line.words[0] == "min") ? a : b;
  }
  return line.has("xorsign") ? (result & ~sign_bit(type)) | signs : result;
}

bool changes_only_the_sign(const std::string& name) {
  return name == "abs" || name == "neg" || name == "copysign";
}
std::uint64_t with_sign(const std::string& name, Type type, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sign = sign_bit(type);
  if (name == "copysign") return (b & ~sign) | (a & sign);
  if (is_nan(a, type) && type.bits == 64) {  // stays the one it is, but for what is asked of it
    const std::uint64_t quiet = a | quiet_bit;
    return name == "abs" ? quiet & ~sign : quiet;
  }
  if (is_nan(a, type)) return canonical_nan(type);
  return name == "abs" ? a & ~sign : a ^ sign;
}

}  // namespace

Rounded::Rounded(const Line& line) {
  for (const std::string& word : line.words) {
    if (word == "rz" || word == "rzi") std::fesetround(FE_TOWARDZERO);
    if (word == "rm" || word == "rmi") std::fesetround(FE_DOWNWARD);
    if (word == "rp" || word == "rpi") std::fesetround(FE_UPWARD);
  }
}

double widened(std::uint64_t bits, Type type) {
  if (type.bits == 64) return std::bit_cast<double>(bits);
  if (type.bits == 32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  const Format format = format_of(type);
  const std::uint64_t magnitude = bits & (sign_bit(type) - 1);
  const double sign = (bits & sign_bit(type)) != 0 ? -1 : 1;
  const std::uint64_t greatest = encoded(format.greatest, type);
  if (magnitude > greatest) {
    return format.has_infinity && magnitude == greatest + 1
               ? sign * std::numeric_limits<double>::infinity()
               : std::numeric_limits<double>::quiet_NaN();
  }
  const std::uint64_t one = std::uint64_t{1} << (format.precision - 1);
  const auto steps = static_cast<int>(magnitude / one);
  const std::uint64_t significand = magnitude % one + (steps == 0 ? 0 : one);
  return sign * std::ldexp(static_cast<double>(significand),
                           format.least_exponent + std::max(steps - 1, 0) - format.precision + 1);
}

std::uint64_t narrowed(double value, Type type, const Line& line) {
  const Format format = format_of(type);
  if (std::isnan(value)) return canonical_nan(type);
  const bool is_infinite = std::isinf(value);
  if (!is_infinite && value != 0) {
    const int exponent = std::max(std::ilogb(value), format.least_exponent);
    const int step = exponent - format.precision + 1;
    volatile double scaled = std::ldexp(value, -step);
    if (line.has("rna")) {
      scaled = std::round(scaled);
    } else {
      const Rounded rounding(line);
      scaled = std::nearbyint(scaled);
    }
    value = std::ldexp(scaled, step);
  }
  if (std::abs(value) > format.greatest) {
    const bool stays = !is_infinite && (line.has("rz") || line.has(value > 0 ? "rm" : "rp"));
    const bool is_finite = stays || !format.has_infinity || line.has("satfinite");
    const double most = is_finite ? format.greatest : std::numeric_limits<double>::infinity();
    value = std::copysign(most, value);
  }
  return encoded(value, type);
}

double odd(Wide value) {
  const Wide magnitude = value < 0 ? -value : value;
  // Fewer than 2^64, so at most 11 bits too many for an f64.
  const Wide kept = magnitude >> 11 << 11;
  const bool is_lost = (magnitude >> 53) != 0 && kept != magnitude;
  const double result = static_cast<double>(is_lost ? kept | Wide{1} << 11 : magnitude);
  return value < 0 ? -result : result;
}

bool is_nan(std::uint64_t bits, Type type) { return std::isnan(widened(bits, type)); }

std::uint64_t canonical_nan(Type type) {
  if (type.kind == 'e' || type.kind == 'm') return 0x7f;
  if (type.kind == 't') return 0x7fffe000;
  if (type.bits == 64) return std::bit_cast<std::uint64_t>(std::nan(""));
  return sign_bit(type) - 1;
}

std::uint64_t flushed(std::uint64_t bits, Type type) {
  const double least = type.bits == 16   ? std::ldexp(1, format_of(type).least_exponent)
                       : type.bits == 32 ? double{std::numeric_limits<float>::min()}
                                         : 0;
  return std::abs(widened(bits, type)) < least ? bits & sign_bit(type) : bits;
}

std::uint64_t saturated(std::uint64_t bits, Type type) {
  const double value = widened(bits, type);
  if (!(value > 0)) return 0;
  if (value <= 1) return bits;
  return type.bits == 64   ? std::bit_cast<std::uint64_t>(1.0)
         : type.bits == 32 ? std::bit_cast<std::uint32_t>(1.0f)
                           : encoded(1, type);
}

std::uint64_t float_value(const Line& line, Type type, const std::array<std::uint64_t, 4>& given) {
  std::array<std::uint64_t, 4> in = given;
  if (line.has("ftz")) {
    for (std::uint64_t& bits : in) bits = flushed(bits, type);
  }
  const std::string& name = line.words[0];
  std::uint64_t result = 0;
  if (name == "min" || name == "max") {
    result = extreme(line, type, in[0], in[1]);
    if (line.operands.size() == 4) result = extreme(line, type, result, in[2]);
  } else if (changes_only_the_sign(name)) {
    result = with_sign(name, type, in[0], in[1]);
  } else if (is_narrow(type)) {
    const double a = widened(in[0], type), b = widened(in[1], type), c = widened(in[2], type);
    result = narrowed(odd_result([&] { return arithmetic<double>(line, a, b, c); }), type, line);
  } else if (type.bits == 32) {
    const auto real = [](std::uint64_t bits) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    };
    const Rounded rounding(line);
    result = std::bit_cast<std::uint32_t>(
        arithmetic<float>(line, real(in[0]), real(in[1]), real(in[2])));
  } else {
    const auto real = [](std::uint64_t bits) { return std::bit_cast<double>(bits); };
    const Rounded rounding(line);
    result = given_on(line, type, in)
                 .value_or(std::bit_cast<std::uint64_t>(
                     arithmetic<double>(line, real(in[0]), real(in[1]), real(in[2]))));
  }
  if (type.bits == 32 && is_nan(result, type)) result = canonical_nan(type);
  if (line.has("ftz")) result = flushed(result, type);
  if (line.has("sat")) result = saturated(result, type);
  if (line.has("relu")) {
    const bool is_negative = (result & sign_bit(type)) != 0;
    if (is_negative && !is_nan(result, type)) result = 0;
  }
  return result;
}

bool compares(const std::string& name, double a, double b) {
  const bool is_unordered = std::isnan(a) || std::isnan(b);
  if (name == "num" || name == "nan") return is_unordered == (name == "nan");
  if (name.size() == 3 && is_unordered) return true;
  const std::string how = name.substr(0, 2);
  if (how == "eq") return a == b;
  if (how == "ne") return !is_unordered && a != b;
  if (how == "lt") return a < b;
  if (how == "le") return a <= b;
  if (how == "gt") return a > b;
  return a >= b;
}

}  // namespace warpmeter::model::reference
