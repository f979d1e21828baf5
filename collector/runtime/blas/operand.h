// SPDX-License-Identifier: MIT
// Matrices and factors whose type is known when the program runs, one or a batch of them.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "collector/runtime/blas/call.h"
#include "collector/runtime/blas/numbers.h"
#include "collector/runtime/blas/reach.h"

namespace warpmeter::runtime::blas {

/// cudaDataType: those that products have.
enum class Type : int {
  real32 = 0,
  real64 = 1,
  real16 = 2,
  integer8 = 3,
  complex32 = 4,
  complex64 = 5,
  complex_integer8 = 7,
  integer32 = 10,
  brain16 = 14,
};

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, float>)
    return Type::real32;
  else if constexpr (std::is_same_v<T, double>)
    return Type::real64;
  else if constexpr (std::is_same_v<T, Half>)
    return Type::real16;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return Type::complex32;
  else
    return Type::complex64;
}

/// Calls `use` with a number of the type.
template <class Use>
auto with_number(Type type, const Use& use) {
  switch (type) {
    case Type::real64:
      return use(double());
    case Type::real16:
      return use(Half());
    case Type::integer8:
      return use(std::int8_t());
    case Type::complex32:
      return use(std::complex<float>());
    case Type::complex64:
      return use(std::complex<double>());
    case Type::complex_integer8:
      return use(std::complex<std::int8_t>());
    case Type::integer32:
      return use(std::int32_t());
    case Type::brain16:
      return use(Brain());
    default:
      return use(float());
  }
}

inline bool is_complex_type(Type type) {
  return type == Type::complex32 || type == Type::complex64 || type == Type::complex_integer8;
}

inline std::int64_t bytes_of(Type type) {
  return with_number(type, [](auto number) { return std::int64_t{sizeof number}; });
}

/// A factor of any type, in the host's memory or in the device's.
struct Factor {
  Factor(Call& call, const void* given, Type type) {
    with_number(type, [&](auto number) {
      using T = decltype(number);
      const Scalar<T> scalar = call.scalar(static_cast<const T*>(given));
      at = [scalar](Reach& reach) { return std::complex<double>(wide(scalar.at(reach))); };
    });
  }
  std::function<std::complex<double>(Reach&)> at;
};

/// A matrix of any type, or as many as a batch has: `apart` numbers from one to the next, or at the
/// addresses of a list in the device's memory.
struct Operand {
  const void* first = nullptr;
  Type type = Type::real32;
  std::int64_t leading = 1;
  std::int64_t apart = 0;
  bool is_list = false;

  const void* of(Reach& reach, std::int64_t which) const {
    if (is_list) return *reach.read(static_cast<const void* const*>(first) + which, 1);
    return static_cast<const std::byte*>(first) + which * apart * bytes_of(type);
  }
};

}  // namespace warpmeter::runtime::blas
