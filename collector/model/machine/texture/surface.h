// SPDX-License-Identifier: MIT
// Where an access to a surface leads.
#pragma once

#include <array>
#include <cstdint>

#include "collector/model/machine/texture/access.h"
#include "collector/model/machine/texture/texture.h"

namespace warpmeter::model {

struct SurfacePlace {
  enum class Kind : std::uint8_t { inside, beyond, misaligned };
  Kind kind = Kind::inside;
  std::uint64_t address = 0;
  unsigned axis = 0;  ///< that it is beyond: x, y, z or layer 3
};

/// `at`: x in bytes (in elements of a formatted store), y, z; `layer` of what is layered, `bytes`
/// that it accesses. Clamped coordinates are inside.
SurfacePlace place_on(const Surface& surface, const TextureAccess& access,
                      const std::array<std::int32_t, 3>& at, std::int32_t layer, unsigned bytes);

}  // namespace warpmeter::model
