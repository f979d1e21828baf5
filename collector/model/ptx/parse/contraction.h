// SPDX-License-Identifier: MIT
// Products and sums that ptxas rounds once. `mul` and `add` without a rounding of their own may be
// contracted, says PTX ("mul/add sequences with no rounding modifiers may be optimized to use
// fused-multiply-add instructions"), and compilers count on it: what nvcc leaves of a * b - c * d
// is two mul and a sub.
//
// When it does was seen in what ptxas of CUDA 13.0 makes of some hundred sequences for sm_90 (-O1
// to -O3): of f32, f64, f16, bf16 and pairs of the latter two, in the same way,
//   - a product of `mul` (not .rn, not .sat, not under a guard), or the quotient of div.approx and
//     div.full, whose machine code ends in such a product,
//   - and an `add` or `sub` (not .rn; .sat and a guard may be) with the same .ftz, in the same
//     basic block, which is the machine code's: a correctly rounded division, reciprocal or root, a
//     division of integers but of u32, a fence, a call, or anything under a guard that does more
//     than compute (a load, a barrier) ends it,
//   - or, of a product with a number of the code or a parameter of the kernel for a factor (also
//     negated or without its sign), and of a quotient by a number, in any block: ptxas makes such a
//     product again wherever it is needed,
//   - where all that reads the product are sums that can take it in. A sum of two products takes in
//   one:
//     the first that nothing else reads, or else the first that can be taken in everywhere.
// A product of two numbers is a number.
// With -O0, as for `.target …, debug`, it does not. Not seen through: moves and neg between the
// two, and a product whose factors are overwritten before the sum; these stay as they are written.
#pragma once

#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// Sums that take in a product get its factors and the other summand for operands, and
/// Instruction::contraction; products that nobody reads any more Instruction::is_taken_in.
void contract(Function& function);

}  // namespace warpmeter::model::ptx
