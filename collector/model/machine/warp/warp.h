// SPDX-License-Identifier: MIT
// A warp while it runs, and what its memory accesses remember: plain data that the units of
// execute/ and the scheduler share (see operation.h for why there are no functions here).
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/model/machine/warp/matrix_product.h"
#include "collector/model/machine/warp/operation.h"
#include "collector/model/machine/warp/warpgroup_product.h"

namespace warpmeter::model {

/// How the lanes of a remembered access lie, in halves of 16 lanes.
enum class Shape : std::uint8_t {
  general,
  uniform,     ///< within a half, one address
  contiguous,  ///< within a half, one element after the other
};

/// The other needs of the machine code for them (Site::layout): distances that are signed numbers
/// of 32 bits; no two active lanes with a byte in common; of an access by some lanes only, the
/// active ones at one address, or each where its number says.
inline constexpr std::uint8_t layout_near = 1, layout_apart = 2, some_uniform = 4,
                              some_contiguous = 8;

struct TouchedWords;
struct SiteGroup;

/// One memory instruction, as one worker thread sees it. An access whose lanes lie towards each
/// other as they did the last time (same mask, same distances from the first active lane) costs one
/// increment here; the counting rules are applied when the shape changes, and at the end.
///
/// Where the addresses are known to lie as those of another site, the leader, which was executed
/// just before, they are compared with what is remembered only once for each of its shapes.
struct alignas(64) Site {
  // The operands of the common access lie in two lines of the cache.
  const Site* leader;         ///< one that never remembers anything where there is none
  std::uint64_t like_leader;  ///< the leader's number when it remembered the same mask and deltas
  std::uint32_t mask;         ///< 0: nothing remembered
  Shape shape;
  std::uint8_t misaligned;  ///< bits that no lane's address may have
  std::uint8_t hit_shift;   ///< hits[(address & hit_mask) >> hit_shift]
  std::uint8_t layout;      ///< see layout_near
  std::uint32_t hit_mask;   ///< the bits of the first address that somebody has to know
  std::uint64_t least;      ///< where the first active lane may be so that all lanes are inside
  std::uint64_t most_above_least;
  std::byte* host;              ///< the place of `least` on this machine
  std::uint64_t half_apart;     ///< delta[16]
  const TouchedWords* touched;  ///< to be told of each access; null: nobody is
  std::uint64_t number;         ///< the number of what is remembered, none twice; 0: nothing is
  std::uint64_t* hits;          ///< the hits of the remembered shape, not yet in the counts
  const std::byte* before;      ///< where machine code's last load went, for a prefetch

  alignas(64) std::uint64_t delta[32];  ///< address minus the first active lane's
  std::uint32_t delta_32[32];           ///< the same for 32-bit address registers
  std::uint64_t own_hits[32];           ///< hits, unless every place is to be known
  std::uint64_t window_begin;           ///< where the last access was allowed
  std::uint8_t space;                   ///< the space of the last access: an AddressSpace

  // Each lane has local memory of its own, so that nothing of the above fits it. The last access
  // that went there may use: a first byte from local_begin on, so many of them (0: it went
  // elsewhere), and which bits of an address it may not have.
  std::uint8_t misaligned_local;
  std::uint64_t local_begin, local_places;

  SiteGroup* group;  ///< that knows something while this site remembers it; may be null
};

/// Loads of machine code that add constants to one address (LoadGroup), as one worker thread sees
/// them: what their sites remember, for all of them at once. The address is in the first lane's
/// row, before anything is added.
struct alignas(64) SiteGroup {
  std::uint64_t least;  ///< where the address may be so that each load is allowed
  std::uint64_t most_above_least;
  std::byte* host;           ///< the place of `least` on this machine
  std::uint64_t half_apart;  ///< as in Site
  Shape shape;               ///< the shape of each load; general: nothing is known
  Shape shape_now;           ///< the shape of the loads that follow; general: each looks for itself
  std::uint8_t misaligned;   ///< as in Site
  std::uint32_t address_now;  ///< the low bits of the address of the loads that follow
  std::byte* now;             ///< its place on this machine
  std::uint64_t uses;         ///< how often all was as it is known
  std::uint32_t wait;         ///< so many times more the loads look for themselves; then
                              ///< know_group() looks what is known
  std::uint32_t patience;     ///< the next wait
};

/// A side of a divergent branch that waits, or where both continue together.
struct Frame {
  const Operation* pc;
  const Operation* reconverge;
  std::uint32_t mask;
  std::uint32_t counted_from;  ///< see Warp
  bool is_call = false;        ///< where the caller goes on
};

/// A function that is called: its first operation, the one that ends it, and the highest place that
/// its frame may begin at. Its address for calls through pointers is first_function +
/// function_step × its number.
inline constexpr std::uint64_t first_function = 0x10000;
inline constexpr std::uint64_t function_step = 16;
struct FunctionCode {
  std::uint32_t first, end, highest_frame;
};

/// parted means: the active
enum class WarpStatus : std::uint8_t { running, yielded, at_barrier, parted, finished, trapped };

enum class TrapKind : std::uint8_t {
  none,
  out_of_bounds,
  misaligned,
  divergent_barrier,
  barrier_not_reached,
  endless,
  no_progress,
  trap_instruction,
  stack_overflow,
  bad_call,
  outside_surface,
  misaligned_surface,
  illegal_box,
  incomplete_warpgroup,
  outside_cluster,
  assertion,
  waits_outside,  ///< no mistake: see LaunchOptions::beside
};

struct RaisedTrap {
  TrapKind kind;
  std::uint8_t space;  ///< a Space of memory.h
  std::uint32_t lane;
  std::uint32_t instruction;
  std::uint32_t mask;  ///< lanes that had come to a divergent barrier
  std::uint64_t address, width;
};

/// Each side of a divergent branch has fewer lanes than the branch, so 32 levels of two frames; and
/// as many for the loops that gather those who leave them early. Calls may take as many frames
/// again each.
inline constexpr std::uint32_t frames_of_divergence = 64;
inline constexpr std::uint32_t frames_of_calls = 4096;

/// The wishes of a checker for an operation: to know which was the last, to be told before. A load
/// with the third may be told of after it is made, but before anything else is: see LateLoads.
inline constexpr std::uint8_t watch_noted = 1, watch_observed = 2, watch_late = 32;

struct WorkerMemory;
struct Warp;

/// A load whose lanes lay as its site remembers.
struct LateLoad {
  const Operation* op;
  const Warp* warp;
  std::uint64_t address;  ///< the first lane's
};
/// Where machine code writes down loads that an observer is told of later, together.
struct LateLoads {
  LateLoad *next = nullptr, *end = nullptr;
};

/// Machine code of a stretch of a program. Returns the
/// operation that the interpreter goes on with, or null when the warp has to stop.
using NativeEntry = const Operation* (*)(Warp& warp);

struct Warp {
  std::byte* registers;       ///< rows of lanes
  std::uint32_t* predicates;  ///< a bit a lane
  Site* sites;
  SiteGroup* groups;     ///< those of the machine code
  std::uint8_t* parted;  ///< for each instruction: 1 once lanes have parted at it
  WorkerMemory* memory;
  const MatrixProduct* products;
  const MatrixReach* reaches;
  const WarpgroupProduct* warpgroup_products;
  std::byte** lane_host;      ///< the lane host of reach(): where each active lane's access goes on
                              ///< this machine
  std::byte* local;           ///< memory of its own of each lane in turn
  std::uint64_t local_bytes;  ///< the local bytes of a lane
  const Operation* code;
  const Operation* pc;  ///< where to go on, while not running
  std::uint32_t active;
  std::uint32_t alive;          ///< lanes that exist and have not exited
  const Operation* reconverge;  ///< where the active lanes wait for the others; may be null
  std::uint32_t counted_from;   ///< first instruction not yet in the counts
  std::uint32_t carry;          ///< condition code of add.cc and the like, a bit a lane
  std::uint64_t* issues;        ///< InstructionRecording; null: nobody wants it
  std::uint64_t* issued_lanes;
  std::uint64_t warp_instructions;    ///< the warp instructions of this warp in this block
  std::uint64_t thread_instructions;  ///< active lanes over all of them
  std::uint64_t launched_at;          ///< nanoseconds since 1970, or 0: what %globaltimer begins at
  std::uint64_t yield_at;             ///< leave the processor to the other warps at this count
  std::uint64_t products_of_group;    ///< the products of this warp in this block, by warpgroups
  const Operation* last_of_group;     ///< for these
  std::uint32_t index;                ///< in the block
  std::uint32_t depth;                ///< the depth of stack
  std::uint32_t came;                 ///< at a barrier: lanes that take part in it
  std::uint32_t cluster_lanes;        ///< that have arrived at the cluster's barrier, …
  std::uint64_t cluster_phase;        ///< in this phase of it
  WarpStatus status;
  RaisedTrap trap;
  const FunctionCode* functions;
  std::uint64_t function_count;
  Frame* stack;
  /// Frames that calls may fill; loops that gather lanes may fill frames_of_divergence more.
  std::uint32_t stack_limit;
  const std::uint8_t* watched;  ///< by operation, while somebody checks: sums of watch_…
  const Operation* last;        ///< the last one executed that was to be noted; may be null
  /// Not 0 once more is watched than from the start on; null: that may be at any time.
  const std::uint8_t* watches_more;
  LateLoads* late;  ///< the observer's; may be null
  /// The entries of each operation, of run_native, for warps whose lanes are all active and for
  /// others: see native/code.h.
  const NativeEntry *native, *native_of_some;
};

/// One instruction set's code for Warp: runs until the warp yields, waits, finishes or traps.
using RunWarp = void (*)(Warp& warp);

/// Its function for one operation, by the lanes of the mask. Returns the operation that follows, or
/// null when the warp has to stop.
using ExecuteOperation = const Operation* (*)(Warp& warp, const Operation* op, std::uint32_t mask);

}  // namespace warpmeter::model
