// SPDX-License-Identifier: MIT
// The wavefronts of the cp.async that write an array of shared memory, with the array stored in
// another way: each copy is counted again by the rules of both of its sides
// (counts/rules/async_copies.h), with where it reads as recorded.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/lanes.h"
#include "collector/model/counts/rules/async_copies.h"
#include "collector/model/explain/shared_arrays.h"

namespace warpmeter::model::explain {

class Moved;

/// The cost of the copies of one instruction.
struct CopyCost {
  std::uint64_t wavefronts = 0;
  std::uint64_t sectors = 0;  ///< those of global memory; past L1 alone, else as today
};

class CopyCosts {
 public:
  /// Both must outlive it.
  CopyCosts(const Subject& subject, const SharedArray& array);

  /// The sites of cp.async that write the array, as they come in SharedArray::copies.
  const std::vector<std::size_t>& sites() const { return sites_; }
  /// False: in some layout their cost cannot be said, since not all of them are known.
  bool are_known() const { return are_known_; }
  /// True if some take more wavefronts than the fewest.
  bool have_conflicts() const;
  bool bypass_l1(std::size_t number) const { return kinds_[number].bypasses_l1; }
  /// The site that reads.
  std::size_t source(std::size_t number) const { return kinds_[number].source; }

  /// The cost of each site of sites(); `is_measured` becomes false where no pattern that was
  /// measured on hardware tells how a copy would be done.
  std::vector<CopyCost> with(const Moved& moved, bool& is_measured) const;

 private:
  /// A cp.async of the program.
  struct Kind {
    std::size_t index = 0;   ///< in Program::async_copies
    std::size_t source = 0;  ///< the site that reads
    unsigned width = 4;
    bool bypasses_l1 = false;
  };
  /// A site, how its lanes lie on both sides, and where they write from the line of the first on.
  using Key = std::tuple<std::size_t, const LanePattern*, std::array<std::uint32_t, warp_lanes>>;

  bool count_as_recorded();
  AsyncCopyCost cost_of(const Kind& kind, const LanePattern& pattern,
                        const std::array<std::uint32_t, warp_lanes>& to) const;

  const Subject& subject_;
  const SharedArray& array_;
  std::vector<std::size_t> sites_;
  std::vector<Kind> kinds_;  ///< one for each site
  bool are_known_ = true;
  mutable std::map<Key, AsyncCopyCost> counted_;
};

}  // namespace warpmeter::model::explain
