// SPDX-License-Identifier: MIT
// A measured part of this process. It is to the database what `warpmeter profile` makes of a whole
// program: the same messages over the same socket (inject/protocol.h), the same recorder, one run.
// Here both ends of the socket are in one process: a thread listens.
//
// The model connects anew for each range. The library that counts on a GPU has one connection for
// the whole process (gpu_session.h).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/endings.h"
#include "base/error.h"
#include "collector/inject/protocol.h"
#include "collector/library/injected.h"
#include "collector/profile/injector.h"
#include "collector/profile/listener.h"
#include "collector/profile/recorder.h"

namespace warpmeter::library {

/// The longest that a listening thread sleeps while nothing comes.
inline constexpr std::chrono::milliseconds listening_turn(100);

/// A thread that handles no signal: they are the program's, whose own threads they interrupt.
template <class Listen>
std::thread listening_thread(const Listen& listen) {
  const SignalsHeld held;
  return std::thread(listen);
}

/// The end of a range.
struct Ended {
  std::optional<std::int64_t> run;  ///< nullopt: nothing was launched
  std::string failure;              ///< the first launch that failed; empty: none has
  std::vector<std::string> remarks;
};

class Range {
 public:
  virtual ~Range() = default;
  /// Waits for the launches, and stores them. Throws Error.
  virtual Ended end() = 0;
};

/// Stores what a recorder has heard of a range.
Ended finish(profile::Recorder& recorder);

class ModelRange final : public Range {
 public:
  /// Begins. `injected` outlives it. Throws Error.
  ModelRange(const Injected& injected, const inject::Config& config,
             profile::RecorderOptions options);
  /// Leaves what was measured unread where end() was not called.
  ~ModelRange() override;
  ModelRange(const ModelRange&) = delete;
  ModelRange& operator=(const ModelRange&) = delete;

  Ended end() override;

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
