// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/asking_loops.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "collector/model/ptx/flow/loops.h"

namespace warpmeter::model::ptx {
namespace {

/// The blocks of a loop, past which each of its registers is taken to decide.
constexpr std::size_t most_blocks = 1024;

bool asks(const Instruction& instruction) {
  const Row& row = instruction.row();
  return row.effects.memory == Memory::atomic || row.execution == Execution::mbarrier ||
         row.execution == Execution::cluster_wait ||
         (row.effects.memory == Memory::load && instruction.is_strong());
}

/// True if it does more than to compute registers, so that all that it reads decides.
bool acts(const Instruction& instruction) {
  if (computes(instruction.row())) return false;
  switch (instruction.row().execution) {
    case Execution::policy:
    case Execution::fence:
    case Execution::branch:
    case Execution::indexed_branch:
    case Execution::nothing:
      return false;
    default:
      return true;
  }
}

/// True if it changes memory in a way that nobody notes while it runs.
bool stores(const Instruction& instruction) {
  const Row& row = instruction.row();
  const bool is_noted = row.effects.memory == Memory::atomic ||
                        row.execution == Execution::mbarrier || row.execution == Execution::load ||
                        row.execution == Execution::cluster_wait;
  return acts(instruction) && !is_noted;
}

class Slice {
 public:
  Slice(const Function& function, const ControlFlow& graph, const DataFlow& data, const Loop& loop)
      : function_(function),
        graph_(graph),
        data_(data),
        loop_(loop),
        is_inside_(graph.blocks.size(), false),
        acts_(graph.blocks.size(), false),
        decides_(data.registers().size(), false) {
    for (const std::size_t block : loop.members) is_inside_[block] = true;
  }

  std::vector<bool> decides() {
    for (const std::size_t block : loop_.members) {
      if (has_choice(block)) regions_.emplace_back(block, region_of(block));
    }
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (const std::size_t block : loop_.members) has_changed |= follow(block);
      for (const auto& [branch, region] : regions_) {
        const bool matters = !region || std::any_of(region->begin(), region->end(),
                                                    [&](std::size_t at) { return acts_[at]; });
        if (matters) has_changed |= take(graph_.blocks[branch].end - 1);
      }
    }
    return std::move(decides_);
  }

 private:
  /// True if it ends in a branch of which both sides stay in the loop.
  bool has_choice(std::size_t block) const {
    return graph_.blocks[block].successors.size() > 1 && !leaves(block);
  }

  bool leaves(std::size_t block) const {
    const auto& successors = graph_.blocks[block].successors;
    return graph_.blocks[block].leaves ||
           std::any_of(successors.begin(), successors.end(),
                       [&](std::size_t to) { return !is_inside_[to]; });
  }

  /// The blocks between a branch and the place where its sides meet; nullopt: they do not meet in
  /// the loop.
  std::optional<std::vector<std::size_t>> region_of(std::size_t branch) const {
    const std::size_t meeting = graph_.blocks[branch].meeting;
    if (meeting == nowhere || !is_inside_[meeting]) return std::nullopt;
    std::vector<std::size_t> region;
    std::vector<bool> is_seen(graph_.blocks.size(), false);
    const auto add_behind = [&](std::size_t block) {
      for (const std::size_t to : graph_.blocks[block].successors) {
        if (to == meeting || !is_inside_[to] || is_seen[to]) continue;
        is_seen[to] = true;
        region.push_back(to);
      }
    };
    add_behind(branch);
    for (std::size_t i = 0; i < region.size(); ++i) add_behind(region[i]);
    return region;
  }

  bool take(std::size_t instruction) {
    bool is_new = false;
    for (const RegisterId read : data_.reads(instruction)) {
      is_new |= !decides_[read];
      decides_[read] = true;
    }
    return is_new;
  }

  /// The instructions of a block, the last one first.
  bool follow(std::size_t number) {
    const Block& block = graph_.blocks[number];
    bool has_changed = false;
    for (std::size_t i = block.end; i-- > block.first;) {
      const auto writes = data_.writes(i);
      const bool matters =
          acts(function_.body[i]) || (i + 1 == block.end && leaves(number)) ||
          std::any_of(writes.begin(), writes.end(), [&](RegisterId id) { return decides_[id]; });
      if (!matters) continue;
      has_changed |= take(i) || !acts_[number];
      acts_[number] = true;
    }
    return has_changed;
  }

  const Function& function_;
  const ControlFlow& graph_;
  const DataFlow& data_;
  const Loop& loop_;
  std::vector<bool> is_inside_, acts_, decides_;
  std::vector<std::pair<std::size_t, std::optional<std::vector<std::size_t>>>> regions_;
};

template <class Predicate>
bool any_instruction(const Function& function, const ControlFlow& graph, const Loop& loop,
                     Predicate predicate) {
  return std::any_of(loop.members.begin(), loop.members.end(), [&](std::size_t number) {
    const Block& block = graph.blocks[number];
    const auto* const body = function.body.data();
    return std::any_of(body + block.first, body + block.end, predicate);
  });
}

}  // namespace

std::vector<AskingLoop> asking_loops(const Function& function, const ControlFlow& graph,
                                     const DataFlow& data) {
  std::vector<AskingLoop> found;
  if (std::none_of(function.body.begin(), function.body.end(), asks)) return found;
  Edges successors;
  for (const Block& block : graph.blocks) successors.push_back(block.successors);
  const std::vector<Loop> loops = natural_loops(successors, graph.order);
  std::vector<bool> is_taken(graph.blocks.size(), false);
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {  // the largest first
    if (is_taken[loop->header]) continue;
    for (const std::size_t block : loop->members) is_taken[block] = true;
    if (loop->members.size() > most_blocks || !any_instruction(function, graph, *loop, asks)) {
      continue;
    }
    found.push_back({loop->members, Slice(function, graph, data, *loop).decides(),
                     !any_instruction(function, graph, *loop, stores)});
  }
  return found;
}

}  // namespace warpmeter::model::ptx
