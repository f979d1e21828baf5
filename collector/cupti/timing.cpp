// SPDX-License-Identifier: MIT
// CUPTI asks for buffers and returns them full through two callbacks without an argument of ours,
// possibly on a thread of its own; so the records of the one recording that can be under way at a
// time are collected in one place behind a lock.
#include "collector/cupti/timing.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "collector/cupti/planner.h"

namespace warpmeter::cupti {
namespace {

struct Record {
  std::string kernel;
  std::uint64_t start_ns = 0, end_ns = 0;
};

struct Collector {
  const CuptiApi* api = nullptr;
  std::mutex mutex;
  std::vector<Record> records;
};

Collector& collector() {
  static Collector instance;
  return instance;
}

constexpr std::size_t buffer_bytes = 1 << 20;
constexpr std::size_t buffer_alignment = 8;  // ACTIVITY_RECORD_ALIGNMENT of cupti.h

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes));
  *size = *buffer != nullptr ? buffer_bytes : 0;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid_bytes) {
  Collector& all = collector();
  CUpti_Activity* activity = nullptr;
  while (all.api->cuptiActivityGetNextRecord(buffer, valid_bytes, &activity) == CUPTI_SUCCESS) {
    if (activity->kind != CUPTI_ACTIVITY_KIND_KERNEL &&
        activity->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      continue;
    }
    const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel10*>(activity);
    const std::lock_guard lock(all.mutex);
    all.records.push_back({kernel.name != nullptr ? kernel.name : "", kernel.start, kernel.end});
  }
  std::free(buffer);
}

/// An object of this class keeps recording on.
class Recording {
 public:
  Recording(const CuptiApi& api, const Context& context) : api_(api), context_(context) {
    collector().api = &api;
    collector().records.clear();
    static const CUptiResult registered =
        api.cuptiActivityRegisterCallbacks(give_buffer, take_buffer);
    check(api_, registered, "preparing to record kernels");
    check(api_, api_.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_KERNEL), "recording kernels");
  }
  ~Recording() {
    // After an exception kernels may still run: none of them may end up in the next recording.
    context_.synchronize();
    api_.cuptiActivityFlushAll(0);
    api_.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_KERNEL);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  std::vector<Record> finish() {
    check(context_.api(), context_.synchronize(), "running the kernel for its time");
    check(api_, api_.cuptiActivityFlushAll(0), "reading the records of kernels");
    const std::lock_guard lock(collector().mutex);
    return std::exchange(collector().records, {});
  }

 private:
  const CuptiApi& api_;
  const Context& context_;
};

/// The kernels that ran, in their order.
std::vector<Record> record_kernels(const CuptiApi& api, const Context& context,
                                   const std::function<void()>& enqueue) {
  Recording recording(api, context);
  enqueue();
  std::vector<Record> records = recording.finish();
  std::sort(records.begin(), records.end(),
            [](const Record& a, const Record& b) { return a.start_ns < b.start_ns; });
  return records;
}

double elapsed_ns(const Record& record) {
  if (record.start_ns == 0 || record.end_ns < record.start_ns) {
    throw Error(ExitCode::no_hardware,
                "CUPTI recorded a kernel without its time; end other profilers and measure again");
  }
  return static_cast<double>(record.end_ns - record.start_ns);
}

}  // namespace

std::vector<double> record_durations(const CuptiApi& api, const Context& context,
                                     const std::string& kernel,
                                     const std::function<void()>& enqueue) {
  std::vector<double> durations_ns;
  for (const Record& each : record_kernels(api, context, enqueue)) {
    if (each.kernel == kernel) durations_ns.push_back(elapsed_ns(each));
  }
  return durations_ns;
}

std::vector<double> record_calls(const CuptiApi& api, const Context& context, std::size_t calls,
                                 const std::function<void()>& enqueue) {
  const std::vector<Record> records = record_kernels(api, context, enqueue);
  if (records.empty() || records.size() % calls != 0) return {};
  const std::size_t of_call = records.size() / calls;
  std::vector<double> durations_ns(calls);
  for (std::size_t i = 0; i < records.size(); ++i) {
    durations_ns[i / of_call] += elapsed_ns(records[i]);
  }
  return durations_ns;
}

std::size_t count_kernels(const CuptiApi& api, const Context& context,
                          const std::function<void()>& enqueue) {
  return record_kernels(api, context, enqueue).size();
}

}  // namespace warpmeter::cupti
