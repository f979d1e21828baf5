// SPDX-License-Identifier: MIT
// Launches into parts that take about as long: the longest first, each to the part that has least.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace warpmeter::lab {

/// One launch of a command.
struct Launch {
  std::string line;  ///< as `run --launches` reads it
  double cost = 0;   ///< the expected cost, in any unit
};

struct Part {
  std::vector<std::string> launches;  ///< in the order of the command
  double share = 0;                   ///< the share of the whole cost
};

/// At most `parts` of them, none empty; the same for the same launches.
std::vector<Part> split(const std::vector<Launch>& launches, std::size_t parts);

}  // namespace warpmeter::lab
