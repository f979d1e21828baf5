// SPDX-License-Identifier: MIT
#include "collector/cupti/stream_load.h"

#include <utility>

namespace warpmeter::cupti {

StreamLoad::StreamLoad(const Context& context, std::function<void()> launch)
    : context_(context), launch_(std::move(launch)), begin_(record()) {}

StreamLoad::~StreamLoad() {
  context_.synchronize();
  context_.api().cuEventDestroy_v2(begin_);
  for (const CUevent end : ends_) context_.api().cuEventDestroy_v2(end);
}

Load StreamLoad::load() {
  return {[this](std::size_t launches) { begin_batch(launches); },
          [this] { return batches_done(); }, [this] { return end_s_; }};
}

CUevent StreamLoad::record() {
  CUevent event = nullptr;
  check(context_.api(), context_.api().cuEventCreate(&event, CU_EVENT_DEFAULT),
        "creating an event");
  const CUresult result = context_.api().cuEventRecord(event, context_.stream());
  if (result != CUDA_SUCCESS) context_.api().cuEventDestroy_v2(event);
  check(context_.api(), result, "recording an event");
  return event;
}

void StreamLoad::begin_batch(std::size_t launches) {
  for (std::size_t i = 0; i < launches; ++i) launch_();
  ends_.push_back(record());
}

std::size_t StreamLoad::batches_done() {
  while (!ends_.empty()) {
    const CUresult result = context_.api().cuEventQuery(ends_.front());
    if (result == CUDA_ERROR_NOT_READY) break;
    check(context_.api(), result, "repeating a launch");
    float milliseconds = 0;
    check(context_.api(),
          context_.api().cuEventElapsedTime_v2(&milliseconds, begin_, ends_.front()),
          "reading an event's time");
    end_s_ = milliseconds / 1000.0;
    context_.api().cuEventDestroy_v2(ends_.front());
    ends_.pop_front();
    ++done_;
  }
  return done_;
}

MeasuredEnergy measure_energy(const Context& context, const std::string& uuid,
                              const std::function<void()>& launch,
                              const std::function<void()>& restore,
                              const std::function<bool()>& cancelled) {
  const PowerSource source = power_source(uuid);
  const EnergyRule rule;
  const auto watch = [&](const std::function<void()>& repeated) {
    StreamLoad stream(context, repeated);
    const Load load = stream.load();
    return watch_power(source, &load, rule, cancelled);
  };
  const SteadyPower busy = watch(launch);
  std::optional<SteadyPower> restoring;
  if (restore && busy.failure.empty()) restoring = watch(restore);
  SteadyPower idle;
  if (busy.failure.empty()) idle = watch_power(source, nullptr, rule, cancelled);
  return {energy_counters(busy, restoring ? &*restoring : nullptr, idle), busy.samples};
}

}  // namespace warpmeter::cupti
