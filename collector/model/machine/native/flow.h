// SPDX-License-Identifier: MIT
// Where operations lead, and which pieces of rows somebody still reads there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/model/machine/program.h"

namespace warpmeter::model::native {

/// Where an operation leads, as far as machine code is concerned.
enum class Flow : std::uint8_t {
  on,           ///< to the next one, or it stops the warp
  interpreted,  ///< wherever it likes
  branch,
  branch_if,
  branch_out,
  gather,
  join,
};

Flow flow_of(Code code);

/// Operations that a basic block begins with, and the one after the last.
std::vector<bool> block_begins(const Program& program);

/// The rows that the instructions of one operation read and write, in pieces of a vector register.
struct Effect {
  bool is_inlined = false;
  std::vector<std::int32_t> reads, writes;  ///< the reads of all lanes; what is both is read first
};

/// The rows that have to be in memory where a block begins: rows that are read before they are
/// written again. Each lane is a thread of its own here. Memory for operations without
/// instructions, which may be other lanes', has to be there always.
class Liveness {
 public:
  Liveness(const Program& program, const std::vector<Effect>& effects, int pieces_of_unit);

  bool is_live(std::int32_t piece, std::size_t operation) const {
    const auto bit = static_cast<std::size_t>(piece);
    return !is_known_ || always_[bit] || (word(operation, bit / 64) >> bit % 64 & 1) != 0;
  }

 private:
  friend class Uses;
  bool is_always_live(std::int32_t piece) const {
    return !is_known_ || always_[static_cast<std::size_t>(piece)];
  }
  void note_interpreted(const Operation& op);
  void note_beside(const Program& program, const Operation& op);
  void note_rows(std::uint16_t first, std::size_t rows);
  bool update(const Program& program, const std::vector<Effect>& effects, std::size_t operation);
  const std::uint64_t& word(std::size_t operation, std::size_t i) const {
    return live_[operation * words_ + i];
  }

  std::size_t pieces_of_unit_ = 1;
  bool is_known_ = false;
  std::size_t words_ = 0;  ///< the words of each operation
  std::vector<bool> always_;
  std::vector<bool> leads_anywhere_;  ///< by operation
  std::vector<std::uint64_t> live_;   ///< before each operation
};

/// Which operation of its block reads a piece next.
class Uses {
 public:
  /// `liveness` must outlive it.
  Uses(const Program& program, std::vector<Effect> effects, const Liveness& liveness);

  /// As often as it reads them.
  const std::vector<std::int32_t>& reads(std::size_t operation) const {
    return effects_[operation].reads;
  }

  struct Next {
    bool is_read = false;        ///< in this block
    bool is_dead = false;        ///< neither here nor elsewhere before it is written again
    std::uint32_t distance = 0;  ///< in operations, where it is read
  };
  /// From an operation on, or only after it.
  Next next(std::int32_t piece, std::size_t operation, bool only_after) const;

 private:
  struct Use {
    std::uint32_t operation = 0;
    bool is_read = false;
  };
  const std::vector<Effect> effects_;
  const Liveness& liveness_;
  std::vector<std::uint32_t>
      block_end_;  ///< the block end of each operation: the one that ends its block
  std::vector<std::vector<Use>> uses_;  ///< for each piece, in order
};

}  // namespace warpmeter::model::native
