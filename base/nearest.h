// SPDX-License-Identifier: MIT
// Suggestions for a name that does not exist: names within a few edits (Levenshtein, counting a
// swap of neighbours as one), or that contain it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter {

/// Up to three of `known` that resemble `name` (edit distance, or containing it), best first.
std::vector<std::string> nearest(std::string_view name, std::span<const std::string> known);
/// "; did you mean a, b or c?" or "" when nothing is near.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace warpmeter
