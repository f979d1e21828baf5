// SPDX-License-Identifier: MIT
// The heart of a report: the variants of a family at one size, side by side.
//
// A column without any value in a table is left out of it; why is said once, under "Unavailable".
// Values that the hardware might not repeat to the last count carry a mark with a legend.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "reports/metrics.h"
#include "reports/sections/sections.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

/// True if the table has a column for the metric: a counter of atomics only where there are any.
bool is_worth_a_column(const Group& group, std::string_view metric) {
  return !is_shown_where_any(metric) ||
         std::any_of(group.subjects.begin(), group.subjects.end(),
                     [&](const Subject& s) { return s.figure(metric).value.value_or(0) != 0; });
}

/// Appends a column whose cell depends on the subject alone, unless it would be empty.
void add_column(Table& table, const Group& group, Column column,
                const std::function<Cell(const Subject&)>& cell) {
  std::vector<Cell> cells;
  for (const Subject& subject : group.subjects) cells.push_back(cell(subject));
  if (std::all_of(cells.begin(), cells.end(), [](const Cell& c) { return c.missing(); })) return;
  table.columns.push_back(std::move(column));
  for (std::size_t i = 0; i < cells.size(); ++i) table.rows[i].push_back(std::move(cells[i]));
}

/// The ratio of two medians; without range, since the launches do not pair up.
Cell ratio(const Figure& numerator, const Figure& denominator, double scale) {
  if (!numerator.value || !denominator.value || *denominator.value == 0) return Missing{};
  return *numerator.value / *denominator.value * scale;
}

void add_outcome_columns(Table& table, const Group& group) {
  const bool repeated = std::any_of(group.subjects.begin(), group.subjects.end(),
                                    [](const Subject& s) { return s.count() > 1; });
  if (repeated) {
    add_column(table, group, Column::number("launches", "", "", Kind::count),
               [](const Subject& s) { return static_cast<std::int64_t>(s.count()); });
  }
  const bool failed = std::any_of(group.subjects.begin(), group.subjects.end(),
                                  [](const Subject& s) { return s.failures() > 0; });
  if (!failed) return;
  add_column(table, group, Column::text("outcome", "", Kind::verdict),
             [](const Subject& s) -> Cell {
               if (s.failures() == 0) return "done";
               if (s.failures() == s.count()) return "failed";
               return fmt::format("{} failed", s.failures());
             });
}

void add_time_columns(Table& table, const Group& group) {
  std::vector<double> durations;
  for (const Subject& subject : group.subjects) {
    const Figure duration = subject.figure("duration");
    if (duration.value) durations.push_back(*duration.value);
  }
  const DurationUnit unit = duration_unit(durations);
  add_column(table, group,
             Column::number("duration", "time", std::string(unit.symbol), Kind::reading),
             [&](const Subject& s) { return cell_of(s.figure("duration"), 1 / unit.in_ns); });
  add_column(table, group, Column::number("relative_confidence", "±", "%", Kind::quotient),
             [](const Subject& s) -> Cell {
               const Figure confidence = s.figure("relative_confidence");
               if (!confidence.value) return Missing{};
               return 100 * (confidence.range ? confidence.range->high : *confidence.value);
             });
  const Figure first = group.subjects.front().figure("duration");
  if (group.subjects.size() < 2) return;
  add_column(table, group, Column::number("speed_up", "speed-up", "×", Kind::reading),
             [&](const Subject& s) { return ratio(first, s.figure("duration"), 1); });
}

void add_bandwidth_share(Table& table, const Group& group) {
  const auto ceiling = std::find_if(group.subjects.begin(), group.subjects.end(),
                                    [](const Subject& s) { return s.is_ceiling(); });
  if (ceiling == group.subjects.end() || group.subjects.size() < 2) return;
  const Figure best = ceiling->figure("achieved_bandwidth");
  add_column(table, group,
             Column::number("bandwidth_share", "of " + ceiling->variant, "%", Kind::quotient),
             [&](const Subject& s) { return ratio(s.figure("achieved_bandwidth"), best, 100); });
}

Table table_of(const Group& group) {
  Table table;
  table.columns.push_back(Column::text("variant"));
  for (const Subject& subject : group.subjects) table.rows.push_back({subject.variant});
  add_outcome_columns(table, group);
  add_time_columns(table, group);
  for (const ComparedMetric& metric : compared_metrics()) {
    if (metric.name == "duration" || metric.name == "relative_confidence") continue;
    if (!is_worth_a_column(group, metric.name)) continue;
    add_column(table, group, metric_column(metric.name, metric.kind),
               [&](const Subject& s) { return cell_of(s.figure(metric.name)); });
  }
  add_bandwidth_share(table, group);
  return table;
}

/// Metrics beyond the standard columns may be a hundred: they are rows, the variants columns. A row
/// without a value other than 0 is counted in `left_out` instead.
Table other_table_of(const Group& group, const std::vector<std::string>& names,
                     std::set<std::string>& left_out) {
  Table table;
  table.columns = {Column::text("metric"), Column::text("unit")};
  for (const Subject& subject : group.subjects) {
    table.columns.push_back(Column::number(subject.variant, "", "", Kind::quotient));
  }
  for (const std::string& name : names) {
    std::vector<Cell> row = {name, metric_column(name, Kind::quotient).unit};
    bool any = false;
    for (const Subject& subject : group.subjects) {
      const Figure figure = subject.figure(name);
      row.push_back(cell_of(figure));
      any = any || figure.value.value_or(0) != 0;
    }
    if (any) {
      table.rows.push_back(std::move(row));
    } else if (!is_shown_where_any(name)) {
      left_out.insert(name);
    }
  }
  return table;
}

bool has_column(const Document& document, std::string_view name) {
  for (const auto& block : document.blocks) {
    const auto* table = std::get_if<Table>(&block);
    if (table == nullptr) continue;
    for (const Column& column : table->columns) {
      if (column.name == name) return true;
    }
  }
  return false;
}

/// True if a table has a figure beside the number of launches.
bool has_figures(const Document& document) {
  for (const auto& block : document.blocks) {
    const auto* table = std::get_if<Table>(&block);
    if (table == nullptr) continue;
    for (const Column& column : table->columns) {
      if (column.kind != Kind::text && column.name != "launches") return true;
    }
  }
  return false;
}

/// The legend that a reader of the tables needs, and no more than that.
std::string legend(const Document& tables) {
  std::string text;
  if (has_column(tables, "duration")) {
    text +=
        "Time is the median of the samples, ± half the width of its 95 % confidence interval "
        "(of fewer than 6 samples, of all between the least and the greatest). ";
  }
  if (has_column(tables, "speed_up")) text += "Speed-up is over the first row. ";
  if (has_column(tables, "shared_load_transactions_per_request") ||
      has_column(tables, "shared_store_transactions_per_request")) {
    text +=
        "Shared loads and stores are transactions a request: 1 is free of bank conflicts for "
        "32-bit accesses. ";
  }
  if (has_column(tables, "gld_transactions") || has_column(tables, "gst_transactions") ||
      has_column(tables, "global_atomic_sectors") ||
      has_column(tables, "global_reduction_sectors")) {
    text += "Global transactions are sectors of 32 bytes. ";
  }
  if (has_column(tables, "launches") && has_figures(tables)) {
    text +=
        "Variants launched more than once show the median of their launches and, where they "
        "differ, the lowest and highest in parentheses; ± is then the largest. ";
  }
  if (!text.empty()) text.pop_back();
  text += marks_legend(tables.marks());
  return text.starts_with(' ') ? text.substr(1) : text;
}

}  // namespace

std::string comparison_title(const RunRecord& run, const Group& group) {
  return run.devices.size() > 1 ? group.title() + ", " + run.device_name(group.device_id)
                                : group.title();
}

void add_comparison(Document& document, const Source& source) {
  const RunRecord& run = source.run;
  Document tables;
  std::set<std::string> left_out;
  for (std::size_t i = 0; i < run.groups.size(); ++i) {
    const Group& group = run.groups[i];
    tables.heading(3, comparison_title(run, group));
    tables.table(table_of(group));
    Table others = other_table_of(group, run.others, left_out);
    if (!others.rows.empty()) {
      others.caption = "Other metrics of " + group.title();
      tables.table(std::move(others));
    }
    const bool is_last_of_family =
        std::none_of(run.groups.begin() + static_cast<std::ptrdiff_t>(i) + 1, run.groups.end(),
                     [&](const Group& later) {
                       return later.family == group.family && later.device_id == group.device_id;
                     });
    if (source.plots && is_last_of_family) add_family_plots(tables, run, group);
  }
  if (tables.blocks.empty()) return;
  if (source.plots) {
    Document cost;
    add_cost_plot(cost, run);
    if (!cost.blocks.empty()) tables.heading(3, "What transactions cost");
    tables.append(std::move(cost));
  }
  document.heading(2, comparisons_title);
  const std::string text = legend(tables);
  if (!text.empty()) document.paragraph(text);
  if (!left_out.empty()) {
    document.paragraph(fmt::format(
        "Left out where all variants of a table have 0 or no value: {} (`report --format csv` has "
        "all).",
        reports::counted(left_out.size(), "metric", "metrics")));
  }
  document.append(std::move(tables));
}

void add_failures(Document& document, const Source& source) {
  const RunRecord& run = source.run;
  Table table;
  table.columns = {Column::text("launch"), Column::text("why it failed")};
  std::size_t failed = 0;
  for (std::size_t i = 0; i < run.kinds->ids.size(); ++i) {
    const schema::LaunchKind& launch = run.kinds->of(i);
    if (!launch.failed || ++failed > most_launches) continue;
    table.rows.push_back({run.name_of(launch), launch.reason});
  }
  if (table.rows.empty()) return;
  document.heading(2, failures_title);
  if (failed > most_launches) {
    document.paragraph(fmt::format("The first {} of {}.", most_launches, failed));
  }
  document.table(std::move(table));
}

}  // namespace warpmeter::reports::sections
