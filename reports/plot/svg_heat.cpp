// SPDX-License-Identifier: MIT
// A heat map as an SVG file: every cell has its figure written in it, the best one a frame and a
// mark, so that nothing is said by colour alone. It is as wide as its columns need.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "reports/plot/drawing.h"
#include "reports/plot/heat.h"

namespace warpmeter::reports {
namespace {

constexpr double small_character = 6.4, cell_height = 24, heat_margin = 16, seam = 2;
constexpr std::size_t longest_column = 14, longest_row = 22;  // characters of parameters' values

std::size_t widest_of(const std::vector<std::string>& texts) {
  std::size_t widest = 0;
  for (const std::string& text : texts) widest = std::max(widest, display_width(text));
  return widest;
}

/// The figures, as they are written into the cells.
std::vector<std::vector<std::string>> cell_words(const Plot& plot) {
  std::vector<std::vector<std::string>> words;
  for (const auto& row : plot.data.rows) {
    auto& texts = words.emplace_back();
    for (std::size_t i = 1; i < row.size(); ++i) {
      texts.push_back(short_text(plot.data.columns[i], row[i]));
    }
  }
  return words;
}

/// From the worst to the best colour, with their figures at the ends.
void draw_scale(Drawing& drawing, const Plot& plot, double left) {
  const HeatScale scale = heat_scale(plot);
  if (!scale.worst || *scale.worst == *scale.best) return;
  const Column& column = plot.data.columns[1];
  const auto words = [&](double value) { return cell_text(column, Cell(value)).body; };
  const double y = drawing.height + 12;
  double x = left;
  const std::string worst = "worst " + words(*scale.worst);
  drawing.text(x, y + 11, "start", "v", worst);
  x += small_character * static_cast<double>(display_width(worst)) + 8;
  for (int step = 0; step <= strongest; ++step, x += 16) {
    drawing.cell(x, y, 16, 14, fmt::format("k{}", step), "", "");
  }
  const std::string scaled = scale.is_logarithmic ? ", logarithmic" : "";
  drawing.text(x + 8, y + 11, "start", "v", words(*scale.best) + " best" + scaled);
  drawing.height = y + 26;
}

}  // namespace

void draw_heat(Drawing& drawing, const Plot& plot) {
  const Table& data = plot.data;
  const std::vector<std::vector<std::string>> words = cell_words(plot);
  std::vector<std::string> rows, columns;
  for (const auto& row : data.rows) rows.push_back(shortened(text_of(row[0]), longest_row));
  for (std::size_t i = 1; i < data.columns.size(); ++i) {
    columns.push_back(shortened(heading_of(data.columns[i]), longest_column));
  }
  std::size_t widest = widest_of(columns);
  for (const auto& texts : words) widest = std::max(widest, widest_of(texts));
  const double wide = std::max(44.0, 12 + small_character * static_cast<double>(widest));
  const std::string corner = shortened(plot.y.label);
  const auto label = static_cast<double>(std::max(widest_of(rows), display_width(corner)));
  const double left = heat_margin + character * label + 12;
  const auto across = static_cast<double>(columns.size());
  drawing.width = std::max(picture_width, left + across * (wide + seam) + right_margin);

  drawing.text(left, drawing.height + 14, "start", "", plot.x.label);
  const double top = drawing.height + 40;
  drawing.text(left - 8, top - 8, "end", "", corner);
  const HeatScale scale = heat_scale(plot);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const double x = left + static_cast<double>(i) * (wide + seam);
    drawing.text(x + wide / 2, top - 8, "middle", "v", columns[i]);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double y = top + static_cast<double>(r) * (cell_height + seam);
      const Cell& cell = data.rows[r][i + 1];
      const auto step = scale.step(cell);
      const std::string kind =
          step ? fmt::format("k{}{}", *step, is_best(cell) ? " best" : "") : "none";
      drawing.cell(x, y, wide, cell_height, kind, words[r][i], heat_cell_title(plot, r, i + 1));
    }
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double y = top + static_cast<double>(r) * (cell_height + seam);
    drawing.text(left - 8, y + cell_height / 2 + 4, "end", "v", rows[r]);
  }
  drawing.height = top + static_cast<double>(rows.size()) * (cell_height + seam) + 8;
  draw_scale(drawing, plot, left);
}

}  // namespace warpmeter::reports
