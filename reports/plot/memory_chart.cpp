// SPDX-License-Identifier: MIT
#include "reports/plot/memory_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "reports/plot/drawing.h"

namespace warpmeter::reports {
namespace {

constexpr double chart_width = 922, line_height = 14, least_row = 66, row_gap = 16, side_head = 26;
constexpr double small_letter = 6;  ///< width of a letter, of 11 px

/// A column of boxes.
struct Across {
  double left, wide;
  double right() const { return left + wide; }
  double middle() const { return left + wide / 2; }
};
constexpr Across kernel = {8, 54}, near = {306, 108}, l2 = {614, 84}, far = {808, 106};

/// A row of boxes: as high as the lines on its edges need.
struct Band {
  double top = 0, tall = 0, edge = 0;  ///< `edge`: where its lines run
};

struct Bands {
  Band shared, caches, cluster;  ///< `cluster` has no height where no side uses it
  double bottom = 0;
};

bool is_drawn(const MemoryChart& chart, MemoryChart::EdgeName edge) {
  return std::any_of(chart.sides.begin(), chart.sides.end(), [&](const MemoryChart::Side& side) {
    return !side.edges[edge].lines.empty();
  });
}

/// The words on an edge: its lines, or the reason why there are none.
std::vector<std::string> words_on(const MemoryChart::Edge& edge, double wide) {
  if (!edge.lines.empty()) return edge.lines;
  return wrapped(edge.reason, static_cast<std::size_t>(wide / small_letter));
}

double width_of(MemoryChart::EdgeName edge) {
  switch (edge) {
    case MemoryChart::copies:
      return l2.middle() - near.right();
    case MemoryChart::l2:
      return l2.left - near.right();
    case MemoryChart::device_memory:
      return far.left - l2.right();
    default:
      return near.left - kernel.right();
  }
}

Band band_for(const MemoryChart& chart, std::initializer_list<MemoryChart::EdgeName> edges,
              double top) {
  std::size_t most = 0;
  for (const MemoryChart::Side& side : chart.sides) {
    for (const MemoryChart::EdgeName edge : edges) {
      most = std::max(most, words_on(side.edges[edge], width_of(edge)).size());
    }
  }
  const double text = line_height * static_cast<double>(most) + 6;
  const double edge = std::max(least_row / 2, text);
  return {top, edge + least_row / 2, top + edge};
}

/// All sides have the same rows, so that they are compared at a glance.
Bands bands_of(const MemoryChart& chart) {
  Bands rows;
  rows.shared = band_for(chart, {MemoryChart::shared, MemoryChart::copies}, side_head);
  rows.caches = band_for(chart, {MemoryChart::l1, MemoryChart::l2, MemoryChart::device_memory},
                         rows.shared.top + rows.shared.tall + row_gap);
  rows.bottom = rows.caches.top + rows.caches.tall;
  if (is_drawn(chart, MemoryChart::cluster)) {
    rows.cluster = band_for(chart, {MemoryChart::cluster}, rows.bottom + row_gap);
    rows.bottom = rows.cluster.top + rows.cluster.tall;
  }
  return rows;
}

/// One side of a chart as it is drawn.
class SideDrawing {
 public:
  SideDrawing(const MemoryChart::Side& side, const Bands& rows, double top)
      : side_(side), rows_(rows), top_(top) {}

  std::string body(bool has_copies) {
    body_ = fmt::format("<text class=\"h\" x=\"8\" y=\"{:.0f}\">{}</text>\n", top_ + 16,
                        svg_text(side_.name));
    edge(MemoryChart::shared, kernel.right(), near.left, rows_.shared.edge);
    edge(MemoryChart::l1, kernel.right(), near.left, rows_.caches.edge);
    edge(MemoryChart::l2, near.right(), l2.left, rows_.caches.edge);
    edge(MemoryChart::device_memory, l2.right(), far.left, rows_.caches.edge);
    if (has_copies) {
      edge(MemoryChart::copies, near.right(), l2.middle(), rows_.shared.edge);
      line(MemoryChart::copies, l2.middle(), rows_.shared.edge, l2.middle(), rows_.caches.top);
    }
    box(kernel, rows_.shared.top, rows_.bottom - rows_.shared.top, true, {"kernel"});
    box(near, rows_.shared.top, rows_.shared.tall, is_known(MemoryChart::shared),
        {"shared memory"});
    box(near, rows_.caches.top, rows_.caches.tall, is_known(MemoryChart::l1),
        {"L1", side_.l1_hits});
    box(l2, rows_.caches.top, rows_.caches.tall, is_known(MemoryChart::l2), {"L2", side_.l2_hits});
    box(far, rows_.caches.top, rows_.caches.tall, is_known(MemoryChart::device_memory),
        {"device memory"});
    if (rows_.cluster.tall > 0) {
      edge(MemoryChart::cluster, kernel.right(), near.left, rows_.cluster.edge);
      box(near, rows_.cluster.top, rows_.cluster.tall, is_known(MemoryChart::cluster),
          {"shared memory", "of other blocks"});
    }
    return std::move(body_);
  }

 private:
  bool is_known(MemoryChart::EdgeName name) const { return !side_.edges[name].lines.empty(); }

  void text(double x, double y, const char* kind, const std::string& words,
            const std::string& whole = "") {
    const std::string title =
        whole.empty() || whole == words ? "" : "<title>" + svg_text(whole) + "</title>";
    body_ += fmt::format(
        "<text class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}{}</text>\n", kind,
        x, top_ + y, title, svg_text(words));
  }

  void line(MemoryChart::EdgeName name, double x1, double y1, double x2, double y2) {
    body_ += fmt::format(
        "<line class=\"{}\" x1=\"{:.0f}\" y1=\"{:.0f}\" x2=\"{:.0f}\" y2=\"{:.0f}\"/>\n",
        is_known(name) ? "w" : "w g", x1, top_ + y1, x2, top_ + y2);
  }

  void edge(MemoryChart::EdgeName name, double from, double to, double y) {
    line(name, from, y, to, y);
    const std::vector<std::string> words = words_on(side_.edges[name], width_of(name));
    double at = y - 6 - line_height * static_cast<double>(words.size());
    for (const std::string& one : words) {
      text((from + to) / 2, at += line_height, is_known(name) ? "v" : "g", one,
           is_known(name) ? "" : side_.edges[name].whole_reason);
    }
  }

  /// The second of the words may be empty.
  void box(const Across& across, double top, double tall, bool is_known,
           const std::vector<std::string>& words) {
    body_ += fmt::format(
        "<rect class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" "
        "rx=\"5\"/>\n",
        is_known ? "b" : "b g", across.left, top_ + top, across.wide, tall);
    const bool has_two = words.size() > 1 && !words[1].empty();
    const double y = top + tall / 2 + 4 - (has_two ? line_height / 2 : 0);
    text(across.middle(), y, is_known ? "v" : "g", words[0]);
    if (has_two) text(across.middle(), y + line_height, is_known ? "v" : "g", words[1]);
  }

  const MemoryChart::Side& side_;
  const Bands& rows_;
  double top_;
  std::string body_;
};

double side_height(const Bands& rows) { return rows.bottom + row_gap; }

std::string chart_body(const MemoryChart& chart, const Bands& rows, double top) {
  std::string body;
  for (std::size_t i = 0; i < chart.sides.size(); ++i) {
    const double side_top = top + side_height(rows) * static_cast<double>(i);
    body += SideDrawing(chart.sides[i], rows, side_top).body(is_drawn(chart, MemoryChart::copies));
  }
  return body;
}

}  // namespace

std::string memory_chart_svg(const MemoryChart& chart) {
  constexpr std::string_view style =
      "text{font:11px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
      "fill:#3b4252}.h{font-weight:600;font-size:13px}.bg{fill:#fff}.b{fill:#f0f2f6;stroke:#8a94a6}"
      ".w{stroke:#3b4252}text.g{fill:#6b7484}line.g,rect.g{stroke:#c3cad6;stroke-dasharray:4 3}"
      "@media(prefers-color-scheme:dark){text{fill:#c3cad6}.bg{fill:#14181f}"
      ".b{fill:#222936;stroke:#6b7484}.w{stroke:#c3cad6}text.g{fill:#8a94a6}"
      "line.g,rect.g{stroke:#4b566a}}";
  const Bands rows = bands_of(chart);
  const double height = 34 + side_height(rows) * static_cast<double>(chart.sides.size());
  const std::string title =
      fmt::format("<text class=\"h\" x=\"8\" y=\"22\">{}</text>\n", svg_text(chart.title));
  return svg_file(chart.title, chart.description, chart_width, height, style,
                  title + chart_body(chart, rows, 34));
}

std::string memory_chart_html(const MemoryChart& chart) {
  const Bands rows = bands_of(chart);
  const double height = side_height(rows) * static_cast<double>(chart.sides.size());
  return fmt::format(
      "<figure class=\"memory\">\n<figcaption><strong>{0}</strong> <span>{1}</span></figcaption>\n"
      "<div class=\"table\" role=\"group\" tabindex=\"0\" aria-label=\"{0}\">\n"
      "<svg viewBox=\"0 0 {2:.0f} {3:.0f}\" width=\"{2:.0f}\" height=\"{3:.0f}\" role=\"img\" "
      "aria-label=\"{0}\">\n{4}</svg>\n</div>\n</figure>\n",
      svg_text(chart.title), svg_text(chart.description), chart_width, height,
      chart_body(chart, rows, 0));
}

}  // namespace warpmeter::reports
