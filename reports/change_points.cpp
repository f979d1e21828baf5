// SPDX-License-Identifier: MIT
#include "reports/change_points.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>

#include "base/statistics.h"

namespace warpmeter::reports {
namespace {

constexpr std::size_t shortest_level = 2;
constexpr std::size_t enough_for_ranks = 12;
constexpr int trials = 999;
constexpr int highest_rank = 10;  // the highest rank of trials + 1: one in a hundred

struct Split {
  std::size_t place = 0;
  double share = 0;  ///< the share of the variance that is between the sides, 0 to 1
};

Split best_split(std::span<const double> values) {
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double total = 0;
  for (const double value : values) total += (value - mean) * (value - mean);
  Split best;
  double left = 0;  // the sum of what is left of the split, less the mean
  for (std::size_t i = 1; i + shortest_level <= values.size(); ++i) {
    left += values[i - 1] - mean;
    if (i < shortest_level) continue;
    const double size = static_cast<double>(i);
    const double between = left * left * n / (size * (n - size));
    // A total of 0 is a series without any variance.
    const double share = total > 0 ? between / total : 0;
    if (share > best.share) best = {i, share};
  }
  return best;
}

/// Ranks from 1; equal values share the mean of theirs.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) {
      ranks[order[i]] = static_cast<double>(begin + 1 + end) / 2;
    }
    begin = end;
  }
  return ranks;
}

bool compared_by_rank(std::span<const double> values) { return values.size() >= enough_for_ranks; }

/// The values to compare: ranks where there are enough values, else the values.
std::vector<double> compared(std::span<const double> values) {
  return compared_by_rank(values) ? ranks_of(values)
                                  : std::vector<double>(values.begin(), values.end());
}

/// The best split when it is better than chance.
std::optional<std::size_t> significant_split(std::span<const double> values) {
  if (values.size() < 2 * shortest_level) return std::nullopt;
  const bool ranked = compared_by_rank(values);
  std::vector<double> series = compared(values);
  const Split found = best_split(series);
  if (found.share == 0) return std::nullopt;
  // The same answer for the same series.
  std::mt19937_64 random(0x77617270);
  std::normal_distribution<double> normal;
  int as_good = 1;
  for (int i = 0; i < trials && as_good <= highest_rank; ++i) {
    if (ranked) {
      std::shuffle(series.begin(), series.end(), random);
    } else {
      for (double& value : series) value = normal(random);
    }
    if (best_split(series).share >= found.share) ++as_good;
  }
  if (as_good > highest_rank) return std::nullopt;
  return found.place;
}

void find_splits(std::span<const double> values, std::size_t offset,
                 std::vector<std::size_t>& places) {
  const auto place = significant_split(values);
  if (!place) return;
  find_splits(values.first(*place), offset, places);
  places.push_back(offset + *place);
  find_splits(values.subspan(*place), offset + *place, places);
}

/// Each place anew, with only its own two levels in sight: a split of the whole series is found
/// next to the right place when a third level is on one side of it.
void refine(std::span<const double> values, std::vector<std::size_t>& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : places[i - 1];
    const std::size_t end = i + 1 < places.size() ? places[i + 1] : values.size();
    const Split found = best_split(compared(values.subspan(begin, end - begin)));
    if (found.share > 0) places[i] = begin + found.place;
  }
}

/// How much the level after the nth place differs from the one before it: 0.01 is 1 %.
double effect_at(std::span<const double> values, const std::vector<std::size_t>& places,
                 std::size_t n) {
  const std::size_t begin = n == 0 ? 0 : places[n - 1];
  const std::size_t end = n + 1 < places.size() ? places[n + 1] : values.size();
  const double before = median(values.subspan(begin, places[n] - begin));
  const double after = median(values.subspan(places[n], end - places[n]));
  if (before == after) return 0;
  return before == 0 ? INFINITY : std::abs(after / before - 1);
}

}  // namespace

std::vector<std::size_t> change_points(std::span<const double> values, double least_effect) {
  std::vector<std::size_t> places;
  find_splits(values, 0, places);
  refine(values, places);
  // The smallest goes first: without it, its neighbours are levels of more values.
  while (!places.empty()) {
    std::size_t smallest = 0;
    for (std::size_t i = 1; i < places.size(); ++i) {
      if (effect_at(values, places, i) < effect_at(values, places, smallest)) smallest = i;
    }
    if (effect_at(values, places, smallest) >= least_effect) break;
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(smallest));
  }
  return places;
}

std::vector<std::size_t> value_changes(std::span<const double> values) {
  std::vector<std::size_t> places;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] != values[i - 1]) places.push_back(i);
  }
  return places;
}

}  // namespace warpmeter::reports
