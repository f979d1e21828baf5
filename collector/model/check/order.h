// SPDX-License-Identifier: MIT
// The order of events, as the threads of one block know it. Order comes from barriers of the block
// with the warps that take part, from __syncwarp with its lanes, from barrier objects, and from
// memory: a thread that releases (a fence and then a strong write, or a write that says release)
// hands on what it knows to whoever acquires it from there (PTX ISA, "Memory Consistency Model").
// Values decide nothing.
//
// Where people rely on more than the model promises, and hardware gives it, the rule here is the
// hardware's: what a thread has fenced, a barrier carries to the threads that it meets there, so
// that one of them may tell another block; a barrier takes the place of the fence after an atomic
// or a polling read; threads that have ended count as having arrived. Shuffles, votes and matches
// order no memory (CUDA Programming Guide).
//
// A strong write comes before whoever has seen it, and before what follows them (the model's
// observation order), also where what its thread did before it does not. In PTX that needs no
// fence; here it does: a program without any does not count on it, and that a write was seen this
// time would be mere luck. See Shadow::has_seen.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/model/check/knowledge.h"
#include "collector/model/machine/observer.h"
#include "collector/model/machine/program.h"

namespace warpmeter::model::check {

/// Accesses that one instruction made by lanes of one warp, between two moments of their block.
struct Context {
  std::uint32_t block = 0;
  Stamp stamp = 0;
  std::uint32_t site = 0;
  std::uint8_t warp = 0;
  Scope scope = Scope::device;  ///< the scope of a strong one
  std::uint8_t width = 0;       ///< the bytes of an atomic of whole numbers; 0: it is none
  bool writes : 1 = false;
  bool is_strong : 1 = false;
  bool sees : 1 = false;      ///< a strong one that gets what strong writes have left there
  bool changes : 1 = false;   ///< an atomic: whoever sees it sees what it has changed as well
  bool hands_on : 1 = false;  ///< a strong write behind a fence, or one that releases
};

/// A release at an address.
struct Location {
  Knowledge device;                                           ///< for any block
  std::vector<std::pair<std::uint32_t, Knowledge>> in_block;  ///< for the writer's own
};
using Locations = std::unordered_map<std::uint64_t, Location>;

/// A strong access, as far as it makes order.
struct Synchronisation {
  bool reads = false, writes = false;
  bool acquires = false, releases = false;
  Scope scope = Scope::device;
};

class BlockOrder {
 public:
  BlockOrder(std::uint64_t blocks, std::uint32_t warps, const Program& program);

  void start(std::uint32_t block);
  std::uint32_t block() const { return block_; }
  Stamp now() const { return now_; }
  void pass() { ++now_; }  ///< accesses from here on have another stamp
  /// True if nothing but barriers of the whole block can order its warps, and nothing its grid's
  /// blocks: then of several that did the same any two stand for all.
  bool is_simple() const { return is_simple_; }

  /// The lanes wait for each other; `all` are those that the warp began with.
  void meet(std::uint32_t warp, std::uint32_t lanes, std::uint32_t all);
  /// The warp goes on after it has told the barrier that it was there.
  void arrive(std::uint32_t barrier, std::uint32_t warp);
  /// Those warps have met at the barrier, with each other and with all that arrived before.
  void release(std::uint32_t barrier, std::uint32_t warps, bool is_whole_block);
  void fence(std::uint32_t warp, std::uint32_t lanes, Scope scope);
  void synchronise(Location& location, std::uint32_t warp, std::uint32_t lane,
                   const Synchronisation& access);
  /// True if all those lanes have fenced something, or a barrier has told them what others have.
  bool have_fenced(std::uint32_t warp, std::uint32_t lanes, Scope scope) const;
  /// Barrier objects. `phase`: the object's own, before the access.
  void arrive_object(std::uint64_t address, bool phase, std::uint32_t warp, std::uint32_t lane);
  /// Returns how many of its phases have ended.
  std::uint32_t leave_object(std::uint64_t address, bool phase, std::uint32_t warp,
                             std::uint32_t lane);

  /// True if everything of this context is ordered before whatever the block does now.
  bool is_past(const Context& context) const {
    return context.block == block_ && context.stamp <= floor_;
  }
  /// The same for whatever a warp does.
  bool is_past_for(const Context& context, std::uint32_t warp) const {
    return context.block == block_ &&
           (context.stamp <= floor_ ||
            (context.warp == warp && context.stamp <= warp_floor_[warp]));
  }
  /// The lanes of a context, among `lanes`, that are not ordered before what some lane of `own`
  /// does now.
  std::uint32_t unordered(const Context& context, std::uint32_t lanes, std::uint32_t warp,
                          std::uint32_t own) const;
  /// True if what the lane does now comes after what some lane of another warp did at that moment,
  /// or later.
  bool comes_after(std::uint32_t other, Stamp stamp, std::uint32_t warp, std::uint32_t lane) const;
  /// The lanes of a context, among `lanes`, that no lane of `own` comes after.
  std::uint32_t survivors(const Context& context, std::uint32_t lanes, std::uint32_t warp,
                          std::uint32_t own) const;

 private:
  /// A lane's fence: it and what it knew then.
  struct Fenced {
    bool exists = false;
    Knowledge known;  ///< for what is not its own warp's
    Stamp own = 0, warp = 0, block = 0;
  };
  struct View {
    Knowledge known, pending_in_block, pending;
    Knowledge acquired, seen;  ///< the last knowledge of a location, for those who poll
    Fenced in_block, device;
  };
  struct Barrier {
    Gathering known, in_block, device;  ///< by those who arrived; the latter two: fenced
  };
  struct Object {
    Gathering arrivals;
    Knowledge done;  ///< for the phase that was completed last
    bool phase = false, is_known = false;
    std::uint32_t ended = 0;  ///< phases
  };

  View& view(std::uint32_t warp, std::uint32_t lane);
  Object& object(std::uint64_t address, bool phase);
  /// The lane that was asked for last what it knows of a context, and the answer.
  struct Asked {
    bool exists = false;
    const Knowledge* known = nullptr;
    const LaneStamps* met = nullptr;
    std::uint32_t found = 0;

    bool is_same(const Knowledge& known, const LaneStamps* of_lane);
  };
  std::uint32_t known_of(const Context& context, std::uint32_t others, std::uint32_t warp,
                         std::uint32_t lane, Asked& asked) const;
  void add_own(Gathering& to, std::uint32_t warp, std::uint32_t lane) const;
  Knowledge snapshot(std::uint32_t warp, std::uint32_t lane);
  Knowledge knowledge_of(const Fenced& fenced, std::uint32_t warp, std::uint32_t lane) const;
  void add_warp(Barrier& barrier, std::uint32_t warp);
  void add_views(Barrier& barrier, std::uint32_t warp);
  void hand_on(std::uint32_t warps, Barrier& from);
  void accept_pending(View& view);
  static void add_fenced(Gathering& to, const Fenced& fenced, std::uint32_t warp,
                         std::uint32_t lane);

  const std::uint64_t blocks_;
  const std::uint32_t warps_;
  const bool has_releases_, is_simple_;
  std::uint32_t block_ = 0;
  Stamp now_ = 1, floor_ = 0;
  std::vector<Stamp> warp_floor_;
  /// By warp, where some lanes met without the others: what each lane knows of each.
  std::vector<std::vector<LaneStamps>> met_;
  std::vector<View> views_;    ///< by thread; empty as long as there is nothing to keep
  bool is_shared_out_ = true;  ///< all threads know the same since the last barrier
  std::array<Barrier, barrier_of_cluster + 1> barriers_;
  std::unordered_map<std::uint64_t, Object> objects_;
};

}  // namespace warpmeter::model::check
