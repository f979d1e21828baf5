// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/live_values.h"

namespace warpmeter::model::ptx {

LiveValues::LiveValues(const ControlFlow& graph, const DataFlow& data)
    : graph_(graph), data_(data) {
  const Set none((data.registers().size() + 63) / 64, 0);
  at_beginning_.resize(graph.blocks.size(), none);
  settled_.resize(graph.blocks.size(), none);
  for (std::size_t number = 0; number < graph.blocks.size(); ++number) {
    const Block& block = graph.blocks[number];
    for (std::size_t i = block.first; i < block.end; ++i) {
      for (const RegisterId id : data.reads(i)) {
        if (!has(settled_[number], id)) put(at_beginning_[number], id);
      }
      for (const RegisterId id : data.writes(i)) {
        if (!has(at_beginning_[number], id)) put(settled_[number], id);
      }
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto number = graph.order.rbegin(); number != graph.order.rend(); ++number) {
      changed |= extend(*number);
    }
  }
}

/// Adds what those behind the block read and it does not settle. True if there is more than before.
bool LiveValues::extend(std::size_t block) {
  bool changed = false;
  for (const std::size_t next : graph_.blocks[block].successors) {
    for (std::size_t k = 0; k < settled_[block].size(); ++k) {
      const std::uint64_t more = at_beginning_[next][k] & ~settled_[block][k];
      changed |= (more & ~at_beginning_[block][k]) != 0;
      at_beginning_[block][k] |= more;
    }
  }
  return changed;
}

std::vector<RegisterId> LiveValues::left_by(std::span<const std::size_t> blocks) const {
  std::vector<bool> is_own(graph_.blocks.size(), false);
  for (const std::size_t number : blocks) is_own[number] = true;
  Set behind((data_.registers().size() + 63) / 64, 0);
  for (const std::size_t number : blocks) {
    for (const std::size_t next : graph_.blocks[number].successors) {
      if (is_own[next]) continue;
      for (std::size_t k = 0; k < behind.size(); ++k) behind[k] |= at_beginning_[next][k];
    }
  }
  std::vector<RegisterId> left;
  for (const std::size_t number : blocks) {
    for (std::size_t i = graph_.blocks[number].first; i < graph_.blocks[number].end; ++i) {
      for (const RegisterId id : data_.writes(i)) {
        if (has(behind, id)) left.push_back(id);
      }
    }
  }
  return left;
}

}  // namespace warpmeter::model::ptx
