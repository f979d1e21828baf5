// SPDX-License-Identifier: MIT
#include "base/child.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/endings.h"

namespace warpmeter {
namespace {

/// The child's part until it is the program. Returns errno where it does not become one.
int become(const ChildStart& start, pid_t parent, const sigset_t& blocked) {
  if (start.dies_with_us) prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before it was asked to take us along.
  if (start.dies_with_us && getppid() != parent) return ESRCH;
  if (start.has_group) setpgid(0, 0);
  const int streams[] = {start.input, start.output, start.error};
  for (int i = 0; i < 3; ++i) {
    if (streams[i] >= 0 && dup2(streams[i], i) < 0) return errno;
  }
  for (const int ignored : {SIGPIPE, SIGXFSZ}) std::signal(ignored, SIG_DFL);
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  execve(start.program, start.words, start.variables);
  return errno;
}

}  // namespace

pid_t start_child(const ChildStart& start) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  if (start.blocked) blocked = *start.blocked;
  const pid_t parent = getpid();
  volatile int failure = 0;
  const SignalsHeld held;
  // The memory is shared until the child is its program, as with posix_spawn(), which has no way to
  // ask for a signal when the parent dies.
  const pid_t child = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (child == 0) {
    failure = become(start, parent, blocked);
    _exit(127);
  }
  if (child < 0 || failure == 0) return child;
  wait_for_child(child);
  errno = failure;
  return -1;
}

int wait_for_child(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string read_to_end(int input, std::size_t most) {
  std::string text;
  char part[65536];
  for (ssize_t got = 0; (got = read(input, part, sizeof part)) != 0;) {
    if (got < 0 && errno != EINTR) break;
    if (got > 0) text.append(part, std::min(static_cast<std::size_t>(got), most - text.size()));
  }
  return text;
}

}  // namespace warpmeter
