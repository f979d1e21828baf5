// SPDX-License-Identifier: MIT
// Sectors that are touched as a whole: most of them, and cheap as long as nothing in them has to be
// told apart.
#include <algorithm>
#include <utility>

#include "collector/model/check/plain/plan.h"
#include "collector/model/check/shadow.h"
#include "collector/model/check/whole_lanes.h"

namespace warpmeter::model::check {

/// Where the sector is one cell and nothing in it has to be looked at closely.
bool Shadow::replace_whole(Cell& cell, std::uint32_t lanes, const Accessing& by) {
  const auto is_ordered = [&](const Slot& slot) {
    if (slot.context == 0) return true;
    const Context& theirs = by.contexts[slot.context];
    if (theirs.block != by.context.block || outlives(theirs, by)) return false;
    return by.order.is_past_for(theirs, by.context.warp) ||
           (theirs.warp == by.context.warp && slot.lanes == lanes);
  };
  if (!is_ordered(cell.write)) return false;
  if (!by.context.writes) {
    if (cell.more != 0) return false;
    if (!is_ordered(cell.read)) push(cell.more, cell.read, by, true);
    cell.read = {by.number, lanes};
    return true;
  }
  if (cell.more != 0 || !is_ordered(cell.read)) return false;
  cell.write = {by.number, lanes};
  cell.read = {};
  return true;
}

/// One more read of a sector that many warps read.
void Shadow::read_whole(Cell& cell, std::uint32_t lanes, const Accessing& by) {
  bool has_other_block = false;
  const auto is_dead = [&](const Slot& slot) {
    const Context& theirs = by.contexts[slot.context];
    if (by.order.is_simple() && theirs.block != by.context.block) {
      return std::exchange(has_other_block, true);
    }
    return by.order.is_past(theirs) || (theirs.block == by.context.block &&
                                        theirs.warp == by.context.warp && slot.lanes == lanes);
  };
  if (cell.read.context == by.number && cell.read.lanes == lanes) return;
  for (std::uint32_t* at = &cell.more; *at != 0;) {
    auto& node = chains_[*at];
    if (is_dead(node.value)) {
      chains_.pop(*at);
    } else {
      at = &node.next;
    }
  }
  has_other_block = false;
  if (!is_dead(cell.read)) push(cell.more, cell.read, by, true);
  cell.read = {by.number, lanes};
}

void Shadow::touch_whole(Sector& sector, std::uint64_t offset, std::uint32_t width,
                         std::uint32_t first_lane, const Accessing& by, ConflictSink& sink) {
  const std::uint32_t lanes = whole_lanes(first_lane, width);
  if (sector.parts == undivided) {
    if (!by.context.writes && read_plainly(sector.whole, lanes, true, by)) return;
    if (replace_whole(sector.whole, lanes, by)) return;
    // Read by many blocks, or by many warps: a chain of them is kept whole as well.
    Cell& cell = sector.whole;
    if (!by.context.writes && cell.more != 0) {
      bool writes = cell.write.context != 0 &&
                    !by.order.is_past_for(by.contexts[cell.write.context], by.context.warp);
      for (std::uint32_t i = cell.more; i != 0 && !writes; i = chains_[i].next) {
        writes = by.contexts[chains_[i].value.context].writes;
      }
      if (!writes) {
        read_whole(cell, lanes, by);
        return;
      }
    }
  }
  for (std::uint32_t byte = 0; byte < sector_bytes; byte += width) {
    touch(offset + byte, width, 1u << (first_lane + byte / width), by, sink);
  }
}

void Shadow::touch_run(std::uint64_t offset, std::uint32_t width, std::uint32_t first_lane,
                       std::uint32_t lanes, const Accessing& by, ConflictSink& sink) {
  const std::uint32_t together = sector_bytes / width;
  while (lanes > 0) {
    if (offset % sector_bytes == 0 && lanes >= together) {
      if (Sector* found = sector(offset / sector_bytes, by)) {
        touch_whole(*found, offset, width, first_lane, by, sink);
      }
      offset += sector_bytes;
      first_lane += together;
      lanes -= together;
    } else {
      touch(offset, width, 1u << first_lane, by, sink);
      offset += width;
      ++first_lane;
      --lanes;
    }
  }
}

void Shadow::touch_closely(const Part& part, std::uint64_t first_sector, const Accessing& by,
                           ConflictSink& sink) {
  const std::uint64_t index = first_sector + static_cast<std::uint64_t>(std::int64_t{part.sector});
  const std::uint64_t offset = index * sector_bytes;
  if (!part.is_whole) {
    touch(offset + part.first * 4u, part.words * 4u, part.lanes, by, sink);
  } else if (Sector* found = sector(index, by)) {
    touch_whole(*found, offset, width_of(part.lanes), part.lanes & 0xff, by, sink);
  }
}

}  // namespace warpmeter::model::check
