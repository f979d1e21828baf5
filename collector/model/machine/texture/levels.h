// SPDX-License-Identifier: MIT
// Which levels of a texture a sample reads.
#pragma once

#include <cstdint>

#include "collector/model/machine/texture/sample.h"
#include "collector/model/machine/texture/texture.h"

namespace warpmeter::model {

/// `fraction` 256ths of the second, the rest of the first.
struct LevelChoice {
  std::uint32_t first = 0, second = 0, fraction = 0;
};

LevelChoice choose_levels(const Texture& texture, const SamplingKind& kind,
                          const Sampling& sampling);

}  // namespace warpmeter::model
