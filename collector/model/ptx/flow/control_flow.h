// SPDX-License-Identifier: MIT
// The control-flow graph of a function, and where the threads of a warp that part at a branch come
// together again.
//
// They meet at the immediate post-dominator of the branch: the first block that every path from it
// to the end of the function passes (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
// Algorithm", on the reversed graph). In an entry, though, two kinds of path do not count, because
// the threads on them never come back:
//   - straight to the end of the thread, by a guarded ret or exit or by a branch to a block that
//     does nothing else;
//   - outside loops, into blocks that only this branch leads to and that lead nowhere but to the
//   end.
// So in `if (a) { if (b) { store; return; } … } else { … } C` the threads that stay meet at C.
//
// And in a loop the ways out of it do not count where a branch keeps both of its sides in the loop:
// in `while (…) { if (a) { if (b) break; … } C }` the threads that stay meet at C each time round,
// and those who left are waited for behind the loop (BREAK takes them out of C's BSSY).
//
// That is what ptxas does. Seen in sm_90 machine code of CUDA 13.0, for endings with stores, ifs
// and loops in them: BSSY and BSYNC enclose the EXITs, and meet at C. Not modelled: of an ending
// that is entered from inside a loop ptxas was seen to make either of the two, a way that counts
// and one that does not (here it counts); and in device functions, and for a `goto` out of an `if`,
// it lets the threads that do not jump meet early, by BREAK (here they meet where all do).
#pragma once

#include <cstddef>
#include <limits>
#include <variant>
#include <vector>

#include "collector/model/ptx/flow/loops.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// No block and no instruction.
constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

/// Instructions [first, end) of Function::body, entered at the first and left after the last.
struct Block {
  std::size_t first = 0, end = 0;
  std::vector<std::size_t> successors, predecessors;  ///< block numbers; none twice
  bool leaves = false;        ///< some threads end, or return, after the last instruction
  bool is_reachable = false;  ///< from the function's first instruction
  /// The block where the threads that part here meet again; `nowhere`: not before they end.
  std::size_t meeting = nowhere;
  /// Where threads meet in the loop that this block is the header of, though others leave it from
  /// there: where those who left meet, `nowhere` for the end.
  bool gathers = false;
  std::size_t behind = nowhere;
  /// The one of two successors that leaves such a loop, past the places where threads meet in it.
  std::size_t exit = nowhere;
};

struct ControlFlow {
  std::vector<Block> blocks;          ///< in the order of the text; empty for an empty body
  std::vector<std::size_t> block_of;  ///< for each instruction
  std::vector<std::size_t> order;     ///< reachable blocks in reverse postorder

  /// The instruction before which the threads that part at the branch `instruction` meet again;
  /// `nowhere` when they do not before they end. Threads may end on their way to it, so whoever
  /// keeps a stack of masks takes a thread that ends out of every mask on it.
  std::size_t reconvergence(std::size_t instruction) const;

  /// The first instruction of a block; `nowhere` of none.
  std::size_t place(std::size_t block) const {
    return block == nowhere ? nowhere : blocks[block].first;
  }
};

/// The graph of `function`, or a diagnostic for a branch to a label that is not there. Instructions
/// that PTX does not have count as going on to the next. A body that does not end in a branch
/// or return ends as if by `ret`. Endless loops that nothing leaves get a meeting point as if their
/// last block could be left.
std::variant<ControlFlow, Diagnostic> control_flow(const Function& function);

/// The natural loops of a graph, inner ones first.
std::vector<Loop> loops_of(const ControlFlow& graph);

}  // namespace warpmeter::model::ptx
