// SPDX-License-Identifier: MIT
#include "collector/model/counts/steps/walk.h"

#include <algorithm>
#include <bit>

namespace warpmeter::model::steps {
namespace {

constexpr std::string_view by_value =
    "a branch of the machine code depends on what is not worked out: some floats, shared memory, "
    "other threads, or memory that the kernel changes";
constexpr std::string_view by_jump = "the machine code jumps to places that are not known";
constexpr std::string_view far_call =
    "the machine code calls what is not part of it, or keeps the lanes that wait in registers";
constexpr std::string_view apart = "lanes that parted meet where the machine code gathers the warp";
constexpr std::string_view stuck = "lanes wait for others that do not come";

constexpr std::uint8_t exclusive = 1;

unsigned count(Lanes lanes) { return static_cast<unsigned>(std::popcount(lanes)); }

}  // namespace

void Tally::add(const Tally& other) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    blocks[b].warps += other.blocks[b].warps;
    blocks[b].threads += other.blocks[b].threads;
    crowded[b] = static_cast<std::uint8_t>(crowded[b] | other.crowded[b]);
  }
  for (std::size_t i = 0; i < on.size(); ++i) {
    on[i].warps += other.on[i].warps;
    on[i].threads += other.on[i].threads;
    acted[i] += other.acted[i];
    parted[i] += other.parted[i];
    again[i].warps += other.again[i].warps;
    again[i].threads += other.again[i].threads;
    unknown[i] = static_cast<std::uint8_t>(unknown[i] | other.unknown[i]);
  }
  depends_on_time |= other.depends_on_time;
  if (doubt.empty()) {
    doubt = other.doubt;
    doubt_line = other.doubt_line;
  }
}

void Tally::issue_again(std::uint32_t at, Lanes lanes) {
  ++again[at].warps;
  again[at].threads += count(lanes);
}

bool Walk::doubt(Tally& tally, std::string_view why, std::uint32_t at) const {
  tally.doubt = why;
  tally.doubt_line = code_.lines[at];
  return false;
}

bool Walk::follow(const Dim3& block_size, const Dim3& block, unsigned number, Tally& tally) {
  const std::uint64_t threads = block_size.count();
  const auto lanes = static_cast<unsigned>(std::min<std::uint64_t>(threads - number * 32ULL, 32));
  registers_.begin(block_size, block, number);
  ended_ = 0;
  groups_.assign(1, {lanes == 32 ? ~Lanes{0} : (Lanes{1} << lanes) - 1, 0, false});
  while (!groups_.empty()) {
    const auto next = std::find_if(groups_.rbegin(), groups_.rend(),
                                   [](const Group& group) { return !group.is_waiting; });
    if (next == groups_.rend()) return doubt(tally, stuck, groups_.front().at);
    Group group = *next;
    groups_.erase(std::next(next).base());
    if (!run(group, tally)) return false;
  }
  return true;
}

/// Runs a group until it waits, has ended, or is merged with others.
bool Walk::run(Group& group, Tally& tally) {
  while (group.lanes != 0) {
    if (group.at >= code_.operations.size()) return doubt(tally, by_jump, 0);
    const std::uint32_t number = code_.block_of[group.at];
    const Block& block = code_.blocks[number];
    if (budget_-- == 0) return doubt(tally, too_long, group.at);
    Tally::Times& times = tally.blocks[number];
    ++times.warps;
    times.threads += count(group.lanes);
    auto needed = block.needed.begin();
    for (const std::uint32_t guarded : block.guarded) {
      for (; needed != block.needed.end() && *needed < guarded; ++needed) {
        registers_.execute(code_.operations[*needed], group.lanes);
      }
      const auto split = registers_.split(code_.operations[guarded].guard, group.lanes);
      tally.on[guarded].warps += split.holds != 0 ? 1 : 0;
      tally.on[guarded].threads += count(split.holds);
      if (split.unknown != 0) tally.unknown[guarded] = 1;
    }
    for (; needed != block.needed.end(); ++needed) {
      registers_.execute(code_.operations[*needed], group.lanes);
    }
    if (!leave_block(group, code_.operations[block.end - 1], block.end - 1, tally)) return false;
  }
  return true;
}

/// Some lanes of the group go elsewhere, the others wait their turn.
bool Walk::part(Group& group, Lanes lanes, std::uint32_t to) {
  const Lanes others = group.lanes & ~lanes;
  if (others != 0) {
    groups_.push_back({others, group.at + 1, false});
    group.turn = 0;
  }
  group.lanes = lanes;
  group.at = to;
  return true;
}

bool Walk::jump(Group& group, const Operation& last, std::uint32_t at, Lanes jumping,
                Tally& tally) {
  std::int64_t target = last.target;
  if (jumping == 0) {
    ++group.at;
    return true;
  }
  if (jumping != group.lanes) ++tally.parted[at];
  // Lanes may go to different places.
  while (jumping != 0) {
    Lanes together = jumping;
    if (last.kind == Kind::branch_by_table || last.kind == Kind::back) {
      const auto lane = static_cast<unsigned>(std::countr_zero(jumping));
      const auto place = registers_.value(last.a.number, lane);
      if (!place) return doubt(tally, by_jump, at);
      for (unsigned other = lane; other < 32; ++other) {
        if ((jumping >> other & 1) == 0) continue;
        const auto its = registers_.value(last.a.number, other);
        if (!its) return doubt(tally, by_jump, at);
        if (*its != *place) together &= ~(Lanes{1} << other);
      }
      target = last.target + static_cast<std::int32_t>(*place);
    }
    const auto to = static_cast<std::uint64_t>(target);
    if (to % sass::instruction_bytes != 0 ||
        to / sass::instruction_bytes >= code_.operations.size()) {
      return doubt(tally, by_jump, at);
    }
    const auto place = static_cast<std::uint32_t>(to / sass::instruction_bytes);
    if (code_.blocks[code_.block_of[place]].first != place) return doubt(tally, by_jump, at);
    const Lanes others = group.lanes & ~together;
    if (last.kind != Kind::branch && others != 0) tally.depends_on_time = true;
    if (jumping == together) return part(group, together, place);
    groups_.push_back({together, place, false});
    tally.depends_on_time = true;
    group.lanes = others;
    group.turn = 0;
    jumping &= ~together;
  }
  return true;
}

bool Walk::leave_block(Group& group, const Operation& last, std::uint32_t at, Tally& tally) {
  group.at = at;
  if (last.kind < Kind::branch || last.never_runs()) {
    ++group.at;
    return true;
  }
  const auto taken = registers_.split(last, group.lanes);
  if (last.kind == Kind::barrier) {
    if (!groups_.empty()) tally.depends_on_time = true;
    ++group.at;
    return true;
  }
  if (taken.unknown != 0) return doubt(tally, by_value, at);
  tally.acted[at] += count(taken.holds);
  switch (last.kind) {
    case Kind::branch:
    case Kind::branch_by_table:
    case Kind::call:
    case Kind::back:
      return jump(group, last, at, taken.holds, tally);
    case Kind::end:
      ended_ |= taken.holds;
      if (taken.holds != 0 && !groups_.empty()) {
        // A whole group that ends does not concern one other that goes on.
        const bool is_alone = groups_.size() == 1 && !groups_[0].is_waiting;
        if (taken.holds != group.lanes || !is_alone) tally.depends_on_time = true;
      }
      group.lanes &= ~taken.holds;
      ++group.at;
      if (taken.holds != 0) release(tally);
      return true;
    case Kind::begin_sync:
      for (unsigned lane = 0; lane < 32; ++lane) {
        if ((taken.holds >> lane & 1) != 0) waited_for_[last.barrier][lane] = group.lanes;
      }
      ++group.at;
      return true;
    case Kind::leave_sync:
      if (taken.holds != 0) tally.depends_on_time = true;
      for (Lanes& waited_for : waited_for_[last.barrier]) waited_for &= ~taken.holds;
      ++group.at;
      if (taken.holds != 0) release(tally);
      return true;
    case Kind::sync:
      return arrive(group, tally);
    case Kind::gather:
      return gather(group, last, at, taken.holds, tally);
    case Kind::branch_when_parted: {
      Lanes here = group.lanes;
      for (const Group& other : groups_) here |= other.lanes;
      if (here != group.lanes) return doubt(tally, apart, at);
      ++group.at;
      return true;
    }
    default:
      return doubt(tally, far_call, at);
  }
}

/// A group comes to a BSYNC, where it waits or goes on with all that waited.
bool Walk::arrive(Group& group, Tally& tally) {
  group.is_waiting = true;
  groups_.push_back(group);
  group.lanes = 0;
  release(tally);
  return true;
}

/// The lanes of each mask become a group of their own, all of which go on behind the operation.
bool Walk::part_by_mask(Group& group, const Operation& operation, Tally& tally) {
  const std::uint32_t at = group.at++;
  ++turns_;
  while (group.lanes != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(group.lanes));
    Lanes together = 0;
    for (unsigned lane = first; lane < 32; ++lane) {
      const bool is_alike =
          registers_.value(operation.a.number, lane) == registers_.value(operation.a.number, first);
      if (is_alike) together |= group.lanes & Lanes{1} << lane;
    }
    groups_.push_back({together, group.at, false, 0, turns_});
    group.lanes &= ~together;
    if (group.lanes != 0) tally.issue_again(at, group.lanes);
  }
  return true;
}

/// A group comes to a WARPSYNC, which waits for the lanes of its mask. An exclusive one lets the
/// lanes of each mask go on alone.
bool Walk::gather(Group& group, const Operation& operation, std::uint32_t at, Lanes of,
                  Tally& tally) {
  Lanes others = 0;
  for (const Group& other : groups_) others |= other.lanes;
  const bool is_exclusive = operation.mode == exclusive;
  if (others == 0 && !is_exclusive) {
    ++group.at;
    return true;
  }
  if (of != group.lanes || (operation.mode != 0 && !is_exclusive)) return doubt(tally, apart, at);
  Lanes wanted = all_lanes, together = 0;
  if (operation.a.is_register()) {
    const auto first = static_cast<unsigned>(std::countr_zero(group.lanes));
    for (unsigned lane = first; lane < 32; ++lane) {
      if ((group.lanes >> lane & 1) == 0) continue;
      const auto mask = registers_.value(operation.a.number, lane);
      if (!mask) return doubt(tally, apart, at);
      if (lane == first) wanted = *mask;
      if (*mask == wanted) together |= Lanes{1} << lane;
    }
    if (together != group.lanes && !is_exclusive) return doubt(tally, apart, at);
  }
  wanted &= others;
  if (is_exclusive && wanted != 0) return doubt(tally, apart, at);
  if (is_exclusive && together != group.lanes) return part_by_mask(group, operation, tally);
  if (wanted == 0) {
    ++group.at;
    return true;
  }
  group.gathered = wanted;
  return arrive(group, tally);
}

/// Lets those go on whose others have all come, or ended.
void Walk::release(Tally& tally) {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (!groups_[i].is_waiting) continue;
    const std::uint32_t at = groups_[i].at, turn = groups_[i].turn;
    const Operation& sync = code_.operations[at];
    const bool is_gather = sync.kind == Kind::gather;
    const auto lane = static_cast<unsigned>(std::countr_zero(groups_[i].lanes));
    const Lanes others = is_gather ? groups_[i].gathered : waited_for_[sync.barrier][lane];
    const Lanes wanted = (others | groups_[i].lanes) & ~ended_;
    const auto is_of_it = [&](const Group& group) {
      return group.is_waiting && group.at == at && (group.lanes & wanted) != 0;
    };
    Lanes here = 0;
    unsigned met = 0;
    bool is_in_turn = turn != 0;
    for (const Group& group : groups_) {
      if (!is_of_it(group)) continue;
      here |= group.lanes;
      ++met;
      is_in_turn &= group.turn == turn;
    }
    if ((wanted & ~here) != 0) continue;
    // Who goes on first is not known where a group that is taken along waits for others as well.
    for (const Group& group : groups_) {
      const Lanes its = (group.gathered | group.lanes) & ~ended_;
      if (is_gather && is_of_it(group) && (its & ~wanted) != 0) tally.depends_on_time = true;
    }
    // Those that an exclusive WARPSYNC let go come one after the other.
    if (met > 2 && !is_in_turn) {
      const std::uint32_t block = code_.block_of[at];
      tally.crowded[block] = 1;
      if (!code_.blocks[block].is_passed_once) tally.depends_on_time = true;
    }
    if (is_gather) tally.issue_again(at, here);
    std::erase_if(groups_, is_of_it);
    groups_.push_back({here, at + 1, false});
    i = ~std::size_t{0};  // from the beginning
  }
}

}  // namespace warpmeter::model::steps
