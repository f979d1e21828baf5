// SPDX-License-Identifier: MIT
#include "reports/compare/common_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/variant_name.h"

namespace warpmeter::reports {
namespace {

std::string sizes_of(const LaunchGroup& group) {
  return sizes_text(parsed_variant_name(group.variant));
}

/// In the order of the launches.
std::vector<std::string> sizes_of(const std::vector<LaunchGroup>& groups) {
  std::vector<std::string> all;
  for (const LaunchGroup& group : groups) {
    const std::string sizes = sizes_of(group);
    if (std::find(all.begin(), all.end(), sizes) == all.end()) all.push_back(sizes);
  }
  return all;
}

/// The groups of the same variants as `named`, at every size.
std::vector<LaunchGroup> at_all_sizes(const std::vector<LaunchGroup>& groups,
                                      const std::vector<LaunchGroup>& named) {
  std::vector<LaunchGroup> all;
  for (const LaunchGroup& group : groups) {
    const bool is_named = std::any_of(named.begin(), named.end(), [&](const LaunchGroup& other) {
      return group.family == other.family &&
             name_without_sizes(group.variant) == name_without_sizes(other.variant);
    });
    if (is_named) all.push_back(group);
  }
  return all;
}

/// Takes away what is at other sizes than the other side; false, and nothing is taken, where no
/// launch would be left.
bool keep_sizes_of(const std::vector<LaunchGroup>& others, std::vector<LaunchGroup>& groups) {
  const std::vector<std::string> sizes = sizes_of(others);
  std::vector<LaunchGroup> kept;
  for (const LaunchGroup& group : groups) {
    if (std::find(sizes.begin(), sizes.end(), sizes_of(group)) != sizes.end())
      kept.push_back(group);
  }
  if (kept.empty()) return groups.empty();
  groups = std::move(kept);
  return true;
}

[[noreturn]] void refuse(const std::vector<std::string>& names, const std::vector<LaunchGroup>& all,
                         const Sides& sides) {
  const std::vector<std::string> base = sizes_of(at_all_sizes(all, sides.base_groups));
  std::vector<std::string> both;
  for (const std::string& sizes : sizes_of(at_all_sizes(all, sides.contender_groups))) {
    if (std::find(base.begin(), base.end(), sizes) != base.end()) {
      both.push_back(fmt::format("({})", sizes));
    }
  }
  const std::string first = name_without_sizes(names[0]), second = name_without_sizes(names[1]);
  std::string advice = "no size is one that both have";
  if (first == second) {
    advice = "name two variants";
  } else if (!both.empty()) {
    advice = fmt::format("both have {}: name '{}' and '{}' with one of these, or without for all",
                         fmt::join(both, " and "), first, second);
  }
  throw Error(ExitCode::usage,
              fmt::format("'{}' and '{}' have different sizes, so that their work differs; {}",
                          names[0], names[1], advice));
}

bool is_named_with_sizes(const std::string& name) {
  return !parsed_variant_name(name).sizes.empty();
}

}  // namespace

void keep_common_sizes(const std::vector<std::string>& names, const std::vector<LaunchGroup>& all,
                       Sides& sides) {
  const bool have_sizes = !sizes_of(sides.base_groups).front().empty() &&
                          !sizes_of(sides.contender_groups).front().empty();
  if (!have_sizes) return;
  const bool keeps_base = is_named_with_sizes(names[0]);
  const bool keeps_contender = is_named_with_sizes(names[1]);
  if ((keeps_base && !keep_sizes_of(sides.base_groups, sides.contender_groups)) ||
      (keeps_contender && !keep_sizes_of(sides.contender_groups, sides.base_groups))) {
    refuse(names, all, sides);
  }
}

}  // namespace warpmeter::reports
