// SPDX-License-Identifier: MIT
// Loops in which threads ask for what others bring about, and the registers that decide in them.
//
// `while (*flag == 0) ++tries;` goes on by the flag alone: the number of tries decides nothing as
// long as the loop lasts, nor does the time by which a wait chooses how long to sleep. A thread
// that comes to the same place again with the same in all registers that decide does there what it
// did before, for as long as memory is the same.
//
// A register decides if it reaches an exit of the loop, a place or value in memory, another lane,
// or a branch around one of these (a program slice, Weiser 1981).
//
// `while (!try_wait_for(1 ms))` holds a loop that a limit of time ends, and begins that loop again:
// the time decides how often the thread asks, not what it does then. A branch by the clock does not
// decide if both sides stay in a loop that only asks: the registers that decide there hold answers,
// which are the same for as long as memory is.
#pragma once

#include <cstddef>
#include <vector>

#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

struct AskingLoop {
  std::vector<std::size_t> blocks;
  std::vector<bool> decides;  ///< by register
  /// By register: it is computed from the time or from memory, barrier objects aside, so that the
  /// registers before it do not say what it is.
  std::vector<bool> is_input;
  bool stores = false;  ///< it changes memory, atomics and barrier objects aside
};

/// Those that no other loop is around: a thread that was in one twice was there all the time.
std::vector<AskingLoop> asking_loops(const Function& function, const ControlFlow& graph,
                                     const DataFlow& data);

}  // namespace warpmeter::model::ptx
