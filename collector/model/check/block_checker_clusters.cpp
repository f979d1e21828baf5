// SPDX-License-Identifier: MIT
// A block among those of its cluster: the phases of the cluster's barrier, and races on shared
// memory with the other blocks.
#include <fmt/format.h>

#include <algorithm>

#include "base/lanes.h"
#include "collector/model/check/block_checker.h"
#include "collector/model/check/stored_value.h"
#include "collector/model/machine/cluster.h"

namespace warpmeter::model::check {
namespace {

ClusterRaces::Kind kind_of(const SiteInfo& info) {
  if (info.is_atomic() || info.is_strong) return ClusterRaces::Kind::strong;
  return info.kind == AccessKind::load ? ClusterRaces::Kind::reads : ClusterRaces::Kind::writes;
}

}  // namespace

void BlockChecker::start_in_cluster(std::uint64_t block, const std::byte* shared) {
  if (!launch_.is_in_clusters_ || launch_.has_cluster_signals_) return;
  seat_ = launch_.seat_of(block);
  cluster_ = launch_.races_in(seat_.cluster);
  cluster_->join(seat_.rank, shared);
  phases_ = {};
  phases_ended_ = 0;
  cluster_number_.assign(shared_number_.size(), 0);
}

/// A warp that asks for the end of a phase does nothing else before it has ended.
void BlockChecker::follow_cluster_barrier(const Warp& warp, const Operation* op,
                                          std::uint32_t mask) {
  PhasesOfWarp& phases = phases_[warp.index];
  if (op->code == Code::cluster_wait) phases.waited = phases.arrived;
  if (op->code != Code::cluster_arrive) return;
  const std::uint32_t phase = phases_ended_ + 1;
  if (phases.arrived != phase) phases.lanes = 0;
  phases.arrived = phase;
  phases.lanes |= mask;
  phases.waited = std::max(phases.waited, phases_ended_);
  cluster_->arrive(seat_.rank, warp.index, phase, order_.now(), op->c != 0);
  order_.pass();
}

/// Warps that meet at a barrier of their block come after what any of them has waited for.
void BlockChecker::share_phases(const Meeting& meeting) {
  if (meeting.barrier == barrier_of_cluster) {
    ++phases_ended_;
    return;
  }
  std::uint32_t waited = 0;
  for_each_lane(meeting.waiting | meeting.arrived,
                [&](unsigned warp) { waited = std::max(waited, phases_[warp].waited); });
  for_each_lane(meeting.waiting, [&](unsigned warp) { phases_[warp].waited = waited; });
}

/// Where atomics or barrier objects may order a block's warps, each of them has waited for what any
/// has.
std::uint32_t BlockChecker::waited_phases(std::uint32_t warp) const {
  std::uint32_t waited = phases_[warp].waited;
  if (!launch_.has_signals_) return waited;
  for (const PhasesOfWarp& other : phases_) waited = std::max(waited, other.waited);
  return waited;
}

/// True if a phase of the cluster's barrier lies between the two accesses to global memory.
bool BlockChecker::is_ordered_in_cluster(const Context& theirs) const {
  const std::uint32_t warp = current_.warp->index, rank = launch_.seat_of(theirs.block).rank;
  const ClusterRaces::By own{seat_.rank, warp, 0, phases_[warp].arrived, waited_phases(warp)};
  const std::uint32_t arrived = cluster_->arrived_before(rank, theirs.warp, theirs.stamp);
  return cluster_->is_ordered({rank, theirs.warp, theirs.site, arrived, 0}, own);
}

/// Accesses of one site by one warp between two phases have one number.
std::uint32_t BlockChecker::number_in_cluster(std::uint32_t site, std::uint32_t warp,
                                              std::uint32_t mask) {
  const PhasesOfWarp& phases = phases_[warp];
  const bool have_arrived = phases.arrived == 0 || (mask & ~phases.lanes) == 0;
  const ClusterRaces::By by{seat_.rank, warp, site, phases.arrived - (have_arrived ? 0 : 1),
                            waited_phases(warp)};
  std::uint32_t& number = cluster_number_[warp * program_.sites.size() + site];
  if (number != 0 && (*cluster_)[number].arrived == by.arrived &&
      (*cluster_)[number].waited == by.waited) {
    return number;
  }
  number = cluster_->add(by);
  return number;
}

void BlockChecker::check_cluster(const Warp& warp, const Operation* op, const SiteInfo& info,
                                 const Places& places) {
  if (places.space != AddressSpace::shared && places.space != AddressSpace::cluster) return;
  const std::uint32_t number = number_in_cluster(op->extra, warp.index, places.mask);
  if (number == 0) return;
  for_each_lane(places.mask, [&](unsigned lane) {
    const std::uint64_t place = places[lane], offset = place % cluster_step;
    const bool is_own = place < cluster_step;
    const std::uint32_t owner =
        is_own ? seat_.rank : static_cast<std::uint32_t>(place / cluster_step - 1);
    const auto earlier = cluster_->touch(owner, offset, info.width, kind_of(info), number, lane);
    if (!earlier) return;
    const bool is_equal = writes_same_in_cluster(*earlier, owner, offset, lane);
    const Defect defect = is_equal ? Defect::equal_writes : Defect::block_race;
    launch_.findings_.add(defect, info.instruction, Span::grid, [&] {
      return describe(*earlier, (*cluster_)[number], owner, lane, is_equal);
    });
  });
}

/// True if both write the same: what the earlier one wrote is what memory holds.
bool BlockChecker::writes_same_in_cluster(const ClusterRaces::Earlier& earlier, std::uint32_t owner,
                                          std::uint64_t offset, unsigned lane) const {
  const SiteInfo &own = *current_.info, &other = program_.sites[earlier.by.site];
  const bool are_stores =
      own.kind == AccessKind::store && own.row_bytes > 0 && other.kind == AccessKind::store;
  if (!are_stores) return false;
  const auto value = stored_value(*current_.warp, current_.op, own, lane);
  const std::byte* const memory = cluster_->memory_of(owner);
  return std::equal(memory + earlier.begin, memory + earlier.end,
                    value.begin() + static_cast<std::ptrdiff_t>(earlier.begin - offset));
}

Described BlockChecker::describe(const ClusterRaces::Earlier& earlier, const ClusterRaces::By& own,
                                 std::uint32_t owner, unsigned lane, bool is_equal) const {
  const ClusterRaces::By& theirs = earlier.by;
  const SiteInfo& other = program_.sites[theirs.site];
  const std::string line = launch_.names_.line(other.instruction);
  std::string remedy = ", with no cluster barrier between the two; put cluster.sync() between them";
  if (is_equal) {
    remedy = "; both wrote the same this time, and with other input they may not";
  } else if (cluster_->met_relaxed(theirs, own)) {
    remedy =
        ", and barrier.cluster.arrive.relaxed between the two orders no memory; put cluster.sync() "
        "between them";
  } else if (theirs.arrived > theirs.waited && own.waited >= theirs.arrived) {
    remedy = fmt::format(
        " after it has arrived at the cluster barrier between the two; put {} before the arrive, "
        "or cluster.sync() between them",
        line);
  } else if (own.arrived > own.waited && own.arrived > theirs.arrived) {
    remedy =
        ", and this access does not wait for the cluster barrier between the two; put it behind "
        "the wait, or cluster.sync() between them";
  }
  return Described{
      sentence(own.warp * warp_lanes + lane,
               fmt::format("{} {} of {}, which {} of {} {} on {}{}",
                           current_.info->kind == AccessKind::load ? "reads" : "writes",
                           shared_at(earlier.begin, current_.info->width),
                           launch_.names_.block(launch_.block_at({seat_.cluster, owner})),
                           launch_.names_.thread(theirs.warp * warp_lanes + earlier.lane),
                           launch_.names_.block(launch_.block_at({seat_.cluster, theirs.rank})),
                           other.kind == AccessKind::load ? "reads" : "writes", line, remedy)),
      other.instruction};
}

}  // namespace warpmeter::model::check
