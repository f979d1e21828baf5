// SPDX-License-Identifier: MIT
// cuBLAS's own factorisations of many small matrices: LU, and what is solved and inverted by it.
#include <utility>

#include "collector/runtime/blas/call.h"
#include "collector/runtime/blas/dense.h"
#include "collector/runtime/blas/level3.h"

namespace warpmeter::runtime {
namespace blas::factors {
namespace {

bool is_leading(std::int64_t leading, std::int64_t n) {
  return leading >= std::max<std::int64_t>(1, n);
}

/// L and U in the place of A. Row k was exchanged with row pivots[k], from 0 on. Returns the
/// number, from 1 on, of the first pivot that is 0; 0: none is.
template <class W>
int factorise(Dense<W>& a, std::vector<std::int64_t>* pivots) {
  int first_zero = 0;
  for (std::int64_t k = 0; k < a.rows; ++k) {
    std::int64_t best = k;
    for (std::int64_t i = k + 1; pivots != nullptr && i < a.rows; ++i) {
      if (size_of(a.at(i, k)) > size_of(a.at(best, k))) best = i;
    }
    if (pivots != nullptr) (*pivots)[static_cast<std::size_t>(k)] = best;
    for (std::int64_t j = 0; best != k && j < a.columns; ++j) std::swap(a.at(k, j), a.at(best, j));
    if (a.at(k, k) == W(0)) {
      if (first_zero == 0) first_zero = static_cast<int>(k + 1);
      continue;
    }
    for (std::int64_t i = k + 1; i < a.rows; ++i) a.at(i, k) /= a.at(k, k);
    for (std::int64_t j = k + 1; j < a.columns; ++j) {
      for (std::int64_t i = k + 1; i < a.rows; ++i) a.at(i, j) -= times(a.at(i, k), a.at(k, j));
    }
  }
  return first_zero;
}

template <class T>
Status getrf(Call& call, int n, T* const* a, int leading, int* pivots, int* info, int count) {
  if (n < 0 || count < 0 || !is_leading(leading, n)) return Status::invalid_value;
  if (n == 0 || count == 0) return Status::success;
  return call.run([=](Reach& reach) {
    T* const* all = reach.read(a, count);
    int* infos = reach.write(info, count);
    for (std::int64_t i = 0; i < count; ++i) {
      Dense<Wide<T>> matrix = load<T>(reach, all[i], leading, Op::none, n, n);
      std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
      infos[i] = factorise(matrix, pivots == nullptr ? nullptr : &rows);
      store(reach.matrix(all[i], n, n, leading), matrix, Wide<T>(1), Wide<T>(0));
      if (pivots == nullptr) continue;
      int* to = reach.write(pivots + i * n, n);
      for (int k = 0; k < n; ++k) to[k] = static_cast<int>(rows[static_cast<std::size_t>(k)] + 1);
    }
  });
}

/// Exchanges rows as the factorisation did, or back.
template <class T>
void exchange(const Matrix<T>& b, const int* pivots, int n, int columns, bool is_back) {
  for (int step = 0; step < n; ++step) {
    const int k = is_back ? n - 1 - step : step;
    const int other = pivots[k] - 1;
    for (int j = 0; other != k && j < columns; ++j) std::swap(b.at(k, j), b.at(other, j));
  }
}

/// B becomes X of op(A) X = B.
template <class T>
void solve(Reach& reach, Op op, int n, int columns, const T* a, int a_leading, const int* pivots,
           T* b, int b_leading) {
  const auto by = [&](Fill fill, Diagonal diagonal) {
    const TriangleAndMatrix<T> it{Side::left, fill, op, diagonal, n, columns, a_leading, b_leading};
    it.solve(reach, a, b, Wide<T>(1));
  };
  const Matrix<T> matrix = reach.matrix(b, n, columns, b_leading);
  const bool is_as_it_is = op == Op::none;
  if (is_as_it_is && pivots != nullptr) exchange(matrix, pivots, n, columns, false);
  by(is_as_it_is ? Fill::lower : Fill::upper, is_as_it_is ? Diagonal::unit : Diagonal::stored);
  by(is_as_it_is ? Fill::upper : Fill::lower, is_as_it_is ? Diagonal::stored : Diagonal::unit);
  if (!is_as_it_is && pivots != nullptr) exchange(matrix, pivots, n, columns, true);
}

/// `info` is the host's: 0, or minus the number of the wrong argument.
template <class T>
Status getrs(Call& call, Op op, int n, int columns, const T* const* a, int a_leading,
             const int* pivots, T* const* b, int b_leading, int* info, int count) {
  if (info == nullptr) return Status::invalid_value;
  const bool wrong[] = {!is_valid(op),
                        n < 0,
                        columns < 0,
                        false,
                        !is_leading(a_leading, n),
                        false,
                        false,
                        !is_leading(b_leading, n),
                        false,
                        count < 0};
  *info = 0;
  for (int i = 0; i < 10 && *info == 0; ++i) *info = wrong[i] ? -(i + 1) : 0;
  if (*info != 0) return Status::invalid_value;
  if (n == 0 || columns == 0 || count == 0) return Status::success;
  return call.run([=](Reach& reach) {
    const T* const* all_a = reach.read(a, count);
    T* const* all_b = reach.read(b, count);
    for (std::int64_t i = 0; i < count; ++i) {
      const int* own = pivots == nullptr ? nullptr : reach.read(pivots + i * n, n);
      solve(reach, op, n, columns, all_a[i], a_leading, own, all_b[i], b_leading);
    }
  });
}

/// C becomes the inverse of what the factors are of.
template <class T>
Status getri(Call& call, int n, const T* const* a, int a_leading, const int* pivots, T* const* c,
             int c_leading, int* info, int count) {
  if (n < 0 || count < 0 || !is_leading(a_leading, n) || !is_leading(c_leading, n)) {
    return Status::invalid_value;
  }
  if (n == 0 || count == 0) return Status::success;
  return call.run([=](Reach& reach) {
    const T* const* all_a = reach.read(a, count);
    T* const* all_c = reach.read(c, count);
    int* infos = reach.write(info, count);
    for (std::int64_t i = 0; i < count; ++i) {
      const Matrix<const T> factors = reach.matrix(all_a[i], n, n, a_leading);
      infos[i] = 0;
      for (int k = n; k > 0; --k) {
        if (factors.at(k - 1, k - 1) == T(0)) infos[i] = k;
      }
      if (infos[i] != 0) continue;
      const Matrix<T> inverse = reach.matrix(all_c[i], n, n, c_leading);
      for (int j = 0; j < n; ++j) {
        for (int row = 0; row < n; ++row) inverse.at(row, j) = T(row == j ? 1 : 0);
      }
      const int* own = pivots == nullptr ? nullptr : reach.read(pivots + i * n, n);
      solve(reach, Op::none, n, n, all_a[i], a_leading, own, all_c[i], c_leading);
    }
  });
}

}  // namespace
}  // namespace blas::factors

std::vector<Answer> blas_factor_answers() {
  using namespace blas;
  using namespace blas::factors;
  std::vector<Answer> rows;
  EACH(getrfBatched, getrf)
  EACH(getrsBatched, getrs)
  EACH(getriBatched, getri)
  return rows;
}

}  // namespace warpmeter::runtime
