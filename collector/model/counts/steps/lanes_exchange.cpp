// SPDX-License-Identifier: MIT
// Votes, matches and reductions: the lanes of a warp exchange these.
#include <algorithm>
#include <bit>

#include "collector/model/counts/steps/lanes.h"

namespace warpmeter::model::steps {

void WarpRegisters::execute_vote(const Operation& operation, Lanes active) {
  const Split input = split(operation.input, active);
  const bool is_known = input.unknown == 0;
  Row ballot;
  ballot.fill(input.holds);
  write(operation, 0, ballot, active, is_known ? all_lanes : 0);
  const bool holds = operation.mode == 0 ? input.holds == active : input.holds != 0;
  write(operation.results[0], holds ? all_lanes : 0, active, is_known ? all_lanes : 0);
}

/// MATCH.ANY: the lanes that have the same value.
void WarpRegisters::execute_match(const Operation& operation, Lanes active) {
  const Fetched from = fetch(operation.a);
  const Row result = each_lane([&](unsigned lane) {
    Lanes alike = 0;
    for (unsigned other = 0; other < 32; ++other) {
      alike |= static_cast<Lanes>(from.values[other] == from.values[lane]) << other;
    }
    return alike & active;
  });
  write(operation, 0, result, active, (active & ~from.known) == 0 ? all_lanes : 0);
}

/// REDUX; `amount`: AND, OR, XOR, SUM, MIN, MAX.
void WarpRegisters::execute_reduce(const Operation& operation, Lanes active) {
  const Fetched from = fetch(operation.a);
  const std::uint32_t sign = operation.is_signed ? 0x80000000 : 0;
  const auto first = static_cast<unsigned>(std::countr_zero(active));
  std::uint32_t result = from.values[first];
  for (unsigned lane = first + 1; lane < 32; ++lane) {
    if ((active >> lane & 1) == 0) continue;
    const std::uint32_t value = from.values[lane];
    const bool is_less = (value ^ sign) < (result ^ sign);
    switch (operation.amount) {
      case 0:
        result &= value;
        break;
      case 1:
        result |= value;
        break;
      case 2:
        result ^= value;
        break;
      case 3:
        result += value;
        break;
      default:
        if (is_less == (operation.amount == 4)) result = value;
    }
  }
  Row all;
  all.fill(result);
  write(operation, 0, all, active, (active & ~from.known) == 0 ? all_lanes : 0);
}

}  // namespace warpmeter::model::steps
