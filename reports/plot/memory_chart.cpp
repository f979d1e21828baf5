// SPDX-License-Identifier: MIT
#include "reports/plot/memory_chart.h"

#include <fmt/format.h>

#include "reports/plot/drawing.h"

namespace warpmeter::reports {
namespace {

constexpr double chart_width = 880, side_height = 190, box_height = 66, line_height = 14;

struct Box {
  const char* name;
  double x, y, wide, tall;
};
constexpr Box boxes[] = {{"kernel", 8, 28, 62, 148},
                         {"shared memory", 330, 28, 104, box_height},
                         {"L1", 330, 110, 104, box_height},
                         {"L2", 584, 110, 58, box_height},
                         {"device memory", 770, 110, 102, box_height}};

/// An edge leads from the right of one box to the left of another.
constexpr struct { std::size_t from, to; } edges[] = {{0, 1}, {0, 2}, {2, 3}, {3, 4}};

std::string text_at(double x, double y, const char* kind, const std::string& words) {
  return fmt::format(
      "<text class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n", kind, x, y,
      svg_text(words));
}

std::string side_body(const MemoryChart::Side& side, double top) {
  std::string body = fmt::format("<text class=\"h\" x=\"8\" y=\"{:.0f}\">{}</text>\n", top + 16,
                                 svg_text(side.name));
  for (std::size_t i = 0; i < std::size(edges); ++i) {
    const Box &from = boxes[edges[i].from], &to = boxes[edges[i].to];
    const std::vector<std::string>& lines = side.edges[i];
    const bool is_known = !lines.empty();
    const double x = from.x + from.wide, y = top + to.y + box_height / 2;
    body += fmt::format(
        "<line class=\"{}\" x1=\"{:.0f}\" y1=\"{:.0f}\" x2=\"{:.0f}\" y2=\"{:.0f}\"/>\n",
        is_known ? "w" : "w g", x, y, to.x, y);
    const double middle = (x + to.x) / 2;
    if (!is_known) body += text_at(middle, y - 6, "g", "not counted");
    double at = y - 6 - line_height * static_cast<double>(lines.size());
    for (const std::string& line : lines) body += text_at(middle, at += line_height, "v", line);
  }
  for (const Box& box : boxes) {
    const std::size_t edge = static_cast<std::size_t>(&box - boxes);
    const bool is_known = edge == 0 || !side.edges[edge - 1].empty();
    body += fmt::format(
        "<rect class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" "
        "rx=\"5\"/>\n",
        is_known ? "b" : "b g", box.x, top + box.y, box.wide, box.tall);
    body += text_at(box.x + box.wide / 2, top + box.y + box.tall / 2 + 4, is_known ? "v" : "g",
                    box.name);
  }
  return body;
}

std::string chart_body(const MemoryChart& chart, double top) {
  std::string body;
  for (std::size_t i = 0; i < chart.sides.size(); ++i) {
    body += side_body(chart.sides[i], top + side_height * static_cast<double>(i));
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
  const double height = 34 + side_height * static_cast<double>(chart.sides.size());
  const std::string title =
      fmt::format("<text class=\"h\" x=\"8\" y=\"22\">{}</text>\n", svg_text(chart.title));
  return svg_file(chart.title, chart.description, chart_width, height, style,
                  title + chart_body(chart, 34));
}

std::string memory_chart_html(const MemoryChart& chart) {
  const double height = side_height * static_cast<double>(chart.sides.size());
  return fmt::format(
      "<figure class=\"memory\">\n<figcaption><strong>{0}</strong> <span>{1}</span></figcaption>\n"
      "<div class=\"table\" role=\"group\" tabindex=\"0\" aria-label=\"{0}\">\n"
      "<svg viewBox=\"0 0 {2:.0f} {3:.0f}\" width=\"{2:.0f}\" height=\"{3:.0f}\" role=\"img\" "
      "aria-label=\"{0}\">\n{4}</svg>\n</div>\n</figure>\n",
      svg_text(chart.title), svg_text(chart.description), chart_width, height,
      chart_body(chart, 0));
}

}  // namespace warpmeter::reports
