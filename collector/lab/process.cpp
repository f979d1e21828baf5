// SPDX-License-Identifier: MIT
#include "collector/lab/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <sstream>

#include "base/child.h"
#include "base/error.h"

extern char** environ;

namespace warpmeter::lab {
namespace {

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) {
      throw Error(ExitCode::file, fmt::format("no pipe can be made: {}", std::strerror(errno)));
    }
  }
  ~Pipe() {
    shut(0);
    shut(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void shut(int end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
};

/// Reads both until both have ended; false: the time was over before.
bool drain(Pipe& output, Pipe& error, Answer& answer, std::chrono::seconds limit) {
  using namespace std::chrono;
  const auto end = steady_clock::now() + limit;
  std::string* texts[] = {&answer.output, &answer.error};
  Pipe* pipes[] = {&output, &error};
  while (output.ends[0] >= 0 || error.ends[0] >= 0) {
    pollfd waits[] = {{output.ends[0], POLLIN, 0}, {error.ends[0], POLLIN, 0}};
    const auto left = duration_cast<milliseconds>(end - steady_clock::now());
    if (limit.count() > 0 && left.count() <= 0) return false;
    if (poll(waits, 2, limit.count() > 0 ? static_cast<int>(left.count()) + 1 : -1) < 0) {
      if (errno == EINTR) continue;
      return true;
    }
    for (int i = 0; i < 2; ++i) {
      if (waits[i].revents == 0) continue;
      std::array<char, 65536> bytes{};
      const ssize_t count = read(waits[i].fd, bytes.data(), bytes.size());
      if (count > 0) texts[i]->append(bytes.data(), static_cast<std::size_t>(count));
      if (count == 0 || (count < 0 && errno != EINTR)) pipes[i]->shut(0);
    }
  }
  return true;
}

}  // namespace

Answer ask(const std::vector<std::string>& words, const std::string& missing,
           std::chrono::seconds limit) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  Pipe output, error;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error.ends[1], STDERR_FILENO);
  pid_t id = 0;
  const int failure =
      posix_spawnp(&id, words.front().c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure == ENOENT) {
    throw Error(ExitCode::no_hardware, fmt::format("{} was not found: {}", words.front(), missing));
  }
  if (failure != 0) {
    throw Error(ExitCode::no_hardware,
                fmt::format("{} cannot be run: {}", words.front(), std::strerror(failure)));
  }
  output.shut(1);
  error.shut(1);
  Answer answer;
  const bool has_ended = drain(output, error, answer, limit);
  if (!has_ended) kill(id, SIGKILL);
  const int status = wait_for_child(id);
  constexpr int by_signal = 128;
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : by_signal + WTERMSIG(status);
  if (!has_ended) {
    answer.error = fmt::format("{} did not answer in {} s", words.front(), limit.count());
  }
  return answer;
}

std::string complaint(const Answer& answer) {
  std::istringstream lines(answer.error.empty() ? answer.output : answer.error);
  std::string words;
  for (std::string line; std::getline(lines, line);) {
    for (const char* prefix : {"sbatch: ", "squeue: ", "sinfo: ", "srun: ", "scancel: ",
                               "scontrol: ", "error: ", "fatal: "}) {
      if (line.rfind(prefix, 0) == 0) line.erase(0, std::strlen(prefix));
    }
    if (line.empty()) continue;
    words += (words.empty() ? "" : "; ") + line;
  }
  return words.empty() ? fmt::format("exit code {}", answer.status) : words;
}

}  // namespace warpmeter::lab
