// SPDX-License-Identifier: MIT
// A series as a plot of characters, for a terminal and for a fenced block of markdown.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace warpmeter::reports {

/// The values from left to right, at most `width` columns in all; ▲ under the places in `changes`.
/// If there are more values than columns, neighbours share one, at their median.
std::string text_plot(std::span<const double> values, std::span<const std::size_t> changes,
                      std::size_t width);

}  // namespace warpmeter::reports
