// SPDX-License-Identifier: MIT
// Means of fractions, which hardware takes in whole numbers of 16 bits; what sRGB stands for.
#pragma once

#include <cstdint>

#include "collector/model/machine/texture/texture.h"

namespace warpmeter::model {

/// A channel's bits as the whole number that is weighed.
std::int32_t whole_of(const TexelFormat& format, std::uint32_t bits);
/// The mean of such numbers times their weights, which add up to 256.
float mean_fraction(const TexelFormat& format, std::int64_t sum);

/// The light for 8 bits of sRGB: a 32-bit float.
std::uint32_t linear_light(std::uint32_t bits);

}  // namespace warpmeter::model
