// SPDX-License-Identifier: MIT
#include "collector/inject/counting.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/kernel_name.h"
#include "base/with_noun.h"
#include "collector/cupti/device.h"
#include "collector/cupti/profiler.h"
#include "collector/inject/pending.h"
#include "collector/inject/ranges.h"

namespace warpmeter::inject {

thread_local Pending pending;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds patience_to_stop{1};
constexpr const char* code_seen_late =
    "its code was seen only when it ran, and has what these counters leave out: measure it again";

std::optional<std::uint32_t> attribute(const cupti::DriverApi& driver, CUfunction function,
                                       CUfunction_attribute which) {
  int value = 0;
  if (driver.cuFuncGetAttribute(&value, which, function) != CUDA_SUCCESS) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

/// The function of a launch, with its code loaded. The runtime launches kernels of libraries: the
/// driver takes a CUkernel for a CUfunction in a launch and in no other call. It loads the code
/// within the first launch, unless somebody asks before.
CUfunction loaded_function(const cupti::DriverApi& driver, CUfunction launched) {
  CUfunction function = launched;
  if (driver.cuFuncLoad(launched) == CUDA_SUCCESS) return launched;
  const CUresult result =
      driver.cuKernelGetFunction(&function, reinterpret_cast<CUkernel>(launched));
  if (result != CUDA_SUCCESS) return launched;
  driver.cuFuncLoad(function);
  return function;
}

}  // namespace

Counting::Counting(Channel& channel, const cupti::CuptiApi& api, const Config& config,
                   std::filesystem::path folder, std::function<void()> require_companion)
    : channel_(channel),
      api_(api),
      mode_(config.mode),
      counters_(config.counters),
      filter_(config.selection),
      folder_(std::move(folder)),
      require_companion_(std::move(require_companion)),
      patience_(config.selection.launch_timeout_ms),
      waits_(patience_),
      by_line_(channel, api, config) {}

const cupti::DriverApi& Counting::driver() {
  const auto& library = cupti::driver_library();
  if (!library.ok()) throw Error(ExitCode::no_hardware, library.sentence());
  return library.api;
}

bool Counting::is_in_launch() { return pending.depth > 0; }

void Counting::enter(CUpti_CallbackId function, const CUpti_CallbackData& data) {
  if (pending.depth++ > 0) return;
  pending.lock = std::unique_lock(mutex_);
  pending.is_counted = pending.is_by_line = pending.is_in_graph = false;
  pending.waits.reset();
  std::optional<LaunchCall> call = read_launch(function, data.functionParams);
  if (call && is_captured(driver(), stream_of(*call))) return;
  if (call && call->graph == nullptr) call->function = loaded_function(driver(), call->function);
  const std::string kernel = call && call->graph != nullptr ? graphs_.name_of(call->graph)
                             : data.symbolName != nullptr   ? data.symbolName
                                                            : data.functionName;
  Context& context = context_of(data.context);
  const std::vector<std::string> ranges = open_ranges();
  pending.occurrence = count(call.value_or(LaunchCall{}), data.context, kernel);
  if (call && !uses_heap_) {
    const std::vector<std::string> kernels = kernels_of(*call, kernel);
    uses_heap_ = std::any_of(kernels.begin(), kernels.end(),
                             [&](const std::string& name) { return waits_.allocates(name); });
  }
  const std::string waiting = call ? waiting_obstacle(*call, kernel, context.device) : "";
  if (!waiting.empty()) pending.waits = {*call, kernel};
  if (!chooses(call.value_or(LaunchCall{}), data.context, kernel, ranges)) return;
  if (mode_ != Mode::counters) {
    if (!call || !by_line_.takes(kernel)) return;
    pending.shape = shape_of(*call, data, context, kernel);
    const std::string refusal = waiting.empty() ? await(*call, data.context) : waiting;
    if (!refusal.empty()) return send_by_line(refusal);
    if (by_line_.takes(kernel)) start_by_line(data, context);  // else another thread was faster
    return;
  }
  std::string refusal = waiting;
  if (refusal.empty() && call && !counters_.empty()) {
    refusal = obstacle(*call, data.context, context, kernel);
    if (refusal.empty() && call->graph == nullptr) pending.doubt = doubt(kernel, context);
    pending.left_out = context.left_out;
  }
  pending.shape = shape_of(call.value_or(LaunchCall{}), data, context, kernel);
  if (!ranges.empty()) pending.shape.range = channel_.name(ranges.back());
  if (counters_.empty()) {
    send_counters(pending.shape, {});  // its resources are all that was asked for
  } else if (!call) {
    send_refusal(pending.shape, "one call launches it on several devices at once");
  } else if (!refusal.empty()) {
    send_refusal(pending.shape, refusal);
  } else if (call->graph != nullptr) {
    count_graph(*call, data, context);
  } else {
    try {
      start(context);
      pending.is_counted = true;
      counted_ = pending.shape.kernel;
    } catch (const Error& error) {
      send_refusal(pending.shape, error.what());
    }
  }
}

/// Waits for work in front of the launch while other threads may launch. Why it cannot be counted
/// behind that work; empty when it can.
std::string Counting::await(const LaunchCall& call, CUcontext context) {
  std::string obstacle;
  while (obstacle.empty() && !waits_.blocker(driver(), context, stream_of(call)).empty()) {
    pending.lock.unlock();
    obstacle = waits_.await(driver(), context, stream_of(call));
    pending.lock.lock();
  }
  return obstacle;
}

/// A remark on all counters of the launch; mostly none.
std::string Counting::doubt(const std::string& kernel, const Context& context) const {
  if (context.plan->passes() == 1 || !waits_.times_itself(kernel)) return "";
  return fmt::format("a loop of the kernel ends by a clock: its {} are executions that differ",
                     with_noun(context.plan->passes(), "pass", "passes"));
}

std::string Counting::obstacle(const LaunchCall& call, CUcontext handle, Context& context,
                               const std::string& kernel) {
  const std::string waiting = await(call, handle);
  if (!waiting.empty() || !context.refusal.empty()) {
    return waiting.empty() ? context.refusal : waiting;
  }
  pending.kernels = kernels_of(call, kernel);
  prepare_for(waits_.code_of(pending.kernels), context);
  leave_unloaded_code(context);
  const std::string refusal = context.session ? "" : open_session(handle, context);
  if (!refusal.empty()) return refusal;
  if (context.plan->passes() == 1) return "";
  if (const std::string reason = memory_obstacle(context); !reason.empty()) {
    count_in_one_pass(context, reason);
  }
  if (!context.refusal.empty() || context.session) return context.refusal;
  return open_session(handle, context);
}

void Counting::exit(const CUpti_CallbackData& data) {
  if (pending.depth == 0 || --pending.depth > 0) return;
  const std::unique_lock lock = std::move(pending.lock);
  if (pending.waits) {
    const auto& [call, kernel] = *pending.waits;
    waits_.add_launch(driver(), data.context, stream_of(call), kernel);
  }
  if (std::exchange(pending.is_by_line, false)) return finish_by_line(data);
  if (!std::exchange(pending.is_counted, false)) return;
  counted_ = 0;
  if (const auto place = possessions_.find(pending.shape.device); place != possessions_.end()) {
    place->second.last_launch = Clock::now();
  }
  const auto result = *static_cast<const CUresult*>(data.functionReturnValue);
  std::vector<schema::Counter> counters;
  std::string failure = finish(context_of(data.context), pending.kernels, counters);
  if (result != CUDA_SUCCESS) {
    failure = "the launch failed: " + cupti::in_words(driver(), result);
  }
  send(failure, counters);
}

/// Reads the counters of a launch that has been made. Why it has none: its kernel failed, or CUPTI
/// did; empty when it has.
std::string Counting::finish(Context& context, const std::vector<std::string>& kernels,
                             std::vector<schema::Counter>& counters) const {
  const auto code = waits_.code_of(kernels).value_or(cupti::KernelCode{});
  try {
    counters = context.session->finish(code);
  } catch (const Error& error) {
    const CUresult ended = driver().cuCtxSynchronize();
    if (ended == CUDA_SUCCESS) return error.what();
    return "the kernel failed: " + cupti::in_words(driver(), ended);
  }
  return context.plan->leaves_out(code) ? code_seen_late : "";
}

/// Sends the counters of the launch, or why it has none.
void Counting::send(const std::string& failure, const std::vector<schema::Counter>& counters) {
  if (failure.empty()) {
    send_counters(pending.shape, counters);
  } else {
    send_refusal(pending.shape, failure);
  }
}

void Counting::start_by_line(const CUpti_CallbackData& data, const Context& context) {
  try {
    by_line_.start(data.context, context.device, devices_[context.device].chip);
    pending.is_by_line = true;
  } catch (const Error& error) {
    send_by_line(error.what());
  }
}

void Counting::finish_by_line(const CUpti_CallbackData& data) {
  auto result = *static_cast<const CUresult*>(data.functionReturnValue);
  if (result == CUDA_SUCCESS) result = driver().cuCtxSynchronize();
  std::string reason;
  try {
    by_line_.finish();
    reason = result == CUDA_SUCCESS ? by_line_.send()
                                    : "the launch failed: " + cupti::in_words(driver(), result);
  } catch (const Error& error) {
    reason = error.what();
  }
  send_by_line(reason);
}

/// Ends what was sent of the launch; `reason`: why it has none.
void Counting::send_by_line(const std::string& reason) {
  Launch launch = launch_of(pending.shape);
  if (!reason.empty()) launch.without_lines = channel_.name(reason);
  channel_.send(launch);
}

void Counting::stop() {
  is_stopped_ = true;
  // Another thread's launch may never end: the process does.
  const std::unique_lock lock(mutex_, patience_to_stop);
}

LaunchShape Counting::shape_of(const LaunchCall& call, const CUpti_CallbackData& data,
                               const Context& context, const std::string& kernel) const {
  LaunchShape shape;
  shape.device = context.device;
  shape.context = context.number;
  shape.correlation = data.correlationId;
  api_.cuptiGetStreamIdEx(data.context, call.stream, call.per_thread_stream ? 1 : 0, &shape.stream);
  shape.kernel = channel_.name(kernel);
  shape.grid = call.grid;
  shape.block = call.block;
  shape.dynamic_shared_bytes = call.dynamic_shared_bytes;
  if (call.function != nullptr) {
    shape.registers = attribute(driver(), call.function, CU_FUNC_ATTRIBUTE_NUM_REGS);
    shape.static_shared_bytes =
        attribute(driver(), call.function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    shape.local_bytes = attribute(driver(), call.function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  }
  return shape;
}

std::uint32_t Counting::count(const LaunchCall& call, CUcontext context, const std::string& kernel,
                              bool is_in_graph) {
  std::uint32_t stream = 0;
  api_.cuptiGetStreamIdEx(context, call.stream, call.per_thread_stream ? 1 : 0, &stream);
  return launched_[{context, stream, kernel, call.grid, call.block, is_in_graph}]++;
}

void Counting::send_refusal(const LaunchShape& shape, const std::string& reason) {
  Launch launch = launch_of(shape);
  launch.values.assign(counters_.size(), {0, channel_.name(reason), schema::Grade::unavailable});
  channel_.send(launch);
}

void Counting::send_counters(const LaunchShape& shape,
                             const std::vector<schema::Counter>& counters) {
  Launch launch = launch_of(shape);
  auto next = counters.begin();
  for (const std::string& name : counters_) {
    schema::Counter counter{name, std::nullopt, schema::Grade::unavailable, pending.left_out};
    if (next != counters.end() && next->name == name) counter = *next++;
    if (counter.reason.empty()) counter.reason = pending.doubt;
    launch.values.push_back(channel_.value_of(counter));
  }
  channel_.send(launch);
}

void Counting::context_ends(CUcontext context) {
  const std::lock_guard lock(mutex_);
  contexts_.erase(context);
  waits_.context_ends(context);
}

bool Counting::is_first_sight(CUcontext context, const CUpti_ModuleResourceData& module) {
  const std::lock_guard lock(modules_mutex_);
  return modules_.emplace(context, module.moduleId).second;
}

void Counting::module_loaded(CUcontext context, const CUpti_ModuleResourceData& module) {
  is_first_sight(context, module);
  if (mode_ != Mode::counters) by_line_.module_loaded(module);
  read(module);
}

void Counting::module_runs(CUcontext context, const CUpti_ModuleResourceData& module) {
  if (is_first_sight(context, module)) read(module);
}

void Counting::read(const CUpti_ModuleResourceData& module) {
  waits_.module_loaded(std::as_bytes(std::span(
      static_cast<const char*>(static_cast<const void*>(module.pCubin)), module.cubinSize)));
}

void Counting::waiting_work(const WaitingWork& work, CUcontext context) {
  if (!is_captured(driver(), work.stream)) {
    waits_.add(driver(), context, work);
  }
}

// Graphs that are made while a launch is counted are our own.

}  // namespace warpmeter::inject
