// SPDX-License-Identifier: MIT
#include "collector/model/check/block_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/lanes.h"
#include "base/with_noun.h"
#include "collector/model/check/unset/source_lane.h"
#include "collector/model/machine/launch/trap_message.h"
#include "collector/model/machine/launch/worker.h"
#include "collector/model/machine/warp/exchange_operands.h"
#include "collector/model/machine/warp/lane_rows.h"

namespace warpmeter::model::check {
namespace {

std::uint32_t lanes_below(std::uint32_t count) { return count >= 32 ? ~0u : (1u << count) - 1; }

ptx::Spread shuffle_of(Code code) {
  return code == Code::shfl_up     ? ptx::Spread::shuffle_up
         : code == Code::shfl_down ? ptx::Spread::shuffle_down
         : code == Code::shfl_bfly ? ptx::Spread::shuffle_xor
                                   : ptx::Spread::shuffle_index;
}

std::uint32_t warps_of(const Geometry& geometry) {
  return static_cast<std::uint32_t>((geometry.block.count() + warp_lanes - 1) / warp_lanes);
}

}  // namespace

void BlockChecker::arrive(std::uint32_t barrier, std::uint32_t warp) {
  take_late_loads();
  take_reads();
  order_.arrive(barrier, warp);
}

BlockChecker::BlockChecker(Checker& launch)
    : launch_(launch),
      program_(launch.program_),
      order_(launch.geometry_.grid.count(), warps_of(launch.geometry_), launch.program_),
      shared_(program_.shared_bytes(launch.geometry_), true, launch.budget_),
      shared_written_(program_.shared_bytes(launch.geometry_)),
      unset_(program_),
      copies_(program_, program_.shared_bytes(launch.geometry_), launch.geometry_.block.count()),
      shared_number_(program_.sites.size() * warps_of(launch.geometry_)),
      global_number_(shared_number_.size()),
      segments_(program_.sites.size()),
      plans_(program_.sites.size()),
      regions_(program_.sites.size()) {
  for (std::size_t site = 0; site < plans_.size(); ++site) {
    plans_[site].may_be_made = launch_.may_plan(program_.sites[site]);
  }
}

void BlockChecker::start(std::uint64_t block, const std::byte* shared) {
  take_late_loads();
  order_.start(static_cast<std::uint32_t>(block));
  shared_memory_ = shared;
  first_number_ = launch_.contexts_.next();
  contexts_.forget();
  if (contexts_.is_nearly_full()) {
    shared_.clear();
    contexts_.start_again();
    std::fill(shared_number_.begin(), shared_number_.end(), 0);
  }
  note_past();
  moment_ = 0;
  launch_.note_start(block);
  locations_.clear();
  shared_written_.clear();
  unset_.start_block(warps_of(launch_.geometry_));
  copies_.start_block();
  bulk_copies_.start_block();
  bulk_sources_.start_block();
  sources_ = {};
  objects_.clear();
  signals_.clear();
  told_ = {};
  told_by_blocks_ = {};
  fences_ = acquired_ = {};
  vain_waits_ = {};
  waited_.clear();
  device_fence_ = device_acquired_ = {};
  product_waits_ = {};
  start_in_cluster(block, shared);
  if (launch_.has_remote_writes_) {
    shared_written_.mark(0, program_.shared_bytes(launch_.geometry_));
  }
}

std::string BlockChecker::sentence(std::uint32_t thread, const std::string& what) const {
  return fmt::format("{} of {} {}", launch_.names_.thread(thread),
                     launch_.names_.block(order_.block()), what);
}

void BlockChecker::observe(const Warp& warp, const Operation* op, std::uint32_t mask) {
  take_late_loads();
  const std::uint8_t watched = warp.watched[op - warp.code];
  if ((watched & watch_step) != 0) check_registers(warp, op);
  if ((watched & watch_meeting) != 0) check_mask(warp, op, mask);
  if (op->code == Code::bulk_copy) check_bulk_size(warp, op, mask);
  if (op->code == Code::await_warpgroup) note_products(warp);
  if (cluster_ != nullptr) follow_cluster_barrier(warp, op, mask);
  if ((watched & watch_instruction) != 0) observe_instruction(warp, op, mask);
}

void BlockChecker::observe_instruction(const Warp& warp, const Operation* op, std::uint32_t mask) {
  take_reads();
  if (const std::uint8_t fence = launch_.fences_[op->instruction]; fence != 0) {
    const auto scope = static_cast<Scope>(fence - 1);
    fences_[warp.index] = acquired_[warp.index] = now();
    if (scope == Scope::device) device_fence_ = device_acquired_ = now();
    order_.fence(warp.index, mask, scope);
  }
  const CopyInfo* const copy = program_.copies.empty() ? nullptr : copies_.find(op->instruction);
  if (copy != nullptr && copy->kind == CopyInfo::Kind::hand_over) {
    hand_over_copies(warp, op, mask);
  } else if (copy != nullptr && copy->kind != CopyInfo::Kind::start) {
    advance_copies(warp, *copy, mask);
  }
  if (!program_.bulk_groups.empty()) advance_bulk_copies(warp, op->instruction, mask);
}

/// Reports uses of unset values that matter.
void BlockChecker::check_registers(const Warp& warp, const Operation* op) {
  const auto found = unset_.step(warp, op);
  if (!found) return;
  const std::uint32_t thread =
      warp.index * warp_lanes + static_cast<std::uint32_t>(std::countr_zero(found->lanes));
  const auto times = static_cast<std::uint64_t>(std::popcount(found->lanes));
  const auto nobody =
      found->read_by ? launch_.from_nobody_.find(*found->read_by) : launch_.from_nobody_.end();
  if (nobody != launch_.from_nobody_.end()) {
    const auto describe = [&] {
      return Described{
          sentence(thread, fmt::format("uses what was read from {}, on {}", nobody->second,
                                       launch_.names_.line(op->instruction))),
          op->instruction};
    };
    launch_.findings_.add(Defect::absent_lanes, nobody->first, Span::warp, describe, times);
    return;
  }
  const auto describe = [&] {
    return Described{sentence(thread, fmt::format("uses {}", unset_value(*found, op->instruction))),
                     found->read_by.value_or(op->instruction)};
  };
  const Defect defect = found->is_from_memory ? Defect::uninitialised : Defect::unset;
  launch_.findings_.add(defect, op->instruction, Span::none, describe, times);
}

std::string BlockChecker::unset_value(const UnsetRegisters::Found& found,
                                      std::uint32_t instruction) const {
  const std::string_view use = to_string(found.use);
  if (found.is_from_memory) {
    std::string what = "memory";
    if (found.read_by) {
      const auto known = launch_.partly_written_.find(*found.read_by);
      if (known != launch_.partly_written_.end()) what = known->second;
      what += fmt::format(" (read on {})", launch_.names_.line(*found.read_by));
    }
    return fmt::format("{}, which nothing has set, {}", what,
                       found.use == ptx::UnsetUse::value ? "to compute what it writes" : use);
  }
  if (found.read_by) {
    return fmt::format("a local array or variable (read on {}) where nothing has written it, {}",
                       launch_.names_.line(*found.read_by), use);
  }
  if (program_.places[instruction].line > 0) {
    return fmt::format("a variable that was not set on this path ({} in the PTX) {}", found.name,
                       use);
  }
  return fmt::format("{}, which was not written on this path, {}", found.name, use);
}

void BlockChecker::check_mask(const Warp& warp, const Operation* op, std::uint32_t mask) {
  const std::uint32_t* members = row_of<std::uint32_t>(warp, launch_.members_[op->instruction]);
  const auto threads = static_cast<std::uint32_t>(launch_.geometry_.block.count());
  const std::uint32_t existing = lanes_below(threads - warp.index * warp_lanes);
  const unsigned first = static_cast<unsigned>(std::countr_zero(mask));
  const std::uint32_t named = members[first];
  const bool exchanges = op->code != Code::meet;
  const auto add = [&](unsigned lane, const auto& what) {
    launch_.findings_.add(Defect::absent_lanes, op->instruction, Span::warp,
                          [&] { return sentence(warp.index * warp_lanes + lane, what()); });
  };
  // Lanes that were never started are named by every full mask, and those that have ended are not
  // waited for; what a shuffle reads of them is looked at by itself.
  const std::uint32_t absent = named & ~mask & warp.alive;
  const std::uint32_t not_named = mask & ~named;
  if (absent != 0) {
    add(first, [&] {
      return fmt::format("names lanes {:#010x} in its mask {:#010x}, but only {:#010x} are here",
                         absent, named, mask);
    });
  } else if (not_named != 0) {
    bool excludes_itself = false;
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      excludes_itself |= (members[lane] >> lane & 1) == 0;
    }
    if (excludes_itself) {
      add(first, [&] {
        return fmt::format(
            "has the mask {:#010x}, which leaves out lanes that execute it "
            "({:#010x})",
            named, mask);
      });
    }
  } else if (is_shuffle(op->code)) {
    check_shuffle(warp, op, mask);
  }
  if (exchanges) return;  // and orders no memory
  take_reads();
  for (std::uint32_t left = mask; left != 0;) {  // lanes with the same mask meet
    const std::uint32_t group = members[std::countr_zero(left)];
    std::uint32_t together = 0;
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      if (members[lane] == group) together |= 1u << lane;
    }
    // A lane that its own mask leaves out waits for nobody.
    order_.meet(warp.index, together & group, existing);
    left &= ~together;
  }
}

/// A lane gets nothing from one that is not there. Sums by halves throw it away; a
/// mistake is to use it.
void BlockChecker::check_shuffle(const Warp& warp, const Operation* op, std::uint32_t mask) {
  const std::uint32_t *b = row_of<std::uint32_t>(warp, op->b),
                      *c = row_of<std::uint32_t>(warp, op->c);
  std::uint32_t from_nobody = 0;
  unsigned first_from = 0;
  for_each_lane(mask, [&](unsigned lane) {
    const unsigned from = source_lane(shuffle_of(op->code), lane, b[lane], c[lane]);
    if ((mask >> from & 1) != 0) return;
    if (from_nobody == 0) first_from = from;
    from_nobody |= 1u << lane;
  });
  if (from_nobody == 0) return;
  const auto nobody = [&] {
    return fmt::format("lane {}, which is not here ({:#010x} are)", first_from, mask);
  };
  launch_.follow_memory();
  if (unset_.shuffled_from_nobody(warp, op, from_nobody)) {
    if (!launch_.from_nobody_.contains(op->instruction)) {
      launch_.from_nobody_.emplace(op->instruction, nobody());
    }
    return;
  }
  const auto lane = static_cast<unsigned>(std::countr_zero(from_nobody));
  launch_.findings_.add(Defect::absent_lanes, op->instruction, Span::warp, [&] {
    return sentence(warp.index * warp_lanes + lane, "reads from " + nobody());
  });
}

/// __syncthreads() has to be the same one for all threads, and none may have gone past it.
void BlockChecker::release(const Meeting& meeting) {
  take_late_loads();
  const std::uint32_t all = lanes_below(warps_of(launch_.geometry_));
  const bool is_whole_block = (meeting.waiting | meeting.finished) == all;
  if (!is_whole_block) take_reads();
  order_.release(meeting.barrier, meeting.waiting, is_whole_block);
  if (is_whole_block) note_past();
  for_each_lane(meeting.waiting, [&](unsigned warp) { vain_waits_[warp].reset(); });
  if (cluster_ != nullptr) share_phases(meeting);
  if (!meeting.is_for_all) return;
  const auto first_warp = static_cast<std::uint32_t>(std::countr_zero(meeting.waiting));
  const Operation* const first = meeting.at[first_warp];
  const auto number = [&](const Operation* op) {
    return static_cast<std::uint32_t>(op - program_.operations.data());
  };
  for (std::uint32_t rest = meeting.waiting; rest != 0; rest &= rest - 1) {
    const auto warp = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (meeting.at[warp] == first) continue;
    launch_.findings_.add(Defect::barrier, first->instruction, Span::block, [&] {
      return Described{
          sentence(
              first_warp * warp_lanes,
              fmt::format(
                  "waits at this barrier while {} waits at the one on {}; let all threads of a "
                  "block come to the same __syncthreads()",
                  launch_.names_.thread(warp * warp_lanes),
                  launch_.names_.line(meeting.at[warp]->instruction))),
          meeting.at[warp]->instruction};
    });
    break;
  }
  for (std::uint32_t rest = meeting.finished; rest != 0; rest &= rest - 1) {
    const auto warp = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (meeting.last[warp] == nullptr ||
        !launch_.passage_.is_behind(number(meeting.last[warp]), number(first))) {
      continue;
    }
    launch_.findings_.add(Defect::barrier, first->instruction, Span::block, [&] {
      return sentence(warp * warp_lanes,
                      "went past this barrier, at which other threads of its block wait; let all "
                      "of them come to it");
    });
  }
}

void BlockChecker::part(const Warp& warp, const Operation* barrier, std::uint32_t lanes) {
  take_late_loads();
  launch_.findings_.add(Defect::barrier, barrier->instruction, Span::warp, [&] {
    const int here = std::popcount(lanes);
    return sentence(
        warp.index * warp_lanes + static_cast<std::uint32_t>(std::countr_zero(lanes)),
        fmt::format(
            "comes to this barrier {} of its warp; let all threads of a block come to the "
            "same __syncthreads()",
            here == 1 ? "without any other thread" : "with only " + with_noun(here - 1, "other")));
  });
}

std::byte* BlockChecker::refuse(const Warp& warp, const Operation* op, TrapKind kind,
                                AddressSpace space, unsigned lane, std::uint64_t address) {
  take_late_loads();
  const Defect defect = kind == TrapKind::misaligned ? Defect::misaligned : Defect::out_of_bounds;
  launch_.findings_.add(defect, op->instruction, Span::none, [&] {
    BlockTrap trap;
    trap.block = order_.block();
    trap.warp = warp.index;
    trap.raised.kind = kind;
    trap.raised.space = static_cast<std::uint8_t>(space);
    trap.raised.lane = lane;
    trap.raised.instruction = op->instruction;
    trap.raised.address = address;
    trap.raised.width = program_.sites[op->extra].width;
    const bool is_global = space == AddressSpace::global && defect == Defect::out_of_bounds;
    return Illegal{model::describe(trap, program_, launch_.geometry_, launch_.memory_).message,
                   is_global ? address : 0, trap.raised.width};
  });
  nowhere_ = {};
  return nowhere_.data();
}

}  // namespace warpmeter::model::check
