// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/control_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "collector/model/ptx/flow/loops.h"
#include "collector/model/ptx/row.h"

namespace warpmeter::model::ptx {
namespace {

/// Where an instruction may go instead of to the next one.
struct Jump {
  std::vector<std::size_t> targets;  ///< instruction numbers; the body's size for its end
  bool leaves = false;
  bool goes_on = true;  ///< to the next instruction as well
};

Diagnostic unknown_label(const Instruction& instruction, std::string_view name,
                         const Function& function) {
  return {instruction.line, 0,
          fmt::format("'{}' goes to '{}', which is no label of function '{}'", instruction.text,
                      name.substr(0, 60), function.name.substr(0, 60))};
}

std::string_view name_at(const Instruction& instruction, std::size_t position) {
  if (position >= instruction.operands.size()) return {};
  return instruction.operands[position].name;
}

std::optional<Diagnostic> add_target(Jump& jump, const Function& function,
                                     const Instruction& instruction, std::string_view name) {
  const auto label = function.labels.find(name);
  if (label == function.labels.end()) return unknown_label(instruction, name, function);
  jump.targets.push_back(label->second);
  return std::nullopt;
}

/// The jump of `instruction`; nothing when it simply goes on.
std::variant<std::optional<Jump>, Diagnostic> jump_of(const Function& function,
                                                      const Instruction& instruction) {
  const Flow flow = instruction.row().effects.flow;
  if (flow == Flow::next || flow == Flow::call) return std::nullopt;
  Jump jump;
  jump.goes_on = instruction.guard.has_value();
  if (flow == Flow::branch) {
    if (auto problem = add_target(jump, function, instruction, name_at(instruction, 0))) {
      return std::move(*problem);
    }
  } else if (flow == Flow::indexed_branch) {
    const auto list = function.target_lists.find(name_at(instruction, 1));
    if (list == function.target_lists.end()) {
      return unknown_label(instruction, name_at(instruction, 1), function);
    }
    for (const std::string_view target : list->second) {
      if (auto problem = add_target(jump, function, instruction, target)) {
        return *std::move(problem);
      }
    }
  } else {
    jump.leaves = true;
  }
  return jump;
}

/// Cuts the body at targets and after jumps, and joins the pieces.
class GraphBuilder {
 public:
  explicit GraphBuilder(const Function& function) : function_(function) {}

  std::optional<Diagnostic> build(ControlFlow& graph) {
    const std::size_t size = function_.body.size();
    jumps_.resize(size);
    std::vector<bool> starts(size + 1, false);
    if (size > 0) starts[0] = true;
    for (std::size_t i = 0; i < size; ++i) {
      auto jump = jump_of(function_, function_.body[i]);
      if (auto* problem = std::get_if<Diagnostic>(&jump)) return *problem;
      jumps_[i] = std::get<0>(std::move(jump));
      if (!jumps_[i]) continue;
      starts[i + 1] = true;
      for (const std::size_t target : jumps_[i]->targets) starts[target] = true;
    }
    graph.block_of.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      if (starts[i]) graph.blocks.emplace_back().first = i;
      graph.blocks.back().end = i + 1;
      graph.block_of[i] = graph.blocks.size() - 1;
    }
    for (std::size_t b = 0; b < graph.blocks.size(); ++b) join(graph, b);
    return std::nullopt;
  }

 private:
  void join(ControlFlow& graph, std::size_t number) {
    Block& block = graph.blocks[number];
    const std::optional<Jump>& jump = jumps_[block.end - 1];
    if (!jump || jump->goes_on) add_edge(graph, number, block.end);
    if (jump) {
      for (const std::size_t target : jump->targets) add_edge(graph, number, target);
      block.leaves = block.leaves || jump->leaves;
    }
    std::sort(block.successors.begin(), block.successors.end());
    block.successors.erase(std::unique(block.successors.begin(), block.successors.end()),
                           block.successors.end());
    for (const std::size_t successor : block.successors) {
      graph.blocks[successor].predecessors.push_back(number);
    }
  }

  /// The edge from `block` to what starts at `instruction`: the end of the body is left.
  void add_edge(ControlFlow& graph, std::size_t block, std::size_t instruction) {
    if (instruction == function_.body.size()) {
      graph.blocks[block].leaves = true;
    } else {
      graph.blocks[block].successors.push_back(graph.block_of[instruction]);
    }
  }

  const Function& function_;
  std::vector<std::optional<Jump>> jumps_;
};

/// Marks what can be reached and puts it into reverse postorder, without recursion.
void find_order(ControlFlow& graph) {
  if (graph.blocks.empty()) return;
  std::vector<std::pair<std::size_t, std::size_t>> path = {{0, 0}};
  graph.blocks[0].is_reachable = true;
  while (!path.empty()) {
    auto& [block, next] = path.back();
    const std::vector<std::size_t>& successors = graph.blocks[block].successors;
    if (next == successors.size()) {
      graph.order.push_back(block);
      path.pop_back();
      continue;
    }
    const std::size_t successor = successors[next++];
    if (graph.blocks[successor].is_reachable) continue;
    graph.blocks[successor].is_reachable = true;
    path.emplace_back(successor, 0);
  }
  std::reverse(graph.order.begin(), graph.order.end());
}

/// Blocks looked at in the search for threads that end by themselves. Compiled code needs a
/// thousandth; past it, all branches are waited for.
constexpr std::size_t most_region_steps = std::size_t{1} << 22;

/// Post-dominators of the reachable blocks. Node blocks.size() stands for the end of the thread.
class Meetings {
 public:
  Meetings(const Function& function, ControlFlow& graph)
      : function_(function), graph_(graph), end_(graph.blocks.size()) {}

  void find() {
    make_edges();
    find_predecessors();
    if (function_.is_entry && drop_endings()) find_predecessors();
    leave_endless_loops();
    const std::vector<std::size_t> dominator = post_dominators(successors_);
    for (const std::size_t block : graph_.order) {
      graph_.blocks[block].meeting = dominator[block] == end_ ? nowhere : dominator[block];
    }
    meet_in_loops();
  }

 private:
  /// True if a thread that enters `block` ends without doing anything else on the way.
  bool only_ends(std::size_t block) const {
    // A `bra.uni` alone in its block is followed, but not for ever: it may go round in a circle.
    for (int hops = 0; hops < 4; ++hops) {
      const Block& at = graph_.blocks[block];
      const Instruction& first = function_.body[at.first];
      const Flow flow = first.row().effects.flow;
      if (at.end - at.first != 1 || first.guard) return false;
      if (flow == Flow::leave || flow == Flow::finish) return true;
      if (flow != Flow::branch || at.successors.size() != 1) return false;
      block = at.successors[0];
    }
    return false;
  }

  /// Successors with the paths that only end left out, unless nothing else remains.
  void make_edges() {
    successors_.resize(end_ + 1);
    only_ends_.resize(end_ + 1);
    for (const std::size_t number : graph_.order) only_ends_[number] = only_ends(number);
    for (const std::size_t number : graph_.order) {
      const Block& block = graph_.blocks[number];
      std::vector<std::size_t>& edges = successors_[number];
      if (function_.is_entry) {
        for (const std::size_t successor : block.successors) {
          if (!only_ends_[successor]) edges.push_back(successor);
        }
      }
      if (!edges.empty()) continue;
      edges = block.successors;
      if (block.leaves) edges.push_back(end_);
    }
  }

  void find_predecessors() {
    predecessors_.assign(end_ + 1, {});
    for (const std::size_t block : graph_.order) {
      for (const std::size_t successor : successors_[block]) {
        predecessors_[successor].push_back(block);
      }
    }
  }

  /// Drops branches from which the threads never come back to the others, where the others have
  /// another way: they are not to be waited for. Says whether there were any.
  bool drop_endings() {
    std::vector<std::vector<std::size_t>> kept(end_);
    bool found = false;
    for (const std::size_t block : graph_.order) {
      const std::vector<std::size_t>& successors = successors_[block];
      if (successors.size() < 2) continue;
      for (const std::size_t successor : successors) {
        const Region region = region_from(successor, block);
        if (region == Region::comes_back) {
          kept[block].clear();
          break;
        }
        if (region == Region::is_shared) kept[block].push_back(successor);
      }
      if (kept[block].size() == successors.size()) kept[block].clear();
      found = found || !kept[block].empty();
    }
    for (const std::size_t block : graph_.order) {
      if (!kept[block].empty()) successors_[block] = std::move(kept[block]);
    }
    return found;
  }

  /// The blocks that a thread can reach which goes from one block to another.
  enum class Region {
    comes_back,  ///< the first of the two is among them
    is_shared,   ///< threads come to them on other ways, too
    is_closed,
  };
  Region region_from(std::size_t first, std::size_t from) {
    if (steps_ > most_region_steps) return Region::is_shared;
    visited_.resize(end_ + 1);
    visited_[first] = ++visit_;
    std::vector<std::size_t> nodes = {first};
    for (std::size_t i = 0; i < nodes.size(); ++i, ++steps_) {
      for (const std::size_t successor : successors_[nodes[i]]) {
        if (successor == from) return Region::comes_back;
        // The end of the thread is nobody's in particular.
        if (successor == end_ || only_ends_[successor] || visited_[successor] == visit_) continue;
        visited_[successor] = visit_;
        nodes.push_back(successor);
      }
    }
    for (const std::size_t node : nodes) {
      for (const std::size_t predecessor : predecessors_[node]) {
        const bool is_the_way_in = node == first && predecessor == from;
        if (visited_[predecessor] != visit_ && !is_the_way_in) return Region::is_shared;
      }
    }
    return Region::is_closed;
  }

  /// Gives every block a path to the end: where a loop has none, from the last of its blocks. Only
  /// the last of several loops behind one another is endless: the others lead to it.
  void leave_endless_loops() {
    std::vector<bool> reaches(end_ + 1, false);
    mark(end_, predecessors_, reaches);
    for (const std::size_t block : graph_.order) {
      if (reaches[block]) continue;
      const std::size_t last = last_of_endless(block);
      successors_[last].push_back(end_);
      predecessors_[end_].push_back(last);
      mark(last, predecessors_, reaches);
    }
  }

  /// The last block of the loop in which a thread that comes to `block` stays in the end.
  std::size_t last_of_endless(std::size_t block) const {
    while (true) {
      std::vector<bool> is_ahead(end_ + 1, false), comes_here(end_ + 1, false);
      mark(block, successors_, is_ahead);
      mark(block, predecessors_, comes_here);
      std::size_t last = block, beyond = nowhere;
      for (const std::size_t other : graph_.order) {
        if (!is_ahead[other]) continue;
        last = other;
        if (!comes_here[other]) beyond = other;
      }
      if (beyond == nowhere) return last;
      block = beyond;
    }
  }

  /// Marks what can be come to from a node over `edges`, itself too.
  static void mark(std::size_t from, const Edges& edges, std::vector<bool>& marked) {
    std::vector<std::size_t> work = {from};
    marked[from] = true;
    while (!work.empty()) {
      const std::size_t node = work.back();
      work.pop_back();
      for (const std::size_t next : edges[node]) {
        if (marked[next]) continue;
        marked[next] = true;
        work.push_back(next);
      }
    }
  }

  /// Lets threads meet inside of the loops that others of them leave from there. Where a branch
  /// keeps both of its sides in a loop, the ways out of the loop do not count: those who take one
  /// stop being waited for.
  void meet_in_loops() {
    const std::vector<Loop> loops = natural_loops(successors_, graph_.order);
    std::vector<bool> is_settled(end_, false);
    std::vector<std::size_t> at_which(end_ + 1, nowhere);  ///< place among the loop's members
    for (const Loop& loop : loops) {
      for (std::size_t i = 0; i < loop.members.size(); ++i) at_which[loop.members[i]] = i;
      if (!jumps_out_of_a_table(loop, at_which)) settle(loop, at_which, is_settled);
      for (const std::size_t member : loop.members) at_which[member] = nowhere;
    }
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (graph_.blocks[loops[i].header].gathers) mark_exits(std::span(loops).subspan(i));
    }
  }

  /// Branches of more than two ways, and returns from functions, leave a loop as they do outside.
  bool jumps_out_of_a_table(const Loop& loop, const std::vector<std::size_t>& at_which) const {
    return std::any_of(loop.members.begin(), loop.members.end(), [&](std::size_t member) {
      const Block& block = graph_.blocks[member];
      if (block.leaves && !function_.is_entry) return true;
      const Flow flow = function_.body[block.end - 1].row().effects.flow;
      return flow == Flow::indexed_branch &&
             std::any_of(block.successors.begin(), block.successors.end(),
                         [&](std::size_t to) { return at_which[to] == nowhere; });
    });
  }

  /// The meeting places of the branches both of whose sides stay in `loop`, unless an inner loop
  /// has settled them.
  void settle(const Loop& loop, const std::vector<std::size_t>& at_which,
              std::vector<bool>& is_settled) {
    const std::size_t next_round = loop.members.size();
    Edges within(next_round + 1);
    for (std::size_t i = 0; i < next_round; ++i) {
      for (const std::size_t to : successors_[loop.members[i]]) {
        if (to == loop.header) {
          within[i].push_back(next_round);
        } else if (at_which[to] != nowhere) {
          within[i].push_back(at_which[to]);
        }
      }
      if (within[i].empty()) within[i].push_back(next_round);
    }
    const std::vector<std::size_t> dominator = post_dominators(within);
    for (std::size_t i = 0; i < next_round; ++i) {
      Block& block = graph_.blocks[loop.members[i]];
      if (within[i].size() < 2 || is_settled[loop.members[i]]) continue;
      is_settled[loop.members[i]] = true;
      const std::size_t meeting =
          dominator[i] == next_round ? loop.header : loop.members[dominator[i]];
      if (meeting == block.meeting) continue;
      block.meeting = meeting;
      graph_.blocks[loop.header].gathers = true;
    }
  }

  /// Marks the ways out of a loop in which threads meet, the first of `loops`: the ways out of it,
  /// and where those who take them meet. It is, among several places, the one in the innermost of
  /// the loops around it: the others are jumps out of those, too.
  void mark_exits(std::span<const Loop> loops) {
    const Loop& loop = loops[0];
    std::vector<bool> is_member = membership(loop);
    std::vector<std::size_t> meetings;
    for (const std::size_t member : loop.members) {
      Block& block = graph_.blocks[member];
      if (block.successors.size() != 2) continue;
      if (block.meeting != nowhere && is_member[block.meeting]) continue;
      for (const std::size_t to : block.successors) {
        if (is_member[to]) continue;
        block.exit = to;
        meetings.push_back(block.meeting);
      }
    }
    std::size_t& behind = graph_.blocks[loop.header].behind;
    for (const Loop& around : loops.subspan(1)) {
      is_member = membership(around);
      if (!is_member[loop.header]) continue;
      for (const std::size_t meeting : meetings) {
        if (meeting != nowhere && is_member[meeting]) behind = meeting;
      }
      if (behind != nowhere) return;
    }
    for (const std::size_t meeting : meetings) behind = std::min(behind, meeting);
  }

  std::vector<bool> membership(const Loop& loop) const {
    std::vector<bool> is_member(end_ + 1, false);
    for (const std::size_t member : loop.members) is_member[member] = true;
    return is_member;
  }

  const Function& function_;
  ControlFlow& graph_;
  const std::size_t end_;
  std::vector<std::vector<std::size_t>> successors_, predecessors_;
  std::vector<bool> only_ends_;         ///< blocks that do nothing but end the thread
  std::vector<std::uint32_t> visited_;  ///< by node: the visit that came to it last
  std::uint32_t visit_ = 0;
  std::size_t steps_ = 0;
};

}  // namespace

std::size_t ControlFlow::reconvergence(std::size_t instruction) const {
  return place(blocks[block_of[instruction]].meeting);
}

std::variant<ControlFlow, Diagnostic> control_flow(const Function& function) {
  ControlFlow graph;
  if (auto problem = GraphBuilder(function).build(graph)) return *std::move(problem);
  find_order(graph);
  Meetings(function, graph).find();
  return graph;
}

std::vector<Loop> loops_of(const ControlFlow& graph) {
  Edges successors;
  for (const Block& block : graph.blocks) successors.push_back(block.successors);
  return natural_loops(successors, graph.order);
}

}  // namespace warpmeter::model::ptx
