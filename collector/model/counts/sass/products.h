// SPDX-License-Identifier: MIT
// Products of matrices in the machine code: what type of tensor core work one is, and how much. A
// product of m×n×k is 2·m·n·k operations, which a warpgroup's four warps share.
//
// Machine code says what the tensor cores do, and PTX does not: sm_90 multiplies FP8 of mma.sync as
// halves, and integers of 4 bits as ones of 8.
#pragma once

#include "collector/model/counts/sass/instruction.h"

namespace warpmeter::model::sass {

TensorProduct product_of(Word word, int arch);

/// True if this instruction multiplies matrices, or may: after sm_90 the numbers are not known.
bool may_multiply_matrices(Word word, int arch);

}  // namespace warpmeter::model::sass
