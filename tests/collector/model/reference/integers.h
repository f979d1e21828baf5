// SPDX-License-Identifier: MIT
// Integers, bits and small integers packed in a register, for the reference: computed in 128 bits,
// and cut.
#pragma once

#include <array>
#include <cstdint>

#include "tests/collector/model/reference/line.h"

namespace warpmeter::model::reference {

/// `carry` is the lane's condition code.
std::uint64_t integer_value(const Line& line, Type type, const std::array<std::uint64_t, 4>& in,
                            bool& carry);
/// "lt", "hs", …
bool compares(const std::string& how, Wide a, Wide b);

}  // namespace warpmeter::model::reference
