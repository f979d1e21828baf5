// SPDX-License-Identifier: MIT
#include "collector/model/machine/warp/mbarrier.h"
#include "collector/model/machine/warp/lane_rows.h"

#include <bit>
#include <cstring>

namespace warpmeter::model {
namespace {

/// The mask for the awaited bytes: fewer than none where a copy is done before they are told of.
constexpr std::uint64_t bytes_mask = 0x7fffff;

struct Barrier {
  std::uint64_t pending = 0, expected = 0, bytes = 0, phase = 0;

  explicit Barrier(std::uint64_t bits)
      : pending(bits & mbarrier_count_mask),
        expected(bits >> 20 & mbarrier_count_mask),
        bytes(bits >> 40 & bytes_mask),
        phase(bits >> 63) {}
  std::uint64_t bits() const {
    return (pending & mbarrier_count_mask) | (expected & mbarrier_count_mask) << 20 |
           (bytes & bytes_mask) << 40 | phase << 63;
  }
  void expect_bytes(std::uint64_t value) { bytes = (bytes + value) & bytes_mask; }
  /// Those of a copy come in parts: where they are more than were expected, the phase is over when
  /// the expected ones are there, if a part ends with them (measured: 384 and 512 end it, 352 and
  /// 1,008 do not).
  void complete_bytes(std::uint64_t value) {
    constexpr std::uint64_t part = 128;
    const bool is_over = pending == 0 && bytes != 0 && value > bytes && bytes % part == 0;
    bytes = (bytes - value) & bytes_mask;
    if (!is_over) return;
    phase ^= 1;
    pending = expected;
  }
  void complete_phase() {
    if (pending != 0 || bytes != 0) return;
    phase ^= 1;
    pending = expected;
  }
};

}  // namespace

std::uint64_t awaited_bytes(std::uint64_t bits) {
  const std::uint64_t bytes = Barrier(bits).bytes;
  return bytes > bytes_mask / 2 ? 0 : bytes;
}

ObjectState object_state(std::uint64_t bits) {
  const Barrier barrier(bits);
  return {barrier.pending, barrier.expected, awaited_bytes(bits),
          static_cast<unsigned>(barrier.phase)};
}

std::uint32_t change_mbarrier(Warp& w, const Operation* op, std::uint32_t mask) {
  const auto kind = static_cast<MbarrierKind>(op->c);
  std::uint32_t over = 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    std::uint64_t bits;
    std::memcpy(&bits, w.lane_host[lane], sizeof(bits));
    Barrier barrier(bits);
    if (kind == MbarrierKind::wait) {
      over |= std::uint32_t{row_of<std::uint64_t>(w, op->b)[lane] >> 63 != barrier.phase} << lane;
      continue;
    }
    const std::uint64_t value = row_of<std::uint32_t>(w, op->b)[lane];
    switch (kind) {
      case MbarrierKind::init:
        barrier = Barrier(0);
        barrier.pending = barrier.expected = value;
        break;
      case MbarrierKind::invalidate:
        barrier = Barrier(0);
        break;
      case MbarrierKind::arrive_drop:
        barrier.expected -= value;
        barrier.pending -= value;
        break;
      case MbarrierKind::arrive:
        barrier.pending -= value;
        break;
      case MbarrierKind::arrive_expect:
        barrier.expect_bytes(value);
        barrier.pending -= 1;
        break;
      case MbarrierKind::expect:
        barrier.expect_bytes(value);
        break;
      case MbarrierKind::complete:
        barrier.complete_bytes(value);
        break;
      case MbarrierKind::wait_parity:
        over |= std::uint32_t{(value & 1) != barrier.phase} << lane;
        continue;
      case MbarrierKind::wait:
        break;
    }
    if (op->d != no_operand) row_of<std::uint64_t>(w, op->d)[lane] = bits;
    if (kind != MbarrierKind::init && kind != MbarrierKind::invalidate) barrier.complete_phase();
    bits = barrier.bits();
    std::memcpy(w.lane_host[lane], &bits, sizeof(bits));
  }
  return over;
}

}  // namespace warpmeter::model
