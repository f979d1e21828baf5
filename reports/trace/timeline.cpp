// SPDX-License-Identifier: MIT
#include "reports/trace/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace warpmeter::reports {
namespace {

TimelineRow row_of(const TracedShape& shape) {
  using Kind = TimelineRow::Kind;
  TimelineRow row;
  row.process_id = shape.process_id.value_or(0);
  if (shape.kind == "call" || shape.kind == "range") {
    row.kind = shape.kind == "call" ? Kind::calls : Kind::ranges;
    row.thread_id = shape.thread_id;
    return row;
  }
  const bool in_stream = shape.kind == "kernel" || shape.kind == "copy" || shape.kind == "set";
  row.kind = in_stream ? Kind::stream : Kind::memory;
  row.device = shape.device;
  row.device_ordinal = shape.device_ordinal;
  if (in_stream) {
    row.context = shape.context;
    row.stream = shape.stream;
  }
  return row;
}

/// Devices before the host; the streams of a device beside one another, the ranges of a thread
/// above its calls.
auto key_of(const TimelineRow& row) {
  return std::tuple(!row.is_on_device(), row.device_ordinal.value_or(-1), row.device,
                    row.process_id, row.context.value_or(-1), row.stream.value_or(-1),
                    row.thread_id.value_or(-1), row.kind != TimelineRow::Kind::ranges, row.kind);
}

/// The ends of the activities that are open in each lane of a row, the outermost first.
class OpenLanes {
 public:
  /// The lane and depth of the next activity by start.
  std::pair<std::uint32_t, std::uint32_t> place(std::int64_t start, std::int64_t end) {
    for (std::size_t i = 0;; ++i) {
      if (i == open_.size()) open_.emplace_back();
      std::vector<std::int64_t>& ends = open_[i];
      while (!ends.empty() && ends.back() <= start) ends.pop_back();
      if (!ends.empty() && ends.back() < end) continue;
      ends.push_back(end);
      return {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(ends.size() - 1)};
    }
  }

 private:
  std::vector<std::vector<std::int64_t>> open_;
};

/// The rows, and that of each shape.
std::vector<std::uint32_t> add_rows(const Trace& trace, Timeline& timeline) {
  std::map<decltype(key_of(TimelineRow{})), TimelineRow> rows;
  for (const TracedShape& shape : trace.shapes) {
    const TimelineRow row = row_of(shape);
    rows.emplace(key_of(row), row);
  }
  std::map<decltype(key_of(TimelineRow{})), std::uint32_t> numbers;
  for (const auto& [key, row] : rows) {
    numbers.emplace(key, static_cast<std::uint32_t>(timeline.rows.size()));
    timeline.rows.push_back(row);
  }
  std::vector<std::uint32_t> row_of_shape;
  for (const TracedShape& shape : trace.shapes) {
    row_of_shape.push_back(numbers.at(key_of(row_of(shape))));
  }
  return row_of_shape;
}

}  // namespace

std::string TimelineRow::name() const {
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? fmt::format("{}", *value) : std::string("?");
  };
  switch (kind) {
    case Kind::stream:
      return fmt::format("process {}, context {}, stream {}", process_id, number(context),
                         number(stream));
    case Kind::memory:
      return fmt::format("process {}, managed memory", process_id);
    case Kind::calls:
      return fmt::format("thread {}, calls", number(thread_id));
    case Kind::ranges:
      break;
  }
  return fmt::format("thread {}, ranges", number(thread_id));
}

std::string TimelineRow::group() const {
  if (!is_on_device()) return fmt::format("process {}", process_id);
  return device.empty() ? "device not known" : device;
}

Timeline timeline_of(const Trace& trace) {
  Timeline timeline;
  const std::vector<std::uint32_t> row_of_shape = add_rows(trace, timeline);
  timeline.places.reserve(trace.activities.size());
  for (std::size_t i = 0; i < trace.activities.size(); ++i) {
    const TracedActivity& activity = trace.activities[i];
    if (!activity.start_ns) {
      ++timeline.untimed;
      continue;
    }
    timeline.places.push_back({i, row_of_shape[activity.shape], 0, 0});
  }
  const auto& activities = trace.activities;
  std::stable_sort(timeline.places.begin(), timeline.places.end(),
                   [&](const TimelinePlace& a, const TimelinePlace& b) {
                     const TracedActivity &x = activities[a.activity], &y = activities[b.activity];
                     return std::pair(*x.start_ns, -x.end_ns()) <
                            std::pair(*y.start_ns, -y.end_ns());
                   });
  std::vector<OpenLanes> lanes(timeline.rows.size());
  for (TimelinePlace& place : timeline.places) {
    const TracedActivity& activity = activities[place.activity];
    const std::int64_t start = *activity.start_ns, end = activity.end_ns();
    std::tie(place.lane, place.depth) = lanes[place.row].place(start, end);
    std::vector<std::size_t>& depths = timeline.rows[place.row].depths;
    if (place.lane >= depths.size()) depths.resize(place.lane + 1);
    depths[place.lane] = std::max<std::size_t>(depths[place.lane], place.depth + 1);
    const bool is_first = &place == &timeline.places.front();
    timeline.begin_ns = is_first ? start : timeline.begin_ns;
    timeline.end_ns = is_first ? end : std::max(timeline.end_ns, end);
  }
  return timeline;
}

}  // namespace warpmeter::reports
