// SPDX-License-Identifier: MIT
// vadd, vset4, vmad and their like, for the reference.
#pragma once

#include <array>
#include <cstdint>

#include "tests/collector/model/reference/line.h"

namespace warpmeter::model::reference {

/// `in`: the sources' registers, whose parts the line names.
std::uint64_t video_value(const Line& line, const std::array<std::uint64_t, 4>& in);

}  // namespace warpmeter::model::reference
