// SPDX-License-Identifier: MIT
#include "collector/model/machine/object_waits.h"

#include <algorithm>
#include <cstring>

#include "base/lanes.h"
#include "collector/model/machine/warp/lane_rows.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {
namespace {

/// The wait of a warp that has yielded at an object; nullopt: it waits at none.
std::optional<ObjectWait> object_wait(const Warp& warp) {
  if (warp.pc == warp.code || warp.pc[-1].code != Code::mbarrier_wait) return std::nullopt;
  const Operation* const op = warp.pc - 1;
  const bool by_parity = static_cast<MbarrierKind>(op->c) == MbarrierKind::wait_parity;
  std::optional<ObjectWait> found;
  for_each_lane(warp.active, [&](unsigned lane) {
    const auto place = object_place(warp, op, lane, warp.memory->shared_bytes);
    if (found || !place) return;
    std::uint64_t bits;
    std::memcpy(&bits, warp.memory->shared.data() + *place, sizeof(bits));
    const ObjectState state = object_state(bits);
    const std::uint64_t wanted = by_parity ? row_of<std::uint32_t>(warp, op->b)[lane] & 1
                                           : row_of<std::uint64_t>(warp, op->b)[lane] >> 63;
    if (wanted != state.phase) return;
    found.emplace();
    found->instruction = op->instruction;
    found->thread = warp.index * warp_lanes + lane;
    found->place = *place;
    if (by_parity) found->parity = static_cast<unsigned>(wanted);
    found->state = state;
  });
  return found;
}

}  // namespace

std::optional<std::uint64_t> object_place(const Warp& warp, const Operation* op, unsigned lane,
                                          std::uint64_t shared_bytes) {
  auto place = static_cast<std::uint64_t>(op->imm);
  place += op->f != 0 ? row_of<std::uint64_t>(warp, op->a)[lane]
                      : row_of<std::uint32_t>(warp, op->a)[lane];
  if (place - shared_window < window_bytes) place -= shared_window;
  if (shared_bytes < sizeof(std::uint64_t) || place > shared_bytes - sizeof(std::uint64_t)) {
    return std::nullopt;
  }
  return place;
}

std::vector<ObjectWait> object_waits(std::span<const Warp> warps) {
  std::vector<ObjectWait> found;
  for (const Warp& warp : warps) {
    if (warp.status != WarpStatus::yielded) continue;
    const std::optional<ObjectWait> wait = object_wait(warp);
    const bool is_known = wait && std::any_of(found.begin(), found.end(), [&](const auto& other) {
                            return other.instruction == wait->instruction;
                          });
    if (wait && !is_known) found.push_back(*wait);
  }
  return found;
}

}  // namespace warpmeter::model
