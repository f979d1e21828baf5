// SPDX-License-Identifier: MIT
#include "tests/schema/fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace warpmeter::schema {

int start_child(const std::function<int()>& body) {
  const int process = fork();
  if (process != 0) return process;
  int status = 100;
  try {
    status = body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
  }
  _exit(status);
}

int wait_for(int process) {
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int status_of_child(const std::function<int()>& body) { return wait_for(start_child(body)); }

}  // namespace warpmeter::schema
