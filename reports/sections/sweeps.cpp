// SPDX-License-Identifier: MIT
// Sweeps of parameters: the best combination at each size, a plot over the parameter where one
// varies, a heat map where two do. The two most important of several parameters make the map, and
// each of its cells is the best over the others.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "base/statistics.h"
#include "base/variant_name.h"
#include "base/with_noun.h"
#include "reports/best.h"
#include "reports/metrics.h"
#include "reports/sections/sections.h"
#include "reports/sections/sweep_shape.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

constexpr std::size_t most_sizes = 6;    // with a plot of their own: the largest
constexpr double logarithmic_from = 10;  // times the least value that the largest is
constexpr double logarithmic_parameter_from = 8;

/// "Time (µs) of transpose/padded, size 1,024, over TILE and PAD"
std::string plot_title(const SweepShape& shape, const Ranking& ranking, const std::string& device) {
  std::string metric = heading_of(shape.shown.column);
  if (!metric.empty() && metric[0] >= 'a' && metric[0] <= 'z') {
    metric[0] = static_cast<char>(metric[0] - 'a' + 'A');
  }
  const std::string size = ranking.size().group->size_text();
  return fmt::format("{} of {}{}, over {}{}", metric, shape.sweep->title(),
                     (size.empty() ? "" : ", ") + size, shape.parameters(), device);
}

/// The description of one plot: its direction, and what its cells leave out.
std::string description_of(const SweepShape& shape, const Ranking& ranking, const Plot& plot) {
  const bool higher = is_better_higher(shape.metric);
  std::string text = higher ? "Higher is better." : "Lower is better.";
  if (plot.form == Plot::Form::heat && !plot.is_table)
    text += fmt::format(" The better, the stronger the colour{}.",
                        plot.values.logarithmic ? ", on a logarithmic scale" : "");
  if (!shape.others.empty()) {
    text += fmt::format(" Each value is the best over {}.", fmt::join(shape.others, " and "));
  }
  for (std::size_t i = 0; i < shape.places.size(); ++i) {
    const Sweep::Parameter& parameter = shape.sweep->parameters[shape.places[i]];
    if (shape.values[i].size() == parameter.values.size()) continue;
    text += fmt::format(" Of the {} of {} the {} with the best medians.",
                        with_noun(parameter.values.size(), "value"), parameter.name,
                        shape.values[i].size());
  }
  bool has_failed = false, has_absent = false;
  for (const auto& row : plot.data.rows) {
    for (const Cell& cell : row) {
      const auto* missing = std::get_if<Missing>(&cell.value);
      has_failed = has_failed || (missing != nullptr && missing->word == failed_word);
      has_absent = has_absent || (missing != nullptr && missing->word == absent_word);
    }
  }
  if (has_failed && ranking.failed() > 0) {
    text += fmt::format(" {} failed: why stands under “{}”.",
                        reports::counted(ranking.failed(), "combination", "combinations"),
                        failures_title);
  }
  if (has_absent) text += " · is not in this run: “where” or the choice of variants left it out.";
  return text;
}

/// True if colours tell more by ratios.
bool is_wide(const Ranking& ranking) {
  const auto [low, high] =
      std::minmax_element(ranking.all().begin(), ranking.all().end(),
                          [](const Standing& a, const Standing& b) { return a.values < b.values; });
  return low != ranking.all().end() && low->values.front() > 0 &&
         high->values.front() >= logarithmic_from * low->values.front();
}

Plot line_plot(const SweepShape& shape, const Ranking& ranking) {
  const Sweep::Parameter& parameter = shape.sweep->parameters[shape.places.front()];
  auto points = placed(shape, ranking.size());
  Plot plot;
  plot.form = parameter.is_number ? Plot::Form::lines : Plot::Form::bars;
  plot.data.columns = {parameter.is_number ? Column::number(parameter.name, "", "", Kind::exact)
                                           : Column::text(parameter.name),
                       shape.shown.column};
  double least = 0, largest = 0;
  for (const std::size_t value : shape.values.front()) {
    Cell name(parameter.values[value]);
    if (parameter.is_number) {
      const auto number = static_cast<double>(*parameter_number(parameter.values[value]));
      least = plot.data.rows.empty() ? number : least;
      largest = number;
      name = Cell(number);
    }
    plot.data.rows.push_back({name, cell_of(shape, ranking, points[{value}])});
  }
  plot.x = {parameter.name, least > 0 && largest >= logarithmic_parameter_from * least};
  plot.y = {heading_of(shape.shown.column), false};
  if (plot.form == Plot::Form::bars) plot.x.label = plot.y.label;
  return plot;
}

Plot heat_map(const SweepShape& shape, const Ranking& ranking) {
  const Sweep::Parameter& down = shape.sweep->parameters[shape.places[0]];
  const Sweep::Parameter& across = shape.sweep->parameters[shape.places[1]];
  auto points = placed(shape, ranking.size());
  Plot plot;
  plot.form = Plot::Form::heat;
  plot.x.label = across.name;
  plot.y.label = down.name;
  plot.values = {heading_of(shape.shown.column), is_wide(ranking)};
  plot.is_better_higher = is_better_higher(shape.metric);
  plot.data.columns = {
      Column::text(down.name, fmt::format("{}\u00a0↓ {}\u00a0→", down.name, across.name))};
  for (const std::size_t column : shape.values[1]) {
    const std::string& value = across.values[column];
    plot.data.columns.push_back(Column::number(fmt::format("{}={}", across.name, value), value, "",
                                               shape.shown.column.kind));
  }
  for (const std::size_t row : shape.values[0]) {
    auto& cells = plot.data.rows.emplace_back();
    cells.emplace_back(down.values[row]);
    for (const std::size_t column : shape.values[1]) {
      cells.push_back(cell_of(shape, ranking, points[{row, column}]));
    }
  }
  return plot;
}

void add_plots(Document& document, const SweepShape& shape, const std::string& device, bool plots) {
  std::vector<const Ranking*> shown;
  for (const Ranking& ranking : shape.rankings) {
    if (!ranking.all().empty() && !ranking.all_equal()) shown.push_back(&ranking);
  }
  if (shown.empty()) return;
  document.heading(3, shape.sweep->title() + " over " + shape.parameters() + device);
  if (shown.size() > most_sizes) {
    document.paragraph(
        fmt::format("The {} largest of {}.", most_sizes, with_noun(shape.rankings.size(), "size")));
    shown.erase(shown.begin(), shown.end() - most_sizes);
  }
  for (const Ranking* ranking : shown) {
    Plot plot = shape.places.size() == 1 ? line_plot(shape, *ranking) : heat_map(shape, *ranking);
    plot.is_table = !plots;
    plot.title = plot_title(shape, *ranking, device);
    plot.description = description_of(shape, *ranking, plot);
    document.plot(std::move(plot));
  }
}

/// A table of a row for each sweep and size.
class BestTable {
 public:
  explicit BestTable(const std::vector<SweepShape>& shapes) : shapes_(shapes) {
    for (const SweepShape& shape : shapes)
      table.rows.resize(table.rows.size() + shape.rankings.size());
  }

  using CellOfRanking = std::function<Cell(const SweepShape&, const Ranking&)>;
  void add(Column column, const CellOfRanking& cell) {
    table.columns.push_back(std::move(column));
    std::size_t row = 0;
    for (const SweepShape& shape : shapes_) {
      for (const Ranking& ranking : shape.rankings)
        table.rows[row++].push_back(cell(shape, ranking));
    }
  }
  /// The same of those in which some combination has a figure.
  void add_ranked(Column column, const CellOfRanking& cell) {
    add(std::move(column), [&](const SweepShape& shape, const Ranking& ranking) -> Cell {
      if (ranking.all().empty()) return Missing{"no combination has a figure"};
      return cell(shape, ranking);
    });
  }

  Table table;

 private:
  const std::vector<SweepShape>& shapes_;
};

/// The figure of the best.
Cell best_figure(const Ranking& ranking, double in) {
  const Standing& best = ranking.all().front();
  Cell cell(best.values.front() / in);
  cell.mark = mark_of(best.subject->figure(ranking.metric()).grade);
  return cell;
}

/// The median of all combinations, in the unit of the best one's figure.
Cell median_figure(const Ranking& ranking, double in) {
  std::vector<double> values;
  for (const Standing& standing : ranking.all()) values.push_back(standing.values.front());
  return median(values) / in;
}

constexpr const char* median_column = "median_of_all";
constexpr const char* median_heading = "median of all";

/// The best one's figure and the median: two columns where all have the same metric, else its name,
/// the figures and their unit.
void add_figures(BestTable& best, const std::vector<SweepShape>& shapes) {
  std::set<std::string> metrics;
  std::vector<double> values;
  for (const SweepShape& shape : shapes) {
    if (!shape.metric.empty()) metrics.insert(shape.metric);
    for (const Ranking& ranking : shape.rankings) {
      if (!ranking.all().empty()) values.push_back(ranking.all().front().values.front());
    }
  }
  if (metrics.size() == 1) {
    const ShownMetric shown = shown_metric(*metrics.begin(), values);
    best.add_ranked(shown.column, [&](const SweepShape&, const Ranking& ranking) {
      return best_figure(ranking, shown.in);
    });
    Column middle = shown.column;
    middle.name = median_column;
    middle.heading = median_heading;
    return best.add_ranked(middle, [&](const SweepShape&, const Ranking& ranking) {
      return median_figure(ranking, shown.in);
    });
  }
  best.add_ranked(Column::text("by"),
                  [](const SweepShape& shape, const Ranking&) { return shape.metric; });
  const Kind kind = metrics.contains("duration") ? Kind::reading : Kind::quotient;
  best.add_ranked(Column::number("figure", "", "", kind),
                  [](const SweepShape& shape, const Ranking& ranking) {
                    return best_figure(ranking, shape.shown.in);
                  });
  best.add_ranked(Column::number(median_column, median_heading, "", kind),
                  [](const SweepShape& shape, const Ranking& ranking) {
                    return median_figure(ranking, shape.shown.in);
                  });
  best.add_ranked(Column::text("unit"),
                  [](const SweepShape& shape, const Ranking&) { return shape.shown.column.unit; });
}

bool have_one_family(const std::vector<SweepShape>& shapes) {
  return std::all_of(shapes.begin(), shapes.end(), [&](const SweepShape& shape) {
    return shape.sweep->family == shapes.front().sweep->family;
  });
}

Table best_combinations(const RunRecord& run, const std::vector<SweepShape>& shapes) {
  BestTable best(shapes);
  best.table.caption = "The best of each sweep";
  if (run.devices.size() > 1) {
    best.add(Column::text("device"), [&](const SweepShape& shape, const Ranking&) {
      return run.device_name(shape.sweep->device_id);
    });
  }
  const bool one_family = have_one_family(shapes);
  best.add(Column::text("sweep"), [&](const SweepShape& shape, const Ranking&) {
    return one_family ? shape.sweep->base : shape.sweep->title();
  });
  best.add(Column::number("size", "", "", Kind::count),
           [](const SweepShape&, const Ranking& ranking) {
             const auto size = ranking.size().group->size;
             return size ? Cell(*size) : Cell(Missing{"one size"});
           });
  const bool have_other_sizes = std::any_of(
      shapes.begin(), shapes.end(),
      [](const SweepShape& shape) { return !shape.rankings.front().size().group->sizes.empty(); });
  if (have_other_sizes) {
    best.add(Column::text("at"), [](const SweepShape&, const Ranking& ranking) -> Cell {
      const std::string& sizes = ranking.size().group->sizes;
      return sizes.empty() ? Cell(Missing{"one size"}) : Cell(sizes);
    });
  }
  best.add_ranked(Column::text("best"), [](const SweepShape&, const Ranking& ranking) -> Cell {
    if (ranking.all_equal() && ranking.all().size() > 1) return Missing{"", "all alike"};
    return ranking.all().front().subject->variant;
  });
  add_figures(best, shapes);
  best.add_ranked(Column::number("as_good", "others as good", "", Kind::count),
                  [](const SweepShape&, const Ranking& ranking) {
                    return static_cast<std::int64_t>(ranking.as_good());
                  });
  best.add(Column::number("tried", "", "", Kind::count),
           [](const SweepShape&, const Ranking& ranking) {
             return static_cast<std::int64_t>(ranking.size().points.size());
           });
  best.add(Column::number("failed", "", "", Kind::count),
           [](const SweepShape&, const Ranking& ranking) {
             return static_cast<std::int64_t>(ranking.failed());
           });
  return std::move(best.table);
}

/// The legend of figures that the hardware might not repeat.
std::string grades_legend(const std::vector<SweepShape>& shapes) {
  std::set<std::string> marks;
  for (const SweepShape& shape : shapes) {
    for (const Ranking& ranking : shape.rankings) {
      for (const Standing& standing : ranking.all()) {
        marks.insert(mark_of(standing.subject->figure(shape.metric).grade));
      }
    }
  }
  return marks_legend(marks);
}

}  // namespace

void add_sweeps(Document& document, const Source& source) {
  const RunRecord& run = source.run;
  const std::vector<Sweep> sweeps = sweeps_of(run);
  if (sweeps.empty()) return;
  std::vector<SweepShape> shapes;
  for (const Sweep& sweep : sweeps) shapes.push_back(shape_of(sweep, run));
  document.heading(2, "Sweeps");
  document.paragraph(fmt::format(
      "The best combination of parameters at each size, its figure, and the median of all "
      "combinations: by time where they were timed, else by their shared and global transactions, "
      "or where these are the same by the figure that the parameters change most. {} is the best, "
      "or equal to it: of equal times the table names that with the fewest transactions. {} is not "
      "known to be worse, for the intervals within which the figures are known overlap.{}",
      best_mark, as_good_mark, grades_legend(shapes)));
  document.table(best_combinations(run, shapes));
  for (const SweepShape& shape : shapes) {
    const std::string device =
        run.devices.size() > 1 ? ", " + run.device_name(shape.sweep->device_id) : std::string();
    add_plots(document, shape, device, source.plots);
  }
}

}  // namespace warpmeter::reports::sections
