// SPDX-License-Identifier: MIT
// A measurement (an H100) showed this: a normalized coordinate is cut, downwards, to a multiple of
// 2^−21, of 2^−22 for larger sizes, and multiplied by the size exactly; denormals are 0.
#include "collector/model/machine/texture/coordinates.h"

#include <algorithm>
#include <cmath>

namespace warpmeter::model {
namespace {

/// Beyond any element of any size, and below what a number of 64 bits holds.
constexpr double far = 1 << 30;

constexpr int position_bits = 24;

/// The coordinate in units of 2^−position_bits of an element.
std::int64_t place_of_coordinate(float coordinate, std::uint32_t size, AddressMode mode,
                                 bool is_normalized) {
  if (std::isnan(coordinate) || std::fpclassify(coordinate) == FP_SUBNORMAL) coordinate = 0;
  double elements = coordinate;
  if (is_normalized) {
    const bool repeats = mode == AddressMode::wrap || mode == AddressMode::mirror;
    if (repeats && std::fabs(elements) >= far) elements = 0;  // a whole number of times
    if (repeats) elements = std::fmod(elements, 2);
    const int bits = size > 8192 ? 22 : 21;
    elements = std::floor(std::ldexp(std::clamp(elements, -far, far), bits)) * size;
    elements = std::ldexp(elements, -bits);
  }
  elements = std::clamp(elements, -far, far);
  return static_cast<std::int64_t>(std::floor(std::ldexp(elements, position_bits)));
}

/// 256ths of an element from the centre of the first.
std::int64_t place_of(float coordinate, std::uint32_t size, AddressMode mode, bool is_normalized) {
  const std::int64_t half = std::int64_t{1} << (position_bits - 9);
  const std::int64_t at = place_of_coordinate(coordinate, size, mode, is_normalized);
  return ((at + half) >> (position_bits - 8)) - 128;
}

std::int64_t modulo(std::int64_t value, std::int64_t size) {
  const std::int64_t rest = value % size;
  return rest < 0 ? rest + size : rest;
}

}  // namespace

AddressMode mode_of(AddressMode mode, bool is_normalized) {
  const bool repeats = mode == AddressMode::wrap || mode == AddressMode::mirror;
  return repeats && !is_normalized ? AddressMode::clamp : mode;
}

std::int64_t addressed(std::int64_t element, std::uint32_t size, AddressMode mode) {
  const auto count = static_cast<std::int64_t>(size);
  switch (mode) {
    case AddressMode::wrap:
      return modulo(element, count);
    case AddressMode::mirror: {
      const std::int64_t twice = modulo(element, 2 * count);
      return twice < count ? twice : 2 * count - 1 - twice;
    }
    case AddressMode::clamp:
      return std::clamp(element, std::int64_t{0}, count - 1);
    case AddressMode::border:
      break;
  }
  return element >= 0 && element < count ? element : beyond_edge;
}

std::int64_t element_under(float coordinate, std::uint32_t size, AddressMode mode,
                           bool is_normalized) {
  return addressed(place_of_coordinate(coordinate, size, mode, is_normalized) >> position_bits,
                   size, mode_of(mode, is_normalized));
}

Between elements_around(float coordinate, std::uint32_t size, AddressMode mode,
                        bool is_normalized) {
  mode = mode_of(mode, is_normalized);
  std::int64_t place = place_of(coordinate, size, mode, is_normalized);
  // A clamped coordinate stays on the last element's centre.
  if (mode == AddressMode::clamp) {
    place = std::clamp(place, std::int64_t{0}, (static_cast<std::int64_t>(size) - 1) * 256);
  }
  const std::int64_t lower = place >> 8;
  return {{addressed(lower, size, mode), addressed(lower + 1, size, mode)},
          static_cast<std::uint32_t>(place & 255)};
}

Between elements_beside(float coordinate, std::uint32_t size, AddressMode mode,
                        bool is_normalized) {
  mode = mode_of(mode, is_normalized);
  const std::int64_t lower = place_of(coordinate, size, mode, is_normalized) >> 8;
  return {{addressed(lower, size, mode), addressed(lower + 1, size, mode)}, 0};
}

}  // namespace warpmeter::model
