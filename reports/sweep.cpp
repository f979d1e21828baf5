// SPDX-License-Identifier: MIT
#include "reports/sweep.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/statistics.h"
#include "base/variant_name.h"
#include "reports/metrics.h"

namespace warpmeter::reports {
namespace {

/// A variant's name in its parts; those of one sweep differ in the values alone.
struct Member {
  const Group* group = nullptr;
  const Subject* subject = nullptr;
  VariantName name;
};

using SweepKey = std::tuple<std::int64_t, std::string, std::string, std::vector<std::string>>;

std::vector<std::vector<Member>> members_of(const RunRecord& run) {
  std::vector<std::vector<Member>> sweeps;
  std::map<SweepKey, std::size_t> known;
  for (const Group& group : run.groups) {
    for (const Subject& subject : group.subjects) {
      VariantName name = parsed_variant_name(subject.variant);
      if (name.parameters.empty()) continue;
      std::vector<std::string> names;
      for (const auto& [parameter, value] : name.parameters) names.push_back(parameter);
      const auto [place, is_new] = known.try_emplace(
          SweepKey{group.device_id, group.family, name.base, std::move(names)}, sweeps.size());
      if (is_new) sweeps.emplace_back();
      sweeps[place->second].push_back({&group, &subject, std::move(name)});
    }
  }
  return sweeps;
}

Sweep::Parameter parameter_of(const std::vector<Member>& members, std::size_t place) {
  Sweep::Parameter parameter;
  parameter.name = members.front().name.parameters[place].first;
  parameter.is_number = true;
  std::map<std::string, long double> numbers;
  for (const Member& member : members) {
    const std::string& value = member.name.parameters[place].second;
    const auto number = parameter_number(value);
    if (!numbers.try_emplace(value, number.value_or(0)).second) continue;
    parameter.values.push_back(value);
    parameter.is_number = parameter.is_number && number;
  }
  if (parameter.is_number) {
    std::stable_sort(parameter.values.begin(), parameter.values.end(),
                     [&](const auto& a, const auto& b) { return numbers.at(a) < numbers.at(b); });
  }
  return parameter;
}

Sweep sweep_of(const std::vector<Member>& members) {
  Sweep sweep;
  sweep.device_id = members.front().group->device_id;
  sweep.family = members.front().group->family;
  sweep.base = members.front().name.base;
  std::vector<std::map<std::string, std::size_t>> places;
  for (std::size_t i = 0; i < members.front().name.parameters.size(); ++i) {
    sweep.parameters.push_back(parameter_of(members, i));
    auto& of_values = places.emplace_back();
    for (const std::string& value : sweep.parameters[i].values) {
      of_values.emplace(value, of_values.size());
    }
  }
  for (const Member& member : members) {
    auto size = std::find_if(sweep.sizes.begin(), sweep.sizes.end(),
                             [&](const Sweep::Size& s) { return s.group == member.group; });
    if (size == sweep.sizes.end()) size = sweep.sizes.insert(size, {member.group, {}});
    Sweep::Point& point = size->points.emplace_back(Sweep::Point{member.subject, {}});
    for (std::size_t i = 0; i < places.size(); ++i) {
      point.at.push_back(places[i].at(member.name.parameters[i].second));
    }
  }
  std::stable_sort(sweep.sizes.begin(), sweep.sizes.end(),
                   [](const auto& a, const auto& b) { return is_smaller(*a.group, *b.group); });
  return sweep;
}

/// How many times the least the largest is; very many where the least is 0.
double ratio_of(const std::vector<double>& values) {
  constexpr double very_many = 1e12;
  if (values.empty()) return 0;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (*low == *high) return 1;
  return *low > 0 ? *high / *low : very_many;
}

double spread_of(const Sweep& sweep, const std::string& metric) {
  double spread = 0;
  for (const Sweep::Size& size : sweep.sizes) {
    std::vector<double> values;
    for (const Sweep::Point& point : size.points) {
      const Figure figure = point.subject->figure(metric);
      if (figure.value) values.push_back(*figure.value);
    }
    spread = std::max(spread, ratio_of(values));
  }
  return spread;
}

double spread_of(const Sweep& sweep, const std::string& metric, std::size_t parameter) {
  double spread = 0;
  for (const Sweep::Size& size : sweep.sizes) {
    std::map<std::size_t, std::vector<double>> values;
    for (const Sweep::Point& point : size.points) {
      const Figure figure = point.subject->figure(metric);
      if (figure.value) values[point.at[parameter]].push_back(*figure.value);
    }
    std::vector<double> medians;
    for (auto& [value, of_value] : values) medians.push_back(median(of_value));
    spread = std::max(spread, ratio_of(medians));
  }
  return spread;
}

}  // namespace

std::vector<Sweep> sweeps_of(const RunRecord& run) {
  std::vector<Sweep> sweeps;
  for (const std::vector<Member>& members : members_of(run)) {
    Sweep sweep = sweep_of(members);
    const bool varies = std::any_of(sweep.parameters.begin(), sweep.parameters.end(),
                                    [](const Sweep::Parameter& p) { return p.varies(); });
    if (varies) sweeps.push_back(std::move(sweep));
  }
  return sweeps;
}

std::vector<std::size_t> shown_parameters(const Sweep& sweep, const std::string& metric,
                                          std::size_t most) {
  std::vector<std::pair<double, std::size_t>> spreads;
  for (std::size_t i = 0; i < sweep.parameters.size(); ++i) {
    if (sweep.parameters[i].varies()) spreads.emplace_back(spread_of(sweep, metric, i), i);
  }
  std::stable_sort(spreads.begin(), spreads.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (spreads.size() > most) spreads.resize(most);
  std::vector<std::size_t> shown;
  for (const auto& [spread, place] : spreads) shown.push_back(place);
  std::sort(shown.begin(), shown.end());
  return shown;
}

std::string metric_of(const Sweep& sweep, const RunRecord& run) {
  if (spread_of(sweep, "duration") > 0) return "duration";
  if (spread_of(sweep, std::string(all_transactions)) > 1) return std::string(all_transactions);
  std::string widest;
  double spread = 0;
  const auto consider = [&](const std::string& metric) {
    const double own = spread_of(sweep, metric);
    if (own <= spread) return;
    widest = metric;
    spread = own;
  };
  for (const ComparedMetric& metric : compared_metrics()) {
    if (metric.name != "relative_confidence") consider(std::string(metric.name));
  }
  if (spread > 1) return widest;
  for (const std::string& metric : run.others) consider(metric);
  return widest;
}

}  // namespace warpmeter::reports
