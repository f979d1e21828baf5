// SPDX-License-Identifier: MIT
// `warpmeter compare`: what changed, and whether it is real.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/output.h"
#include "collector/cli/formats.h"
#include "collector/cli/options.h"
#include "collector/cli/report/runs_of_files.h"
#include "collector/cli/terminal.h"
#include "reports/compare/compare.h"
#include "reports/gates/config.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

struct Compare {
  std::string database, by = "run", run, format = "table", file, fail_on;
  std::string label, significance = "0.1%", least_effect = "1%";
  std::vector<std::string> names;
  bool allow_unfinished = false;
};

reports::Key key_of(const std::string& by) {
  if (by == "variant") return reports::Key::variant;
  if (by == "device") return reports::Key::device;
  if (by == "backend") return reports::Key::backend;
  if (by == "label") return reports::Key::label;
  if (by == "size") return reports::Key::size;
  return reports::Key::run;
}

reports::Thresholds thresholds_of(const Compare& compare) {
  reports::Thresholds thresholds;
  thresholds.significance = reports::parse_significance("--significance", compare.significance);
  thresholds.least_effect = reports::parse_percentage("--least-effect", compare.least_effect);
  return thresholds;
}

/// The two runs, where one of them at least is in a file that was named; none for other
/// comparisons. A word that names no file is a run of --db.
std::vector<PlaceOfRun> places_of(const Compare& compare) {
  if (compare.by != "run") return {};
  std::vector<PlaceOfRun> places;
  bool names_a_file = false;
  for (const std::string& name : compare.names) {
    const std::optional<PlaceOfRun> place = place_of_run(name);
    names_a_file |= place.has_value();
    places.push_back(place.value_or(PlaceOfRun{compare.database, name}));
  }
  if (!names_a_file) return {};
  if (places.size() > 2) {
    throw Error(ExitCode::usage,
                fmt::format("'{}' is one too many: a comparison has two sides", compare.names[2]));
  }
  if (places.size() == 1) places.push_back({compare.database, "last"});
  return places;
}

ExitCode run(const Compare& compare) {
  const reports::Thresholds thresholds = thresholds_of(compare);
  const std::vector<PlaceOfRun> places = places_of(compare);
  FileClaims files;
  if (places.empty()) files.read_database(compare.database);
  for (const PlaceOfRun& place : places) files.read_database(place.database);
  const Destination destination = files.write(compare.file, "-o");
  if (!compare.label.empty() && compare.by != "device") {
    throw Error(ExitCode::usage,
                "--label chooses the runs of --by device; two labels are compared with "
                "--by label BASE CONTENDER");
  }
  reports::CompareRequest request{key_of(compare.by), compare.names, compare.run, compare.label};
  std::optional<CopiedRuns> copies;
  if (!places.empty()) {
    copies.emplace(places);
    request.names = copies->ids();
    request.run_names = copies->names();
  }
  const schema::Reader reader(copies ? copies->database() : compare.database);
  reports::Comparison comparison = reports::compare(reader, request, thresholds);
  if (copies) {  // their numbers are those of the files that they came from
    comparison.base.runs = {copies->originals().front()};
    comparison.contender.runs = {copies->originals().back()};
  }
  const bool on_terminal = compare.file.empty() && is_terminal(STDOUT_FILENO);
  const std::size_t width =
      on_terminal ? static_cast<std::size_t>(terminal_width(STDOUT_FILENO)) : 0;
  Output output(destination);
  output.write(reports::render(comparison, *reports::parse_format(compare.format), width));
  output.finish();
  if (compare.format == "csv") {  // its rows have no room for them
    for (const std::string& remark : comparison.remarks) say(remark + "\n");
  }
  if (compare.fail_on.empty()) return ExitCode::done;
  const bool fails =
      compare.fail_on == "slower" ? comparison.has_slower() : comparison.has_changed();
  if (fails) return ExitCode::broken;
  // That nothing failed says nothing of the launches that are not there, or that have no times.
  if (compare.fail_on == "slower" && !comparison.has_times()) {
    say("warpmeter: no launch has a time on both sides, so nobody knows whether one is slower: "
        "--fail-on changed judges counts\n");
    return ExitCode::nothing;
  }
  const bool is_certain = comparison.unfinished.empty() || compare.allow_unfinished;
  return is_certain ? ExitCode::done : ExitCode::nothing;
}

}  // namespace

Command add_compare(CLI::App& program) {
  CLI::App& app = add_command(
      program, "compare", "Say what changed between two runs, and whether it is real",
      {{"warpmeter compare", "the last run against the one before it that measured the same"},
       {"warpmeter compare main last --fail-on slower", "exit 1 when something became slower"},
       {"warpmeter compare main.db branch.db", "the last runs of two databases"},
       {"warpmeter compare --by backend last", "the model against hardware"},
       {"warpmeter compare --by device --label nightly", "the cards of a lab, all runs of a label"},
       {"warpmeter compare --by variant tiled tiled_padded", "two variants of the last run"},
       {"warpmeter compare --by label before after", "all runs of two labels together"}});
  auto compare = std::make_shared<Compare>();
  add_arguments(app, "BASE CONTENDER", compare->names,
                "Two runs (an id, four or more digits that begin its UUID, a label, last or "
                "last~N), two databases (FILE.db: its last run, FILE.db:RUN another), or two "
                "values of --by");
  add_choice(app, "--by", {"run", "variant", "device", "backend", "label", "size"}, compare->by,
             "The kind of the two sides (default: run)");
  add_text(app, "--run", "RUN", compare->run,
           "Where --by variant, device, backend or size look (default: last)");
  add_text(app, "--label", "LABEL", compare->label,
           "With --by device: all runs of this label instead of one run");
  add_choice(app, "--fail-on", {"slower", "changed"}, compare->fail_on,
             "Exit 1 when a launch became slower, or when any time or counter changed; 3 when none "
             "did but a run was not finished");
  add_flag(app, "--allow-unfinished", compare->allow_unfinished,
           "With --fail-on: judge the launches that are there though a run was not finished");
  add_text(app, "--significance", "PERCENT", compare->significance,
           "How probable a false alarm may be, over all rows (default: 0.1%)");
  add_text(app, "--least-effect", "PERCENT", compare->least_effect,
           "How large a change of time has to be (default: 1%)");
  add_database(app, compare->database);
  add_format(app, compare->format);
  add_text(app, "-o,--output", "FILE", compare->file, "Write there instead of standard output");
  return {&app, [compare] { return run(*compare); }};
}

}  // namespace warpmeter::cli
