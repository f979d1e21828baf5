// SPDX-License-Identifier: MIT
// The move of a load or store, once it is known that its lanes lie as they did the last time.
#pragma once

#include <xbyak/xbyak.h>

#include <array>
#include <cstdint>
#include <memory>

#include "collector/model/machine/native/instruction_set.h"
#include "collector/model/machine/warp/operation.h"
#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model::native {

enum class Extension { none, zeros, sign };

/// The bytes of an access: of a lane in memory, and in a row.
struct Access {
  int memory_bytes = 0, row_bytes = 0;
  Extension extension = Extension::none;
  bool stores = false, is_wide = false, is_vector = false;

  int row_units() const { return row_bytes / 2; }
};

/// Without bytes for what is no load or store.
Access access_of(Code code);

/// The first active lane's place is in rcx; code for some lanes has them in r8d.
struct Movement {
  Access access;
  int parts = 1;                         ///< the parts of a vector
  int pieces = 0;                        ///< the pieces of a row
  Xbyak::RegExp site;                    ///< a Site
  std::array<std::uint16_t, 4> row{};    ///< the first unit of each part's row
  std::array<Register, 32> registers{};  ///< for each part's pieces; none: in memory
  Register spare = none, other = none;   ///< that hold nothing
  bool is_far = false;                   ///< memory that a cache may not hold: global
  std::shared_ptr<Xbyak::Label> slow, done;

  int total() const { return parts * pieces; }
};

/// The check of where an access is.
struct Check {
  bool is_wide = false;  ///< its address row
  InstructionSet::Places lanes{};
  std::array<Register, 3> with{};        ///< registers for compare_lanes()
  std::shared_ptr<Xbyak::Label> slow{};  ///< where it leads if the access is elsewhere
};

}  // namespace warpmeter::model::native
