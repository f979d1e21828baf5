// SPDX-License-Identifier: MIT
// Which face of a cube a direction meets, and where.
#pragma once

#include <array>

namespace warpmeter::model {

struct FacePlace {
  unsigned face = 0;          ///< +x, −x, +y, −y, +z, −z
  std::array<float, 2> at{};  ///< 0 to 1 along the face's rows and columns
};

FacePlace face_under(const std::array<float, 3>& direction);

}  // namespace warpmeter::model
