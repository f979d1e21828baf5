// SPDX-License-Identifier: MIT
#include "collector/library/gpu_session.h"

#include <poll.h>

#include <chrono>
#include <cstdlib>
#include <utility>

namespace warpmeter::library {

GpuSession::GpuSession(GpuFunctions functions, inject::Config config)
    : functions_(std::move(functions)),
      config_(std::move(config)),
      listener_(folder_.path() / "socket", {[this](const auto& peer, const auto& hello) {
                                              peer_ = peer;
                                              program_ = hello.program;
                                              return config_;
                                            },
                                            [this](const auto& peer, auto&& message) {
                                              take(peer, std::forward<decltype(message)>(message));
                                            },
                                            [this](const auto& peer, const auto& fault) {
                                              if (peer_ && peer.number == peer_->number)
                                                has_ended_ = true;
                                              if (!fault.empty()) fault_ = fault;
                                            }}) {
  thread_ = listening_thread([this] { listen(); });
  connect();
}

GpuSession::~GpuSession() {
  is_over_ = true;
  thread_.join();
}

/// The variable is there for this call alone: children are not measured.
void GpuSession::connect() {
  setenv(inject::socket_variable, (folder_.path() / "socket").c_str(), 1);
  functions_.initialize();
  unsetenv(inject::socket_variable);
}

void GpuSession::take(const profile::Listener::Peer& peer, inject::Message&& message) {
  if (!peer_ || peer.number != peer_->number) return;
  if (std::holds_alternative<inject::Name>(message) ||
      std::holds_alternative<inject::Device>(message)) {
    known_.push_back(message);
  }
  if (recorder_ != nullptr && !recorder_->take(peer.number, std::move(message))) {
    fault_ = "a message makes no sense";
  }
}

void GpuSession::listen() {
  while (!is_over_) {
    std::unique_lock lock(mutex_);
    std::vector<pollfd> waiting = listener_.descriptors();
    lock.unlock();
    poll(waiting.data(), waiting.size(), static_cast<int>(listening_turn.count()));
    lock.lock();
    hear();
    if (has_ended_) return;
    if (recorder_ != nullptr) recorder_->store();
  }
}

bool GpuSession::hear() {
  try {
    return listener_.listen(std::chrono::milliseconds(0));
  } catch (const std::exception& error) {
    fault_ = error.what();
    has_ended_ = true;
  }
  return false;
}

void GpuSession::begin(profile::Recorder& recorder) {
  {
    const std::lock_guard lock(mutex_);
    if (!peer_ || has_ended_) {
      throw Error(ExitCode::no_hardware, "the library that counts on the GPU does not answer" +
                                             (fault_.empty() ? "" : ": " + fault_));
    }
    recorder.begin_pass({profile::Pass::Kind::counters, 1, config_.counters});
    recorder.meet(peer_->number, peer_->process, program_);
    for (const inject::Message& message : known_) {
      recorder.take(peer_->number, inject::Message(message));
    }
    recorder_ = &recorder;
  }
  functions_.start();
}

/// Messages of earlier calls are in the connection already.
void GpuSession::end() {
  functions_.stop();
  const std::lock_guard lock(mutex_);
  while (hear()) {
  }
  recorder_ = nullptr;
  if (!fault_.empty()) throw Error(ExitCode::file, "the range's messages are broken: " + fault_);
}

GpuRange::GpuRange(GpuSession& session, profile::RecorderOptions options)
    : session_(session), recorder_(std::move(options)) {
  session_.begin(recorder_);
}

GpuRange::~GpuRange() {
  if (!is_open_) return;
  try {
    session_.end();
  } catch (const Error&) {
    return;  // nobody reads it
  }
}

Ended GpuRange::end() {
  is_open_ = false;
  session_.end();
  return finish(recorder_);
}

}  // namespace warpmeter::library
