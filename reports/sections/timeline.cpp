// SPDX-License-Identifier: MIT
// A traced run: its rows with how busy they were, in HTML the timeline to move in, and the longest
// gaps of the devices with what the host did meanwhile.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/kernel_name.h"
#include "reports/sections/sections.h"
#include "reports/sections/timeline_svg.h"
#include "reports/table/number.h"
#include "reports/trace/gaps.h"
#include "reports/trace/payload.h"

namespace warpmeter::reports::sections {
namespace {

constexpr std::size_t most_gaps = 10, most_calls = 2;

Table rows_table(const Trace& trace, const Timeline& timeline) {
  struct Use {
    std::int64_t activities = 0;
    CoveredTime busy;
  };
  std::vector<Use> uses(timeline.rows.size());
  for (const TimelinePlace& place : timeline.places) {
    const TracedActivity& activity = trace.activities[place.activity];
    ++uses[place.row].activities;
    uses[place.row].busy.add(*activity.start_ns, activity.end_ns());
  }
  Table table;
  table.caption = "Rows of the timeline";
  table.columns = {Column::text("where"), Column::text("row"),
                   Column::number("activities", "", "", Kind::count),
                   Column::number("busy", "", "ms", Kind::reading),
                   Column::number("share", "of the whole time", "%", Kind::quotient)};
  const auto span =
      static_cast<double>(std::max<std::int64_t>(1, timeline.end_ns - timeline.begin_ns));
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].activities == 0) continue;
    const auto busy = static_cast<double>(uses[i].busy.ns());
    table.rows.push_back({timeline.rows[i].group(), timeline.rows[i].name(), uses[i].activities,
                          busy / 1e6, 100 * busy / span});
  }
  return table;
}

/// "cudaMalloc 63 %, cudaMemcpy 20 %, no call 17 %"
std::string host_text(const Gap& gap) {
  const auto share = [&](std::int64_t ns) {
    return readable_number(100 * static_cast<double>(ns) / static_cast<double>(gap.duration_ns),
                           Zeros::trim);
  };
  std::string text;
  for (std::size_t i = 0; i < std::min(most_calls, gap.calls.size()); ++i) {
    text += fmt::format("{} {} %, ", gap.calls[i].name, share(gap.calls[i].ns));
  }
  return text + fmt::format("no call {} %", share(gap.uncalled_ns));
}

std::string short_name(const TracedShape& shape) {
  return shape.kind == "kernel" ? function_name(shape.name) : shape.name;
}

Table gaps_table(const Trace& trace, const std::vector<GapPattern>& patterns, bool has_calls) {
  const auto shape_of = [&](std::size_t activity) -> const TracedShape& {
    return trace.shapes[trace.activities[activity].shape];
  };
  Table table;
  table.columns = {Column::text("device"),
                   Column::number("start", "", "ms", Kind::reading),
                   Column::number("duration", "the longest", "µs", Kind::reading),
                   Column::number("times", "", "", Kind::count),
                   Column::number("total", "all together", "ms", Kind::reading),
                   Column::text("after"),
                   Column::text("before"),
                   Column::text("host", "the host meanwhile"),
                   Column::text("ranges", "in the ranges")};
  for (const GapPattern& pattern : patterns) {
    const Gap& gap = pattern.longest;
    std::string ranges;
    for (const std::string& range : gap.ranges) ranges += (ranges.empty() ? "" : " › ") + range;
    table.rows.push_back(
        {fmt::format("{}", fmt::join(pattern.devices, ", ")),
         static_cast<double>(gap.start_ns) / 1e6, static_cast<double>(gap.duration_ns) / 1e3,
         static_cast<std::int64_t>(pattern.times), static_cast<double>(pattern.total_ns) / 1e6,
         short_name(shape_of(gap.before)), short_name(shape_of(gap.after)),
         has_calls ? Cell(host_text(gap))
                   : Cell(Missing{"no calls were traced: warpmeter profile --trace-api has them"}),
         ranges.empty() ? Cell(Missing{"no range was open"}) : Cell(ranges)});
  }
  return table;
}

}  // namespace

void add_timeline(Document& document, const Source& source) {
  const Trace trace = read_trace(source.reader, source.run.id);
  if (trace.activities.empty()) return;
  document.heading(2, "Timeline");
  const Timeline timeline = timeline_of(trace);
  if (timeline.places.empty()) {
    document.paragraph(fmt::format(
        "{} have an order and no times, for the model has no clock: a timeline needs a GPU.",
        reports::counted(trace.activities.size(), "activity", "activities")));
    return;
  }
  if (timeline.untimed > 0) {
    document.paragraph(fmt::format(
        "The timeline lacks {} of the device: the model has no clock. A call has the time that the "
        "model took to execute it.",
        reports::counted(timeline.untimed, "activity", "activities")));
  }
  const double span_ms = static_cast<double>(timeline.end_ns - timeline.begin_ns) / 1e6;
  const std::string what =
      fmt::format("{} in {} ms", reports::counted(timeline.places.size(), "activity", "activities"),
                  readable_number(span_ms, Zeros::keep));
  if (source.is_interactive) {
    document.timeline({"Timeline: " + what,
                       "Drag or shift and wheel pan, ctrl and wheel zoom, a double click shows one "
                       "activity. A pixel is as strong as it is busy.",
                       timeline_payload(trace, timeline)});
  } else {
    document.paragraph(what + ".");
    if (source.plots) {
      const std::string title = "Timeline of run " + std::to_string(source.run.id);
      const std::string text = "A pixel is as strong as it is busy.";
      document.timeline({title, text, "", timeline_svg(trace, timeline, title, text)});
    }
  }
  document.table(rows_table(trace, timeline));
  const std::vector<GapPattern> gaps = longest_gap_patterns(trace, timeline, most_gaps);
  if (gaps.empty()) return;
  const bool has_calls = std::any_of(trace.shapes.begin(), trace.shapes.end(),
                                     [](const TracedShape& shape) { return shape.kind == "call"; });
  document.heading(3, "The longest gaps of the devices");
  document.paragraph(
      "Gaps between the same two activities are one row, whose start and host are those of the "
      "longest.");
  document.table(gaps_table(trace, gaps, has_calls));
}

}  // namespace warpmeter::reports::sections
