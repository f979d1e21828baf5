#include "collector/inject/counting.h"

#include <fmt/format.h>

#include <optional>
#include <thread>
#include <utility>

#include "collector/cupti/device.h"
#include "collector/cupti/profiler.h"
#include "collector/inject/ranges.h"
#include "schema/error.h"

namespace warpmeter::inject {
namespace {

/// The launch call that this thread is in. The driver may call a launch function of its own inside
/// of one: only the outermost counts.
struct Pending {
  int depth = 0;
  std::unique_lock<std::mutex> lock;
  RangeSession* session = nullptr;  ///< counters run
  LaunchShape shape;
  std::uint32_t occurrence = 0;
};
thread_local Pending pending;

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Taking the counters costs 0.3 s, so a process that uses them keeps them for a while.
constexpr auto turn = 1s;
constexpr auto idle = 20ms;

bool is_busy(const cupti::CounterSupport& support) {
  return support.unavailable.find("HARDWARE_BUSY") != std::string::npos;
}

/// Measured with CUPTI 13.0.1 and driver 580: a graph launched between Start and Stop does not run
/// at all.
constexpr const char* graph_refusal =
    "CUPTI's kernel replay cannot run a CUDA graph; profile without --metrics shows its kernels";

bool is_captured(const cupti::DriverApi& driver, CUstream stream) {
  if (stream == nullptr) return false;  // the default stream cannot be captured, nor asked
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

std::optional<std::uint32_t> attribute(const cupti::DriverApi& driver, CUfunction function,
                                       CUfunction_attribute which) {
  int value = 0;
  if (driver.cuFuncGetAttribute(&value, which, function) != CUDA_SUCCESS) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

}  // namespace

Counting::Counting(Channel& channel, const cupti::CuptiApi& api, const Config& config,
                   std::filesystem::path folder)
    : channel_(channel),
      api_(api),
      counters_(config.counters),
      filter_(config.selection),
      folder_(std::move(folder)) {}

const cupti::DriverApi& Counting::driver() {
  const auto& library = cupti::driver_library();
  if (!library.ok()) throw Error(ExitCode::no_hardware, library.sentence());
  return library.api;
}

void Counting::enter(CUpti_CallbackId function, const CUpti_CallbackData& data) {
  if (pending.depth++ > 0) return;
  pending.lock = std::unique_lock(mutex_);
  pending.session = nullptr;
  const std::optional<LaunchCall> call = read_launch(function, data.functionParams);
  // A captured launch does not run now: it becomes a part of a graph.
  if (call && is_captured(driver(), call->stream)) return;
  const std::string kernel = call && call->graph != nullptr ? graphs_.name_of(call->graph)
                             : data.symbolName != nullptr   ? data.symbolName
                                                            : data.functionName;
  Context& context = context_of(data.context);
  const std::vector<std::string> ranges = open_ranges();
  pending.occurrence = count(call.value_or(LaunchCall{}), data.context, kernel);
  if (!filter_.takes(kernel, context.device, ranges)) {
    if (left_out_.insert(kernel).second) channel_.send(Seen{channel_.name(kernel)});
    return;
  }
  const bool is_countable = call && call->graph == nullptr;
  if (is_countable && !context.session && context.refusal.empty()) open(data.context, context);
  pending.shape = shape_of(call.value_or(LaunchCall{}), data, context, kernel);
  if (!ranges.empty()) pending.shape.range = channel_.name(ranges.back());
  if (!call) {
    send_refusal(pending.shape, "one call launches it on several devices at once");
  } else if (call->graph != nullptr) {
    send_refusal(pending.shape, graph_refusal);
  } else if (!context.session) {
    send_refusal(pending.shape, context.refusal);
  } else {
    try {
      context.session->start();
      pending.session = context.session.get();
    } catch (const Error& error) {
      send_refusal(pending.shape, error.what());
    }
  }
}

void Counting::exit(const CUpti_CallbackData& data) {
  if (pending.depth == 0 || --pending.depth > 0) return;
  const std::unique_lock lock = std::move(pending.lock);
  RangeSession* session = std::exchange(pending.session, nullptr);
  if (session == nullptr) return;
  if (const auto place = possessions_.find(pending.shape.device); place != possessions_.end()) {
    place->second.last_launch = Clock::now();
  }
  const auto result = *static_cast<const CUresult*>(data.functionReturnValue);
  try {
    const std::vector<schema::Counter> counters = session->finish();
    if (result == CUDA_SUCCESS) {
      send_counters(pending.shape, counters);
      return;
    }
  } catch (const Error& error) {
    if (result == CUDA_SUCCESS) {
      send_refusal(pending.shape, error.what());
      return;
    }
  }
  send_refusal(pending.shape, "the launch failed: " + cupti::in_words(driver(), result));
}

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
void Counting::possess(std::uint32_t device) {
  Possession& possession =
      possessions_.try_emplace(device, folder_, devices_[device].uuid).first->second;
  if (possession.is_ours) return;
  possession.turn.take();
  possession.is_ours = true;
  possession.since = possession.last_launch = Clock::now();
  if (!std::exchange(is_sharing_, true)) std::thread([this] { share(); }).detach();
}

void Counting::open(CUcontext handle, Context& context) {
  possess(context.device);
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

void Counting::share() {
  for (;;) {
    std::this_thread::sleep_for(idle);
    const std::lock_guard lock(mutex_);
    if (is_stopped_ || !channel_.is_open()) return;
    give_wanted();
  }
}

void Counting::give_wanted() {
  const auto now = Clock::now();
  for (auto& [device, possession] : possessions_) {
    const bool is_due = now - possession.since >= turn || now - possession.last_launch >= idle;
    if (!possession.is_ours || !is_due || !possession.turn.is_wanted()) continue;
    for (auto& [handle, context] : contexts_) {
      if (context.device == device) context.session.reset();
    }
    possession.is_ours = false;
    possession.turn.give();
  }
}

void Counting::stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
}

LaunchShape Counting::shape_of(const LaunchCall& call, const CUpti_CallbackData& data,
                               const Context& context, const std::string& kernel) const {
  LaunchShape shape;
  shape.device = context.device;
  shape.context = context.number;
  api_.cuptiGetStreamIdEx(data.context, call.stream, call.per_thread_stream ? 1 : 0, &shape.stream);
  shape.kernel = channel_.name(kernel);
  shape.grid = call.grid;
  shape.block = call.block;
  shape.dynamic_shared_bytes = call.dynamic_shared_bytes;
  if (call.function != nullptr) {
    shape.registers = attribute(driver(), call.function, CU_FUNC_ATTRIBUTE_NUM_REGS);
    shape.static_shared_bytes =
        attribute(driver(), call.function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  }
  return shape;
}

std::uint32_t Counting::count(const LaunchCall& call, CUcontext context,
                              const std::string& kernel) {
  std::uint32_t stream = 0;
  api_.cuptiGetStreamIdEx(context, call.stream, call.per_thread_stream ? 1 : 0, &stream);
  return launched_[{context, stream, kernel, call.grid, call.block}]++;
}

void Counting::send_refusal(const LaunchShape& shape, const std::string& reason) {
  Launch launch{shape, {}, pending.occurrence};
  launch.values.assign(counters_.size(), {0, channel_.name(reason)});
  channel_.send(launch);
}

void Counting::send_counters(const LaunchShape& shape,
                             const std::vector<schema::Counter>& counters) {
  Launch launch{shape, {}, pending.occurrence};
  for (const schema::Counter& counter : counters) {
    launch.values.push_back(counter.value ? Launch::Value{*counter.value, 0}
                                          : Launch::Value{0, channel_.name(counter.reason)});
  }
  channel_.send(launch);
}

void Counting::context_ends(CUcontext context) {
  const std::lock_guard lock(mutex_);
  contexts_.erase(context);
}

void Counting::graph_made(const CUpti_GraphData& graph) {
  // The graph that was instantiated; CUPTI's `graph` may be the executable copy of it.
  graphs_.add(driver(), graph.graphExec,
              graph.originalGraph != nullptr ? graph.originalGraph : graph.graph);
}

void Counting::graph_ends(const CUpti_GraphData& graph) { graphs_.remove(graph.graphExec); }

}  // namespace warpmeter::inject
