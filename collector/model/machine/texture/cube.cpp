// SPDX-License-Identifier: MIT
#include "collector/model/machine/texture/cube.h"

#include <cmath>

namespace warpmeter::model {

FacePlace face_under(const std::array<float, 3>& direction) {
  const auto [x, y, z] = direction;
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  float along = 0, down = 0, length = 0;
  unsigned face = 0;
  if (az >= ax && az >= ay) {
    face = std::signbit(z) ? 5 : 4;
    along = std::signbit(z) ? -x : x;
    down = -y;
    length = az;
  } else if (ay >= ax) {
    face = std::signbit(y) ? 3 : 2;
    along = x;
    down = std::signbit(y) ? -z : z;
    length = ay;
  } else {
    face = std::signbit(x) ? 1 : 0;
    along = std::signbit(x) ? z : -z;
    down = -y;
    length = ax;
  }
  const auto place = [&](float distance) { return (distance / length + 1) * 0.5f; };
  return {face, {place(along), place(down)}};
}

}  // namespace warpmeter::model
