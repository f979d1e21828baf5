// SPDX-License-Identifier: MIT
// Single accesses that were measured on a device, and whether the counting rules meet them: the
// golden files tests/golden/access_patterns/sm_*.csv, one an architecture, which
// tests/device/access_patterns.sh writes.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "collector/model/counts/rules/counting.h"

namespace warpmeter::model {

/// A line of such a file: one access of one warp, and what it cost.
struct MeasuredAccess {
  std::string name;  ///< "ldg 4 rand1 ffffffff": operation, bytes a lane, pattern, active lanes
  std::string operation;
  WarpAccess access;
  unsigned transactions = 0;
  std::optional<unsigned> bytes;  ///< distinct ones; of global loads and stores

  bool is_same_access(const MeasuredAccess& other) const;
};

/// Throws std::runtime_error with the line of what is no such file.
std::vector<MeasuredAccess> read_measured(std::istream& file);

/// The access as the counting rules take it; none of an access to global memory.
struct SharedRequest {
  WarpAccess access;
  SharedAccess kind = SharedAccess::load;
};
std::optional<SharedRequest> shared_request(const MeasuredAccess& measured);

/// By the rules.
Cost cost_of(const MeasuredAccess& measured);

/// How many of the accesses in the list were measured and are as the rules say.
std::size_t count_met(const std::vector<MeasuredAccess>& list,
                      const std::vector<MeasuredAccess>& measured);

}  // namespace warpmeter::model
