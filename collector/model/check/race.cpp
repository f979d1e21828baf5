#include "collector/model/check/race.h"

#include <algorithm>
#include <bit>

namespace warpmeter::model::check {
namespace {

using Clock = std::array<std::uint32_t, warp_lanes>;

void join(Clock& into, const Clock& other) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], other[i]);
}

template <class Visit>
void for_each_bit(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

}  // namespace

RaceDetector::RaceDetector(std::size_t shared_bytes, std::uint32_t warps, bool has_fences)
    : has_fences_(has_fences), bytes_(shared_bytes), warps_(warps) {}

void RaceDetector::start_block() {
  ++block_;
  std::fill(warps_.begin(), warps_.end(), Warp{});
  barriers_ = {};
  locations_.clear();
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    warps_[w].seen[w] = 1;
    for (std::size_t lane = 0; lane < warp_lanes; ++lane) warps_[w].lanes[lane][lane] = 1;
  }
}

void RaceDetector::meet(std::uint32_t warp, std::uint32_t lanes) {
  Warp& w = warps_[warp];
  Clock together{};
  for_each_bit(lanes, [&](std::uint32_t lane) { join(together, w.lanes[lane]); });
  for_each_bit(lanes, [&](std::uint32_t lane) {
    w.lanes[lane] = together;
    ++w.lanes[lane][lane];
  });
}

void RaceDetector::arrive(std::uint32_t barrier, std::uint32_t warp) {
  Warp& w = warps_[warp];
  join(barriers_[barrier % barriers_.size()], w.seen);
  ++w.seen[warp];
}

void RaceDetector::release(std::uint32_t barrier, std::uint32_t warps) {
  Clock& together = barriers_[barrier % barriers_.size()];
  for_each_bit(warps, [&](std::uint32_t warp) { join(together, warps_[warp].seen); });
  for_each_bit(warps, [&](std::uint32_t warp) {
    warps_[warp].seen = together;
    ++warps_[warp].seen[warp];
    meet(warp, ~0u);
  });
  together = {};
}

bool RaceDetector::is_ordered(const Event& event, std::uint32_t thread) const {
  const std::uint32_t warp = thread / warp_lanes, other_warp = event.thread / warp_lanes;
  if (event.thread == thread) return true;
  if (warp != other_warp) return event.warp_clock <= warps_[warp].seen[other_warp];
  return event.lane_clock <= warps_[warp].lanes[thread % warp_lanes][event.thread % warp_lanes];
}

RaceDetector::Event RaceDetector::event_of(const SharedAccess& access) const {
  const std::uint32_t warp = access.thread / warp_lanes, lane = access.thread % warp_lanes;
  Event event;
  event.lane_clock = warps_[warp].lanes[lane][lane];
  event.warp_clock = warps_[warp].seen[warp];
  event.instruction = access.instruction;
  event.thread = static_cast<std::uint16_t>(access.thread);
  event.exists = true;
  return event;
}

/// With fences around them, atomics pass on what their threads have seen.
void RaceDetector::synchronise(const SharedAccess& access) {
  const std::uint32_t warp = access.thread / warp_lanes, lane = access.thread % warp_lanes;
  Warp& w = warps_[warp];
  Location& location = locations_[access.offset];
  Clock& lanes = location.lanes[warp];
  join(w.seen, location.warps);
  join(w.lanes[lane], lanes);
  if (!access.writes) return;
  location.warps = w.seen;
  lanes = w.lanes[lane];
  ++w.seen[warp];
  ++w.lanes[lane][lane];
}

void RaceDetector::remember_read(Accesses& accesses, const Event& event) {
  Event& read = accesses.read;
  if (read.exists && read.thread / warp_lanes != event.thread / warp_lanes) {
    accesses.other_read = read;
  }
  read = event;
}

std::optional<Race> RaceDetector::access(const SharedAccess& access) {
  if (access.offset + access.width > bytes_.size()) return std::nullopt;
  const Event event = event_of(access);
  std::optional<Race> race;
  const auto against = [&](const Event& other, bool other_writes) {
    if (race || !other.exists || is_ordered(other, access.thread)) return;
    race = Race{other.thread, other.instruction, other_writes};
  };
  const auto against_all = [&](const Accesses& accesses, bool same_value) {
    if (!same_value) against(accesses.write, true);
    if (!access.writes) return;
    against(accesses.read, false);
    against(accesses.other_read, false);
  };
  for (std::uint32_t i = 0; i < access.width; ++i) {
    Byte& byte = bytes_[access.offset + i];
    if (byte.block != block_) byte = {};
    byte.block = block_;
    // Threads that write the same, a flag for example, do not disturb each other.
    const bool same_value =
        i < access.value.size() && byte.value_known && byte.value == access.value[i];
    against_all(byte.plain, same_value);
    if (!access.is_strong) against_all(byte.strong, false);
  }
  for (std::uint32_t i = 0; i < access.width; ++i) {
    Byte& byte = bytes_[access.offset + i];
    Accesses& accesses = access.is_strong ? byte.strong : byte.plain;
    if (!access.writes) {
      remember_read(accesses, event);
      continue;
    }
    if (race) byte.plain = byte.strong = {};  // told once
    accesses.write = event;
    byte.value_known = !access.is_strong && i < access.value.size();
    if (byte.value_known) byte.value = access.value[i];
  }
  if (has_fences_ && access.is_strong) synchronise(access);
  return race;
}

bool RaceDetector::is_written(std::uint64_t offset, std::uint32_t width) const {
  const std::uint64_t end = std::min<std::uint64_t>(offset + width, bytes_.size());
  for (std::uint64_t i = offset; i < end; ++i) {
    const Byte& byte = bytes_[i];
    if (byte.block == block_ && (byte.plain.write.exists || byte.strong.write.exists)) return true;
  }
  return false;
}

}  // namespace warpmeter::model::check
