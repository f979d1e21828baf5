// SPDX-License-Identifier: MIT
#include "reports/plot/heat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/plot/drawing.h"

namespace warpmeter::reports {

bool is_best(const Cell& cell) { return cell.mark.find(best_mark) != cell.mark.npos; }

std::optional<int> HeatScale::step(const Cell& cell) const {
  const std::optional<double> value = number_of(cell);
  if (!value || !worst) return std::nullopt;
  if (*worst == *best) return strongest;
  const double share = is_logarithmic ? std::log(*value / *worst) / std::log(*best / *worst)
                                      : (*value - *worst) / (*best - *worst);
  return static_cast<int>(std::lround(share * strongest));
}

HeatScale heat_scale(const Plot& plot) {
  HeatScale scale;
  for (const auto& row : plot.data.rows) {
    for (std::size_t i = 1; i < row.size(); ++i) {
      const std::optional<double> value = number_of(row[i]);
      if (!value) continue;
      const double low = std::min(*value, scale.worst.value_or(*value));
      const double high = std::max(*value, scale.best.value_or(*value));
      scale.worst = low;
      scale.best = high;
    }
  }
  if (!scale.worst) return scale;
  scale.is_logarithmic = plot.values.logarithmic && *scale.worst > 0;
  if (!plot.is_better_higher) std::swap(scale.worst, scale.best);
  return scale;
}

std::string heat_cell_title(const Plot& plot, std::size_t row, std::size_t column) {
  const Cell& cell = plot.data.rows[row][column];
  const std::string place = fmt::format("{}={}, {}", plot.y.label, text_of(plot.data.rows[row][0]),
                                        plot.data.columns[column].name);
  if (const auto* missing = std::get_if<Missing>(&cell.value)) {
    return place + ": " + missing->reason;
  }
  return fmt::format("{}: {}, {}", place, plot.values.label,
                     value_text(plot.data.columns[column], cell));
}

}  // namespace warpmeter::reports
