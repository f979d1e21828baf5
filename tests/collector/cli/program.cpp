// SPDX-License-Identifier: MIT
#include "tests/collector/cli/program.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace warpmeter::cli {
namespace {

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    read = ends[0];
    write = ends[1];
  }
};

/// A terminal: the program writes at one end, we read at the other.
Pipe terminal() {
  Pipe ends;
  close(ends.read);
  close(ends.write);
  winsize size{};
  size.ws_col = 80;
  if (openpty(&ends.read, &ends.write, nullptr, nullptr, &size) != 0) {
    throw std::runtime_error("openpty failed");
  }
  return ends;
}

/// In the child: never returns.
[[noreturn]] void become_program(const Start& start, int input, int output, int error) {
  dup2(start.input_file.empty() ? input : open(start.input_file.c_str(), O_RDONLY), STDIN_FILENO);
  dup2(start.output.empty() ? output : open(start.output.c_str(), O_WRONLY), STDOUT_FILENO);
  dup2(start.error.empty() ? error : open(start.error.c_str(), O_WRONLY), STDERR_FILENO);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGPIPE, SIGXFSZ}) {
    std::signal(signal, SIG_DFL);
  }
  unsetenv("WARPMETER_DB");
  for (const auto& [name, value] : start.environment) setenv(name.c_str(), value.c_str(), 1);
  if (chdir(start.folder.c_str()) != 0) _exit(120);
  std::vector<std::string> words = start.words;
  words.insert(words.begin(), "warpmeter");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  alarm(120);
  if (start.largest_file > 0) {
    const rlimit limit = {start.largest_file, start.largest_file};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (start.most_files > 0) {
    const rlimit limit = {start.most_files, start.most_files};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (start.most_stack > 0) {
    const rlimit limit = {start.most_stack, start.most_stack};
    setrlimit(RLIMIT_STACK, &limit);
  }
  execv(WARPMETER_PROGRAM, arguments.data());
  _exit(121);
}

}  // namespace

Process::Process(const Start& start) {
  const Pipe input, output = start.output_is_terminal ? terminal() : Pipe(),
                    error = start.error_is_terminal ? terminal() : Pipe();
  id_ = fork();
  if (id_ < 0) throw std::runtime_error("fork failed");
  if (id_ == 0) become_program(start, input.read, output.write, error.write);
  close(input.read);
  close(output.write);
  close(error.write);
  output_ = output.read;
  error_ = error.read;
  // The text that tests send fits into a pipe.
  if (write(input.write, start.input.data(), start.input.size()) < 0) {
    throw std::runtime_error("standard input was not taken");
  }
  close(input.write);
}

Process::~Process() {
  if (id_ > 0) {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  close_output();
  if (error_ >= 0) close(error_);
}

void Process::close_output() {
  if (output_ >= 0) close(std::exchange(output_, -1));
}

/// False when both streams have ended.
bool Process::read_some() {
  if (output_ < 0 && error_ < 0) return false;
  pollfd waiting[] = {{output_, POLLIN, 0}, {error_, POLLIN, 0}};
  if (poll(waiting, 2, -1) < 0) return true;
  const auto drain = [](int& descriptor, short events, std::string& text) {
    if (descriptor < 0 || events == 0) return;
    std::array<char, 65536> buffer{};
    const ssize_t bytes = read(descriptor, buffer.data(), buffer.size());
    if (bytes > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(bytes));
    } else {
      close(std::exchange(descriptor, -1));
    }
  };
  drain(output_, waiting[0].revents, outcome_.output);
  drain(error_, waiting[1].revents, outcome_.error);
  return true;
}

bool Process::wait_for_error(const std::string& text) {
  while (outcome_.error.find(text) == std::string::npos) {
    if (error_ < 0 || !read_some()) return false;
  }
  return true;
}

Outcome Process::wait() {
  while (read_some()) {
  }
  int status = 0;
  waitpid(id_, &status, 0);
  id_ = -1;
  if (WIFEXITED(status)) outcome_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
  return outcome_;
}

Outcome run_program(const Start& start) { return Process(start).wait(); }

}  // namespace warpmeter::cli
