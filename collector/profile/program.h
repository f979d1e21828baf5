// SPDX-License-Identifier: MIT
// Somebody else's program as a child of ours, with our standard streams.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/endings.h"

namespace warpmeter::profile {

/// How a program ended: with an exit code, or by a signal.
struct Ending {
  int exit_code = 0;
  int signal = 0;

  bool ok() const { return exit_code == 0 && signal == 0; }
  bool operator==(const Ending&) const = default;
  /// As a shell gives it: 128 + the signal.
  int status() const { return signal != 0 ? 128 + signal : exit_code; }
  /// "ended with exit code 3", "was ended by signal 6 (Aborted)"
  std::string in_words() const;
};

/// The file that a shell would run for `name`. Throws Error{usage} when there is none or it cannot
/// be executed.
std::filesystem::path find_program(const std::string& name);

/// A second signal ends it with us. It goes on when we are killed, as it would without us.
class Program {
 public:
  /// Which of our standard streams it shares; /dev/null takes the place of the others.
  struct Streams {
    bool input = true, output = true;  ///< output: standard error too
  };

  /// Starts `words` (the first one through find_program) with `variables` added to our environment.
  /// Throws Error{usage} when it cannot be started.
  Program(const std::vector<std::string>& words,
          const std::map<std::string, std::string>& variables, const Streams& streams);
  /// Kills it when it still runs.
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t id() const { return id_; }
  /// How it ended; nullopt while it runs.
  std::optional<Ending> poll();
  /// Sends a signal while it runs.
  void send(int signal) const;

 private:
  pid_t id_ = -1;
  std::optional<DoomedProcess> doomed_;
  std::optional<Ending> ending_;
};

}  // namespace warpmeter::profile
