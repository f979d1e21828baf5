// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/slots.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace warpmeter::model::ptx {
namespace {

constexpr RegisterId no_register = static_cast<RegisterId>(-1);

/// Blocks looked at in the search for live ranges of one function. Compiled code needs a
/// thousandth; past it, registers count as live everywhere.
constexpr std::size_t most_slot_steps = std::size_t{1} << 25;

class Liveness {
 public:
  Liveness(const DataFlow& data, const ControlFlow& graph)
      : data_(data),
        graph_(graph),
        intervals_(data.registers().size()),
        needed_in_(data.registers().size()),
        settled_in_(data.registers().size()),
        visited_(graph.blocks.size(), no_register),
        settles_(graph.blocks.size(), no_register) {}

  std::vector<Interval> find() {
    scan_blocks();
    for (RegisterId id = 0; id < intervals_.size(); ++id) walk_back(id);
    return std::move(intervals_);
  }

 private:
  void include(RegisterId id, std::size_t instruction) {
    intervals_[id].first = std::min(intervals_[id].first, instruction);
    intervals_[id].last = std::max(intervals_[id].last, instruction);
  }

  /// Notes for each register the blocks that need its value from before, and those that settle it:
  /// after a write without a guard nothing from before matters.
  void scan_blocks() {
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
      for (std::size_t i = graph_.blocks[b].first; i < graph_.blocks[b].end; ++i) {
        const auto reads = data_.reads(i);
        for (const RegisterId id : reads) {
          include(id, i);
          if (ends_with(settled_in_[id], b) || ends_with(needed_in_[id], b)) continue;
          needed_in_[id].push_back(b);
        }
        for (const RegisterId id : data_.writes(i)) {
          include(id, i);
          // A guarded write is among the reads as well, and settles nothing.
          const bool keeps_old = std::binary_search(reads.begin(), reads.end(), id);
          if (!keeps_old && !ends_with(settled_in_[id], b)) settled_in_[id].push_back(b);
        }
      }
    }
  }

  static bool ends_with(const std::vector<std::size_t>& blocks, std::size_t block) {
    return !blocks.empty() && blocks.back() == block;
  }

  /// From every block that needs the register, back to those that settle it.
  void walk_back(RegisterId id) {
    for (const std::size_t block : settled_in_[id]) settles_[block] = id;
    std::vector<std::size_t> work;
    const auto need = [&](std::size_t block) {
      if (visited_[block] == id) return;
      visited_[block] = id;
      work.push_back(block);
    };
    for (const std::size_t block : needed_in_[id]) need(block);
    while (!work.empty()) {
      const Block& block = graph_.blocks[work.back()];
      work.pop_back();
      include(id, block.first);
      steps_ += block.predecessors.size() + 1;
      if (steps_ > most_slot_steps) {
        include(id, 0);
        include(id, graph_.block_of.size() - 1);
        return;
      }
      for (const std::size_t predecessor : block.predecessors) {
        include(id, graph_.blocks[predecessor].end - 1);
        if (settles_[predecessor] != id) need(predecessor);
      }
    }
  }

  const DataFlow& data_;
  const ControlFlow& graph_;
  std::vector<Interval> intervals_;
  std::vector<std::vector<std::size_t>> needed_in_, settled_in_;  ///< blocks, by register
  /// By block: the last register that was found to be needed, or is settled, there.
  std::vector<RegisterId> visited_, settles_;
  std::size_t steps_ = 0;
};

}  // namespace

std::vector<Interval> live_intervals(const DataFlow& data, const ControlFlow& graph) {
  return Liveness(data, graph).find();
}

Slots allocate(const DataFlow& data, const ControlFlow& graph) {
  using Ending = std::pair<std::size_t, std::uint32_t>;  // last instruction, slot
  struct Pool {
    std::priority_queue<Ending, std::vector<Ending>, std::greater<>> taken;
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
  };
  const std::vector<Interval> intervals = live_intervals(data, graph);
  std::vector<RegisterId> by_start(intervals.size());
  std::iota(by_start.begin(), by_start.end(), 0u);
  std::stable_sort(by_start.begin(), by_start.end(), [&](RegisterId a, RegisterId b) {
    return intervals[a].first < intervals[b].first;
  });
  Slots slots;
  slots.slot.resize(intervals.size());
  // Narrow registers have words of their own: their lanes lie closer together, so that a lane of a
  // word would change others' lanes of a narrow one in the same slot.
  std::array<Pool, width_count> pools;
  Pool narrow;
  for (const RegisterId id : by_start) {
    const auto width = static_cast<std::size_t>(data.registers()[id].width);
    const bool is_narrow =
        data.registers()[id].width == Width::word && info_of(data.registers()[id].type).bits < 32;
    Pool& pool = is_narrow ? narrow : pools[width];
    while (!pool.taken.empty() && pool.taken.top().first < intervals[id].first) {
      pool.free.push(pool.taken.top().second);
      pool.taken.pop();
    }
    if (pool.free.empty()) pool.free.push(slots.count[width]++);
    slots.slot[id] = pool.free.top();
    pool.free.pop();
    pool.taken.emplace(intervals[id].last, slots.slot[id]);
  }
  return slots;
}

}  // namespace warpmeter::model::ptx
