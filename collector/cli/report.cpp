// `warpmeter report`: the tables of one run.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "collector/cli/formats.h"
#include "collector/cli/options.h"
#include "collector/cli/output.h"
#include "reports/report.h"
#include "reports/table.h"
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
  Output output(report.file);
  output.write(reports::render_report(reader, run_id, *reports::parse_format(report.format)));
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
