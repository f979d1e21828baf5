// SPDX-License-Identifier: MIT
#include "collector/model/machine/warp/parting.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "collector/model/machine/warp/exchange_operands.h"
#include "collector/model/machine/warp/lane_rows.h"

namespace warpmeter::model {
namespace {

/// A barrier at which lanes of a warp meet although each stands at one of its own.
bool is_met_apart(const Operation* op) { return (op->imm & barrier_is_unaligned) != 0; }

std::uint32_t value(const Warp& warp, std::uint16_t unit, std::uint32_t lanes) {
  return row_of<std::uint32_t>(warp, unit)[std::countr_zero(lanes)];
}

/// The lanes at an instruction that its guard lets take part.
std::uint32_t taking_part(const Warp& warp, const Operation* op, std::uint32_t lanes) {
  if (op->guard == no_guard) return lanes;
  const std::uint32_t bits = warp.predicates[op->guard >> 1];
  return ((op->guard & 1) != 0 ? ~bits : bits) & lanes;
}

}  // namespace

void count_up_to(Warp& warp, std::uint32_t instruction) {
  const std::uint32_t executed = instruction - warp.counted_from;
  const auto lanes = static_cast<unsigned>(std::popcount(warp.active));
  warp.warp_instructions += executed;
  warp.thread_instructions += std::uint64_t{executed} * lanes;
  if (warp.issues != nullptr) {
    ++warp.issues[warp.counted_from];
    --warp.issues[instruction];
    warp.issued_lanes[warp.counted_from] += lanes;
    warp.issued_lanes[instruction] -= lanes;
  }
  warp.counted_from = instruction;
}

void Parting::wait(Warp& warp) {
  count_up_to(warp, warp.pc->instruction);
  const std::uint32_t lanes = warp.active;
  Group group = {warp.pc, warp.reconverge, lanes, warp.counted_from, warp.alive & ~lanes, true, {}};
  for (Frame* frame = warp.stack; frame != warp.stack + warp.depth; ++frame) {
    if ((frame->mask & lanes) != 0) {
      group.stack.push_back(*frame);
      group.stack.back().mask &= lanes;
    }
    frame->mask &= ~lanes;
  }
  groups_.push_back(std::move(group));
}

bool Parting::go_on(Warp& warp) {
  while (warp.depth > 0) {
    const Frame& frame = warp.stack[--warp.depth];
    const std::uint32_t lanes = frame.mask & warp.alive;
    if (lanes == 0) continue;
    warp.active = lanes;
    warp.pc = frame.pc;
    warp.reconverge = frame.reconverge;
    warp.counted_from = frame.counted_from;
    warp.status = WarpStatus::yielded;
    return true;
  }
  const auto ready =
      std::find_if(groups_.begin(), groups_.end(), [](const Group& group) { return !group.waits; });
  if (ready == groups_.end()) return false;
  give(warp, *ready);
  groups_.erase(ready);
  return true;
}

void Parting::give(Warp& warp, const Group& group) {
  std::copy(group.stack.begin(), group.stack.end(), warp.stack);
  warp.depth = static_cast<std::uint32_t>(group.stack.size());
  warp.active = group.mask;
  warp.pc = group.pc;
  warp.reconverge = group.reconverge;
  warp.counted_from = group.counted_from;
  warp.status = WarpStatus::yielded;
}

/// Makes one of groups that have the same way to go: from one place together, from several one
/// after the other, to where they meet.
void Parting::unite() {
  const auto is_same = [](const Frame& a, const Frame& b) {
    return a.pc == b.pc && a.reconverge == b.reconverge && a.is_call == b.is_call;
  };
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& into = groups_[i];
    const std::size_t depth = into.stack.size();
    for (std::size_t k = groups_.size(); --k > i;) {
      const Group& from = groups_[k];
      const bool is_one_place = from.pc == into.pc && from.waits == into.waits;
      const bool both_go_on = !from.waits && !into.waits && from.reconverge != nullptr;
      const bool unites =
          (is_one_place || both_go_on) && from.reconverge == into.reconverge &&
          from.stack.size() == depth &&
          std::equal(from.stack.begin(), from.stack.end(), into.stack.begin(), is_same);
      if (!unites) continue;
      for (std::size_t f = 0; f < depth; ++f) into.stack[f].mask |= from.stack[f].mask;
      if (is_one_place) {
        into.mask |= from.mask;
      } else {
        into.stack.push_back({from.pc, from.reconverge, from.mask, from.counted_from, false});
      }
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
}

/// The groups that the first and those whom it names wait for, all of which wait for each other;
/// none when one of them waits for lanes that are elsewhere.
std::vector<std::size_t> Parting::party_of(const Warp& warp, std::size_t first) const {
  const Code code = groups_[first].pc->code;
  std::vector<std::size_t> party = {first};
  std::uint32_t here = groups_[first].mask, named = 0;
  for (std::size_t i = 0; i < party.size(); ++i) {
    const Group& group = groups_[party[i]];
    named |= named_at(warp, group.pc, taking_part(warp, group.pc, group.mask)) & warp.alive;
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      const Group& other = groups_[k];
      const bool joins = other.waits && other.pc->code == code && (other.mask & here) == 0 &&
                         (other.mask & named) != 0 &&
                         (other.pc == group.pc || can_meet_apart(code));
      if (!joins) continue;
      party.push_back(k);
      here |= other.mask;
    }
  }
  if ((named & ~here) != 0) party.clear();
  return party;
}

void Parting::exchange(Warp& warp, const ExecuteOperation* operations) {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (!groups_[i].waits || groups_[i].pc->code == Code::barrier) continue;
    const std::vector<std::size_t> party = party_of(warp, i);
    if (party.empty()) continue;
    ExchangeOperands operands;
    std::uint32_t lanes = 0;
    for (const std::size_t member : party) {
      const Group& group = groups_[member];
      const std::uint32_t own = taking_part(warp, group.pc, group.mask);
      operands.gather(warp, *group.pc, own);
      lanes |= own;
    }
    for (const std::size_t member : party) {
      Group& group = groups_[member];
      const std::uint32_t own = taking_part(warp, group.pc, group.mask);
      operands.execute(warp, *group.pc, own, lanes, operations);
      group.waits = false;
      ++group.pc;
      warp.active = group.mask;
      warp.counted_from = group.counted_from;
      count_up_to(warp, group.counted_from + 1);
      group.counted_from = warp.counted_from;
    }
  }
  unite();
}

bool Parting::meet(Warp& warp) {
  const Group& first = groups_.front();
  if (first.pc->code != Code::barrier) return false;
  const bool is_one_place = std::all_of(groups_.begin(), groups_.end(), [&](const Group& group) {
    return group.pc->code == Code::barrier && group.pc->imm == first.pc->imm;
  });
  const bool is_unaligned = std::all_of(groups_.begin(), groups_.end(), [&](const Group& group) {
    return group.pc->code == Code::barrier && is_met_apart(group.pc);
  });
  // Their knowledge of each other's predicates by two instructions was not measured.
  const bool can_meet = std::all_of(groups_.begin(), groups_.end(), [&](const Group& group) {
    const Operation *a = group.pc, *b = first.pc;
    return a == b || (a->f == b->f && static_cast<BarrierKind>(a->f) <= BarrierKind::arrive &&
                      value(warp, a->a, group.mask) == value(warp, b->a, first.mask) &&
                      value(warp, a->b, group.mask) == value(warp, b->b, first.mask));
  });
  if ((!is_one_place && !is_unaligned) || !can_meet) return false;
  unite();
  if (groups_.size() == 1) {  // which executes the barrier as a whole warp
    give(warp, groups_.front());
    groups_.clear();
    return true;
  }
  // The warp comes to the barrier once, and all go on when it may.
  const Operation* const barrier = first.pc;
  for (Group& group : groups_) {
    group.waits = false;
    group.counted_from = group.pc->instruction + 1;
    ++group.pc;
  }
  unite();
  give(warp, groups_.front());
  groups_.erase(groups_.begin());
  ++warp.warp_instructions;
  warp.thread_instructions += static_cast<unsigned>(std::popcount(warp.alive));
  warp.pc = barrier;
  warp.came = warp.alive;
  warp.status = WarpStatus::at_barrier;
  return true;
}

Parting::Waiting Parting::first(const Warp& warp) const {
  Waiting found;
  for (const Group& group : groups_) {
    if (!group.waits) continue;
    if (found.at == nullptr || group.pc < found.at) found = {group.pc, 0, 0};
    if (group.pc != found.at) continue;
    found.lanes |= group.mask;
    found.gone |= group.awaited & ~warp.alive;
  }
  return found;
}

}  // namespace warpmeter::model
