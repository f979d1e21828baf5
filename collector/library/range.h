// SPDX-License-Identifier: MIT
// A measured part of this process. It is to the database what `warpmeter profile` makes of a whole
// program: the same messages over the same socket (inject/protocol.h), the same recorder, one run.
// Here both ends of the socket are in one process: a thread listens.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "collector/inject/protocol.h"
#include "collector/library/injected.h"
#include "collector/profile/injector.h"
#include "collector/profile/listener.h"
#include "collector/profile/recorder.h"

namespace warpmeter::library {

/// The end of a range.
struct Ended {
  std::optional<std::int64_t> run;  ///< nullopt: nothing was launched
  std::string failure;              ///< the first launch that failed; empty: none has
  std::vector<std::string> remarks;
};

class Range {
 public:
  /// Begins. `injected` outlives it. Throws Error.
  Range(const Injected& injected, const inject::Config& config, profile::RecorderOptions options);
  /// Leaves what was measured unread where end() was not called.
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

  /// Waits for the launches, and stores them. Throws Error.
  Ended end();

 private:
  void listen();
  void stop();  ///< the thread has heard all

  const Injected& injected_;
  const inject::Config& config_;
  profile::PrivateFolder folder_;
  profile::Recorder recorder_;
  std::atomic<bool> is_over_{false};
  std::optional<Error> failure_;  ///< the listener's
  std::string fault_;
  bool is_open_ = false;
  profile::Listener listener_;
  std::thread thread_;
};

}  // namespace warpmeter::library
