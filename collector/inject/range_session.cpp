// SPDX-License-Identifier: MIT
#include "collector/inject/range_session.h"

namespace warpmeter::inject {

RangeSession::RangeSession(const cupti::CuptiApi& api, CUcontext context, const cupti::Plan& plan)
    : plan_(plan),
      profiler_(api, context, plan, CUPTI_KernelReplay, 1),
      image_(profiler_.pristine()) {
  profiler_.configure(image_, 0);
}

std::vector<schema::Counter> RangeSession::finish(const cupti::KernelCode& code) {
  // Whatever happens, the next launch finds an image without a range.
  struct Restore {
    RangeSession& session;
    ~Restore() { session.image_ = session.profiler_.pristine(); }
  } restore{*this};
  profiler_.stop();
  profiler_.decode(image_, 1);
  return plan_.evaluate(image_, 0, code);
}

}  // namespace warpmeter::inject
