// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/judge.h"

#include <algorithm>
#include <utility>

namespace warpmeter::model::sass {
namespace {

constexpr std::string_view not_found =
    "counted at PTX level: no machine instruction was found for this access";
constexpr std::string_view other_widths =
    "counted at PTX level: the machine code has accesses of other widths";
constexpr std::string_view other_loops =
    "counted at PTX level: the machine code has other loops around this access";
constexpr std::string_view behind_branch =
    "counted at PTX level: the machine code executes this access only where a branch behind it "
    "leads";
constexpr std::string_view early_copy =
    "counted at PTX level: the machine code has a copy of this access for lanes whose loop ends "
    "with its first round";
constexpr std::string_view shared_rounds =
    "counted at PTX level: the machine code leaves this access out of some rounds of its loop";
constexpr std::string_view several_on_line =
    "counted at PTX level: several accesses stand on one line of the PTX";
constexpr std::string_view unknown_jumps =
    "counted at PTX level: the machine code jumps to places that are not known";

}  // namespace

Judge::Judge(const FunctionAccesses& function, const MachineCode& code,
             const std::map<int, std::vector<const MachineAccess*>>& on_line)
    : function_(function), code_(code), on_line_(on_line) {
  for (const PtxAccess& access : function_.accesses()) found_.push_back(machine_of(access));
  verdicts_.resize(found_.size());
}

std::vector<Verdict> Judge::judge() {
  share_out();
  for (std::size_t i = 0; i < found_.size(); ++i) judge_alone(i);
  judge_groups();
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (is_open(i) && needs_none(i)) verdicts_[i].requests.emplace();
  }
  find_rounds();
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const PtxAccess& access = function_.accesses()[i];
    if (is_open(i)) verdicts_[i].doubt = found_[i].empty() ? not_found : other_widths;
    // Each lane that copies in bulk is a request, whichever lanes come together and in what loops.
    if (access.carrier == Carrier::bulk) continue;
    if (verdicts_[i].doubt.empty()) verdicts_[i].doubt = doubt_of_flow(i);
    if (verdicts_[i].doubt.empty()) verdicts_[i].together = together(i);
    if (access.shares_line) verdicts_[i].doubt = several_on_line;
    verdicts_[i].counts_left_out =
        std::any_of(found_[i].begin(), found_[i].end(), [](const MachineAccess* machine) {
          return machine->instruction.bypasses_l1 && machine->instruction.is_guarded;
        });
  }
  return std::move(verdicts_);
}

Judge::Machine Judge::machine_of(const PtxAccess& access) const {
  Machine result;
  const auto found = on_line_.find(access.line);
  if (found == on_line_.end()) return result;
  for (const MachineAccess* machine : found->second) {
    const Instruction& instruction = machine->instruction;
    if (same_kind(*instruction.access, access.kind) && instruction.carrier == access.carrier &&
        same_space(instruction.space, access.space)) {
      result.push_back(machine);
    }
  }
  return result;
}

bool Judge::needs_none(std::size_t i) const {
  return found_[i].empty() && (!function_.accesses()[i].is_used || function_.has_value_already(i));
}

bool Judge::is_open(std::size_t i) const {
  return !verdicts_[i].requests && verdicts_[i].doubt.empty();
}

bool Judge::have_width(const Machine& machine, unsigned width) {
  return std::all_of(machine.begin(), machine.end(),
                     [&](const auto* access) { return access->instruction.width == width; });
}

void Judge::judge_alone(std::size_t i) {
  const PtxAccess& access = function_.accesses()[i];
  const Machine& machine = found_[i];
  Verdict& verdict = verdicts_[i];
  verdict.kind = access.kind;
  if (machine.empty()) return;
  if (access.pieces > 0) return judge_fragment(i);
  if (is_atomic(access.kind) && access.carrier == Carrier::registers) return judge_atomic(i);
  if (have_width(machine, access.width) || have_width(machine, 0)) {
    verdict.requests = {{{0, access.width, false, false}}};
  } else if (have_width(machine, machine[0]->instruction.width) &&
             machine[0]->instruction.width < access.width && access.parts == 1) {
    verdict.requests = {{{0, machine[0]->instruction.width, false, false}}};
  } else if (access.parts > 1) {
    judge_parts(i);
  }
}

void Judge::judge_fragment(std::size_t i) {
  const PtxAccess& access = function_.accesses()[i];
  const bool is_whole = found_[i].size() % access.pieces == 0;
  if (is_whole && have_width(found_[i], access.carrier == Carrier::matrix ? 0 : access.width)) {
    verdicts_[i].requests = {{{0, access.width, false, false}}};
  }
}

void Judge::judge_parts(std::size_t i) {
  const PtxAccess& access = function_.accesses()[i];
  const unsigned part = access.width / access.parts;
  std::vector<Request> pieces;
  for (unsigned first = 0; first < access.parts;) {
    if ((access.live_parts >> first & 1) == 0) {
      ++first;
      continue;
    }
    unsigned count = 1;
    while (first % (2 * count) == 0 && first + 2 * count <= access.parts &&
           (~access.live_parts >> first & ((1u << 2 * count) - 1)) == 0) {
      count *= 2;
    }
    pieces.push_back({static_cast<std::int8_t>(first * part),
                      static_cast<std::uint8_t>(count * part), false, false});
    first += count;
  }
  std::map<unsigned, std::size_t> wanted, found;
  for (const Request& piece : pieces) ++wanted[piece.width];
  for (const MachineAccess* machine : found_[i]) ++found[machine->instruction.width];
  if (pieces.empty() || found_[i].size() % pieces.size() != 0) return;
  const std::size_t copies = found_[i].size() / pieces.size();
  for (auto& [width, count] : wanted) count *= copies;
  if (wanted == found) verdicts_[i].requests = std::move(pieces);
}

void Judge::judge_atomic(std::size_t i) {
  const PtxAccess& access = function_.accesses()[i];
  Verdict& verdict = verdicts_[i];
  bool all_reduce = true;
  for (const MachineAccess* machine : found_[i]) {
    const Instruction& instruction = machine->instruction;
    verdict.retries |= instruction.is_compare_and_swap && !access.is_compare_and_swap;
    verdict.counts_lanes |= instruction.counts_lanes;
    all_reduce &= instruction.access == AccessKind::reduction;
  }
  if (access.space == AddressSpace::global) {
    verdict.kind = all_reduce ? AccessKind::reduction : AccessKind::atomic;
  }
  const bool elects = code_.electing_lines.contains(access.line);
  verdict.requests = {{{0, access.width, false, elects}}};
}

std::string_view Judge::doubt_of_flow(std::size_t i) const {
  const Machine& machine = found_[i];
  if (machine.empty()) return {};
  const FlowGraph& graph = *code_.graph;
  if (code_.jumps_anywhere) return unknown_jumps;
  if (!graph.has_plain_loops() || !function_.graph().has_plain_loops()) return other_loops;
  // The last rounds of an unrolled loop stand behind it. The code of a function may stand within
  // its caller's loops.
  const unsigned depth = function_.graph().depth(function_.block_of(i));
  unsigned deepest = 0;
  for (const MachineAccess* access : machine) {
    deepest = std::max(deepest, graph.depth(access->block));
  }
  const bool is_same = deepest == depth || (deepest > depth && !function_.is_entry());
  if (!is_same && !verdicts_[i].retries) return other_loops;
  if (is_moved_behind_branch(i) || is_for_some_lanes(i)) return behind_branch;
  if (is_left_out_of_rounds(i)) return shared_rounds;
  return has_early_copy(i) ? early_copy : std::string_view();
}

/// How many machine instructions do it where there are no copies.
std::size_t Judge::times_once(std::size_t i) const {
  return std::max<std::size_t>(function_.accesses()[i].pieces, 1) * verdicts_[i].requests->size();
}

bool Judge::is_in_loop(std::size_t i) const {
  const PtxAccess& access = function_.accesses()[i];
  return (access.kind == AccessKind::load || access.kind == AccessKind::store) &&
         access.carrier == Carrier::registers && verdicts_[i].requests &&
         !verdicts_[i].requests->empty() && function_.graph().depth(function_.block_of(i)) > 0;
}

std::size_t Judge::copies_in_loops(std::size_t i) const {
  const FlowGraph& graph = *code_.graph;
  unsigned deepest = 0;
  for (const MachineAccess* access : found_[i]) {
    deepest = std::max(deepest, graph.depth(access->block));
  }
  const auto count = std::count_if(found_[i].begin(), found_[i].end(), [&](const auto* access) {
    return graph.depth(access->block) == deepest;
  });
  return static_cast<std::size_t>(count) / times_once(i);
}

void Judge::find_rounds() {
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (!is_in_loop(i)) continue;
    Rounds& rounds = rounds_[function_.block_of(i)];
    const std::size_t copies = copies_in_loops(i);
    rounds.most_copies = std::max(rounds.most_copies, copies);
    if (!function_.accesses()[i].repeats_address) rounds.copies_of_moving.insert(copies);
  }
}

bool Judge::is_left_out_of_rounds(std::size_t i) const {
  if (!is_in_loop(i)) return false;
  const Rounds& rounds = rounds_.at(function_.block_of(i));
  const std::size_t copies = copies_in_loops(i);
  if (rounds.most_copies > copies) return true;
  const PtxAccess& access = function_.accesses()[i];
  if (access.kind != AccessKind::store || !access.repeats_address) return false;
  // One store is left for all rounds of the loop, and copies for its last rounds behind it.
  const bool may_be_one_of_many = copies == 1 && found_[i].size() > times_once(i);
  return may_be_one_of_many && !rounds.copies_of_moving.contains(copies) &&
         !function_.is_seen_each_round(i);
}

bool Judge::is_for_some_lanes(std::size_t i) const {
  const Machine& machine = found_[i];
  const bool is_guarded = std::all_of(machine.begin(), machine.end(), [](const auto* access) {
    return access->instruction.is_guarded;
  });
  const bool is_elected = code_.electing_lines.contains(function_.accesses()[i].line);
  if (!is_guarded || is_elected || machine.size() != times_once(i)) return false;
  // A branch that is none in the machine code may be its guard there.
  const std::vector<int> deciders = function_.deciders_of(i);
  return std::all_of(deciders.begin(), deciders.end(), [&](int line) {
    return std::any_of(code_.branches.begin(), code_.branches.end(),
                       [&](const MachineBranch& branch) { return branch.line == line; });
  });
}

bool Judge::has_early_copy(std::size_t i) const {
  const Machine& machine = found_[i];
  if (machine.size() == times_once(i)) return false;
  const FlowGraph& graph = *code_.graph;
  return std::any_of(machine.begin(), machine.end(), [&](const auto* early) {
    if (!early->instruction.is_guarded) return false;
    return std::all_of(machine.begin(), machine.end(), [&](const auto* other) {
      if (other == early) return true;
      return !other->instruction.is_guarded && graph.leads_to(early->block, other->block) &&
             !graph.leads_to(other->block, early->block);
    });
  });
}

bool Judge::is_moved_behind_branch(std::size_t i) const {
  const FlowGraph& graph = *code_.graph;
  const auto behind = function_.branches_behind(i);
  const Machine& machine = found_[i];
  return std::any_of(code_.branches.begin(), code_.branches.end(), [&](const MachineBranch& b) {
    const auto branch = behind.find(b.line);
    if (branch == behind.end()) return false;
    // A branch out of a loop also leads to its next round, whose access may have been begun.
    const bool is_begun = std::any_of(machine.begin(), machine.end(), [&](const auto* access) {
      return graph.leads_to(access->block, b.block);
    });
    if (branch->second && is_begun) return false;
    const auto leads_to_it = [&](Node successor) {
      return graph.leads_to(b.block, successor) &&  // not the next round
             std::any_of(machine.begin(), machine.end(), [&](const auto* access) {
               return graph.leads_to(successor, access->block);
             });
    };
    const auto ways = std::count_if(b.successors.begin(), b.successors.end(), leads_to_it);
    return ways == 1;
  });
}

std::vector<int> Judge::together(std::size_t i) const {
  if (code_.meets_elsewhere) return function_.branches_before(i);
  if (found_[i].empty() || found_[i].size() == times_once(i)) return {};
  std::vector<int> lines = function_.exits_around(i);
  std::vector<Node> blocks;
  for (const MachineAccess* access : found_[i]) blocks.push_back(access->block);
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  const FlowGraph& graph = *code_.graph;
  bool in_turn = true;
  for (std::size_t a = 0; a < blocks.size() && in_turn; ++a) {
    for (std::size_t b = a + 1; b < blocks.size() && in_turn; ++b) {
      in_turn = graph.leads_to(blocks[a], blocks[b]) || graph.leads_to(blocks[b], blocks[a]);
    }
  }
  if (!in_turn) {
    const std::vector<int> before = function_.branches_before(i);
    lines.insert(lines.end(), before.begin(), before.end());
  }
  return lines;
}

}  // namespace warpmeter::model::sass
