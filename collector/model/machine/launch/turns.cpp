// SPDX-License-Identifier: MIT
#include "collector/model/machine/launch/turns.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <list>
#include <optional>
#include <set>
#include <utility>

namespace warpmeter::model {
namespace {

/// Memory that blocks which wait may take together, and how many there may be whatever they take. A
/// device holds a few thousand.
constexpr std::size_t most_waiting_bytes = std::size_t{2} << 30;
constexpr std::size_t least_waiting_blocks = 16;

/// Turns of every waiting block in which none does anything new, after which nothing will come; and
/// of blocks of which none stores anything either, so that each round is as the one before.
constexpr std::size_t still_turns = 16, still_turns_of_askers = 4;

/// Instructions, in budgets of one warp, that all blocks may execute before one of them ends.
constexpr std::uint64_t most_budgets = 16;

/// Instructions without an end after which others go on beside the launch: about a second's.
constexpr std::uint64_t let_go_after = 1 << 24;

class TurnTaking {
 public:
  TurnTaking(const std::function<std::unique_ptr<Worker>()>& new_worker,
             std::vector<std::unique_ptr<Worker>>& workers, Blocks& blocks, const TurnRules& rules)
      : new_worker_(new_worker),
        workers_(workers),
        blocks_(blocks),
        rules_(rules),
        cluster_blocks_(rules.cluster_blocks) {
    if (rules.begun != nullptr) waiting_.push_back(rules.begun);
  }

  void run(const LaunchOptions& options) {
    Turns turns = rules_.turns;
    while (Worker* worker = next()) {
      // Lanes of a warp part for good only when no block goes on otherwise.
      const bool is_last_resort = still_ > patience() / 2 * waiting_.size() && still_ > 1;
      const bool is_looked_at = still_ > patience() * waiting_.size();
      if (is_looked_at) worker->note_loads(&loaded_);
      const std::uint64_t before = worker->executed();
      const BlockOutcome outcome =
          worker->go_on(options.cancelled, is_last_resort ? Turns::last_resort : turns);
      since_last_end_ += worker->executed() - before;
      if (is_looked_at) worker->note_loads(nullptr);
      switch (outcome) {
        case BlockOutcome::done:
          blocks_.done(worker->block(), *worker);
          end(worker);
          still_ = 0;
          has_gone_on_ = true;
          since_last_end_ = let_go_at_ = 0;
          if (options.cancelled && options.cancelled()) return blocks_.stop();
          if (options.progress) options.progress(blocks_.begun(), blocks_.count());
          break;
        case BlockOutcome::waits:
          turns = Turns::short_ones;
          waiting_.push_back(worker);
          only_ask_ = (still_ == 0 || only_ask_) && worker->only_asks();
          note_turn(worker->is_still());
          if (still_ > (patience() + 1) * waiting_.size() && !is_answered()) return;
          if (since_last_end_ / most_budgets > options.instruction_budget) {
            return give_up(TrapKind::endless);
          }
          break;
        case BlockOutcome::trapped:
          return blocks_.trapped(worker->trap());
        case BlockOutcome::cancelled:
          return blocks_.stop();
      }
    }
  }

 private:
  std::size_t patience() const { return only_ask_ ? still_turns_of_askers : still_turns; }

  void note_turn(bool is_still) {
    has_gone_on_ |= !is_still;
    still_ = is_still ? still_ + 1 : 0;
    if (is_still) return;
    loaded_.clear();
    if (rules_.beside == nullptr || since_last_end_ - let_go_at_ < let_go_after) return;
    let_go_at_ = since_last_end_;
    rules_.beside->let_go();
    forget_places();
  }

  /// No block goes on by itself. False: nobody else lets one, which is given up.
  bool is_answered() {
    const Outside others = rules_.beside == nullptr
                               ? Outside::nothing
                               : rules_.beside->wait(loaded_, std::exchange(has_gone_on_, false));
    if (others != Outside::maybe) {
      give_up(others == Outside::nothing ? TrapKind::no_progress : TrapKind::waits_outside);
      return false;
    }
    forget_places();
    loaded_.clear();
    // Two turns of each block show whether it goes on now.
    still_ = (patience() - 1) * waiting_.size();
    return true;
  }

  /// Memory may have come and gone.
  void forget_places() {
    for (const auto& worker : workers_) worker->forget_places();
  }

  /// A block that has not begun, while there is room; then the one whose turn was the longest ago.
  Worker* next() {
    if (wants_another()) {
      if (const std::optional<std::uint64_t> block = blocks_.next()) {
        Worker* worker = idle_worker();
        worker->start_block(*block, cluster_of_next());
        return worker;
      }
    }
    if (waiting_.empty()) return nullptr;
    Worker* worker = waiting_.front();
    waiting_.pop_front();
    return worker;
  }

  /// Clusters begin one after the other begins, unless the blocks of those that have begun wait for
  /// what does not come from them.
  bool wants_another() {
    if (cluster_blocks_ > 1 && !waiting_.empty()) {
      if (begun_ % cluster_blocks_ != 0) return true;
      if (still_ <= 2 * waiting_.size()) return false;
    }
    if (is_full()) return false;
    return waiting_.size() < least_waiting_blocks ||
           waiting_.size() * waiting_.front()->resident_bytes() < most_waiting_bytes;
  }

  /// All that wait are on the device, which may have no room for more.
  bool is_full() {
    constexpr std::size_t always_fit = 8;  // one on each multiprocessor of the smallest device
    if (waiting_.size() < always_fit) return false;
    if (!residency_) residency_ = rules_.residency();
    return waiting_.size() + cluster_blocks_ >
           std::max<std::uint64_t>(residency_->blocks(), cluster_blocks_);
  }

  Cluster* cluster_of_next() {
    if (cluster_blocks_ == 1) return nullptr;
    if (begun_++ % cluster_blocks_ == 0) clusters_.emplace_back(cluster_blocks_);
    return &clusters_.back().cluster;
  }

  /// Its memory stays until all of its cluster have ended.
  void end(Worker* worker) {
    if (cluster_blocks_ == 1) return idle_.push_back(worker);
    for (auto one = clusters_.begin(); one != clusters_.end(); ++one) {
      if (&one->cluster != worker->cluster()) continue;
      one->cluster.end(worker->rank());
      one->ended.push_back(worker);
      if (one->ended.size() < cluster_blocks_) return;
      idle_.insert(idle_.end(), one->ended.begin(), one->ended.end());
      clusters_.erase(one);
      return;
    }
  }

  Worker* idle_worker() {
    if (idle_.empty()) {
      workers_.push_back(new_worker_());
      return workers_.back().get();
    }
    Worker* worker = idle_.back();
    idle_.pop_back();
    return worker;
  }

  void give_up(TrapKind kind) {
    Worker* first =
        *std::min_element(waiting_.begin(), waiting_.end(),
                          [](const Worker* a, const Worker* b) { return a->block() < b->block(); });
    first->give_up(kind);
    BlockTrap trap = first->trap();
    if (is_full()) {
      trap.not_begun = blocks_.count() - blocks_.begun();
      trap.resident = residency_->blocks();
    }
    blocks_.trapped(trap);
  }

  const std::function<std::unique_ptr<Worker>()>& new_worker_;
  std::vector<std::unique_ptr<Worker>>& workers_;
  Blocks& blocks_;
  struct Begun {
    explicit Begun(std::uint32_t blocks) : cluster(blocks) {}
    Cluster cluster;
    std::vector<Worker*> ended;
  };
  const TurnRules& rules_;
  const std::uint32_t cluster_blocks_;
  std::optional<Residency> residency_;  ///< once it matters
  std::uint64_t begun_ = 0;             ///< blocks
  std::list<Begun> clusters_;           ///< the clusters of which some block has not ended
  std::deque<Worker*> waiting_;
  std::vector<Worker*> idle_;
  std::size_t still_ = 0;             ///< turns in a row in which a block did nothing new
  bool has_gone_on_ = true;           ///< a block, since others were waited for
  std::set<std::uint64_t> loaded_;    ///< global memory, by blocks that are still
  bool only_ask_ = false;             ///< blocks, in all of these
  std::uint64_t since_last_end_ = 0;  ///< instructions since a block ended
  std::uint64_t let_go_at_ = 0;       ///< the same when others had their turn
};

}  // namespace

void run_in_turns(const std::function<std::unique_ptr<Worker>()>& new_worker,
                  std::vector<std::unique_ptr<Worker>>& workers, Blocks& blocks,
                  const TurnRules& rules, const LaunchOptions& options) {
  TurnTaking(new_worker, workers, blocks, rules).run(options);
}

}  // namespace warpmeter::model
