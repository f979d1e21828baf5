// SPDX-License-Identifier: MIT
// The machine code of one kernel as the audit sees it: its accesses to shared and global memory,
// the PTX line that each came from, and the loops around them.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "collector/model/counts/sass/elf.h"
#include "collector/model/counts/sass/instruction.h"
#include "collector/model/machine/program.h"
#include "collector/model/ptx/flow/flow_graph.h"

namespace warpmeter::model::sass {

struct MachineAccess {
  Instruction instruction;
  std::uint64_t offset = 0;  ///< in the kernel's code
  int line = 0;              ///< the line of the PTX; 0: not known
  Node block = 0;            ///< the block of MachineCode::graph
};

/// A branch, or an end of the thread, that some threads take and others need not.
struct MachineBranch {
  Node block = 0;                ///< that it ends
  int line = 0;                  ///< the line of the PTX; 0: not known
  std::vector<Node> successors;  ///< the successors of the block: two, or one and the end
};

/// A barrier of the block.
struct MachineBarrier {
  int line = 0;  ///< the line of the PTX; 0: not known
  /// A guard in place of a branch, and nothing in front that gathers those whom it lets pass: the
  /// warp comes as a whole.
  bool is_predicated = false;
};

/// A branch out of a loop behind which no BSYNC gathers the lanes before they access memory again,
/// or which has a YIELD: those that leave in different rounds go on apart.
struct OpenExit {
  int line = 0;            ///< the line of the PTX
  bool is_nested = false;  ///< there is a loop around that loop
};

struct MachineCode {
  int arch = 0;  ///< 90 is sm_90
  Resources resources;
  std::vector<MachineOperation> operations;  ///< every instruction, in the order of the code
  bool calls_elsewhere = false;              ///< there are calls to code that was not read
  bool is_straight = false;                  ///< see Program::is_straight
  std::vector<MachineAccess> accesses;       ///< that may run, in the order of the code
  std::vector<int>
      local_lines;  ///< the local lines of the PTX, of each access to local memory; 0: not known
  std::vector<MachineBranch> branches;
  std::vector<MachineBarrier> barriers;
  std::vector<OpenExit> open_exits;
  std::set<int> electing_lines;       ///< PTX lines that became a vote over the warp and more
  std::unique_ptr<FlowGraph> graph;   ///< the graph of basic blocks
  bool jumps_anywhere = false;        ///< there are jumps whose targets are not known
  bool yields = false;                ///< somewhere; see ptx::behind_waiting()
  bool meets_elsewhere = false;       ///< lanes that part may not meet where they do in PTX
  std::vector<std::string_view> ptx;  ///< the PTX that it was assembled from, line by line; views
                                      ///< into the cubin
};

/// Reads the code of `entry` out of a cubin, which must outlive the result; or says why it cannot
/// be read: the rest of a sentence that starts with the cubin. Never crashes or allocates more than
/// a multiple of the cubin's size, whatever is in it.
std::variant<MachineCode, std::string> read_machine_code(Bytes cubin, std::string_view entry);

}  // namespace warpmeter::model::sass
