// SPDX-License-Identifier: MIT
// A problem made argument by argument, in the order of the signature.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/small_values.h"
#include "kernels/family.h"

namespace warpmeter::agreement {

/// A whole number below 2048 as IEEE binary16.
inline std::uint32_t half_bits(std::int32_t value) {
  if (value == 0) return 0;
  const auto size = static_cast<std::uint32_t>(value < 0 ? -value : value);
  const auto exponent = static_cast<std::uint32_t>(std::bit_width(size) - 1);
  return (value < 0 ? 0x8000U : 0U) | (exponent + 15) << 10 | ((size << (10 - exponent)) & 0x3FFU);
}

template <class T>
constexpr Element element_type() {
  static_assert(std::is_same_v<T, std::int32_t> || std::is_same_v<T, float> ||
                std::is_same_v<T, double>);
  if (std::is_same_v<T, std::int32_t>) return Element::i32;
  return std::is_same_v<T, float> ? Element::f32 : Element::f64;
}

/// Data of other types than int, float and double are made of ints.
class Arguments {
 public:
  template <class T>
  Arguments in(std::uint64_t count, std::uint32_t seed = 1) && {
    kernels::Buffer buffer{"in", element_type<T>(), std::vector<std::byte>(count * sizeof(T))};
    write_small_values(buffer.type, seed, count, buffer.initial.data());
    return std::move(*this).add(std::move(buffer));
  }
  template <class T>
  Arguments out(std::uint64_t count) && {
    return std::move(*this).add(
        {"out", element_type<T>(), std::vector<std::byte>(count * sizeof(T), std::byte{0xFF})});
  }
  /// Pairs of halves that hold small whole numbers.
  Arguments halves(std::uint64_t pairs, std::uint32_t seed = 1) && {
    std::vector<std::int32_t> values;
    for (std::uint64_t i = 0; i < pairs; ++i) {
      const std::uint32_t low = half_bits(small_value(2 * i, seed));
      const std::uint32_t high = half_bits(small_value(2 * i + 1, seed));
      values.push_back(static_cast<std::int32_t>(high << 16 | low));
    }
    return std::move(*this).ints(values);
  }
  Arguments zeros(std::uint64_t count) && {
    return std::move(*this).ints(std::vector<std::int32_t>(count));
  }
  Arguments ints(const std::vector<std::int32_t>& values) && {
    kernels::Buffer buffer{"in", Element::i32, {}};
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    buffer.initial.assign(bytes, bytes + values.size() * sizeof(std::int32_t));
    return std::move(*this).add(std::move(buffer));
  }
  template <class T>
  Arguments value(T number) && {
    problem_.arguments.push_back(kernels::ScalarArgument::of(number));
    return std::move(*this);
  }
  operator kernels::Problem() && { return std::move(problem_); }

 private:
  Arguments add(kernels::Buffer buffer) && {
    problem_.arguments.push_back(kernels::BufferArgument{problem_.buffers.size()});
    problem_.buffers.push_back(std::move(buffer));
    return std::move(*this);
  }
  kernels::Problem problem_;
};

inline Arguments in_and_out(std::uint64_t words, std::int32_t number) {
  return Arguments().in<std::int32_t>(words).out<std::int32_t>(words).value(number);
}

/// A permutation of 0 … count − 1 (count a power of two), far from order.
inline std::vector<std::int32_t> shuffled(std::int32_t count) {
  std::vector<std::int32_t> places;
  for (std::int32_t i = 0; i < count; ++i) places.push_back((i * 1021 + 77) & (count - 1));
  return places;
}

}  // namespace warpmeter::agreement
