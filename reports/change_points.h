// SPDX-License-Identifier: MIT
// Where a series of measurements changes its level.
//
// The series is split where the two sides differ most (the largest share of the variance between
// them), and the parts again. A split counts when hardly a series without any change has one as
// good: one in a hundred, of 999 drawn by chance. From 12 values on these are the series' own ranks
// in random order, so that nothing is assumed about the noise and outliers have no weight; shorter
// series are compared with normal noise, for their few orders could not show anything. After
// Pettitt, "A non-parametric approach to the change-point problem" (1979), and Matteson and James
// (2014) for splitting the parts again. Noise is taken as independent from one value to the next: a
// slow drift shows as changes, which it is.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace warpmeter::reports {

/// Places of the first values of new levels, ascending. A level has at least two values, and the
/// medians of neighbouring ones differ by at least `least_effect` (0.01 is 1 %).
std::vector<std::size_t> change_points(std::span<const double> values, double least_effect);

/// Every place where the value is not the one before: for counts, which have no noise.
std::vector<std::size_t> value_changes(std::span<const double> values);

}  // namespace warpmeter::reports
