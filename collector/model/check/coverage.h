// SPDX-License-Identifier: MIT
// The scope of a clean answer, and its gaps: nothing is said to be free of mistakes beyond
// that.
#pragma once

#include <string>
#include <vector>

#include "collector/model/check/gaps.h"

namespace warpmeter::model::check {

/// How much of a launch was followed.
struct Coverage {
  std::string blocks;       ///< which were run, where not all were
  bool is_partial = false;  ///< memory became too much to follow all of it (Checker::is_partial)
  bool has_ended = true;    ///< the kernel came to its end
  bool is_program = false;  ///< the host code was looked at as well
  Gaps gaps;                ///< the gaps that the kernels open
};

std::vector<std::string> looked_for();
/// In host code.
std::vector<std::string> looked_for_in_programs();
/// The kinds of both in a few words.
std::string looked_for_in_short(bool is_program);
/// The parts of this launch or program that the check did not see.
std::vector<std::string> left_out(const Coverage& coverage);
/// That, and what is never looked for.
std::vector<std::string> not_looked_for(const Coverage& coverage);

}  // namespace warpmeter::model::check
