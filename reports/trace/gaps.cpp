// SPDX-License-Identifier: MIT
#include "reports/trace/gaps.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace warpmeter::reports {
namespace {

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
    const std::int64_t end = trace.activities[at->second].end_ns();
    if (*activity.start_ns > end) {
      gaps.push_back(
          {row.device, end, *activity.start_ns - end, at->second, place.activity, {}, 0, {}});
    }
    if (activity.end_ns() >= end) at->second = place.activity;
  }
  return gaps;
}

void add_host(Gap& gap, const Trace& trace, const Timeline& timeline) {
  const auto process = trace.shapes[trace.activities[gap.after].shape].process_id;
  const std::int64_t gap_end = gap.start_ns + gap.duration_ns;
  const std::int64_t middle = gap.start_ns + gap.duration_ns / 2;
  std::map<std::string, CoveredTime> calls;
  CoveredTime all_calls;
  for (const TimelinePlace& place : timeline.places) {
    const TracedActivity& activity = trace.activities[place.activity];
    if (*activity.start_ns >= gap_end) break;
    const TracedShape& shape = trace.shapes[activity.shape];
    if (shape.process_id != process || activity.end_ns() <= gap.start_ns) continue;
    if (shape.kind == "range" && *activity.start_ns <= middle && activity.end_ns() > middle) {
      gap.ranges.push_back(shape.name);
    }
    if (shape.kind != "call" || place.depth > 0) continue;
    const std::int64_t start = std::max(*activity.start_ns, gap.start_ns);
    const std::int64_t end = std::min(activity.end_ns(), gap_end);
    calls[shape.name].add(start, end);
    all_calls.add(start, end);
  }
  for (const auto& [name, time] : calls) gap.calls.push_back({name, time.ns()});
  gap.uncalled_ns = gap.duration_ns - all_calls.ns();
  std::stable_sort(gap.calls.begin(), gap.calls.end(),
                   [](const Gap::Call& a, const Gap::Call& b) { return a.ns > b.ns; });
}

std::vector<Gap> gaps_by_length(const Trace& trace, const Timeline& timeline) {
  std::vector<Gap> gaps = gaps_of_devices(trace, timeline);
  std::stable_sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) {
    return std::tuple(-a.duration_ns, a.start_ns) < std::tuple(-b.duration_ns, b.start_ns);
  });
  return gaps;
}

}  // namespace

std::vector<GapPattern> longest_gap_patterns(const Trace& trace, const Timeline& timeline,
                                             std::size_t most) {
  const auto name_of = [&](std::size_t activity) -> const std::string& {
    return trace.shapes[trace.activities[activity].shape].name;
  };
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> known;
  std::vector<GapPattern> patterns;
  for (const Gap& gap : gaps_by_length(trace, timeline)) {
    const auto [at, is_new] =
        known.try_emplace({name_of(gap.before), name_of(gap.after)}, patterns.size());
    if (is_new) patterns.push_back({gap, 0, 0, {}});
    GapPattern& pattern = patterns[at->second];
    ++pattern.times;
    pattern.total_ns += gap.duration_ns;
    std::vector<std::string>& devices = pattern.devices;
    if (std::find(devices.begin(), devices.end(), gap.device) == devices.end()) {
      devices.push_back(gap.device);
    }
  }
  patterns.resize(std::min(patterns.size(), most));
  for (GapPattern& pattern : patterns) add_host(pattern.longest, trace, timeline);
  return patterns;
}

}  // namespace warpmeter::reports
