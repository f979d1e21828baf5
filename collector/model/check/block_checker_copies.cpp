// SPDX-License-Identifier: MIT
// The checker's view of copies that run on while their threads do.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/lanes.h"
#include "base/with_noun.h"
#include "collector/model/check/block_checker.h"
#include "collector/model/check/stored_value.h"
#include "collector/model/machine/bulk.h"
#include "collector/model/machine/memory/shown_name.h"
#include "collector/model/machine/object_waits.h"
#include "collector/model/machine/warp/lane_rows.h"
#include "collector/model/machine/warp/mbarrier.h"

namespace warpmeter::model::check {
namespace {

Span span_of(std::uint32_t thread, std::uint32_t other) {
  return thread / warp_lanes == other / warp_lanes ? Span::warp : Span::block;
}

}  // namespace

/// Accesses to what a copy may still write; and copies that begin.
void BlockChecker::check_copies(const Warp& warp, const Operation* op, const SiteInfo& info,
                                const Places& places, bool is_copy) {
  for_each_lane(places.mask, [&](unsigned lane) {
    const std::uint32_t thread = warp.index * warp_lanes + lane;
    const std::uint64_t offset = places[lane];
    if (is_copy) {
      Copy copy;
      copy.offset = offset;
      copy.width = info.width;
      std::tie(copy.source, copy.source_end) = std::exchange(sources_[lane], {});
      copy.instruction = op->instruction;
      copy.thread = thread;
      std::copy_n(stored_value(warp, op, info, lane).begin(),
                  std::min<std::size_t>(info.width, copy.value.size()), copy.value.begin());
      copies_.start(copy);
    } else if (const Copy* copy = copies_.under_way(offset, info.width)) {
      add_unawaited(*copy, op->instruction, thread, info.kind != AccessKind::load);
    }
  });
}

/// Stores to what a copy may still read; and what copies are about to read.
void BlockChecker::check_sources(const Warp& warp, const Operation* op, const SiteInfo& info,
                                 const Places& places) {
  const bool is_bulk = op->code == Code::bulk_copy;
  for_each_lane(places.mask, [&](unsigned lane) {
    const std::uint32_t thread = warp.index * warp_lanes + lane;
    const std::uint64_t begin = places[lane], end = begin + info.width;
    if (info.kind != AccessKind::load) {
      if (const Copy* copy = copies_.reading(begin, info.width)) {
        add_changed(copy->instruction, copy->thread, op->instruction, thread, begin);
      } else if (const Stretch* stretch = bulk_sources_.under_way(begin, info.width, true)) {
        add_changed(stretch->instruction, stretch->thread, op->instruction, thread, begin);
      }
    } else if (is_bulk && op->d != no_operand && !launch_.is_in_clusters_) {
      bulk_sources_.start({begin, end, op->instruction, thread, false, {}, false, 0});
    } else if (info.carrier == Carrier::copy) {
      auto& [from, to] = sources_[lane];
      from = from == to ? begin : std::min(from, begin);
      to = std::max(to, end);
    }
  });
}

void BlockChecker::add_changed(std::uint32_t copy, std::uint32_t of, std::uint32_t instruction,
                               std::uint32_t thread, std::uint64_t address) {
  launch_.findings_.add(Defect::global_race, instruction, span_of(of, thread), [&] {
    const Allocation* memory = launch_.memory_.find(address);
    return Described{
        sentence(thread, fmt::format("writes {} at byte {}, from which the copy that {} started "
                                     "on {} may still read; wait for the copy first",
                                     shown_name(*memory), address - memory->address,
                                     launch_.names_.thread(of), launch_.names_.line(copy))),
        copy};
  });
}

/// Copies into memory that another block has by now, but for those that a finding names already.
void BlockChecker::end() {
  take_late_loads();
  launch_.note_end();
  if (launch_.is_in_clusters_) return;
  for (const Stretch& stretch : bulk_copies_.loads()) {
    if (launch_.told_copies_.contains(stretch.instruction)) continue;
    launch_.findings_.add(Defect::race, stretch.instruction, Span::block, [&] {
      return sentence(
          stretch.thread,
          fmt::format("starts a copy to {}, and its block ends before anybody waits for "
                      "the barrier object: the copy may write to memory that another "
                      "block has by then; wait for it",
                      shared_at(stretch.begin, 0)));
    });
  }
}

void BlockChecker::add_unawaited(const Copy& copy, std::uint32_t instruction, std::uint32_t thread,
                                 bool writes) {
  launch_.findings_.add(Defect::race, instruction, span_of(copy.thread, thread), [&] {
    return Described{
        sentence(thread,
                 fmt::format(
                     "{} {} to which the copy that {} started on {} may still "
                     "be under way; wait for it (cp.async.wait_all, or __pipeline_wait_prior) and "
                     "then, where another thread uses it, call __syncthreads()",
                     writes ? "writes" : "reads", shared_at(copy.offset, copy.width),
                     launch_.names_.thread(copy.thread), launch_.names_.line(copy.instruction))),
        copy.instruction};
  });
}

/// Other threads see a copy's writes from when its own has waited for it: as if it were written
/// then.
void BlockChecker::advance_copies(const Warp& warp, const CopyInfo& info, std::uint32_t mask) {
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint32_t thread = warp.index * warp_lanes + lane;
    for (const Copy& copy : copies_.advance(info, thread)) {
      if (copy.handed_over == 0) write_copy(warp, lane, copy);
    }
  });
}

void BlockChecker::write_copy(const Warp& warp, unsigned lane, const Copy& copy) {
  const std::uint32_t site = launch_.site_of_copy_[copy.instruction];
  const std::uint32_t number = context_of(site, warp.index, true, false, true, false);
  current_ = {&warp, nullptr, &program_.sites[site], site, {}, nullptr, &copy};
  current_.places.space = AddressSpace::shared;
  const Accessing by{order_, contexts_, number, contexts_[number], 0, false};
  shared_.touch(copy.offset, copy.width, 1u << lane, by, *this);
}

/// The barrier object that an operation names, by its place in shared memory. Nothing where it
/// names none there.
std::optional<std::uint64_t> BlockChecker::object_of(const Warp& warp, const Operation* op,
                                                     unsigned lane) const {
  return object_place(warp, op, lane, program_.shared_bytes(launch_.geometry_));
}

/// The object counts the copies: whoever waits for its phase knows that they are there, and
/// nobody else does.
void BlockChecker::hand_over_copies(const Warp& warp, const Operation* op, std::uint32_t mask) {
  for_each_lane(mask, [&](unsigned lane) {
    const std::optional<std::uint64_t> object = object_of(warp, op, lane);
    if (!object) return;
    const bool phase = phase_of(*object);
    const std::uint32_t thread = warp.index * warp_lanes + lane;
    for (const Copy& copy : copies_.hand_over(thread, *object, phase)) write_copy(warp, lane, copy);
    if (op->code == Code::nothing) order_.arrive_object(*object, phase, warp.index, lane);
  });
}

/// Accesses to what a copy of a stretch may still write or read; and such copies that begin.
void BlockChecker::check_bulk_copies(const Warp& warp, const Operation* op, const SiteInfo& info,
                                     const Places& places) {
  const bool writes = info.kind != AccessKind::load && op->code != Code::mbarrier_wait;
  const bool has_group = op->d == no_operand;  // it has no barrier object
  for_each_lane(places.mask, [&](unsigned lane) {
    const std::uint32_t thread = warp.index * warp_lanes + lane;
    const std::uint64_t offset = places[lane];
    if (const Stretch* stretch = bulk_copies_.under_way(offset, info.width, writes)) {
      add_unawaited(*stretch, op->instruction, thread, offset, writes);
    }
    if (op->code == Code::bulk_copy && (writes || has_group)) {
      bulk_copies_.start(
          {offset, offset + info.width, op->instruction, thread, !writes, {}, false, 0});
    }
  });
}

void BlockChecker::add_unawaited(const Stretch& stretch, std::uint32_t instruction,
                                 std::uint32_t thread, std::uint64_t offset, bool writes) {
  launch_.told_copies_.insert({stretch.instruction, instruction});
  launch_.findings_.add(Defect::race, instruction, span_of(stretch.thread, thread), [&] {
    return Described{
        sentence(thread, fmt::format("{} {}, {} the copy that {} started on {} may "
                                     "still {}; {} and then, where another thread uses it, call "
                                     "__syncthreads()",
                                     writes ? "writes" : "reads", shared_at(offset, 0),
                                     stretch.is_read ? "from which" : "to which",
                                     launch_.names_.thread(stretch.thread),
                                     launch_.names_.line(stretch.instruction),
                                     stretch.is_read ? "read" : "write",
                                     stretch.is_read ? "wait for it (cp.async.bulk.wait_group.read)"
                                                     : "wait for its barrier object")),
        stretch.instruction};
  });
}

bool BlockChecker::is_copied_in_bulk(const Operation& op) const {
  return op.code == Code::bulk_copy &&
         program_.bulk_copies[static_cast<std::size_t>(op.imm)].kind == BulkCopy::Kind::copy;
}

/// Unset bytes stay unset where they are copied to, and are no mistake before they are used. An
/// element is read, then written, before the next; what fills a box beside its tensor is written
/// only.
void BlockChecker::pass_on_in_bulk(MarkedBytes* written, std::uint64_t offset) {
  const std::uint32_t width = current_.info->width;
  if (current_.info->kind == AccessKind::load) {
    set_in_bulk_ = 0;
    for (std::uint32_t i = 0; i < width; ++i) {
      if (written == nullptr || written->all(offset + i, 1)) set_in_bulk_ |= 1u << i;
    }
    return;
  }
  for (std::uint32_t i = 0; written != nullptr && i < width; ++i) {
    if ((set_in_bulk_ >> i & 1) != 0) {
      written->mark(offset + i, 1);
    } else {
      written->unmark(offset + i, 1);
    }
  }
  set_in_bulk_ = ~0u;
}

void BlockChecker::check_bulk_size(const Warp& warp, const Operation* op, std::uint32_t mask) {
  if (op->c == no_operand) return;  // a box has the size that its descriptor says
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint32_t bytes = row_of<std::uint32_t>(warp, op->c)[lane];
    if (bytes % bulk_step == 0) return;
    launch_.findings_.add(Defect::misaligned, op->instruction, Span::none, [&] {
      return sentence(
          warp.index * warp_lanes + lane,
          fmt::format("copies {}, which is no multiple of {}: hardware copies {}",
                      with_noun(bytes, "byte"), bulk_step, bytes / bulk_step * bulk_step));
    });
  });
}

/// A copy that brings more bytes than its object awaits ends the phase when those are there.
void BlockChecker::check_bytes(const Warp& warp, const Operation* op, unsigned lane,
                               std::uint64_t bits) {
  const std::uint64_t awaited = awaited_bytes(bits);
  const std::uint32_t bytes = row_of<std::uint32_t>(warp, op->b)[lane];
  if ((bits & mbarrier_count_mask) != 0 || awaited == 0 || bytes <= awaited) return;
  launch_.findings_.add(Defect::race, op->instruction, Span::block, [&] {
    return sentence(warp.index * warp_lanes + lane,
                    fmt::format("brings {} to a barrier object that awaits {}: its phase may "
                                "be over before all are there",
                                with_noun(bytes, "byte"), awaited));
  });
}

void BlockChecker::advance_bulk_copies(const Warp& warp, std::uint32_t instruction,
                                       std::uint32_t mask) {
  for (const CopyInfo& info : program_.bulk_groups) {
    if (info.instruction != instruction) continue;
    for_each_lane(
        mask, [&](unsigned lane) { bulk_copies_.advance(info, warp.index * warp_lanes + lane); });
  }
}

}  // namespace warpmeter::model::check
