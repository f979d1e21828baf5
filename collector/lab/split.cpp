// SPDX-License-Identifier: MIT
#include "collector/lab/split.h"

#include <algorithm>
#include <numeric>

namespace warpmeter::lab {

std::vector<Part> split(const std::vector<Launch>& launches, std::size_t parts) {
  parts = std::min(parts, launches.size());
  std::vector<std::size_t> order(launches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return launches[a].cost > launches[b].cost;
  });
  std::vector<std::vector<std::size_t>> members(parts);
  std::vector<double> costs(parts);
  for (const std::size_t launch : order) {
    // The part with the fewest launches comes first among parts of equal cost: costs of 0 are
    // spread too.
    const auto lighter = [&](std::size_t a, std::size_t b) {
      if (costs[a] != costs[b]) return costs[a] < costs[b];
      return members[a].size() < members[b].size();
    };
    std::size_t least = 0;
    for (std::size_t part = 1; part < parts; ++part) {
      if (lighter(part, least)) least = part;
    }
    members[least].push_back(launch);
    costs[least] += launches[launch].cost;
  }
  const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
  std::vector<Part> result(parts);
  for (std::size_t part = 0; part < parts; ++part) {
    std::sort(members[part].begin(), members[part].end());
    for (const std::size_t launch : members[part]) {
      result[part].launches.push_back(launches[launch].line);
    }
    result[part].share = all > 0 ? costs[part] / all : 1.0 / static_cast<double>(parts);
  }
  return result;
}

}  // namespace warpmeter::lab
