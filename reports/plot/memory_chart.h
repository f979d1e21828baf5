// SPDX-License-Identifier: MIT
// A picture of the way between a kernel and the memories: boxes, and on the edges between them what
// went along. Two kernels stand below one another. Markdown gets it as an SVG file, HTML as an
// inline one; text has the table beside it.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace warpmeter::reports {

struct MemoryChart {
  enum Edge { shared, l1, l2, device_memory };
  struct Side {
    std::string name;
    /// The lines of each edge: "loads 1.05M req, 4.19M sec". Grey where there are none.
    std::array<std::vector<std::string>, 4> edges;
  };
  std::string title, description;
  std::vector<Side> sides;
};

/// A file of its own, readable on light and dark pages.
std::string memory_chart_svg(const MemoryChart& chart);

/// For a page with the style of html/report.css.
std::string memory_chart_html(const MemoryChart& chart);

}  // namespace warpmeter::reports
