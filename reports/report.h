// The report on one run: what was measured where, the variants of each family side by side, the
// expectations with their verdicts, what was unavailable and why. It reads public views only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "reports/table.h"
#include "schema/store.h"

namespace warpmeter::reports {

/// The whole report on a run, with a final line end.
///   markdown, table: the same sections for a lab report and for a terminal. `width`: columns of
///   the
///                    terminal; 0 wraps no table.
///   csv:             one long table, the run's rows of the view `results`, exact.
///   json:            an object: schema_version, run, devices, device_states, launches, results,
///                    timings, expectations, lines; rows of the views of these names, exact.
/// Throws Error{usage} when there is no such run.
std::string render_report(const schema::Reader& reader, std::int64_t run_id, Format format,
                          std::size_t width = 0);

/// Only the comparison tables and the failed launches, as `run` prints them when it ends; csv and
/// json are those of render_report.
std::string render_comparison(const schema::Reader& reader, std::int64_t run_id, Format format,
                              std::size_t width = 0);

}  // namespace warpmeter::reports
