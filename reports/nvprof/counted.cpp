// SPDX-License-Identifier: MIT
#include "reports/nvprof/counted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "reports/nvprof/activity_row.h"
#include "reports/nvprof/cells.h"
#include "schema/grade.h"

namespace warpmeter::reports::nvprof {
namespace {

using schema::Value;

/// The values of one name over the launches of one kernel.
struct Tally {
  std::uint64_t launches = 0, values = 0;
  double least = 0, greatest = 0, sum = 0;

  void add(double value) {
    least = values == 0 ? value : std::min(least, value);
    greatest = values == 0 ? value : std::max(greatest, value);
    sum += value;
    ++values;
  }
  double mean() const { return sum / static_cast<double>(values); }
};

struct Kernel {
  std::string device, name;
  std::vector<Tally> tallies;  ///< by the place of the name in the request
};

struct Launch {
  CountedLaunch launch;
  std::size_t kernel = 0;  ///< its place in Kernels
  /// For each_launch: by the place of the name; those that are not shown are absent.
  std::map<std::size_t, std::optional<double>> values = {};
};

struct Launches {
  /// In the order of their first launches, those of a device together.
  std::vector<Kernel> kernels;
  std::unordered_map<std::int64_t, Launch> by_id;
};

constexpr const char* launches_sql =
    "SELECT l.launch_id, d.ordinal, d.name, l.kernel "
    "FROM launches l JOIN devices d ON d.run_id = l.run_id AND d.device_id = l.device_id "
    "WHERE l.run_id = :run ORDER BY d.ordinal, d.device_id, l.launch_id";

Launches launches_of(const schema::Reader& reader, const CountedRequest& request) {
  Launches all;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  std::map<std::pair<std::size_t, std::int64_t>, std::uint64_t> invocations;  // by process too
  reader.each(launches_sql, {{":run", request.run_id}}, [&](std::span<const Value> row) {
    const std::string device = fmt::format("{} ({})", words(row[2]), whole(row[1]));
    const std::string kernel = words(row[3]);
    const auto [place, is_new] = places.try_emplace({device, kernel}, all.kernels.size());
    if (is_new) {
      all.kernels.push_back({device, request.kernel_text(kernel), {}});
      all.kernels.back().tallies.resize(request.names.size());
    }
    const Origin origin = request.origin ? request.origin(whole(row[0])) : Origin();
    const std::uint64_t invocation = ++invocations[{place->second, origin.process}];
    all.by_id[whole(row[0])] = {{whole(row[1]), kernel, invocation, origin}, place->second};
  });
  return all;
}

constexpr const char* results_sql =
    "SELECT launch_id, metric, value, grade, reason FROM results WHERE run_id = :run";

using Reasons = std::set<std::pair<std::string, std::string>>;

std::map<std::string, std::vector<std::string>> by_reason(const Reasons& reasons) {
  std::map<std::string, std::vector<std::string>> all;
  for (const auto& [reason, name] : reasons) all[reason].push_back(name);
  return all;
}

void read_results(const schema::Reader& reader, const CountedRequest& request, Launches& launches,
                  CountedText& told) {
  std::unordered_multimap<std::string, std::size_t> places;
  for (std::size_t i = 0; i < request.names.size(); ++i) places.emplace(request.names[i].answer, i);
  Reasons missing, undefined, doubtful;
  reader.each(results_sql, {{":run", request.run_id}}, [&](std::span<const Value> row) {
    const auto launch = launches.by_id.find(whole(row[0]));
    if (launch == launches.by_id.end()) return;
    const auto [begin, end] = places.equal_range(words(row[1]));
    for (auto place = begin; place != end; ++place) {
      const Counted& name = request.names[place->second];
      if (request.shows && !request.shows(launch->second.launch, place->second)) continue;
      Tally& tally = launches.kernels[launch->second.kernel].tallies[place->second];
      ++tally.launches;
      std::optional<double>* own =
          request.each_launch ? &launch->second.values[place->second] : nullptr;
      const std::string reason = words(row[4]);
      const bool is_undefined = !name.undefined.empty() && reason == name.undefined;
      if (is_null(row[2]) && !is_undefined) {
        missing.emplace(reason, name.name);
        continue;
      }
      const double value = is_null(row[2]) ? 0 : real(row[2]) * name.scale;
      tally.add(value);
      if (own != nullptr) *own = value;
      const bool is_sure = schema::grade_named(words(row[3])) <= schema::Grade::exact;
      if (is_undefined) {
        undefined.emplace(reason, name.name);
      } else if (!is_sure) {
        doubtful.emplace(reason, name.name);
      }
    }
  });
  told.missing = by_reason(missing);
  told.undefined = by_reason(undefined);
  told.doubtful = by_reason(doubtful);
}

std::string level_text(double percent) {
  const int level = std::clamp(static_cast<int>(std::ceil(percent / 10 - 1e-9)), 0, 10);
  const char* word = level == 0   ? "Idle"
                     : level <= 3 ? "Low"
                     : level <= 6 ? "Mid"
                     : level <= 9 ? "High"
                                  : "Max";
  return fmt::format("{} ({})", word, level);
}

/// Least, greatest, mean and, of an event, the sum; a mean of counts is cut to a whole number.
std::vector<std::string> cells_of(const Tally& tally, const Counted& name, bool csv) {
  const std::size_t count = name.is_event ? 4 : 3;
  if (tally.values == 0) return std::vector<std::string>(count, csv ? "" : "-");
  const double mean = name.form == Form::count ? std::floor(tally.mean()) : tally.mean();
  const std::array<double, 4> values = {tally.least, tally.greatest, mean, tally.sum};
  std::vector<std::string> cells;
  for (const double value : std::span(values).first(count)) {
    const std::string cell = value_text(value, name.form, csv);
    cells.push_back(csv && name.form == Form::level ? csv_text(cell) : cell);
  }
  return cells;
}

std::uint64_t invocations_of(const Tally& tally) {
  return tally.values > 0 ? tally.values : tally.launches;
}

/// Those of one table: the events or the metrics.
class Table {
 public:
  Table(const CountedRequest& request, bool is_event, bool csv)
      : request_(request), is_event_(is_event), csv_(csv) {
    for (const Counted& name : request.names) {
      if (name.is_event == is_event) width_ = std::max(width_, name.description.size() + 1);
    }
  }

  std::string text(std::span<const Kernel> kernels) const {
    std::string rows, device;
    for (const Kernel& kernel : kernels) {
      const std::string block = csv_ ? csv_rows(kernel) : text_rows(kernel);
      if (block.empty()) continue;
      if (!csv_ && kernel.device != device) rows += fmt::format("Device \"{}\"\n", kernel.device);
      device = kernel.device;
      rows += block;
    }
    return rows.empty() ? "" : heading() + rows;
  }

 private:
  std::string heading() const {
    if (csv_ && is_event_) {
      return "\"Device\",\"Kernel\",\"Invocations\",\"Event Name\",\"Min\",\"Max\",\"Avg\","
             "\"Total\"\n";
    }
    if (csv_) {
      return "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric Description\","
             "\"Min\",\"Max\",\"Avg\"\n";
    }
    return row("Invocations", is_event_ ? "Event Name" : "Metric Name", "Metric Description",
               is_event_ ? std::vector<std::string>{"Min", "Max", "Avg", "Total"}
                         : std::vector<std::string>{"Min", "Max", "Avg"});
  }

  std::string row(const std::string& invocations, const std::string& name,
                  const std::string& description, const std::vector<std::string>& cells) const {
    std::string line = fmt::format("{:>11}  {:>40}", invocations, name);
    if (!is_event_) line += fmt::format("  {:>{}}", description, width_);
    for (const std::string& cell : cells) line += fmt::format("  {:>10}", cell);
    return line + "\n";
  }

  std::string text_rows(const Kernel& kernel) const {
    std::string rows;
    each(kernel, [&](const Counted& name, const Tally& tally) {
      rows += row(fmt::format("{}", invocations_of(tally)), name.name, name.description,
                  cells_of(tally, name, false));
    });
    return rows.empty() ? "" : fmt::format("    Kernel: {}\n", kernel.name) + rows;
  }

  std::string csv_rows(const Kernel& kernel) const {
    std::string rows;
    each(kernel, [&](const Counted& name, const Tally& tally) {
      rows += fmt::format("{},{},{},{}", csv_text(kernel.device), csv_text(kernel.name),
                          invocations_of(tally), csv_text(name.name));
      if (!is_event_) rows += "," + csv_text(name.description);
      for (const std::string& cell : cells_of(tally, name, true)) rows += "," + cell;
      rows += "\n";
    });
    return rows;
  }

  template <class Take>
  void each(const Kernel& kernel, const Take& take) const {
    for (std::size_t i = 0; i < request_.names.size(); ++i) {
      const Counted& name = request_.names[i];
      const Tally& tally = kernel.tallies[i];
      const bool is_shown = tally.values > 0 || (tally.launches > 0 && !name.is_of_all);
      if (name.is_event == is_event_ && is_shown) take(name, tally);
    }
  }

  const CountedRequest& request_;
  bool is_event_, csv_;
  std::size_t width_ = 40;  ///< the width of the descriptions
};

/// A row a launch, a column a name that one of them has.
class LaunchTable {
 public:
  LaunchTable(const CountedRequest& request, const Launches& launches, bool csv)
      : request_(request), launches_(launches), csv_(csv) {
    for (const auto& [id, launch] : launches.by_id) {
      if (!launch.values.empty()) rows_[id] = &launch;
    }
    for (std::size_t i = 0; i < request.names.size(); ++i) {
      if (is_shown(i)) shown_.push_back(i);
    }
  }

  std::string text() const {
    if (rows_.empty() || shown_.empty()) return "";
    std::vector<std::string> headings = {"Device", "Context", "Stream", "Kernel", "Correlation_ID"};
    for (const std::size_t name : shown_) headings.push_back(request_.names[name].name);
    if (csv_) {
      for (std::string& heading : headings) heading = csv_text(heading);
    }
    std::string text = line(headings);
    for (const auto& [id, launch] : rows_) text += line(cells_of(*launch));
    return text;
  }

 private:
  bool is_shown(std::size_t name) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) {
      const auto value = row.second->values.find(name);
      if (value == row.second->values.end()) return false;
      return value->second || !request_.names[name].is_of_all;
    });
  }

  std::vector<std::string> cells_of(const Launch& launch) const {
    const Kernel& kernel = launches_.kernels[launch.kernel];
    const Origin& origin = launch.launch.origin;
    const auto number = [&](std::uint32_t value) {
      return value != 0 ? fmt::format("{}", value) : csv_ ? "" : "-";
    };
    const auto name = [&](const std::string& whole, std::size_t width) {
      return csv_ ? csv_text(whole) : whole.substr(0, width);
    };
    const auto titled = [&](std::uint32_t value, const std::string& text) {
      if (value == 0) return number(value);
      return csv_ && text != number(value) ? csv_text(text) : text;
    };
    const ResourceNames& names = request_.resource_names;
    std::vector<std::string> cells = {
        name(kernel.device, device_width),
        titled(origin.context, context_text(names, origin.process, origin.context)),
        titled(origin.stream, stream_text(names, origin.process, origin.context, origin.stream)),
        name(kernel.name, kernel_width), number(origin.correlation)};
    for (const std::size_t place : shown_) {
      const Form form = request_.names[place].form;
      const auto value = launch.values.find(place);
      if (value == launch.values.end() || !value->second) {
        cells.emplace_back(csv_ ? "" : "-");
        continue;
      }
      const std::string cell = value_text(*value->second, form, csv_);
      cells.push_back(csv_ && form == Form::level ? csv_text(cell) : cell);
    }
    return cells;
  }

  std::string line(const std::vector<std::string>& cells) const {
    if (csv_) return fmt::format("{}\n", fmt::join(cells, ","));
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t width = i == kernel_column ? kernel_width
                                : i < columns      ? device_width
                                                   : std::max<std::size_t>(12, name_of(i).size());
      text += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", cells[i], width);
    }
    return text + "\n";
  }
  const std::string& name_of(std::size_t column) const {
    return request_.names[shown_[column - columns]].name;
  }

  static constexpr std::size_t device_width = 15, kernel_width = 40, kernel_column = 3, columns = 5;
  const CountedRequest& request_;
  const Launches& launches_;
  bool csv_;
  std::map<std::int64_t, const Launch*> rows_;  ///< by the launch's id: in their order
  std::vector<std::size_t> shown_;
};

}  // namespace

std::string value_text(double value, Form form, bool csv) {
  switch (form) {
    case Form::count:
      return csv || value < 1e10 ? fmt::format("{:.0f}", value) : fmt::format("{:.4e}", value);
    case Form::ratio:
      return fmt::format("{:.6f}", value);
    case Form::percent:
      return csv ? fmt::format("{:.6f}%", value) : fmt::format("{:.2f}%", value);
    case Form::rate:
      return csv ? exact_rate_text(value) : rate_text(value);
    case Form::level:
      return level_text(value);
  }
  return "";
}

CountedText counted_text(const schema::Reader& reader, const CountedRequest& request,
                         const Style& style) {
  CountedText told;
  Launches launches = launches_of(reader, request);
  read_results(reader, request, launches, told);
  if (request.each_launch) {
    told.launches = LaunchTable(request, launches, style.csv).text();
    return told;
  }
  told.events = Table(request, true, style.csv).text(launches.kernels);
  told.metrics = Table(request, false, style.csv).text(launches.kernels);
  return told;
}

}  // namespace warpmeter::reports::nvprof
