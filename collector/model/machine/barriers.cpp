// SPDX-License-Identifier: MIT
#include "collector/model/machine/barriers.h"

#include <bit>

#include "collector/model/machine/observer.h"
#include "collector/model/machine/warp/lane_rows.h"

namespace warpmeter::model {
namespace {

BarrierKind kind_of(const Warp& warp) { return static_cast<BarrierKind>(warp.pc->f); }

bool asks(const Warp& warp) {
  return kind_of(warp) != BarrierKind::sync && kind_of(warp) != BarrierKind::arrive;
}

}  // namespace

template <class Visit>
void Barriers::for_each(std::uint32_t warps, Visit visit) const {
  for (; warps != 0; warps &= warps - 1) {
    visit(warps_[static_cast<std::size_t>(std::countr_zero(warps))]);
  }
}

void Barriers::come(Warp& warp) {
  const Operation& operation = *warp.pc;
  std::uint32_t number = operation.e - 1u, threads = 0;
  if (operation.e == 0) {
    const int lane = std::countr_zero(warp.came);
    number = row_of<std::uint32_t>(warp, operation.a)[lane] % barriers_of_block;
    threads = row_of<std::uint32_t>(warp, operation.b)[lane];
  }
  Barrier& barrier = barriers_[number];
  used_ |= 1u << number;
  barrier.threads = threads;
  const std::uint32_t bit = 1u << warp.index;
  if (kind_of(warp) == BarrierKind::arrive) {
    barrier.arrived |= bit;
    if (observer_ != nullptr) observer_->arrive(number, warp.index);
    warp.status = WarpStatus::yielded;
    ++warp.pc;
  } else {
    barrier.waiting |= bit;
  }
  // One for a number of threads is over with the last of these; those who come later begin anew.
  if (threads != 0) complete(barrier, living());
}

std::uint32_t Barriers::living() const {
  std::uint32_t found = 0;
  for (const Warp& warp : warps_) {
    if (warp.status != WarpStatus::finished) found |= 1u << warp.index;
  }
  return found;
}

bool Barriers::release() {
  const std::uint32_t living = this->living();
  bool released = false;
  for (std::uint32_t left = used_; left != 0; left &= left - 1) {
    released |= complete(barriers_[static_cast<std::size_t>(std::countr_zero(left))], living);
  }
  return released;
}

/// Lets the warps of a barrier go on if all have come that it waits for.
bool Barriers::complete(Barrier& barrier, std::uint32_t living) {
  if (barrier.waiting == 0) return false;
  const std::uint32_t present = barrier.waiting | barrier.arrived;
  const auto come = static_cast<unsigned>(std::popcount(present)) * warp_lanes;
  const bool is_complete =
      barrier.threads == 0 ? (living & ~present) == 0 : come >= barrier.threads;
  if (!is_complete) return false;
  if (observer_ != nullptr) tell_released(barrier, living);
  answer(barrier.waiting);
  for_each(barrier.waiting, [](Warp& warp) {
    warp.status = WarpStatus::yielded;
    ++warp.pc;
  });
  barrier = {};
  return true;
}

void Barriers::tell_released(const Barrier& barrier, std::uint32_t living) const {
  Meeting meeting;
  meeting.barrier = static_cast<std::uint32_t>(&barrier - barriers_.data());
  meeting.is_for_all = barrier.threads == 0;
  meeting.waiting = barrier.waiting;
  meeting.arrived = barrier.arrived;
  meeting.finished = static_cast<std::uint32_t>((std::uint64_t{1} << warps_.size()) - 1) & ~living;
  for_each(barrier.waiting, [&](const Warp& warp) { meeting.at[warp.index] = warp.pc; });
  for_each(meeting.finished, [&](const Warp& warp) { meeting.last[warp.index] = warp.last; });
  observer_->release(meeting);
}

/// Gives those who ask for it what the predicates of all who ask come to.
void Barriers::answer(std::uint32_t warps) const {
  std::uint32_t yes = 0, asked = 0;
  for_each(warps, [&](const Warp& warp) {
    if (!asks(warp)) return;
    const std::uint16_t operand = warp.pc->c;
    std::uint32_t bits = warp.predicates[operand >> 1];
    if ((operand & 1) != 0) bits = ~bits;
    yes += static_cast<std::uint32_t>(std::popcount(bits & warp.came));
    asked += static_cast<std::uint32_t>(std::popcount(warp.came));
  });
  if (asked == 0) return;
  for_each(warps, [&](Warp& warp) {
    const Operation& operation = *warp.pc;
    if (kind_of(warp) == BarrierKind::count) {
      std::uint32_t* lanes = row_of<std::uint32_t>(warp, operation.d);
      for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        if ((warp.came >> lane & 1) != 0) lanes[lane] = yes;
      }
    } else if (asks(warp)) {
      const bool all = kind_of(warp) == BarrierKind::all;
      std::uint32_t& predicate = warp.predicates[operation.d];
      predicate = (all ? yes == asked : yes != 0) ? predicate | warp.came : predicate & ~warp.came;
    }
  });
}

}  // namespace warpmeter::model
