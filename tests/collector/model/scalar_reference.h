// A reference for the machine: straight-line PTX, one lane, one instruction of text after the
// other, by the words of the PTX manual and with nothing of the model in it. Slow and simple:
// integers are computed in 128 bits and cut, floats by the C library under the rounding that is
// named.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace warpmeter::model {

struct ScalarLane {
  std::map<std::string, std::uint64_t> registers;  ///< "%r1"; predicates are 0 or 1
  std::array<std::uint8_t, 64> memory{};           ///< what `[%m+8]` means
  bool carry = false;
};

/// Executes "add.u32 %r1, %r2, 7;", with a guard or without. Throws std::invalid_argument for what
/// it does not know.
void execute(const std::string& line, ScalarLane& lane);

}  // namespace warpmeter::model
