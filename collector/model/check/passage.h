// SPDX-License-Identifier: MIT
// The operations behind a barrier for good: operations that control reaches from it and that do not
// lead back to it. A warp that ends there without having waited has gone past the barrier. One that
// has returned before, or out of the loop around it, has not: barriers do not wait for threads that
// have ended.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "collector/model/machine/program.h"

namespace warpmeter::model::check {

class Passage {
 public:
  /// The program must outlive it.
  explicit Passage(const Program& program);

  /// True if an operation lies behind a barrier. Both by their numbers in Program::operations.
  bool is_behind(std::uint32_t operation, std::uint32_t barrier);

 private:
  using Edges = std::vector<std::vector<std::uint32_t>>;

  static std::vector<bool> reached(const Edges& edges, std::uint32_t from);

  Edges successors_, predecessors_;
  std::map<std::uint32_t, std::vector<bool>> behind_;  ///< by barrier
};

}  // namespace warpmeter::model::check
