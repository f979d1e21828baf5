// SPDX-License-Identifier: MIT
// cvt, for the reference.
#pragma once

#include <array>
#include <cstdint>

#include "tests/collector/model/reference/line.h"

namespace warpmeter::model::reference {

/// The result of a cvt for its sources.
std::uint64_t converted(const Line& line, const std::array<std::uint64_t, 4>& in);

}  // namespace warpmeter::model::reference
