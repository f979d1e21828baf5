// SPDX-License-Identifier: MIT
// `warpmeter history`: one metric of a variant over runs and git revisions.
#include "reports/history.h"

#include <memory>
#include <string>

#include "base/output.h"
#include "collector/cli/arguments.h"
#include "collector/cli/formats.h"
#include "collector/cli/options.h"
#include "collector/cli/pager.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

struct History {
  reports::HistoryChoice choice;
  std::string database, format = "table", file, size, by = "run";
  bool no_plot = false, no_pager = false;
};

/// "transpose/tiled@1024", as the gates of `check` have it, is a variant and a size.
void take_size(reports::HistoryChoice& choice) {
  const std::size_t at = choice.variant.rfind('@');
  if (at == std::string::npos || choice.variant.find('/', at) != std::string::npos) return;
  if (choice.size) {
    throw Error(ExitCode::usage, "the size is given twice: leave away --size, or what follows @");
  }
  choice.size = whole_number("the size after @", choice.variant.substr(at + 1), 1, INT64_MAX);
  choice.variant.resize(at);
}

ExitCode run(const History& history) {
  if (history.choice.variant.empty()) {
    throw Error(ExitCode::usage,
                "history needs a variant: transpose/tiled (see: warpmeter history --help)");
  }
  FileClaims files;
  files.read_database(history.database);
  const Destination destination = files.write(history.file, "-o");
  reports::HistoryChoice choice = history.choice;
  choice.by_revision = history.by == "revision";
  if (!history.size.empty()) choice.size = whole_number("--size", history.size, 1, INT64_MAX);
  take_size(choice);
  const schema::Reader reader(history.database);
  const std::string text = reports::render_history(reports::read_history(reader, choice), choice,
                                                   *reports::parse_format(history.format),
                                                   table_width(history.file), !history.no_plot);
  Answer answer(destination, !history.no_pager);
  answer.write(text);
  answer.finish();
  return ExitCode::done;
}

}  // namespace

Command add_history(CLI::App& program) {
  CLI::App& app = add_command(
      program, "history", "Show one metric of a variant over runs, and where it changed",
      {{"warpmeter history transpose/tiled", "its time, run by run"},
       {"warpmeter history transpose/tiled -m gst_efficiency -n 1024", "another metric, one size"},
       {"warpmeter history 'reduction/*' --by revision --format csv", "a value a git revision"}});
  auto history = std::make_shared<History>();
  add_text(app, "VARIANT", "", history->choice.variant,
           "A variant, family/variant, or a glob over these; @SIZE after it is --size");
  add_text(app, "-m,--metric", "METRIC", history->choice.metric,
           "A metric or counter (default: duration)");
  add_text(app, "-n,--size", "N", history->size, "Only this size");
  add_text(app, "--device", "NAME", history->choice.device,
           "Only devices whose title has this in it: H200, '#1'");
  add_choice(app, "-b,--backend", {"cupti", "model"}, history->choice.backend, "Only this backend");
  add_choice(app, "--by", {"run", "revision"}, history->by,
             "One value per run (default), or one per git revision");
  add_database(app, history->database);
  add_format(app, history->format);
  add_text(app, "-o,--output", "FILE", history->file, "Write there instead of standard output");
  add_flag(app, "--no-plot", history->no_plot, "Only the table");
  add_flag(app, "--no-pager", history->no_pager, "On a terminal, do not page ($PAGER)");
  return {&app, [history] { return run(*history); }};
}

}  // namespace warpmeter::cli
