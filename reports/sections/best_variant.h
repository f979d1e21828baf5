// SPDX-License-Identifier: MIT
// Which variants of a family do best, and by how much: by time where they were timed, else by the
// transactions that they cost. Nobody is best where the difference is within what is known.
#pragma once

#include <string>
#include <vector>

#include "reports/record.h"

namespace warpmeter::reports::sections {

struct BestOfFamily {
  const Group* group = nullptr;       ///< the size that the sentence is about
  std::vector<std::string> variants;  ///< one, or several of which none is known to be better
  double factor = 1;                  ///< the cost of the next one over their cost
  std::string sentence;

  bool has(const std::string& family, const std::string& variant) const;
};

/// False for the copies and library calls of the catalogue: variants are compared with them, and
/// they do less.
bool competes(const Subject& subject);

/// "a, b and c"; of many the first three and how many more. At least one.
std::string listed(std::vector<std::string> names);

/// A sentence a family and device, the clearest first. Only families of which results were verified
/// are compared; the copy or library call that is their ceiling does not compete. The largest of
/// several sizes at which all can be compared.
std::vector<BestOfFamily> best_of_families(const RunRecord& run);

/// The costliest kernel of families whose variants are not known to do the same, as the kernels of
/// a program: the one that takes most, and which share of the whole. A sentence a family and size.
std::vector<std::string> costliest_of_programs(const RunRecord& run);

}  // namespace warpmeter::reports::sections
