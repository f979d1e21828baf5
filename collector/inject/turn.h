// SPDX-License-Identifier: MIT
// A device's counters belong to one process at a time: while one has them, CUPTI says HARDWARE_BUSY
// to every other. So the processes of one profiled program take turns, by two lock files a device
// in the session's folder: who has the turn holds one, who waits for it shares the other.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace warpmeter::inject {

class Turn {
 public:
  /// Without the folder (warpmeter has gone), or when the program has closed the files, there are
  /// no turns, and everything succeeds at once.
  Turn(const std::filesystem::path& folder, const std::string& device);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  /// Waits for it; where the process that has it cannot give it, no longer than `patience`. False
  /// when it did not come.
  bool take(std::chrono::milliseconds patience);
  void give();
  bool is_wanted() const;  ///< true if another process waits
  /// Tells those who wait that this process, which has the turn, cannot give it now.
  void keep();

 private:
  const std::filesystem::path kept_;  ///< a file that is there while the turn cannot be given
  int turn_ = -1, wanted_ = -1;
};

}  // namespace warpmeter::inject
