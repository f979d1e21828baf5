// SPDX-License-Identifier: MIT
// A plan splits the access of a warp by the sectors that it touches. It holds for each access whose
// lanes lie as they did when it was made, and whose first byte has the same place in its sector:
// a site has at most eight, and few sites need more than one.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "collector/model/counts/rules/counting.h"

namespace warpmeter::model::check {

/// Lanes that follow each other and touch the same, or elements that follow each other.
struct Segment {
  std::uint8_t first_lane = 0, lanes = 1;
  bool is_run = false;

  std::uint32_t mask() const {
    return static_cast<std::uint32_t>(((std::uint64_t{1} << lanes) - 1) << first_lane);
  }
};

/// The bytes of one sector that lanes touch together: all of them, or words that follow each other.
struct Part {
  std::int32_t sector = 0;  ///< from the sector of the access's first byte on
  std::uint32_t bytes = 0;  ///< a bit for each
  std::uint32_t lanes = 0;  ///< a bit for each; of a whole sector as whole_lanes() packs them
  std::uint8_t first = 0, words = 0;
  bool is_whole = false;
};

struct Plan {
  bool is_made = false, is_usable = false, is_read_only = false;
  std::uint32_t below = 0, above = 0;  ///< bytes from the first lane's place to either end
  /// In shared memory: where the first lane's place may be so that all lanes are inside of it and
  /// of the array that is meant, from there on and so many bytes.
  std::uint64_t from = 0, places = 0;
  std::vector<Part> parts;
};

/// The plans of a site, for the shape that its accesses have now.
class Plans {
 public:
  /// False: this site's accesses are looked at one by one.
  bool may_be_made = false;

  void forget() {
    for (Plan& plan : plans_) plan.is_made = false;
  }
  Plan& at(std::uint64_t offset) { return plans_[offset % sector_bytes / 4]; }

 private:
  std::array<Plan, sector_bytes / 4> plans_;
};

/// Fills the plan. `places[lane] - base` is how far a lane's place is from the first lane's, which
/// is `offset`. A plan is usable where all places are multiples of 4, and no two lanes write to
/// one.
void make_plan(Plan& plan, const std::vector<Segment>& segments, std::uint32_t width, bool writes,
               std::uint64_t offset, std::uint64_t base, const std::uint64_t* places);

}  // namespace warpmeter::model::check
