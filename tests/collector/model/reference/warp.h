// SPDX-License-Identifier: MIT
// A reference for the machine: PTX of 32 lanes, one instruction of text after the other, by the
// words of the PTX manual and with nothing of the model in it. Slow and simple: each lane computes
// by itself, on its own memory, and lanes that take different ways go one set after the other.
// Where lanes change one place, the lower lane comes first, as in the model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "tests/collector/model/reference/program.h"

namespace warpmeter::model::reference {

struct Lane {
  std::map<std::string, std::uint64_t> registers;  ///< "%r1"; predicates are 0 or 1
  std::map<std::string, std::uint8_t*> memory;     ///< the meaning of `[%ms+8]`, by "%ms"
  bool carry = false;
};

struct Warp {
  std::array<Lane, 32> lanes;

  /// Executes a block for the lanes of a mask. Throws std::invalid_argument for what it does not
  /// know.
  void run(const Block& block, std::uint32_t mask);
};

}  // namespace warpmeter::model::reference
