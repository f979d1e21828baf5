// SPDX-License-Identifier: MIT
#include "collector/model/check/passage.h"

namespace warpmeter::model::check {

Passage::Passage(const Program& program)
    : successors_(program.operations.size()), predecessors_(program.operations.size()) {
  const auto count = static_cast<std::uint32_t>(program.operations.size());
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    if (to >= count) return;
    successors_[from].push_back(to);
    predecessors_[to].push_back(from);
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    const Operation& operation = program.operations[i];
    const bool jumps = operation.code == Code::branch || operation.code == Code::branch_if ||
                       operation.code == Code::branch_out || operation.code == Code::call;
    const bool is_final = operation.code == Code::branch ||
                          (operation.code == Code::leave && operation.guard == no_guard);
    if (jumps) add(i, operation.extra);
    if (!is_final) add(i, i + 1);
  }
}

std::vector<bool> Passage::reached(const Edges& edges, std::uint32_t from) {
  std::vector<bool> seen(edges.size());
  std::vector<std::uint32_t> open = edges[from];
  while (!open.empty()) {
    const std::uint32_t operation = open.back();
    open.pop_back();
    if (seen[operation]) continue;
    seen[operation] = true;
    open.insert(open.end(), edges[operation].begin(), edges[operation].end());
  }
  return seen;
}

bool Passage::is_behind(std::uint32_t operation, std::uint32_t barrier) {
  const auto [found, is_new] = behind_.try_emplace(barrier);
  if (is_new) {
    found->second = reached(successors_, barrier);
    const std::vector<bool> before = reached(predecessors_, barrier);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] || i == barrier) found->second[i] = false;
    }
  }
  return found->second[operation];
}

}  // namespace warpmeter::model::check
