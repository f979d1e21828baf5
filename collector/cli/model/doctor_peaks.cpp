// SPDX-License-Identifier: MIT
#include "collector/cli/model/doctor_peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/output.h"
#include "collector/cli/formats.h"
#include "collector/cupti/device.h"
#include "collector/cupti/peaks/peaks.h"
#include "reports/cards.h"
#include "reports/table/table.h"
#include "schema/upkeep/peaks.h"

namespace warpmeter::cli {
namespace {

using reports::Cell;
using reports::Column;
using reports::Kind;
using reports::Missing;

reports::Table table_of(const std::vector<schema::Peak>& peaks, const schema::Device& device) {
  const reports::CardPeaks* card = reports::card_named(device.name);
  const reports::Rates* rates = reports::rates_of(device.compute_capability);
  reports::Table table;
  table.columns = {Column::text("peak"),
                   Column::number("measured", "measured", "", Kind::reading),
                   Column::text("unit"),
                   Column::number("sm_clock", "SM clock", "MHz", Kind::reading),
                   Column::number("datasheet", "datasheet", "", Kind::reading),
                   Column::number("share", "share of it", "%", Kind::quotient)};
  for (const schema::Peak& peak : peaks) {
    std::optional<double> datasheet;
    if (card != nullptr && rates != nullptr) {
      datasheet = reports::documented_peak(*card, *rates, peak.name);
    }
    const Cell undocumented(Missing{"no rate of it is on the list"});
    table.rows.push_back(
        {peak.name, peak.value ? Cell(*peak.value) : Cell(Missing{peak.reason}), peak.unit,
         peak.sm_clock_mhz ? Cell(*peak.sm_clock_mhz) : Cell(Missing{"it was not measured"}),
         datasheet ? Cell(*datasheet) : undocumented,
         !datasheet    ? undocumented
         : !peak.value ? Cell(Missing{peak.reason})
                       : Cell(100 * *peak.value / *datasheet)});
  }
  return table;
}

}  // namespace

ExitCode run_peaks(const std::string& database, int device) {
  const schema::Device description = cupti::describe_device(device);
  const std::vector<schema::Peak> peaks = cupti::measure_peaks(device);
  schema::store_peaks(database, description, peaks);
  Output output;
  output.write(rendered(table_of(peaks, description), "table"));
  for (const schema::Peak& peak : peaks) {
    if (!peak.value) output.write(fmt::format("{} was not measured: {}\n", peak.name, peak.reason));
  }
  output.write(fmt::format("Stored in {} with {}: reports show them as measured roofs.\n", database,
                           description.name));
  output.finish();
  const bool is_any = std::any_of(peaks.begin(), peaks.end(),
                                  [](const schema::Peak& peak) { return peak.value.has_value(); });
  return is_any ? ExitCode::done : ExitCode::no_hardware;
}

}  // namespace warpmeter::cli
