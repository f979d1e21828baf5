// SPDX-License-Identifier: MIT
// The operands of mma, wmma.mma and the accesses of wmma.load and wmma.store beside an operation:
// plain data, for the reason that operation.h gives.
//
// A product is that of lines: element (i, j) of the result is made of line i of the first operand
// and line j of the second, each k numbers long. Registers hold tiles of eight lines: lane l has
// four bytes (of f64 eight) of a tile's line l / 4. A register of the result has the elements of
// its line + l / 4, from its column + 2 (l % 4) on. fragments.h says which tile is where.
#pragma once

#include <cstdint>

namespace warpmeter::model {

enum class MatrixNumber : std::uint8_t {
  f16,
  bf16,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  u8,
  s8,
  u4,
  s4,
  b1,
  s32,
};

/// How numbers become a result; each is what sm_90 does (see execute/matrix_sums.h).
enum class MatrixRule : std::uint8_t {
  fused,   ///< one sum of all products and the accumulator
  halves,  ///< 8-bit floats: fused sums of one half and the other, then the accumulator
  quads,   ///< m8n8k4 of f16: four products of quarter warps
  chain,   ///< f64: one fused multiply-add after the other
  integer,
  bits_and,
  bits_xor,
};

inline constexpr int most_matrix_rows = 8;

struct MatrixOperand {
  MatrixNumber number;
  std::uint8_t count;  ///< the count of registers that matter: wmma fills some twice
  std::uint16_t rows[most_matrix_rows];
  std::uint8_t line[most_matrix_rows];  ///< the first of each register's tile
  std::uint8_t from[most_matrix_rows];  ///< its first k, of a sum its first column
};

struct MatrixProduct {
  MatrixRule rule;
  bool saturates;
  bool first_by_column,
      second_by_column;  ///< the first by column of quads: how a quarter's operands lie
  std::uint16_t first_lines, second_lines, k;
  std::uint16_t fused_k;  ///< for MatrixRule::fused: numbers of a line that are added at once
  MatrixOperand first, second, sum, result;
  /// True for a sparse product (mma.sp), whose first operand has k numbers of the 2 k that a line
  /// is long: the register that says where they stand, and which of each four lanes hold it. A lane
  /// has 32 bits of a line and those of the line eight below it, 16 each (of 8 bits and less: 32
  /// bits of either).
  bool is_sparse;
  std::uint8_t metadata_lane, metadata_lanes;
  std::uint16_t metadata;
};

/// Where the lanes of one access of wmma.load or wmma.store reach: lane l at the operand's address
/// + line[l] × stride + inner[l].
struct MatrixReach {
  std::uint32_t stride_bits;  ///< the stride bits of one element that the stride counts
  std::uint32_t line[32];
  std::uint32_t inner[32];  ///< bytes
};

}  // namespace warpmeter::model
