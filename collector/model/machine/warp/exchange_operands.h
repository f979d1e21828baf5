// SPDX-License-Identifier: MIT
// The exchange of lanes of one warp (a shuffle, a vote, …) that come to it at different
// instructions.
#pragma once

#include <array>
#include <cstdint>

#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

inline bool is_shuffle(Code code) { return code >= Code::shfl_up && code <= Code::shfl_idx; }

/// The lanes that some of `lanes` name in the mask of their exchange.
std::uint32_t named_at(const Warp& warp, const Operation* op, std::uint32_t lanes);

/// True if lanes at instructions of their own can exchange: what they give is 32 bits or a
/// predicate.
bool can_meet_apart(Code code);

class ExchangeOperands {
 public:
  /// Takes what those lanes bring to their instruction.
  void gather(const Warp& warp, const Operation& op, std::uint32_t lanes);
  /// Executes the instruction with all who were gathered, `all`, and keeps what it gives to `own`.
  void execute(Warp& warp, const Operation& op, std::uint32_t own, std::uint32_t all,
               const ExecuteOperation* operations) const;

 private:
  static constexpr std::uint32_t lanes = 32;
  using Row = std::array<std::uint32_t, lanes>;
  std::array<Row, 4> rows_{};  ///< operands a, b, c and f, where they are rows
  std::uint32_t asked_ = 0;    ///< operand a of votes
};

}  // namespace warpmeter::model
