// SPDX-License-Identifier: MIT
// The launches of a run as gates see them: each kind once, with each choice of values that the
// gates read once, however often it came.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/gates/check.h"
#include "schema/figures/kinds.h"
#include "schema/grade.h"

namespace warpmeter::reports {

/// A value that a gate reads.
struct CheckedValue {
  std::optional<double> value;
  schema::Grade grade = schema::Grade::unavailable;
  std::string reason;
};

/// Launches of one kind; a gate is judged once for those with the same values.
struct LaunchToCheck {
  std::size_t kind = 0;  ///< its place
  LaunchName name;
  std::string readable_name, failure;
  bool was_run = true;  ///< false for a library's function where the backend has no library
  std::map<std::string, CheckedValue, std::less<>> values;  ///< the values that are judged next
};

/// The kinds of the run's launches, told apart by their resources too where a gate reads those.
schema::LaunchKinds kinds_to_check(const schema::Reader& reader, const CheckRequest& request);

/// One for each kind, in their order, without values.
std::vector<LaunchToCheck> launches_to_check(const schema::Reader& reader, std::int64_t run,
                                             const schema::LaunchKinds& kinds);

/// Calls `judge` for the launches with the values that gates read, those with the same values once,
/// in the order of the first of them.
void each_distinct(const schema::Reader& reader, const CheckRequest& request,
                   const schema::LaunchKinds& kinds, std::vector<LaunchToCheck>& launches,
                   const std::function<void(const LaunchToCheck& launch)>& judge);

}  // namespace warpmeter::reports
