// SPDX-License-Identifier: MIT
// A variant whose result the others of its family must give.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collector/run/backend.h"
#include "kernels/family.h"

namespace warpmeter::run {

/// The reference's buffers, by the buffers' names.
struct Reference {
  std::map<std::string, std::vector<std::byte>> outputs;
  std::set<std::string> changed;  ///< buffers, compared or not
  std::string failure;            ///< "failed: …"; empty: there is something to compare with
};

Reference reference_of(const kernels::Family& family, const kernels::Problem& problem,
                       const Execution& execution);

/// The contents that another variant's buffers must have; fewer than `outputs`, where the problem
/// lacks one of them.
std::vector<kernels::Expected> expected_of(const Reference& reference,
                                           const kernels::Family& family,
                                           const kernels::Problem& problem);

/// True if any variant is compared with the one of that name.
bool is_reference(const kernels::Family& family, std::string_view name);

/// In the same order, but those first that others are compared with.
void references_first(const kernels::Family& family,
                      std::vector<const kernels::Variant*>& variants);

}  // namespace warpmeter::run
