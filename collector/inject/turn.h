// SPDX-License-Identifier: MIT
// A device's counters belong to one process at a time: while one has them, CUPTI says HARDWARE_BUSY
// to every other. So the processes of one profiled program take turns, by two lock files a device
// in the session's folder: who has the turn holds one, who waits for it shares the other.
#pragma once

#include <filesystem>
#include <string>

namespace warpmeter::inject {

class Turn {
 public:
  /// Without the folder (warpmeter has gone) there are no turns, and everything succeeds at once.
  Turn(const std::filesystem::path& folder, const std::string& device);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void take();  ///< waits for it
  void give();
  bool is_wanted() const;  ///< true if another process waits

 private:
  int turn_ = -1, wanted_ = -1;
};

}  // namespace warpmeter::inject
