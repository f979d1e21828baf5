// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/loops.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace warpmeter::model::ptx {
namespace {

constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();

/// Members of all loops together. Compiled code has a few thousand.
constexpr std::size_t most_members = std::size_t{1} << 20;

Edges reversed(const Edges& edges) {
  Edges back(edges.size());
  for (std::size_t node = 0; node < edges.size(); ++node) {
    for (const std::size_t to : edges[node]) back[to].push_back(node);
  }
  return back;
}

/// Nodes that `root` reaches, in postorder, without recursion.
std::vector<std::size_t> postorder_from(std::size_t root, const Edges& edges) {
  std::vector<std::size_t> nodes;
  std::vector<bool> seen(edges.size(), false);
  std::vector<std::pair<std::size_t, std::size_t>> path = {{root, 0}};
  seen[root] = true;
  while (!path.empty()) {
    auto& [node, next] = path.back();
    if (next == edges[node].size()) {
      nodes.push_back(node);
      path.pop_back();
      continue;
    }
    const std::size_t to = edges[node][next++];
    if (seen[to]) continue;
    seen[to] = true;
    path.emplace_back(to, 0);
  }
  return nodes;
}

/// Immediate dominators. `nodes` in postorder, the root last; `back` are the edges against the way.
std::vector<std::size_t> dominators(const std::vector<std::size_t>& nodes, const Edges& back) {
  std::vector<std::size_t> number(back.size(), unknown), dominator(back.size(), unknown);
  for (std::size_t i = 0; i < nodes.size(); ++i) number[nodes[i]] = i;
  const auto intersect = [&](std::size_t a, std::size_t b) {
    while (a != b) {
      while (number[a] < number[b]) a = dominator[a];
      while (number[b] < number[a]) b = dominator[b];
    }
    return a;
  };
  dominator[nodes.back()] = nodes.back();
  for (bool changed = true; changed;) {
    changed = false;
    for (auto node = nodes.rbegin() + 1; node != nodes.rend(); ++node) {
      std::size_t found = unknown;
      for (const std::size_t from : back[*node]) {
        if (number[from] == unknown || dominator[from] == unknown) continue;
        found = found == unknown ? from : intersect(found, from);
      }
      if (dominator[*node] == found) continue;
      dominator[*node] = found;
      changed = true;
    }
  }
  return dominator;
}

}  // namespace

std::vector<std::size_t> post_dominators(const Edges& successors) {
  return dominators(postorder_from(successors.size() - 1, reversed(successors)), successors);
}

std::vector<Loop> natural_loops(const Edges& successors, const std::vector<std::size_t>& order) {
  std::vector<Loop> loops;
  if (order.empty()) return loops;
  const Edges back = reversed(successors);
  std::vector<std::size_t> nodes(order.rbegin(), order.rend());
  const std::vector<std::size_t> dominator = dominators(nodes, back);
  std::vector<std::size_t> place(successors.size(), unknown);
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  const auto dominates = [&](std::size_t above, std::size_t node) {
    while (node != above && place[node] > place[above]) node = dominator[node];
    return node == above;
  };
  std::vector<std::uint32_t> visited(successors.size(), 0);
  std::uint32_t visit = 0;
  std::size_t members = 0;
  for (const std::size_t header : order) {
    Loop loop{header, {header}};
    visited[header] = ++visit;
    const auto take = [&](std::size_t node) {
      if (place[node] == unknown || visited[node] == visit) return;
      visited[node] = visit;
      loop.members.push_back(node);
    };
    bool is_loop = false;
    for (const std::size_t from : back[header]) {
      if (place[from] == unknown || !dominates(header, from)) continue;
      is_loop = true;
      take(from);
    }
    if (!is_loop) continue;
    for (std::size_t i = 1; i < loop.members.size(); ++i) {
      for (const std::size_t from : back[loop.members[i]]) take(from);
    }
    members += loop.members.size();
    if (members > most_members) return {};
    loops.push_back(std::move(loop));
  }
  std::stable_sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) {
    return a.members.size() < b.members.size();
  });
  return loops;
}

}  // namespace warpmeter::model::ptx
