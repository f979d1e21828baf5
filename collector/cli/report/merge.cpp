// SPDX-License-Identifier: MIT
// `warpmeter merge`: the databases of several machines in one.
#include "schema/merge/merge.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/output.h"
#include "collector/cli/formats.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/options.h"
#include "collector/cli/progress.h"
#include "collector/cli/terminal.h"
#include "collector/cli/usage.h"
#include "reports/table/table.h"
#include "schema/merge/one_run.h"

namespace warpmeter::cli {
namespace {

using reports::Column;
using reports::Kind;

struct Merge {
  std::vector<std::string> sources;
  std::string target, format = "table", one_run, program;
  std::int64_t planned = 0;
  bool skip_unreadable = false, quiet = false;
};

reports::Table table_of(const std::vector<schema::MergedSource>& sources) {
  reports::Table table;
  table.columns = {Column::text("database"),
                   Column::number("added", "runs added", "", Kind::count),
                   Column::number("launches", "launches added", "", Kind::count),
                   Column::number("known", "runs there already", "", Kind::count),
                   Column::number("conflicts", "conflicts", "", Kind::count),
                   Column::number("running", "left while running", "", Kind::count)};
  for (const schema::MergedSource& source : sources) {
    if (!source.refused.empty()) {
      const reports::Missing none{"it was not read"};
      table.rows.push_back({source.path, none, none, none, none, none});
      continue;
    }
    table.rows.push_back({source.path, source.added, source.launches, source.known,
                          static_cast<std::int64_t>(source.conflicts.size()), source.running});
  }
  return table;
}

/// Prints each problem on one line. True when something conflicted.
bool tell(const std::vector<schema::MergedSource>& sources) {
  bool any = false;
  for (const schema::MergedSource& source : sources) {
    if (!source.refused.empty()) {
      say(fmt::format("left out: {}\n", naming_other_option(source.refused, "")));
    }
    for (const std::string& conflict : source.conflicts) {
      say(Colour::red, "conflict:",
          fmt::format(" {}, {}; the target keeps what it has\n", source.path, conflict));
      any = true;
    }
    for (const std::string& remark : source.remarks) {
      say(fmt::format("{}, {}\n", source.path, remark));
    }
  }
  return any;
}

ExitCode run(const Merge& merge) {
  if (merge.sources.empty()) {
    throw Error(ExitCode::usage,
                "merge needs the databases to merge (see: warpmeter merge --help)");
  }
  if (merge.target.empty()) {
    throw Error(ExitCode::usage, "merge needs -o FILE: the database to create or extend");
  }
  if (merge.planned > 0 && merge.one_run.empty()) {
    throw Error(ExitCode::usage, "--planned says how many launches --one-run has: give both");
  }
  FileClaims files;
  for (const std::string& source : merge.sources) {
    files.read_database(source, "a database that is merged, and those stay as they are");
  }
  files.store(merge.target, "-o");
  if (!merge.one_run.empty() && std::filesystem::exists(merge.target)) {
    throw Error(ExitCode::usage,
                fmt::format("--one-run makes a database of its own, and {} is there already: "
                            "choose another with -o",
                            merge.target));
  }
  catch_interrupts(
      "\nwarpmeter: stopping after this run; the next merge goes on (Ctrl-C again stops at "
      "once)\n");
  ProgressBar bar(is_terminal(STDERR_FILENO) && !merge.quiet);
  schema::MergeOptions options;
  options.skip_unreadable = merge.skip_unreadable;
  options.nvprof_program = merge.program;
  options.cancelled = interrupted;
  options.progress = [&](std::size_t done, std::size_t total, const std::string& source) {
    bar.update(done, total, source);
  };
  std::vector<schema::MergedSource> merged;
  try {
    merged = schema::merge(merge.sources, merge.target, options);
  } catch (const Error& error) {
    throw Error(error.code(), naming_other_option(error.what(), ""));
  }
  bar.clear();
  if (!merge.one_run.empty() && !interrupted()) {
    schema::make_one_run(merge.target, merge.one_run, merge.planned);
  }
  Output output;
  if (!merge.quiet) output.write(rendered(table_of(merged), merge.format));
  output.finish();
  if (tell(merged)) {
    throw Error(
        ExitCode::file,
        fmt::format("some runs have another content in {}; all others are merged", merge.target));
  }
  return ExitCode::done;
}

}  // namespace

Command add_merge(CLI::App& program) {
  CLI::App& app = add_command(
      program, "merge", "Join databases of several machines into one",
      {{"warpmeter merge lab1.db lab2.db -o lab.db", "creates or extends lab.db"},
       {"warpmeter merge lab*.db -o all.db --skip-unreadable", "without those that are damaged"},
       {"warpmeter merge 2017.nvvp -o lab.db", "a file of nvprof -o, with its original date"}});
  auto merge = std::make_shared<Merge>();
  add_arguments(app, "FILE", merge->sources,
                "The databases, or files of nvprof -o; they stay as they are, and runs that were "
                "merged before are known");
  add_text(app, "-o,--output", "FILE", merge->target, "The database to create or extend");
  add_flag(app, "--skip-unreadable", merge->skip_unreadable,
           "Leave out what is missing or damaged, and merge the rest");
  add_text(app, "--program", "NAME", merge->program,
           "The program's name for nvprof's files (default: the one that a file names, else the "
           "file's name without its ending)");
  add_text(app, "--one-run", "COMMAND", merge->one_run,
           "Join all runs into one run with this command line: the parts that the tasks of a job "
           "measured");
  add_count(app, "--planned", 1, INT64_MAX, merge->planned,
            "With --one-run: the launches of the whole run; with fewer launches it is unfinished");
  add_format(app, merge->format);
  add_flag(app, "-q,--quiet", merge->quiet, "Print only what went wrong");
  return {&app, [merge] { return run(*merge); }};
}

}  // namespace warpmeter::cli
