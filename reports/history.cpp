// SPDX-License-Identifier: MIT
#include "reports/history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/nearest.h"
#include "base/statistics.h"
#include "base/utf8.h"
#include "base/variant_name.h"
#include "base/with_noun.h"
#include "reports/change_points.h"
#include "reports/document.h"
#include "reports/plot/text_plot.h"
#include "reports/sql/sql.h"
#include "reports/table/number.h"
#include "schema/catalogue.h"
#include "schema/figures/figures.h"

namespace warpmeter::reports {
namespace {

std::string text_in(const schema::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return "";
}

schema::Parameters parameters_of(const HistoryChoice& choice) {
  return {{":variant", choice.variant},
          {":pattern", with_literal_parameters(choice.variant)},
          {":device", choice.device},
          {":backend", choice.backend},
          {":size", choice.size ? schema::Value(*choice.size) : schema::Value()}};
}

void check_metric(const schema::Reader& reader, const std::string& metric) {
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  if (catalogue.find_metric(metric) != nullptr || catalogue.find_counter(metric) != nullptr) return;
  if (!reader.query("SELECT 1 FROM results WHERE metric = :metric LIMIT 1", {{":metric", metric}})
           .rows.empty()) {
    return;
  }
  throw Error(ExitCode::usage,
              fmt::format("there is no metric '{}'{} (see: warpmeter list metrics)", metric,
                          catalogue.suggestion(metric)));
}

/// "a, b and 3 more"
std::string some_of(std::vector<std::string> names) {
  std::transform(names.begin(), names.end(), names.begin(), printable);
  constexpr std::size_t shown = 12;
  if (names.size() <= shown) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + shown, ", "),
                     names.size() - shown);
}

/// The variant is there, but not on that device, of that size.
void check_selection(const schema::Reader& reader, const HistoryChoice& choice) {
  std::vector<std::string> there;
  for (const auto& row : reader.query(sql::history_subjects, parameters_of(choice)).rows) {
    if (row[1] == schema::Value(std::int64_t{1})) return;
    there.push_back(text_in(row[0]));
  }
  throw Error(ExitCode::usage,
              fmt::format("{} was not launched so: choose others with --device, --backend and "
                          "--size (there are {})",
                          choice.variant, some_of(there)));
}

void check_variant(const schema::Reader& reader, const std::string& variant) {
  std::vector<std::string> known;
  for (const auto& row :
       reader.query("SELECT DISTINCT family || '/' || variant FROM launches ORDER BY 1").rows) {
    known.push_back(text_in(row[0]));
  }
  if (known.empty()) {
    throw Error(ExitCode::nothing,
                "the database holds no launch: measure one with `warpmeter run`");
  }
  const bool found = !reader
                          .query(
                              "SELECT 1 FROM launches WHERE :text IN (variant, family || '/' || "
                              "variant) OR family || '/' || variant GLOB :pattern LIMIT 1",
                              {{":text", variant}, {":pattern", with_literal_parameters(variant)}})
                          .rows.empty();
  if (found) return;
  throw Error(ExitCode::usage, fmt::format("no launch of a variant '{}' is stored{} (there are {})",
                                           variant, did_you_mean(variant, known), some_of(known)));
}

/// A time is a measurement with noise; a count is what it is.
bool is_time(const std::string& metric, const std::string& unit) {
  const schema::MetricInfo* info = schema::Catalogue::get().find_metric(metric);
  return unit == "ns" || unit == "GB/s" || (info != nullptr && info->is_timed);
}

/// A point whose launches were estimated from different blocks.
constexpr std::string_view several_estimates = "several";

void mark_changes(HistorySeries& series, const std::string& metric) {
  std::vector<double> values;
  for (const HistoryPoint& point : series.points) values.push_back(point.value);
  std::vector<std::size_t> places = value_changes(values);
  const bool is_model = series.backend == "model";
  // Counters of the hardware repeat exactly, or they have noise (caches, arbitration).
  const bool repeats = places.size() <= std::max<std::size_t>(1, (values.size() - 1) / 2);
  series.exact = is_model || (!is_time(metric, series.unit) && repeats);
  constexpr double least_effect = 0.01;
  if (!series.exact) places = change_points(values, least_effect);
  const std::span<const double> all = values;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : places[i - 1];
    const std::size_t end = i + 1 < places.size() ? places[i + 1] : values.size();
    // Other blocks give another estimate of the same kernel.
    const std::string& estimate = series.points[places[i]].estimate;
    if (estimate == several_estimates || estimate != series.points[places[i] - 1].estimate)
      continue;
    const double before = median(all.subspan(begin, places[i] - begin));
    const double after = median(all.subspan(places[i], end - places[i]));
    series.points[places[i]].change = after / before - 1;
  }
}

/// Launches that belong to one value of the series.
struct Gathered {
  HistoryPoint point;
  std::vector<double> values;
  std::set<std::int64_t> runs;
};

/// A value has the weakest of its launches'.
bool is_weaker(const std::string& grade, const std::string& other) {
  return schema::grade_named(grade) > schema::grade_named(other);
}

void gather(std::vector<Gathered>& points, const std::vector<schema::Value>& row,
            const HistoryChoice& choice, std::map<std::string, std::size_t>& places) {
  const auto run_id = std::get<std::int64_t>(row[0]);
  const std::string revision = text_in(row[2]);
  const std::string key = choice.by_revision ? revision : std::to_string(run_id);
  const auto [place, is_new] = places.try_emplace(key, points.size());
  if (is_new) {
    Gathered& added = points.emplace_back();
    added.point.run_id = run_id;
    added.point.started = text_in(row[1]);
    added.point.revision = revision;
    added.point.label = text_in(row[3]);
    added.point.grade = text_in(row[11]);
    added.point.estimate = schema::estimate_of(text_in(row[12]));
  }
  Gathered& point = points[place->second];
  if (schema::estimate_of(text_in(row[12])) != point.point.estimate) {
    point.point.estimate = several_estimates;
  }
  const auto* real = std::get_if<double>(&row[9]);
  point.values.push_back(real != nullptr ? *real
                                         : static_cast<double>(std::get<std::int64_t>(row[9])));
  point.runs.insert(run_id);
  if (text_in(row[13]) != "done") point.point.unfinished[run_id] = text_in(row[13]);
  if (is_weaker(text_in(row[11]), point.point.grade)) point.point.grade = text_in(row[11]);
}

std::string title_of(const HistorySeries& series, const std::string& metric) {
  const std::string at = series.size.empty() ? "" : fmt::format(" at {}", series.size);
  return printable(fmt::format("{}/{}{} on {} ({}): {}{}", series.family, series.variant, at,
                               series.device, series.backend, metric,
                               series.unit.empty() ? "" : ", " + series.unit));
}

Cell change_cell(const HistoryPoint& point) {
  if (!point.change) return Missing{"no change"};
  if (std::isinf(*point.change)) return "▲ from 0";
  return fmt::format("▲ {} %", signed_percent(*point.change));
}

Table table_of(const HistorySeries& series, const HistoryChoice& choice) {
  Table table;
  table.columns = {
      Column::number("run_id", choice.by_revision ? "first run" : "run", "", Kind::exact),
      Column::text("started"),
      Column::text("git_revision", "git revision"),
      choice.by_revision ? Column::number("runs", "runs", "", Kind::exact) : Column::text("label"),
      Column::number("value", choice.metric, series.unit,
                     series.exact ? Kind::quotient : Kind::reading),
      Column::text("change")};
  for (const HistoryPoint& point : series.points) {
    Cell label = Missing{"no label"};
    if (choice.by_revision) {
      label = point.runs;
    } else if (!point.label.empty()) {
      label = point.label;
    }
    table.rows.push_back({point.run_id, point.started.substr(0, 16), point.revision, label,
                          point.value, change_cell(point)});
  }
  return table;
}

Table long_table(const std::vector<HistorySeries>& all, const std::string& metric) {
  Table table;
  table.columns = {Column::text("family"),
                   Column::text("variant"),
                   Column::text("size"),
                   Column::text("device"),
                   Column::text("backend"),
                   Column::text("metric"),
                   Column::number("run_id", "", "", Kind::exact),
                   Column::text("started"),
                   Column::text("git_revision"),
                   Column::text("label"),
                   Column::number("runs", "", "", Kind::exact),
                   Column::number("launches", "", "", Kind::exact),
                   Column::number("value", "", "", Kind::exact),
                   Column::text("unit"),
                   Column::text("grade"),
                   Column::number("changed", "", "", Kind::exact),
                   Column::number("change", "", "", Kind::exact),
                   Column::text("outcome")};
  const auto text = [](const std::string& given) {
    return given.empty() ? Cell(Missing{"none"}) : Cell(given);
  };
  for (const HistorySeries& series : all) {
    for (const HistoryPoint& point : series.points) {
      table.rows.push_back({series.family, series.variant, text(series.size), series.device,
                            series.backend, metric, point.run_id, point.started, point.revision,
                            text(point.label), point.runs, point.launches, point.value,
                            text(series.unit), point.grade, std::int64_t{point.change.has_value()},
                            point.change ? Cell(*point.change) : Cell(Missing{"no change"}),
                            point.unfinished.empty() ? "done" : point.unfinished.begin()->second});
    }
  }
  return table;
}

std::string changes_sentence(const HistorySeries& series) {
  const auto changes =
      std::count_if(series.points.begin(), series.points.end(),
                    [](const HistoryPoint& point) { return point.change.has_value(); });
  const std::string found = fmt::format("{} in {}", with_noun(changes, "change"),
                                        with_noun(series.points.size(), "value"));
  if (series.exact) return found + " (counts: any other value than the one before is a change)";
  if (series.points.size() < 4) return found + " (fewer than 4 cannot be told from noise)";
  return found + " (1 % significance, 1 % effect at least)";
}

/// " Run 3 was interrupted, run 7 failed: …"; empty where all came to a good end.
std::string unfinished_sentence(const HistorySeries& series) {
  std::vector<std::string> runs;
  for (const HistoryPoint& point : series.points) {
    for (const auto& [run, outcome] : point.unfinished) {
      runs.push_back(
          fmt::format("run {} {}", run, outcome == "failed" ? "failed" : "was " + outcome));
    }
  }
  if (runs.empty()) return "";
  return fmt::format("\nNot all was measured: {}. Such a value may be of fewer launches.\n",
                     fmt::join(runs, ", "));
}

/// A point a value; those of one level in one colour.
Plot plot_of(const HistorySeries& series, const std::string& metric, const std::string& title) {
  Plot plot;
  plot.form = Plot::Form::points;
  plot.title = title;
  plot.description = changes_sentence(series) + ". Colours are levels.";
  plot.x = {"run"};
  plot.y = {series.unit.empty() ? metric : fmt::format("{} ({})", metric, series.unit)};
  plot.data.columns = {Column::text("when"), Column::text("level"),
                       Column::number("run_id", "run", "", Kind::exact),
                       Column::number("value", metric, series.unit, Kind::reading)};
  std::int64_t level = 1;
  for (const HistoryPoint& point : series.points) {
    if (point.change) ++level;
    plot.data.rows.push_back({fmt::format("{} {}", point.started.substr(0, 16), point.revision),
                              fmt::format("level {}", level), point.run_id, point.value});
  }
  return plot;
}

std::string history_page(const std::vector<HistorySeries>& all, const HistoryChoice& choice,
                         bool plots) {
  Document document;
  document.heading(1, fmt::format("{} of {}", choice.metric, choice.variant));
  for (const HistorySeries& series : all) {
    const std::string title = title_of(series, choice.metric);
    document.heading(2, title);
    document.paragraph(changes_sentence(series) + "." + unfinished_sentence(series));
    if (plots) document.plot(plot_of(series, choice.metric, title));
    document.table(table_of(series, choice));
  }
  return document_html(document);
}

}  // namespace

std::vector<HistorySeries> read_history(const schema::Reader& reader, const HistoryChoice& choice) {
  check_variant(reader, choice.variant);
  check_metric(reader, choice.metric);
  check_selection(reader, choice);
  schema::Parameters parameters = parameters_of(choice);
  parameters.emplace_back(":metric", choice.metric);
  const schema::Rows rows = reader.query(sql::history, parameters);
  using SeriesKey = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  std::map<SeriesKey, HistorySeries> all;
  std::map<SeriesKey, std::vector<Gathered>> gathered;
  std::map<SeriesKey, std::map<std::string, std::size_t>> places;
  std::string reason;
  for (const auto& row : rows.rows) {
    if (std::holds_alternative<std::monostate>(row[9])) {
      reason = text_in(row[12]);
      continue;
    }
    const SeriesKey key{text_in(row[4]), text_in(row[5]), text_in(row[6]), text_in(row[7]),
                        text_in(row[8])};
    HistorySeries& series = all[key];
    std::tie(series.family, series.variant, series.size, series.device, series.backend) = key;
    series.unit = text_in(row[10]);
    gather(gathered[key], row, choice, places[key]);
  }
  if (all.empty()) {
    throw Error(ExitCode::nothing,
                fmt::format("{} has no value of {} here{}: choose another with -m (see: warpmeter "
                            "list metrics), or measure it",
                            choice.variant, choice.metric,
                            reason.empty() ? "" : fmt::format(" ({})", reason)));
  }
  std::vector<HistorySeries> result;
  for (auto& [key, series] : all) {
    for (Gathered& point : gathered[key]) {
      point.point.value = median(point.values);
      point.point.launches = static_cast<std::int64_t>(point.values.size());
      point.point.runs = static_cast<std::int64_t>(point.runs.size());
      series.points.push_back(std::move(point.point));
    }
    mark_changes(series, choice.metric);
    result.push_back(std::move(series));
  }
  return result;
}

std::string render_history(const std::vector<HistorySeries>& all, const HistoryChoice& choice,
                           Format format, std::size_t width, bool plots) {
  if (format == Format::html) return history_page(all, choice, plots);
  const bool is_markdown = format == Format::markdown;
  if (!is_markdown && format != Format::table)
    return render(long_table(all, choice.metric), format);
  std::string text;
  for (const HistorySeries& series : all) {
    if (!text.empty()) text += "\n";
    const std::string title = title_of(series, choice.metric);
    text += is_markdown ? "## " + escaped_markdown(title) + "\n\n" : title + "\n\n";
    if (plots) {
      std::vector<double> values;
      std::vector<std::size_t> changes;
      for (const HistoryPoint& point : series.points) {
        if (point.change) changes.push_back(values.size());
        values.push_back(point.value);
      }
      const std::string plot = text_plot(values, changes, width > 0 ? width : 80);
      text += is_markdown ? "```text\n" + plot + "```\n\n" : plot + "\n";
    }
    text += render(table_of(series, choice), format, width);
    text += "\n" + changes_sentence(series) + "\n" + unfinished_sentence(series);
  }
  return text;
}

}  // namespace warpmeter::reports
