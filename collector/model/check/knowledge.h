// SPDX-License-Identifier: MIT
// The knowledge of a thread about others: up to which moment of each other thread everything that
// it did happened before now. A vector clock after Lamport (1978), kept small in two ways.
//
// Moments are stamps, counted for each block; they grow whenever threads of the block synchronise.
// And knowledge is a tree over the blocks of the grid that nobody changes once it is made, so that
// threads share it, and joining two that have much in common costs what they do not.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "collector/model/counts/rules/counting.h"

namespace warpmeter::model::check {

using Stamp = std::uint32_t;  ///< 0: before anything happened

/// The stamps of a warp's lanes.
using LaneStamps = std::array<Stamp, warp_lanes>;

/// The knowledge of one block: everything up to `all`, and of the lanes of some warps more.
struct BlockKnowledge {
  Stamp all = 0;
  std::vector<std::shared_ptr<const LaneStamps>> warps;  ///< by warp; missing or null: no more

  bool covers(std::uint32_t warp, std::uint32_t lane, Stamp stamp) const {
    return stamp <= all ||
           (warp < warps.size() && warps[warp] != nullptr && stamp <= (*warps[warp])[lane]);
  }
};

class Knowledge {
 public:
  /// The knowledge of nothing.
  Knowledge() = default;
  /// The knowledge of one block of a grid of so many.
  Knowledge(std::uint64_t blocks, std::uint32_t block, BlockKnowledge known);

  bool is_empty() const { return root_ == nullptr; }
  /// True if the two are one object; two that know the same may still be two.
  bool operator==(const Knowledge& other) const { return root_ == other.root_; }

  /// Null where nothing is known of the block.
  const BlockKnowledge* of(std::uint32_t block) const;

  /// Knows what either did. Both are of the same grid.
  void join(const Knowledge& other);

 private:
  static constexpr unsigned bits = 4, children = 1 << bits;
  struct Node {
    std::array<std::shared_ptr<const Node>, children> child;  ///< a leaf does not use them
    BlockKnowledge block;                                     ///< the block of a leaf
  };
  using Tree = std::shared_ptr<const Node>;

  static bool has_all(const Tree& a, const Tree& b, unsigned depth);
  static Tree joined(const Tree& a, const Tree& b, unsigned depth);

  Tree root_;
  unsigned depth_ = 0;  ///< levels of inner nodes
};

/// Adds up what many threads of one block know, to make one Knowledge of it.
class Gathering {
 public:
  Gathering() = default;

  void add_all(Stamp all) { own_.all = std::max(own_.all, all); }
  void add_lane(std::uint32_t warp, std::uint32_t lane, Stamp stamp);
  void add_lanes(std::uint32_t warp, const LaneStamps& stamps);
  void add(const Knowledge& others);
  bool is_empty() const { return own_.all == 0 && lanes_.empty() && others_.is_empty(); }

  Knowledge take(std::uint64_t blocks, std::uint32_t block);

 private:
  LaneStamps& of(std::uint32_t warp);

  BlockKnowledge own_;
  std::vector<std::unique_ptr<LaneStamps>> lanes_;
  Knowledge others_;
};

}  // namespace warpmeter::model::check
