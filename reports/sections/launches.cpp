// SPDX-License-Identifier: MIT
// Every launch as it was: its geometry and what it took, for those who want to look one up.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "reports/sections/sections.h"
#include "reports/sql/sql.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

Cell optional_count(const Row& row, std::string_view column, const std::string& reason) {
  const auto value = row.integer(column);
  return value ? Cell(*value) : Cell(Missing{reason});
}

}  // namespace

void add_launches(Document& document, const Source& source) {
  const RunRecord& run = source.run;
  schema::Parameters parameters = run_parameter(run.id);
  parameters.emplace_back(":most", static_cast<std::int64_t>(most_launches));
  const schema::Rows rows = source.reader.query(sql::shown_launches, parameters);
  if (rows.rows.empty()) return;
  std::vector<double> durations;
  for (const LaunchRecord& launch : run.launches) {
    if (!launch.has_value("duration")) continue;
    const std::vector<double>& own = launch.values[*launch.shape->find("duration")].distinct();
    durations.insert(durations.end(), own.begin(), own.end());
  }
  const DurationUnit unit = duration_unit(durations);
  Table table;
  table.columns = {Column::number("launch", "", "", Kind::exact),
                   Column::text("variant"),
                   Column::text("kernel"),
                   Column::text("grid"),
                   Column::text("block"),
                   Column::number("registers", "", "", Kind::count),
                   Column::number("dynamic_shared_bytes", "dynamic shared", "bytes", Kind::count),
                   Column::number("static_shared_bytes", "static shared", "bytes", Kind::count),
                   Column::number("local_bytes", "local", "bytes", Kind::count),
                   Column::number("spill_load_bytes", "spill loads", "bytes", Kind::count),
                   Column::number("spill_store_bytes", "spill stores", "bytes", Kind::count),
                   Column::number("theoretical_occupancy", "occupancy", "%", Kind::quotient),
                   Column::text("occupancy_limiter", "limited by")};
  if (!durations.empty()) {
    table.columns.push_back(
        Column::number("duration", "time", std::string(unit.symbol), Kind::reading));
  }
  table.columns.push_back(Column::text("outcome", "", Kind::verdict));
  const std::size_t shown = std::min(rows.rows.size(), run.kinds->ids.size());
  std::set<std::string> unknown_because;
  for (std::size_t i = 0; i < shown; ++i) {
    const Row row(rows, i);
    const schema::LaunchKind& launch = run.kinds->of(i);
    const std::string unknown = row.text("resources_reason");
    if (!unknown.empty()) unknown_because.insert(unknown);
    const auto occupancy = row.number("theoretical_occupancy");
    const std::string limiter = row.text("occupancy_limiter");
    std::vector<Cell> cells = {run.kinds->ids[i],
                               run.name_of(launch),
                               row.text("kernel"),
                               row.text("grid"),
                               row.text("block"),
                               optional_count(row, "registers", unknown),
                               optional_count(row, "dynamic_shared_bytes", unknown),
                               optional_count(row, "static_shared_bytes", unknown),
                               optional_count(row, "local_bytes", unknown),
                               optional_count(row, "spill_load_bytes", unknown),
                               optional_count(row, "spill_store_bytes", unknown),
                               occupancy ? Cell(*occupancy) : Cell(Missing{unknown}),
                               limiter.empty() ? Cell(Missing{unknown}) : Cell(limiter)};
    if (!durations.empty()) {
      const auto duration = row.number("duration_ns");
      cells.push_back(duration ? Cell(*duration / unit.in_ns) : Cell(Missing{"not timed"}));
    }
    const std::string reason = row.text("reason");
    cells.emplace_back(row.text("outcome") + (reason.empty() ? "" : ": " + reason));
    table.rows.push_back(std::move(cells));
  }
  document.heading(2, "Launches");
  if (shown < run.kinds->ids.size()) {
    document.paragraph(
        fmt::format("The first {} of {}; `warpmeter query \"SELECT * FROM launches WHERE run_id = "
                    "{}\"` has all.",
                    shown, run.kinds->ids.size(), run.id));
  }
  document.table(std::move(table));
  if (!unknown_because.empty()) {  // cells have no room for it
    document.paragraph(fmt::format("What a launch uses is not known everywhere: {}.",
                                   fmt::join(unknown_because, "; ")));
  }
}

}  // namespace warpmeter::reports::sections
