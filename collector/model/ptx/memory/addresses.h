// SPDX-License-Identifier: MIT
// Addresses as sums: which accesses of a function differ by a known distance. ptxas makes one wide
// request of neighbouring accesses; this says which of them are neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// Addresses with the same root differ by the difference of their offsets, in every thread, as long
/// as control does not leave the block or, for a lasting root, the round of the loop.
struct RelativeAddress {
  std::uint32_t root = 0;
  std::int64_t offset = 0;
  bool is_lasting = false;  ///< the root's registers are written at one place of the function each
  /// The start for an entry, and of any two of its threads: with the same start the difference of
  /// addresses is that of their offsets, and a multiple of the greatest common divisor of their
  /// steps.
  std::uint32_t start = 0;
  std::uint64_t step = 0;
};

/// For each instruction that has an address operand, that address; nothing for the others.
///
/// Follows sums and differences, shifts and products with constants, moves, and conversions to
/// addresses of 64 bits, which are taken not to overflow, as ptxas does where the language says so.
std::vector<std::optional<RelativeAddress>> relative_addresses(const Function& function,
                                                               const ControlFlow& graph,
                                                               const DataFlow& data);

}  // namespace warpmeter::model::ptx
