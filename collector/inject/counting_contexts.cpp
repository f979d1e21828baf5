// SPDX-License-Identifier: MIT
// The contexts of counter mode: which of them has the counters of its device, and which process of
// the program. CUPTI gives them to one context of one process at a time.
#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/error.h"
#include "collector/cupti/device.h"
#include "collector/cupti/passes.h"
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
constexpr auto between_looks = 20ms;

/// A process that has just ended may not have let go of the counters yet: where 14 took turns, one
/// that was killed had them for more than 2 s.
constexpr int tries = 20, tries_after_a_process = 100;
constexpr auto between_tries = 100ms;

bool is_busy(std::string_view words) { return words.find("HARDWARE_BUSY") != std::string::npos; }

cupti::CounterSupport find_free_counters(const cupti::CuptiApi& api, CUcontext handle,
                                         CUdevice device, int most) {
  cupti::CounterSupport support = cupti::find_counters(api, handle, device);
  for (int i = 0; i < most && is_busy(support.unavailable); ++i) {
    std::this_thread::sleep_for(between_tries);
    support = cupti::find_counters(api, handle, device);
  }
  return support;
}

/// Does what needs the counters, `most` times again while another process has them.
template <typename Action>
auto once_free(CUdevice device, int most, const Action& action) {
  for (int i = 0;; ++i) {
    try {
      return action();
    } catch (const Error& error) {
      if (i >= most || !is_busy(error.what())) {
        throw Error(error.code(), error.what() + cupti::sharing(device));
      }
      std::this_thread::sleep_for(between_tries);
    }
  }
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
    require_companion_();
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

/// How often to ask for counters that are busy.
int Counting::tries_on(std::uint32_t device) const {
  const auto place = possessions_.find(device);
  const bool was_left = place != possessions_.end() && place->second.turn.was_left();
  return was_left ? tries_after_a_process : tries;
}

/// Makes the counters the context's. Why that cannot be; empty when it is done.
std::string Counting::open_session(CUcontext handle, Context& context) {
  const std::string name = pending_on(context.device);
  if (!name.empty()) return fmt::format("{} runs in the context that has the counters", name);
  if (!possess(context.device)) {
    return "another process has the counters and did not hand them over; --launch-timeout SECONDS "
           "waits longer";
  }
  open(handle, context);
  return context.refusal;
}

void Counting::open(CUcontext handle, Context& context) {
  close_sessions(context.device);  // CUPTI gives the counters to one context of a device at a time
  try {
    if (!context.plan) make_plan(handle, context);
    if (context.refusal.empty()) {
      context.unloads = unloads_;
      context.session =
          once_free(static_cast<CUdevice>(context.device), tries_on(context.device),
                    [&] { return std::make_unique<RangeSession>(api_, handle, *context.plan); });
      context.is_new_session = true;
    }
  } catch (const Error& error) {
    context.refusal = error.what();
  }
  if (!context.refusal.empty()) channel_.send(Problem{false, context.refusal});
}

/// Starts the counters for one launch. Throws Error{no_hardware}. At the first start of a session a
/// process that has just ended may still have them: on an H200 so it was for 4 of 8 processes.
void Counting::start(Context& context) {
  const int most = std::exchange(context.is_new_session, false) ? tries_on(context.device) : 0;
  once_free(static_cast<CUdevice>(context.device), most, [&] { context.session->start(); });
}

/// Leaves the context a plan for all its counters, or a refusal.
void Counting::make_plan(CUcontext handle, Context& context) {
  const std::string& chip = devices_[context.device].chip;
  const auto device = static_cast<CUdevice>(context.device);
  context.refusal = chip.empty() ? "CUPTI does not know this device's chip"
                                 : cupti::profiling_obstacle(api_, device);
  if (!context.refusal.empty()) return;
  context.plan = plan_for(context, counters_);
  if (context.availability.empty() && context.plan->needs_availability()) {
    const cupti::CounterSupport support =
        find_free_counters(api_, handle, device, tries_on(context.device));
    context.availability = support.availability;
    context.refusal = support.unavailable;
    if (context.refusal.empty()) context.plan = plan_for(context, counters_);
  }
  if (context.refusal.empty() && context.plan->metrics().empty()) {
    context.refusal = fmt::format("{} has none of these counters", chip);
  }
}

/// Why the memory of the context's device is not saved and restored around a pass; empty when it
/// is.
///
/// Where others write into it, their values would be lost: with NCCL between two GPUs the next
/// collective waited for ever. JAX reserves three quarters of a card: on an H200 a counted launch
/// of two passes did not end in 40 s, and took milliseconds once JAX reserved less.
std::string Counting::memory_obstacle(Context& context) const {
  if (uses_heap_) {
    return "kernels of the program allocate on the device's heap, which a second pass would do "
           "again, and whose contents nothing restores: ask for fewer metrics, or --replay "
           "application";
  }
  if (waits_.shares_memory()) {
    return "the program shares memory with another process or GPU, whose values a second pass "
           "would "
           "overwrite: ask for fewer metrics, or --replay application";
  }
  const auto now = Clock::now();
  if (now - context.looked_at_memory < between_looks) return "";
  context.looked_at_memory = now;
  std::size_t free = 0, total = 0;
  if (driver().cuMemGetInfo_v2(&free, &total) != CUDA_SUCCESS || total - free <= free) return "";
  constexpr double gigabyte = 1e9;
  return fmt::format(
      "{:.0f} GB of the device's memory are in use and {:.0f} GB free, so they are not saved for "
      "a second pass: ask for fewer metrics, or --replay application",
      static_cast<double>(total - free) / gigabyte, static_cast<double>(free) / gigabyte);
}

/// Leaves the context the counters that one pass reads, the first ones first, without a session;
/// the others have `reason`. It stays so: to change the counters takes 0.2 s.
void Counting::count_in_one_pass(Context& context, const std::string& reason) {
  const auto passes_of = [&](const std::vector<std::string>& counters) {
    const auto plan = plan_for(context, counters);
    return plan->leaves_links_out() ? 2 : plan->passes();
  };
  context.left_out = reason;
  const std::vector<std::string> counters = cupti::in_one_pass(counters_, passes_of);
  if (counters.empty()) {
    context.refusal = reason;
    return;
  }
  context.session.reset();  // before its plan
  context.plan = plan_for(context, counters);
}

std::unique_ptr<cupti::Plan> Counting::plan_for(const Context& context,
                                                const std::vector<std::string>& counters) const {
  return std::make_unique<cupti::Plan>(api_, devices_.at(context.device).chip, context.availability,
                                       counters, &context.code, cupti::UnknownName::is_lacking);
}

/// Leaves the context a plan that counts all that such kernels do. It stays so, as to change the
/// counters takes 0.2 s. Once code that was not seen at first is known, counters of what it has not
/// are left out: their passes take up to 20 ms a launch.
void Counting::prepare_for(const std::optional<cupti::KernelCode>& code, Context& context) {
  const cupti::KernelCode may_have = code.value_or(cupti::KernelCode{});
  context.code |= may_have;
  if (code) context.known |= *code;
  context.launches_of_known = code ? context.launches_of_known + 1 : 0;
  if (!context.plan) return;
  if (context.plan->leaves_out(may_have)) return plan_anew(context);
  if (context.launches_of_known < context.launches_before_a_change) return;
  if (context.code == context.known || !context.plan->has_more_than(context.known)) return;
  context.launches_before_a_change *= 2;  // it may have to be changed back
  context.code = context.known;
  plan_anew(context);
}

void Counting::plan_anew(Context& context) {
  context.session.reset();  // before its plan
  context.plan.reset();
  context.left_out.clear();
  context.looked_at_memory = {};
}

/// Ends a session that has changed code (CUPTI counts SASS metrics so) if the program unloaded a
/// module since: CUPTI 13.0 keeps what it knows of the module, and crashes at a later launch.
/// XLA's autotuner unloads one after each measurement.
void Counting::leave_unloaded_code(Context& context) const {
  if (!context.session || context.unloads == unloads_) return;
  const auto metrics = context.plan->metrics();
  const bool changes_code = std::any_of(metrics.begin(), metrics.end(), [](std::string_view name) {
    return name.find("__sass_") != std::string_view::npos;
  });
  if (changes_code) context.session.reset();
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
