// SPDX-License-Identifier: MIT
#include "collector/run/timing.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "collector/run/launch_record.h"
#include "collector/run/nvtx.h"

namespace warpmeter::run {

bool time_in_turns(Workload& workload, std::span<Pending> launches, const StoppingRule& rule,
                   schema::CacheState cache, const std::function<bool()>& stop) {
  constexpr int turn = 10;  // samples: long enough to be warm, short beside the drift of clocks
  const auto budget = rule.time_budget * static_cast<double>(launches.size());
  const auto begin = std::chrono::steady_clock::now();
  for (Pending& pending : launches) {
    pending.record.timing.emplace();
    pending.record.timing->cache = cache;
  }
  bool all_known = false;
  while (!all_known) {
    all_known = true;
    for (Pending& pending : launches) {
      const NvtxRange range(range_name(pending.record, "time"));
      schema::Timing& timing = *pending.record.timing;
      const int taken = static_cast<int>(timing.samples_ns.size());
      if (taken >= rule.max_samples) continue;
      const int wanted = launches.size() > 1 ? turn : std::max(rule.min_samples, taken / 2);
      const std::vector<double> samples =
          workload.time(pending.launch, cache, taken == 0 ? rule.warm_up : 1,
                        std::min(wanted, rule.max_samples - taken));
      if (stop()) return false;
      timing.samples_ns.insert(timing.samples_ns.end(), samples.begin(), samples.end());
      timing.relative_confidence = median_interval(timing.samples_ns).relative_half_width();
      const bool is_over = std::chrono::steady_clock::now() - begin > budget;
      timing.stopped_by = why_stopped(rule, static_cast<int>(timing.samples_ns.size()),
                                      timing.relative_confidence, is_over);
      all_known = all_known && !timing.stopped_by.empty();
    }
  }
  return true;
}

}  // namespace warpmeter::run
