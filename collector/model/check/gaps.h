// SPDX-License-Identifier: MIT
// Kinds of mistakes that the check does not find, each with the code that makes them possible: a
// gap is named only for kernels that have such code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/model/machine/program.h"

namespace warpmeter::model::check {

enum class Gap : std::uint8_t {
  order,             ///< volatile or ordered loads or stores
  unnamed,           ///< accesses that do not show which of several shared arrays they mean
  stray_stores,      ///< stores to memory that the code does not show to be stored to
  turns,             ///< blocks have waited for each other
  cluster_signals,   ///< blocks of a cluster may order each other by more than its barrier
  formatted_stores,  ///< sust.p
  copies,            ///< asynchronous copies
  bulk_copies,       ///< those of whole stretches
  counted_stores,    ///< stores whose bytes a barrier object counts
  objects,           ///< barrier objects that stores may reach
  widths,            ///< atomics of floats beside atomics of another width
  acquires,          ///< atomics with fences, in front of a barrier
  constants,         ///< the module has __constant__ variables
  local_memory,
  launches,  ///< kernels launch others
  read_only_loads,
  products,  ///< products of warpgroups
  clusters,
};

/// A set of gaps.
class Gaps {
 public:
  Gaps() = default;
  explicit Gaps(std::uint64_t bits) : bits_(bits) {}

  bool has(Gap gap) const { return (bits_ >> static_cast<unsigned>(gap) & 1) != 0; }
  void add(Gap gap, bool is_there = true) {
    bits_ |= std::uint64_t{is_there} << static_cast<unsigned>(gap);
  }
  void add(Gaps more) { bits_ |= more.bits_; }
  std::uint64_t bits() const { return bits_; }

 private:
  std::uint64_t bits_ = 0;
};

/// The gaps that a kernel's code opens. `unnamed`, `stray_stores`, `turns` and `cluster_signals`
/// depend on the launch.
Gaps gaps_of(const Program& program);

/// The gaps that change what a clean answer is worth for this launch; and all others.
std::vector<std::string> main_gaps(Gaps gaps);
std::vector<std::string> further_gaps(Gaps gaps);

}  // namespace warpmeter::model::check
