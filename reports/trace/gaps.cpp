// SPDX-License-Identifier: MIT
#include "reports/trace/gaps.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace warpmeter::reports {
namespace {

std::int64_t end_of(const TracedActivity& activity) {
  return *activity.start_ns + std::max<std::int64_t>(0, activity.duration_ns.value_or(0));
}

std::vector<Gap> gaps_of_devices(const Trace& trace, const Timeline& timeline) {
  using Device = std::pair<std::int64_t, std::string>;
  std::map<Device, std::size_t> last;  // the activity that ended last so far
  std::vector<Gap> gaps;
  for (const TimelinePlace& place : timeline.places) {
    const TimelineRow& row = timeline.rows[place.row];
    if (row.kind != TimelineRow::Kind::stream) continue;
    const TracedActivity& activity = trace.activities[place.activity];
    const auto [at, is_first] =
        last.try_emplace({row.device_ordinal.value_or(-1), row.device}, place.activity);
    if (is_first) continue;
    const std::int64_t end = end_of(trace.activities[at->second]);
    if (*activity.start_ns > end) {
      gaps.push_back(
          {row.device, end, *activity.start_ns - end, at->second, place.activity, {}, {}});
    }
    if (end_of(activity) >= end) at->second = place.activity;
  }
  return gaps;
}

void add_host(Gap& gap, const Trace& trace, const Timeline& timeline) {
  const auto process = trace.shapes[trace.activities[gap.after].shape].process_id;
  const std::int64_t gap_end = gap.start_ns + gap.duration_ns;
  const std::int64_t middle = gap.start_ns + gap.duration_ns / 2;
  std::map<std::string, std::int64_t> calls;
  for (const TimelinePlace& place : timeline.places) {
    const TracedActivity& activity = trace.activities[place.activity];
    if (*activity.start_ns >= gap_end) break;
    const TracedShape& shape = trace.shapes[activity.shape];
    if (shape.process_id != process || end_of(activity) <= gap.start_ns) continue;
    if (shape.kind == "range" && *activity.start_ns <= middle && end_of(activity) > middle) {
      gap.ranges.push_back(shape.name);
    }
    if (shape.kind != "call" || place.depth > 0) continue;
    calls[shape.name] +=
        std::min(end_of(activity), gap_end) - std::max(*activity.start_ns, gap.start_ns);
  }
  for (const auto& [name, ns] : calls) gap.calls.push_back({name, ns});
  std::stable_sort(gap.calls.begin(), gap.calls.end(),
                   [](const Gap::Call& a, const Gap::Call& b) { return a.ns > b.ns; });
}

}  // namespace

std::vector<Gap> longest_gaps(const Trace& trace, const Timeline& timeline, std::size_t most) {
  std::vector<Gap> gaps = gaps_of_devices(trace, timeline);
  std::stable_sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) {
    return std::tuple(-a.duration_ns, a.start_ns) < std::tuple(-b.duration_ns, b.start_ns);
  });
  if (gaps.size() > most) gaps.erase(gaps.begin() + static_cast<std::ptrdiff_t>(most), gaps.end());
  for (Gap& gap : gaps) add_host(gap, trace, timeline);
  return gaps;
}

}  // namespace warpmeter::reports
