// SPDX-License-Identifier: MIT
// Blocks on their way over the workers: all of a grid, or those of a selection alone. The trap that
// is kept is the first block's, whichever worker found one first.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "collector/model/machine/cluster.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/model/machine/launch/worker.h"

namespace warpmeter::model {

class Blocks {
 public:
  Blocks(const Geometry& geometry, bool in_clusters, BlockSample* sample)
      : geometry_(geometry),
        in_clusters_(in_clusters),
        sample_(sample),
        runs_all_(sample == nullptr || sample->runs_others()),
        count_(runs_all_ ? geometry.grid.count() : sample->blocks().size()) {}

  /// The next block to run; nothing when all are given out, or the rest is not worth running.
  std::optional<std::uint64_t> next() {
    const std::uint64_t index = next_.fetch_add(1, std::memory_order_relaxed);
    if (index >= count_ || stopped_.load()) return std::nullopt;
    const std::uint64_t block = !runs_all_ ? sample_->blocks()[index]
                                : in_clusters_
                                    ? block_in_clusters(index, geometry_.grid, geometry_.cluster)
                                    : index;
    if (block > first_trapped_.load()) return std::nullopt;
    return block;
  }

  void done(std::uint64_t block, Worker& worker) {
    if (sample_ == nullptr) return;
    if (!sample_->holds(block)) return sample_->pass(block, worker.work_of_block());
    const LaunchOutcome outcome = worker.take_counts();
    const std::lock_guard lock(mutex_);
    sample_->add(block, outcome);
  }

  void trapped(const BlockTrap& trap) {
    const std::lock_guard lock(mutex_);
    if (trap.block >= first_trapped_.load()) return;
    first_trapped_ = trap.block;
    trap_ = trap;
  }

  void stop() { stopped_ = true; }
  /// Forgets what came after the first block, which was run alone.
  void start_again() {
    if (sample_ != nullptr) sample_->keep_first();
    next_ = 1;
    stopped_ = false;
    first_trapped_ = none;
  }
  bool is_stopped() const { return stopped_.load(); }
  std::uint64_t begun() const { return std::min(next_.load(), count_); }
  std::uint64_t count() const { return count_; }
  /// After all workers have ended.
  const BlockTrap* trap() const { return first_trapped_.load() == none ? nullptr : &trap_; }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  const Geometry geometry_;
  const bool in_clusters_;
  BlockSample* const sample_;
  const bool runs_all_;
  const std::uint64_t count_;
  std::atomic<std::uint64_t> next_{0}, first_trapped_{none};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  BlockTrap trap_;
};

}  // namespace warpmeter::model
