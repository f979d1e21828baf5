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

/// What the instructions of one operation read and write of rows, in units of row_unit_bytes.
struct Effect {
  bool is_inlined = false;
  std::vector<std::int32_t> reads, writes;  ///< of all lanes; what is both is read first
};

/// What has to be in memory where a block begins: rows that are read before they are written again.
/// Each lane is a thread of its own here. What operations without instructions read or write, which
/// may be other lanes', has to be there always.
class Liveness {
 public:
  Liveness(const Program& program, const std::vector<Effect>& effects);

  bool is_live(std::int32_t unit, std::size_t operation) const {
    const auto bit = static_cast<std::size_t>(unit);
    return !is_known_ || always_[bit] || (word(operation, bit / 64) >> bit % 64 & 1) != 0;
  }

 private:
  void note_interpreted(const Operation& op);
  bool update(const Program& program, const std::vector<Effect>& effects, std::size_t operation);
  const std::uint64_t& word(std::size_t operation, std::size_t i) const {
    return live_[operation * words_ + i];
  }

  bool is_known_ = false;
  std::size_t words_ = 0;  ///< of each operation
  std::vector<bool> always_;
  std::vector<bool> leads_anywhere_;  ///< by operation
  std::vector<std::uint64_t> live_;   ///< before each operation
};

}  // namespace warpmeter::model::native
