// SPDX-License-Identifier: MIT
// The program: its commands, one file each; what the command line says; one of them runs. It
// reports failures in one sentence and an exit code (base/error.h).
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/endings.h"
#include "base/error.h"
#include "base/output.h"
#include "base/stack.h"
#include "base/temporary.h"
#include "base/utf8.h"
#include "base/with_noun.h"
#include "collector/cli/formats.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/options.h"
#include "collector/cli/passwords.h"
#include "collector/cli/terminal.h"
#include "collector/cli/usage.h"
#include "collector/cli/version.h"

// The texts that cmake/licences.cmake collects.
extern "C" const char warpmeter_licences[], warpmeter_licences_end[];

namespace warpmeter::cli {
namespace {

constexpr const char* description =
    "warpmeter measures how the variants of a CUDA kernel use memory, on a GPU or on a model of\n"
    "one that executes their PTX, and keeps every figure in SQLite.\n";

constexpr const char* examples =
    "Examples:\n"
    "  warpmeter run transpose           measure a family's variants, compare them\n"
    "  warpmeter profile ./app           measure the kernels of any CUDA program\n"
    "  warpmeter explain                 which line costs too much, why, what would help\n"
    "  warpmeter report -o report.md     the last run as markdown\n"
    "  warpmeter query comparison        a view of the database; or any SQL that reads\n"
    "  warpmeter merge a.db b.db -o c.db join the databases of several machines\n"
    "\n";

/// A line an exit code.
std::string exit_code_text() {
  std::string text = "Exit codes:";
  for (const ExitCodeInfo& info : exit_codes) {
    text += fmt::format("\n  {:<32}{}", info.number, info.brief);
  }
  return text;
}

std::string_view licences() {
  return {warpmeter_licences,
          static_cast<std::size_t>(warpmeter_licences_end - warpmeter_licences)};
}

ExitCode print(const std::string& text) {
  Output output;
  output.write(text);
  output.finish();
  return ExitCode::done;
}

/// Commands whose figures all come from a database, which may be a stranger's.
bool only_reads(std::string_view command) {
  constexpr std::string_view names[] = {"report",  "explain", "compare", "check",
                                        "history", "query",   "merge",   "list"};
  return std::find(std::begin(names), std::end(names), command) != std::end(names);
}

ExitCode run_command(const std::vector<std::string>& words) {
  CLI::App program(description, "warpmeter");
  program.footer(examples + exit_code_text());
  program.get_formatter()->column_width(34);
  program.get_formatter()->label("SUBCOMMAND", "COMMAND");
  program.require_subcommand(0, 1);  // after a command, `runs` is a word like any other
  bool wants_licences = false;
  program.set_version_flag("--version", version_line(), "The version, git revision, CUDA version");
  program.add_flag("--licences", wants_licences, "The licences of all linked libraries")
      ->trigger_on_parse();

  const std::vector<Command> commands = add_commands(program, words);

  try {
    std::vector<const char*> ours;
    const std::size_t count = words_before_program(program, words);
    for (std::size_t i = 0; i < count; ++i) ours.push_back(words[i].c_str());
    program.parse(static_cast<int>(count), ours.data());
  } catch (const CLI::CallForHelp&) {
    return print(program.help());
  } catch (const CLI::CallForVersion& version) {
    return print(fmt::format("{}\n{}", version.what(), wants_licences ? licences() : ""));
  } catch (const CLI::ParseError& refusal) {
    throw usage_error(program, refusal);
  }
  if (wants_licences) return print(std::string(licences()));
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    take_format_of_file(*command.app);
    try {
      return command.run();
    } catch (const std::bad_alloc&) {
      throw out_of_memory(*command.app);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& unexpected) {
      if (!only_reads(command.app->get_name())) throw;
      throw Error(
          ExitCode::file,
          fmt::format("the database holds something that warpmeter does not write ({}): use "
                      "a copy that nobody has changed",
                      unexpected.what()));
    }
  }
  throw no_command(program);
}

int complain(ExitCode code, const char* sentence) {
  say(Colour::red, "warpmeter:", fmt::format(" {}\n", sentence));
  return static_cast<int>(code);
}

/// With fewer, a command fails in its middle, and not always by that name.
void check_open_files() {
  constexpr std::size_t needed = 24;
  std::vector<int> opened;
  while (opened.size() < needed) {
    const int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) break;
    opened.push_back(descriptor);
  }
  for (const int descriptor : opened) close(descriptor);
  if (opened.size() == needed) return;
  throw Error(ExitCode::file,
              fmt::format("only {} can be open at a time, and a command may need {}; "
                          "raise the limit: ulimit -n 1024",
                          with_noun(opened.size(), "more file"), needed));
}

int status_of(const std::vector<std::string>& words) {
  try {
    check_open_files();
    clear_left_folders();
    return static_cast<int>(run_command(words));
  } catch (const Interrupted& interrupted) {
    return static_cast<int>(interrupted.code());
  } catch (const Error& error) {
    return complain(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return complain(ExitCode::file, "this machine has too little memory for that");
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string path = printable(error.path1().string());
    return complain(ExitCode::file, fmt::format("{}: {}", path, error.code().message()).c_str());
  } catch (const std::exception& error) {
    return complain(ExitCode::kernel, error.what());
  }
}

}  // namespace
}  // namespace warpmeter::cli

int main(int argc, char** argv) {
  using namespace warpmeter;
  std::vector<std::string> words(argv, argv + argc);
  if (cli::is_called_nvprof(words.front())) words.insert(words.begin() + 1, "nvprof");
  if (words.size() > 1 && words[1] == "help") {  // "help run" is "run --help"
    words.erase(words.begin() + 1);
    words.emplace_back("--help");
  }
  cli::hide_passwords(argc, argv);
  keep_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is noticed by the write
  catch_endings();
  cli::know_words(words);
  const int status = with_large_stack([&] { return cli::status_of(words); });
  cli::end_by_interrupt();
  return status;
}
