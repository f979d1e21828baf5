// SPDX-License-Identifier: MIT
// The plots of a family: its variants side by side at the largest size, and over the sizes where
// there are several; and what a launch's transactions cost in time.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "reports/metrics.h"
#include "reports/sections/sections.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

constexpr std::size_t most_bars = 40;   // rows; of more, those with the largest values are shown
constexpr std::size_t most_lines = 12;  // variants
constexpr std::size_t most_points = 500;

struct Series {
  std::string metric, heading;
};

/// With the confidence interval as its range, where the launches have none.
Cell duration_cell(const Subject& subject, const DurationUnit& unit) {
  const Figure duration = subject.figure("duration");
  Cell cell = cell_of(duration, 1 / unit.in_ns);
  const Figure confidence = subject.figure("relative_confidence");
  if (duration.value && confidence.value && !cell.range) {
    const double time = *duration.value / unit.in_ns;
    cell.range = Range{time * (1 - *confidence.value), time * (1 + *confidence.value)};
  }
  return cell;
}

DurationUnit unit_of(const std::vector<const Group*>& groups) {
  std::vector<double> durations;
  for (const Group* group : groups) {
    for (const Subject& subject : group->subjects) {
      const Figure duration = subject.figure("duration");
      if (duration.value) durations.push_back(*duration.value);
    }
  }
  return duration_unit(durations);
}

bool has_values(const std::vector<std::vector<Cell>>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const std::vector<Cell>& row) {
    return std::any_of(row.begin() + 1, row.end(),
                       [](const Cell& cell) { return !cell.missing(); });
  });
}

double largest_of(const std::vector<Cell>& row) {
  double largest = 0;
  for (const Cell& cell : row) {
    if (const auto* real = std::get_if<double>(&cell.value)) largest = std::max(largest, *real);
  }
  return largest;
}

/// Adds the plot unless it would be empty; of very many rows only the largest stay.
void add_bars(Document& document, Plot plot) {
  if (plot.data.rows.size() < 2 || !has_values(plot.data.rows)) return;
  auto& rows = plot.data.rows;
  if (rows.size() > most_bars) {
    plot.description += fmt::format(" The {} largest of {}.", most_bars, rows.size());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return largest_of(a) > largest_of(b); });
    rows.resize(most_bars);
  }
  document.plot(std::move(plot));
}

Plot bars_of(const std::string& title, std::string description, std::string axis) {
  Plot plot;
  plot.title = title;
  plot.description = std::move(description);
  plot.x.label = std::move(axis);
  plot.data.columns = {Column::text("variant")};
  return plot;
}

void add_time_bars(Document& document, const Group& group, const std::string& title) {
  const DurationUnit unit = unit_of({&group});
  const std::string axis = fmt::format("time ({})", unit.symbol);
  Plot plot = bars_of("Time of " + title,
                      "Median of the samples; the whisker is its 95 % confidence interval or, of "
                      "several launches, their range. Shorter is better.",
                      axis);
  plot.data.columns.push_back(
      Column::number("duration", "time", std::string(unit.symbol), Kind::reading));
  for (const Subject& subject : group.subjects) {
    plot.data.rows.push_back({subject.variant, duration_cell(subject, unit)});
  }
  add_bars(document, std::move(plot));
}

void add_metric_bars(Document& document, const Group& group, Plot plot,
                     const std::vector<Series>& series) {
  for (const Series& one : series) {
    plot.data.columns.push_back(Column::number(one.metric, one.heading, "", Kind::quotient));
  }
  for (const Subject& subject : group.subjects) {
    std::vector<Cell> row = {subject.variant};
    for (const Series& one : series) row.push_back(cell_of(subject.figure(one.metric), 1));
    plot.data.rows.push_back(std::move(row));
  }
  add_bars(document, std::move(plot));
}

/// The variants of all sizes, in the order in which they first appear.
std::vector<std::string> variants_of(const std::vector<const Group*>& groups) {
  std::vector<std::string> variants;
  for (const Group* group : groups) {
    for (const Subject& subject : group->subjects) {
      if (std::find(variants.begin(), variants.end(), subject.variant) == variants.end()) {
        variants.push_back(subject.variant);
      }
    }
  }
  if (variants.size() > most_lines) variants.resize(most_lines);
  return variants;
}

const Subject* subject_of(const Group& group, const std::string& variant) {
  const auto found = std::find_if(group.subjects.begin(), group.subjects.end(),
                                  [&](const Subject& s) { return s.variant == variant; });
  return found == group.subjects.end() ? nullptr : &*found;
}

using SubjectCell = std::function<Cell(const Subject&)>;

/// Sectors of global loads and stores.
std::optional<double> transactions_of(const Subject& subject) {
  const Figure loads = subject.figure("gld_transactions"),
               stores = subject.figure("gst_transactions");
  if (!loads.value && !stores.value) return std::nullopt;
  const double sum = loads.value.value_or(0) + stores.value.value_or(0);
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

/// A line a variant over the sizes; nothing where no variant has values at two sizes.
void add_lines(Document& document, const std::vector<const Group*>& groups, Plot plot, Kind kind,
               const SubjectCell& cell) {
  plot.form = Plot::Form::lines;
  plot.x = {"size", true};
  plot.data.columns = {Column::number("size", "", "", Kind::count)};
  const std::vector<std::string> variants = variants_of(groups);
  for (const std::string& variant : variants) {
    plot.data.columns.push_back(Column::number(variant, "", "", kind));
  }
  std::size_t most_values = 0;
  const Group* before = nullptr;
  for (const Group* group : groups) {
    // The variant's name says the size in a family with other sizes too.
    if (before == nullptr || before->size != group->size) {
      plot.data.rows.emplace_back(variants.size() + 1).front() = Cell(group->size.value_or(0));
    }
    before = group;
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const Subject* subject = subject_of(*group, variants[i]);
      if (subject != nullptr) plot.data.rows.back()[i + 1] = cell(*subject);
    }
  }
  for (std::size_t i = 1; i < plot.data.columns.size(); ++i) {
    const auto count = std::count_if(plot.data.rows.begin(), plot.data.rows.end(),
                                     [&](const auto& row) { return !row[i].missing(); });
    most_values = std::max(most_values, static_cast<std::size_t>(count));
  }
  if (most_values >= 2) document.plot(std::move(plot));
}

void add_size_lines(Document& document, std::vector<const Group*> groups, const std::string& title,
                    const std::optional<Ceiling>& ceiling) {
  std::sort(groups.begin(), groups.end(),
            [](const Group* a, const Group* b) { return is_smaller(*a, *b); });
  const DurationUnit unit = unit_of(groups);
  Plot time;
  time.title = "Time of " + title + " over its sizes";
  time.description = "Both axes are logarithmic. Lower is better.";
  time.y = {fmt::format("time ({})", unit.symbol), true};
  add_lines(document, groups, std::move(time), Kind::reading,
            [&](const Subject& s) { return duration_cell(s, unit); });
  Plot bandwidth;
  bandwidth.title = "Bandwidth of " + title + " over its sizes";
  bandwidth.description =
      "Useful bytes over the time. Higher is better; sizes that fit into a cache may exceed what "
      "memory can give.";
  bandwidth.y = {"bandwidth (GB/s)", false};
  if (ceiling) bandwidth.reference = {ceiling->name, ceiling->bandwidth};
  add_lines(document, groups, std::move(bandwidth), Kind::reading,
            [](const Subject& s) { return cell_of(s.figure("achieved_bandwidth"), 1); });
  Plot transactions;
  transactions.title = "Global transactions of " + title + " over its sizes";
  transactions.description =
      "Sectors of 32 bytes that loads and stores touched. Both axes are logarithmic.";
  transactions.y = {"transactions", true};
  add_lines(document, groups, std::move(transactions), Kind::count, [](const Subject& s) {
    const auto sum = transactions_of(s);
    return sum ? Cell(*sum) : Cell{};
  });
}

}  // namespace

void add_family_plots(Document& document, const RunRecord& run, const Group& last) {
  std::vector<const Group*> groups;
  for (const Group& group : run.groups) {
    if (group.device_id == last.device_id && group.family == last.family) groups.push_back(&group);
  }
  const Group& largest =
      **std::max_element(groups.begin(), groups.end(),
                         [](const Group* a, const Group* b) { return is_smaller(*a, *b); });
  const std::string device =
      run.devices.size() > 1 ? ", " + run.device_name(last.device_id) : std::string();
  const std::string title = largest.title() + device;
  add_time_bars(document, largest, title);
  add_metric_bars(
      document, largest,
      bars_of("Shared-memory transactions a request, " + title,
              "1 is free of bank conflicts for accesses of 32 bits.", "transactions a request"),
      {{"shared_load_transactions_per_request", "loads"},
       {"shared_store_transactions_per_request", "stores"}});
  add_metric_bars(
      document, largest,
      bars_of("Efficiency of global accesses, " + title,
              "Bytes that were asked for, of those in the sectors touched.", "efficiency (%)"),
      {{"gld_efficiency", "loads"}, {"gst_efficiency", "stores"}});
  if (groups.size() > 1) {
    add_size_lines(document, groups, last.family + device, ceiling_of(run, last.device_id));
  }
}

void add_cost_plot(Document& document, const RunRecord& run) {
  std::vector<const Group*> groups;
  for (const Group& group : run.groups) groups.push_back(&group);
  const DurationUnit unit = unit_of(groups);
  Plot plot;
  plot.form = Plot::Form::points;
  plot.title = "Time against global transactions";
  plot.description =
      "A point a variant and size. One far above others of as many transactions waits for "
      "something else. Both axes are logarithmic.";
  plot.x = {"global transactions", true};
  plot.y = {fmt::format("time ({})", unit.symbol), true};
  plot.data.columns = {Column::text("variant"), Column::text("family"),
                       Column::number("transactions", "", "", Kind::count),
                       Column::number("duration", "time", std::string(unit.symbol), Kind::reading)};
  for (const Group& group : run.groups) {
    for (const Subject& subject : group.subjects) {
      const auto transactions = transactions_of(subject);
      const Cell time = cell_of(subject.figure("duration"), 1 / unit.in_ns);
      if (!transactions || time.missing() || plot.data.rows.size() == most_points) continue;
      plot.data.rows.push_back({run.name_of(*subject.launches.front()), group.family,
                                static_cast<std::int64_t>(*transactions), time});
    }
  }
  if (plot.data.rows.size() >= 3) document.plot(std::move(plot));
}

}  // namespace warpmeter::reports::sections
