// SPDX-License-Identifier: MIT
// The memory that kernels sample and store to beside plain memory: textures and surfaces, as
// whoever hosts the machine describes them. A kernel names one by a handle, a number of 32 bits
// that the host gives out; LaunchOptions::textures says what each means.
//
// A texture is images in device memory (its levels, of one format) and how coordinates are turned
// into elements. The value of a sample follows what an H100 gave
// (tests/golden/texture_samples.csv): filter.h has the rule of linear filtering.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace warpmeter::model {

/// The meaning of a channel's bits.
enum class ChannelKind : std::uint8_t {
  unsigned_number,
  signed_number,
  floating,
  unsigned_fraction,  ///< the unsigned fraction of 0 to 1
  signed_fraction,    ///< the signed fraction of -1 to 1
};

struct TexelFormat {
  ChannelKind kind = ChannelKind::floating;
  std::uint8_t bits = 32;     ///< the bits of a channel: 8, 16 or 32
  std::uint8_t channels = 1;  ///< 1, 2 or 4
  bool is_srgb = false;       ///< fractions of 8 bits, of which the first three are sRGB

  std::uint32_t bytes() const { return bits / 8u * channels; }
  bool is_number() const {
    return kind == ChannelKind::unsigned_number || kind == ChannelKind::signed_number;
  }
};

/// One level, row by row.
struct Image {
  std::uint64_t address = 0;                       ///< the address of device memory
  std::uint32_t width = 1, height = 1, depth = 1;  ///< in elements; of layers the depth counts them
  std::uint64_t row_bytes = 0, slice_bytes = 0;    ///< from a row, a slice or layer, to the next
};

enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };

struct Texture {
  TexelFormat format;
  std::vector<Image> levels;    ///< at least one
  std::uint8_t dimensions = 2;  ///< 1, 2 or 3, without layers
  bool is_layered = false, is_cube = false;
  bool is_linear_memory = false;  ///< numbered elements, of which those outside are 0
  std::array<AddressMode, 3> address{AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  std::array<float, 4> border{};
  bool is_normalized = false;  ///< coordinates, where 1 is the width
  bool is_linear = false;      ///< between elements
  bool is_linear_between_levels = false;
  bool is_seamless = false;  ///< a cube, across its edges
  unsigned anisotropy = 1;
  float level_bias = 0, least_level = 0, most_level = 0;
};

struct Surface {
  TexelFormat format;
  Image image;
  std::uint8_t dimensions = 2;
  bool is_layered = false;
};

/// By handle. The host keeps it as it is while a launch runs.
struct Textures {
  std::unordered_map<std::uint32_t, Texture> textures;
  std::unordered_map<std::uint32_t, Surface> surfaces;
};

}  // namespace warpmeter::model
