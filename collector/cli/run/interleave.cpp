// SPDX-License-Identifier: MIT
// A build is a program, so a turn is a process. That is what makes the comparison sound: each turn
// has its own addresses, context and clocks, and what a single session shifts its times by averages
// out over the rounds (reports/statistics.h). The runs of each build get one label, and `compare
// --by label` takes them together.
#include "collector/cli/run/interleave.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "base/output.h"
#include "collector/cli/arguments.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/terminal.h"
#include "reports/compare/compare.h"
#include "schema/store.h"

extern char** environ;

namespace warpmeter::cli {
namespace {

/// One turn as a command of the program.
std::vector<std::string> words_of_a_turn(const BuildTurns& turns, const std::string& program,
                                         const std::string& label) {
  std::vector<std::string> words = {program,   "run", "--db",    turns.database,
                                    "--label", label, "--quiet", "--no-progress"};
  words.insert(words.end(), turns.words.begin(), turns.words.end());
  return words;
}

/// The program's exit code; standard output is ours.
int run_turn(std::vector<std::string> words) {
  const std::string program = words.front();
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t id = 0;
  if (const int error =
          posix_spawn(&id, program.c_str(), nullptr, nullptr, arguments.data(), environ)) {
    throw Error(ExitCode::usage, fmt::format("{} cannot be run ({}): name a build of warpmeter",
                                             program, std::strerror(error)));
  }
  int status = 0;
  while (waitpid(id, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

bool has_runs(const std::string& database, const std::string& label) {
  if (!std::filesystem::exists(database)) return false;
  const schema::Rows rows = schema::Reader(database).query(
      "SELECT 1 FROM runs WHERE label = :label LIMIT 1", {{":label", label}});
  return !rows.rows.empty();
}

void refuse_used_label(const BuildTurns& turns, const std::string& label) {
  if (!has_runs(turns.database, label)) return;
  throw Error(
      ExitCode::usage,
      fmt::format("there are runs labelled '{}' already, which would be compared with the new "
                  "ones: choose another --label",
                  label));
}

std::string default_label() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("turns-{:%Y%m%d-%H%M%S}", parts);
}

}  // namespace

ExitCode interleave_builds(const BuildTurns& turns) {
  const std::string stem = turns.label.empty() ? default_label() : turns.label;
  const std::string labels[] = {stem + "-base", stem + "-contender"};
  check_label(labels[1]);
  for (const std::string& label : labels) refuse_used_label(turns, label);
  if (access(turns.other.c_str(), X_OK) != 0 || std::filesystem::is_directory(turns.other)) {
    throw Error(
        ExitCode::usage,
        fmt::format("--against '{}' is no program that can be run: name a build of warpmeter",
                    turns.other));
  }
  catch_interrupts();
  const std::string programs[] = {std::filesystem::absolute(turns.other).string(), this_program()};
  ExitCode code = ExitCode::done;
  for (std::int64_t round = 1; round <= turns.rounds && !interrupted(); ++round) {
    for (int side = 0; side < 2 && !interrupted(); ++side) {
      if (!turns.quiet) {
        say(fmt::format("round {} of {}: {}\n", round, turns.rounds,
                        side == 0 ? turns.other : "this build"));
      }
      const int ended = run_turn(words_of_a_turn(turns, programs[side], labels[side]));
      if (interrupted()) break;
      if (ended == static_cast<int>(ExitCode::kernel)) {
        code = ExitCode::kernel;  // the other launches are measured all the same
      } else if (ended != 0) {
        throw Error(ended < 0 ? ExitCode::kernel : static_cast<ExitCode>(ended),
                    fmt::format("{} ended with exit code {} in round {}; what it said is above",
                                programs[side], ended, round));
      }
      if (round == 1 && side == 0 && !has_runs(turns.database, labels[0])) {
        throw Error(ExitCode::usage,
                    fmt::format("{} stored no run in {}: --against needs a build of warpmeter",
                                programs[0], turns.database));
      }
    }
  }
  if (turns.quiet || interrupted()) return code;
  const schema::Reader reader(turns.database);
  const reports::Comparison comparison =
      reports::compare(reader, {reports::Key::label, {labels[0], labels[1]}});
  const std::size_t width =
      is_terminal(STDOUT_FILENO) ? static_cast<std::size_t>(terminal_width(STDOUT_FILENO)) : 0;
  Output output;
  output.write(reports::render(comparison, reports::Format::table, width));
  output.finish();
  const std::string again[] = {"warpmeter", "compare", "--db",    turns.database,
                               "--by",      "label",   labels[0], labels[1]};
  say(fmt::format("again: {}\n", shell_line(again)));
  return code;
}

}  // namespace warpmeter::cli
