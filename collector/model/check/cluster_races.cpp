// SPDX-License-Identifier: MIT
#include "collector/model/check/cluster_races.h"

#include <algorithm>

namespace warpmeter::model::check {

ClusterRaces::ClusterRaces(std::uint32_t blocks, std::uint64_t bytes, std::uint32_t unit,
                           Budget& budget)
    : unit_(unit), budget_(budget), members_(blocks), all_(1) {
  for (Member& member : members_) member.pages.resize(bytes / unit / units_of_page + 1);
}

ClusterRaces::~ClusterRaces() { budget_.used -= used_; }

/// A phase orders what a block did before it unless all of the block's arrivals are relaxed. Warps
/// that have ended count as having arrived.
void ClusterRaces::arrive(std::uint32_t rank, std::uint32_t warp, std::uint32_t phase, Stamp now,
                          bool is_relaxed) {
  Member& member = members_[rank];
  if (member.arrivals.size() <= phase) member.arrivals.resize(phase + 1, Arrival::none);
  Arrival& arrival = member.arrivals[phase];
  arrival = std::max(arrival, is_relaxed ? Arrival::relaxed : Arrival::releasing);
  if (member.moments.size() <= warp) member.moments.resize(warp + 1);
  std::vector<Stamp>& moments = member.moments[warp];
  moments.resize(phase + 1, now);
  moments[phase] = now;
}

std::uint32_t ClusterRaces::arrived_before(std::uint32_t rank, std::uint32_t warp,
                                           Stamp stamp) const {
  const auto& moments = members_[rank].moments;
  if (warp >= moments.size() || moments[warp].empty()) return 0;
  const auto first_later = std::lower_bound(moments[warp].begin() + 1, moments[warp].end(), stamp);
  return static_cast<std::uint32_t>(first_later - moments[warp].begin()) - 1;
}

std::uint32_t ClusterRaces::add(const By& by) {
  if (all_.size() == most_contexts || budget_.used + sizeof(By) > budget_.most) {
    budget_.is_exceeded = true;
    return 0;
  }
  used_ += sizeof(By);
  budget_.used += sizeof(By);
  all_.push_back(by);
  return static_cast<std::uint32_t>(all_.size() - 1);
}

bool ClusterRaces::is_ordered(const By& earlier, const By& later) const {
  const std::vector<Arrival>& arrivals = members_[earlier.rank].arrivals;
  for (std::uint32_t phase = earlier.arrived + 1; phase <= later.waited; ++phase) {
    if (phase >= arrivals.size() || arrivals[phase] != Arrival::relaxed) return true;
  }
  return false;
}

ClusterRaces::Cell* ClusterRaces::cell(std::uint32_t owner, std::uint64_t unit) {
  auto& pages = members_[owner].pages;
  if (unit / units_of_page >= pages.size()) return nullptr;
  auto& page = pages[unit / units_of_page];
  if (page == nullptr) {
    if (budget_.used + sizeof(*page) > budget_.most) {
      budget_.is_exceeded = true;
      return nullptr;
    }
    page = std::make_unique<std::array<Cell, units_of_page>>();
    used_ += sizeof(*page);
    budget_.used += sizeof(*page);
  }
  return &(*page)[unit % units_of_page];
}

/// The slot of an access that is not ordered before this one, and conflicts with it; 0: none.
std::uint32_t ClusterRaces::rival(const Cell& cell, Kind kind, const By& by, Kind* of_kind) const {
  for (const Kind other : {Kind::reads, Kind::strong, Kind::writes}) {
    if (other == kind && kind != Kind::writes) continue;
    for (const std::uint32_t slot : cell[static_cast<std::size_t>(other)]) {
      if (slot == 0 || by_of(slot).rank == by.rank || is_ordered(by_of(slot), by)) continue;
      *of_kind = other;
      return slot;
    }
  }
  return 0;
}

void ClusterRaces::keep(Slots& slots, std::uint32_t slot) const {
  const By& by = by_of(slot);
  const auto comes_after = [&](std::uint32_t other) {
    return other == 0 || by.arrived >= by_of(other).arrived;
  };
  const bool is_of_first = slots[0] != 0 && by_of(slots[0]).rank == by.rank;
  if (comes_after(slots[0])) {
    if (!is_of_first) slots[1] = slots[0];
    slots[0] = slot;
  } else if (!is_of_first && comes_after(slots[1])) {
    slots[1] = slot;
  }
}

std::optional<ClusterRaces::Earlier> ClusterRaces::touch(std::uint32_t owner, std::uint64_t offset,
                                                         std::uint32_t width, Kind kind,
                                                         std::uint32_t number, std::uint32_t lane) {
  const std::uint32_t slot = number << lane_bits | lane;
  std::optional<Earlier> found;
  for (std::uint64_t unit = offset / unit_; unit < (offset + width) / unit_; ++unit) {
    Cell* const here = cell(owner, unit);
    if (here == nullptr) break;
    Slots& own = (*here)[static_cast<std::size_t>(kind)];
    // The same was looked at before, and whoever came since has met it.
    if (own[0] >> lane_bits == number) continue;
    Kind of_kind = kind;
    const std::uint32_t other = rival(*here, kind, all_[number], &of_kind);
    if (other != 0 && (!found || (found->kind == Kind::writes && of_kind != Kind::writes))) {
      found = {by_of(other), other & ((1u << lane_bits) - 1), of_kind, unit * unit_, 0};
    }
    if (other != 0) found->end = (unit + 1) * unit_;
    keep(own, slot);
  }
  return found;
}

}  // namespace warpmeter::model::check
