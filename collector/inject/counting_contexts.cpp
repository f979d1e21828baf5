// SPDX-License-Identifier: MIT
// The contexts of counter mode: which of them has the counters of its device, and which process of
// the program. CUPTI gives them to one context of one process at a time.
#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/error.h"
#include "collector/cupti/device.h"
#include "collector/cupti/profiler.h"
#include "collector/inject/counting.h"

namespace warpmeter::inject {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A process takes the counters in 0.3 s, so it keeps them for a while.
constexpr auto turn = 1s;
constexpr auto idle = 20ms;
/// For counters that another process could not give before.
constexpr auto brief = 50ms;
/// A launch that takes so long is named, should nothing else be heard of the program.
constexpr auto long_launch = 2s;

bool is_busy(const cupti::CounterSupport& support) {
  return support.unavailable.find("HARDWARE_BUSY") != std::string::npos;
}

}  // namespace

Counting::Context& Counting::context_of(CUcontext handle) {
  const auto [place, is_new] = contexts_.try_emplace(handle);
  Context& context = place->second;
  if (is_new) {
    api_.cuptiGetDeviceId(handle, &context.device);
    api_.cuptiGetContextId(handle, &context.number);
    announce(context.device);
  }
  return context;
}

/// Says which device it is, once.
void Counting::announce(std::uint32_t device) {
  if (devices_.count(device) != 0) return;
  schema::Device description;
  try {
    description = cupti::describe_device_by_driver(static_cast<int>(device));
    description.chip = cupti::chip_name(api_, static_cast<int>(device));
  } catch (const Error& error) {
    channel_.send(Problem{false, error.what()});
  }
  devices_[device] = description;
  channel_.send(Device{description});
}

/// Makes the device's counters ours; the watching thread begins with the first.
bool Counting::possess(std::uint32_t device) {
  Possession& possession =
      possessions_.try_emplace(device, folder_, devices_[device].uuid).first->second;
  if (possession.is_ours) return true;
  if (!possession.turn.take(possession.waited_in_vain ? brief : patience_)) {
    possession.waited_in_vain = true;
    return false;
  }
  possession.is_ours = true;
  possession.waited_in_vain = false;
  possession.since = possession.last_launch = Clock::now();
  if (!std::exchange(is_sharing_, true)) std::thread([this] { share(); }).detach();
  return true;
}

void Counting::open(CUcontext handle, Context& context) {
  close_sessions(context.device);  // CUPTI gives the counters to one context of a device at a time
  try {
    if (!context.plan) {
      const std::string& chip = devices_[context.device].chip;
      const auto device = static_cast<CUdevice>(context.device);
      cupti::CounterSupport support = cupti::probe_counters(api_, handle, device);
      // A process that has just ended may not have let go yet.
      for (int i = 0; i < 20 && is_busy(support); ++i) {
        std::this_thread::sleep_for(100ms);
        support = cupti::probe_counters(api_, handle, device);
      }
      context.refusal =
          chip.empty() ? "CUPTI does not know this device's chip" : support.unavailable;
      if (context.refusal.empty()) {
        context.plan = std::make_unique<cupti::Plan>(api_, chip, support.availability, counters_);
        if (context.plan->metrics().empty()) {
          context.refusal = fmt::format("{} has none of these counters", chip);
        }
      }
    }
    if (context.refusal.empty()) {
      context.session = std::make_unique<RangeSession>(api_, handle, *context.plan);
    }
  } catch (const Error& error) {
    context.refusal = error.what();
  }
  if (!context.refusal.empty()) channel_.send(Problem{false, context.refusal});
}

void Counting::close_sessions(std::uint32_t device) {
  for (auto& [handle, context] : contexts_) {
    if (context.device == device) context.session.reset();
  }
}

/// The context that has the device's counters; nullptr: none.
CUcontext Counting::holder_of(std::uint32_t device) const {
  for (const auto& [handle, context] : contexts_) {
    if (context.device == device && context.session) return handle;
  }
  return nullptr;
}

/// The name of work that may wait in that context: CUPTI lets go of the counters only when it has
/// ended. Empty for none.
std::string Counting::pending_on(std::uint32_t device) {
  const CUcontext holder = holder_of(device);
  return holder != nullptr ? waits_.pending(driver(), holder) : "";
}

void Counting::share() {
  std::uint32_t sent = 0;
  for (;;) {
    std::this_thread::sleep_for(idle);
    std::unique_lock lock(mutex_, long_launch);
    const std::uint32_t running = lock ? 0 : counted_.load();
    if (std::exchange(sent, running) != running) channel_.send(Running{running});
    if (!lock) continue;
    if (is_stopped_) return;
    give_wanted();
    const auto is_ours = [](const auto& entry) { return entry.second.is_ours; };
    if (!channel_.is_open() && std::none_of(possessions_.begin(), possessions_.end(), is_ours)) {
      is_sharing_ = false;
      return;
    }
  }
}

void Counting::give_wanted() {
  const auto now = Clock::now();
  for (auto& [device, possession] : possessions_) {
    const bool is_due = now - possession.since >= turn || now - possession.last_launch >= idle;
    const bool is_wanted = !channel_.is_open() || (is_due && possession.turn.is_wanted());
    if (!possession.is_ours || !is_wanted) continue;
    const CUcontext holder = holder_of(device);
    const bool can_ask = holder == nullptr || driver().cuCtxSetCurrent(holder) == CUDA_SUCCESS;
    if (!can_ask || !pending_on(device).empty()) {
      possession.turn.keep();
      continue;
    }
    close_sessions(device);
    possession.is_ours = false;
    possession.turn.give();
  }
}

}  // namespace warpmeter::inject
