// SPDX-License-Identifier: MIT
// The value of a texture's sample: elements found by coordinates, filtered and converted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "collector/model/machine/texture/texture.h"

namespace warpmeter::model {

/// The sample that one lane asks for.
struct Sampling {
  std::array<float, 3> at{};  ///< coordinates, or a direction towards a cube
  std::int32_t element = 0;   ///< the element of a texture that is read by number
  std::int32_t layer = 0;
  float level = 0;
  std::array<std::array<float, 3>, 2> gradients{};
};

/// The kind of sample that the instruction asks for, in all lanes.
struct SamplingKind {
  unsigned axes = 2;  ///< the axes of the coordinates; 3 of a cube
  bool is_by_number = false, is_layered = false, is_cube = false;
  bool has_level = false, has_gradients = false;
  bool gathers = false;  ///< one channel of the four elements around, in place of a mean
  unsigned channel = 0;
};

/// Memory as the sampler reads it.
class ImageMemory {
 public:
  virtual ~ImageMemory() = default;
  /// Null where the bytes are not there.
  virtual const std::byte* at(std::uint64_t address, unsigned bytes) = 0;
};

/// Four registers; nullopt where it reads memory that is not there, which `missing` says.
struct Sampled {
  std::array<std::uint32_t, 4> registers{};
  bool is_missing = false;
  std::uint64_t missing = 0;
};
Sampled sample(const Texture& texture, const SamplingKind& kind, const Sampling& sampling,
               ImageMemory& memory);

}  // namespace warpmeter::model
