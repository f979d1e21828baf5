// SPDX-License-Identifier: MIT
// The meaning of an element's bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "collector/model/machine/texture/texture.h"

namespace warpmeter::model {

/// By channel; 0 for those that the format lacks.
using Element = std::array<std::uint32_t, 4>;

/// The channels' bits.
Element raw_element(const TexelFormat& format, const std::byte* from);
/// The element beyond the edge, of a colour in 32-bit floats.
Element raw_border(const TexelFormat& format, const std::array<float, 4>& colour);
/// The register's value for a channel's bits: a number extended to 32 bits, or a 32-bit float.
std::uint32_t channel_of(const TexelFormat& format, std::uint32_t bits);

/// Makes an element of four registers, as a formatted store does.
void store_element(const TexelFormat& format, const std::array<std::uint32_t, 4>& registers,
                   std::byte* to);

/// The float of a half.
float float_of_half(std::uint16_t half);

}  // namespace warpmeter::model
