// SPDX-License-Identifier: MIT
#include "reports/sections/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/with_noun.h"
#include "reports/plot/drawing.h"
#include "reports/plot/scale.h"

namespace warpmeter::reports::sections {
namespace {

constexpr std::size_t most_drawn_rows = 40, pixels = 560;
constexpr double left = 224, row_height = 18, bar_height = 13;
constexpr int strongest_level = 4;

/// How much of each pixel of each row is busy, from 0 to 1.
std::vector<std::vector<double>> busy_pixels(const Trace& trace, const Timeline& timeline) {
  const double span =
      static_cast<double>(std::max<std::int64_t>(1, timeline.end_ns - timeline.begin_ns));
  const double a_pixel = span / static_cast<double>(pixels);
  std::vector<std::vector<double>> busy(timeline.rows.size(), std::vector<double>(pixels, 0));
  std::vector<std::int64_t> covered(timeline.rows.size(), timeline.begin_ns);
  for (const TimelinePlace& place : timeline.places) {
    const TracedActivity& activity = trace.activities[place.activity];
    const std::int64_t from = std::max(*activity.start_ns, covered[place.row]);
    const std::int64_t to = activity.end_ns();
    if (to <= from) continue;
    covered[place.row] = to;
    const double begin = static_cast<double>(from - timeline.begin_ns) / a_pixel;
    const double end = static_cast<double>(to - timeline.begin_ns) / a_pixel;
    for (auto at = static_cast<std::size_t>(begin); at < pixels && static_cast<double>(at) < end;
         ++at) {
      const auto pixel = static_cast<double>(at);
      busy[place.row][at] += std::min(end, pixel + 1) - std::max(begin, pixel);
    }
  }
  return busy;
}

/// A pixel that is busy at all is visible.
int level_of(double busy) {
  constexpr double nothing = 1e-9;
  if (busy <= nothing) return 0;
  return std::clamp(static_cast<int>(std::lround(busy * strongest_level)), 1, strongest_level);
}

const char* kind_of(const TimelineRow& row) {
  switch (row.kind) {
    case TimelineRow::Kind::stream:
      return "s";
    case TimelineRow::Kind::memory:
      return "m";
    case TimelineRow::Kind::calls:
      return "c";
    case TimelineRow::Kind::ranges:
      break;
  }
  return "r";
}

std::string text_at(double x, double y, const char* kind, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, kind,
                     svg_text(words));
}

/// Neighbours of one level are one element.
std::string row_body(const std::vector<double>& busy, const TimelineRow& row, double y) {
  std::string body =
      fmt::format("<rect x=\"{}\" y=\"{:.0f}\" width=\"{}\" height=\"{:.0f}\" class=\"e\"/>\n",
                  left, y, pixels, bar_height);
  for (std::size_t at = 0; at < busy.size();) {
    const int level = level_of(busy[at]);
    std::size_t end = at + 1;
    while (end < busy.size() && level_of(busy[end]) == level) ++end;
    if (level > 0) {
      body += fmt::format(
          "<rect x=\"{}\" y=\"{:.0f}\" width=\"{}\" height=\"{:.0f}\" class=\"{} o{}\"/>\n",
          left + static_cast<double>(at), y, end - at, bar_height, kind_of(row), level);
    }
    at = end;
  }
  return body;
}

}  // namespace

std::string timeline_svg(const Trace& trace, const Timeline& timeline, const std::string& title,
                         const std::string& description) {
  constexpr std::string_view style =
      "text{font:11px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
      "fill:#3b4252}.h{font-weight:600;font-size:13px}.a{text-anchor:middle}.bg{fill:#fff}"
      ".e{fill:#f0f2f6}.t{stroke:#dfe3ea}.s{fill:#2f5fc4}.m{fill:#0b7a94}.c{fill:#c2570c}"
      ".r{fill:#10795c}.o1{fill-opacity:.35}.o2{fill-opacity:.55}.o3{fill-opacity:.8}"
      "@media(prefers-color-scheme:dark){text{fill:#c3cad6}.bg{fill:#14181f}.e{fill:#222936}"
      ".t{stroke:#333b49}.s{fill:#86aaff}.m{fill:#5cc8e3}.c{fill:#ff9d57}.r{fill:#4fd0a5}}";
  const std::vector<std::vector<double>> busy = busy_pixels(trace, timeline);
  std::string body = text_at(8, 20, "h", title);
  double y = 30;
  std::string group;
  const std::size_t shown = std::min(most_drawn_rows, timeline.rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const TimelineRow& row = timeline.rows[i];
    if (row.group() != group) {
      group = row.group();
      body += text_at(8, y + 14, "h", shortened(group, 60));
      y += 20;
    }
    body += text_at(16, y + 11, "v", shortened(row.name()));
    body += row_body(busy[i], row, y);
    y += row_height;
  }
  if (shown < timeline.rows.size()) {
    body += text_at(8, y + 12, "v",
                    fmt::format("and {}", with_noun(timeline.rows.size() - shown, "more row")));
    y += row_height;
  }
  const double span_ms = static_cast<double>(timeline.end_ns - timeline.begin_ns) / 1e6;
  const Scale scale({0, span_ms}, false);
  for (const double tick : scale.ticks()) {
    if (tick > span_ms) break;
    const double x = left + (span_ms > 0 ? tick / span_ms : 0) * static_cast<double>(pixels);
    body += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.0f}\" x2=\"{0:.1f}\" y2=\"{2:.0f}\" class=\"t\"/>\n", x, y,
        y + 5);
    body += text_at(x, y + 18, "a", tick_text(tick));
  }
  body += text_at(left + static_cast<double>(pixels) / 2, y + 34, "a", "time (ms)");
  return svg_file(title, description, left + static_cast<double>(pixels) + 16, y + 42, style, body);
}

}  // namespace warpmeter::reports::sections
