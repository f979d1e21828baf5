// SPDX-License-Identifier: MIT
// Lanes of one warp that wait for others of it: at a barrier of the block, or where they exchange
// something with lanes that they name.
//
// A barrier counts warps, not threads. An H100 does this where only some lanes of a warp come to
// one (tests/golden/h100_divergent_barriers.csv):
//   - they wait there until every lane of the warp that has not ended stands at the same
//     instruction; then the warp has come, once;
//   - meanwhile nobody waits for them: the others pass the place where the branch would have them
//     meet, and go on until they come to a barrier or end. (ptxas takes a branch around an aligned
//     barrier for one that all lanes take alike, and sets no meeting there; in a function it
//     YIELDs.)
//   - lanes that have ended are not waited for; so most programs with such a barrier end well;
//   - lanes at two different `bar` instructions wait for each other for ever, whatever the
//   barriers'
//     numbers. At `barrier` without .aligned lanes meet wherever each of them stands;
//   - machine code that predicates the barrier instead of branching around it is executed by the
//     whole warp, which has come then.
//
// Exchanges (shuffles, votes, bar.warp.sync and their like) wait in the same way for the lanes that
// their mask names: for those that are at the same kind of exchange, wherever that stands, and not
// for those that have ended. Lanes at an exchange and lanes at a barrier, or at another kind, wait
// for ever.
#pragma once

#include <cstdint>
#include <vector>

#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

/// Adds what the active lanes of a warp have executed up to an instruction.
void count_up_to(Warp& warp, std::uint32_t instruction);

class Parting {
 public:
  /// True if lanes of the warp wait for others of it, or go on by themselves.
  bool is_parted() const { return !groups_.empty(); }
  void clear() { groups_.clear(); }

  /// The active lanes wait at Warp::pc; the others no longer wait for them anywhere.
  void wait(Warp& warp);
  /// Gives the warp to lanes that can go on; false where all wait.
  bool go_on(Warp& warp);
  /// Lets lanes at exchanges go on whose mask names nobody who is elsewhere, with what they give
  /// each other. `operations`: by code, see Unit.
  void exchange(Warp& warp, const ExecuteOperation* operations);
  /// When all wait: lets them meet, with the warp at the barrier. False where they never do.
  bool meet(Warp& warp);

  /// While all wait: the lanes at the first place of the program where some do, and that place.
  struct Waiting {
    const Operation* at = nullptr;
    std::uint32_t lanes = 0;
    std::uint32_t gone = 0;  ///< lanes that have ended since these began to wait
  };
  Waiting first(const Warp& warp) const;

 private:
  /// Lanes with a stack of their own.
  struct Group {
    const Operation* pc;
    const Operation* reconverge;
    std::uint32_t mask, counted_from;
    std::uint32_t awaited;  ///< lanes that were elsewhere when these began to wait
    bool waits;
    std::vector<Frame> stack;
  };
  static void give(Warp& warp, const Group& group);
  void unite();
  std::vector<std::size_t> party_of(const Warp& warp, std::size_t first) const;

  std::vector<Group> groups_;
};

}  // namespace warpmeter::model
