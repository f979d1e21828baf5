// SPDX-License-Identifier: MIT
// `warpmeter explain`: which line, why, what to change, and what it would bring.
#include "reports/explain/explain.h"

#include <memory>
#include <string>
#include <vector>

#include "base/output.h"
#include "collector/cli/formats.h"
#include "collector/cli/options.h"
#include "collector/cli/pager.h"
#include "collector/cli/plot_files.h"
#include "reports/selector.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

struct Explain {
  std::vector<std::string> selectors;
  std::string database, run = "last", format = "table", file, show;
  std::int64_t top = 0;
  bool what_if = false, no_pager = false;
};

ExitCode run(const Explain& explain) {
  reports::ExplainOptions options;
  for (const std::string& text : explain.selectors) {
    options.selectors.push_back(reports::parse_selector(text));
  }
  if (!explain.show.empty()) options.show = reports::parse_shown_line(explain.show);
  if (explain.top > 0) options.top = explain.top;
  options.format = *reports::parse_format(explain.format);
  options.what_if = explain.what_if;
  options.width = table_width(explain.file);
  if (options.format == reports::Format::markdown) {
    options.picture_folder = plot_folder_beside(explain.file);
  }
  FileClaims files;
  files.read_database(explain.database);
  const Destination destination = files.write(explain.file, "-o");
  const schema::Reader reader(explain.database);
  options.run = reader.find_run(explain.run);
  const reports::ExplainedText explained = reports::explain(reader, options);
  Answer answer(destination, !explain.no_pager);
  answer.write(explained.text);
  write_plots(explain.file, options.picture_folder, explained.files, files);
  answer.finish();
  return ExitCode::done;
}

}  // namespace

Command add_explain(CLI::App& program) {
  CLI::App& app = add_command(
      program, "explain", "Say which line costs too many transactions, why, and what would help",
      {{"warpmeter explain", "the last run, worst first, in sentences"},
       {"warpmeter explain transpose/tiled --what-if", "the changes that were tried, as a table"},
       {"warpmeter explain --show kernels/transpose.cu:44",
        "one warp drawn: lanes, banks, sectors"},
       {"warpmeter explain --format html -o why.html", "a page with pictures"},
       {"warpmeter explain --format json", "for editors and bots; explain.schema.json"}});
  auto explain = std::make_shared<Explain>();
  add_arguments(
      app, "SELECTOR", explain->selectors,
      "Only these launches: family, family/variant, a glob; @1024, @grid=64, @block=256, @device=… "
      "after it");
  add_database(app, explain->database);
  add_text(app, "--run", "RUN", explain->run,
           "An id, four or more digits that begin its UUID, a label, last or last~N; last when not "
           "given");
  add_count(app, "--top", 1, INT64_MAX, explain->top,
            "At most N findings of a launch (default: 5; JSON has all)");
  add_flag(app, "--what-if", explain->what_if,
           "Show the changes that were tried, and their predicted counts; JSON always has them");
  add_text(
      app, "--show", "FILE:LINE", explain->show,
      "Draw one warp of this line: lanes on banks or sectors, before and after the change; JSON "
      "has the findings of this line alone, with the lanes' addresses");
  add_choice(app, "--format", {"table", "markdown", "html", "json"}, explain->format,
             "The format (default: by the ending of FILE, .md, .html or .json; else table)");
  add_text(app, "-o,--output", "FILE", explain->file,
           "Write there instead of standard output; the pictures of markdown go into FILE_files");
  add_flag(app, "--no-pager", explain->no_pager, "On a terminal, do not page ($PAGER)");
  return {&app, [explain] { return run(*explain); }};
}

}  // namespace warpmeter::cli
