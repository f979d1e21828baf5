// SPDX-License-Identifier: MIT
// The machine, compiled for each instruction set that it profits from.
#pragma once

#include <span>
#include <string_view>

#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

struct Unit {
  std::string_view name;  ///< "baseline", "avx2", "avx512"
  RunWarp run = nullptr;
  RunWarp run_observed = nullptr;  ///< the same, with observe() before each operation
  RunWarp run_native = nullptr;    ///< the same, with Warp::native where all lanes are active
  RunWarp run_native_observed = nullptr;         ///< both, with code that was made for who observes
  const ExecuteOperation* operations = nullptr;  ///< by code
  bool is_supported = false;                     ///< by this processor
  unsigned vector_bytes =
      0;  ///< the vector bytes of its registers, where native/ has instructions for them; else 0
};

/// All units, from the plainest to the best. The first is always supported.
std::span<const Unit> units();

/// The best that this processor supports. All give the same results and counts.
const Unit& best_unit();

}  // namespace warpmeter::model
