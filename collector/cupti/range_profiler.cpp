// SPDX-License-Identifier: MIT
#include "collector/cupti/range_profiler.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/with_noun.h"

namespace warpmeter::cupti {

RangeProfiler::RangeProfiler(const CuptiApi& api, CUcontext context, const Plan& plan,
                             CUpti_ProfilerReplayMode replay, std::size_t ranges)
    : api_(api), plan_(plan), replay_(replay), ranges_(ranges) {
  enable(context);
  try {
    make_pristine();
  } catch (...) {
    disable();
    throw;
  }
}

RangeProfiler::~RangeProfiler() { disable(); }

void RangeProfiler::enable(CUcontext context) {
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, parameters);
  parameters.ctx = context;
  check(api_, api_.cuptiRangeProfilerEnable(&parameters), "taking the counters");
  object_ = parameters.pRangeProfilerObject;
}

void RangeProfiler::disable() {
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, parameters);
  parameters.pRangeProfilerObject = object_;
  api_.cuptiRangeProfilerDisable(&parameters);
}

void RangeProfiler::make_pristine() {
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = const_cast<const char**>(plan_.metrics().data());
  size.numMetrics = plan_.metrics().size();
  size.maxNumOfRanges = ranges_;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges_);
  check(api_, api_.cuptiRangeProfilerGetCounterDataSize(&size), "sizing the counter data");
  pristine_.assign(size.counterDataSize, 0);

  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, image);
  image.pRangeProfilerObject = object_;
  image.counterDataSize = pristine_.size();
  image.pCounterData = pristine_.data();
  check(api_, api_.cuptiRangeProfilerCounterDataImageInitialize(&image), "clearing counter data");
}

void RangeProfiler::configure(Image& image, std::size_t first_pass) {
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
  config.pRangeProfilerObject = object_;
  config.pConfig = plan_.config().data();
  config.configSize = plan_.config().size();
  config.pCounterDataImage = image.data();
  config.counterDataImageSize = image.size();
  config.range = CUPTI_AutoRange;
  config.replayMode = replay_;
  config.maxRangesPerPass = ranges_;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.passIndex = first_pass;
  config.targetNestingLevel = 1;
  check(api_, api_.cuptiRangeProfilerSetConfig(&config), "choosing counters and replay");
}

void RangeProfiler::start() {
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, parameters);
  parameters.pRangeProfilerObject = object_;
  check(api_, api_.cuptiRangeProfilerStart(&parameters), "starting the counters");
}

bool RangeProfiler::stop() {
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, parameters);
  parameters.pRangeProfilerObject = object_;
  check(api_, api_.cuptiRangeProfilerStop(&parameters), "stopping the counters");
  return parameters.isAllPassSubmitted != 0;
}

void RangeProfiler::decode() {
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, parameters);
  parameters.pRangeProfilerObject = object_;
  check(api_, api_.cuptiRangeProfilerDecodeData(&parameters), "decoding the counters");
  dropped_ = parameters.numOfRangeDropped;
}

void RangeProfiler::decode(const Image& image, std::size_t ranges) {
  decode();
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = image.data();
  info.counterDataImageSize = image.size();
  check(api_, api_.cuptiRangeProfilerGetCounterDataInfo(&info), "counting the ranges");
  if (dropped_ != 0 || info.numTotalRanges != ranges) {
    throw Error(ExitCode::no_hardware,
                fmt::format("CUPTI returned {} for {} and dropped {}; end other "
                            "profilers and measure again",
                            with_noun(info.numTotalRanges, "range"),
                            with_noun(ranges, "launch", "launches"), dropped_));
  }
}

}  // namespace warpmeter::cupti
