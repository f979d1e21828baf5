// SPDX-License-Identifier: MIT
// The functions of the C library that start programs, in front of its own: this library was
// preloaded. Each looks at what is to be started (started.h) and goes on to the one behind it. They
// may run in a child of vfork(), which shares its parent's memory: nothing is kept. Those that
// change the user or the root are here too, for a program that is started afterwards may be out of
// reach.
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "collector/runtime/device/behind.h"
#include "collector/runtime/entry/started.h"

#define WARPMETER_CALL extern "C" [[gnu::visibility("default")]]

namespace warpmeter::runtime {
namespace {

/// How many arguments execl() and its like have, the null pointer included.
std::size_t count_of(const char* first, va_list rest) {
  std::size_t count = 1;
  for (const char* word = first; word != nullptr; ++count) word = va_arg(rest, const char*);
  return count;
}

void take(char** words, const char* first, va_list& rest) {
  for (*words = const_cast<char*>(first); *words != nullptr;) *++words = va_arg(rest, char*);
}

/// "/proc/self/fd/7": what a descriptor leads to.
std::string path_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

}  // namespace
}  // namespace warpmeter::runtime

using warpmeter::runtime::behind;
using warpmeter::runtime::count_of;
using warpmeter::runtime::look_at_leaving;
using warpmeter::runtime::look_at_start;
using warpmeter::runtime::look_at_start_by_name;
using warpmeter::runtime::path_of;
using warpmeter::runtime::take;

/// The arguments of a function with (…, first, ...), as an array on the stack.
#define WARPMETER_TAKE_WORDS                                                   \
  va_list rest;                                                                \
  va_start(rest, first);                                                       \
  const std::size_t count = count_of(first, rest);                             \
  va_end(rest);                                                                \
  va_start(rest, first);                                                       \
  auto** words = static_cast<char**>(__builtin_alloca(count * sizeof(char*))); \
  take(words, first, rest);

WARPMETER_CALL int execve(const char* path, char* const* words, char* const* environment) noexcept {
  look_at_start(path, environment, true);
  return behind(&execve, "execve")(path, words, environment);
}

WARPMETER_CALL int execv(const char* path, char* const* words) noexcept {
  look_at_start(path, environ, true);
  return behind(&execv, "execv")(path, words);
}

WARPMETER_CALL int execvp(const char* name, char* const* words) noexcept {
  look_at_start_by_name(name, environ, true);
  return behind(&execvp, "execvp")(name, words);
}

WARPMETER_CALL int execvpe(const char* name, char* const* words,
                           char* const* environment) noexcept {
  look_at_start_by_name(name, environment, true);
  return behind(&execvpe, "execvpe")(name, words, environment);
}

WARPMETER_CALL int execveat(int folder, const char* path, char* const* words,
                            char* const* environment, int flags) noexcept {
  if (path[0] == '/' || folder == AT_FDCWD) {
    look_at_start(path, environment, true);
  } else {  // no string may live on in a parent whose memory this is
    const std::string whole = path_of(folder) + (path[0] != '\0' ? "/" : "") + path;
    look_at_start(whole.c_str(), environment, true);
  }
  return behind(&execveat, "execveat")(folder, path, words, environment, flags);
}

WARPMETER_CALL int fexecve(int file, char* const* words, char* const* environment) noexcept {
  look_at_start(path_of(file).c_str(), environment, true);
  return behind(&fexecve, "fexecve")(file, words, environment);
}

WARPMETER_CALL int execl(const char* path, const char* first, ...) noexcept {
  WARPMETER_TAKE_WORDS
  va_end(rest);
  return execv(path, words);
}

WARPMETER_CALL int execlp(const char* name, const char* first, ...) noexcept {
  WARPMETER_TAKE_WORDS
  va_end(rest);
  return execvp(name, words);
}

WARPMETER_CALL int execle(const char* path, const char* first, ...) noexcept {
  WARPMETER_TAKE_WORDS
  char* const* environment = va_arg(rest, char* const*);
  va_end(rest);
  return execve(path, words, environment);
}

WARPMETER_CALL int posix_spawn(pid_t* process, const char* path,
                               const posix_spawn_file_actions_t* actions,
                               const posix_spawnattr_t* attributes, char* const* words,
                               char* const* environment) {
  look_at_start(path, environment, false);
  return behind(&posix_spawn, "posix_spawn")(process, path, actions, attributes, words,
                                             environment);
}

WARPMETER_CALL int posix_spawnp(pid_t* process, const char* name,
                                const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const* words,
                                char* const* environment) {
  look_at_start_by_name(name, environment, false);
  return behind(&posix_spawnp, "posix_spawnp")(process, name, actions, attributes, words,
                                               environment);
}

WARPMETER_CALL int system(const char* command) {
  if (command != nullptr) look_at_start("/bin/sh", environ, false);
  return behind(&system, "system")(command);
}

WARPMETER_CALL FILE* popen(const char* command, const char* mode) {
  look_at_start("/bin/sh", environ, false);
  return behind(&popen, "popen")(command, mode);
}

// The calls that may take the right to reach warpmeter from a process.

WARPMETER_CALL int setuid(uid_t user) noexcept {
  look_at_leaving();
  return behind(&setuid, "setuid")(user);
}

WARPMETER_CALL int seteuid(uid_t user) noexcept {
  look_at_leaving();
  return behind(&seteuid, "seteuid")(user);
}

WARPMETER_CALL int setreuid(uid_t real, uid_t effective) noexcept {
  look_at_leaving();
  return behind(&setreuid, "setreuid")(real, effective);
}

WARPMETER_CALL int setresuid(uid_t real, uid_t effective, uid_t saved) noexcept {
  look_at_leaving();
  return behind(&setresuid, "setresuid")(real, effective, saved);
}

WARPMETER_CALL int chroot(const char* path) noexcept {
  look_at_leaving();
  return behind(&chroot, "chroot")(path);
}

#undef WARPMETER_TAKE_WORDS
#undef WARPMETER_CALL
