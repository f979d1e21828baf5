// SPDX-License-Identifier: MIT
// The list of peaks, and how each is measured: a way is a kernel with its launch. Every kernel
// tells the work of a block, so a rate is work × blocks / duration.
#include "collector/cupti/peaks/peaks.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "collector/cupti/context.h"
#include "collector/cupti/module.h"
#include "collector/cupti/peaks/images.h"
#include "collector/cupti/peaks/report.h"
#include "collector/cupti/peaks/warpgroup_images.h"
#include "collector/cupti/timing.h"

namespace warpmeter::cupti {
namespace {

namespace images = kernels::images;

constexpr unsigned vector_bytes = 16;
constexpr std::uint64_t most_buffer_bytes = std::uint64_t{2} << 30;  // much more than L2 holds

struct Way {
  const kernels::Image* image;
  const char* entry;
  unsigned threads;
  unsigned blocks;   ///< a multiprocessor; 0: as many as the buffer has vectors for
  unsigned vectors;  ///< a thread's of the buffer, or a block's of a cache
  unsigned repeats;
};

struct Measured {
  const char *name, *unit;
  double scale;  ///< from work a nanosecond
  int launches;
  std::vector<Way> ways;
};

/// Launches take a millisecond or less on an H200. Products are short and few: a tensor core that
/// is busy for some 10 ms has its clock lowered.
const std::vector<Measured>& all_peaks() {
  const kernels::Image *plain = &images::peaks, *tensor = &images::tensor_peaks,
                       *warpgroup = &images::warpgroup_peaks;
  constexpr unsigned kib = 1024 / vector_bytes;
  static const std::vector<Measured> all = {
      {"device_memory_copy",
       "GB/s",
       1,
       15,
       {{plain, "copy_1", 256, 0, 1, 1},
        {plain, "copy_1", 512, 0, 1, 1},
        {plain, "copy_2", 1024, 0, 2, 1},
        {plain, "copy_8", 1024, 0, 8, 1}}},
      {"device_memory_read",
       "GB/s",
       1,
       15,
       {{plain, "read_4", 256, 0, 4, 1},
        {plain, "read_8", 512, 0, 8, 1},
        {plain, "read_16", 1024, 0, 16, 1}}},
      {"l2_read",
       "GB/s",
       1,
       15,
       {{plain, "read_l2", 256, 2, 32 * kib, 400},
        {plain, "read_l2", 256, 4, 32 * kib, 200},
        {plain, "read_l2", 512, 1, 64 * kib, 400},
        {plain, "read_l2", 512, 2, 64 * kib, 200}}},
      {"l1_read", "GB/s", 1, 15, {{plain, "read_l1", 256, 8, 32 * kib, 1000}}},
      {"shared_read", "GB/s", 1, 15, {{plain, "read_shared", 256, 24, 32 * kib, 300}}},
      {"fp64",
       "TFLOP/s",
       1e-3,
       15,
       {{plain, "fma_fp64", 256, 8, 1, 250}, {plain, "fma_fp64", 256, 4, 1, 500}}},
      {"fp32",
       "TFLOP/s",
       1e-3,
       15,
       {{plain, "fma_fp32", 256, 8, 1, 500}, {plain, "fma_fp32", 256, 4, 1, 1000}}},
      {"fp16",
       "TFLOP/s",
       1e-3,
       15,
       {{plain, "fma_fp16", 256, 8, 1, 500}, {plain, "fma_fp16_pairs", 256, 8, 1, 500}}},
      {"tensor_fp64",
       "TFLOP/s",
       1e-3,
       5,
       {{tensor, "mma_fp64", 256, 1, 1, 1000}, {tensor, "mma_fp64", 128, 3, 1, 1000}}},
      {"tensor_tf32",
       "TFLOP/s",
       1e-3,
       5,
       {{tensor, "mma_tf32", 256, 4, 1, 1000},
        {warpgroup, "wgmma_tf32", 128, 2, 1, 400},
        {warpgroup, "wgmma_tf32", 128, 3, 1, 400}}},
      {"tensor_bf16",
       "TFLOP/s",
       1e-3,
       5,
       {{tensor, "mma_bf16", 256, 4, 1, 1000},
        {warpgroup, "wgmma_bf16", 128, 2, 1, 400},
        {warpgroup, "wgmma_bf16", 128, 3, 1, 400}}},
      {"tensor_fp16",
       "TFLOP/s",
       1e-3,
       5,
       {{tensor, "mma_fp16", 256, 4, 1, 1000},
        {warpgroup, "wgmma_fp16", 128, 2, 1, 400},
        {warpgroup, "wgmma_fp16", 128, 3, 1, 400}}},
      {"tensor_fp8",
       "TFLOP/s",
       1e-3,
       5,
       {{warpgroup, "wgmma_fp8", 128, 2, 1, 400}, {warpgroup, "wgmma_fp8", 128, 3, 1, 400}}},
      {"tensor_int8",
       "TOP/s",
       1e-3,
       5,
       {{tensor, "mma_int8", 256, 4, 1, 1000},
        {warpgroup, "wgmma_int8", 128, 2, 1, 400},
        {warpgroup, "wgmma_int8", 128, 3, 1, 400}}},
  };
  return all;
}

/// The largest power of two that both buffers may have.
std::uint64_t bytes_of_a_buffer(const Context& context) {
  std::size_t free = 0, total = 0;
  check(context.api(), context.api().cuMemGetInfo_v2(&free, &total), "asking for free memory");
  std::uint64_t bytes = most_buffer_bytes;
  while (bytes > free / 3) bytes /= 2;
  return bytes;
}

class Meter {
 public:
  explicit Meter(int ordinal)
      : context_(ordinal),
        modules_(context_, capability(context_)),
        multiprocessors_(
            static_cast<unsigned>(context_.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT))),
        to_(context_, bytes_of_a_buffer(context_)),
        from_(context_, to_.bytes()),
        report_(context_, sizeof(Report)) {
    for (const Memory* memory : {&to_, &from_, &report_}) {
      check(context_.api(),
            context_.api().cuMemsetD32Async(memory->address(), 0, memory->bytes() / 4,
                                            context_.stream()),
            "setting memory");
    }
    probe_ = &find(probe);
    warm_up();
  }

  schema::Peak measure(const Measured& measured) {
    schema::Peak peak{measured.name, measured.unit, {}, {}, ""};
    for (const Way& way : measured.ways) {
      if (bytes_needed(way) > from_.bytes()) {
        peak.reason = "too little of the card's memory is free: end what else runs on it";
        continue;
      }
      std::string failure;
      const Function* function = modules_.find({way.image, way.entry, {}, ""}, failure);
      if (function == nullptr) {
        if (peak.reason.empty()) peak.reason = failure;
        continue;
      }
      take_better(peak, way, *function, measured);
    }
    if (peak.value) peak.reason.clear();
    return peak;
  }

 private:
  static constexpr int unmeasured = 2;
  static constexpr std::chrono::milliseconds rest{30};
  static constexpr Way probe{&images::peaks, "clock_probe", 1, 1, 1, 1};

  static int capability(const Context& context) {
    return context.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
           context.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  }

  unsigned blocks_of(const Way& way) const {
    if (way.blocks > 0) return way.blocks * multiprocessors_;
    return static_cast<unsigned>(to_.bytes() / vector_bytes / way.threads / way.vectors);
  }

  /// The bytes that a way needs of the buffer: blocks of read_l2 have vectors of their own.
  std::uint64_t bytes_needed(const Way& way) const {
    const std::uint64_t bytes = std::uint64_t{way.vectors} * vector_bytes;
    if (way.blocks == 0) return bytes * way.threads;
    return way.entry == std::string_view("read_l2") ? bytes * blocks_of(way) : bytes;
  }

  void launch(const Way& way, const Function& function, unsigned blocks) {
    CUdeviceptr to = to_.address(), from = from_.address(), report = report_.address();
    unsigned vectors = way.vectors, repeats = way.repeats;
    void* arguments[] = {&to, &from, &vectors, &repeats, &report};
    check(context_.api(),
          context_.api().cuLaunchKernel(function.handle, blocks, 1, 1, way.threads, 1, 1, 0,
                                        context_.stream(), arguments, nullptr),
          "launching a kernel");
  }

  const Function& find(const Way& way) {
    std::string failure;
    const Function* function = modules_.find({way.image, way.entry, {}, ""}, failure);
    if (function == nullptr) throw Error(ExitCode::no_hardware, failure);
    return *function;
  }

  /// A quarter of a second of work, after which the clocks are those of a busy card.
  void warm_up() {
    const Way way{&images::peaks, "fma_fp32", 256, 8, 1, 500};
    const Function& function = find(way);
    for (int i = 0; i < 250; ++i) launch(way, function, blocks_of(way));
    check(context_.api(), context_.synchronize(), "warming up");
  }

  void take_better(schema::Peak& peak, const Way& way, const Function& function,
                   const Measured& measured) {
    const int launches = unmeasured + measured.launches;
    std::this_thread::sleep_for(rest);
    const std::vector<double> durations =
        record_durations(cupti_library().api, context_, way.entry, [&] {
          for (int i = 0; i < launches; ++i) launch(way, function, blocks_of(way));
          launch(probe, *probe_, 1);
        });
    check(context_.api(), context_.synchronize(), "measuring a peak");
    if (durations.size() != static_cast<std::size_t>(launches)) {
      peak.reason = "CUPTI did not record its launches; end other profilers and measure again";
      return;
    }
    const double shortest_ns = *std::min_element(durations.begin() + unmeasured, durations.end());
    Report report{};
    check(context_.api(),
          context_.api().cuMemcpyDtoH_v2(&report, report_.address(), sizeof(report)),
          "reading a kernel's report");
    const double value =
        static_cast<double>(report.work) * blocks_of(way) / shortest_ns * measured.scale;
    if (peak.value && *peak.value >= value) return;
    peak.value = value;
    if (report.nanoseconds > 0) {
      peak.sm_clock_mhz =
          1000 * static_cast<double>(report.cycles) / static_cast<double>(report.nanoseconds);
    }
  }

  Context context_;
  Modules modules_;
  unsigned multiprocessors_;
  const Function* probe_ = nullptr;
  Memory to_, from_, report_;
};

}  // namespace

std::vector<schema::Peak> measure_peaks(int ordinal) {
  // The driver first: CUPTI crashes without one.
  if (!driver_library().ok()) throw Error(ExitCode::no_hardware, driver_library().sentence());
  if (!cupti_library().ok()) throw Error(ExitCode::no_hardware, cupti_library().sentence());
  Meter meter(ordinal);
  std::vector<schema::Peak> peaks;
  for (const Measured& measured : all_peaks()) peaks.push_back(meter.measure(measured));
  return peaks;
}

}  // namespace warpmeter::cupti
