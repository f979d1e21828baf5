// SPDX-License-Identifier: MIT
#include "collector/cupti/passes.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/error.h"
#include "collector/cupti/planner.h"

namespace warpmeter::cupti {
namespace {

const Loaded<CuptiApi>& required_cupti() {
  const Loaded<CuptiApi>& cupti = cupti_library();
  if (!cupti.ok()) throw Error(ExitCode::no_hardware, cupti.sentence());
  return cupti;
}

}  // namespace

Passes plan_passes(const std::string& chip, std::span<const std::string> counters,
                   UnknownName unknown) {
  const Plan plan(required_cupti().api, chip, {}, counters, nullptr, unknown);
  Passes passes{chip, plan.passes(), {}};
  for (const Plan::Item& item : plan.items()) {
    if (!item.lacking.empty()) passes.lacking.emplace_back(item.counter, item.lacking);
  }
  return passes;
}

std::vector<std::string> unknown_names(const std::string& chip,
                                       std::span<const std::string> names) {
  const MetricHost host(required_cupti().api, chip);
  std::vector<std::string> unknown;
  std::copy_if(names.begin(), names.end(), std::back_inserter(unknown),
               [&](const std::string& name) { return !host.knows(name); });
  return unknown;
}

std::vector<PassGroup> one_pass_groups(std::span<const std::string> chips,
                                       std::span<const std::string> counters) {
  return group_by_pass(counters, [&](const std::vector<std::string>& group) {
    std::size_t most = 0;
    for (const std::string& chip : chips) {
      const Plan plan(required_cupti().api, chip, {}, group);
      most = std::max(most, plan.leaves_links_out() ? 2 : plan.passes());
    }
    return most;
  });
}

std::vector<PassGroup> group_by_pass(
    std::span<const std::string> counters,
    const std::function<std::size_t(const std::vector<std::string>&)>& passes_of) {
  std::vector<PassGroup> groups;
  const auto fits = [&](PassGroup& group, const std::string& counter) {
    group.counters.push_back(counter);
    if (passes_of(group.counters) <= 1) return true;
    group.counters.pop_back();
    return false;
  };
  for (const std::string& counter : counters) {
    const bool is_placed = std::any_of(groups.begin(), groups.end(), [&](PassGroup& group) {
      return group.passes <= 1 && fits(group, counter);
    });
    if (!is_placed) groups.push_back({{counter}, passes_of({counter})});
  }
  return groups;
}

std::vector<std::string> in_one_pass(
    std::span<const std::string> counters,
    const std::function<std::size_t(const std::vector<std::string>&)>& passes_of) {
  std::vector<std::string> found;
  const std::function<void(std::span<const std::string>)> add =
      [&](std::span<const std::string> more) {
        const std::size_t before = found.size();
        found.insert(found.end(), more.begin(), more.end());
        if (more.empty() || passes_of(found) <= 1) return;
        found.resize(before);
        if (more.size() == 1) return;
        add(more.first(more.size() / 2));
        add(more.subspan(more.size() / 2));
      };
  add(counters);
  return found;
}

std::span<const char* const> known_chips() {
  static constexpr const char* chips[] = {"TU102", "GA100", "AD102", "GH100", "GB100", "GB202"};
  return chips;
}

std::string cupti_folder() {
  const std::filesystem::path found = cupti_folder_in(library_directories());
  if (!found.empty()) return found.string();
  return std::filesystem::path(required_cupti().path).parent_path().string();
}

}  // namespace warpmeter::cupti
