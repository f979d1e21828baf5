// SPDX-License-Identifier: MIT
// An instruction that samples a texture or reaches a surface: which rows hold what it is given, and
// what executes it for a warp. Operation::imm is its number in Program::texture_accesses.
#pragma once

#include <array>
#include <cstdint>

#include "collector/model/machine/texture/sample.h"
#include "collector/model/machine/warp/operation.h"
#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

/// The result of an access beyond the edge of a surface.
enum class BeyondEdge : std::uint8_t { trap, clamp, zero };

enum class SurfaceChange : std::uint8_t { add, minimum, maximum, bit_and, bit_or };

struct TextureAccess {
  enum class Work : std::uint8_t { sample, ask, load, store, store_formatted, change };
  Work work = Work::sample;
  SamplingKind sampling;
  bool is_surface = false;

  // Rows; no_operand for what it has not. The rows are of 32 bits, but for the handle, which has
  // 64, and data.
  std::uint16_t handle = no_operand, layer = no_operand, level = no_operand;
  std::array<std::uint16_t, 3> at{no_operand, no_operand, no_operand};
  std::array<std::array<std::uint16_t, 3>, 2> gradients{
      {{no_operand, no_operand, no_operand}, {no_operand, no_operand, no_operand}}};
  std::array<std::uint16_t, 4> data{no_operand, no_operand, no_operand, no_operand};
  std::uint16_t is_resident = no_operand;  ///< a predicate, which is always true

  std::uint8_t data_bytes = 4;  ///< the data bytes of each number in memory
  std::uint8_t row_bytes = 4;   ///< the row bytes of each row of data
  std::uint8_t parts = 4;       ///< numbers
  BeyondEdge beyond_edge = BeyondEdge::trap;
  SurfaceChange change = SurfaceChange::add;
  bool is_signed = false;
  std::uint8_t asked_axis = 0;  ///< 0 the width, 1 the height, 2 the depth
};

/// For the lanes of the mask. Raises w.trap and says false where hardware would.
bool access_texture(Warp& w, const Operation* op, std::uint32_t mask);

}  // namespace warpmeter::model
