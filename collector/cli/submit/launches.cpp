// SPDX-License-Identifier: MIT
// The launches that a `run` would measure, found without measuring: its own options read its words.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "collector/cli/backends.h"
#include "collector/cli/options.h"
#include "collector/cli/request/run_request.h"
#include "collector/cli/run/plan.h"
#include "collector/cli/submit/request.h"
#include "collector/cli/usage.h"
#include "collector/profile/program.h"

namespace warpmeter::cli {
namespace {

double work_of(const kernels::Family& family, const kernels::Variant& variant, std::int64_t size) {
  auto all = static_cast<double>(family.footprint(size));
  if (variant.work) {
    const kernels::Work work = variant.work(size);
    all += static_cast<double>(work.bytes_read + work.bytes_written + work.flops);
  }
  return all;
}

RunRequest parsed_run(const std::vector<std::string>& words) {
  RunRequest request;
  CLI::App program("", "warpmeter");
  add_run_options(program, request);
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  reversed.emplace_back("run");
  try {
    program.parse(reversed);
  } catch (const CLI::ParseError& refusal) {
    throw usage_error(program, refusal);
  }
  return request;
}

/// A program that is named from the folder of the command has to be there; others may be where only
/// the nodes have them.
void check_program(const std::vector<std::string>& command, std::size_t place) {
  if (place < command.size() && command[place] == "--") ++place;
  if (place >= command.size()) return;
  const std::string& name = command[place];
  if (name.find('/') != std::string::npos && name.front() != '/') profile::find_program(name);
}

}  // namespace

void check_command(const std::vector<std::string>& command) {
  const std::string measuring[] = {"run", "profile", "model"};
  if (command.empty()) {
    throw Error(ExitCode::usage,
                "submit needs the command that is to be measured, after --: "
                "warpmeter submit -- run transpose");
  }
  if (std::find(std::begin(measuring), std::end(measuring), command[0]) == std::end(measuring)) {
    throw Error(
        ExitCode::usage,
        "after -- stands a command that measures: run, profile or model, not '" + command[0] + "'");
  }
  std::size_t end = command.size();
  if (command[0] == "profile") {  // the words after the program are its own
    CLI::App program("", "warpmeter");
    std::vector<std::string> words = {"warpmeter"};
    words.insert(words.end(), command.begin(), command.end());
    add_profile(program, words);
    end = words_before_program(program, words) - 1;
  }
  for (std::size_t i = 1; i < end; ++i) {
    const std::string name = command[i].substr(0, command[i].find('='));
    for (const char* refused : {"--db", "--dry-run", "--watch", "--against", "--continue",
                                "--launches", "--list-passes", "--as"}) {
      if (name != refused) continue;
      throw Error(ExitCode::usage,
                  name +
                      " does not go with submit, where each task measures into a database of "
                      "its own and ends: leave it out");
    }
    if (command[0] == "run" && name == "--lines") {
      throw Error(ExitCode::usage,
                  "--lines needs its run in one piece, and a task may be cut off: leave it out");
    }
  }
  if (command[0] == "run") {
    const std::vector<std::string> words(command.begin() + 1, command.end());
    check_combinations(parsed_run(words));
    planned_launches(words);
  }
  if (command[0] == "profile") check_program(command, end);
}

std::vector<PlannedLaunch> planned_launches(const std::vector<std::string>& words) {
  RunRequest request = parsed_run(words);
  request.quiet = true;
  request.no_progress = true;
  request.files.files = take_files(request.selectors);
  FileClaims files;
  const std::vector<family::FamilySpec> specs = specs_of(request.files, request.sizes, files);
  const std::vector<std::int64_t> sizes = sizes_of(request);
  schema::Device any;  // which launches there are does not depend on it
  any.backend = "model";
  any.compute_capability = 90;
  const Families families = families_of(request, specs, any);
  const run::Choice choice = run::choose(families.all, request.selectors, sizes);
  std::vector<PlannedLaunch> launches;
  for (const run::Selection& selection : choice.selections) {
    const kernels::Family& family = *selection.family;
    for (const std::int64_t size : selection.sizes) {
      for (const kernels::Variant* variant : selection.variants) {
        launches.push_back({launch_line(family, *variant, size), family.name, variant->name, size,
                            work_of(family, *variant, size)});
      }
    }
  }
  return launches;
}

}  // namespace warpmeter::cli
