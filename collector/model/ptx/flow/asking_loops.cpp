// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/asking_loops.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

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

/// True if it asks, and changes nothing but what the answer of an atomic shows.
bool only_asks(const Instruction& instruction) {
  const Row& row = instruction.row();
  if (row.effects.memory == Memory::atomic) return true;
  if (row.effects.memory == Memory::load) return instruction.is_strong();
  return instruction.opcode == Opcode::mbarrier_test_wait ||
         instruction.opcode == Opcode::mbarrier_try_wait;
}

bool reads_time(const Instruction& instruction) {
  return std::any_of(
      instruction.operands.begin(), instruction.operands.end(),
      [](const Operand& operand) { return operand.has_special_of(DecidedBy::clock); });
}

class Slice {
 public:
  /// `loops`: all of the function, inner ones first.
  Slice(const Function& function, const ControlFlow& graph, const DataFlow& data,
        const std::vector<Loop>& loops, const Loop& loop)
      : function_(function),
        graph_(graph),
        data_(data),
        loops_(loops),
        loop_(loop),
        is_inside_(graph.blocks.size(), false),
        acts_(graph.blocks.size(), false),
        decides_(data.registers().size(), false),
        written_(data.registers().size()) {
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      for (const RegisterId written : data.writes(i)) ++written_[written];
    }
    for (const std::size_t block : loop.members) is_inside_[block] = true;
    is_timed_ = computed_from(reads_time);
  }

  std::vector<bool> decides() {
    for (const std::size_t block : loop_.members) {
      if (!has_choice(block)) continue;
      if (any(reads(graph_.blocks[block].end - 1), is_timed_)) {
        timed_.push_back({block, loop_around(block)});
      } else {
        regions_.push_back({block, region_of(block)});
      }
    }
    do {
      follow_all();
    } while (has_taken_timed());
    return decides_;
  }

  /// The answers of barrier objects are left out: a thread may count on their phases.
  std::vector<bool> inputs() const {
    return computed_from([](const Instruction& instruction) {
      const Row& row = instruction.row();
      const bool is_memory =
          row.effects.memory == Memory::load || row.effects.memory == Memory::atomic;
      return reads_time(instruction) || (is_memory && row.execution != Execution::mbarrier);
    });
  }

 private:
  /// A branch, and the blocks between it and the place where its sides meet; nullopt: they do not
  /// meet in the loop.
  struct Choice {
    std::size_t branch = 0;
    std::optional<std::vector<std::size_t>> region;
  };

  /// A branch by the time, and the blocks of the loop around it.
  struct Timed {
    std::size_t branch = 0;
    std::vector<std::size_t> loop;
  };

  static bool any(std::span<const RegisterId> registers, const std::vector<bool>& of) {
    return std::any_of(registers.begin(), registers.end(), [&](RegisterId id) { return of[id]; });
  }

  static std::vector<std::size_t> in_order(std::vector<std::size_t> blocks) {
    std::sort(blocks.begin(), blocks.end());
    return blocks;
  }

  /// The blocks of the smallest loop in which both sides of the branch stay.
  std::vector<std::size_t> loop_around(std::size_t branch) const {
    const auto has = [](const Loop& loop, std::size_t block) {
      return std::find(loop.members.begin(), loop.members.end(), block) != loop.members.end();
    };
    const auto& sides = graph_.blocks[branch].successors;
    for (const Loop& loop : loops_) {
      const bool stay =
          has(loop, branch) &&
          std::all_of(sides.begin(), sides.end(), [&](auto side) { return has(loop, side); });
      if (stay) return in_order(loop.members);
    }
    return in_order(loop_.members);
  }

  template <class Visit>
  void for_each_instruction(const std::vector<std::size_t>& blocks, Visit visit) const {
    for (const std::size_t number : blocks) {
      for (std::size_t i = graph_.blocks[number].first; i < graph_.blocks[number].end; ++i)
        visit(i);
    }
  }

  /// The registers that an instruction reads, but for the time for which a wait may be suspended:
  /// that decides how often it asks.
  std::vector<RegisterId> reads(std::size_t i) const {
    const auto all = data_.reads(i);
    std::vector<RegisterId> read(all.begin(), all.end());
    const Instruction& instruction = function_.body[i];
    constexpr std::size_t limit = 3;  // behind the answer, the object and its phase
    if (instruction.opcode == Opcode::mbarrier_try_wait && instruction.operands.size() > limit) {
      std::erase(read, data_.find(instruction.operands[limit].name));
    }
    return read;
  }

  /// The registers that such instructions write, and all that are computed from them.
  template <class Predicate>
  std::vector<bool> computed_from(Predicate is_source) const {
    std::vector<bool> marked(decides_.size(), false);
    for (bool has_changed = true; std::exchange(has_changed, false);) {
      for_each_instruction(loop_.members, [&](std::size_t i) {
        if (!is_source(function_.body[i]) && !any(reads(i), marked)) return;
        for (const RegisterId written : data_.writes(i)) {
          has_changed |= !marked[written];
          marked[written] = true;
        }
      });
    }
    return marked;
  }

  void follow_all() {
    for (bool has_changed = true; std::exchange(has_changed, false);) {
      for (const std::size_t block : loop_.members) has_changed |= follow(block);
      for (const auto& [branch, region] : regions_) {
        const bool matters = !region || std::any_of(region->begin(), region->end(),
                                                    [&](std::size_t at) { return acts_[at]; });
        if (matters) has_changed |= take(graph_.blocks[branch].end - 1);
      }
    }
  }

  /// A branch by the time counts as any other if the loop around it does more than ask; else what
  /// it asks beside the time decides. True if some more registers decide now.
  bool has_taken_timed() {
    bool has_changed = false;
    for (auto choice = timed_.begin(); choice != timed_.end();) {
      if (only_asks_in(choice->loop)) {
        has_changed |= take_beside_time(graph_.blocks[choice->branch].end - 1);
        ++choice;
        continue;
      }
      regions_.push_back({choice->branch, region_of(choice->branch)});
      choice = timed_.erase(choice);
      has_changed = true;
    }
    return has_changed;
  }

  /// True if nothing there acts but to ask, and each register there that decides is the same
  /// whenever it is written, as long as memory is: it comes from answers and from what was known
  /// before. A register without an answer in it must have no other value in front of the loop.
  bool only_asks_in(const std::vector<std::size_t>& loop) const {
    std::vector<bool> is_same(decides_.size(), true), is_answer(decides_.size(), false);
    for_each_instruction(loop, [&](std::size_t i) {
      for (const RegisterId written : data_.writes(i)) is_same[written] = false;
    });
    bool is_pure = true;
    for_each_instruction(loop, [&](std::size_t i) {
      const auto read = reads(i);
      const bool has_answer = only_asks(function_.body[i]) || any(read, is_answer);
      const bool is_known =
          std::all_of(read.begin(), read.end(), [&](RegisterId id) { return is_same[id]; });
      for (const RegisterId written : data_.writes(i)) {
        is_answer[written] = has_answer && is_known;
        is_same[written] = is_known && (has_answer || written_[written] == 1);
        is_pure &= is_same[written] || !decides_[written];
      }
      is_pure &= !acts(function_.body[i]) || only_asks(function_.body[i]);
      const bool is_atomic = function_.body[i].row().effects.memory == Memory::atomic;
      is_pure &= !is_atomic || any(data_.writes(i), decides_);
    });
    return is_pure;
  }

  /// Goes back from a branch by the time: whatever it depends on that tells no time decides.
  bool take_beside_time(std::size_t branch) {
    bool has_changed = false;
    std::vector<bool> is_seen(decides_.size(), false);
    const auto take_reads = [&](std::size_t i) {
      bool is_new = false;
      for (const RegisterId read : reads(i)) {
        std::vector<bool>& marks = is_timed_[read] ? is_seen : decides_;
        is_new |= !marks[read];
        has_changed |= !marks[read] && !is_timed_[read];
        marks[read] = true;
      }
      return is_new;
    };
    for (bool is_new = take_reads(branch); std::exchange(is_new, false);) {
      for_each_instruction(loop_.members, [&](std::size_t i) {
        if (any(data_.writes(i), is_seen)) is_new |= take_reads(i);
      });
    }
    return has_changed;
  }

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
    for (const RegisterId read : reads(instruction)) {
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
  const std::vector<Loop>& loops_;
  const Loop& loop_;
  std::vector<bool> is_inside_, acts_, decides_;
  std::vector<bool> is_timed_;     ///< by register: it tells the time
  std::vector<unsigned> written_;  ///< by register: how many instructions write it
  std::vector<Choice> regions_;
  std::vector<Timed> timed_;
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
  const std::vector<Loop> loops = loops_of(graph);
  std::vector<bool> is_taken(graph.blocks.size(), false);
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {  // the largest first
    if (is_taken[loop->header]) continue;
    for (const std::size_t block : loop->members) is_taken[block] = true;
    if (loop->members.size() > most_blocks || !any_instruction(function, graph, *loop, asks)) {
      continue;
    }
    Slice slice(function, graph, data, loops, *loop);
    std::vector<bool> inputs = slice.inputs();
    found.push_back({loop->members, slice.decides(), std::move(inputs),
                     any_instruction(function, graph, *loop, stores)});
  }
  return found;
}

}  // namespace warpmeter::model::ptx
