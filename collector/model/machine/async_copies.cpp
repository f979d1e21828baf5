// SPDX-License-Identifier: MIT
#include "collector/model/machine/async_copies.h"

#include <algorithm>
#include <bit>

#include "base/lanes.h"
#include "collector/model/machine/warp/lane_rows.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {
namespace {

constexpr std::uint64_t line_bytes = 128;

struct CopyPlaces {
  std::uint64_t line = 0;  ///< where the line begins that the first lane is in
  /// From there on: the cost does not change when all move by whole lines. Lanes left out: 0.
  std::array<std::uint64_t, warp_lanes> in_line{};
};

CopyPlaces places(Warp& w, std::uint16_t row, const BulkCopy::Place& place, std::uint32_t mask) {
  CopyPlaces result;
  bool is_first = true;
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t base =
        place.is_wide ? row_of<std::uint64_t>(w, row)[lane] : row_of<std::uint32_t>(w, row)[lane];
    const std::uint64_t address = base + static_cast<std::uint64_t>(place.offset);
    if (is_first) result.line = address / line_bytes * line_bytes;
    is_first = false;
    result.in_line[lane] = address - result.line;
  });
  return result;
}

void find_deltas(const AsyncCopyMemo& memo, CopyRecording& recording) {
  const auto first = static_cast<unsigned>(std::countr_zero(memo.writing));
  for_each_lane(memo.writing, [&](unsigned lane) {
    const std::uint64_t read = memo.from.address[lane];
    std::uint64_t reader = lane;  // the first lane that reads of its line
    for_each_lane(memo.writing & ((1u << lane) - 1), [&](unsigned lower) {
      const bool is_same = memo.from.address[lower] / line_bytes == read / line_bytes;
      if (is_same) reader = std::min<std::uint64_t>(reader, lower);
    });
    recording.delta[lane] = (reader * line_bytes + read % line_bytes) << 32 |
                            static_cast<std::uint32_t>(memo.to[lane] - memo.to[first]);
  });
}

/// All lanes write; those of which the source has bytes read, and read as much as they write.
void find_cost(AsyncCopyMemo& memo, const SiteInfo& from) {
  const auto cost_of = from.bypasses_l1 ? cost_past_l1 : cost_through_l1;
  const AsyncCopyCost written = cost_of({memo.from.address, memo.writing, from.width}, memo.to);
  memo.cost = from.bypasses_l1 ? cost_past_l1(memo.from, memo.to) : written;
  memo.cost.wavefronts = written.wavefronts;
  memo.cost.is_calibrated &= written.is_calibrated;
  const WarpAccess to = {memo.to, memo.writing, from.width};
  memo.ideal = std::min(written.wavefronts, shared_cost(to, SharedAccess::store).ideal);
  const Cost read = global_cost(memo.from);
  if (from.bypasses_l1) {
    memo.cost.ideal_sectors = std::min(memo.cost.sectors, read.ideal);
  } else if (from.may_fall_short) {
    memo.cost.sectors = read.transactions;
    memo.cost.bytes = read.bytes;
    memo.cost.ideal_sectors = read.ideal;
  }
}

}  // namespace

void count_copy(Warp& w, const Operation* op, std::uint32_t mask) {
  WorkerMemory& memory = *w.memory;
  if (!memory.is_counted || mask == 0) return;
  std::uint32_t reading = mask;
  if (op->c != no_operand) {
    const std::uint32_t* const bytes = row_of<std::uint32_t>(w, op->c);
    for_each_lane(mask, [&](unsigned lane) {
      if (bytes[lane] == 0) reading &= ~(1u << lane);
    });
  }
  const auto index = static_cast<std::size_t>(op->imm);
  const AsyncCopy& copy = memory.program->async_copies[index];
  const SiteInfo& from = memory.program->sites[copy.from.site];
  AsyncCopyMemo& memo = memory.copy_memos[index];
  const CopyPlaces read = places(w, op->b, copy.from, mask);
  const CopyPlaces written = places(w, op->a, copy.to, mask);
  if (memo.from.mask != reading || memo.writing != mask || memo.from.address != read.in_line ||
      memo.to != written.in_line) {
    memo.from = {read.in_line, reading, from.width};
    memo.writing = mask;
    memo.to = written.in_line;
    find_cost(memo, from);
    if (memory.recording != nullptr) find_deltas(memo, memory.recording->copies[index]);
  }
  if (memory.recording != nullptr) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    CopyRecording& recording = memory.recording->copies[index];
    recording.ways.lie(AddressSpace::shared, mask, recording.delta.data());
    recording.ways.add(static_cast<std::uint32_t>(written.line + memo.to[first]), 1);
  }
  SiteCounts& reads = memory.counts[copy.from.site];
  SiteCounts& writes = memory.counts[copy.to.site];
  writes.shared.transactions += memo.cost.wavefronts;
  writes.shared.ideal += memo.ideal;
  reads.global.requests += from.may_fall_short && reading != 0 ? 1 : 0;
  reads.global.transactions += memo.cost.sectors;
  reads.global.bytes += memo.cost.bytes;
  reads.global.ideal += memo.cost.ideal_sectors;
  reads.global.empty += reading == 0 ? 1 : 0;
  reads.is_approximate |= from.bypasses_l1 && !memo.cost.is_calibrated;
  writes.is_approximate |= !memo.cost.is_calibrated;
}

}  // namespace warpmeter::model
