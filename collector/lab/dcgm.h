// SPDX-License-Identifier: MIT
// DCGM's profiling, paused while somebody measures: as long as it runs it takes the counters of the
// machine's GPUs now and then, and nobody else gets them.
//
// The command `dcgmi profile` pauses and resumes it, for the whole machine. A process of its own
// does both: it holds one end of a pipe, and resumes when the other end is gone, however the
// measuring process ended. Several that measure at a time share the pause: each holds a lock, the
// first one pauses and the last one resumes. The locks are files in /tmp, a pair for each dcgmi.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace warpmeter::lab {

class DcgmPause {
 public:
  /// Call it before threads are started: it forks. `complain` is told when resuming failed. Throws
  /// Error{no_hardware} where there is no dcgmi, or it does not pause.
  explicit DcgmPause(std::function<void(const std::string&)> complain);
  /// Resumes, and waits for it.
  ~DcgmPause();
  DcgmPause(const DcgmPause&) = delete;
  DcgmPause& operator=(const DcgmPause&) = delete;

 private:
  std::function<void(const std::string&)> complain_;
  std::string dcgmi_;
  int life_ = -1;     ///< the watcher waits for this one's end
  int answers_ = -1;  ///< from the watcher, a line each: empty, or what failed
  pid_t watcher_ = 0;
};

}  // namespace warpmeter::lab
