// SPDX-License-Identifier: MIT
// Starts another program with an empty environment, or with its own, by each way that there is:
// starts HOW PROGRAM.
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#ifdef WARPMETER_NAMES_DRIVER
// As CUDA's own static library does, which opens it.
[[gnu::used]] const char* const driver = "libcuda.so.1";
#endif

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string how = argv[1];
  const char* program = argv[2];
  char* words[] = {argv[2], nullptr};
  char* nothing[] = {nullptr};
  pid_t child = 0;
  if (how == "posix_spawn") posix_spawn(&child, program, nullptr, nullptr, words, nothing);
  if (how == "posix_spawnp") posix_spawnp(&child, program, nullptr, nullptr, words, nothing);
  const bool is_shell = how == "system" || how == "popen";
  if (is_shell) clearenv();
  if (how == "system") return system(program);
  if (how == "popen") {
    FILE* stream = popen(program, "r");
    for (int c = fgetc(stream); c != EOF; c = fgetc(stream)) putchar(c);
    return pclose(stream);
  }
  if (child == 0 && (child = vfork()) == 0) {
    if (how == "execve") execve(program, words, nothing);
    if (how == "execle") execle(program, program, static_cast<char*>(nullptr), nothing);
    if (how == "execvpe") execvpe(program, words, nothing);
    if (how == "fexecve") fexecve(open(program, O_RDONLY | O_CLOEXEC), words, nothing);
    if (how == "execveat") execveat(AT_FDCWD, program, words, nothing, 0);
    if (how == "with environment") execl(program, program, static_cast<char*>(nullptr));
    environ = nothing;
    if (how == "execv") execv(program, words);
    if (how == "execvp") execvp(program, words);
    if (how == "execl") execl(program, program, static_cast<char*>(nullptr));
    if (how == "execlp") execlp(program, program, static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}
