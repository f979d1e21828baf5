// SPDX-License-Identifier: MIT
// The numbers of cuBLAS, and the wider ones that sums are made in: double, or two of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

namespace warpmeter::runtime::blas {

/// A float of 16 bits: IEEE's with 10 bits of mantissa, or bfloat16 with 7.
template <int mantissa>
struct Short {
  std::uint16_t bits = 0;
};
using Half = Short<10>;
using Brain = Short<7>;

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

/// The type that sums of T are made in.
template <class T>
using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;
template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
/// float of std::complex<float>.
template <class T>
using Real = typename RealOf<T>::type;

template <class T>
Wide<T> wide(const T& number) {
  return Wide<T>(number);
}
inline std::complex<double> wide(const std::complex<std::int8_t>& number) {
  return {static_cast<double>(number.real()), static_cast<double>(number.imag())};
}
template <int mantissa>
double wide(const Short<mantissa>& number) {
  constexpr int exponent_bits = 15 - mantissa, least = 2 - (1 << (exponent_bits - 1));
  const int field = (number.bits >> mantissa) & ((1 << exponent_bits) - 1);
  const int rest = number.bits & ((1 << mantissa) - 1);
  double size = std::ldexp(field == 0 ? rest : rest + (1 << mantissa),
                           (field == 0 ? least : field - 1 + least) - mantissa);
  if (field == (1 << exponent_bits) - 1) size = rest == 0 ? INFINITY : NAN;
  return (number.bits >> 15) != 0 ? -size : size;
}

/// The nearest number of 16 bits; of two that are as near, the even one.
template <int mantissa>
Short<mantissa> shorten(double number) {
  constexpr int exponent_bits = 15 - mantissa, least = 2 - (1 << (exponent_bits - 1));
  constexpr auto infinity = static_cast<double>(((1 << exponent_bits) - 1) << mantissa);
  if (std::isnan(number)) return {0x7fff};
  const double size = std::abs(number);
  double bits = infinity;
  if (size == 0) {  // which has no exponent
    bits = 0;
  } else if (!std::isinf(size)) {
    int exponent = 0;
    std::frexp(size, &exponent);
    const int top = std::max(exponent - 1, least);
    bits = std::nearbyint(std::ldexp(size, mantissa - top)) +
           static_cast<double>(top - least) * (1 << mantissa);
  }
  const auto sign = static_cast<std::uint16_t>(std::signbit(number) ? 0x8000 : 0);
  return {static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::min(bits, infinity)))};
}

/// Rounds to T.
template <class T, class W>
T narrow(const W& number) {
  if constexpr (std::is_same_v<T, Half>) {
    return shorten<10>(number);
  } else if constexpr (std::is_same_v<T, Brain>) {
    return shorten<7>(number);
  } else {
    return static_cast<T>(number);
  }
}

/// Without the checks for infinities that operator* makes.
inline double times(double a, double b) { return a * b; }
inline std::complex<double> times(const std::complex<double>& a, const std::complex<double>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

inline double conjugate(double number) { return number; }
inline std::complex<double> conjugate(const std::complex<double>& number) {
  return std::conj(number);
}

/// |re| + |im|, as BLAS compares and adds up complex numbers.
inline double size_of(double number) { return std::abs(number); }
inline double size_of(const std::complex<double>& number) {
  return std::abs(number.real()) + std::abs(number.imag());
}

}  // namespace warpmeter::runtime::blas
