// SPDX-License-Identifier: MIT
#include "collector/model/machine/texture/surface.h"

#include <algorithm>

namespace warpmeter::model {

SurfacePlace place_on(const Surface& surface, const TextureAccess& access,
                      const std::array<std::int32_t, 3>& at, std::int32_t layer, unsigned bytes) {
  using enum SurfacePlace::Kind;
  const Image& image = surface.image;
  const unsigned axes = access.sampling.axes;
  const bool counts_elements = access.work == TextureAccess::Work::store_formatted;
  const std::int64_t step = counts_elements ? surface.format.bytes() : 1;
  std::array<std::int64_t, 4> place{at[0] * step, axes > 1 ? at[1] : 0, axes > 2 ? at[2] : 0,
                                    access.sampling.is_layered ? layer : 0};
  const auto width = static_cast<std::int64_t>(image.width) * surface.format.bytes();
  const std::int64_t layers = access.sampling.is_layered ? image.depth : 1;
  const std::array<std::int64_t, 4> most{width - static_cast<std::int64_t>(bytes),
                                         image.height - std::int64_t{1},
                                         axes > 2 ? image.depth - std::int64_t{1} : 0, layers - 1};
  if (place[0] % bytes != 0) return {misaligned, 0, 0};
  for (unsigned axis = 0; axis < 4; ++axis) {
    if (place[axis] >= 0 && place[axis] <= most[axis]) continue;
    if (access.beyond_edge != BeyondEdge::clamp) return {beyond, 0, axis};
    // A layer has no sign: one before the first is far behind the last.
    if (axis == 3 && place[axis] < 0) place[axis] = most[axis];
    place[axis] = std::clamp<std::int64_t>(place[axis], 0, std::max<std::int64_t>(0, most[axis]));
  }
  const std::int64_t slice = access.sampling.is_layered ? place[3] : place[2];
  return {inside,
          image.address + static_cast<std::uint64_t>(place[0]) +
              static_cast<std::uint64_t>(place[1]) * image.row_bytes +
              static_cast<std::uint64_t>(slice) * image.slice_bytes,
          0};
}

}  // namespace warpmeter::model
