// SPDX-License-Identifier: MIT
// A branch at which the threads of a block part: some take the one way, some the other.
#pragma once

#include <cstdint>
#include <vector>

namespace warpmeter::model::ptx {

struct Parting {
  std::uint32_t branch = 0;  ///< the number of the instruction in the function
  bool is_first_way = false;
  bool meets = false;  ///< both ways meet again before the threads end
};

/// True if no barrier of the whole block fits between two accesses: they lie on different ways of
/// a parting, or on the same way of one that meets again.
bool are_parted(const std::vector<Parting>& one, const std::vector<Parting>& other);

}  // namespace warpmeter::model::ptx
