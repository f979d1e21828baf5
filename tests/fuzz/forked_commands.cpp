// SPDX-License-Identifier: MIT
// Command lines of warpmeter, each in a process that is forked from one which has read the
// catalogue already. That takes a quarter of the time of starting the program.
//
//     forked_commands DATABASE SECONDS
//
// A line of standard input is an object {"folder", "output", "words"}: where the command runs, the
// file that gets its output (its messages go to "output.error"), and its words behind the program's
// name. The answer is a line: the exit code, or minus the number of the signal, and the most memory
// in kilobytes.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/stack.h"
#include "collector/cli/options.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

/// As main() does it. An exception that is no Error is an answer only to a database (see main.cpp).
int status_of(const std::vector<std::string>& words) {
  CLI::App program;
  const std::vector<Command> commands = add_commands(program, words);
  std::vector<const char*> texts;
  for (const std::string& word : words) texts.push_back(word.c_str());
  try {
    program.parse(static_cast<int>(texts.size()), texts.data());
    const auto chosen = std::find_if(commands.begin(), commands.end(),
                                     [](const Command& one) { return one.app->parsed(); });
    return chosen == commands.end() ? 2 : static_cast<int>(chosen->run());
  } catch (const CLI::ParseError&) {
    return static_cast<int>(ExitCode::usage);
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(words.at(1) == "run" ? ExitCode::kernel : ExitCode::file);
  }
}

/// In the child.
int run(const nlohmann::json& request, unsigned most_seconds) {
  alarm(most_seconds);
  const auto path = request.at("output").get<std::string>();
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  if (chdir(request.at("folder").get<std::string>().c_str()) != 0 ||
      dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0) != 0 ||
      dup2(open(path.c_str(), flags, 0600), 1) != 1 ||
      dup2(open((path + ".error").c_str(), flags, 0600), 2) != 2) {
    return 99;
  }
  auto words = request.at("words").get<std::vector<std::string>>();
  words.insert(words.begin(), "warpmeter");
  const int status = with_large_stack([&] { return status_of(words); });
  std::fflush(nullptr);
  return status;
}

int serve(const std::string& database, unsigned most_seconds) {
  schema::Reader{database};  // catalogue and views are read once
  for (std::string line; std::getline(std::cin, line);) {
    const pid_t child = fork();
    if (child == 0) _exit(run(nlohmann::json::parse(line), most_seconds));
    int status = 0;
    rusage used{};
    if (wait4(child, &status, 0, &used) != child) return 1;
    std::cout << (WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)) << ' '
              << used.ru_maxrss << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace warpmeter::cli

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return warpmeter::cli::serve(argv[1], static_cast<unsigned>(std::atoi(argv[2])));
}
