// SPDX-License-Identifier: MIT
// The doubts that a right answer leaves. A buffer that neither a kernel nor its reference changes
// is equal whatever they do, and one that is not compared may hold anything.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/family.h"

namespace warpmeter::run {

/// Names of the buffers that a launch left different from what it began with.
std::set<std::string> changed_buffers(const kernels::Problem& problem,
                                      std::span<const std::vector<std::byte>> after);

struct Proof {
  bool is_empty = false;             ///< all that was compared is what nobody changed
  std::vector<std::string> remarks;  ///< clauses: "changes 'in', which …"
};

/// The proof of a result that is equal to `expected`. `reference`: the variant that it was compared
/// with, and the buffers which that one changes; "" and none where a file says what is expected.
Proof proof_of(const kernels::Problem& problem, std::span<const kernels::Expected> expected,
               std::span<const std::vector<std::byte>> after, std::string_view reference,
               const std::set<std::string>& changed_by_reference);

}  // namespace warpmeter::run
