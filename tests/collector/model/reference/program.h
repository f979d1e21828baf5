// SPDX-License-Identifier: MIT
// A structured program: lines of PTX, branches of some lanes, and loops that lanes leave when they
// like.
#pragma once

#include <string>
#include <vector>

namespace warpmeter::model::reference {

struct Node;
using Block = std::vector<Node>;

struct Node {
  enum class Kind {
    line,
    branch,  ///< lanes whose predicate holds do `first`, the others `second`
    loop,    ///< `first`; the lanes whose predicate holds do `second`, and again
    leave,   ///< lanes whose predicate holds leave the loop around it
  };
  Kind kind = Kind::line;
  std::string text;  ///< the line, or the predicate: "!%p1"
  Block first, second;
};

/// The same as PTX, with branches and labels; labels are numbered from `label` on, which is the
/// next free number afterwards.
std::string ptx_of(const Block& block, int& label);

}  // namespace warpmeter::model::reference
