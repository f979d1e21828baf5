// SPDX-License-Identifier: MIT
#include "collector/run/proof.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpmeter::run {
namespace {

/// "'out' and 'in'"
std::string listed(const std::vector<std::string>& names) {
  return fmt::format("'{}'", fmt::join(names, "' and '"));
}

}  // namespace

std::set<std::string> changed_buffers(const kernels::Problem& problem,
                                      std::span<const std::vector<std::byte>> after) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i] != problem.buffers[i].initial) names.insert(problem.buffers[i].name);
  }
  return names;
}

Proof proof_of(const kernels::Problem& problem, std::span<const kernels::Expected> expected,
               std::span<const std::vector<std::byte>> after, std::string_view reference,
               const std::set<std::string>& changed_by_reference) {
  const std::set<std::string> changed = changed_buffers(problem, after);
  std::vector<std::string> untouched, beside;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const std::string& name = problem.buffers[i].name;
    const bool is_compared = std::any_of(expected.begin(), expected.end(),
                                         [&](const auto& one) { return one.buffer == i; });
    const bool is_changed = changed.contains(name),
               is_by_both = changed_by_reference.contains(name);
    if (is_compared && !is_changed && !is_by_both) untouched.push_back(name);
    if (!is_compared && is_changed && !is_by_both) beside.push_back(name);
  }
  Proof proof;
  proof.is_empty = !reference.empty() && untouched.size() == expected.size();
  if (!untouched.empty() && reference.empty()) {
    proof.remarks.push_back(
        fmt::format("does not change {}, which began with what is expected", listed(untouched)));
  } else if (proof.is_empty) {
    proof.remarks.push_back(fmt::format(
        "is not verified: it was compared in {0} alone, which neither it nor its reference {1} "
        "changes; name in outputs what the kernels write",
        listed(untouched), reference));
  } else if (!untouched.empty()) {
    proof.remarks.push_back(
        fmt::format("was compared in {} too, which neither it nor its reference {} changes: that "
                    "verifies nothing",
                    listed(untouched), reference));
  }
  if (!beside.empty()) {
    proof.remarks.push_back(
        fmt::format("changes {} too, which {} and which was compared with nothing", listed(beside),
                    reference.empty() ? "no file is given for"
                                      : fmt::format("its reference {} does not", reference)));
  }
  return proof;
}

}  // namespace warpmeter::run
