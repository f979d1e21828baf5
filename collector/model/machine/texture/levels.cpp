// SPDX-License-Identifier: MIT
#include "collector/model/machine/texture/levels.h"

#include <algorithm>
#include <cmath>

namespace warpmeter::model {
namespace {

/// How many elements the larger of the two gradients passes, as a level.
float level_of(const Texture& texture, const SamplingKind& kind, const Sampling& sampling) {
  const Image& image = texture.levels[0];
  const unsigned axes = kind.axes;
  float longest = 0;
  for (const auto& gradient : sampling.gradients) {
    float square = 0;
    for (unsigned axis = 0; axis < axes; ++axis) {
      const std::uint32_t size = axis == 0 ? image.width : axis == 1 ? image.height : image.depth;
      const float passed =
          gradient[axis] * (texture.is_normalized ? static_cast<float>(size) : 1.0f);
      square += passed * passed;
    }
    longest = std::max(longest, square);
  }
  return 0.5f * std::log2(longest);
}

}  // namespace

LevelChoice choose_levels(const Texture& texture, const SamplingKind& kind,
                          const Sampling& sampling) {
  const auto last = static_cast<std::int64_t>(texture.levels.size()) - 1;
  if (last == 0) return {};
  float level = kind.has_gradients ? level_of(texture, kind, sampling) : sampling.level;
  if (std::isnan(level)) level = 0;
  const auto in_256ths = [](float value) {
    return static_cast<std::int64_t>(
        std::trunc(static_cast<double>(std::clamp(value, -64.0f, 64.0f)) * 256));
  };
  // An instruction that names no level reads the first, whatever the bias.
  const bool is_biased = kind.has_level || kind.has_gradients;
  std::int64_t place = in_256ths(level) + (is_biased ? in_256ths(texture.level_bias) : 0);
  place = std::clamp(place, in_256ths(texture.least_level), in_256ths(texture.most_level));
  place = std::clamp(place, std::int64_t{0}, last * 256);
  LevelChoice choice;
  if (texture.is_linear_between_levels) {
    choice.first = static_cast<std::uint32_t>(place >> 8);
    choice.second = static_cast<std::uint32_t>(std::min(last, (place >> 8) + 1));
    choice.fraction = static_cast<std::uint32_t>(place & 255);
  } else {
    choice.first = static_cast<std::uint32_t>(std::min(last, (place + 128) >> 8));
  }
  return choice;
}

}  // namespace warpmeter::model
