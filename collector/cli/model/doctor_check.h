// SPDX-License-Identifier: MIT
// A line of `warpmeter doctor`.
#pragma once

#include <string>

namespace warpmeter::cli {

struct Check {
  std::string name;
  bool ok = false;
  std::string detail, remedy;
  const char* otherwise = "missing";  ///< its name when it is not ok, in seven columns
};

}  // namespace warpmeter::cli
