// SPDX-License-Identifier: MIT
// Barrier objects in shared memory. Their 64 bits are opaque to a kernel; here they hold, from the
// lowest bit on, the arrivals that are awaited in this phase, those of each phase, the bytes of
// copies that are awaited, and the phase.
#pragma once

#include <cstdint>

#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

enum class MbarrierKind : std::uint16_t {
  init,
  invalidate,
  arrive,
  arrive_drop,    ///< and take no part in the phases that follow
  arrive_expect,  ///< one arrival, and so many more bytes
  expect,
  complete,
  wait,         ///< for the phase of a state that an arrival gave
  wait_parity,  ///< for the phase of a parity
};

/// True if it changes a barrier object, or waits at one.
inline bool is_object(const Operation& op) {
  return op.code == Code::mbarrier || op.code == Code::mbarrier_wait;
}

inline constexpr std::uint64_t mbarrier_count_mask = (1 << 20) - 1;
/// Bytes that an object with these bits awaits; of fewer than none, none.
std::uint64_t awaited_bytes(std::uint64_t bits);

/// An object with such bits in words.
struct ObjectState {
  std::uint64_t pending = 0, count = 0;  ///< arrivals that are missing, and those of each phase
  std::uint64_t bytes = 0;               ///< bytes of copies that are missing
  unsigned phase = 0;                    ///< its parity
};
ObjectState object_state(std::uint64_t bits);

/// Executes the change that Operation::c names, for one lane after the other, at w.lane_host. b is
/// the row of counts, bytes, states or parities; d, which may be absent, takes states. Returns the
/// lanes whose wait is over.
std::uint32_t change_mbarrier(Warp& w, const Operation* op, std::uint32_t mask);

}  // namespace warpmeter::model
