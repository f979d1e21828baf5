// SPDX-License-Identifier: MIT
// Profiling one run of a program, from its start to the last word of every process of it.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector/profile/program.h"
#include "collector/profile/receiver.h"

namespace warpmeter::profile {

struct Options {
  std::vector<std::string> words;  ///< the program and its arguments
  std::filesystem::path injector;  ///< the library
  bool is_preloaded =
      false;  ///< it answers the API where there is no GPU; else the driver loads it
  std::filesystem::path stand_ins;  ///< a folder of libraries for a preloaded one; empty: none
  std::filesystem::path socket;     ///< the socket's path; in a folder of ours
  bool all_processes = true;        ///< the program's children too
  Program::Streams streams;
  std::map<std::string, std::string> variables;  ///< variables for its environment
  std::optional<std::chrono::duration<double>> timeout;
  std::function<bool()> cancelled;                 ///< true: end the program, keep what there is
  std::function<void(pid_t)> met;                  ///< a process that uses CUDA; may be empty
  std::function<void(const std::string&)> remark;  ///< a line for the person, now
};

struct Outcome {
  Ending ending;
  bool timed_out = false, cancelled = false;
  int processes = 0;  ///< that used CUDA
  int lost = 0;       ///< those that closed their connection and went on, as daemons do
  int unended = 0;    ///< those that ended without a word: killed, by _exit(), or lost just before
  int faulty = 0;     ///< those that we cut off because they broke the protocol
};

/// Runs the program and gives `receiver` all that is heard. Throws Error{usage}
/// when the program cannot be started, Error{file} when no socket can be made.
///
/// A program that is to end (timeout, Ctrl-C) gets SIGTERM, three seconds later SIGKILL, and so
/// does every process of it that is connected. When the program has ended and processes that it
/// started have not, they are waited for.
Outcome profile(const Options& options, const inject::Config& config, Receiver& receiver);

}  // namespace warpmeter::profile
