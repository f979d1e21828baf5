// SPDX-License-Identifier: MIT
// Unset bits through matrices: an element of a product has those of its line, its column and its
// accumulator. Lanes hold parts of each other's (machine/matrix_product.h).
#pragma once

#include <algorithm>

#include "collector/model/check/unset/bits.h"
#include "collector/model/machine/warp/matrix_product.h"

namespace warpmeter::model::check {

/// True if one of the lanes that hold a line of a factor has unset bits there; `unset(row, lane)`
/// are the unset bits of a register.
template <class Unset>
bool is_line_unset(const MatrixOperand& factor, unsigned line, const Unset& unset) {
  for (unsigned t = 0; t < factor.count; ++t) {
    if (line < factor.line[t] || line >= factor.line[t] + 8u) continue;
    for (unsigned i = 0; i < 4; ++i) {
      if (unset(factor.rows[t], (line - factor.line[t]) * 4 + i) != 0) return true;
    }
  }
  return false;
}

template <class Unset>
bool is_sum_unset(const MatrixOperand& sum, unsigned line, unsigned column, const Unset& unset) {
  const bool is_half = sum.number == MatrixNumber::f16;
  for (unsigned r = 0; r < sum.count; ++r) {
    const unsigned own_column = is_half ? column / 2 * 2 : column;
    const unsigned from = sum.from[r];
    if (line < sum.line[r] || line >= sum.line[r] + 8u || own_column < from ||
        own_column >= from + 8u || (own_column - from) % 2 != 0) {
      continue;
    }
    const unsigned lane = (line - sum.line[r]) * 4 + (own_column - from) / 2;
    const std::uint64_t bits = unset(sum.rows[r], lane);
    return (is_half ? bits >> 16 * (column % 2) & 0xffff : bits) != 0;
  }
  return false;
}

/// The unset bits of a lane's results.
template <class Unset>
UnsetResults through_product(const MatrixProduct& product, unsigned lane, const Unset& unset) {
  UnsetResults results{};
  const auto any_of = [&](const MatrixOperand& operand, unsigned other) {
    return std::any_of(operand.rows, operand.rows + operand.count,
                       [&](std::uint16_t row) { return unset(row, other) != 0; });
  };
  if (product.rule == MatrixRule::quads) {  // eight lanes multiply by themselves
    bool is_any = false;
    for (unsigned other = lane % 16 / 4 * 4; other < 32; other += other % 4 == 3 ? 13 : 1) {
      is_any |= any_of(product.first, other) || any_of(product.second, other) ||
                any_of(product.sum, other);
    }
    if (is_any) results.fill({~std::uint64_t{0}, 0});
    return results;
  }
  const bool is_half = product.result.number == MatrixNumber::f16;
  const auto is_place_unset = [&](unsigned line) {  // for the numbers of a sparse product
    const unsigned first = line % 8 * 4 + product.metadata_lane;
    for (unsigned i = 0; product.is_sparse && i < product.metadata_lanes; ++i) {
      if (unset(product.metadata, first + i) != 0) return true;
    }
    return false;
  };
  for (unsigned r = 0; r < product.result.count; ++r) {
    const unsigned line = product.result.line[r] + lane / 4;
    for (unsigned q = 0; q < (is_half ? 2u : 1u); ++q) {
      const unsigned column = product.result.from[r] + lane % 4 * 2 + q;
      if (!is_place_unset(line) && !is_line_unset(product.first, line, unset) &&
          !is_line_unset(product.second, column, unset) &&
          !is_sum_unset(product.sum, line, column, unset)) {
        continue;
      }
      results[r].unset |= is_half ? std::uint64_t{0xffff} << 16 * q : ~std::uint64_t{0};
    }
  }
  return results;
}

/// The unset bits of movmatrix: two numbers of 16 bits, each from another lane.
template <class Unset>
UnsetBits through_transpose(std::uint16_t row, unsigned lane, const Unset& unset) {
  UnsetBits result;
  for (unsigned q = 0; q < 2; ++q) {
    const unsigned line = lane % 4 * 2 + q, column = lane / 4;
    const std::uint64_t bits = unset(row, line * 4 + column / 2) >> 16 * (column % 2) & 0xffff;
    result.unset |= bits << 16 * q;
  }
  return result;
}

}  // namespace warpmeter::model::check
