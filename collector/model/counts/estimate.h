// SPDX-License-Identifier: MIT
// The cost of a whole grid, from blocks of it: each part of the grid (see block_selection.h) as
// much a block as those of its blocks that were run. Where these differ, it is somewhere between
// all of the part's blocks costing as the cheapest and all as the dearest.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/counts/block_selection.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/model/machine/program.h"
#include "schema/records.h"

namespace warpmeter::model {

class Estimate final : public BlockSample {
 public:
  /// Both must outlive it. The selection is not empty.
  Estimate(const Program& program, const Dim3& grid, const BlockSelection& selection);

  const std::vector<std::uint64_t>& blocks() const override { return selection_->blocks; }
  bool holds(std::uint64_t /*block*/) const override { return true; }
  /// Adds the cost of one block of the selection.
  void add(std::uint64_t block, const LaunchOutcome& outcome) override;
  void keep_first() override;
  /// The counts of the grid, as far as counts go.
  LaunchOutcome whole() const override;

  /// The range of one counter of the catalogue that differs between blocks of one part.
  struct Range {
    std::string counter;
    double least = 0, most = 0;  ///< the least of a block
    /// bounds for the grid, if the blocks that were left out cost no less and no more than those of
    /// their part that were run.
    double low = 0, high = 0;
  };
  std::vector<Range> ranges() const;

  /// A counter of the grid, never graded `exact`, with the coverage as its reason.
  schema::Counter counter(std::string_view name, const LaunchOutcome& whole) const;
  /// "16 of 4096 blocks (0.391 %): 4 of 4 corners, 6 of 252 on the edges, 6 of 3840 inside"
  std::string coverage() const;

 private:
  struct Bounds {
    double least = 0, most = 0;
  };
  struct Part {
    std::uint64_t blocks = 0;  ///< that were run
    LaunchOutcome sum;
    std::vector<Bounds> bounds;  ///< by counter
  };

  double blocks_in(std::size_t part) const;
  double percent() const;

  const Program* program_;
  Dim3 grid_;
  const BlockSelection* selection_;
  std::array<Part, grid_parts> parts_;
  std::array<Part, grid_parts> first_;  ///< after one block
  std::uint64_t added_ = 0;
};

}  // namespace warpmeter::model
