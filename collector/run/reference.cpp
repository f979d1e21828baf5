// SPDX-License-Identifier: MIT
#include "collector/run/reference.h"

#include <algorithm>

#include "collector/run/proof.h"

namespace warpmeter::run {

Reference reference_of(const kernels::Family& family, const kernels::Problem& problem,
                       const Execution& execution) {
  Reference reference;
  if (!execution.failure.empty()) {
    reference.failure = "failed: " + execution.failure;
    return reference;
  }
  reference.changed = changed_buffers(problem, execution.buffers);
  const auto& named = family.outputs;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const kernels::Buffer& buffer = problem.buffers[i];
    const bool is_output = named.empty()
                               ? reference.changed.contains(buffer.name)
                               : std::find(named.begin(), named.end(), buffer.name) != named.end();
    if (is_output) reference.outputs[buffer.name] = execution.buffers[i];
  }
  if (reference.outputs.empty()) reference.failure = "changes no buffer";
  return reference;
}

std::vector<kernels::Expected> expected_of(const Reference& reference,
                                           const kernels::Family& family,
                                           const kernels::Problem& problem) {
  std::vector<kernels::Expected> expected;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const auto known = reference.outputs.find(problem.buffers[i].name);
    if (known == reference.outputs.end()) continue;
    expected.push_back({i, known->second, family.tolerance});
  }
  return expected;
}

bool is_reference(const kernels::Family& family, std::string_view name) {
  return std::any_of(family.variants.begin(), family.variants.end(),
                     [&](const kernels::Variant& variant) { return variant.reference == name; });
}

void references_first(const kernels::Family& family,
                      std::vector<const kernels::Variant*>& variants) {
  std::stable_partition(variants.begin(), variants.end(), [&](const kernels::Variant* variant) {
    return is_reference(family, variant->name);
  });
}

}  // namespace warpmeter::run
