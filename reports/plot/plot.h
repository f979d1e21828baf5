// SPDX-License-Identifier: MIT
// A plot before it is drawn: a table of values and how to look at them. Markdown gets it as an SVG
// file, HTML as a chart whose alternative is this table; terminal text leaves it out where the
// tables around it say the same.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reports/table/table.h"

namespace warpmeter::reports {

struct Axis {
  std::string label;  ///< with the unit: "time (µs)"
  bool logarithmic = false;
};

struct Plot {
  enum class Form {
    bars,    ///< a bar for each row and number column; the first column names the rows
    lines,   ///< a line for each number column over the first column, which holds numbers
    points,  ///< a point for each row: its name, its group, x and y
    stack,   ///< a bar for each row, whose parts are the number columns; the first names the rows
    heat,    ///< a coloured cell for each row and number column; the first column names the rows
  };

  Form form = Form::bars;
  std::string title;
  std::string description;  ///< one sentence: what to see in it
  Axis x, y;                ///< as drawn, horizontal and vertical; bars lie along x
  Axis values;              ///< the values of heat: what the colours stand for
  Table data;               ///< cells may carry a range, drawn as a whisker

  struct Reference {
    std::string label;
    double value = 0;  ///< the value of the axis of values
  };
  std::optional<Reference> reference;  ///< a line across the plot
  bool diagonal = false;               ///< the diagonal of points: the line where y is x
  bool is_better_higher = false;       ///< for heat: the better a value, the stronger its colour

  /// Nothing else in the document shows these values: where plots are not shown, it is its table
  /// with title and description. CSV, which is for one table, leaves it out.
  bool is_table = false;

  std::size_t series_count() const { return form == Form::points ? 1 : data.columns.size() - 1; }
};

/// Marks of cells: the best of a plot, and what is not known to be worse.
inline constexpr std::string_view best_mark = "★", as_good_mark = "≈";

bool is_best(const Cell& cell);

/// The plot as a file of its own, readable on light and dark pages; without scripts and links.
std::string render_svg(const Plot& plot);

}  // namespace warpmeter::reports
