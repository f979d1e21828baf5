// SPDX-License-Identifier: MIT
// Which registers hold a value that a block, or what follows it, still reads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/flow/registers.h"

namespace warpmeter::model::ptx {

class LiveValues {
 public:
  /// Both must outlive it.
  LiveValues(const ControlFlow& graph, const DataFlow& data);

  /// Registers that these blocks write and others read behind them.
  std::vector<RegisterId> left_by(std::span<const std::size_t> blocks) const;

 private:
  using Set = std::vector<std::uint64_t>;  ///< a bit a register
  static bool has(const Set& set, RegisterId id) { return (set[id / 64] >> (id % 64) & 1) != 0; }
  static void put(Set& set, RegisterId id) { set[id / 64] |= std::uint64_t{1} << (id % 64); }
  bool extend(std::size_t block);

  const ControlFlow& graph_;
  const DataFlow& data_;
  std::vector<Set> at_beginning_, settled_;  ///< by block: live there; written before it is read
};

}  // namespace warpmeter::model::ptx
