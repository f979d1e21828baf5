// SPDX-License-Identifier: MIT
// Stacked bars: the parts of a whole, one after another in each bar. A part has a colour, a pattern
// and, where it is wide enough, its value. A terminal gets letters instead.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "reports/plot/drawing.h"
#include "reports/plot/plot.h"

namespace warpmeter::reports {

/// The most parts that colours tell apart.
inline constexpr std::size_t most_parts = 8;

/// Below the title.
void draw_stack(Drawing& drawing, const Plot& plot);

/// The elements that the parts' patterns refer to, for a drawing or a page.
std::string stack_patterns();
bool has_pattern(std::size_t part);

/// A title, a line of letters for each row and the letters' names. `width`: columns of the
/// terminal; 0: as wide as a paragraph.
std::string stack_text(const Plot& plot, std::size_t width);

/// Names with values: what a stacked plot is made of.
struct Part {
  std::string name;
  double value = 0;
};

/// The names of the largest parts of all bars together, the largest first; at most `most` names.
std::vector<std::string> largest_parts(const std::vector<std::vector<Part>>& bars,
                                       std::size_t most);

}  // namespace warpmeter::reports
