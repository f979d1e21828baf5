// SPDX-License-Identifier: MIT
// Suggestions for a name that does not exist: names within a few edits (Levenshtein, counting a
// swap of neighbours as one), or that contain it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter {

/// Up to three of `known` that resemble `name` (edit distance, or containing it), best first.
std::vector<std::string> nearest(std::string_view name, std::span<const std::string> known);
/// Edits between two texts, a swap of neighbours counting as one.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// "; did you mean a, b or c?" or "" for none.
std::string did_you_mean(std::span<const std::string> names);
/// The same of the nearest names.
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace warpmeter
