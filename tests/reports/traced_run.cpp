// SPDX-License-Identifier: MIT
#include "tests/reports/traced_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace warpmeter::reports {
namespace {

constexpr std::size_t batch_size = 50'000;

/// One process and its device.
class Process {
 public:
  Process(schema::Store& store, std::int64_t run, std::int64_t number, std::int64_t device)
      : store_(store), run_(run), number_(number) {
    for (const char* name : {"gemm", "softmax", "layer_norm", "bias_gelu"}) {
      schema::ActivityShape kernel = on_device("kernel", 7, device);
      kernel.name = fmt::format("void {}<float>(float*, float const*, int)", name);
      kernel.symbol = name;
      kernel.grid = {264, 1, 1};
      kernel.block = {256, 1, 1};
      kernel.registers = 64;
      add_shape(kernel);
    }
    schema::ActivityShape copy = on_device("copy", 13, device);
    copy.name = "[CUDA memcpy HtoD]";
    copy.source_memory = "Pinned";
    copy.target_memory = "Device";
    add_shape(copy);
    for (const char* name : {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaMalloc"}) {
      add_shape(on_thread("call", name));
    }
    for (const char* name : {"step", "forward"}) add_shape(on_thread("range", name));
  }

  /// A launch and its kernel; now and then a copy, an allocation that keeps the device waiting, the
  /// end of a range.
  void step() {
    add(launch_call, host_ns_, 3'000, ++correlation_);
    const std::int64_t start = std::max(host_ns_ + 4'000, device_ns_ + 500);
    const std::int64_t duration = 5'000 + correlation_ * 7919 % 15'000;
    add(static_cast<std::uint32_t>(correlation_ % 4), start, duration, correlation_);
    device_ns_ = start + duration;
    host_ns_ = std::max(host_ns_ + 4'000, device_ns_ - 40'000);
    if (correlation_ % 50 == 0) {
      add(copy_call, host_ns_, 2'000, ++correlation_);
      add(copy_work, host_ns_ + 5'000, 40'000, correlation_, 1 << 20);
      host_ns_ += 3'000;
    }
    if (correlation_ % 20 == 0) add(forward, step_ns_ + 1'000, host_ns_ - step_ns_ - 2'000, {});
    if (correlation_ % 20 == 0) {
      add(whole_step, step_ns_, host_ns_ - step_ns_, {});
      step_ns_ = host_ns_;
    }
    if (correlation_ % 300 == 7) {
      host_ns_ = device_ns_ + 10'000;
      const std::int64_t waits = 100'000 + correlation_ % 1'000 * 300;
      add(malloc_call, host_ns_, waits, ++correlation_);
      host_ns_ += waits + 20'000;
    }
  }

  void store() { store_.add_activities(run_, std::exchange(batch_, {})); }

  std::int64_t* next_id = nullptr;

 private:
  enum : std::uint32_t { copy_work = 4, launch_call, copy_call, malloc_call, whole_step, forward };

  schema::ActivityShape on_device(const char* kind, std::int64_t stream,
                                  std::int64_t device) const {
    schema::ActivityShape shape;
    shape.kind = kind;
    shape.process_id = number_;
    shape.device_id = device;
    shape.context = 1;
    shape.stream = stream;
    return shape;
  }
  schema::ActivityShape on_thread(const char* kind, const char* name) const {
    schema::ActivityShape shape;
    shape.kind = kind;
    shape.name = name;
    shape.process_id = number_;
    shape.thread_id = number_ + 1;
    return shape;
  }
  void add_shape(const schema::ActivityShape& shape) {
    batch_.shapes.emplace_back(first_shape() + shapes_++, shape);
  }
  std::uint32_t first_shape() const { return static_cast<std::uint32_t>(number_); }
  void add(std::uint32_t shape, std::int64_t start, std::int64_t duration,
           std::optional<std::int64_t> correlation, std::optional<std::int64_t> bytes = {}) {
    schema::Activity activity;
    activity.shape = first_shape() + shape;
    activity.start_ns = start;
    activity.duration_ns = duration;
    activity.correlation = correlation;
    activity.bytes = bytes;
    if (batch_.activities.empty()) batch_.first_id = *next_id;
    batch_.activities.push_back(activity);
    ++*next_id;
    if (batch_.activities.size() >= batch_size) store();
  }

  schema::Store& store_;
  std::int64_t run_, number_;
  std::uint32_t shapes_ = 0;
  schema::ActivityBatch batch_;
  std::int64_t host_ns_ = 1'000, device_ns_ = 0, step_ns_ = 0, correlation_ = 0;
};

std::int64_t add_device(schema::Store& store, std::int64_t run, std::int64_t ordinal) {
  schema::Device device;
  device.backend = "cupti";
  device.name = "NVIDIA H200";
  device.uuid = fmt::format("GPU-{}", ordinal);
  device.ordinal = static_cast<int>(ordinal);
  return store.add_device(run, device);
}

}  // namespace

std::int64_t add_traced_run(schema::Store& store, std::int64_t activities) {
  schema::Run run;
  run.backend = "cupti";
  run.host = "lab1";
  run.command = "warpmeter profile --trace --trace-api ./train";
  const std::int64_t id = store.begin_run(run);
  const std::array devices = {add_device(store, id, 0), add_device(store, id, 1)};
  schema::Launch launch;
  launch.family = "train";
  launch.variant = launch.kernel = "gemm";
  store.add_launch(id, devices[0], launch);
  std::int64_t next_id = 1;
  for (std::int64_t i = 0; i < 2; ++i) {
    Process process(store, id, 1000 * (i + 1), devices[static_cast<std::size_t>(i)]);
    process.next_id = &next_id;
    while (next_id <= activities * (i + 1) / 2) process.step();
    process.store();
  }
  store.end_run(id, schema::RunOutcome::done, "");
  return id;
}

}  // namespace warpmeter::reports
