// SPDX-License-Identifier: MIT
// The request of `warpmeter run`, and all that follows from it without a device.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/cli/backends.h"
#include "collector/cli/request/run_files.h"
#include "collector/run/selection.h"
#include "collector/run/session.h"

namespace CLI {
class App;
}

namespace warpmeter::cli {

/// As it was typed.
struct RunRequest {
  std::vector<std::string> words;  ///< as they were typed
  std::vector<std::string> selectors, sizes, metrics;
  FilesRequest files;
  BackendRequest backend;
  std::map<std::string, std::string> shaped;  ///< see BackendRequest; while the run goes on
  std::string cache = "cold", label, database, command_line;
  std::string against, launches;  ///< launches: the file of --launches
  std::vector<std::string> best;
  bool pause_dcgm = false, timing_only = false, counters_only = false, dry_run = false,
       quiet = false;
  bool check = false, verbose = false;
  std::string format = "table";  ///< how the findings of --check look
  bool no_progress = false, interleave = false, watch = false, lines = false;
  bool go_on = false;              ///< --continue
  std::int64_t continued_run = 0;  ///< the run that goes on; 0: a new one
  std::int64_t repeat = 1, print_output = 0, max_samples = 0;
  std::int64_t rounds = 0;  ///< the rounds of each build under --against; 0: not given
  double time_budget = 0;
};

/// Declares the command and its options, which fill `request`.
CLI::App& add_run_options(CLI::App& program, RunRequest& request);

/// The sizes of -n. Those that no number holds are the largest number.
std::vector<std::int64_t> sizes_of(const RunRequest& request);
/// A refusal of the largest number tells the size as it was typed.
std::string naming_typed_size(std::string sentence, const RunRequest& request);

/// Refuses options that do not work together. Throws Error{usage}.
void check_combinations(const RunRequest& request);

/// --interleave has to have something to take turns with.
void check_turns(const RunRequest& request, const run::Choice& choice);

run::Options session_options(const RunRequest& request);

/// The same request as words of a command line, without what is the business of the one who has it
/// run in turns: whose turn it is, the database and label, what is shown.
std::vector<std::string> words_of(const RunRequest& request);

/// The words that say what is launched.
std::vector<std::string> words_of_launches(const RunRequest& request);

/// To standard error, unless the person wants it quiet.
void remark(const RunRequest& request, const std::string& text);

}  // namespace warpmeter::cli
