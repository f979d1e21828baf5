// SPDX-License-Identifier: MIT
#include "collector/model/check/knowledge.h"

#include <algorithm>
#include <utility>

namespace warpmeter::model::check {
namespace {

using Lanes = std::shared_ptr<const LaneStamps>;

LaneStamps later_of(const LaneStamps& a, const LaneStamps& b) {
  LaneStamps sum;
  for (std::size_t lane = 0; lane < sum.size(); ++lane) sum[lane] = std::max(a[lane], b[lane]);
  return sum;
}

Lanes joined(const Lanes& a, const Lanes& b) {
  if (b == nullptr || a == b) return a;
  if (a == nullptr) return b;
  const LaneStamps sum = later_of(*a, *b);
  if (sum == *a) return a;
  if (sum == *b) return b;
  return std::make_shared<const LaneStamps>(sum);
}

bool is_same(const BlockKnowledge& a, const BlockKnowledge& b) {
  return a.all == b.all && a.warps == b.warps;
}

BlockKnowledge joined(const BlockKnowledge& a, const BlockKnowledge& b) {
  BlockKnowledge sum;
  sum.all = std::max(a.all, b.all);
  const auto at = [](const BlockKnowledge& of, std::size_t warp) {
    return warp < of.warps.size() ? of.warps[warp] : nullptr;
  };
  for (std::size_t warp = 0; warp < std::max(a.warps.size(), b.warps.size()); ++warp) {
    Lanes lanes = joined(at(a, warp), at(b, warp));
    const bool is_news = lanes != nullptr && std::any_of(lanes->begin(), lanes->end(),
                                                         [&](Stamp s) { return s > sum.all; });
    if (!is_news) continue;
    sum.warps.resize(warp + 1);
    sum.warps[warp] = std::move(lanes);
  }
  return sum;
}

/// True if `a` knows all that `b` does.
bool has_all(const BlockKnowledge& a, const BlockKnowledge& b) {
  if (b.all > a.all) return false;
  for (std::uint32_t warp = 0; warp < b.warps.size(); ++warp) {
    const Lanes& lanes = b.warps[warp];
    if (lanes == nullptr || (warp < a.warps.size() && a.warps[warp] == lanes)) continue;
    for (std::uint32_t lane = 0; lane < lanes->size(); ++lane) {
      if (!a.covers(warp, lane, (*lanes)[lane])) return false;
    }
  }
  return true;
}

}  // namespace

Knowledge::Knowledge(std::uint64_t blocks, std::uint32_t block, BlockKnowledge known) {
  while (depth_ < 8 && (std::uint64_t{1} << (bits * depth_)) < blocks) ++depth_;
  auto leaf = std::make_shared<Node>();
  leaf->block = std::move(known);
  root_ = std::move(leaf);
  for (unsigned level = 0; level < depth_; ++level) {
    auto inner = std::make_shared<Node>();
    inner->child[block >> (bits * level) & (children - 1)] = std::move(root_);
    root_ = std::move(inner);
  }
}

const BlockKnowledge* Knowledge::of(std::uint32_t block) const {
  const Node* node = root_.get();
  for (unsigned level = depth_; node != nullptr && level-- > 0;) {
    node = node->child[block >> (bits * level) & (children - 1)].get();
  }
  return node == nullptr ? nullptr : &node->block;
}

Knowledge::Tree Knowledge::joined(const Tree& a, const Tree& b, unsigned depth) {
  if (b == nullptr || a == b) return a;
  if (a == nullptr) return b;
  auto sum = std::make_shared<Node>();
  if (depth == 0) {
    sum->block = check::joined(a->block, b->block);
    if (is_same(sum->block, a->block)) return a;
    if (is_same(sum->block, b->block)) return b;
    return sum;
  }
  for (unsigned i = 0; i < children; ++i) {
    sum->child[i] = joined(a->child[i], b->child[i], depth - 1);
  }
  if (sum->child == a->child) return a;
  if (sum->child == b->child) return b;
  return sum;
}

bool Knowledge::has_all(const Tree& a, const Tree& b, unsigned depth) {
  if (b == nullptr || a == b) return true;
  if (a == nullptr) return false;
  if (depth == 0) return check::has_all(a->block, b->block);
  for (unsigned i = 0; i < children; ++i) {
    if (!has_all(a->child[i], b->child[i], depth - 1)) return false;
  }
  return true;
}

/// Who polls is told the same again and again, which then takes no new nodes.
void Knowledge::join(const Knowledge& other) {
  if (depth_ >= other.depth_ && has_all(root_, other.root_, depth_)) return;
  depth_ = std::max(depth_, other.depth_);
  root_ = joined(root_, other.root_, depth_);
}

LaneStamps& Gathering::of(std::uint32_t warp) {
  if (warp >= lanes_.size()) lanes_.resize(warp + 1);
  if (lanes_[warp] == nullptr) lanes_[warp] = std::make_unique<LaneStamps>();
  return *lanes_[warp];
}

void Gathering::add_lane(std::uint32_t warp, std::uint32_t lane, Stamp stamp) {
  Stamp& known = of(warp)[lane];
  known = std::max(known, stamp);
}

void Gathering::add_lanes(std::uint32_t warp, const LaneStamps& stamps) {
  LaneStamps& known = of(warp);
  known = later_of(known, stamps);
}

void Gathering::add(const Knowledge& others) { others_.join(others); }

Knowledge Gathering::take(std::uint64_t blocks, std::uint32_t block) {
  for (std::size_t warp = 0; warp < lanes_.size(); ++warp) {
    if (lanes_[warp] == nullptr) continue;
    own_.warps.resize(warp + 1);
    own_.warps[warp] = std::make_shared<const LaneStamps>(*lanes_[warp]);
  }
  Knowledge sum(blocks, block, std::move(own_));
  sum.join(others_);
  *this = {};
  return sum;
}

}  // namespace warpmeter::model::check
