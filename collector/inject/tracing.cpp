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
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "collector/cupti/device.h"
#include "collector/cupti/planner.h"
#include "collector/inject/delivery.h"
#include "collector/inject/ranges.h"

namespace warpmeter::inject::tracing {
namespace {

using Clock = std::chrono::steady_clock;

using namespace std::chrono_literals;

constexpr std::size_t activities_a_frame =
    1000;  // for at most 100 bytes each: below max_frame_bytes
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

struct Recording;
void read(Recording& all, const FilledBuffer& buffer);

/// The delivery thread alone uses this, but for what is atomic or has a mutex.
struct Recording {
  Recording(Channel& where, const cupti::CuptiApi& with, const Selection& selection)
      : channel(where),
        api(with),
        filter(selection),
        delivery([this](const FilledBuffer& buffer) { read(*this, buffer); },
                 [this] { api.cuptiActivityFlushAll(0); }) {}
  Channel& channel;
  const cupti::CuptiApi& api;
  Filter filter;
  std::set<std::uint32_t> devices;  ///< announced ones
  std::set<std::string> left_out;   ///< kernels that were said to be left out
  std::map<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>, std::uint32_t> functions;  ///< Names
  std::unordered_map<const char*, Kernel> kernels;  ///< by where CUPTI keeps the name
  std::vector<Activity> waiting;                    ///< for the frame to be full
  std::mutex ranges_mutex;
  /// That were open at launches whose kernels have not been seen yet, by correlation.
  std::unordered_map<std::uint32_t, std::vector<std::string>> ranges;
  std::atomic<std::uint64_t> lost{0};
  std::atomic<Clock::rep> next_flush{0};
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

double duration(std::uint64_t start, std::uint64_t end) {
  return end > start ? static_cast<double>(end - start) : 0;
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
  if (!all.filter.has_ranges()) return {};
  const std::lock_guard lock(all.ranges_mutex);
  const auto found = all.ranges.find(kernel.correlationId);
  if (found == all.ranges.end()) return {};
  if (kernel.graphId != 0) return found->second;  // the graph has more kernels
  std::vector<std::string> ranges = std::move(found->second);
  all.ranges.erase(found);
  return ranges;
}

void take_kernel(Recording& all, const CUpti_ActivityKernel10& kernel) {
  const auto& [name, id] = kernel_of(all, kernel.name);
  announce(all, kernel.deviceId);
  const std::vector<std::string> ranges = ranges_of(all, kernel);
  if (!all.filter.takes(name, kernel.deviceId, ranges)) {
    if (all.left_out.insert(name).second) all.channel.send(Seen{id});
    return;
  }
  LaunchShape shape;
  shape.device = kernel.deviceId;
  shape.context = kernel.contextId;
  shape.stream = kernel.streamId;
  shape.kernel = id;
  if (!ranges.empty()) shape.range = all.channel.name(ranges.back());
  shape.grid = {static_cast<std::uint32_t>(kernel.gridX), static_cast<std::uint32_t>(kernel.gridY),
                static_cast<std::uint32_t>(kernel.gridZ)};
  shape.block = {static_cast<std::uint32_t>(kernel.blockX),
                 static_cast<std::uint32_t>(kernel.blockY),
                 static_cast<std::uint32_t>(kernel.blockZ)};
  shape.dynamic_shared_bytes = static_cast<std::uint32_t>(kernel.dynamicSharedMemory);
  shape.static_shared_bytes = static_cast<std::uint32_t>(kernel.staticSharedMemory);
  shape.registers = kernel.registersPerThread;
  shape.local_bytes = kernel.localMemoryPerThread;
  add(all, {ActivityKind::kernel, id, duration(kernel.start, kernel.end), 0, shape,
            kernel.graphId == 0 ? kernel.correlationId : 0});
}

/// nvprof's names.
const char* copy_name(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "[CUDA memcpy HtoD]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "[CUDA memcpy DtoH]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return "[CUDA memcpy HtoA]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return "[CUDA memcpy AtoH]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
      return "[CUDA memcpy AtoA]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
      return "[CUDA memcpy AtoD]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return "[CUDA memcpy DtoA]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "[CUDA memcpy DtoD]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return "[CUDA memcpy HtoH]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "[CUDA memcpy PtoP]";
    default:
      return "[CUDA memcpy]";
  }
}

/// "cudaLaunchKernel_v7000" and "cuMemAlloc_v2" are cudaLaunchKernel and cuMemAlloc to those who
/// call them.
std::string_view called_name(std::string_view name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  const std::size_t version = name.rfind("_v");
  const bool is_version =
      version != std::string_view::npos && version + 2 < name.size() &&
      name.find_first_not_of("0123456789", version + 2) == std::string_view::npos;
  return is_version ? name.substr(0, version) : name;
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
  add(all, {ActivityKind::call, place->second, duration(call.start, call.end), 0, std::nullopt});
}

void take(Recording& all, const CUpti_Activity& activity) {
  const auto named = [&](ActivityKind kind, const char* name, std::uint64_t start,
                         std::uint64_t end, std::uint64_t bytes) {
    add(all, {kind, all.channel.name(name), duration(start, end), bytes, std::nullopt});
  };
  switch (activity.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return take_kernel(all, reinterpret_cast<const CUpti_ActivityKernel10&>(activity));
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(activity);
      return named(ActivityKind::copy, copy_name(copy.copyKind), copy.start, copy.end, copy.bytes);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(activity);
      return named(ActivityKind::copy, copy_name(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP), copy.start,
                   copy.end, copy.bytes);
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& set = reinterpret_cast<const CUpti_ActivityMemset4&>(activity);
      return named(ActivityKind::set, "[CUDA memset]", set.start, set.end, set.bytes);
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return take_call(all, reinterpret_cast<const CUpti_ActivityAPI&>(activity));
    default:
      return;
  }
}

void read(Recording& all, const FilledBuffer& buffer) {
  if (!all.channel.is_open()) return;
  CUpti_Activity* activity = nullptr;
  while (all.api.cuptiActivityGetNextRecord(buffer.bytes, buffer.valid_bytes, &activity) ==
         CUPTI_SUCCESS) {
    take(all, *activity);
  }
  send_waiting(all);
  std::size_t lost = 0;
  if (all.api.cuptiActivityGetNumDroppedRecords(buffer.context, buffer.stream, &lost) ==
      CUPTI_SUCCESS) {
    all.lost += lost;
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
  recording = new Recording(channel, api, config.selection);
  std::uint8_t are_zeroed = 1;
  std::size_t size = sizeof are_zeroed;
  api.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &are_zeroed);
  api.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  cupti::check(api, api.cuptiActivityRegisterCallbacks(give_buffer, take_buffer),
               "preparing to record activities");
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
        CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_RUNTIME,
        CUPTI_ACTIVITY_KIND_DRIVER}) {
    cupti::check(api, api.cuptiActivityEnable(kind), "recording activities");
  }
}

void launching(std::uint32_t correlation) {
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
  all.delivery.drain(last_patience);
  all.channel.send(Bye{all.lost});
}

}  // namespace warpmeter::inject::tracing
