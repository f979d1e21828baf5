// SPDX-License-Identifier: MIT
// The counts of a launch, from some of its blocks, with a bound on the error. Every block runs, so
// that results stay right, but only the chosen ones are counted.
//
// All blocks tell how many instructions their warps and threads executed, at no cost. The
// estimate is a regression, for each place in the grid (block_selection.h): a block costs what a
// counted block with as many instructions costs (Särndal, Swensson, Wretman: Model Assisted Survey
// Sampling, 1992, chapter 6). The residuals give the bound. Uneven work (triangles, rows of a
// sparse matrix) mostly disappears in the regression.
//
// The bound is half of a 95 % interval. It assumes that the blocks that were not counted are like
// those that were, as a random choice makes them with that probability: a rare block that costs
// more by the same number of instructions may be missed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/counts/block_selection.h"
#include "collector/model/counts/grades.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/model/machine/program.h"

namespace warpmeter::model {

/// Findings come from the accesses of all blocks.
inline constexpr std::string_view why_sampled_is_not_explained =
    "only some of its blocks were counted (--blocks)";

class Sample final : public BlockSample {
 public:
  /// `counters`: whose errors are to be known, as counter_named() takes them. The program must
  /// outlive the sample.
  Sample(const Program& program, const Dim3& grid, BlockSelection selection,
         const std::vector<std::string>& counters);

  const std::vector<std::uint64_t>& blocks() const override { return selection_.blocks; }
  bool runs_others() const override { return true; }
  bool holds(std::uint64_t block) const override;
  void add(std::uint64_t block, const LaunchOutcome& outcome) override;
  void pass(std::uint64_t block, const BlockWork& work) override;
  void keep_first() override;
  /// The counts of the grid; of blocks, warps and instructions those that were counted.
  LaunchOutcome whole() const override;

 private:
  /// A count of a site that is not 0.
  struct SiteCount {
    std::uint32_t site = 0;
    std::uint8_t space = 0, field = 0;
    std::uint64_t count = 0;
  };
  struct Counted {
    std::uint64_t block = 0;
    BlockWork work;
    std::vector<double> values;  ///< by counter
    std::vector<SiteCount> sites;
  };
  /// The work of the blocks of a place that were not counted.
  struct Passed {
    std::atomic<std::uint64_t> warp_instructions{0}, thread_instructions{0};
  };
  struct Regression;

  Regression regression_of(std::size_t place, const std::vector<const Counted*>& counted) const;
  void add_errors(const Regression& regression, const std::vector<const Counted*>& counted,
                  std::vector<double>& covariance) const;

  const Program& program_;
  const Dim3 grid_;
  const BlockSelection selection_;
  const std::vector<NamedCounter> counters_;
  std::array<Passed, grid_places> passed_;
  std::vector<Counted> counted_;
  LaunchOutcome sum_, first_;  ///< the costs of the counted blocks; those of the first
};

}  // namespace warpmeter::model
