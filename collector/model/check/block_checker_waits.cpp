// SPDX-License-Identifier: MIT
// Reads that come too early, for one of two reasons: their threads waited at a barrier object for a
// parity whose phase was over before, or they load by the read-only way what the kernel itself
// stores.
#include <fmt/format.h>

#include <iterator>

#include "base/lanes.h"
#include "collector/model/check/block_checker.h"
#include "collector/model/machine/launch/waiting_message.h"
#include "collector/model/machine/memory/shown_name.h"
#include "collector/model/machine/warp/lane_rows.h"
#include "collector/model/machine/warp/mbarrier.h"

namespace warpmeter::model::check {

/// A first wait that a producer makes on purpose, for a buffer that is empty from the start, is one
/// of these too: it is no mistake by itself.
void BlockChecker::note_wait(const Warp& warp, const Operation* op, unsigned lane,
                             std::uint64_t object, std::uint32_t ended) {
  if (static_cast<MbarrierKind>(op->c) != MbarrierKind::wait_parity) return;
  std::uint32_t& before = waited_[{object, warp.index * warp_lanes + lane}];
  if (before == ended) {
    vain_waits_[warp.index] = {op->instruction, object,
                               row_of<std::uint32_t>(warp, op->b)[lane] & 1};
  } else {
    vain_waits_[warp.index].reset();
  }
  before = ended;
}

std::string BlockChecker::vain_wait(std::uint32_t warp) const {
  const std::optional<VainWait>& wait = vain_waits_[warp];
  if (!wait) return "";
  return fmt::format(
      "; the wait for parity {} of the barrier object {}, on {}, was over at once, since no phase "
      "ended behind the thread's last wait: wait for parity {}",
      wait->parity, object_at(wait->object, program_), launch_.names_.line(wait->instruction),
      1 - wait->parity);
}

std::string BlockChecker::vain_wait_of_reader(const Conflict& conflict, Span span) const {
  if (current_.region != nullptr || span != Span::block) return "";
  if (current_.info->kind == AccessKind::load) return vain_wait(current_.warp->index);
  return conflict.theirs.writes ? "" : vain_wait(conflict.theirs.warp);
}

/// A plain store to a barrier object in use is undefined before mbarrier.inval.
void BlockChecker::check_object_store(const Warp& warp, const Operation* op, const SiteInfo& info,
                                      const Places& places) {
  constexpr std::uint64_t object_bytes = 8;
  if (objects_.empty() || info.kind != AccessKind::store || info.is_apart) return;
  for_each_lane(places.mask, [&](unsigned lane) {
    const std::uint64_t place = places[lane];
    const auto next = objects_.lower_bound(place + info.width);
    if (next == objects_.begin() || *std::prev(next) + object_bytes <= place) return;
    launch_.findings_.add(Defect::race, op->instruction, Span::block, [&] {
      return sentence(warp.index * warp_lanes + lane,
                      fmt::format("writes over the barrier object {}, which is in use; end its use "
                                  "first (mbarrier.inval, or the destructor of cuda::barrier)",
                                  object_at(*std::prev(next), program_)));
    });
  });
}

/// Hardware may answer such a load with what was there before the kernel's store, whatever orders
/// the two.
void BlockChecker::check_read_only(const Shadow& shadow, std::uint64_t offset, std::uint64_t bytes,
                                   const Segment& segment) {
  const std::uint32_t number = shadow.last_write(offset, bytes);
  if (number == 0) return;
  const Context& theirs = launch_.contexts_[number];
  const std::uint32_t own = current_.warp->index * warp_lanes + segment.first_lane;
  const Span span = theirs.block != order_.block()        ? Span::grid
                    : theirs.warp != current_.warp->index ? Span::block
                                                          : Span::warp;
  const Defect defect = span == Span::grid ? Defect::block_race : Defect::global_race;
  launch_.findings_.add(defect, current_.op->instruction, span, [&] {
    const bool is_texture = current_.info->is_texture;
    return Described{
        sentence(own,
                 fmt::format("loads {} at byte {} {}, which the same kernel writes on {}: what was "
                             "there before may come; {}",
                             shown_name(*current_.region->allocation), offset,
                             is_texture ? "through a texture"
                                        : "by the read-only way (ld.global.nc, __ldg)",
                             launch_.names_.line(program_.sites[theirs.site].instruction),
                             is_texture ? "load it by a pointer or surface, or in a second kernel"
                                        : "take const __restrict__ from the pointer, or load it "
                                          "without __ldg()")),
        program_.sites[theirs.site].instruction};
  });
}

}  // namespace warpmeter::model::check
