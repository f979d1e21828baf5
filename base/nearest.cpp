// SPDX-License-Identifier: MIT
#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/words.h"

namespace warpmeter {
/// Optimal string alignment distance, with three rows of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

std::vector<std::string> nearest(std::string_view name, std::span<const std::string> known) {
  constexpr std::size_t most = 3, shortest_part = 3;
  const std::string wanted = lower(name);
  if (wanted.empty()) return {};
  // A third of the letters may be wrong; a part of a name counts as if it were that far off.
  const std::size_t allowed = std::max<std::size_t>(1, wanted.size() / 3);
  std::vector<std::pair<std::size_t, const std::string*>> found;
  for (const std::string& candidate : known) {
    const std::string text = lower(candidate);
    std::size_t far = edit_distance(wanted, text);
    const bool part = wanted.size() >= shortest_part && text.find(wanted) != std::string::npos;
    if (part) far = std::min(far, allowed);
    if (far <= allowed) found.emplace_back(far, &candidate);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second->size()) < std::pair(b.first, b.second->size());
  });
  std::vector<std::string> result;
  for (const auto& [far, candidate] : found) {
    if (result.size() == most) break;
    if (std::find(result.begin(), result.end(), *candidate) == result.end()) {
      result.push_back(*candidate);
    }
  }
  return result;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
  return did_you_mean(nearest(name, known));
}

std::string did_you_mean(std::span<const std::string> names) {
  if (names.empty()) return "";
  std::string text = "; did you mean " + names[0];
  for (std::size_t i = 1; i < names.size(); ++i) {
    text += (i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return text + "?";
}

}  // namespace warpmeter
