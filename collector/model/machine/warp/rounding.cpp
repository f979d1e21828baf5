// SPDX-License-Identifier: MIT
// Sets the processor's rounding mode for one operation. Operands and results go through volatile
// variables, because compilers move arithmetic across what sets it.
#include "collector/model/machine/warp/rounding.h"

#include <cfenv>
#include <cmath>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace warpmeter::model {
namespace {

#if defined(__SSE2__)
// Not fesetround(), which sets the mode of the x87 unit as well and takes most of the time.
class RoundingMode {
 public:
  explicit RoundingMode(Rounding rounding) {
    _mm_setcsr((before_ & ~unsigned{_MM_ROUND_MASK}) | mode_of(rounding));
  }
  ~RoundingMode() { _mm_setcsr(before_); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  static unsigned mode_of(Rounding rounding) {
    switch (rounding) {
      case rm:
        return _MM_ROUND_DOWN;
      case rp:
        return _MM_ROUND_UP;
      case rz:
        break;
    }
    return _MM_ROUND_TOWARD_ZERO;
  }

  const unsigned before_ = _mm_getcsr();
};
#else
class RoundingMode {
 public:
  explicit RoundingMode(Rounding rounding) { std::fesetround(mode_of(rounding)); }
  ~RoundingMode() { std::fesetround(FE_TONEAREST); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  static int mode_of(Rounding rounding) {
    switch (rounding) {
      case rm:
        return FE_DOWNWARD;
      case rp:
        return FE_UPWARD;
      case rz:
        break;
    }
    return FE_TOWARDZERO;
  }
};
#endif

template <class T, class Operation>
T rounded(Rounding rounding, Operation operation, T a, T b = 0, T c = 0) {
  volatile T x = a, y = b, z = c;
  const RoundingMode mode(rounding);
  volatile T result = operation(x, y, z);
  return result;
}

template <class To, class From>
To converted(From value, Rounding rounding) {
  volatile From from = value;
  const RoundingMode mode(rounding);
  volatile To result = static_cast<To>(from);
  return result;
}

/// Unsigned numbers past the signed range: compilers convert them with a halving that rounds on its
/// own, so the low half is folded into a sticky bit first, which no rounding can tell from the
/// rest.
template <class To>
To converted_unsigned(std::uint64_t value, Rounding rounding) {
  if (value < std::uint64_t{1} << 63) {
    return converted<To>(static_cast<std::int64_t>(value), rounding);
  }
  const std::uint64_t halved = value >> 1 | (value & 1);
  return 2 * converted<To>(static_cast<std::int64_t>(halved), rounding);
}

}  // namespace

float rounded_add(float a, float b, Rounding rounding) {
  return rounded(
      rounding, [](float x, float y, float) { return x + y; }, a, b);
}
double rounded_add(double a, double b, Rounding rounding) {
  return rounded(
      rounding, [](double x, double y, double) { return x + y; }, a, b);
}
float rounded_sub(float a, float b, Rounding rounding) {
  return rounded(
      rounding, [](float x, float y, float) { return x - y; }, a, b);
}
double rounded_sub(double a, double b, Rounding rounding) {
  return rounded(
      rounding, [](double x, double y, double) { return x - y; }, a, b);
}
float rounded_mul(float a, float b, Rounding rounding) {
  return rounded(
      rounding, [](float x, float y, float) { return x * y; }, a, b);
}
double rounded_mul(double a, double b, Rounding rounding) {
  return rounded(
      rounding, [](double x, double y, double) { return x * y; }, a, b);
}
float rounded_div(float a, float b, Rounding rounding) {
  return rounded(
      rounding, [](float x, float y, float) { return x / y; }, a, b);
}
double rounded_div(double a, double b, Rounding rounding) {
  return rounded(
      rounding, [](double x, double y, double) { return x / y; }, a, b);
}
float rounded_fma(float a, float b, float c, Rounding rounding) {
  return rounded(
      rounding, [](float x, float y, float z) { return std::fma(x, y, z); }, a, b, c);
}
double rounded_fma(double a, double b, double c, Rounding rounding) {
  return rounded(
      rounding, [](double x, double y, double z) { return std::fma(x, y, z); }, a, b, c);
}
float rounded_sqrt(float a, Rounding rounding) {
  return rounded(
      rounding, [](float x, float, float) { return std::sqrt(x); }, a);
}
double rounded_sqrt(double a, Rounding rounding) {
  return rounded(
      rounding, [](double x, double, double) { return std::sqrt(x); }, a);
}
float rounded_to_f32(std::uint64_t value, Rounding rounding) {
  return converted_unsigned<float>(value, rounding);
}
float rounded_to_f32(std::int64_t value, Rounding rounding) {
  return converted<float>(value, rounding);
}
float rounded_to_f32(double value, Rounding rounding) { return converted<float>(value, rounding); }
double rounded_to_f64(std::uint64_t value, Rounding rounding) {
  return converted_unsigned<double>(value, rounding);
}
double rounded_to_f64(std::int64_t value, Rounding rounding) {
  return converted<double>(value, rounding);
}

}  // namespace warpmeter::model
