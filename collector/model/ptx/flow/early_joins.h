// SPDX-License-Identifier: MIT
// Where hardware may let lanes meet that here go on apart.
//
// In `if (a || (b && c)) X else Y` the lanes that come to X by `a` and those that come to it by `c`
// have not met: the branch on `a` has them all meet behind X and Y. Machine code may let them run X
// together all the same (control_flow.h says where ptxas was seen to), so the requests of X are
// certain only where the lanes of no warp part at that branch. An H200 made two stores of what runs
// three times here.
//
// A way may go round a loop: those who leave `do { …; if (c) goto out; } while (d); X; out:` by its
// end in one round and those who do so in a later one have not met before `out`, and an H100
// executed X once for a whole warp that comes to it in seven parts here.
#pragma once

#include <cstddef>
#include <vector>

#include "collector/model/ptx/flow/control_flow.h"

namespace warpmeter::model::ptx {

/// For each block the branches, by their instructions, from two sides of which it is reached before
/// the place where the lanes that part there meet. A block of a
/// function with more of them than anybody can follow has `nowhere`: any branch may be one.
std::vector<std::vector<std::size_t>> early_joins(const ControlFlow& graph);

}  // namespace warpmeter::model::ptx
