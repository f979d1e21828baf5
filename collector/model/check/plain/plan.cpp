// SPDX-License-Identifier: MIT
#include "collector/model/check/plain/plan.h"

#include <algorithm>

#include "collector/model/check/whole_lanes.h"

namespace warpmeter::model::check {
namespace {

constexpr std::int64_t farthest = std::int64_t{1} << 30;

class Maker {
 public:
  Maker(Plan& plan, std::uint64_t offset)
      : plan_(plan), phase_(static_cast<std::int64_t>(offset % sector_bytes)) {}

  /// Lanes that touch bytes `from` to before `end`, counted from the first lane's place.
  void add(std::int64_t from, std::int64_t end, std::uint32_t lanes) {
    for (std::int64_t at = from; at < end;) {
      const std::int64_t in_sector = (at + phase_) & (sector_bytes - 1);
      const std::int64_t next = std::min(end, at + sector_bytes - in_sector);
      Part part;
      part.sector = sector_of(at);
      part.first = static_cast<std::uint8_t>(in_sector / 4);
      part.words = static_cast<std::uint8_t>((next - at) / 4);
      part.bytes = static_cast<std::uint32_t>(((std::uint64_t{1} << (next - at)) - 1) << in_sector);
      part.lanes = lanes;
      plan_.parts.push_back(part);
      at = next;
    }
  }

  void add_whole(std::int64_t from, std::uint32_t first_lane, std::uint32_t width) {
    plan_.parts.push_back(
        {sector_of(from), ~std::uint32_t{0}, whole_lanes(first_lane, width), 0, 8, true});
  }

  bool begins_sector(std::int64_t at) const { return ((at + phase_) & (sector_bytes - 1)) == 0; }

 private:
  std::int32_t sector_of(std::int64_t at) const {
    const std::int64_t from_sector = at + phase_;
    return static_cast<std::int32_t>((from_sector - (from_sector & (sector_bytes - 1))) /
                                     std::int64_t{sector_bytes});
  }

  Plan& plan_;
  const std::int64_t phase_;
};

}  // namespace

void make_plan(Plan& plan, const std::vector<Segment>& segments, std::uint32_t width, bool writes,
               std::uint64_t offset, std::uint64_t base, const std::uint64_t* places) {
  plan.is_made = true;
  plan.is_usable = false;
  plan.parts.clear();
  std::int64_t lowest = 0, highest = 0;
  Maker maker(plan, offset);
  for (const Segment& segment : segments) {
    auto from = static_cast<std::int64_t>(places[segment.first_lane] - base);
    const std::int64_t elements = segment.is_run ? segment.lanes : 1;
    const std::int64_t end = from + elements * width;
    const bool is_same = !segment.is_run && segment.lanes > 1;
    if (from < -farthest || end > farthest) return;
    if (((static_cast<std::int64_t>(offset) + from) | width) % 4 != 0 || (writes && is_same))
      return;
    lowest = std::min(lowest, from);
    highest = std::max(highest, end);
    if (!segment.is_run) {
      maker.add(from, end, segment.mask());
      continue;
    }
    const std::int64_t together = sector_bytes / width;
    for (std::uint32_t lane = segment.first_lane; from < end;) {
      if (maker.begins_sector(from) && end - from >= std::int64_t{sector_bytes}) {
        maker.add_whole(from, lane, width);
        from += sector_bytes;
        lane += static_cast<std::uint32_t>(together);
      } else {
        maker.add(from, from + width, 1u << lane);
        from += width;
        ++lane;
      }
    }
  }
  plan.below = static_cast<std::uint32_t>(-lowest);
  plan.above = static_cast<std::uint32_t>(highest);
  plan.is_usable = true;
}

}  // namespace warpmeter::model::check
