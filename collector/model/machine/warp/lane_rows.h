// SPDX-License-Identifier: MIT
// Rows of a warp's registers, for code that is compiled once (the units of execute/ have their own
// way, for they share no function with others).
#pragma once

#include <cstdint>

#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

/// A value a lane. `row` counts units of row_unit_bytes.
template <class T>
T* row_of(const Warp& w, std::uint16_t row) {
  return reinterpret_cast<T*>(w.registers + row * row_unit_bytes);
}

}  // namespace warpmeter::model
