// SPDX-License-Identifier: MIT
// Ranges on a GPU: the injected library as `warpmeter profile --from-start off` uses it. It has one
// connection for the process, and measures what is launched between cuProfilerStart and
// cuProfilerStop, which a range calls.
//
// Names and devices are sent once on a connection, hence each range's recorder hears the earlier
// ones again.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "collector/inject/protocol.h"
#include "collector/library/injected.h"
#include "collector/library/range.h"
#include "collector/profile/injector.h"
#include "collector/profile/listener.h"
#include "collector/profile/recorder.h"

namespace warpmeter::library {

class GpuSession {
 public:
  /// Connects. The config's metrics are those of all ranges. Throws Error.
  GpuSession(GpuFunctions functions, inject::Config config);
  ~GpuSession();
  GpuSession(const GpuSession&) = delete;
  GpuSession& operator=(const GpuSession&) = delete;

  const std::vector<std::string>& counters() const { return config_.counters; }
  /// The recorder hears of the launches from now on.
  void begin(profile::Recorder& recorder);
  /// It has heard of all launches before this call, and hears of no others. Throws Error.
  void end();

 private:
  void connect();
  void take(const profile::Listener::Peer& peer, inject::Message&& message);
  void listen();
  /// Takes some of what has come, with the lock. False where there was nothing.
  bool hear();

  const GpuFunctions functions_;
  const inject::Config config_;
  profile::PrivateFolder folder_;
  std::mutex mutex_;  ///< for what follows
  profile::Recorder* recorder_ = nullptr;
  std::optional<profile::Listener::Peer> peer_;
  std::string program_, fault_;
  std::vector<inject::Message> known_;  ///< names and devices
  bool has_ended_ = false;
  std::atomic<bool> is_over_{false};
  profile::Listener listener_;
  std::thread thread_;
};

class GpuRange final : public Range {
 public:
  /// Begins. The session outlives it. Throws Error.
  GpuRange(GpuSession& session, profile::RecorderOptions options);
  ~GpuRange() override;
  GpuRange(const GpuRange&) = delete;
  GpuRange& operator=(const GpuRange&) = delete;

  Ended end() override;

 private:
  GpuSession& session_;
  profile::Recorder recorder_;
  bool is_open_ = true;
};

}  // namespace warpmeter::library
