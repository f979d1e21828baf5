// SPDX-License-Identifier: MIT
// The times in which a device had nothing to do, and what the host did meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/trace/timeline.h"

namespace warpmeter::reports {

struct Gap {
  std::string device;
  std::int64_t start_ns = 0, duration_ns = 0;
  std::size_t before = 0, after = 0;  ///< the activities around it: places in Trace::activities

  /// A function, and how much of the gap its calls cover.
  struct Call {
    std::string name;
    std::int64_t ns = 0;
  };
  std::vector<Call> calls;       ///< outermost ones of the process that ends the gap; longest first
  std::int64_t uncalled_ns = 0;  ///< no thread of that process was in a call
  std::vector<std::string> ranges;  ///< open in the middle of the gap, the outermost first
};

/// Gaps that follow and precede activities of the same names, on any device.
struct GapPattern {
  Gap longest;
  std::size_t times = 0;
  std::int64_t total_ns = 0;
  std::vector<std::string> devices;  ///< in the order of their longest gaps
};

/// The patterns with the longest gaps between the work of a device, over all its streams and
/// processes; the longest first.
std::vector<GapPattern> longest_gap_patterns(const Trace& trace, const Timeline& timeline,
                                             std::size_t most);

}  // namespace warpmeter::reports
