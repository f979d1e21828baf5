// SPDX-License-Identifier: MIT
#include "collector/profile/later_pass.h"

namespace warpmeter::profile {

schema::Timing timing_of(double duration_ns) {
  return {{duration_ns}, schema::CacheState::warm, 0, "the program's own launch"};
}

void LaterPass::add(std::uint32_t identity, const std::string& device,
                    const schema::Launch& launch) {
  const auto [place, is_new] = known_.try_emplace({identity, launch.nvtx_range, device},
                                                  static_cast<std::uint32_t>(kinds_.size()));
  if (is_new) {
    kinds_.push_back({launch, device});
    kinds_.back().launch.counters.clear();
    kinds_.back().launch.timing.reset();
  }
  kind_of_.push_back(place->second);
  for (const schema::Counter& counter : launch.counters) {
    const auto [reason, is_first] =
        reason_numbers_.try_emplace(counter.reason, static_cast<std::uint32_t>(reasons_.size()));
    if (is_first) reasons_.push_back(counter.reason);
    figures_.push_back({counter.value.value_or(0), reason->second,
                        counter.value ? counter.grade : schema::Grade::unavailable});
  }
  if (launch.timing) durations_ns_.push_back(launch.timing->samples_ns.front());
}

std::vector<schema::Counter> LaterPass::counters(std::size_t place) const {
  std::vector<schema::Counter> all;
  const std::size_t begin = place * pass_.counters.size();
  for (std::size_t i = 0; i < pass_.counters.size(); ++i) {
    const Figure& figure = figures_[begin + i];
    const bool has_value = figure.grade != schema::Grade::unavailable;
    all.push_back({pass_.counters[i], has_value ? std::optional(figure.value) : std::nullopt,
                   figure.grade, reasons_[figure.reason]});
  }
  return all;
}

schema::Completion LaterPass::completion(std::size_t place, std::int64_t launch_id) const {
  schema::Completion completion{launch_id, counters(place), std::nullopt};
  if (!durations_ns_.empty()) completion.timing = timing_of(durations_ns_[place]);
  return completion;
}

schema::Launch LaterPass::launch(std::size_t place) const {
  schema::Launch launch = kinds_[kind_of_[place]].launch;
  launch.counters = counters(place);
  return launch;
}

}  // namespace warpmeter::profile
