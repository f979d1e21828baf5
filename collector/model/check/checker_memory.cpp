// What the checker makes of accesses: those that are refused, and those that may go on.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "collector/model/check/checker.h"
#include "collector/model/mbarrier.h"
#include "collector/model/trap_message.h"
#include "collector/model/worker.h"

namespace warpmeter::model::check {
namespace {

/// mbarrier.init, which does not look at what was there.
bool makes_barrier(const Operation& op) {
  return op.code == Code::mbarrier && static_cast<MbarrierKind>(op.c) == MbarrierKind::init;
}

bool knows_value(const SiteInfo& info) {
  return info.kind == AccessKind::store && info.row_bytes > 0;
}

/// What a store is about to put there: the registers' low bytes, part after part, as
/// execute/memory.inc finds them.
std::array<std::byte, 64> stored_value(const Warp& warp, const Operation* op, const SiteInfo& info,
                                       unsigned lane) {
  std::array<std::byte, 64> value{};
  if (!knows_value(info)) return value;
  const std::uint16_t rows[] = {op->d, op->b, op->c, op->e};
  const unsigned part_bytes = info.width / info.parts;
  const unsigned units = info.row_bytes * warp_lanes / row_unit_bytes;
  for (unsigned part = 0; part < info.parts; ++part) {
    const unsigned row = info.parts > std::size(rows) ? op->d + part * units : rows[part];
    const std::byte* lanes = warp.registers + row * row_unit_bytes;
    std::memcpy(value.data() + part * part_bytes, lanes + std::size_t{lane} * info.row_bytes,
                part_bytes);
  }
  return value;
}

}  // namespace

std::byte* Checker::refuse(const Warp& warp, const Operation* op, TrapKind kind, AddressSpace space,
                           unsigned lane, std::uint64_t address) {
  BlockTrap trap;
  trap.block = block_;
  trap.warp = warp.index;
  trap.raised.kind = kind;
  trap.raised.space = static_cast<std::uint8_t>(space);
  trap.raised.lane = lane;
  trap.raised.instruction = op->instruction;
  trap.raised.address = address;
  trap.raised.width = program_.sites[op->extra].width;
  const Defect defect = kind == TrapKind::misaligned ? Defect::misaligned : Defect::out_of_bounds;
  if (findings_.contains({defect, op->instruction})) {
    ++findings_[{defect, op->instruction}].times;
  } else {
    add(defect, op->instruction, "", 0);
    findings_[{defect, op->instruction}].message =
        describe(trap, program_, geometry_, memory_).message;
  }
  nowhere_ = {};
  return nowhere_.data();
}

void Checker::accept(const Warp& warp, const Operation* op, const SiteInfo& info,
                     AddressSpace space, unsigned lane, std::uint64_t address) {
  const std::uint32_t thread = warp.index * warp_lanes + lane;
  const bool is_atomic = info.kind == AccessKind::atomic || info.kind == AccessKind::reduction;
  const bool reads = info.kind == AccessKind::load || (is_atomic && !makes_barrier(*op));
  const bool writes = info.kind != AccessKind::load;
  // Of a structure that is copied, the bytes between its members are read as well.
  const std::uint64_t chunk = address - address % structure_chunk;
  const bool is_structure = in_structures_[op->extra];
  const std::uint64_t from = is_structure ? chunk : address;
  const auto width = static_cast<std::uint32_t>(
      is_structure
          ? (address + info.width - chunk + structure_chunk - 1) / structure_chunk * structure_chunk
          : info.width);
  const auto unwritten = [&](const std::string& where) {
    add(Defect::uninitialised, op->instruction,
        fmt::format("reads {} bytes of {} that nothing has written", info.width, where), thread);
  };
  if (space == AddressSpace::global) {
    if (reads && !written_.is_written(from, width)) {
      const Allocation* allocation = memory_.find(address);
      unwritten(fmt::format("'{}' at byte {}", allocation->name, address - allocation->address));
    }
    if (writes) written_.mark(address, info.width);
    if (blocks_may_race_) check_blocks(warp, op, info, lane, address);
  } else if (space == AddressSpace::local) {
    const auto own = local_written_.begin() +
                     static_cast<std::ptrdiff_t>(std::uint64_t{thread} * program_.local_bytes);
    const auto at = [&](std::uint64_t byte) {
      return own + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(byte, program_.local_bytes));
    };
    if (reads && !info.is_call_parameter &&
        std::find(at(from), at(from + width), true) == at(from + width)) {
      unwritten(fmt::format("local memory at byte {}", address));
    }
    if (writes) std::fill(at(address), at(address + info.width), true);
  } else if (space == AddressSpace::shared) {
    if (reads && !races_.is_written(from, width)) {
      unwritten(fmt::format("shared memory at byte {}", address));
    }
    SharedAccess access;
    access.thread = thread;
    access.offset = address;
    access.width = info.width;
    access.instruction = op->instruction;
    access.reads = reads;
    access.writes = writes;
    access.is_strong = is_atomic || info.is_strong;
    const std::array<std::byte, 64> value = stored_value(warp, op, info, lane);
    if (knows_value(info)) access.value = {value.data(), info.width};
    const CopyInfo* const copy = program_.copies.empty() ? nullptr : copies_.find(op->instruction);
    const bool is_copy = copy != nullptr && writes;
    check_shared(access, is_copy);
    if (is_copy) {
      Copy started{address, info.width, op->instruction, thread, {}};
      std::copy_n(value.begin(), std::min<std::size_t>(info.width, started.value.size()),
                  started.value.begin());
      copies_.start(started);
    }
  }
}

void Checker::check_shared(const SharedAccess& access, bool is_copy) {
  const Copy* const copy = is_copy ? nullptr : copies_.under_way(access.offset, access.width);
  if (copy != nullptr) add_unawaited(*copy, access.instruction, access.thread, access.writes);
  const auto race = races_.access(access);
  if (!race) return;
  const bool same_warp = race->other_thread / warp_lanes == access.thread / warp_lanes;
  add(Defect::race, access.instruction,
      fmt::format("{} shared memory at byte {} that {} {} on {} with nothing to order the two; "
                  "put {}() between them",
                  access.writes ? "writes" : "reads", access.offset,
                  thread_name(race->other_thread), race->other_writes ? "writes" : "reads",
                  line_of(race->other_instruction), same_warp ? "__syncwarp" : "__syncthreads"),
      access.thread);
}

void Checker::add_unawaited(const Copy& copy, std::uint32_t instruction, std::uint32_t thread,
                            bool writes) {
  add(Defect::race, instruction,
      fmt::format("{} shared memory at byte {} to which the copy that {} started on {} may still "
                  "be under way; wait for it (cp.async.wait_all, or __pipeline_wait_prior) and "
                  "then, where another thread uses it, call __syncthreads()",
                  writes ? "writes" : "reads", copy.offset, thread_name(copy.thread),
                  line_of(copy.instruction)),
      thread);
}

/// What a copy wrote is there for other threads from when its own has waited for it: as if it were
/// written then.
void Checker::advance_copies(const Warp& warp, const CopyInfo& info, std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint32_t thread =
        warp.index * warp_lanes + static_cast<std::uint32_t>(std::countr_zero(rest));
    for (const Copy& copy : copies_.advance(info, thread)) {
      SharedAccess access;
      access.thread = thread;
      access.offset = copy.offset;
      access.width = copy.width;
      access.instruction = copy.instruction;
      access.writes = true;
      access.value = {copy.value.data(), copy.width};
      const auto race = races_.access(access);
      if (!race) continue;
      add_unawaited(copy, race->other_instruction, race->other_thread, race->other_writes);
    }
  }
}

/// An access to global memory of a kernel whose blocks nothing can order.
void Checker::check_blocks(const Warp& warp, const Operation* op, const SiteInfo& info,
                           unsigned lane, std::uint64_t address) {
  GlobalAccess access;
  access.address = address;
  access.block = static_cast<std::uint32_t>(block_);
  access.width = info.width;
  access.instruction = op->instruction;
  access.writes = info.kind != AccessKind::load;
  if (access.writes) {
    const Allocation* allocation = memory_.find(address);
    const std::array<std::byte, 64> value = stored_value(warp, op, info, lane);
    access.changes =
        !knows_value(info) || std::memcmp(allocation->data.data() + (address - allocation->address),
                                          value.data(), info.width) != 0;
  }
  const auto race = block_races_.access(access);
  if (!race) return;
  const Allocation* allocation = memory_.find(address);
  add(Defect::block_race, op->instruction,
      fmt::format("{} '{}' at byte {}, which {} {} on {}; blocks run in any order, so let only one "
                  "of them use it, or launch a second kernel",
                  access.writes ? "writes" : "reads", allocation->name,
                  address - allocation->address, block_name(race->other_block),
                  race->other_writes ? "writes" : "reads", line_of(race->other_instruction)),
      warp.index * warp_lanes + lane);
}

}  // namespace warpmeter::model::check
