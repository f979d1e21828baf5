#include "collector/inject/range_session.h"

#include <fmt/format.h>

#include "schema/error.h"

namespace warpmeter::inject {

using cupti::check;

RangeSession::RangeSession(const cupti::CuptiApi& api, CUcontext context, const cupti::Plan& plan)
    : api_(api), plan_(plan) {
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
  enable.ctx = context;
  check(api_, api_.cuptiRangeProfilerEnable(&enable), "taking the counters");
  object_ = enable.pRangeProfilerObject;

  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = const_cast<const char**>(plan_.metrics().data());
  size.numMetrics = plan_.metrics().size();
  size.maxNumOfRanges = 1;
  size.maxNumRangeTreeNodes = 1;
  check(api_, api_.cuptiRangeProfilerGetCounterDataSize(&size), "sizing the counter data");
  pristine_.assign(size.counterDataSize, 0);

  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, image);
  image.pRangeProfilerObject = object_;
  image.counterDataSize = pristine_.size();
  image.pCounterData = pristine_.data();
  check(api_, api_.cuptiRangeProfilerCounterDataImageInitialize(&image), "clearing counter data");
  image_ = pristine_;
  configure();
}

RangeSession::~RangeSession() {
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_Disable_Params, parameters);
  parameters.pRangeProfilerObject = object_;
  api_.cuptiRangeProfilerDisable(&parameters);
}

void RangeSession::configure() {
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig_Params, config);
  config.pRangeProfilerObject = object_;
  config.pConfig = plan_.config().data();
  config.configSize = plan_.config().size();
  config.pCounterDataImage = image_.data();
  config.counterDataImageSize = image_.size();
  config.range = CUPTI_AutoRange;
  config.replayMode = CUPTI_KernelReplay;
  config.maxRangesPerPass = 1;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.passIndex = 0;
  config.targetNestingLevel = 1;
  check(api_, api_.cuptiRangeProfilerSetConfig(&config), "choosing counters and replay");
}

void RangeSession::start() {
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_Start_Params, parameters);
  parameters.pRangeProfilerObject = object_;
  check(api_, api_.cuptiRangeProfilerStart(&parameters), "starting the counters");
}

std::vector<schema::Counter> RangeSession::finish() {
  // Whatever happens, the next launch finds an image without a range.
  struct Restore {
    RangeSession& session;
    ~Restore() { session.image_ = session.pristine_; }
  } restore{*this};

  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
  stop.pRangeProfilerObject = object_;
  check(api_, api_.cuptiRangeProfilerStop(&stop), "stopping the counters");
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData_Params, data);
  data.pRangeProfilerObject = object_;
  check(api_, api_.cuptiRangeProfilerDecodeData(&data), "decoding the counters");
  WARPMETER_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
  info.pCounterDataImage = image_.data();
  info.counterDataImageSize = image_.size();
  check(api_, api_.cuptiRangeProfilerGetCounterDataInfo(&info), "counting the ranges");
  if (info.numTotalRanges != 1 || data.numOfRangeDropped != 0) {
    throw Error(ExitCode::no_hardware,
                fmt::format("CUPTI made {} ranges of this launch and dropped {}",
                            info.numTotalRanges, data.numOfRangeDropped));
  }
  return plan_.evaluate(image_, 0);
}

}  // namespace warpmeter::inject
