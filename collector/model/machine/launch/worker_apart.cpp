// SPDX-License-Identifier: MIT
// Lanes of one warp that go on without each other.
//
// They run together and wait for each other where branches meet. But a lane may spin until another
// one of its warp, which waits for it there, gives a lock back; hardware lets both go on. So lanes
// that do nothing but loop for several shares take turns with those that wait. And lanes that come
// to a barrier, or to an exchange, without those that they have to wait for let the others go on
// (parting.h).
#include <algorithm>
#include <bit>

#include "collector/model/machine/launch/worker.h"
#include "collector/model/machine/observer.h"

namespace warpmeter::model {
namespace {

/// Shares after which a loop that changed nothing but memory is taken to wait.
constexpr std::uint64_t patience = 3;

}  // namespace

/// True if the warp, whose share has ended, seems to wait for lanes of its own: for long, or, when
/// nobody else goes on, by all that is known of it.
bool Worker::spins(Warp& warp, bool lets_go) {
  if (warp.depth == 0 || turns_ >= most_turns) return false;
  Spin& spin = spins_[warp.index];
  if (spin.active != warp.active || spin.depth != warp.depth) {
    spin = {warp.active, warp.depth, warp.warp_instructions, spin.states};
  }
  // Whoever waits at a barrier object ends its share early, each time that it asks.
  const bool is_over = warp.warp_instructions >= warp.yield_at;
  const bool waits_long =
      (turns_ > 0 && is_over) || warp.warp_instructions - spin.since >= patience * share;
  return lets_go || (has_atomics_ && waits_long);
}

/// Lets lanes go on that wait where the spinning ones would meet them, or on the other side of
/// their branch; the spinning ones take that place on the stack and follow alone.
void Worker::let_others_go(Warp& warp) {
  std::uint32_t at = warp.depth, sides = warp.active;
  while (at > 0 && !warp.stack[at - 1].is_call && warp.stack[at - 1].pc != warp.reconverge) {
    sides |= warp.stack[--at].mask;
  }
  const bool meets = at > 0 && !warp.stack[at - 1].is_call;
  const std::uint32_t waiting = meets ? warp.stack[at - 1].mask & warp.alive & ~sides : 0;
  Frame* chosen = nullptr;
  if (waiting != 0) {
    chosen = &warp.stack[at - 1];
    for (std::uint32_t i = at; i < warp.depth; ++i) warp.stack[i].reconverge = chosen->reconverge;
  } else if (at < warp.depth && (warp.stack[at].mask & warp.alive & ~warp.active) != 0) {
    chosen = &warp.stack[at];  // the one that has waited longest
  }
  if (chosen == nullptr) return;
  ++turns_;
  for (const std::uint32_t wait : program_.object_waits) memory_.parted[wait] = 1;
  const Frame next = *chosen;
  *chosen = {warp.pc, next.reconverge, warp.active, warp.counted_from, false};
  if (waiting == 0) std::rotate(chosen, chosen + 1, warp.stack + warp.depth);
  warp.pc = next.pc;
  warp.active = waiting != 0 ? waiting : next.mask & warp.alive;
  warp.reconverge = next.reconverge;
  warp.counted_from = next.counted_from;
}

/// At a barrier that only some lanes of a warp have come to, because they took turns: they wait on
/// the stack for the others, and go on with them. False when that is not why.
bool Worker::wait_for_parted(Warp& warp) {
  if (turns_ == 0 || turns_ >= most_turns || warp.depth == 0) return false;
  Frame& top = warp.stack[warp.depth - 1];
  if (top.is_call || (top.mask & warp.active) != 0) return false;  // a branch that not all take
  ++turns_;
  count_up_to(warp, warp.pc->instruction);
  warp.status = WarpStatus::yielded;
  if (top.pc == warp.pc) {
    warp.active |= top.mask & warp.alive;
    warp.reconverge = top.reconverge;
    --warp.depth;
    return true;
  }
  const Frame next = top;
  top = {warp.pc, next.reconverge, warp.active, warp.counted_from, false};
  warp.pc = next.pc;
  warp.active = next.mask & warp.alive;
  warp.reconverge = next.reconverge;
  warp.counted_from = next.counted_from;
  return true;
}

/// Where lanes have come to a barrier or an exchange without others that they wait for, or the last
/// of the others has ended: who goes on. A trap when they wait for each other.
void Worker::go_apart(Warp& warp) {
  Parting& parting = partings_[warp.index];
  if (warp.status == WarpStatus::parted) {
    const bool is_barrier = warp.pc->code == Code::barrier;
    if (is_barrier && wait_for_parted(warp)) return;
    memory_.parted[warp.pc->instruction] = 1;
    const bool is_aligned = (warp.pc->imm & barrier_is_unaligned) == 0;
    if (observer_ != nullptr && is_barrier && is_aligned) {
      observer_->part(warp, warp.pc, warp.active);
    }
    if (is_barrier && is_predicated(warp.pc)) {
      count_up_to(warp, warp.pc->instruction + 1);
      warp.came = warp.active;
      warp.status = WarpStatus::at_barrier;
      return;
    }
    parting.wait(warp);
  }
  parting.exchange(warp, unit_.operations);
  if (parting.go_on(warp)) return;
  if (!parting.is_parted()) return;  // the last of them have ended
  const Parting::Waiting waiting = parting.first(warp);
  if (observer_ != nullptr && waiting.gone != 0 && waiting.at->code == Code::barrier) {
    observer_->part(warp, waiting.at, waiting.lanes);
  }
  if (parting.meet(warp)) return;
  warp.pc = waiting.at;
  raise(warp, TrapKind::divergent_barrier);
  warp.trap.mask = waiting.lanes;
  warp.trap.lane = static_cast<std::uint32_t>(std::countr_zero(waiting.lanes));
  warp.status = WarpStatus::trapped;
}

/// True if the machine code has the whole warp come to a barrier that only some lanes come to.
bool Worker::is_predicated(const Operation* barrier) {
  if (!predicated_) {
    const bool is_known = program_.is_audited() || ask_predicated_ == nullptr;
    predicated_ = is_known ? program_.predicated_barriers : ask_predicated_();
  }
  return std::find(predicated_->begin(), predicated_->end(), barrier->instruction) !=
         predicated_->end();
}

}  // namespace warpmeter::model
