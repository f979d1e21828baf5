// SPDX-License-Identifier: MIT
// A triangular matrix and a general one, for trsm and what is solved by LU factors.
#pragma once

#include <cstdint>

#include "collector/runtime/blas/dense.h"

namespace warpmeter::runtime::blas {

template <class T>
struct TriangleAndMatrix {
  Side side;
  Fill fill;
  Op op;
  Diagonal diagonal;
  std::int64_t m, n, a_leading, b_leading;

  /// B becomes X of op(A) X = alpha B, or of X op(A) = alpha B.
  void solve(Reach& reach, const T* a, T* b, Wide<T> alpha) const {
    const bool is_left = side == Side::left;
    const Triangle<const T> stored{a, is_left ? m : n, a_leading, fill};
    const auto triangle = triangular(reach, stored, op, diagonal);
    const bool is_lower = (fill == Fill::lower) == (op == Op::none);
    Dense<Wide<T>> x = load<T>(reach, b, b_leading, Op::none, m, n);
    for (Wide<T>& element : x.all) element = times(alpha, element);
    if (is_left) {
      blas::solve(triangle, is_lower, x);
    } else {
      x = transposed(x);
      blas::solve(transposed(triangle), !is_lower, x);
      x = transposed(x);
    }
    store(reach.matrix(b, m, n, b_leading), x, Wide<T>(1), Wide<T>(0));
  }
};

}  // namespace warpmeter::runtime::blas
