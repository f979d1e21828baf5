// SPDX-License-Identifier: MIT
// `warpmeter runs`: what a database holds, and keeping it tidy. Removing is asked about on a
// terminal; everything is refused before the first change when a part of it cannot be done.
#include "collector/cli/report/runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/output.h"
#include "collector/cli/arguments.h"
#include "collector/cli/formats.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/options.h"
#include "collector/cli/terminal.h"
#include "reports/table/number.h"
#include "schema/store.h"
#include "schema/upkeep/maintenance.h"

namespace warpmeter::cli {
namespace {

struct Runs {
  std::string action = "list", database, format = "table", before;
  std::vector<std::string> arguments;
  std::int64_t keep = -1;
  bool yes = false, force = false;
};

Error usage(const std::string& sentence) {
  return {ExitCode::usage, sentence + " (see: warpmeter runs --help)"};
}

void expect_arguments(const Runs& runs, std::size_t count, const char* what) {
  if (runs.arguments.size() == count) return;
  throw usage(fmt::format("runs {} takes {}", runs.action, what));
}

// ---- which runs go

std::vector<std::int64_t> ids_of(const schema::Rows& rows) {
  std::vector<std::int64_t> ids;
  for (const auto& row : rows.rows) ids.push_back(std::get<std::int64_t>(row.at(0)));
  return ids;
}

/// The beginning of a day or a moment, as SQLite writes the start of a run.
std::string moment(const schema::Reader& reader, const std::string& text) {
  const schema::Rows rows = reader.query(
      "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', :text) "
      "WHERE :text GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'",
      {{":text", text}});
  const std::string* found =
      rows.rows.empty() ? nullptr : std::get_if<std::string>(&rows.rows.front().front());
  if (found == nullptr) {
    throw usage(
        fmt::format("--before takes a date, 2026-01-31 or 2026-01-31T12:00 (UTC), not '{}'", text));
  }
  return *found;
}

/// Those that were named, or those that are old; never one that is still being measured.
std::vector<std::int64_t> chosen(const Runs& runs, const schema::Reader& reader) {
  const bool by_age = !runs.before.empty() || runs.keep >= 0;
  if (runs.arguments.empty() != by_age) {
    throw usage("runs rm takes either RUNs, or --before and --keep");
  }
  std::vector<std::int64_t> ids;
  for (const std::string& run : runs.arguments) {
    const std::int64_t id = reader.find_run(run);
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  if (!by_age) return ids;
  const std::string before = runs.before.empty() ? "9999" : moment(reader, runs.before);
  return ids_of(reader.query(
      "SELECT run_id FROM (SELECT run_id, started, row_number() OVER (ORDER BY started DESC, "
      "run_id DESC) AS place FROM runs WHERE outcome <> 'running') "
      "WHERE place > :keep AND started < :before ORDER BY run_id",
      {{":keep", std::max<std::int64_t>(runs.keep, 0)}, {":before", before}}));
}

bool is_confirmed(const Runs& runs, const schema::Reader& reader,
                  const std::vector<std::int64_t>& ids) {
  if (runs.yes) return true;
  if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) {
    throw usage(
        fmt::format("runs rm would remove {} for good: say --yes, for nobody can be asked "
                    "here",
                    reports::counted(ids.size(), "run", "runs")));
  }
  const schema::Rows launches = reader.query(
      fmt::format("SELECT count(*) FROM launches WHERE run_id IN ({})", fmt::join(ids, ", ")));
  say(fmt::format(
      "Remove {} with {} of {} for good: {}? [y/N] ", reports::counted(ids.size(), "run", "runs"),
      reports::counted(static_cast<std::size_t>(std::get<std::int64_t>(launches.rows[0][0])),
                       "result row", "result rows"),
      runs.database, fmt::join(ids, ", ")));
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

// ---- the actions

ExitCode list(const Runs& runs) {
  expect_arguments(runs, 0, "nothing more");
  Output output;
  output.write(rendered(runs_table(runs.database, runs.format == "table" && table_width("") > 0),
                        runs.format));
  output.finish();
  return ExitCode::done;
}

ExitCode remove(const Runs& runs) {
  std::vector<std::int64_t> ids;
  {
    const schema::Reader reader(runs.database);
    ids = chosen(runs, reader);
    if (ids.empty()) {
      say("no run is that old: nothing was removed\n");
      return ExitCode::nothing;
    }
    if (!is_confirmed(runs, reader, ids)) {
      say("nothing was removed\n");
      return ExitCode::nothing;
    }
  }
  catch_interrupts("\nwarpmeter: stopping after this run (Ctrl-C again stops at once)\n");
  const std::size_t removed = schema::remove_runs(runs.database, ids, interrupted);
  say(fmt::format("removed {} of {}; warpmeter runs vacuum makes the file smaller\n",
                  reports::counted(removed, "run", "runs"), runs.database));
  return ExitCode::done;
}

ExitCode label(const Runs& runs) {
  expect_arguments(runs, 2, "a RUN and a text; an empty text takes the label away");
  check_label(runs.arguments[1]);
  const std::int64_t id = schema::Reader(runs.database).find_run(runs.arguments[0]);
  schema::label_run(runs.database, id, runs.arguments[1]);
  say(runs.arguments[1].empty() ? fmt::format("run {} has no label now\n", id)
                                : fmt::format("run {} is '{}' now\n", id, runs.arguments[1]));
  return ExitCode::done;
}

ExitCode vacuum(const Runs& runs) {
  expect_arguments(runs, 0, "nothing more");
  const schema::Reader must_exist(runs.database);
  const schema::FileSize size = schema::vacuum(runs.database);
  say(fmt::format("{}: {} bytes before, {} after\n", runs.database, size.before, size.after));
  return ExitCode::done;
}

ExitCode backup(const Runs& runs) {
  expect_arguments(runs, 1, "the FILE to write");
  FileClaims files;
  files.read_database(runs.database);
  files.write(runs.arguments[0], "runs backup");
  const std::int64_t bytes = schema::back_up(runs.database, runs.arguments[0], runs.force);
  say(fmt::format("{}: {} bytes, as {} is now\n", runs.arguments[0], bytes, runs.database));
  return ExitCode::done;
}

ExitCode run(const Runs& runs) {
  if (runs.action != "rm" && (!runs.before.empty() || runs.keep >= 0 || runs.yes)) {
    throw usage("--before, --keep and --yes are for runs rm");
  }
  if (runs.action != "backup" && runs.force) throw usage("--force is for runs backup");
  if (runs.action == "rm") return remove(runs);
  if (runs.action == "label") return label(runs);
  if (runs.action == "vacuum") return vacuum(runs);
  if (runs.action == "backup") return backup(runs);
  return list(runs);
}

}  // namespace

reports::Table runs_table(const std::string& database, bool is_for_terminal) {
  const schema::Reader reader(database);
  // A terminal may break a blank; and few people want milliseconds.
  const std::string started =
      is_for_terminal ? "replace(substr(started, 1, 19), 'T', ' ')" : "started";
  return reports::table_from(reader.query("SELECT run_id, substr(uuid, 1, 8) AS uuid, " + started +
                                          " AS started, label, backend, device, launches, "
                                          "failed_launches AS failed, outcome, command FROM runs "
                                          "ORDER BY run_id"));
}

Command add_runs(CLI::App& program) {
  CLI::App& app =
      add_command(program, "runs", "List, name, remove and back up the runs of a database",
                  {{"warpmeter runs", "what there is"},
                   {"warpmeter runs label last before", "a name, for report --run before"},
                   {"warpmeter runs rm 3 last~2", "these two; asks first"},
                   {"warpmeter runs rm --keep 20 --yes", "all but the last 20"},
                   {"warpmeter runs vacuum", "give their space back"},
                   {"warpmeter runs backup copy.db", "while others may write"}});
  auto runs = std::make_shared<Runs>();
  add_choice(app, "ACTION", {"list", "rm", "label", "vacuum", "backup"}, runs->action,
             "The action (default: list)");
  add_arguments(app, "ARGUMENT", runs->arguments,
                "rm: RUNs (ids, UUIDs, labels, last, last~N); label: a RUN and its label; "
                "backup: the file");
  add_database(app, runs->database);
  add_format(app, runs->format);
  add_text(app, "--before", "DATE", runs->before, "rm: those that began before it (UTC)");
  add_count(app, "--keep", 0, INT64_MAX, runs->keep, "rm: all but the last N");
  add_flag(app, "-y,--yes", runs->yes, "rm: do not ask");
  add_flag(app, "--force", runs->force, "backup: replace the file");
  return {&app, [runs] { return run(*runs); }};
}

}  // namespace warpmeter::cli
