// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/early_joins.h"

namespace warpmeter::model::ptx {
namespace {

/// Edges followed in the search. Compiled code needs a thousandth.
constexpr std::size_t most_steps = std::size_t{1} << 22;

class Search {
 public:
  explicit Search(const ControlFlow& graph) : graph_(graph), reached_by_(graph.blocks.size()) {}

  bool is_exhausted() const { return steps_ > most_steps; }

  /// Blocks that two sides of the branch at the end of `block` lead to.
  std::vector<std::size_t> joined(std::size_t block) {
    std::vector<std::size_t> touched, joined;
    std::size_t side = 0;
    for (const std::size_t successor : graph_.blocks[block].successors) {
      ++side;
      std::vector<std::size_t> open;
      enter(block, successor, side, open, touched, joined);
      while (!open.empty()) {
        const std::size_t at = open.back();
        open.pop_back();
        for (const std::size_t next : graph_.blocks[at].successors) {
          enter(block, next, side, open, touched, joined);
        }
      }
    }
    for (const std::size_t at : touched) reached_by_[at] = {};
    return joined;
  }

 private:
  struct Reached {
    std::size_t last = 0;  ///< the side that came last; 0: none
    bool is_joined = false;
  };

  void enter(std::size_t branch, std::size_t to, std::size_t side, std::vector<std::size_t>& open,
             std::vector<std::size_t>& touched, std::vector<std::size_t>& joined) {
    if (++steps_ > most_steps) return;
    if (to == graph_.blocks[branch].meeting) return;
    Reached& reached = reached_by_[to];
    if (reached.last == side) return;
    if (reached.last == 0) touched.push_back(to);
    if (reached.last != 0 && !reached.is_joined) {
      reached.is_joined = true;
      joined.push_back(to);
    }
    reached.last = side;
    open.push_back(to);
  }

  const ControlFlow& graph_;
  std::vector<Reached> reached_by_;
  std::size_t steps_ = 0;
};

}  // namespace

std::vector<std::vector<std::size_t>> early_joins(const ControlFlow& graph) {
  std::vector<std::vector<std::size_t>> all(graph.blocks.size());
  Search search(graph);
  for (const std::size_t block : graph.order) {
    if (graph.blocks[block].successors.size() < 2) continue;
    for (const std::size_t joined : search.joined(block)) {
      all[joined].push_back(graph.blocks[block].end - 1);
    }
    if (search.is_exhausted()) {
      all.assign(graph.blocks.size(), {nowhere});
      break;
    }
  }
  return all;
}

}  // namespace warpmeter::model::ptx
