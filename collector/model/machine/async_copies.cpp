// SPDX-License-Identifier: MIT
#include "collector/model/machine/async_copies.h"

#include "base/lanes.h"
#include "collector/model/machine/warp/lane_rows.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {
namespace {

/// The addresses of the lanes from the line on that the first of them is in: the cost does not
/// change when all move by whole lines. Lanes left out: 0.
std::array<std::uint64_t, warp_lanes> places(Warp& w, std::uint16_t row,
                                             const BulkCopy::Place& place, std::uint32_t mask) {
  constexpr std::uint64_t line_mask = 127;
  std::array<std::uint64_t, warp_lanes> result{};
  std::uint64_t line = 0;
  bool is_first = true;
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t base =
        place.is_wide ? row_of<std::uint64_t>(w, row)[lane] : row_of<std::uint32_t>(w, row)[lane];
    const std::uint64_t address = base + static_cast<std::uint64_t>(place.offset);
    if (is_first) line = address & ~line_mask;
    is_first = false;
    result[lane] = address - line;
  });
  return result;
}

}  // namespace

void count_copy(Warp& w, const Operation* op, std::uint32_t mask) {
  WorkerMemory& memory = *w.memory;
  if (!memory.is_counted) return;
  if (op->c != no_operand) {
    const std::uint32_t* const bytes = row_of<std::uint32_t>(w, op->c);
    for_each_lane(mask, [&](unsigned lane) {
      if (bytes[lane] == 0) mask &= ~(1u << lane);
    });
  }
  if (mask == 0) return;
  const auto index = static_cast<std::size_t>(op->imm);
  const AsyncCopy& copy = memory.program->async_copies[index];
  const SiteInfo& from = memory.program->sites[copy.from.site];
  memory.copy_memos.resize(memory.program->async_copies.size());
  AsyncCopyMemo& memo = memory.copy_memos[index];
  const auto read = places(w, op->b, copy.from, mask), written = places(w, op->a, copy.to, mask);
  if (memo.from.mask != mask || memo.from.address != read || memo.to != written) {
    memo.from = {read, mask, from.width};
    memo.to = written;
    memo.cost =
        from.bypasses_l1 ? cost_past_l1(memo.from, memo.to) : cost_through_l1(memo.from, memo.to);
  }
  SiteCounts& reads = memory.counts[copy.from.site];
  SiteCounts& writes = memory.counts[copy.to.site];
  writes.shared.transactions += memo.cost.wavefronts;
  reads.global.transactions += memo.cost.sectors;
  reads.global.bytes += memo.cost.bytes;
  reads.is_approximate |= from.bypasses_l1 && !memo.cost.is_calibrated;
  writes.is_approximate |= !memo.cost.is_calibrated;
}

}  // namespace warpmeter::model
