// SPDX-License-Identifier: MIT
// A program as a child of this process. A tool of ours dies with the thread that starts it: kill -9
// leaves nothing behind. Processes that the child starts by itself are its own business.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>

namespace warpmeter {

struct ChildStart {
  const char* program = nullptr;            ///< a path
  char* const* words = nullptr;             ///< the program's name first, null last
  char* const* variables = nullptr;         ///< null last
  int input = -1, output = -1, error = -1;  ///< for its standard streams; -1: ours
  bool has_group = false;                   ///< it is a process group of its own
  /// The signals that it blocks; ours when not given. It ignores neither SIGPIPE nor SIGXFSZ.
  std::optional<sigset_t> blocked = {};
  bool dies_with_us = true;
};

/// The child's number; -1 with errno where the program cannot be started.
pid_t start_child(const ChildStart& start);

/// Waits for the child's end; its status as waitpid() gives it.
int wait_for_child(pid_t child);

/// All bytes until the other end is closed; those past the first `most` are dropped.
std::string read_to_end(int input, std::size_t most = std::string::npos);

}  // namespace warpmeter
