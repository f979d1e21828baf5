// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/escapes.h"
#include "base/utf8.h"
#include "reports/plot/scale.h"
#include "reports/plot/stack.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

constexpr double part_character = 6.4, part_thick = 20, part_gap = 10;

/// Lines and dots over a part's colour, on a square of 8; the first part has none.
constexpr std::array<std::string_view, most_parts> part_lines = {"",
                                                                 "M-2 2L2-2M-2 10L10-2M6 10L10 6",
                                                                 "M2 2h1M6 6h1",
                                                                 "M-2 6L2 10M-2-2L10 10M6-2L10 2",
                                                                 "M0 4h8",
                                                                 "M4 0v8",
                                                                 "M0 4h8M4 0v8",
                                                                 ""};

double total_of(const std::vector<Cell>& row) {
  double total = 0;
  for (std::size_t i = 1; i < row.size(); ++i) total += number_of(row[i]).value_or(0);
  constexpr double digits = 1e9;  // parts of 100 are not to exceed it by their rounding
  return std::round(total * digits) / digits;
}

/// "45" where it has room, else nothing.
std::string words_within(double value, double wide) {
  std::string words = std::to_string(std::lround(value));
  return part_character * static_cast<double>(words.size()) + 6 <= wide ? words : "";
}

void draw_parts_legend(Drawing& drawing, const Table& data) {
  double x = 16, y = drawing.height + 12;
  for (std::size_t i = 1; i < data.columns.size(); ++i) {
    const std::string name = shortened(heading_of(data.columns[i]));
    const double wide = 28 + character * static_cast<double>(display_width(name));
    if (x + wide > picture_width - right_margin && x > 16) {
      x = 16;
      y += 20;
    }
    drawing.part(x, y - 10, 14, 12, i - 1, "", "");
    drawing.text(x + 19, y, "start", "", name);
    x += wide + 8;
  }
  drawing.height = y + 14;
}

void draw_values_axis(Drawing& drawing, const Scale& scale, const std::string& label, double left,
                      double wide, double tall) {
  const double top = drawing.height;
  for (const double tick : scale.ticks()) {
    const double x = left + scale.place(tick) * wide;
    drawing.line(x, top, x, top + tall, "g");
    drawing.text(x, top + tall + 17, "middle", "v", tick_text(tick));
  }
  drawing.text(left + wide / 2, top + tall + 36, "middle", "", label);
}

}  // namespace

std::string stack_patterns() {
  std::string defs = "<defs>";
  for (std::size_t i = 0; i < part_lines.size(); ++i) {
    if (part_lines[i].empty()) continue;
    defs += fmt::format(
        "<pattern id=\"p{}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
        "<path class=\"i\" d=\"{}\"/></pattern>",
        i, part_lines[i]);
  }
  return defs + "</defs>\n";
}

bool has_pattern(std::size_t part) { return !part_lines[part % most_parts].empty(); }

void draw_stack(Drawing& drawing, const Plot& plot) {
  const Table& data = plot.data;
  drawing.markup(stack_patterns());
  draw_parts_legend(drawing, data);
  std::size_t widest = 0;
  std::vector<double> totals = {0};
  for (const auto& row : data.rows) {
    widest = std::max(widest, display_width(shortened(text_of(row[0]))));
    totals.push_back(total_of(row));
  }
  const Scale scale(totals, false);
  const double left = 28 + character * static_cast<double>(widest);
  const double wide = picture_width - left - right_margin;
  const double tall = (part_thick + part_gap) * static_cast<double>(data.rows.size());
  const double top = drawing.height += 6;
  draw_values_axis(drawing, scale, plot.x.label, left, wide, tall);
  double y = top + part_gap / 2;
  for (const auto& row : data.rows) {
    const std::string name = text_of(row[0]);
    drawing.text(left - 8, y + part_thick / 2 + 4, "end", "", shortened(name));
    double before = 0;
    for (std::size_t i = 1; i < row.size(); ++i) {
      const double value = number_of(row[i]).value_or(0);
      if (value <= 0) continue;
      const double x = left + scale.place(before) * wide;
      const double end = left + scale.place(before += value) * wide;
      drawing.part(x, y, end - x, part_thick, i - 1, words_within(value, end - x),
                   fmt::format("{}, {}: {}", name, heading_of(data.columns[i]),
                               value_text(data.columns[i], row[i])));
    }
    y += part_thick + part_gap;
  }
  drawing.height = top + tall + 48;
}

std::string stack_text(const Plot& plot, std::size_t width) {
  constexpr std::size_t paragraph_width = 100, most_columns = 60;
  const std::size_t columns = std::max<std::size_t>(width > 0 ? width : paragraph_width, 40);
  std::size_t names = 0;
  double most = 0;
  for (const auto& row : plot.data.rows) {
    names = std::max(names, display_width(shortened(text_of(row[0]))));
    most = std::max(most, total_of(row));
  }
  const double letters =
      static_cast<double>(std::min(most_columns, columns > names + 12 ? columns - names - 2 : 10));
  std::string text = printable(plot.title) + "\n";
  for (const auto& row : plot.data.rows) {
    const std::string name = shortened(text_of(row[0]));
    text += name + std::string(names + 2 - display_width(name), ' ');
    double before = 0;
    std::size_t used = 0;
    for (std::size_t i = 1; i < row.size() && most > 0; ++i) {
      before += number_of(row[i]).value_or(0);
      const auto end = static_cast<std::size_t>(std::lround(before / most * letters));
      text += std::string(end - used, static_cast<char>('A' + (i - 1)));
      used = end;
    }
    text += "\n";
  }
  std::string legend = plot.x.label + ":";
  for (std::size_t i = 1; i < plot.data.columns.size(); ++i) {
    legend += fmt::format("{} {} {}", i > 1 ? "," : "", static_cast<char>('A' + (i - 1)),
                          heading_of(plot.data.columns[i]));
  }
  for (const std::string& line : wrapped(printable(legend), std::min(columns, paragraph_width))) {
    text += line + "\n";
  }
  return text;
}

std::vector<std::string> largest_parts(const std::vector<std::vector<Part>>& bars,
                                       std::size_t most) {
  std::map<std::string, double> sums;
  for (const auto& bar : bars) {
    for (const Part& part : bar) sums[part.name] += part.value;
  }
  std::vector<std::string> names;
  for (const auto& [name, sum] : sums) {
    if (sum > 0) names.push_back(name);
  }
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return sums[a] > sums[b]; });
  names.resize(std::min(names.size(), most));
  return names;
}

}  // namespace warpmeter::reports
