// measure() is the algorithm: for every batch prepare an image, run all passes, decode, evaluate.
#include "collector/cupti/profiler.h"

#include <fmt/format.h>

#include <algorithm>

#include "schema/error.h"

namespace warpmeter::cupti {
namespace {

/// Ranges of one batch. Measured on an H200 with the standard set; see README of tests/device.
constexpr std::size_t batch_ranges = 256;

/// More passes than any set of metrics needs; a guard against a session that never ends.
constexpr int most_passes = 1000;

void initialize(const CuptiApi& api) {
  // Once a process; CUPTI counts it as an error to initialise twice with de-initialising between.
  static const CUptiResult result = [&] {
    WARPMETER_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, parameters);
    return api.cuptiProfilerInitialize(&parameters);
  }();
  check(api, result, "starting the profiler");
}

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

std::vector<std::uint8_t> availability(const CuptiApi& api, const Context& context) {
  WARPMETER_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, parameters);
  parameters.ctx = context.handle();
  check(api, api.cuptiProfilerGetCounterAvailability(&parameters), "asking for the counters");
  std::vector<std::uint8_t> image(parameters.counterAvailabilityImageSize);
  parameters.pCounterAvailabilityImage = image.data();
  check(api, api.cuptiProfilerGetCounterAvailability(&parameters), "asking for the counters");
  return image;
}

}  // namespace

CounterSupport probe_counters(const CuptiApi& api, const Context& context) {
  CounterSupport support;
  try {
    initialize(api);
    if (const std::string why = obstacle(api, context.device()); !why.empty()) {
      support.unavailable = "this device gives no counters: " + why;
      return support;
    }
    support.availability = availability(api, context);
    const Profiler profiler(api, context);
  } catch (const Error& error) {
    support.availability.clear();
    support.unavailable = error.what();
  }
  return support;
}

std::string chip_name(const CuptiApi& api, int ordinal) {
  try {
    initialize(api);
  } catch (const Error&) {
    return "";
  }
  WARPMETER_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, parameters);
  parameters.deviceIndex = static_cast<std::size_t>(ordinal);
  if (api.cuptiDeviceGetChipName(&parameters) != CUPTI_SUCCESS) return "";
  return parameters.pChipName != nullptr ? parameters.pChipName : "";
}

Profiler::Profiler(const CuptiApi& api, const Context& context) : api_(api), context_(context) {
  initialize(api);
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, parameters);
  parameters.ctx = context.handle();
  check(api_, api_.cuptiRangeProfilerEnable(&parameters), "taking the counters");
  object_ = parameters.pRangeProfilerObject;
}

Profiler::~Profiler() {
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, parameters);
  parameters.pRangeProfilerObject = object_;
  api_.cuptiRangeProfilerDisable(&parameters);
}

void Profiler::prepare(const Plan& plan, std::size_t ranges) {
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = const_cast<const char**>(plan.metrics().data());
  size.numMetrics = plan.metrics().size();
  size.maxNumOfRanges = ranges;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
  check(api_, api_.cuptiRangeProfilerGetCounterDataSize(&size), "sizing the counter data");
  image_.assign(size.counterDataSize, 0);

  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, image);
  image.pRangeProfilerObject = object_;
  image.counterDataSize = image_.size();
  image.pCounterData = image_.data();
  check(api_, api_.cuptiRangeProfilerCounterDataImageInitialize(&image), "clearing counter data");

  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
  config.pRangeProfilerObject = object_;
  config.pConfig = plan.config().data();
  config.configSize = plan.config().size();
  config.pCounterDataImage = image_.data();
  config.counterDataImageSize = image_.size();
  config.range = CUPTI_AutoRange;
  config.replayMode = CUPTI_UserReplay;
  config.maxRangesPerPass = ranges;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.passIndex = 0;
  config.targetNestingLevel = 1;
  check(api_, api_.cuptiRangeProfilerSetConfig(&config), "choosing counters and replay");
}

void Profiler::run_passes(const std::function<void()>& launch_all) {
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, start);
  start.pRangeProfilerObject = object_;
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
  stop.pRangeProfilerObject = object_;
  for (int pass = 0; stop.isAllPassSubmitted == 0; ++pass) {
    if (pass == most_passes) {
      throw Error(ExitCode::no_hardware,
                  "CUPTI asks for pass after pass without an end; choose fewer metrics");
    }
    check(api_, api_.cuptiRangeProfilerStart(&start), "starting the counters");
    try {
      launch_all();
    } catch (...) {
      api_.cuptiRangeProfilerStop(&stop);
      throw;
    }
    check(api_, api_.cuptiRangeProfilerStop(&stop), "stopping the counters");
  }
}

void Profiler::decode(std::size_t launches) {
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, data);
  data.pRangeProfilerObject = object_;
  check(api_, api_.cuptiRangeProfilerDecodeData(&data), "decoding the counters");
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = image_.data();
  info.counterDataImageSize = image_.size();
  check(api_, api_.cuptiRangeProfilerGetCounterDataInfo(&info), "counting the ranges");
  if (data.numOfRangeDropped != 0 || info.numTotalRanges != launches) {
    throw Error(ExitCode::no_hardware,
                fmt::format("CUPTI returned {} ranges for {} launches and dropped {}; end other "
                            "profilers and measure again",
                            info.numTotalRanges, launches, data.numOfRangeDropped));
  }
}

std::vector<std::vector<schema::Counter>> Profiler::measure(
    const Plan& plan, std::size_t launches, const std::function<void(std::size_t)>& launch) {
  std::vector<std::vector<schema::Counter>> counters;
  counters.reserve(launches);
  if (plan.metrics().empty()) {
    counters.assign(launches, plan.unavailable(""));
    return counters;
  }
  for (std::size_t first = 0; first < launches; first += batch_ranges) {
    const std::size_t count = std::min(batch_ranges, launches - first);
    prepare(plan, count);
    run_passes([&] {
      for (std::size_t i = 0; i < count; ++i) launch(first + i);
      check(context_.api(), context_.synchronize(), "running the kernels under the profiler");
    });
    decode(count);
    for (std::size_t i = 0; i < count; ++i) counters.push_back(plan.evaluate(image_, i));
  }
  return counters;
}

}  // namespace warpmeter::cupti
