// SPDX-License-Identifier: MIT
// One warp's access as a picture: in shared memory the passes as rows and the banks as columns, in
// other memory the sectors as rows and their words as columns; in a cell the lane that goes there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/plot/picture.h"

namespace warpmeter::reports {

struct Lane {
  unsigned lane = 0;
  std::uint64_t address = 0;
  unsigned pass = 0;
};

/// As the views findings and remedies have it in their column lanes.
struct Lanes {
  unsigned width = 0;  ///< bytes a lane
  std::vector<Lane> lanes;
};

inline constexpr std::string_view lanes_of_finding = "the lanes of a finding";
/// Nothing for an empty text. Throws Error{file} for one that is no such JSON.
std::optional<Lanes> read_lanes(std::string_view text);

/// `access`: "shared load", "global store", …
Picture warp_picture(const Lanes& lanes, std::string_view access, std::string title);

}  // namespace warpmeter::reports
