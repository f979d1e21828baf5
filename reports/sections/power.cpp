// SPDX-License-Identifier: MIT
// Power, clock and temperature over time, a line a launch, while launches were repeated to measure
// their energy. A clock that falls or a temperature that rises says that
// the mean is of no steady state.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/with_noun.h"
#include "reports/sections/sections.h"
#include "reports/sql/sql.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

constexpr std::size_t most_launches_drawn = 8;

struct WatchedLaunch {
  std::int64_t id = 0;
  std::string name;
  std::size_t first_row = 0, rows = 0;
};

std::vector<WatchedLaunch> watched_launches(const RunRecord& run, const schema::Rows& samples) {
  std::vector<WatchedLaunch> launches;
  std::size_t place = 0;
  for (const Row& row : each_row(samples)) {
    const std::int64_t id = row.integer("launch_id").value_or(0);
    if (launches.empty() || launches.back().id != id) {
      const auto size = row.integer("size");
      std::string name = row.text("family") + "/" + row.text("variant") +
                         (size ? " at " + grouped_number(*size) : "");
      if (run.devices.size() > 1) {
        name += ", " + run.device_name(row.integer("device_id").value_or(0));
      }
      launches.push_back({id, std::move(name), place, 0});
    }
    ++launches.back().rows;
    ++place;
  }
  return launches;
}

/// Nothing where no launch has two samples with a value.
std::optional<Plot> curves(const schema::Rows& samples, const std::vector<WatchedLaunch>& launches,
                           const char* column, const char* title, const char* axis) {
  Plot plot;
  plot.form = Plot::Form::lines;
  plot.title = title;
  plot.description = "While each launch was repeated to measure its energy.";
  plot.x = {"time (s)", false};
  plot.y = {axis, false};
  plot.data.columns = {Column::number("time", "", "s", Kind::reading)};
  std::size_t most_values = 0;
  for (const WatchedLaunch& launch : launches) {
    plot.data.columns.push_back(Column::number(launch.name, "", "", Kind::reading));
  }
  for (std::size_t i = 0; i < launches.size(); ++i) {
    std::size_t values = 0;
    for (std::size_t k = 0; k < launches[i].rows; ++k) {
      const Row row(samples, launches[i].first_row + k);
      const auto value = row.number(column);
      if (!value) continue;
      auto& cells = plot.data.rows.emplace_back(launches.size() + 1);
      cells[0] = Cell(row.number("time_s").value_or(0));
      cells[i + 1] = Cell(*value);
      ++values;
    }
    most_values = std::max(most_values, values);
  }
  if (most_values < 2) return std::nullopt;
  std::stable_sort(plot.data.rows.begin(), plot.data.rows.end(), [](const auto& a, const auto& b) {
    return std::get<double>(a[0].value) < std::get<double>(b[0].value);
  });
  return plot;
}

}  // namespace

void add_power(Document& document, const Source& source) {
  const schema::Rows samples =
      source.reader.query(sql::power_samples, run_parameter(source.run.id));
  std::vector<WatchedLaunch> launches = watched_launches(source.run, samples);
  if (launches.empty()) return;
  const std::size_t all = launches.size();
  launches.resize(std::min(all, most_launches_drawn));
  document.heading(2, "Power over time");
  document.paragraph(
      "NVML's energy counter gives the mean power between two of its moves, the idle power "
      "included." +
      (all > launches.size() ? fmt::format(" The first {} of {}.", launches.size(),
                                           with_noun(all, "launch", "launches"))
                             : ""));
  if (!source.plots) {
    Table table;
    table.columns = {Column::text("launch"), Column::number("samples", "", "", Kind::count),
                     Column::number("least", "least power", "W", Kind::reading),
                     Column::number("most", "most power", "W", Kind::reading)};
    for (const WatchedLaunch& launch : launches) {
      std::vector<double> power;
      for (std::size_t k = 0; k < launch.rows; ++k) {
        power.push_back(Row(samples, launch.first_row + k).number("power_w").value_or(0));
      }
      const auto [least, most] = std::minmax_element(power.begin(), power.end());
      table.rows.push_back({launch.name, static_cast<std::int64_t>(launch.rows), *least, *most});
    }
    document.table(std::move(table));
    return;
  }
  for (const auto& [column, title, axis] :
       {std::tuple{"power_w", "Power", "power (W)"},
        std::tuple{"sm_clock_mhz", "SM clock", "SM clock (MHz)"},
        std::tuple{"temperature_c", "Temperature", "temperature (°C)"}}) {
    if (auto plot = curves(samples, launches, column, title, axis)) document.plot(std::move(*plot));
  }
}

}  // namespace warpmeter::reports::sections
