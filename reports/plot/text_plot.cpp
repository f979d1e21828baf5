// SPDX-License-Identifier: MIT
#include "reports/plot/text_plot.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/statistics.h"
#include "base/utf8.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

constexpr std::size_t height = 9;       // rows, odd: the middle one has a label too
constexpr std::size_t widest_step = 4;  // columns from one value to the next
constexpr std::size_t fewest_columns = 10;

std::string label_of(double value) { return readable_number(value, Zeros::keep); }

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

std::string text_plot(std::span<const double> values, std::span<const std::size_t> changes,
                      std::size_t width) {
  if (values.empty()) return "";
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double middle = (*low + *high) / 2;
  const bool flat = *low == *high;
  const std::string labels[] = {flat ? "" : label_of(*high), label_of(middle),
                                flat ? "" : label_of(*low)};
  std::size_t margin = 0;
  for (const std::string& label : labels) margin = std::max(margin, display_width(label));

  // Where each value goes: steps of whole columns, or several values a column.
  const std::size_t room = std::max(width > margin + 2 ? width - margin - 2 : 0, fewest_columns);
  const std::size_t n = values.size();
  const std::size_t step =
      n > 1 ? std::clamp<std::size_t>((room - 1) / (n - 1), 1, widest_step) : 1;
  const bool crowded = n > room;
  const std::size_t columns = crowded ? room : (n - 1) * step + 1;
  const auto column_of = [&](std::size_t i) { return crowded ? i * room / n : i * step; };

  std::vector<std::vector<double>> gathered(columns);
  for (std::size_t i = 0; i < n; ++i) gathered[column_of(i)].push_back(values[i]);
  std::vector<std::vector<bool>> dots(height, std::vector<bool>(columns, false));
  for (std::size_t column = 0; column < columns; ++column) {
    if (gathered[column].empty()) continue;
    const double share =
        flat ? 0.5 : (*high - median(gathered[column])) / (*high - *low);  // 0 is the top
    dots[static_cast<std::size_t>(std::lround(share * (height - 1)))][column] = true;
  }

  std::string plot;
  for (std::size_t row = 0; row < height; ++row) {
    const bool labelled = row % (height / 2) == 0;
    const std::string& label = labelled ? labels[row / (height / 2)] : labels[0];
    const bool shown = labelled && !label.empty();
    plot += std::string(margin - (shown ? display_width(label) : 0), ' ') + (shown ? label : "");
    plot += shown ? " ┤" : " │";
    std::size_t blanks = 0;
    for (std::size_t column = 0; column < columns; ++column) {
      if (!dots[row][column]) {
        ++blanks;
        continue;
      }
      plot += std::string(blanks, ' ') + "●";
      blanks = 0;
    }
    plot += "\n";
  }
  plot += std::string(margin, ' ') + " └" + repeated("─", columns) + "\n";
  if (changes.empty()) return plot;
  std::vector<bool> marked(columns, false);
  for (const std::size_t change : changes) marked[column_of(change)] = true;
  plot += std::string(margin + 2, ' ');
  const auto last = static_cast<std::size_t>(
      std::find(marked.rbegin(), marked.rend(), true).base() - marked.begin());
  for (std::size_t column = 0; column < last; ++column) plot += marked[column] ? "▲" : " ";
  return plot + "\n";
}

}  // namespace warpmeter::reports
