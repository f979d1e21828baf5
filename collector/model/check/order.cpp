// SPDX-License-Identifier: MIT
#include "collector/model/check/order.h"

#include <algorithm>
#include <bit>

namespace warpmeter::model::check {
namespace {

template <class Visit>
void for_each_bit(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

/// Adds to what one thread after the other knows. Most know the same as the thread before them.
class Joining {
 public:
  explicit Joining(const Knowledge& added) : added_(added) {}
  void operator()(Knowledge& known) {
    if (has_joined_ && known == before_) {
      known = after_;
      return;
    }
    before_ = known;
    known.join(added_);
    after_ = known;
    has_joined_ = true;
  }

 private:
  const Knowledge& added_;
  Knowledge before_, after_;
  bool has_joined_ = false;
};

Knowledge& part_of(Location& location, std::uint32_t block) {
  for (auto& [of, known] : location.in_block) {
    if (of == block) return known;
  }
  return location.in_block.emplace_back(block, Knowledge()).second;
}

}  // namespace

BlockOrder::BlockOrder(std::uint64_t blocks, std::uint32_t warps, const Program& program)
    : blocks_(blocks),
      warps_(warps),
      has_releases_(program.has_releases),
      is_simple_(!program.has_releases && !program.has_partial_barriers),
      warp_floor_(warps),
      met_(warps) {}

void BlockOrder::start(std::uint32_t block) {
  block_ = block;
  now_ = 1;
  floor_ = 0;
  std::fill(warp_floor_.begin(), warp_floor_.end(), 0);
  for (auto& met : met_) met.clear();
  views_.clear();
  is_shared_out_ = true;
  barriers_ = {};
  objects_.clear();
}

BlockOrder::View& BlockOrder::view(std::uint32_t warp, std::uint32_t lane) {
  if (views_.empty()) views_.resize(std::size_t{warps_} * warp_lanes);
  return views_[warp * warp_lanes + lane];
}

/// Adds the lane's knowledge of its own block without its view.
void BlockOrder::add_own(Gathering& to, std::uint32_t warp, std::uint32_t lane) const {
  to.add_all(floor_);
  if (warp_floor_[warp] > floor_) {
    LaneStamps all;
    all.fill(warp_floor_[warp]);
    to.add_lanes(warp, all);
  }
  if (!met_[warp].empty()) to.add_lanes(warp, met_[warp][lane]);
  to.add_lane(warp, lane, now_);
}

Knowledge BlockOrder::snapshot(std::uint32_t warp, std::uint32_t lane) {
  Gathering all;
  add_own(all, warp, lane);
  if (!views_.empty()) all.add(view(warp, lane).known);
  return all.take(blocks_, block_);
}

void BlockOrder::add_fenced(Gathering& to, const Fenced& fenced, std::uint32_t warp,
                            std::uint32_t lane) {
  if (!fenced.exists) return;
  to.add_all(fenced.block);
  if (fenced.warp > fenced.block) {
    LaneStamps all;
    all.fill(fenced.warp);
    to.add_lanes(warp, all);
  }
  if (fenced.own > fenced.block) to.add_lane(warp, lane, fenced.own);
  to.add(fenced.known);
}

Knowledge BlockOrder::knowledge_of(const Fenced& fenced, std::uint32_t warp,
                                   std::uint32_t lane) const {
  if (!fenced.exists) return {};
  if (fenced.own == 0) return fenced.known;  // a barrier handed it on
  Gathering all;
  add_fenced(all, fenced, warp, lane);
  return all.take(blocks_, block_);
}

void BlockOrder::accept_pending(View& view) {
  view.known.join(view.pending_in_block);
  view.known.join(view.pending);
  view.pending_in_block = view.pending = {};
}

/// All that the warp's threads did, know and have fenced.
void BlockOrder::add_warp(Barrier& barrier, std::uint32_t warp) {
  LaneStamps all;
  all.fill(now_);
  barrier.known.add_all(floor_);
  barrier.known.add_lanes(warp, all);
  add_views(barrier, warp);
}

void BlockOrder::add_views(Barrier& barrier, std::uint32_t warp) {
  if (views_.empty()) return;
  const View* before = nullptr;
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    View& own = view(warp, lane);
    accept_pending(own);
    if (before == nullptr || !(before->known == own.known)) barrier.known.add(own.known);
    const auto is_same = [](const Fenced& a, const Fenced& b) {
      return a.exists == b.exists && a.own == 0 && b.own == 0 && a.known == b.known;
    };
    if (before == nullptr || !is_same(before->in_block, own.in_block)) {
      add_fenced(barrier.in_block, own.in_block, warp, lane);
    }
    if (before == nullptr || !is_same(before->device, own.device)) {
      add_fenced(barrier.device, own.device, warp, lane);
    }
    before = &own;
  }
}

/// Hands the gathered knowledge to every thread of the warps.
void BlockOrder::hand_on(std::uint32_t warps, Barrier& from) {
  const auto fenced = [&](Gathering& gathered) {
    Fenced all;
    all.exists = !gathered.is_empty();
    if (all.exists) all.known = gathered.take(blocks_, block_);
    return all;
  };
  const Fenced in_block = fenced(from.in_block), device = fenced(from.device);
  const Knowledge known = from.known.take(blocks_, block_);
  Joining join(known);
  for_each_bit(warps, [&](std::uint32_t warp) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      View& own = view(warp, lane);
      join(own.known);
      own.in_block = in_block;
      own.device = device;
    }
  });
}

void BlockOrder::meet(std::uint32_t warp, std::uint32_t lanes, std::uint32_t all) {
  if (lanes == 0) return;
  if (!views_.empty() && !is_shared_out_) {
    Barrier together;
    for_each_bit(lanes, [&](std::uint32_t lane) {
      View& own = view(warp, lane);
      accept_pending(own);
      together.known.add(own.known);
      add_fenced(together.in_block, own.in_block, warp, lane);
      add_fenced(together.device, own.device, warp, lane);
    });
    const Knowledge known = together.known.take(blocks_, block_);
    Fenced in_block, device;
    in_block.exists = !together.in_block.is_empty();
    if (in_block.exists) in_block.known = together.in_block.take(blocks_, block_);
    device.exists = !together.device.is_empty();
    if (device.exists) device.known = together.device.take(blocks_, block_);
    Joining join(known);
    for_each_bit(lanes, [&](std::uint32_t lane) {
      View& own = view(warp, lane);
      join(own.known);
      own.in_block = in_block;
      own.device = device;
    });
  }
  if ((all & ~lanes) == 0) {
    warp_floor_[warp] = now_;
    met_[warp].clear();
  } else {
    auto& met = met_[warp];
    if (met.empty()) met.resize(warp_lanes);
    LaneStamps together{};
    for_each_bit(lanes, [&](std::uint32_t lane) {
      for (std::size_t i = 0; i < together.size(); ++i) {
        together[i] = std::max(together[i], met[lane][i]);
      }
    });
    for_each_bit(lanes, [&](std::uint32_t lane) { together[lane] = now_; });
    for_each_bit(lanes, [&](std::uint32_t lane) { met[lane] = together; });
  }
  ++now_;
}

void BlockOrder::arrive(std::uint32_t barrier, std::uint32_t warp) {
  add_warp(barriers_[barrier % barriers_.size()], warp);
  ++now_;
}

void BlockOrder::release(std::uint32_t barrier, std::uint32_t warps, bool is_whole_block) {
  Barrier& gathered = barriers_[barrier % barriers_.size()];
  const bool has_views = !views_.empty() && !is_shared_out_;
  if (!is_whole_block) {
    for_each_bit(warps, [&](std::uint32_t warp) { add_warp(gathered, warp); });
    hand_on(warps, gathered);
  } else if (has_views) {
    gathered.known.add_all(now_);
    for_each_bit(warps, [&](std::uint32_t warp) { add_views(gathered, warp); });
    hand_on(warps, gathered);
  }
  gathered = {};
  if (is_whole_block) {
    floor_ = now_;
    is_shared_out_ = true;
  } else {
    is_shared_out_ = false;
  }
  for_each_bit(warps, [&](std::uint32_t warp) {
    warp_floor_[warp] = now_;
    met_[warp].clear();
  });
  ++now_;
}

void BlockOrder::fence(std::uint32_t warp, std::uint32_t lanes, Scope scope) {
  if (!has_releases_) return;
  for_each_bit(lanes, [&](std::uint32_t lane) {
    View& own = view(warp, lane);
    own.known.join(own.pending_in_block);
    own.pending_in_block = {};
    if (scope == Scope::device) {
      own.known.join(own.pending);
      own.pending = {};
    }
    Fenced fenced{true, own.known, now_, warp_floor_[warp], floor_};
    if (!met_[warp].empty()) {
      Gathering met;
      met.add_lanes(warp, met_[warp][lane]);
      fenced.known.join(met.take(blocks_, block_));
    }
    own.in_block = fenced;
    if (scope == Scope::device) own.device = std::move(fenced);
  });
  is_shared_out_ = false;
  ++now_;
}

bool BlockOrder::have_fenced(std::uint32_t warp, std::uint32_t lanes, Scope scope) const {
  if (views_.empty()) return false;
  bool all = true;
  for_each_bit(lanes, [&](std::uint32_t lane) {
    const View& own = views_[warp * warp_lanes + lane];
    all &= (scope == Scope::device ? own.device : own.in_block).exists;
  });
  return all;
}

void BlockOrder::synchronise(Location& location, std::uint32_t warp, std::uint32_t lane,
                             const Synchronisation& access) {
  if (!has_releases_) return;
  View& own = view(warp, lane);
  const bool is_wide = access.scope == Scope::device;
  if (access.reads) {
    Knowledge& in_block = access.acquires ? own.known : own.pending_in_block;
    Knowledge& pending = access.acquires ? own.known : own.pending;
    for (const auto& [block, known] : location.in_block) {
      if (block == block_) in_block.join(known);
    }
    Knowledge& last = access.acquires ? own.acquired : own.seen;
    if (is_wide && !(location.device == last)) {
      pending.join(location.device);
      last = location.device;
    }
    is_shared_out_ = false;
  }
  if (!access.writes) return;
  Knowledge in_block = knowledge_of(own.in_block, warp, lane);
  Knowledge device;
  if (is_wide) device = knowledge_of(own.device, warp, lane);
  if (access.releases) {
    const Knowledge all = snapshot(warp, lane);
    in_block.join(all);
    if (is_wide) device.join(all);
    ++now_;
  }
  if (!access.reads) location = {};  // else what was released before goes on through the change
  location.device.join(device);
  if (!in_block.is_empty()) part_of(location, block_).join(in_block);
}

/// In its phase of now.
BlockOrder::Object& BlockOrder::object(std::uint64_t address, bool phase) {
  Object& object = objects_[address];
  if (object.is_known ? object.phase != phase : phase) ++object.ended;
  if (object.is_known && object.phase != phase) {
    object.done = object.arrivals.take(blocks_, block_);
  }
  object.phase = phase;
  object.is_known = true;
  return object;
}

void BlockOrder::arrive_object(std::uint64_t address, bool phase, std::uint32_t warp,
                               std::uint32_t lane) {
  Object& object = this->object(address, phase);
  add_own(object.arrivals, warp, lane);
  if (!views_.empty()) object.arrivals.add(view(warp, lane).known);
  ++now_;
}

std::uint32_t BlockOrder::leave_object(std::uint64_t address, bool phase, std::uint32_t warp,
                                       std::uint32_t lane) {
  Object& object = this->object(address, phase);
  if (!object.done.is_empty()) {
    view(warp, lane).known.join(object.done);
    is_shared_out_ = false;
  }
  return object.ended;
}

/// True if the lane knows of the context's accesses no more and no less than the one before it did
/// that was asked for. `of_lane`: what it knows of its own warp; null: nothing.
bool BlockOrder::Asked::is_same(const Knowledge& known, const LaneStamps* of_lane) {
  const bool is_same = exists && of_lane == nullptr && met == nullptr && known == *this->known;
  exists = true;
  this->known = &known;
  met = of_lane;
  return is_same;
}

/// Lanes among `others` of a context whose accesses the lane of the warp comes after.
std::uint32_t BlockOrder::known_of(const Context& context, std::uint32_t others, std::uint32_t warp,
                                   std::uint32_t lane, Asked& asked) const {
  const bool same_warp = context.block == block_ && context.warp == warp;
  const LaneStamps* const met = same_warp && !met_[warp].empty() ? &met_[warp][lane] : nullptr;
  static const Knowledge nothing;
  const Knowledge& all = views_.empty() ? nothing : views_[warp * warp_lanes + lane].known;
  if (asked.is_same(all, met)) return asked.found & others;
  const BlockKnowledge* const known = all.of(context.block);
  asked.found = 0;
  for_each_bit(others, [&](std::uint32_t other) {
    if ((met != nullptr && context.stamp <= (*met)[other]) ||
        (known != nullptr && known->covers(context.warp, other, context.stamp))) {
      asked.found |= 1u << other;
    }
  });
  return asked.found;
}

std::uint32_t BlockOrder::unordered(const Context& context, std::uint32_t lanes, std::uint32_t warp,
                                    std::uint32_t own) const {
  if (is_past_for(context, warp)) return 0;
  const bool same_warp = context.block == block_ && context.warp == warp;
  if (views_.empty() && (!same_warp || met_[warp].empty())) {
    if (!same_warp) return lanes;
    return std::has_single_bit(own) ? lanes & ~own : lanes;
  }
  std::uint32_t found = 0;
  Asked asked;
  for_each_bit(own, [&](std::uint32_t lane) {
    const std::uint32_t itself = same_warp ? 1u << lane : 0;
    found |= lanes & ~itself & ~known_of(context, lanes, warp, lane, asked);
  });
  return found;
}

bool BlockOrder::comes_after(std::uint32_t other, Stamp stamp, std::uint32_t warp,
                             std::uint32_t lane) const {
  if (stamp <= floor_) return true;
  if (views_.empty()) return false;
  const BlockKnowledge* const known = views_[warp * warp_lanes + lane].known.of(block_);
  if (known == nullptr) return false;
  for (std::uint32_t of = 0; of < warp_lanes; ++of) {
    if (known->covers(other, of, stamp)) return true;
  }
  return false;
}

std::uint32_t BlockOrder::survivors(const Context& context, std::uint32_t lanes, std::uint32_t warp,
                                    std::uint32_t own) const {
  if (is_past_for(context, warp)) return 0;
  const bool same_warp = context.block == block_ && context.warp == warp;
  std::uint32_t left = same_warp ? lanes & ~own : lanes;
  if (left == 0 || (views_.empty() && (!same_warp || met_[warp].empty()))) return left;
  const std::uint32_t all = left;
  Asked asked;
  for_each_bit(own,
               [&](std::uint32_t lane) { left &= ~known_of(context, all, warp, lane, asked); });
  return left;
}

}  // namespace warpmeter::model::check
