// SPDX-License-Identifier: MIT
#include "collector/model/machine/texture/format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace warpmeter::model {
namespace {

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

std::int32_t extended(std::uint32_t bits, unsigned width) {
  return static_cast<std::int32_t>(bits << (32 - width)) >> (32 - width);
}

float fraction_of(const TexelFormat& format, std::uint32_t bits) {
  if (format.kind == ChannelKind::unsigned_fraction) {
    return static_cast<float>(static_cast<double>(bits) / ((1 << format.bits) - 1));
  }
  const double one = (1 << (format.bits - 1)) - 1;
  return static_cast<float>(std::max(-1.0, extended(bits, format.bits) / one));
}

std::uint32_t channel_bits(const TexelFormat& format, const std::byte* from, unsigned channel) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, from + std::size_t{channel} * format.bits / 8, format.bits / 8);
  return bits;
}

/// A half towards zero; beyond the largest, that.
std::uint16_t half_towards_zero(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<std::uint16_t>(sign | 0x7fff);
  if (magnitude == 0x7f800000) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (magnitude >= 0x47800000) return static_cast<std::uint16_t>(sign | 0x7bff);
  if (magnitude >= 0x38800000)
    return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000) >> 13));
  return static_cast<std::uint16_t>(
      sign | static_cast<std::uint32_t>(std::ldexp(std::bit_cast<float>(magnitude), 24)));
}

}  // namespace

float float_of_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t exponent = half >> 10 & 31u, fraction = half & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                        : std::ldexp(static_cast<float>(fraction + 1024),
                                                     static_cast<int>(exponent) - 25);
  return sign != 0 ? -magnitude : magnitude;
}

std::uint32_t channel_of(const TexelFormat& format, std::uint32_t bits) {
  switch (format.kind) {
    case ChannelKind::unsigned_number:
      return bits;
    case ChannelKind::signed_number:
      return static_cast<std::uint32_t>(extended(bits, format.bits));
    case ChannelKind::floating:
      return format.bits == 32 ? bits : bits_of(float_of_half(static_cast<std::uint16_t>(bits)));
    case ChannelKind::unsigned_fraction:
    case ChannelKind::signed_fraction:
      break;
  }
  return bits_of(fraction_of(format, bits));
}

Element raw_element(const TexelFormat& format, const std::byte* from) {
  Element element{};
  for (unsigned channel = 0; channel < format.channels; ++channel) {
    element[channel] = channel_bits(format, from, channel);
  }
  return element;
}

Element raw_border(const TexelFormat& format, const std::array<float, 4>& colour) {
  Element element{};
  for (unsigned channel = 0; channel < format.channels; ++channel) {
    const float value = colour[channel];
    const std::uint32_t mask = format.bits == 32 ? ~0u : (1u << format.bits) - 1;
    std::uint32_t& bits = element[channel];
    switch (format.kind) {
      case ChannelKind::unsigned_number:
      case ChannelKind::signed_number:
        bits = bits_of(value) & mask;
        break;
      case ChannelKind::floating:
        bits = format.bits == 32 ? bits_of(value) : half_towards_zero(value);
        break;
      case ChannelKind::unsigned_fraction:
        bits = static_cast<std::uint32_t>(
            std::ceil(std::clamp(value, 0.0f, 1.0f) * static_cast<double>(mask) - 0.5));
        break;
      case ChannelKind::signed_fraction:
        bits = static_cast<std::uint32_t>(
                   std::lround(std::clamp(value, -1.0f, 1.0f) * static_cast<double>(mask >> 1))) &
               mask;
        break;
    }
  }
  return element;
}

void store_element(const TexelFormat& format, const std::array<std::uint32_t, 4>& registers,
                   std::byte* to) {
  for (unsigned channel = 0; channel < format.channels; ++channel) {
    const std::uint32_t given = registers[channel];
    const auto value = std::bit_cast<float>(given);
    std::uint32_t bits = given;
    const unsigned width = format.bits;
    if (format.kind == ChannelKind::unsigned_number && width < 32) {
      bits = std::min(given, (1u << width) - 1);
    } else if (format.kind == ChannelKind::signed_number && width < 32) {
      const std::int32_t most = (1 << (width - 1)) - 1;
      bits =
          static_cast<std::uint32_t>(std::clamp(static_cast<std::int32_t>(given), -most - 1, most));
    } else if (format.kind == ChannelKind::floating && width == 16) {
      bits = half_towards_zero(value);
    } else if (format.kind == ChannelKind::unsigned_fraction) {
      const auto most = static_cast<float>((1 << width) - 1);
      bits = value > 0 ? static_cast<std::uint32_t>(std::ceil(std::min(value * most, most) - 0.5f))
                       : 0;
    } else if (format.kind == ChannelKind::signed_fraction) {
      const double most = (1 << (width - 1)) - 1;
      const double scaled = std::isnan(value) ? 0 : std::clamp(value * most, -most, most);
      bits = static_cast<std::uint32_t>(
          static_cast<std::int32_t>(std::copysign(std::ceil(std::fabs(scaled) - 0.5), scaled)));
    }
    std::memcpy(to + std::size_t{channel} * width / 8, &bits, width / 8);
  }
}

}  // namespace warpmeter::model
