// SPDX-License-Identifier: MIT
// `warpmeter report`: the tables of one run.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/named_files.h"
#include "base/output.h"
#include "collector/cli/formats.h"
#include "collector/cli/options.h"
#include "collector/cli/plot_files.h"
#include "collector/cli/terminal.h"
#include "collector/cli/trace_file.h"
#include "reports/render/report.h"
#include "reports/table/table.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

namespace fs = std::filesystem;

struct Report {
  std::string database, run = "last", format = "markdown", file, trace_file;
  std::vector<std::string> sections;
  double timeout = 60;  ///< seconds for a section of the person's
  bool no_plots = false, brief = false;
};

bool is_sql_file(const std::string& section) { return fs::path(section).extension() == ".sql"; }

/// Sections by name, and files of SQL.
std::vector<reports::SectionChoice> choices_of(const std::vector<std::string>& names) {
  std::vector<reports::SectionChoice> choices;
  for (const std::string& name : names) {
    if (!is_sql_file(name)) {
      choices.push_back({name, ""});
      continue;
    }
    const ReadFile file = read_regular_file(name);
    if (!file.text || file.text->empty()) {
      throw Error(ExitCode::file,
                  fmt::format("the section file {} {}", name,
                              file.text ? "is empty: write one SELECT into it" : file.why_not));
    }
    choices.push_back({fs::path(name).stem().string(), *file.text});
  }
  return choices;
}

std::string plot_folder_of(const Report& report) {
  if (report.no_plots || report.format != "markdown") return "";
  return plot_folder_beside(report.file);
}

/// Writes the activities of the run as a Perfetto trace, and no report.
ExitCode write_trace(const Report& report) {
  if (!report.file.empty() || report.brief || !report.sections.empty()) {
    throw Error(ExitCode::usage,
                "--trace-out writes no report: leave -o, --section and --brief out");
  }
  FileClaims files;
  files.read_database(report.database);
  const Destination destination = files.write(report.trace_file, "--trace-out");
  const schema::Reader reader(report.database);
  say(write_trace_file(reader, reader.find_run(report.run), destination) + "\n");
  return ExitCode::done;
}

/// Throws Error{nothing} for a run without launches and activities.
void require_content(const schema::Reader& reader, std::int64_t run_id) {
  const schema::Rows found = reader.query(
      "SELECT EXISTS (SELECT 1 FROM launches WHERE run_id = :run) OR "
      "EXISTS (SELECT 1 FROM activities WHERE run_id = :run)",
      {{":run", run_id}});
  if (found.rows.at(0).at(0) != schema::Value(std::int64_t{0})) return;
  throw Error(ExitCode::nothing,
              fmt::format("run {} ended before a launch was finished, so there is nothing to "
                          "report: choose another with --run (see: warpmeter list runs)",
                          run_id));
}

ExitCode run(const Report& report) {
  if (!report.trace_file.empty()) return write_trace(report);
  if (report.brief && !report.sections.empty()) {
    throw Error(ExitCode::usage, "--brief and --section both say what is shown: leave one out");
  }
  FileClaims files;
  files.read_database(report.database);
  for (const std::string& section : report.sections) {
    if (is_sql_file(section)) files.read(section, "the section " + section);
  }
  const Destination destination = files.write(report.file, "-o");
  const schema::Reader reader(report.database);
  const std::int64_t run_id = reader.find_run(report.run);
  require_content(reader, run_id);
  const bool on_terminal = report.file.empty() && is_terminal(STDOUT_FILENO);
  const std::size_t width =
      on_terminal ? static_cast<std::size_t>(terminal_width(STDOUT_FILENO)) : 0;
  reports::ReportOptions options;
  options.format = *reports::parse_format(report.format);
  options.width = width;
  options.sections = choices_of(report.sections);
  options.brief = report.brief;
  options.plots = !report.no_plots;
  options.limits.time = std::chrono::duration<double>(report.timeout);
  options.plot_folder = plot_folder_of(report);
  Output output(destination);
  const std::vector<reports::PlotFile> plots = reports::write_report(
      reader, run_id, options,
      [&](std::string_view text) { return output.write(shown(text, report.format, report.file)); });
  write_plots(report.file, options.plot_folder, plots, files);
  output.finish();
  return ExitCode::done;
}

}  // namespace

Command add_report(CLI::App& program) {
  CLI::App& app = add_command(
      program, "report", "Print a report on a run",
      {{"warpmeter report", "the last run, as markdown"},
       {"warpmeter report --run last~1 -o before.md", "the one before it, into a file"},
       {"warpmeter report -o report.html", "one page for a browser: sort, filter, plots"},
       {"warpmeter report --section comparison,slowest.sql",
        "one section of ours and one of your own"},
       {"warpmeter report --trace-out app.pftrace", "a traced run for ui.perfetto.dev"},
       {"warpmeter report --format csv", "every figure of the run in one long table"}});
  auto report = std::make_shared<Report>();
  add_database(app, report->database);
  add_text(app, "--run", "RUN", report->run,
           "An id, four or more digits that begin its UUID, a label, last or last~N; last when not "
           "given");
  add_format(app, report->format);
  add_text(app, "-o,--output", "FILE", report->file,
           "Write there instead of standard output; the "
           "plots of markdown go into FILE_files");
  add_list(app, "--section", "NAME|FILE.sql", report->sections,
           fmt::format("Only these, in this order: {}. A file with a SELECT of your own is one too",
                       fmt::join(reports::section_names(), ", ")));
  add_seconds(app, "--timeout", report->timeout,
              "Stop a section of your own after that long, and exit with 3 (default: 60)");
  add_text(app, "--trace-out", "FILE", report->trace_file,
           "Write what ran when to FILE, as a Perfetto trace (ui.perfetto.dev), and no report");
  add_flag(app, "--brief", report->brief, "One screen: the headline and the best of each family");
  add_flag(app, "--no-plots", report->no_plots, "Tables only, in markdown and HTML");
  return {&app, [report] { return run(*report); }};
}

}  // namespace warpmeter::cli
