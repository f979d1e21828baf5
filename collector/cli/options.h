// SPDX-License-Identifier: MIT
// A subcommand for main(), and how its options are declared.
//
// CLI11 reads the command line; these few functions fix what it leaves open, the same for every
// command: a value given twice counts the last time, a list is repeated or separated by commas and
// never swallows the argument after it, a wrong value throws Error{usage} with the text that was
// wrong and the nearest names.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "collector/cli/backends.h"

namespace CLI {
class App;
}

namespace warpmeter::cli {

/// A subcommand: its part of the command line, and what it does once that has been read. `run`
/// throws Error for what cannot continue.
struct Command {
  CLI::App* app = nullptr;
  std::function<ExitCode()> run;
};

/// One line of a command's examples: "warpmeter list kernels", "what can be measured".
struct Example {
  std::string command, meaning;
};

/// Adds a subcommand; its --help ends with the examples.
CLI::App& add_command(CLI::App& program, const std::string& name, const std::string& summary,
                      const std::vector<Example>& examples);

/// `names` is "-q,--quiet" for an option, "SQL" for a positional. `type` is shown in the help and
/// tells the shell's completion what to offer: "FILE" files, "a|b|c" these words.
void add_flag(CLI::App& app, const std::string& names, bool& value, const std::string& description);
void add_text(CLI::App& app, const std::string& names, const std::string& type, std::string& value,
              const std::string& description);
void add_choice(CLI::App& app, const std::string& names, std::vector<std::string> choices,
                std::string& value, const std::string& description);
/// A whole number from `least` to `most`.
void add_count(CLI::App& app, const std::string& names, std::int64_t least, std::int64_t most,
               std::int64_t& value, const std::string& description);
/// A number of seconds greater than 0.
void add_seconds(CLI::App& app, const std::string& names, double& value,
                 const std::string& description);
/// The option may be repeated, or hold commas: -n 1,2 -n 3. `translate`: what becomes of a value.
void add_list(CLI::App& app, const std::string& names, const std::string& type,
              std::vector<std::string>& values, const std::string& description,
              const std::function<std::string(const std::string&)>& translate = nullptr);
/// -m,--metrics: a list of metrics, where nvprof's names become the catalogue's.
void add_metrics(CLI::App& app, std::vector<std::string>& values, const std::string& description);
/// The option may be repeated and is never split: --param a=1 --param b=2.
void add_repeated(CLI::App& app, const std::string& names, const std::string& type,
                  std::vector<std::string>& values, const std::string& description);
/// Positionals, any number of them.
void add_arguments(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                   const std::string& description);
/// --db FILE, or $WARPMETER_DB, or warpmeter.db.
void add_database(CLI::App& app, std::string& path,
                  const std::string& description = "The database (default: warpmeter.db)");

/// --as COMMAND: what is recorded with the run instead of the words that were read.
void add_recorded_as(CLI::App& app, std::string& command_line);

/// How many of `words` are ours: `profile` ends our command line at its PROGRAM, whose own options
/// are none of ours, `submit` at --, and `nvprof` reads its own words. All of them for the other
/// commands.
std::size_t words_before_program(const CLI::App& program, const std::vector<std::string>& words);

/// True of a program's path that ends in "nvprof" or "warpmeter-nvprof": its words are nvprof's.
bool is_called_nvprof(std::string_view path);

/// All subcommands below. `words`: the whole command line.
std::vector<Command> add_commands(CLI::App& program, const std::vector<std::string>& words);

// The subcommands, one file each.
/// `words` are what was typed; they are recorded with the run. `open_gpu` is for tests.
Command add_run(CLI::App& program, const std::vector<std::string>& words, OpenGpu open_gpu = {});
/// `words`: the whole command line; those from words_before_program on are the program's.
Command add_profile(CLI::App& program, std::vector<std::string> words);
Command add_model(CLI::App& program, const std::string& command_line);
/// `words`: the whole command line; those behind `nvprof` are nvprof's.
Command add_nvprof(CLI::App& program, std::vector<std::string> words);
Command add_report(CLI::App& program);
Command add_explain(CLI::App& program);
Command add_compare(CLI::App& program);
Command add_check(CLI::App& program);
Command add_query(CLI::App& program);
Command add_history(CLI::App& program);
Command add_merge(CLI::App& program);
/// `words`: what was typed.
Command add_push(CLI::App& program, const std::vector<std::string>& words);
Command add_pull(CLI::App& program);
/// `words`: the whole command line; those after -- are the command that is submitted.
Command add_submit(CLI::App& program, const std::vector<std::string>& words);
Command add_runs(CLI::App& program);
Command add_list(CLI::App& program);
Command add_doctor(CLI::App& program);
Command add_mcp(CLI::App& program);
Command add_completion(CLI::App& program);

}  // namespace warpmeter::cli
