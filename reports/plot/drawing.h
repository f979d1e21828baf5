// SPDX-License-Identifier: MIT
// The elements that a plot's SVG file is made of, and the texts of its cells: what svg.cpp and
// svg_heat.cpp draw with.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reports/plot/plot.h"

namespace warpmeter::reports {

/// Text of an element or attribute. Printable text holds no control characters, which XML forbids.
std::string svg_text(std::string_view text);

/// A file of its own: `body` on a ground of class "bg", with a title and a description for those
/// who hear it.
std::string svg_file(std::string_view title, std::string_view description, double width,
                     double height, std::string_view style, std::string_view body);

inline constexpr double picture_width = 760, right_margin = 24;
inline constexpr double character = 6.9;  ///< width of a letter, of 12 px

/// At most so many columns of a terminal; what is longer ends in "…".
inline constexpr std::size_t longest_label = 34;
std::string shortened(std::string_view text, std::size_t longest = longest_label);

std::optional<double> number_of(const Cell& cell);
std::string text_of(const Cell& cell);

/// With range and mark.
std::string value_text(const Column& column, const Cell& cell);
/// The value and its mark alone, for the end of a bar.
std::string short_text(const Column& column, const Cell& cell);

/// The drawing: elements from the top down, and how tall it has become.
class Drawing {
 public:
  double width = picture_width, height = 0;

  void text(double x, double y, std::string_view anchor, std::string_view kind,
            std::string_view words);
  void line(double x1, double y1, double x2, double y2, std::string_view kind);
  void bar(double x, double y, double wide, double tall, std::size_t series,
           std::string_view title);
  /// Series differ in shape: circle, square, diamond, triangle.
  void point(double x, double y, std::size_t series, std::string_view title);
  /// A part of a stacked bar with its pattern, and its value where there is room for it.
  void part(double x, double y, double wide, double tall, std::size_t series,
            std::string_view words, std::string_view title);
  /// Elements that others refer to.
  void markup(std::string_view elements) { body_ += elements; }
  void polyline(const std::string& points, std::size_t series);
  /// A rectangle of a heat map with its text; `kind` is of its ground.
  void cell(double x, double y, double wide, double tall, std::string_view kind,
            std::string_view words, std::string_view title);

  std::string file(const Plot& plot) const;

 private:
  std::string body_;
};

/// Below the title.
void draw_heat(Drawing& drawing, const Plot& plot);

}  // namespace warpmeter::reports
