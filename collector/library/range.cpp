// SPDX-License-Identifier: MIT
#include "collector/library/range.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/with_noun.h"

namespace warpmeter::library {
namespace {

std::vector<std::string> remarks_of(const profile::Recorder& recorder) {
  std::vector<std::string> all(recorder.problems().begin(), recorder.problems().end());
  all.insert(all.end(), recorder.remarks().begin(), recorder.remarks().end());
  const auto add = [&](std::uint64_t launches, const std::string& reason) {
    all.push_back(fmt::format("{} not measured: {}",
                              with_noun(launches, "launch was", "launches were"), reason));
  };
  for (const auto& [reason, refusal] : recorder.refusals()) add(refusal.launches, reason);
  for (const auto& [reason, launches] : recorder.refused()) add(launches, reason);
  for (const inject::FailedCall& failed : recorder.failed_calls()) {
    if (!failed.is_of_model || recorder.is_told(failed)) continue;
    all.push_back(failed.was_ignored ? failed.call + "; the program went on as if it had worked"
                                     : failed.call);
  }
  return all;
}

std::string failure_of(const profile::Recorder& recorder) {
  return recorder.failures().empty() ? "" : recorder.failures().begin()->first;
}

}  // namespace

Ended finish(profile::Recorder& recorder) {
  const std::string failure = failure_of(recorder);
  recorder.finish_at_once(failure.empty() ? schema::RunOutcome::done : schema::RunOutcome::failed,
                          failure);
  return {recorder.run_id(), failure, remarks_of(recorder)};
}

ModelRange::ModelRange(const Injected& injected, const inject::Config& config,
                       profile::RecorderOptions options)
    : injected_(injected),
      config_(config),
      recorder_(std::move(options)),
      listener_(folder_.path() / "socket",
                {[this](const auto& peer, const auto& hello) {
                   recorder_.meet(peer.number, peer.process, hello.program);
                   return config_;
                 },
                 [this](const auto& peer, auto&& message) {
                   const bool is_known =
                       recorder_.take(peer.number, std::forward<decltype(message)>(message));
                   if (!is_known) fault_ = "a message makes no sense";
                 },
                 [this](const auto& peer, const auto& fault) {
                   if (!fault.empty()) fault_ = fault;
                   recorder_.forget(peer.number);
                   is_over_ = true;
                 }}) {
  recorder_.begin_pass({profile::Pass::Kind::counters, 1, config_.counters});
  thread_ = listening_thread([this] { listen(); });
  try {
    injected_.begin_range(folder_.path() / "socket");
    is_open_ = true;
  } catch (const Error&) {
    stop();
    throw;
  }
}

ModelRange::~ModelRange() {
  if (!thread_.joinable()) return;
  try {
    injected_.end_range();
  } catch (const Error&) {
    is_open_ = false;  // nobody hears of it
  }
  stop();
}

void ModelRange::listen() {
  try {
    while (!is_over_) {
      listener_.listen(listening_turn);
      recorder_.store();
    }
  } catch (const Error& error) {
    failure_ = error;
  }
}

/// The connection ends with the range: what it sent is read by then.
void ModelRange::stop() {
  if (!is_open_) is_over_ = true;
  thread_.join();
}

Ended ModelRange::end() {
  try {
    injected_.end_range();
  } catch (const Error&) {
    is_open_ = false;
    stop();
    throw;
  }
  stop();
  if (failure_) throw *failure_;
  if (!fault_.empty()) {
    throw Error(ExitCode::file, "the range's messages are broken: " + fault_);
  }
  return finish(recorder_);
}

}  // namespace warpmeter::library
