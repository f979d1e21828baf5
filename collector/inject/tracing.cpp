// SPDX-License-Identifier: MIT
// CUPTI fills buffers and returns them on a thread of its own, or on the one that flushes; our
// delivery thread turns each into frames.
#include "collector/inject/tracing.h"

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "collector/cupti/device.h"
#include "collector/cupti/planner.h"
#include "collector/inject/activity_names.h"
#include "collector/inject/delivery.h"
#include "collector/inject/ranges.h"
#include "collector/inject/shape_numbers.h"

namespace warpmeter::inject::tracing {
namespace {

using Clock = std::chrono::steady_clock;

using namespace std::chrono_literals;

constexpr std::size_t activities_a_frame =
    2000;  // for at most 50 bytes each: below max_frame_bytes
/// A program that waits for the GPU waits for its records too, but no longer than that.
constexpr auto patience = 2s;
/// At the end of the process, for what is left.
constexpr auto last_patience = 60s;
/// A flush may take a 20th of the program's time, not more.
constexpr int flush_share = 20;

/// A hundred thousand launches a second pass here: what a name means is found out once.
struct Kernel {
  std::string name;
  std::uint32_t id = 0;
};

/// The same at any time.
Selection whole(Selection selection) {
  selection.profiling = Profiling::always;
  return selection;
}

struct Recording;
void read(Recording& all, const FilledBuffer& buffer);

/// The delivery thread uses this, and at the end the thread that ends the process: `reading` is
/// whose turn it is. Other threads use what is atomic or has a mutex.
struct Recording {
  Recording(Channel& where, const cupti::CuptiApi& with, const Config& config)
      : channel(where),
        api(with),
        filter(config.selection),
        chosen(whole(config.selection)),
        calls(config.calls),
        managed_memory(config.managed_memory),
        allocations(config.allocations),
        ranges_too(config.ranges),
        shapes(where),
        delivery([this](const FilledBuffer& buffer) { read(*this, buffer); },
                 [this] { api.cuptiActivityFlushAll(0); }) {}
  Channel& channel;
  const cupti::CuptiApi& api;
  Filter filter;  ///< says whether the profiler is on
  Filter chosen;  ///< the records that come are of calls that were made while it was
  const bool calls, managed_memory, allocations, ranges_too;
  std::uint64_t clock_offset_ns = 0;  ///< from CLOCK_MONOTONIC to CUPTI's clock
  ShapeNumbers shapes;
  std::set<std::uint32_t> devices;  ///< announced ones
  std::set<std::string> left_out;   ///< kernels that were said to be left out
  std::map<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>, std::uint32_t> functions;  ///< Names
  std::unordered_map<const char*, Kernel> kernels;  ///< by where CUPTI keeps the name
  std::vector<Activity> waiting;                    ///< for the frame to be full
  std::mutex ranges_mutex;
  /// That were open at launches whose kernels have not been seen yet, by correlation.
  std::unordered_map<std::uint32_t, std::vector<std::string>> ranges;
  std::mutex switch_mutex;  ///< one thread begins or ends recording
  std::atomic<std::uint64_t> lost{0};
  std::atomic<bool> has_managed_memory{false};  ///< it was asked for
  std::atomic<Clock::rep> next_flush{0};
  std::mutex reading;
  Delivery delivery;  ///< last: its thread uses all of the others
};

/// Lives from start() to the end of the process.
Recording* recording = nullptr;

void send_waiting(Recording& all) {
  if (all.waiting.empty()) return;
  Message batch = Activities{std::move(all.waiting)};
  all.channel.send(batch);
  all.waiting = std::move(std::get<Activities>(batch).activities);  // its room is used again
  all.waiting.clear();
}

void add(Recording& all, Activity activity) {
  all.waiting.push_back(activity);
  if (all.waiting.size() == activities_a_frame) send_waiting(all);
}

void announce(Recording& all, std::uint32_t device) {
  if (!all.devices.insert(device).second) return;
  try {
    all.channel.send(Device{cupti::describe_device_by_driver(static_cast<int>(device))});
  } catch (const Error& error) {
    all.channel.send(Problem{false, error.what()});
  }
}

/// The kernel's name with its number; CUPTI may use the place of a name again.
const Kernel& kernel_of(Recording& all, const char* name) {
  Kernel& kernel = all.kernels[name];
  const char* text = name != nullptr ? name : "kernel without a name";
  if (kernel.id == 0 || kernel.name != text) kernel = {text, all.channel.name(text)};
  return kernel;
}

std::vector<std::string> ranges_of(Recording& all, const CUpti_ActivityKernel10& kernel) {
  if (!all.chosen.has_ranges()) return {};
  const std::lock_guard lock(all.ranges_mutex);
  const auto found = all.ranges.find(kernel.correlationId);
  if (found == all.ranges.end()) return {};
  if (kernel.graphId != 0) return found->second;  // the graph has more kernels
  std::vector<std::string> ranges = std::move(found->second);
  all.ranges.erase(found);
  return ranges;
}

/// An activity from its start to its end. One that has not ended, or never began, took no time.
Activity activity_of(std::uint32_t shape, std::uint64_t start, std::uint64_t end,
                     std::uint64_t amount, std::uint32_t correlation) {
  const double duration_ns = end > start ? static_cast<double>(end - start) : 0;
  return {shape, start, duration_ns, amount, correlation, false, std::nullopt};
}

/// The properties that all records of work on a device have.
template <class Record>
ActivityShape shape_on_device(Recording& all, ActivityKind kind, std::uint32_t name,
                              const Record& record) {
  announce(all, record.deviceId);
  ActivityShape shape;
  shape.kind = kind;
  shape.name = name;
  LaunchShape& launch = shape.shape.emplace();
  launch.device = record.deviceId;
  launch.context = record.contextId;
  launch.stream = record.streamId;
  return shape;
}

void take_kernel(Recording& all, const CUpti_ActivityKernel10& kernel) {
  const auto& [name, id] = kernel_of(all, kernel.name);
  const std::vector<std::string> ranges = ranges_of(all, kernel);
  if (!all.chosen.takes(name, kernel.deviceId, ranges)) {
    if (all.left_out.insert(name).second) all.channel.send(Seen{id});
    return;
  }
  ActivityShape shape = shape_on_device(all, ActivityKind::kernel, id, kernel);
  LaunchShape& launch = *shape.shape;
  launch.kernel = id;
  if (!ranges.empty()) launch.range = all.channel.name(ranges.back());
  launch.grid = {static_cast<std::uint32_t>(kernel.gridX), static_cast<std::uint32_t>(kernel.gridY),
                 static_cast<std::uint32_t>(kernel.gridZ)};
  launch.block = {static_cast<std::uint32_t>(kernel.blockX),
                  static_cast<std::uint32_t>(kernel.blockY),
                  static_cast<std::uint32_t>(kernel.blockZ)};
  launch.dynamic_shared_bytes = static_cast<std::uint32_t>(kernel.dynamicSharedMemory);
  launch.static_shared_bytes = static_cast<std::uint32_t>(kernel.staticSharedMemory);
  launch.registers = kernel.registersPerThread;
  launch.local_bytes = kernel.localMemoryPerThread;
  Activity activity =
      activity_of(all.shapes.number_of(shape), kernel.start, kernel.end, 0, kernel.correlationId);
  activity.is_in_graph = kernel.graphId != 0;
  add(all, activity);
}

void take_copy(Recording& all, const CUpti_ActivityMemcpy6& copy) {
  ActivityShape shape =
      shape_on_device(all, ActivityKind::copy, all.channel.name(copy_name(copy.copyKind)), copy);
  shape.source_memory = memory_kind(copy.srcKind);
  shape.target_memory = memory_kind(copy.dstKind);
  add(all, activity_of(all.shapes.number_of(shape), copy.start, copy.end, copy.bytes,
                       copy.correlationId));
}

void take_peer_copy(Recording& all, const CUpti_ActivityMemcpyPtoP4& copy) {
  ActivityShape shape = shape_on_device(
      all, ActivityKind::copy, all.channel.name(copy_name(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP)), copy);
  shape.source_memory = memory_kind(copy.srcKind);
  shape.target_memory = memory_kind(copy.dstKind);
  shape.source = {copy.srcDeviceId, copy.srcContextId};
  shape.target = {copy.dstDeviceId, copy.dstContextId};
  add(all, activity_of(all.shapes.number_of(shape), copy.start, copy.end, copy.bytes,
                       copy.correlationId));
}

void take_set(Recording& all, const CUpti_ActivityMemset4& set) {
  ActivityShape shape =
      shape_on_device(all, ActivityKind::set, all.channel.name("[CUDA memset]"), set);
  shape.target_memory = memory_kind(set.memoryKind);
  add(all,
      activity_of(all.shapes.number_of(shape), set.start, set.end, set.bytes, set.correlationId));
}

/// A fault of the CPU has no duration, and its value is the program counter.
void take_managed(Recording& all, const CUpti_ActivityUnifiedMemoryCounter3& record) {
  const std::optional<ManagedEvent> event = managed_event(record.counterKind);
  if (!event) return;
  const bool is_of_cpu =
      record.counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT;
  ActivityShape shape;
  shape.kind = event->kind;
  shape.name = all.channel.name(event->name);
  if (event->has_source) shape.source = {record.srcId, 0};
  if (event->has_target) shape.target = {record.dstId, 0};
  if (event->has_source || event->has_target) {
    LaunchShape& launch = shape.shape.emplace();
    launch.device = event->has_target ? record.dstId : record.srcId;
    announce(all, launch.device);
  }
  const bool has_end = event->kind == ActivityKind::migration ||
                       event->kind == ActivityKind::throttling ||
                       (event->kind == ActivityKind::page_fault && !is_of_cpu);
  Activity activity = activity_of(all.shapes.number_of(shape), record.start, record.end,
                                  is_of_cpu ? 1 : record.value, 0);
  if (!has_end) activity.duration_ns = std::nullopt;
  activity.address = record.address;
  add(all, activity);
}

/// One that is never freed has an end of 0.
void take_allocation(Recording& all, const CUpti_ActivityMemory& memory) {
  ActivityShape shape;
  shape.kind = ActivityKind::allocation;
  shape.name = all.channel.name(allocation_name);
  shape.target_memory = memory_kind(memory.memoryKind);
  announce(all, memory.deviceId);
  LaunchShape& place = shape.shape.emplace();
  place.device = memory.deviceId;
  place.context = memory.contextId == CUPTI_INVALID_CONTEXT_ID ? 0 : memory.contextId;
  Activity activity =
      activity_of(all.shapes.number_of(shape), memory.start, memory.end, memory.bytes, 0);
  if (memory.end == 0) activity.duration_ns = std::nullopt;
  activity.address = memory.address;
  add(all, activity);
}

void take_call(Recording& all, const CUpti_ActivityAPI& call) {
  if (all.delivery.is_own_thread(call.threadId)) return;  // not the program's
  const CUpti_CallbackDomain domain = call.kind == CUPTI_ACTIVITY_KIND_RUNTIME
                                          ? CUPTI_CB_DOMAIN_RUNTIME_API
                                          : CUPTI_CB_DOMAIN_DRIVER_API;
  const auto [place, is_new] = all.functions.try_emplace({domain, call.cbid}, 0);
  if (is_new) {
    const char* name = nullptr;
    all.api.cuptiGetCallbackName(domain, call.cbid, &name);
    place->second = all.channel.name(name != nullptr ? called_name(name) : "unknown function");
  }
  ActivityShape shape;
  shape.kind = ActivityKind::call;
  shape.name = place->second;
  shape.thread = call.threadId;
  add(all, activity_of(all.shapes.number_of(shape), call.start, call.end, 0, call.correlationId));
}

void take(Recording& all, const CUpti_Activity& activity) {
  switch (activity.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return take_kernel(all, reinterpret_cast<const CUpti_ActivityKernel10&>(activity));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return take_copy(all, reinterpret_cast<const CUpti_ActivityMemcpy6&>(activity));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return take_peer_copy(all, reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(activity));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return take_set(all, reinterpret_cast<const CUpti_ActivityMemset4&>(activity));
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return take_managed(all,
                          reinterpret_cast<const CUpti_ActivityUnifiedMemoryCounter3&>(activity));
    case CUPTI_ACTIVITY_KIND_MEMORY:
      return take_allocation(all, reinterpret_cast<const CUpti_ActivityMemory&>(activity));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return take_call(all, reinterpret_cast<const CUpti_ActivityAPI&>(activity));
    default:
      return;
  }
}

void take_ranges(Recording& all) {
  for (const EndedRange& range : take_ended_ranges()) {
    ActivityShape shape;
    shape.kind = ActivityKind::range;
    shape.name = all.channel.name(range.text);
    shape.thread = range.thread;
    add(all, activity_of(all.shapes.number_of(shape), range.start_ns + all.clock_offset_ns,
                         range.end_ns + all.clock_offset_ns, 0, 0));
  }
}

void read(Recording& all, const FilledBuffer& buffer) {
  if (!all.channel.is_open()) return;
  const std::lock_guard lock(all.reading);
  CUpti_Activity* activity = nullptr;
  while (all.api.cuptiActivityGetNextRecord(buffer.bytes, buffer.valid_bytes, &activity) ==
         CUPTI_SUCCESS) {
    take(all, *activity);
  }
  take_ranges(all);
  send_waiting(all);
  std::size_t lost = 0;
  if (all.api.cuptiActivityGetNumDroppedRecords(buffer.context, buffer.stream, &lost) ==
      CUPTI_SUCCESS) {
    all.lost += lost;
  }
}

/// The kinds of records that the configuration asks for.
std::vector<CUpti_ActivityKind> kinds_of(const Recording& all) {
  std::vector<CUpti_ActivityKind> kinds = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                           CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                           CUPTI_ACTIVITY_KIND_MEMSET};
  if (all.calls) {
    kinds.push_back(CUPTI_ACTIVITY_KIND_RUNTIME);
    kinds.push_back(CUPTI_ACTIVITY_KIND_DRIVER);
  }
  if (all.allocations) kinds.push_back(CUPTI_ACTIVITY_KIND_MEMORY);
  return kinds;
}

void enable(Recording& all) {
  for (const CUpti_ActivityKind kind : kinds_of(all)) {
    cupti::check(all.api, all.api.cuptiActivityEnable(kind), "recording activities");
  }
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = recording->delivery.give();
  *size = *buffer != nullptr ? Delivery::buffer_bytes : 0;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                          std::size_t, std::size_t valid_bytes) {
  recording->delivery.take({context, stream, buffer, valid_bytes});
}

}  // namespace

void start(Channel& channel, const cupti::CuptiApi& api, const Config& config) {
  recording = new Recording(channel, api, config);
  std::uint8_t are_zeroed = 1;
  std::size_t size = sizeof are_zeroed;
  api.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &are_zeroed);
  api.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  cupti::check(api, api.cuptiActivityRegisterCallbacks(give_buffer, take_buffer),
               "preparing to record activities");
  std::uint64_t now_ns = 0;
  cupti::check(api, api.cuptiGetTimestamp(&now_ns), "reading CUPTI's clock");
  recording->clock_offset_ns = now_ns - monotonic_ns();
  channel.send(TraceBegins{now_ns});  // before the first record
  if (config.ranges) keep_ended_ranges(recording->filter.is_on());
  if (recording->filter.is_on()) enable(*recording);
}

void context_made() {
  Recording& all = *recording;
  if (!all.managed_memory || all.has_managed_memory.exchange(true)) return;
  std::vector<CUpti_ActivityUnifiedMemoryCounterConfig> counters;
  for (int kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
       kind < CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT; ++kind) {
    counters.push_back({CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES,
                        static_cast<CUpti_ActivityUnifiedMemoryCounterKind>(kind), 0, 1});
  }
  CUptiResult result = all.api.cuptiActivityConfigureUnifiedMemoryCounter(
      counters.data(), static_cast<std::uint32_t>(counters.size()));
  if (result == CUPTI_SUCCESS) {
    result = all.api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  }
  if (result == CUPTI_SUCCESS) return;
  const char* words = "unknown error";
  all.api.cuptiGetResultString(result, &words);
  all.channel.send(Problem{
      true,
      fmt::format("page faults and migrations of managed memory were not recorded: {}", words)});
}

/// Records of what the GPU still does come: CUPTI decides when a call begins.
void profile(bool is_on) {
  Recording& all = *recording;
  const std::lock_guard lock(all.switch_mutex);
  const bool was_on = all.filter.is_on();
  all.filter.profile(is_on);
  if (all.filter.is_on() == was_on) return;
  if (all.ranges_too) keep_ended_ranges(all.filter.is_on());
  if (all.filter.is_on()) return enable(all);
  for (const CUpti_ActivityKind kind : kinds_of(all)) all.api.cuptiActivityDisable(kind);
}

void launching(std::uint32_t correlation) {
  if (!recording->filter.is_on()) return;  // no record of it will come
  std::vector<std::string> ranges = open_ranges();
  if (ranges.empty()) return;
  const std::lock_guard lock(recording->ranges_mutex);
  recording->ranges[correlation] = std::move(ranges);
}

void after_waiting() {
  Recording& all = *recording;
  const auto begin = Clock::now();
  Clock::rep due = all.next_flush.load(std::memory_order_relaxed);
  if (begin.time_since_epoch().count() < due) return;
  // One thread flushes if two come at once.
  if (!all.next_flush.compare_exchange_strong(due,
                                              Clock::time_point::max().time_since_epoch().count()))
    return;
  all.api.cuptiActivityFlushAll(0);
  all.delivery.drain(patience);
  const auto end = Clock::now();
  all.next_flush.store((end + flush_share * (end - begin)).time_since_epoch().count());
}

void finish() {
  if (recording == nullptr) return;
  Recording& all = *recording;
  all.delivery.stop_flushing();
  all.api.cuptiActivityFlushAll(1);
  if (all.delivery.drain(last_patience)) {
    const std::lock_guard lock(all.reading);
    take_ranges(all);
    send_waiting(all);
  }
  all.channel.send(Bye{all.lost, !all.filter.was_on()});
}

}  // namespace warpmeter::inject::tracing
