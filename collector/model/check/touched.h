// SPDX-License-Identifier: MIT
// The final effect of a launch on global memory: which bytes it read and which it wrote. That is
// what decides whether it races with what other streams do, or the host.
#pragma once

#include <cstdint>
#include <functional>

namespace warpmeter::model::check {

/// How an access is meant. Strong ones (atomic, volatile, ordered) do not race with each other, as
/// far as their scope goes: other kernels of the device, or the host too.
enum class Strength : std::uint8_t { none, plain, device, system };

struct Touched {
  std::uint64_t address = 0, bytes = 0;
  /// The weakest of the accesses. A byte that is written counts as written alone, where it is read
  /// as plainly.
  Strength writes = Strength::none, reads = Strength::none;

  bool is_alike(const Touched& other) const {
    return writes == other.writes && reads == other.reads;
  }
};

using SeesTouched = std::function<void(const Touched&)>;

}  // namespace warpmeter::model::check
