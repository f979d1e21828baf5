// SPDX-License-Identifier: MIT
// The report on one run: what was measured where, the variants of each family side by side, the
// expectations with their verdicts, what was unavailable and why. It reads public views only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/document.h"
#include "reports/table/table.h"
#include "schema/store.h"

namespace warpmeter::reports {

/// A part of a report: one of section_names(), or a statement that a user wrote.
struct SectionChoice {
  std::string name;  ///< the name of our own; or what the file is called
  std::string sql;   ///< empty for our own; may use :run
};

/// The names that SectionChoice::name may have, in the order in which a report shows them.
std::vector<std::string> section_names();

struct ReportOptions {
  Format format = Format::markdown;
  std::size_t width = 0;  ///< columns of the terminal for Format::table; 0 wraps no table
  bool brief = false;     ///< one screen in place of sections
  std::vector<SectionChoice> sections;  ///< none: those that the format shows by itself
  std::string plot_folder;  ///< the plot folder of markdown's images, relative to the report;
                            ///< empty: no plots
  bool plots = true;        ///< true if HTML has plots
  schema::QueryLimits limits = {};  ///< a user's section has these
};

/// Takes a report piece by piece; false when nobody wants the rest.
using Sink = std::function<bool(std::string_view text)>;

/// Writes the report on a run, with a final line end, and returns the files that belong into its
/// folder of plots.
///   markdown, table, html: the same sections for a lab report, a terminal and a browser.
///   csv:  one long table, the run's rows of the view `results`, exact.
///   json: an object as report.schema.json describes it; rows of the public views, exact.
/// With sections chosen, json holds their tables instead, and csv the one table that they have.
/// Throws Error{usage}: no such run; an unknown section; the message of SQLite for a user's
/// section; csv of other than one table; html that was not built in. Error{nothing}: the sections
/// chosen have nothing to say of the run.
std::vector<PlotFile> write_report(const schema::Reader& reader, std::int64_t run_id,
                                   const ReportOptions& options, const Sink& sink);

/// The same as one text, without plots in markdown.
std::string render_report(const schema::Reader& reader, std::int64_t run_id, Format format,
                          std::size_t width = 0);

/// Only the comparison tables and the failed launches, as `run` prints them when it ends; csv and
/// json are those of render_report.
std::string render_comparison(const schema::Reader& reader, std::int64_t run_id, Format format,
                              std::size_t width = 0);

}  // namespace warpmeter::reports
