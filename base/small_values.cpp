// SPDX-License-Identifier: MIT
#include "base/small_values.h"

#include <cstring>

namespace warpmeter {
namespace {

template <class T>
void write(std::uint32_t seed, std::uint64_t count, std::byte* to) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const T value = static_cast<T>(small_value(i, seed));
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
}

}  // namespace

void write_small_values(Element element, std::uint32_t seed, std::uint64_t count, std::byte* to) {
  switch (element) {
    case Element::f32:
      return write<float>(seed, count, to);
    case Element::f64:
      return write<double>(seed, count, to);
    case Element::i32:
      return write<std::int32_t>(seed, count, to);
    default:
      for (std::uint64_t i = 0; i < count; ++i) {
        encode(element, small_value(i, seed), to + i * bytes_of(element));
      }
  }
}

}  // namespace warpmeter
