// SPDX-License-Identifier: MIT
// cuBLAS's own batches of products of a matrix and a vector.
#include "collector/runtime/blas/call.h"
#include "collector/runtime/blas/dense.h"
#include "collector/runtime/blas/operand.h"

namespace warpmeter::runtime {
namespace blas::vector_batches {
namespace {

/// y = alpha op(A) x + beta y of each; an operand's `leading` is the step of a vector.
template <class T>
Status multiply_vectors(Call& call, Op op, std::int64_t m, std::int64_t n, const T* alpha,
                        const Operand& a, const Operand& x, const T* beta, const Operand& y,
                        std::int64_t count) {
  if (!is_valid(op) || m < 0 || n < 0 || a.leading < std::max<std::int64_t>(1, m) ||
      x.leading == 0 || y.leading == 0 || alpha == nullptr || beta == nullptr || count < 0) {
    return Status::invalid_value;
  }
  if (m == 0 || n == 0 || count == 0) return Status::success;
  return call.run([=, one = call.scalar(alpha), two = call.scalar(beta)](Reach& reach) {
    const std::int64_t rows = op == Op::none ? m : n, columns = op == Op::none ? n : m;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto matrix =
          load<T>(reach, static_cast<const T*>(a.of(reach, i)), a.leading, op, rows, columns);
      const auto from = reach.vector(static_cast<const T*>(x.of(reach, i)), columns, x.leading);
      const auto to =
          reach.vector(static_cast<T*>(const_cast<void*>(y.of(reach, i))), rows, y.leading);
      const Wide<T> by = wide(one.at(reach)), keeps = wide(two.at(reach));
      for (std::int64_t row = 0; row < rows; ++row) {
        Wide<T> sum = 0;
        for (std::int64_t l = 0; l < columns; ++l) sum += times(matrix.at(row, l), wide(from[l]));
        sum = times(by, sum);
        if (keeps != Wide<T>(0)) sum += times(keeps, wide(to[row]));
        to[row] = narrow<T>(sum);
      }
    }
  });
}

template <class T>
Status gemv_batched(Call& call, Op op, Size m, Size n, const T* alpha, const T* const* a,
                    Size leading, const T* const* x, Size x_step, const T* beta, T* const* y,
                    Size y_step, Size count) {
  constexpr Type type = type_of<T>();
  return multiply_vectors<T>(call, op, m, n, alpha, {a, type, leading, 0, true},
                             {x, type, x_step, 0, true}, beta, {y, type, y_step, 0, true}, count);
}

template <class T>
Status gemv_strided(Call& call, Op op, Size m, Size n, const T* alpha, const T* a, Size leading,
                    long long a_apart, const T* x, Size x_step, long long x_apart, const T* beta,
                    T* y, Size y_step, long long y_apart, Size count) {
  constexpr Type type = type_of<T>();
  return multiply_vectors<T>(call, op, m, n, alpha, {a, type, leading, a_apart},
                             {x, type, x_step, x_apart}, beta, {y, type, y_step, y_apart}, count);
}

}  // namespace
}  // namespace blas::vector_batches

std::vector<Answer> blas_vector_batch_answers() {
  using namespace blas;
  using namespace blas::vector_batches;
  std::vector<Answer> rows;
  EACH(gemvBatched, gemv_batched)
  EACH(gemvStridedBatched, gemv_strided)
  return rows;
}

}  // namespace warpmeter::runtime
