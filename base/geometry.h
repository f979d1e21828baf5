// SPDX-License-Identifier: MIT
// How a kernel is launched: the shape of its grid and of its blocks.
#pragma once

#include <cstdint>

namespace warpmeter {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

struct Geometry {
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  Dim3 cluster = {};  ///< in blocks
  bool is_cooperative =
      false;  ///< all blocks are resident at once, so that they may wait for each other
  bool operator==(const Geometry&) const = default;
};

}  // namespace warpmeter
