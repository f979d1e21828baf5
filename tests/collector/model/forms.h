// SPDX-License-Identifier: MIT
// Forms of instructions, for random programs: the name, and what kind each operand is of.
//
//   h, r, d           integer registers of 16, 32 and 64 bits
//   f, g              f32 and f64;  x, y: f16 and bf16;  v, w: pairs of them
//   p                 predicates
//   i                 any integer of the size before it, or a number
//   o, t, s           a shift or position, a truth table, bounds of a shuffle
//   M                 memory, in the space that the name says
//   K                 the lanes that are here
//   rr, hhhh, p|p     a vector, a pair
//   r.b0, -r          a part of it, its negative
#pragma once

#include <string>
#include <vector>

#include "collector/model/ptx/row.h"

namespace warpmeter::model {

using ptx::expanded;

struct Form {
  std::string name;
  std::vector<std::string> operands;
};

/// The forms of single lanes; any of them may follow any other.
const std::vector<Form>& lane_forms();
/// Those that leave bits of a NaN in memory, which depend on where the NaN came from: each alone.
const std::vector<Form>& lonely_forms();
/// The forms of lanes together, anywhere, and what takes all lanes of a warp.
const std::vector<Form>& group_forms();
const std::vector<Form>& warp_forms();
/// All of these.
std::vector<Form> every_form();

}  // namespace warpmeter::model
