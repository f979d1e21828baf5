// SPDX-License-Identifier: MIT
// From values to places on a plot: a scale and the round numbers that are written along it.
#pragma once

#include <string>
#include <vector>

namespace warpmeter::reports {

class Scale {
 public:
  /// Covers the values and rounds outwards to whole ticks; a linear scale begins at 0 where no
  /// value is negative. A logarithmic scale needs positive values and is linear where there are
  /// others.
  Scale(const std::vector<double>& values, bool logarithmic);

  /// The same from the least to the greatest of `marks`, with a little room, and ticks at them.
  static Scale at(std::vector<double> marks, bool logarithmic);

  /// 0 at the low end, 1 at the high end.
  double place(double value) const;

  /// Round numbers from the low end to the high end, seven at most or so.
  const std::vector<double>& ticks() const { return ticks_; }

 private:
  void set_linear(double low, double high);
  void set_logarithmic(double low, double high);

  bool logarithmic_;
  double low_ = 0, high_ = 1;
  std::vector<double> ticks_;
};

/// Short, for axes: 0.5, 1,024, 65.5k, 4.19M.
std::string tick_text(double value);

}  // namespace warpmeter::reports
