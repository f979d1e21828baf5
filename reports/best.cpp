// SPDX-License-Identifier: MIT
#include "reports/best.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/variant_name.h"
#include "reports/plot/plot.h"
#include "reports/statistics.h"
#include "schema/catalogue.h"

namespace warpmeter::reports {
namespace {

constexpr std::size_t most_shown = 5;  // and who is as good

bool beats(const Standing& a, const Standing& b) {
  bool is_better = false;
  for (std::size_t i = 0; i < a.costs.size(); ++i) {
    if (a.costs[i] > b.costs[i]) return false;
    is_better = is_better || a.costs[i] < b.costs[i];
  }
  return is_better;
}

std::vector<Standing> best_of(std::vector<Standing> all, const std::vector<std::string>& metrics) {
  if (all.empty()) return all;
  if (metrics.size() == 1) {
    const std::size_t places = std::min(all.size(), most_shown);
    const std::vector<double> last = all[places - 1].costs;
    const Standing first = all.front();
    std::erase_if(all, [&](const Standing& standing) {
      return standing.costs > last && !may_be_as_good(standing, first, metrics.front());
    });
    return all;
  }
  return front_of(all);
}

/// The values of one variant. By one metric, where somebody may be as good as the best: who is.
std::vector<Cell> figures_of(const Standing& standing, const std::vector<Standing>& best,
                             const std::vector<std::string>& metrics) {
  std::vector<Cell> cells;
  for (const std::string& metric : metrics) {
    cells.push_back(cell_of(standing.subject->figure(metric)));
  }
  if (metrics.size() > 1) return cells;
  const auto is_near = [&](const Standing& other) {
    return may_be_as_good(other, best.front(), metrics.front());
  };
  const std::string_view rank =
      is_near(standing) ? as_good_mark
      : standing.costs == best.front().costs && std::any_of(best.begin(), best.end(), is_near)
          ? best_mark
          : "";
  std::string& mark = cells.front().mark;
  if (!rank.empty()) mark += (mark.empty() ? "" : " ") + std::string(rank);
  return cells;
}

/// By device, family and size, in this order.
std::vector<const Group*> in_order(const RunRecord& run) {
  std::vector<const Group*> groups;
  for (const Group& group : run.groups) groups.push_back(&group);
  const auto ordinal = [&](const Group* group) {
    const auto device =
        std::find_if(run.devices.begin(), run.devices.end(),
                     [&](const DeviceRecord& d) { return d.id == group->device_id; });
    return device == run.devices.end() ? 0 : device->ordinal;
  };
  std::stable_sort(groups.begin(), groups.end(), [&](const Group* a, const Group* b) {
    const auto place_a = std::tuple(ordinal(a), std::string_view(a->family));
    const auto place_b = std::tuple(ordinal(b), std::string_view(b->family));
    return place_a != place_b ? place_a < place_b : is_smaller(*a, *b);
  });
  return groups;
}

/// The named sizes that groups have in their names, in the order in which they first appear.
std::vector<std::string> other_sizes(const RunRecord& run) {
  std::vector<std::string> names;
  for (const Group& group : run.groups) {
    for (const auto& [name, value] : parsed_variant_name(group.subjects.front().variant).sizes) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

Cell size_cell(const Group& group, const std::string& name) {
  for (const auto& [size, value] : parsed_variant_name(group.subjects.front().variant).sizes) {
    if (size == name) return static_cast<std::int64_t>(parameter_number(value).value_or(0));
  }
  return Missing{"one size"};
}

Table empty_table(const RunRecord& run, const std::vector<std::string>& others,
                  const std::vector<std::string>& metrics) {
  Table table;
  if (run.devices.size() > 1) table.columns.push_back(Column::text("device"));
  table.columns.insert(table.columns.end(),
                       {Column::text("family"), Column::number("size", "size", "", Kind::exact)});
  for (const std::string& size : others) {
    table.columns.push_back(Column::number(size, size, "", Kind::exact));
  }
  table.columns.push_back(Column::text("variant"));
  for (const std::string& metric : metrics) {
    const schema::MetricInfo* info = schema::Catalogue::get().find_metric(metric);
    table.columns.push_back(Column::number(metric, info != nullptr ? info->heading : metric,
                                           info != nullptr ? info->unit : "", Kind::reading));
  }
  return table;
}

}  // namespace

std::vector<Standing> front_of(const std::vector<Standing>& all) {
  std::vector<Standing> front;
  for (const Standing& standing : all) {
    const bool is_beaten = std::any_of(
        all.begin(), all.end(), [&](const Standing& other) { return beats(other, standing); });
    if (!is_beaten) front.push_back(standing);
  }
  return front;
}

bool is_better_higher(std::string_view metric) {
  const schema::MetricInfo* info = schema::Catalogue::get().find_metric(metric);
  return info != nullptr && info->is_better_higher;
}

std::vector<Standing> standings(const Group& group, const std::vector<std::string>& metrics) {
  std::vector<Standing> all;
  for (const Subject& subject : group.subjects) {
    if (subject.failures() > 0) continue;
    Standing standing{&subject, {}, {}, 0};
    standing.transactions =
        subject.figure(all_transactions).value.value_or(std::numeric_limits<double>::infinity());
    for (const std::string& metric : metrics) {
      const Figure figure = subject.figure(metric);
      if (!figure.value) break;
      standing.values.push_back(*figure.value);
      standing.costs.push_back(is_better_higher(metric) ? -*figure.value : *figure.value);
    }
    if (standing.values.size() == metrics.size()) all.push_back(std::move(standing));
  }
  std::stable_sort(all.begin(), all.end(), [](const Standing& a, const Standing& b) {
    return std::tie(a.costs, a.transactions) < std::tie(b.costs, b.transactions);
  });
  return all;
}

Range bounds_of(const Subject& subject, std::string_view metric) {
  const Figure figure = subject.figure(metric);
  const Range range = figure.range.value_or(Range{*figure.value, *figure.value});
  const schema::MetricInfo* info = schema::Catalogue::get().find_metric(metric);
  if (info == nullptr || !info->is_timed) return range;
  const Figure confidence = subject.figure("relative_confidence");
  const double own = confidence.range ? confidence.range->high : confidence.value.value_or(0);
  double shift = 0;
  for (const LaunchRecord* launch : subject.launches) {
    shift = std::max(shift, launch->session_shift);
  }
  const double half = std::hypot(own, deviate_of(0.05) * shift);
  return {range.low * (1 - half), range.high * (1 + half)};
}

bool may_be_as_good(const Standing& standing, const Standing& best, std::string_view metric) {
  if (standing.costs == best.costs) return false;
  const Range own = bounds_of(*standing.subject, metric);
  const Range first = bounds_of(*best.subject, metric);
  return own.low <= first.high && first.low <= own.high;
}

bool has_as_good(const Table& best) {
  return std::any_of(best.rows.begin(), best.rows.end(), [](const std::vector<Cell>& row) {
    return row.back().mark.find(as_good_mark) != std::string::npos;
  });
}

void check_best(const std::vector<std::string>& metrics) {
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  for (const std::string& metric : metrics) {
    if (catalogue.find_metric(metric) != nullptr || catalogue.find_counter(metric) != nullptr) {
      continue;
    }
    throw Error(ExitCode::usage, fmt::format("--best takes metrics, and '{}' is none{} (see: "
                                             "warpmeter list metrics)",
                                             metric, catalogue.suggestion(metric)));
  }
}

Table best_table(const schema::Reader& reader, std::int64_t run_id,
                 const std::vector<std::string>& metrics) {
  const RunRecord run = read_run(reader, run_id, metrics);
  const std::vector<std::string> others = other_sizes(run);
  Table table = empty_table(run, others, metrics);
  for (const Group* group : in_order(run)) {
    std::vector<Standing> all = standings(*group, metrics);
    std::erase_if(all, [](const Standing& standing) { return standing.subject->is_ceiling(); });
    const std::vector<Standing> best = best_of(std::move(all), metrics);
    for (const Standing& standing : best) {
      std::vector<Cell> row;
      if (run.devices.size() > 1) row.emplace_back(run.device_name(group->device_id));
      row.emplace_back(group->family);
      row.push_back(group->size ? Cell(*group->size) : Cell(Missing{"one size"}));
      for (const std::string& size : others) row.push_back(size_cell(*group, size));
      row.emplace_back(standing.subject->variant);
      for (Cell& figure : figures_of(standing, best, metrics)) row.push_back(std::move(figure));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace warpmeter::reports
