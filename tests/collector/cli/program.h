// SPDX-License-Identifier: MIT
// The built program, as a person or a script uses it: words in, exit code and two streams out.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace warpmeter::cli {

/// How a program is started.
struct Start {
  std::vector<std::string> words;                       ///< without the program's own name
  std::filesystem::path folder;                         ///< it runs there
  std::map<std::string, std::string> environment = {};  ///< in addition to ours
  std::string input = {};                               ///< for standard input
  std::string output = {};          ///< a file for standard output instead of a pipe
  std::string error = {};           ///< a file for standard error instead of a pipe
  bool output_is_terminal = false;  ///< standard output is a terminal of 80 columns
  bool error_is_terminal = false;   ///< standard error is one
  std::string input_file = {};      ///< a file for standard input instead of a pipe
  std::size_t largest_file = 0;     ///< bytes, as ulimit -f sets it; 0: no limit
  std::size_t most_files = 0;       ///< open at a time, as ulimit -n sets it; 0: no limit
  std::size_t most_stack = 0;       ///< bytes, as ulimit -s sets it; 0: as ours
};

/// How it ended.
struct Outcome {
  int exit_code = -1;  ///< -1: a signal ended it
  int signal = 0;
  std::string output, error;
};

/// A running program. Killed when it goes out of scope, or after two minutes.
class Process {
 public:
  explicit Process(const Start& start);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return id_; }
  /// Reads both streams to their ends and waits.
  Outcome wait();
  /// Reads standard error until it contains `text`; false when it ended without.
  bool wait_for_error(const std::string& text);
  /// Closes our end of its standard output, as `head` does when it has seen enough.
  void close_output();

 private:
  bool read_some();

  pid_t id_ = -1;
  int output_ = -1, error_ = -1;
  Outcome outcome_;
};

/// Starts and waits.
Outcome run_program(const Start& start);

}  // namespace warpmeter::cli
