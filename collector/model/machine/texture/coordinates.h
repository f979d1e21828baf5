// SPDX-License-Identifier: MIT
// From a coordinate to elements along one axis.
#pragma once

#include <array>
#include <cstdint>

#include "collector/model/machine/texture/texture.h"

namespace warpmeter::model {

/// An element beyond the edge, where the border's colour is read.
inline constexpr std::int64_t beyond_edge = -1;

/// The lower and the upper element, and how many 256ths the coordinate lies towards the upper.
struct Between {
  std::array<std::int64_t, 2> elements{};
  std::uint32_t fraction = 0;
};

/// The element that a coordinate lies in; beyond_edge where the mode says so.
std::int64_t element_under(float coordinate, std::uint32_t size, AddressMode mode,
                           bool is_normalized);
/// The two between whose centres it lies.
Between elements_around(float coordinate, std::uint32_t size, AddressMode mode, bool is_normalized);
/// The same where both are read for themselves: a clamped one may be the other.
Between elements_beside(float coordinate, std::uint32_t size, AddressMode mode, bool is_normalized);
/// Where an element's number leads.
std::int64_t addressed(std::int64_t element, std::uint32_t size, AddressMode mode);

/// The modes that hardware has for coordinates in elements: those that repeat are clamped.
AddressMode mode_of(AddressMode mode, bool is_normalized);

}  // namespace warpmeter::model
