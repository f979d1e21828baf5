// SPDX-License-Identifier: MIT
// A device's counters belong to one process at a time: while one has them, CUPTI says HARDWARE_BUSY
// to every other. So the processes that warpmeter measures on a machine take turns, by two lock
// files a device: who has the turn holds one, who waits for it shares the other. The first one says
// who has the turn.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>

namespace warpmeter::inject {

/// The folder of the lock files, for all users of the machine; `session` where there can be none.
std::filesystem::path folder_of_turns(const std::filesystem::path& session);

/// A file that processes lock, with a line of text. A program may close it, as daemons close all
/// files, and its number may be a file of the program's own later: it counts as closed then.
class LockFile {
 public:
  explicit LockFile(std::filesystem::path path);
  ~LockFile() { close(); }
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  bool is_open() const;
  /// `operation` is flock()'s. False, with errno, when it failed: EWOULDBLOCK where another process
  /// has the lock.
  bool lock(int operation) const;
  std::string text() const;
  void write(const std::string& text) const;
  void close();

 private:
  const std::filesystem::path path_;
  int number_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

class Turn {
 public:
  /// Without the folder (warpmeter has gone), or when the program has closed the files, there are
  /// no turns, and everything succeeds at once. Processes of the same `session` wait for each other
  /// as long as it takes.
  Turn(const std::filesystem::path& folder, const std::string& device, std::string session);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  /// Waits for it; where the process that has it cannot give it, no longer than `patience`, and
  /// twelve times as long for one of another session. False when it did not come.
  bool take(std::chrono::milliseconds patience);
  void give();
  bool is_wanted() const;  ///< true if another process waits
  /// True if the process that had it before ended without giving it: the driver may not have freed
  /// the counters yet.
  bool was_left() const { return was_left_; }
  /// Tells those who wait that this process, which has the turn, cannot give it now.
  void keep();
  /// In a child that the program has forked: it would hold the lock that its parent leaves.
  void close();

 private:
  std::chrono::milliseconds limit(const std::string& holder,
                                  std::chrono::milliseconds patience) const;

  const std::string session_;
  LockFile turn_, wanted_;
  bool was_left_ = false;
};

}  // namespace warpmeter::inject
