// SPDX-License-Identifier: MIT
// A picture of the way between a kernel and the memories: boxes, and on the edges between them what
// went along. Two kernels stand below one another. Markdown gets it as an SVG file, HTML as an
// inline one; text has the tables beside it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace warpmeter::reports {

struct MemoryChart {
  enum EdgeName {
    shared,         ///< kernel to shared memory
    l1,             ///< kernel to L1
    copies,         ///< L2 to shared memory, past the registers; drawn where a side has lines
    l2,             ///< L1 to L2
    device_memory,  ///< L2 to device memory
    cluster         ///< kernel to shared memory of other blocks; drawn where a side has lines
  };
  static constexpr std::size_t edge_count = 6;

  struct Edge {
    std::vector<std::string> lines;  ///< "loads 1.05M req, 4.19M sec, 134 MB"
    std::string reason;              ///< the reason why there are none: the edge is grey
    std::string whole_reason;        ///< the same in full, for those who point at it
  };
  struct Side {
    std::string name;
    std::array<Edge, edge_count> edges;
    std::string l1_hits, l2_hits;  ///< "62.5 % hits", in the boxes; may be empty
  };
  std::string title, description;
  std::vector<Side> sides;
};

/// A file of its own, readable on light and dark pages.
std::string memory_chart_svg(const MemoryChart& chart);

/// For a page with the style of html/report.css.
std::string memory_chart_html(const MemoryChart& chart);

}  // namespace warpmeter::reports
