// SPDX-License-Identifier: MIT
// A picture of cells: where the lanes of a warp go. The terminal draws it with text, markdown gets
// it as an SVG file, HTML as an inline one whose cells can be reached by keyboard.
#pragma once

#include <string>
#include <vector>

namespace warpmeter::reports {

struct Picture {
  struct Cell {
    std::string text;   ///< for a few characters; empty: nobody goes there
    std::string title;  ///< the text for hover and keyboard
  };
  struct Row {
    std::string label;
    std::vector<Cell> cells;  ///< as many as there are columns
  };
  std::string title;
  std::string description;  ///< one sentence: what to see in it
  std::string corner;       ///< the name of the columns: "bank"
  std::vector<std::string> columns;
  std::vector<Row> rows;
};

/// `width`: columns of the terminal; where they are too few, the columns go below each other in
/// halves. 0: as wide as it is.
std::string picture_text(const Picture& picture, std::size_t width);

/// A file of its own, readable on light and dark pages.
std::string picture_svg(const Picture& picture);

/// For a page with the style of html/report.css.
std::string picture_html(const Picture& picture);

}  // namespace warpmeter::reports
