// SPDX-License-Identifier: MIT
#include "collector/profile/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/child.h"
#include "base/error.h"

extern char** environ;

namespace warpmeter::profile {
namespace {

namespace fs = std::filesystem;

bool is_executable(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
}

Error not_startable(const std::string& name, const std::string& why) {
  return {ExitCode::usage, fmt::format("{} cannot be started: {}; name the program as you would "
                                       "in a shell",
                                       name, why)};
}

/// Our environment with `variables` in place of what they replace, as "NAME=VALUE".
std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (variables.count(text.substr(0, text.find('='))) == 0) entries.push_back(text);
  }
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

bool is_source(const fs::path& path) {
  std::error_code ignored;
  return path.extension() == ".cu" && fs::is_regular_file(path, ignored);
}

std::string what_to_make_of(const fs::path& source) {
  return fmt::format(
      "it is a source: nvcc -lineinfo -o {0} {1} makes the program ./{0} of it, and `warpmeter "
      "model {1}` runs its kernels alone",
      source.stem().string(), source.string());
}

}  // namespace

std::string Ending::in_words() const {
  if (signal == 0) return fmt::format("ended with exit code {}", exit_code);
  return fmt::format("was ended by signal {} ({})", signal, strsignal(signal));
}

fs::path find_program(const std::string& name) {
  std::error_code ignored;
  if (name.find('/') != std::string::npos) {
    if (is_executable(name)) return name;
    if (!fs::exists(name, ignored)) throw not_startable(name, "there is no such file");
    if (fs::is_directory(name, ignored)) throw not_startable(name, "it is a folder");
    if (is_source(name)) throw not_startable(name, what_to_make_of(name));
    throw not_startable(name, "it is not executable (chmod +x makes it so)");
  }
  if (is_source(name)) throw not_startable(name, what_to_make_of(name));
  const char* variable = std::getenv("PATH");
  const std::string path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= path.size() && !name.empty();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const fs::path folder = end > begin ? path.substr(begin, end - begin) : ".";
    if (is_executable(folder / name)) return folder / name;
    begin = end + 1;
  }
  std::error_code unknown;
  if (fs::is_directory(name, unknown)) throw not_startable(name, "it is a folder");
  throw not_startable(fmt::format("'{}'", name),
                      is_executable(name) ? "it is in this folder, not in PATH: write ./" + name
                                          : "no folder of PATH has it");
}

Program::Program(const std::vector<std::string>& words,
                 const std::map<std::string, std::string>& variables, const Streams& streams) {
  const fs::path file = find_program(words.front());
  std::vector<std::string> arguments = words, environment = environment_with(variables);
  const std::vector<char*> words_of_it = pointers(arguments),
                           variables_of_it = pointers(environment);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  // Without it the program would read and write what is ours.
  if (nothing < 0) {
    throw Error(ExitCode::file, fmt::format("{} is not started: /dev/null cannot be opened: {}",
                                            words.front(), std::strerror(errno)));
  }
  ChildStart start{file.c_str(), words_of_it.data(), variables_of_it.data()};
  if (!streams.input) start.input = nothing;
  if (!streams.output) start.output = start.error = nothing;
  const SignalsHeld held;
  start.blocked = held.before();
  start.dies_with_us = false;
  id_ = start_child(start);
  const int failure = errno;
  close(nothing);
  if (id_ < 0) throw not_startable(words.front(), std::strerror(failure));
  doomed_.emplace(id_);
}

Program::~Program() {
  if (poll()) return;
  kill(id_, SIGKILL);
  wait_for_child(id_);
  doomed_.reset();
}

std::optional<Ending> Program::poll() {
  int status = 0;
  if (!ending_ && waitpid(id_, &status, WNOHANG) == id_) {
    doomed_.reset();
    ending_ = WIFSIGNALED(status) ? Ending{0, WTERMSIG(status)} : Ending{WEXITSTATUS(status), 0};
  }
  return ending_;
}

void Program::send(int signal) const {
  if (!ending_) kill(id_, signal);
}

}  // namespace warpmeter::profile
