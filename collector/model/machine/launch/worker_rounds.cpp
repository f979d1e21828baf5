// SPDX-License-Identifier: MIT
// A block that goes round in a loop with a barrier, in which one thread asks for what others bring
// about: its warps never yield, since they always come to the barrier. It is left for later after
// so many barriers, as others are that yield.
#include <bit>
#include <cstring>

#include "collector/model/machine/launch/worker.h"

namespace warpmeter::model {

/// A hash of all that the block goes on with.
std::uint64_t Worker::state_at_barrier() const {
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t value) {
    constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
    hash = (std::rotl(hash, 23) ^ value) * golden_ratio;
  };
  const auto add_all = [&](const std::byte* bytes, std::size_t count) {
    for (std::size_t i = 0; i + sizeof(std::uint64_t) <= count; i += sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, bytes + i, sizeof(word));
      add(word);
    }
  };
  for (const Warp& warp : warps_) {
    add(warp.pc == nullptr ? 0 : static_cast<std::uint64_t>(warp.pc - warp.code));
    add(std::uint64_t{warp.active} << 32 | warp.depth);
    add(std::uint64_t{warp.alive} << 32 | warp.carry);
    add_all(warp.registers, std::size_t{program_.row_units} * row_unit_bytes);
    for (std::uint32_t i = 0; i < program_.predicate_count; ++i) add(warp.predicates[i]);
  }
  add_all(memory_.shared.data(), memory_.shared.size());
  return hash;
}

/// A block whose loop holds a barrier never yields. True if it is left for later after so many
/// barriers; then turn_is_still_ says that the last of them brought nothing new.
bool Worker::ends_turn(std::uint32_t phases) {
  constexpr std::uint32_t most = 1 << 14, looked_at = 1 << 6;
  const std::uint32_t last = goes_round_ ? looked_at : most;
  if (phases + looked_at <= last) return false;
  const std::uint64_t state = state_at_barrier();
  if (phases + looked_at == last + 1) {
    known_state_ = state;
    is_round_ = false;
    return false;
  }
  is_round_ |= state == known_state_;
  if (phases < last) return false;
  goes_round_ = turn_is_still_ = is_round_;
  only_asks_ = false;  // nobody knows what the loop stores
  return true;
}

}  // namespace warpmeter::model
