// SPDX-License-Identifier: MIT
// Functions that make a problem's buffers and read them back, typed.
//
// Inputs are whole numbers from −8 to 8, taken from a mixing hash of the index: they look random,
// are the same on every machine, and sums and products of them are exact in float and double.
// Outputs start as all ones bits, which is −1 or not a number: no kernel here produces either, so
// an element that was never written shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/family.h"

namespace warpmeter::kernels {

inline constexpr int largest_input = 8;  ///< inputs lie between its negative and it

/// The value at `index` of the stream `seed`. Buffers with different seeds differ.
constexpr std::int32_t input_value(std::uint64_t index, std::uint32_t seed) {
  // The finaliser of SplitMix64 (Steele, Lea, Flood, 2014), cut to 32 bits of state.
  std::uint32_t x = static_cast<std::uint32_t>(index) ^ static_cast<std::uint32_t>(index >> 32);
  x = (x + seed * 0x27D4EB2FU) * 0x9E3779B9U;
  x = (x ^ (x >> 16)) * 0x85EBCA6BU;
  x = (x ^ (x >> 13)) * 0xC2B2AE35U;
  x ^= x >> 16;
  // The high half times 17, so that no division stands in the way of vectorising.
  return static_cast<std::int32_t>(((x >> 16) * (2U * largest_input + 1)) >> 16) - largest_input;
}

template <class T>
constexpr Element element_type() {
  static_assert(std::is_same_v<T, std::int32_t> || std::is_same_v<T, float> ||
                std::is_same_v<T, double>);
  if (std::is_same_v<T, std::int32_t>) return Element::i32;
  return std::is_same_v<T, float> ? Element::f32 : Element::f64;
}

/// `count` elements of the stream `seed`.
template <class T>
Buffer input_buffer(std::string name, std::uint64_t count, std::uint32_t seed) {
  Buffer buffer{std::move(name), element_type<T>(), std::vector<std::byte>(count * sizeof(T))};
  for (std::uint64_t i = 0; i < count; ++i) {
    const T value = static_cast<T>(input_value(i, seed));
    std::memcpy(buffer.initial.data() + i * sizeof(T), &value, sizeof(T));
  }
  return buffer;
}

/// `count` elements that a kernel must overwrite.
template <class T>
Buffer output_buffer(std::string name, std::uint64_t count) {
  return {std::move(name), element_type<T>(),
          std::vector<std::byte>(count * sizeof(T), std::byte{0xFF})};
}

/// The elements of a buffer's bytes. A vector's storage is aligned for any T.
template <class T>
const T* elements(const std::vector<std::byte>& bytes) {
  return reinterpret_cast<const T*>(bytes.data());
}
template <class T>
T* elements(std::vector<std::byte>& bytes) {
  return reinterpret_cast<T*>(bytes.data());
}

/// Blocks of `block` elements that cover `count`.
constexpr std::uint32_t blocks_for(std::int64_t count, std::int64_t block) {
  return static_cast<std::uint32_t>((count + block - 1) / block);
}

}  // namespace warpmeter::kernels
