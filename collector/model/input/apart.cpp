// SPDX-License-Identifier: MIT
#include "collector/model/input/apart.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>

#include "base/child.h"
#include "base/endings.h"
#include "base/error.h"

namespace warpmeter::model {
namespace {

/// The child: it answers and ends, and nothing of this process is undone in it.
[[noreturn]] void answer(const std::function<std::string()>& work, pid_t parent, int output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGABRT}) {
    ::signal(number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  try {
    const std::string text = work();
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t wrote = write(output, text.data() + done, text.size() - done);
      if (wrote < 0 && errno != EINTR) _exit(1);
      if (wrote > 0) done += static_cast<std::size_t>(wrote);
    }
  } catch (const std::exception&) {
    _exit(1);
  }
  _exit(0);
}

}  // namespace

std::optional<std::string> work_apart(const std::function<std::string()>& work) {
  if (is_ending()) throw Interrupted();
  int ends[2] = {-1, -1};
  const pid_t parent = getpid();
  pid_t child = -1;
  if (pipe2(ends, O_CLOEXEC) == 0) {
    const SignalsHeld held;
    child = fork();
    if (child == 0) answer(work, parent, ends[1]);
    if (child > 0) setpgid(child, child);  // before anybody ends the group
  }
  if (child < 0) {
    const int failure = errno;
    for (const int end : ends) close(end);
    throw Error(ExitCode::file, fmt::format("no process can be started for the compiler: {}",
                                            std::strerror(failure)));
  }
  close(ends[1]);
  std::string text;
  int status = 0;
  {
    const DoomedGroup doomed(child);
    text = read_to_end(ends[0]);
    status = wait_for_child(child);
  }
  close(ends[0]);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  if (is_ending()) throw Interrupted();
  return std::nullopt;
}

}  // namespace warpmeter::model
