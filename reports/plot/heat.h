// SPDX-License-Identifier: MIT
// How strong the colour of each cell of a heat map is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "reports/plot/plot.h"

namespace warpmeter::reports {

inline constexpr int strongest =
    8;  ///< the strongest of the steps of a colour scale, which begins at 0

struct HeatScale {
  std::optional<double> worst, best;  ///< the worst of the values; none where no cell has one

  /// From 0, the worst, to `strongest`; nullopt for a cell without a value.
  std::optional<int> step(const Cell& cell) const;
  bool is_logarithmic = false;
};

HeatScale heat_scale(const Plot& plot);

/// "TILE=16, PAD=1: time (µs), 5.73"; of a cell without a figure, why.
std::string heat_cell_title(const Plot& plot, std::size_t row, std::size_t column);

}  // namespace warpmeter::reports
