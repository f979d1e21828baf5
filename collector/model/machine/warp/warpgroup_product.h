// SPDX-License-Identifier: MIT
// The operands of wgmma.mma_async beside an operation: plain data, for the reason that operation.h
// gives.
//
// Four warps multiply 64 lines of A by n columns of B, each 32 bytes of numbers long, and each warp
// has 16 lines of A and of the result. Registers hold tiles of eight lines as those of mma do
// (matrix_product.h): of A the upper lines and the lower, of the first 16 bytes, then of the
// others; of the result the upper and the lower of eight columns, then of the next eight.
//
// B, and A where it does not come in registers, lie in shared memory as a descriptor says: bits 0
//   to 13   where it begins, in 16 bytes bits 16 to 29  the leading step, bits 32 to 45 the stride,
//   in 16 bytes bits 49 to 51  the base: which row of 128 bytes begins the pattern of a swizzle
//   bits 62, 63    the width of a row: none 16 bytes, 1: 128, 2: 64, 3: 32, which are swizzled
//   Eight lines of a matrix lie in rows that follow each other, and eight lines more a stride
//   behind them; of rows of 16 bytes the second half lies a leading step behind the first. In a
//   turned matrix, rows hold numbers of one k, eight k follow each other, and steps lead to more:
//   of rows of 16 bytes the stride to the next lines and the leading step to the next eight k, of
//   others the other way round. The 16 bytes of a row change places as the number of the row of 128
//   bytes that they are in says, less the base. (All of it is what an H200 did,
//   tests/runtime/programs/warpgroup_products.cu.)
#pragma once

#include <cstdint>

#include "collector/model/machine/warp/matrix_product.h"

namespace warpmeter::model {

inline constexpr std::uint32_t warps_of_group = 4, lines_of_warp = 16;
inline constexpr std::uint32_t bytes_of_warpgroup_k = 32;
inline constexpr int most_warpgroup_sums = 128;

/// Operation::c, in place of a predicate: what the result was before is never, or always, added to.
inline constexpr std::uint16_t adds_never = 0xfffe, adds_always = 0xffff;

struct WarpgroupProduct {
  MatrixRule rule;
  MatrixNumber first, second, result;
  bool saturates, first_in_registers;
  bool negates_first, negates_second, turns_first, turns_second;
  std::uint16_t n;
  std::uint16_t sum_count;
  std::uint16_t first_rows[4];
  std::uint16_t sums[most_warpgroup_sums];
};

}  // namespace warpmeter::model
