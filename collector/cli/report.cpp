// `warpmeter report`: the tables of one run.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "collector/cli/formats.h"
#include "collector/cli/options.h"
#include "collector/cli/output.h"
#include "collector/cli/terminal.h"
#include "reports/report.h"
#include "reports/table.h"
#include "schema/error.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

struct Report {
  std::string database, run = "last", format = "markdown", file;
};

ExitCode run(const Report& report) {
  refuse_overwriting(report.database, report.file);
  const schema::Reader reader(report.database);
  const std::int64_t run_id = reader.find_run(report.run);
  const schema::Rows launches =
      reader.query("SELECT count(*) FROM launches WHERE run_id = :run", {{":run", run_id}});
  if (launches.rows.at(0).at(0) == schema::Value(std::int64_t{0})) {
    throw Error(ExitCode::nothing,
                fmt::format("run {} ended before a launch was finished, so there is nothing to "
                            "report: choose another with --run (see: warpmeter list runs)",
                            run_id));
  }
  const bool on_terminal = report.file.empty() && is_terminal(STDOUT_FILENO);
  const std::size_t width =
      on_terminal ? static_cast<std::size_t>(terminal_width(STDOUT_FILENO)) : 0;
  Output output(report.file);
  output.write(
      reports::render_report(reader, run_id, *reports::parse_format(report.format), width));
  output.finish();
  return ExitCode::done;
}

}  // namespace

Command add_report(CLI::App& program) {
  CLI::App& app =
      add_command(program, "report", "Render the tables of a run",
                  {{"warpmeter report", "the last run, as markdown"},
                   {"warpmeter report --run last~1 -o before.md", "the one before it, into a file"},
                   {"warpmeter report --format csv", "every figure of the run in one long table"}});
  auto report = std::make_shared<Report>();
  add_database(app, report->database);
  add_text(app, "--run", "RUN", report->run,
           "An id, a prefix of its UUID, a label, last or last~N; last when not given");
  add_format(app, report->format);
  add_text(app, "-o,--output", "FILE", report->file, "Write there instead of standard output");
  return {&app, [report] { return run(*report); }};
}

}  // namespace warpmeter::cli
