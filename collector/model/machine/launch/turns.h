// SPDX-License-Identifier: MIT
// Blocks in order on one thread, and those that wait for each other in turns.
//
// On the hardware the blocks of a grid run side by side, so they may wait for each other: at a
// grid-wide barrier, for a predecessor's sum, for a lock. Here each block runs to its end before
// the next begins, unless it only asks for something that does not come: then it is left where it
// is, with its registers and its memory, and the next one begins; later it has its turn again. The
// order depends on nothing but the program, so the results do not either.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "collector/model/machine/launch/blocks.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/model/machine/launch/residency.h"
#include "collector/model/machine/launch/worker.h"

namespace warpmeter::model {

struct TurnRules {
  Turns turns = Turns::none;
  std::uint32_t cluster_blocks = 1;  ///< that run side by side, one after the other of the grid
  std::function<Residency()> residency;
  Beside* beside = nullptr;  ///< see LaunchOptions
  Worker* begun = nullptr;   ///< has begun the first block, which waits; null: none has
};

/// Runs all blocks, or until one is trapped or the launch is cancelled. The workers that ran them
/// are added to `workers`. With Turns::none no block is left before its end;
/// else blocks that all wait and that nothing comes for are a trap of the first of them. No more
/// blocks wait at a time than the device holds.
void run_in_turns(const std::function<std::unique_ptr<Worker>()>& new_worker,
                  std::vector<std::unique_ptr<Worker>>& workers, Blocks& blocks,
                  const TurnRules& rules, const LaunchOptions& options);

}  // namespace warpmeter::model
