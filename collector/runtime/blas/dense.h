// SPDX-License-Identifier: MIT
// Matrices in the wide numbers that are computed with, each element in its place, whatever op,
// triangle, band or packing the device's memory has it in.
#pragma once

#include <cstdint>
#include <vector>

#include "collector/runtime/blas/numbers.h"
#include "collector/runtime/blas/reach.h"

namespace warpmeter::runtime::blas {

/// cublasOperation_t, cublasSideMode_t, cublasDiagType_t.
enum class Op : int { none = 0, transposed = 1, adjoint = 2 };
enum class Side : int { left = 0, right = 1 };
enum class Diagonal : int { stored = 0, unit = 1 };

inline bool is_valid(Op op) { return op >= Op::none && op <= Op::adjoint; }
inline bool is_valid(Fill fill) { return fill == Fill::lower || fill == Fill::upper; }
inline bool is_valid(Side side) { return side == Side::left || side == Side::right; }
inline bool is_valid(Diagonal diagonal) {
  return diagonal == Diagonal::stored || diagonal == Diagonal::unit;
}

/// Column by column.
template <class W>
struct Dense {
  Dense(std::int64_t with_rows, std::int64_t with_columns)
      : rows(with_rows),
        columns(with_columns),
        all(static_cast<std::size_t>(with_rows * with_columns)) {}

  W& at(std::int64_t i, std::int64_t j) { return all[static_cast<std::size_t>(i + j * rows)]; }
  const W& at(std::int64_t i, std::int64_t j) const {
    return all[static_cast<std::size_t>(i + j * rows)];
  }

  std::int64_t rows, columns;
  std::vector<W> all;
};

template <class W>
Dense<W> transposed(const Dense<W>& of, bool conjugates = false) {
  Dense<W> made(of.columns, of.rows);
  for (std::int64_t j = 0; j < of.columns; ++j) {
    for (std::int64_t i = 0; i < of.rows; ++i) {
      made.at(j, i) = conjugates ? conjugate(of.at(i, j)) : of.at(i, j);
    }
  }
  return made;
}

/// op(A), which has so many rows and columns; A in numbers of `T`.
template <class W, class T>
Dense<W> load_as(Reach& reach, const T* a, std::int64_t leading, Op op, std::int64_t rows,
                 std::int64_t columns) {
  const bool is_as_it_is = op == Op::none;
  const std::int64_t its_rows = is_as_it_is ? rows : columns;
  const std::int64_t its_columns = is_as_it_is ? columns : rows;
  if (its_rows == 0 || its_columns == 0) return Dense<W>(rows, columns);
  const Matrix<const T> from = reach.matrix(a, its_rows, its_columns, leading);
  Dense<W> made(its_rows, its_columns);
  for (std::int64_t j = 0; j < its_columns; ++j) {
    for (std::int64_t i = 0; i < its_rows; ++i) made.at(i, j) = W(wide(from.at(i, j)));
  }
  return is_as_it_is ? made : transposed(made, op == Op::adjoint);
}
template <class T>
Dense<Wide<T>> load(Reach& reach, const T* a, std::int64_t leading, Op op, std::int64_t rows,
                    std::int64_t columns) {
  return load_as<Wide<T>, T>(reach, a, leading, op, rows, columns);
}

/// A square matrix of which memory has one triangle: in columns, as a band, or packed.
template <class T>
struct Triangle {
  enum class In { columns, band, pack };
  T* first = nullptr;
  std::int64_t n = 0, leading = 1;
  Fill fill = Fill::lower;
  In in = In::columns;
  std::int64_t width = 0;  ///< the diagonals of a band beside the main one

  bool holds(std::int64_t i, std::int64_t j) const {
    const bool is_on_its_side = fill == Fill::lower ? i >= j : i <= j;
    return is_on_its_side && (in != In::band || std::abs(i - j) <= width);
  }
  /// The place of an element that it holds.
  std::int64_t place(std::int64_t i, std::int64_t j) const {
    if (in == In::columns) return i + j * leading;
    if (in == In::band) return (fill == Fill::lower ? i - j : width + i - j) + j * leading;
    return fill == Fill::lower ? i + j * (2 * n - j - 1) / 2 : i + j * (j + 1) / 2;
  }
  /// The numbers from the first to the last that it may touch.
  std::int64_t span() const {
    if (in == In::columns) return span_of(n, leading, n);
    return in == In::band ? span_of(n, leading, width + 1) : span_of(n + 1, n, 0) / 2;
  }
  /// Where it lies in this process.
  T* reached(Reach& reach) const {
    if (in == In::columns) return reach.matrix(first, n, n, leading, fill).first;
    if constexpr (std::is_const_v<T>)
      return reach.read(first, span());
    else
      return reach.write(first, span());
  }
};

/// The whole matrix: the other triangle mirrors this one; hermitian: with conjugates.
template <class T>
Dense<Wide<T>> mirrored(Reach& reach, const Triangle<const T>& of, bool is_hermitian) {
  const T* from = of.reached(reach);
  Dense<Wide<T>> made(of.n, of.n);
  for (std::int64_t j = 0; j < of.n; ++j) {
    for (std::int64_t i = 0; i < of.n; ++i) {
      if (!of.holds(i, j)) continue;
      const Wide<T> value = wide(from[of.place(i, j)]);
      made.at(j, i) = is_hermitian ? conjugate(value) : value;
      made.at(i, j) = i == j && is_hermitian ? Wide<T>(std::real(value)) : value;
    }
  }
  return made;
}

/// op of it, with zeros in the other triangle.
template <class T>
Dense<Wide<T>> triangular(Reach& reach, const Triangle<const T>& of, Op op, Diagonal diagonal) {
  const T* from = of.reached(reach);
  Dense<Wide<T>> made(of.n, of.n);
  for (std::int64_t j = 0; j < of.n; ++j) {
    for (std::int64_t i = 0; i < of.n; ++i) {
      const bool is_one = i == j && diagonal == Diagonal::unit;
      if (of.holds(i, j)) made.at(i, j) = is_one ? Wide<T>(1) : wide(from[of.place(i, j)]);
    }
  }
  return op == Op::none ? made : transposed(made, op == Op::adjoint);
}

/// A B. Several columns of B are taken for one reading of A.
template <class W>
Dense<W> product(const Dense<W>& a, const Dense<W>& b) {
  constexpr std::int64_t at_once = 4, rows_at_once = 512;
  Dense<W> made(a.rows, b.columns);
  for (std::int64_t top = 0; top < a.rows; top += rows_at_once) {
    const std::int64_t end = std::min(a.rows, top + rows_at_once);
    for (std::int64_t left = 0; left < b.columns; left += at_once) {
      const std::int64_t right = std::min(b.columns, left + at_once);
      for (std::int64_t l = 0; l < a.columns; ++l) {
        const W* from = &a.at(0, l);
        for (std::int64_t j = left; j < right; ++j) {
          const W factor = b.at(l, j);
          W* to = &made.at(0, j);
          for (std::int64_t i = top; i < end; ++i) to[i] += times(from[i], factor);
        }
      }
    }
  }
  return made;
}

/// X of T X = B, for a triangular T.
template <class W>
void solve(const Dense<W>& triangle, bool is_lower, Dense<W>& b) {
  const std::int64_t n = triangle.rows;
  for (std::int64_t j = 0; j < b.columns; ++j) {
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t k = is_lower ? step : n - 1 - step;
      b.at(k, j) /= triangle.at(k, k);
      const W value = b.at(k, j);
      for (std::int64_t i = is_lower ? k + 1 : 0; i < (is_lower ? n : k); ++i) {
        b.at(i, j) -= times(triangle.at(i, k), value);
      }
    }
  }
}

/// C = alpha P + beta C in the triangle or in all of it; with beta 0 C is not read.
template <class T, class W>
void store(const Matrix<T>& c, const Dense<W>& p, W alpha, W beta, Fill fill = Fill::full) {
  for (std::int64_t j = 0; j < p.columns; ++j) {
    const std::int64_t begin = fill == Fill::lower ? j : 0;
    const std::int64_t end = fill == Fill::upper ? j + 1 : p.rows;
    for (std::int64_t i = begin; i < end; ++i) {
      W value = times(alpha, p.at(i, j));
      if (beta != W(0)) value += times(beta, W(wide(c.at(i, j))));
      c.at(i, j) = narrow<T>(value);
    }
  }
}

}  // namespace warpmeter::runtime::blas
