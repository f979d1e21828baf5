// SPDX-License-Identifier: MIT
#include "collector/cli/run/continued_run.h"

#include <fmt/format.h>

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/shell_line.h"
#include "reports/table/number.h"

namespace warpmeter::cli {
namespace {

/// The request of a stored command line of `run`; nothing where it is another command's.
std::optional<RunRequest> parsed(const std::string& command) {
  std::vector<std::string> words = shell_words(command);
  if (words.size() < 2 || words[1] != "run") return std::nullopt;
  RunRequest request;
  CLI::App program;
  add_run_options(program, request);
  try {
    program.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
  } catch (const CLI::Error&) {
    return std::nullopt;  // for a version with other options
  }
  request.files.files = take_files(request.selectors);
  return request;
}

/// All that decides what is measured, and how: not in which order it was named, nor on how many
/// threads the model counts or what of it is printed.
auto meaning(RunRequest request) {
  request.backend.threads = 0;
  request.print_output = 0;
  std::vector<std::int64_t> sizes;
  if (!request.sizes.empty()) sizes = sizes_of(request);
  request.sizes.clear();
  const std::set<std::string> selectors(request.selectors.begin(), request.selectors.end());
  request.selectors.clear();
  return std::tuple(words_of(request), selectors,
                    std::set<std::int64_t>(sizes.begin(), sizes.end()), request.interleave,
                    request.lines, request.rounds);
}

bool names_nothing(const RunRequest& request) {
  return request.selectors.empty() && request.files.files.empty() && request.sizes.empty() &&
         request.launches.empty();
}

/// A task of a job, which begins where there is nothing yet.
bool is_task(const RunRequest& request) {
  return request.command_line != shell_line(request.words);
}

/// The latest run of the same meaning, by what it would be recorded with (--as leaves out what a
/// job adds to its tasks), and of the same label where one is asked for.
std::int64_t run_of_same_meaning(const RunRequest& request) {
  const RunRequest own = parsed(request.command_line).value_or(request);
  const schema::Rows rows = schema::Reader(request.database)
                                .query(
                                    "SELECT max(run_id), command, coalesce(label, '') FROM runs "
                                    "GROUP BY 2, 3 ORDER BY 1 DESC");
  for (const auto& row : rows.rows) {
    const std::string& label = std::get<std::string>(row[2]);
    if (!request.label.empty() && label != request.label) continue;
    const std::optional<RunRequest> other = parsed(std::get<std::string>(row[1]));
    if (other && meaning(*other) == meaning(own)) return std::get<std::int64_t>(row[0]);
  }
  return 0;
}

/// The request of the database's last run, shown and stored as `typed` has it.
RunRequest request_of_last(const RunRequest& typed) {
  const schema::Rows rows =
      schema::Reader(typed.database)
          .query("SELECT run_id, command FROM runs ORDER BY run_id DESC LIMIT 1");
  if (rows.rows.empty()) {
    throw Error(ExitCode::nothing, fmt::format("{} has no run to go on with", typed.database));
  }
  const std::int64_t run_id = std::get<std::int64_t>(rows.rows.front()[0]);
  std::optional<RunRequest> request = parsed(std::get<std::string>(rows.rows.front()[1]));
  if (!request) {
    throw Error(ExitCode::usage,
                fmt::format("the last run of {}, {}, is of another command: {}; --continue goes on "
                            "with a `run` only, so name what to measure",
                            typed.database, run_id, std::get<std::string>(rows.rows.front()[1])));
  }
  if (request->lines) {
    throw Error(ExitCode::usage,
                fmt::format("run {} was begun with --lines, and such a run cannot be "
                            "continued: run it anew",
                            run_id));
  }
  request->words = typed.words;
  request->command_line = typed.command_line;
  request->database = typed.database;
  request->quiet = typed.quiet;
  request->no_progress = typed.no_progress;
  request->dry_run = typed.dry_run;
  request->pause_dcgm = request->pause_dcgm || typed.pause_dcgm;
  request->backend.open_gpu = typed.backend.open_gpu;
  request->go_on = true;
  request->continued_run = run_id;
  return *std::move(request);
}

}  // namespace

void find_continued(RunRequest& request) {
  if (!request.go_on) return;
  if (std::filesystem::exists(request.database)) {
    const schema::Store prepares(request.database);  // a full disk leaves one without tables
    request.continued_run = run_of_same_meaning(request);
  } else if (names_nothing(request) && !is_task(request)) {
    throw Error(ExitCode::nothing, fmt::format("there is no {}, so no run to go on with: name its "
                                               "database with --db, or run without --continue",
                                               request.database));
  }
  if (request.continued_run == 0 && names_nothing(request) && !is_task(request)) {
    if (meaning(request) != meaning({}) || !request.label.empty()) {
      throw Error(ExitCode::usage,
                  fmt::format("no run of {} was begun with these options: --continue alone goes on "
                              "with its last run, and with options needs what to measure as well",
                              request.database));
    }
    request = request_of_last(request);
  }
  if (request.continued_run == 0) {
    remark(request, fmt::format("{} has no run of this command to go on with: a new one begins",
                                request.database));
  }
}

void check_files(const RunRequest& request, const run::Choice& choice) {
  if (request.continued_run == 0 || request.files.files.empty()) return;
  std::set<std::string> files(request.files.files.begin(), request.files.files.end());
  const auto add = [&](const kernels::Image* image) {
    if (image != nullptr) files.emplace(image->source_path);
  };
  for (const run::Selection& selection : choice.selections) {
    for (const kernels::Variant* variant : selection.variants) add(variant->image);
  }
  for (const std::string& file : files) {
    struct stat status {};
    if (stat(file.c_str(), &status) != 0) continue;
    const double changed = static_cast<double>(status.st_mtim.tv_sec) +
                           1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
    const schema::Rows rows = schema::Reader(request.database)
                                  .query(
                                      "SELECT started FROM runs WHERE run_id = :run AND "
                                      "julianday(started) < julianday(:changed, 'unixepoch')",
                                      {{":run", request.continued_run}, {":changed", changed}});
    if (rows.rows.empty()) continue;
    throw Error(
        ExitCode::usage,
        fmt::format("{} was changed after run {} had begun, whose launches are of other code: "
                    "run without --continue",
                    file, request.continued_run));
  }
}

void read_finished(const RunRequest& request, bool on_any_device, run::Options& options) {
  const schema::Rows rows = schema::Reader(request.database)
                                .query(
                                    "SELECT device_id, family, variant, coalesce(size, 0), "
                                    "outcome = 'failed' FROM launches WHERE run_id = :run",
                                    {{":run", options.continued_run}});
  for (const auto& row : rows.rows) {
    options.finished.emplace(on_any_device ? 0 : std::get<std::int64_t>(row[0]),
                             std::get<std::string>(row[1]), std::get<std::string>(row[2]),
                             std::get<std::int64_t>(row[3]));
    options.failed_before += static_cast<std::size_t>(std::get<std::int64_t>(row[4]));
  }
  options.stored_before = rows.rows.size();
}

bool has_come_to_its_end(const RunRequest& request, run::Options& options) {
  const schema::Rows rows =
      schema::Reader(request.database)
          .query(
              "SELECT outcome, launches >= planned_launches, launches, failed_launches "
              "FROM runs WHERE run_id = :run",
              {{":run", request.continued_run}});
  const auto& row = rows.rows.at(0);
  const std::string& outcome = std::get<std::string>(row[0]);
  const auto* is_whole = std::get_if<std::int64_t>(&row[1]);
  options.continued_run = request.continued_run;
  options.stored_before = static_cast<std::size_t>(std::get<std::int64_t>(row[2]));
  options.failed_before = static_cast<std::size_t>(std::get<std::int64_t>(row[3]));
  if (outcome != "done" && (outcome != "failed" || is_whole == nullptr || *is_whole == 0)) {
    return false;
  }
  remark(request,
         fmt::format("nothing is left to do: run {} has come to its end", request.continued_run));
  return true;
}

void take_up(const RunRequest& request, bool on_any_device, schema::Store& store,
             run::Options& options) {
  store.continue_run(request.continued_run, options.repeat);
  options.continued_run = request.continued_run;
  options.is_resumed = true;
  options.failed_before = 0;
  read_finished(request, on_any_device, options);
  remark(request, fmt::format("going on with run {}, which has {}", options.continued_run,
                              reports::counted(options.stored_before, "launch", "launches")));
}

}  // namespace warpmeter::cli
