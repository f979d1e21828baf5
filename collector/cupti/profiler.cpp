// SPDX-License-Identifier: MIT
// measure() is the algorithm: for every batch run all passes, decode, and evaluate while the next
// batch runs.
#include "collector/cupti/profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>

#include "base/error.h"
#include "base/with_noun.h"

namespace warpmeter::cupti {
namespace {

/// Ranges of one pass. More cost memory (1.1 MB of the device's each) and a longer first start, and
/// gain nothing: 103 µs a launch with 16, 105 with 32, 123 with 8.
constexpr std::size_t batch_ranges = 32;

/// The other thread may need the loader's lock, and the one that waits may have it.
constexpr std::chrono::seconds patience_for_start{10};

/// Which of the device's properties keeps it from being profiled; empty: none.
std::string obstacle(const CuptiApi& api, CUdevice device) {
  WARPMETER_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, parameters);
  parameters.cuDevice = device;
  parameters.api = CUPTI_PROFILER_RANGE_PROFILING;
  check(api, api.cuptiProfilerDeviceSupported(&parameters), "asking whether the device counts");
  if (parameters.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return "";
  const auto lacks = [](CUpti_Profiler_Support_Level level) {
    return level != CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  };
  if (lacks(parameters.architecture)) return "its architecture is older than Turing (7.5)";
  if (lacks(parameters.vGpu)) return "it is a virtual GPU with profiling switched off";
  if (lacks(parameters.confidentialCompute)) return "confidential computing is on";
  if (lacks(parameters.sli)) return "SLI is on";
  if (lacks(parameters.cmp)) return "it is a mining processor";
  if (lacks(parameters.wsl)) return "it runs under WSL without counter access";
  return "CUPTI gives no reason";
}

std::vector<std::uint8_t> availability(const CuptiApi& api, CUcontext context) {
  WARPMETER_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, parameters);
  parameters.ctx = context;
  check(api, api.cuptiProfilerGetCounterAvailability(&parameters), "asking for the counters");
  std::vector<std::uint8_t> image(parameters.counterAvailabilityImageSize);
  parameters.pCounterAvailabilityImage = image.data();
  check(api, api.cuptiProfilerGetCounterAvailability(&parameters), "asking for the counters");
  return image;
}

}  // namespace

std::string sharing(CUdevice device) {
  int shared = 0;
  const auto& driver = driver_library();
  if (!driver.ok() || driver.api.cuDeviceGetAttribute(&shared, CU_DEVICE_ATTRIBUTE_MPS_ENABLED,
                                                      device) != CUDA_SUCCESS) {
    return "";
  }
  return shared == 0 ? ""
                     : "; MPS shares this device, and CUPTI does not count under MPS: end it with "
                       "`echo quit | nvidia-cuda-mps-control`";
}

void start_profiling(const CuptiApi& api) {
  // CUPTI counts it as an error to initialise twice without de-initialising between.
  static std::atomic<bool> has_begun{false};
  static std::promise<CUptiResult> promise;
  static const std::shared_future<CUptiResult> result = promise.get_future().share();
  if (!has_begun.exchange(true)) {
    WARPMETER_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, parameters);
    promise.set_value(api.cuptiProfilerInitialize(&parameters));
  } else if (result.wait_for(patience_for_start) != std::future_status::ready) {
    throw Error(ExitCode::no_hardware,
                "another thread makes CUPTI ready to count and does not end; if a library launches "
                "kernels while it is loaded, launch them later");
  }
  check(api, result.get(), "starting the profiler");
}

std::string profiling_obstacle(const CuptiApi& api, CUdevice device) {
  try {
    start_profiling(api);
    const std::string why = obstacle(api, device);
    return why.empty() ? "" : "this device gives no counters: " + why;
  } catch (const Error& error) {
    return error.what() + sharing(device);
  }
}

CounterSupport find_counters(const CuptiApi& api, CUcontext context, CUdevice device) {
  CounterSupport support{{}, profiling_obstacle(api, device)};
  if (!support.unavailable.empty()) return support;
  try {
    support.availability = availability(api, context);
  } catch (const Error& error) {
    support.unavailable = error.what() + sharing(device);
  }
  return support;
}

CounterSupport probe_counters(const CuptiApi& api, const Context& context) {
  CounterSupport support = find_counters(api, context.handle(), context.device());
  if (!support.unavailable.empty()) return support;
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
  enable.ctx = context.handle();
  try {
    check(api, api.cuptiRangeProfilerEnable(&enable), "taking the counters");
    WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, disable);
    disable.pRangeProfilerObject = enable.pRangeProfilerObject;
    api.cuptiRangeProfilerDisable(&disable);
  } catch (const Error& error) {
    support = {{}, error.what() + sharing(context.device())};
  }
  return support;
}

std::string chip_name(const CuptiApi& api, int ordinal) {
  try {
    start_profiling(api);
  } catch (const Error&) {
    return "";
  }
  WARPMETER_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, parameters);
  parameters.deviceIndex = static_cast<std::size_t>(ordinal);
  if (api.cuptiDeviceGetChipName(&parameters) != CUPTI_SUCCESS) return "";
  return parameters.pChipName != nullptr ? parameters.pChipName : "";
}

Profiler::Profiler(const CuptiApi& api, const Context& context, const Plan& plan)
    : context_(context),
      plan_(plan),
      ranges_(api, context.handle(), plan, CUPTI_UserReplay, batch_ranges) {
  images_.fill(ranges_.pristine());
  prime();
}

/// The empty pass that puts the later ones into their cheap order; see profiler.h.
void Profiler::prime() {
  ranges_.configure(images_[0], plan_.passes() - 1);
  run_pass([] {});
  ranges_.decode();
  images_[0] = ranges_.pristine();
}

/// True when it was the last pass of the plan.
bool Profiler::run_pass(const std::function<void()>& launch_all) {
  ranges_.start();
  try {
    launch_all();
  } catch (...) {
    context_.synchronize();
    try {
      ranges_.stop();
    } catch (const Error&) {
      // The first error is the one that matters.
    }
    throw;
  }
  return ranges_.stop();
}

std::vector<std::vector<schema::Counter>> Profiler::measure(
    std::span<const KernelCode> codes, const std::function<void(std::size_t)>& launch) {
  using Counters = std::vector<std::vector<schema::Counter>>;
  Counters counters;
  counters.reserve(codes.size());
  std::future<Counters> reading;  // the reading of the batch before; its destructor waits
  const auto collect = [&] {
    if (!reading.valid()) return;
    for (auto& values : reading.get()) counters.push_back(std::move(values));
  };
  for (std::size_t first = 0; first < codes.size(); first += batch_ranges) {
    const std::size_t count = std::min(batch_ranges, codes.size() - first);
    Image& image = images_[first / batch_ranges % 2];
    ranges_.configure(image, 0);
    const auto launch_all = [&] {
      for (std::size_t i = 0; i < count; ++i) launch(first + i);
      check(context_.api(), context_.synchronize(), "running the kernels under the profiler");
    };
    for (std::size_t pass = 1; !run_pass(launch_all); ++pass) {
      if (pass == plan_.passes()) {
        throw Error(ExitCode::no_hardware,
                    fmt::format("CUPTI wants more than the {} that it planned; choose fewer "
                                "metrics",
                                with_noun(plan_.passes(), "pass", "passes")));
      }
    }
    ranges_.decode(image, count);
    collect();
    reading = std::async(std::launch::async, [this, &image, batch = codes.subspan(first, count)] {
      Counters values;
      for (std::size_t i = 0; i < batch.size(); ++i) {
        values.push_back(plan_.evaluate(image, i, batch[i]));
      }
      image = ranges_.pristine();
      return values;
    });
  }
  collect();
  return counters;
}

}  // namespace warpmeter::cupti
