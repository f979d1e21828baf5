// SPDX-License-Identifier: MIT
// BLAS's second level: a matrix and a vector. Whichever way the matrix is stored, it is made dense
// first.
#include "collector/runtime/blas/call.h"
#include "collector/runtime/blas/dense.h"

namespace warpmeter::runtime {
namespace blas::level2 {
namespace {

template <class T>
Dense<Wide<std::remove_const_t<T>>> column(const Vector<T>& of) {
  Dense<Wide<std::remove_const_t<T>>> made(of.n, 1);
  for (std::int64_t i = 0; i < of.n; ++i) made.at(i, 0) = wide(of[i]);
  return made;
}

/// y = alpha p + beta y; with beta 0 y is not read.
template <class T, class W>
void store(const Vector<T>& y, const Dense<W>& p, W alpha, W beta) {
  for (std::int64_t i = 0; i < y.n; ++i) {
    W value = times(alpha, p.at(i, 0));
    if (beta != W(0)) value += times(beta, W(wide(y[i])));
    y[i] = narrow<T>(value);
  }
}

/// The vectors and factors of y = alpha A x + beta y.
template <class T>
struct Terms {
  Scalar<T> alpha, beta;
  const T* x;
  std::int64_t x_step;
  T* y;
  std::int64_t y_step;

  void compute(Reach& reach, const Dense<Wide<T>>& a) const {
    const auto from = column<const T>(reach.vector(x, a.columns, x_step));
    store(reach.vector(y, a.rows, y_step), product(a, from), wide(alpha.at(reach)),
          wide(beta.at(reach)));
  }
};

template <class T>
Status gemv(Call& call, Op op, Size m, Size n, const T* alpha, const T* a, Size leading, const T* x,
            Size x_step, const T* beta, T* y, Size y_step) {
  // cuBLAS's page calls a step of 0 an invalid value; on an H200 cuBLAS 13.0 takes it for x.
  if (!is_valid(op) || m < 0 || n < 0 || leading < std::max<std::int64_t>(1, m) || y_step == 0 ||
      alpha == nullptr || beta == nullptr) {
    return Status::invalid_value;
  }
  if (m == 0 || n == 0) return Status::success;
  const Terms<T> terms{call.scalar(alpha), call.scalar(beta), x, x_step, y, y_step};
  return call.run([=](Reach& reach) {
    const bool is_as_it_is = op == Op::none;
    terms.compute(reach, load(reach, a, leading, op, is_as_it_is ? m : n, is_as_it_is ? n : m));
  });
}

/// Row i of column j lies in row i - j + `above` of a band.
template <class T>
Status gbmv(Call& call, Op op, Size m, Size n, Size below, Size above, const T* alpha, const T* a,
            Size leading, const T* x, Size x_step, const T* beta, T* y, Size y_step) {
  if (!is_valid(op) || m < 0 || n < 0 || below < 0 || above < 0 || leading < below + above + 1 ||
      x_step == 0 || y_step == 0 || alpha == nullptr || beta == nullptr) {
    return Status::invalid_value;
  }
  if (m == 0 || n == 0) return Status::success;
  const Terms<T> terms{call.scalar(alpha), call.scalar(beta), x, x_step, y, y_step};
  return call.run([=](Reach& reach) {
    const Matrix<const T> band = reach.matrix(a, below + above + 1, n, leading);
    Dense<Wide<T>> made(m, n);
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t end = std::min<std::int64_t>(m, j + below + 1);
      for (std::int64_t i = std::max<std::int64_t>(0, j - above); i < end; ++i) {
        made.at(i, j) = wide(band.at(above + i - j, j));
      }
    }
    terms.compute(reach, op == Op::none ? made : transposed(made, op == Op::adjoint));
  });
}

template <class T>
using Stored = Triangle<const T>;

/// False for what no triangle is stored with.
template <class T>
bool is_valid(const Triangle<T>& triangle) {
  if (!blas::is_valid(triangle.fill) || triangle.n < 0 || triangle.width < 0) return false;
  using In = typename Triangle<T>::In;
  const std::int64_t least = triangle.in == In::band ? triangle.width + 1 : triangle.n;
  return triangle.in == In::pack || triangle.leading >= std::max<std::int64_t>(1, least);
}

template <class T, bool is_hermitian>
Status mirrored_product(Call& call, const Stored<T>& a, const T* alpha, const T* x, Size x_step,
                        const T* beta, T* y, Size y_step) {
  if (!is_valid(a) || x_step == 0 || y_step == 0 || alpha == nullptr || beta == nullptr) {
    return Status::invalid_value;
  }
  if (a.n == 0) return Status::success;
  const Terms<T> terms{call.scalar(alpha), call.scalar(beta), x, x_step, y, y_step};
  return call.run([=](Reach& reach) { terms.compute(reach, mirrored(reach, a, is_hermitian)); });
}
template <class T, bool is_hermitian>
Status symmetric(Call& call, Fill fill, Size n, const T* alpha, const T* a, Size leading,
                 const T* x, Size x_step, const T* beta, T* y, Size y_step) {
  const Stored<T> stored{a, n, leading, fill};
  return mirrored_product<T, is_hermitian>(call, stored, alpha, x, x_step, beta, y, y_step);
}
template <class T, bool is_hermitian>
Status symmetric_band(Call& call, Fill fill, Size n, Size width, const T* alpha, const T* a,
                      Size leading, const T* x, Size x_step, const T* beta, T* y, Size y_step) {
  const Stored<T> stored{a, n, leading, fill, Stored<T>::In::band, width};
  return mirrored_product<T, is_hermitian>(call, stored, alpha, x, x_step, beta, y, y_step);
}
template <class T, bool is_hermitian>
Status symmetric_pack(Call& call, Fill fill, Size n, const T* alpha, const T* a, const T* x,
                      Size x_step, const T* beta, T* y, Size y_step) {
  const Stored<T> stored{a, n, 1, fill, Stored<T>::In::pack};
  return mirrored_product<T, is_hermitian>(call, stored, alpha, x, x_step, beta, y, y_step);
}

/// x = op(A) x, or x of op(A) x = b.
template <class T, bool solves>
Status triangle_and_vector(Call& call, const Stored<T>& a, Op op, Diagonal diagonal, T* x,
                           Size step) {
  if (!is_valid(a) || !blas::is_valid(op) || !blas::is_valid(diagonal) || step == 0) {
    return Status::invalid_value;
  }
  if (a.n == 0) return Status::success;
  return call.run([=](Reach& reach) {
    const Dense<Wide<T>> triangle = triangular(reach, a, op, diagonal);
    const Vector<T> all = reach.vector(x, a.n, step);
    Dense<Wide<T>> result = column<T>(all);
    if (solves) {
      solve(triangle, (a.fill == Fill::lower) == (op == Op::none), result);
    } else {
      result = product(triangle, result);
    }
    for (std::int64_t i = 0; i < a.n; ++i) all[i] = narrow<T>(result.at(i, 0));
  });
}
template <class T, bool solves>
Status triangle(Call& call, Fill fill, Op op, Diagonal diagonal, Size n, const T* a, Size leading,
                T* x, Size step) {
  const Stored<T> stored{a, n, leading, fill};
  return triangle_and_vector<T, solves>(call, stored, op, diagonal, x, step);
}
template <class T, bool solves>
Status triangle_band(Call& call, Fill fill, Op op, Diagonal diagonal, Size n, Size width,
                     const T* a, Size leading, T* x, Size step) {
  const Stored<T> stored{a, n, leading, fill, Stored<T>::In::band, width};
  return triangle_and_vector<T, solves>(call, stored, op, diagonal, x, step);
}
template <class T, bool solves>
Status triangle_pack(Call& call, Fill fill, Op op, Diagonal diagonal, Size n, const T* a, T* x,
                     Size step) {
  const Stored<T> stored{a, n, 1, fill, Stored<T>::In::pack};
  return triangle_and_vector<T, solves>(call, stored, op, diagonal, x, step);
}

/// A += alpha x y^T, or of y's conjugates.
template <class T, bool conjugates>
Status ger(Call& call, Size m, Size n, const T* alpha, const T* x, Size x_step, const T* y,
           Size y_step, T* a, Size leading) {
  if (m < 0 || n < 0 || x_step == 0 || y_step == 0 || leading < std::max<std::int64_t>(1, m) ||
      alpha == nullptr) {
    return Status::invalid_value;
  }
  if (m == 0 || n == 0) return Status::success;
  return call.run([=, factor = call.scalar(alpha)](Reach& reach) {
    const auto left = column<const T>(reach.vector(x, m, x_step));
    const auto right = transposed(column<const T>(reach.vector(y, n, y_step)), conjugates);
    store(reach.matrix(a, m, n, leading), product(left, right), wide(factor.at(reach)), Wide<T>(1));
  });
}

/// A += alpha x y^T + alpha y x^T, or with conjugates; where y is null, alpha x x^T alone.
template <class T, class Factor, bool is_hermitian>
Status rank_update(Call& call, const Triangle<T>& a, const Factor* alpha, const T* x, Size x_step,
                   const T* y, Size y_step) {
  if (!is_valid(a) || x_step == 0 || y_step == 0 || alpha == nullptr) return Status::invalid_value;
  if (a.n == 0) return Status::success;
  return call.run([=, factor = call.scalar(alpha)](Reach& reach) {
    const auto one = column<const T>(reach.vector(x, a.n, x_step));
    const auto other = y == nullptr ? one : column<const T>(reach.vector(y, a.n, y_step));
    const Wide<T> by = Wide<T>(wide(factor.at(reach)));
    const auto of = [&](const Wide<T>& number) {
      return is_hermitian ? conjugate(number) : number;
    };
    T* to = a.reached(reach);
    for (std::int64_t j = 0; j < a.n; ++j) {
      for (std::int64_t i = 0; i < a.n; ++i) {
        if (!a.holds(i, j)) continue;
        Wide<T> value = times(by, times(one.at(i, 0), of(other.at(j, 0))));
        if (y != nullptr) value += times(of(by), times(other.at(i, 0), of(one.at(j, 0))));
        T& element = to[a.place(i, j)];
        value += wide(element);
        element = narrow<T>(is_hermitian && i == j ? Wide<T>(std::real(value)) : value);
      }
    }
  });
}
template <class T>
Status syr(Call& call, Fill fill, Size n, const T* alpha, const T* x, Size step, T* a,
           Size leading) {
  return rank_update<T, T, false>(call, {a, n, leading, fill}, alpha, x, step, nullptr, 1);
}
template <class T>
Status her(Call& call, Fill fill, Size n, const Real<T>* alpha, const T* x, Size step, T* a,
           Size leading) {
  return rank_update<T, Real<T>, true>(call, {a, n, leading, fill}, alpha, x, step, nullptr, 1);
}
template <class T>
Status spr(Call& call, Fill fill, Size n, const T* alpha, const T* x, Size step, T* a) {
  const Triangle<T> stored{a, n, 1, fill, Triangle<T>::In::pack};
  return rank_update<T, T, false>(call, stored, alpha, x, step, nullptr, 1);
}
template <class T>
Status hpr(Call& call, Fill fill, Size n, const Real<T>* alpha, const T* x, Size step, T* a) {
  const Triangle<T> stored{a, n, 1, fill, Triangle<T>::In::pack};
  return rank_update<T, Real<T>, true>(call, stored, alpha, x, step, nullptr, 1);
}
template <class T, bool is_hermitian>
Status rank_two(Call& call, Fill fill, Size n, const T* alpha, const T* x, Size x_step, const T* y,
                Size y_step, T* a, Size leading) {
  return rank_update<T, T, is_hermitian>(call, {a, n, leading, fill}, alpha, x, x_step, y, y_step);
}
template <class T, bool is_hermitian>
Status rank_two_pack(Call& call, Fill fill, Size n, const T* alpha, const T* x, Size x_step,
                     const T* y, Size y_step, T* a) {
  const Triangle<T> stored{a, n, 1, fill, Triangle<T>::In::pack};
  return rank_update<T, T, is_hermitian>(call, stored, alpha, x, x_step, y, y_step);
}

using Single = std::complex<float>;
using Double = std::complex<double>;

}  // namespace
}  // namespace blas::level2

/// A body of T and a constant, in a row for each type.
#define REAL_OF(NAME, BODY, CONSTANT) \
  ONE(S##NAME, BODY<float, CONSTANT>) ONE(D##NAME, BODY<double, CONSTANT>)
#define COMPLEX_OF(NAME, BODY, CONSTANT) \
  ONE(C##NAME, BODY<Single, CONSTANT>) ONE(Z##NAME, BODY<Double, CONSTANT>)
#define EACH_OF(NAME, BODY, CONSTANT) REAL_OF(NAME, BODY, CONSTANT) COMPLEX_OF(NAME, BODY, CONSTANT)

std::vector<Answer> blas_level2_answers() {
  using namespace blas;
  using namespace blas::level2;
  std::vector<Answer> rows;
  EACH(gemv_v2, gemv)
  EACH(gbmv_v2, gbmv)
  EACH_OF(symv_v2, symmetric, false)
  COMPLEX_OF(hemv_v2, symmetric, true)
  REAL_OF(sbmv_v2, symmetric_band, false)
  COMPLEX_OF(hbmv_v2, symmetric_band, true)
  REAL_OF(spmv_v2, symmetric_pack, false)
  COMPLEX_OF(hpmv_v2, symmetric_pack, true)
  EACH_OF(trmv_v2, triangle, false)
  EACH_OF(trsv_v2, triangle, true)
  EACH_OF(tbmv_v2, triangle_band, false)
  EACH_OF(tbsv_v2, triangle_band, true)
  EACH_OF(tpmv_v2, triangle_pack, false)
  EACH_OF(tpsv_v2, triangle_pack, true)
  REAL_OF(ger_v2, ger, false)
  COMPLEX_OF(geru_v2, ger, false)
  COMPLEX_OF(gerc_v2, ger, true)
  EACH(syr_v2, syr)
  COMPLEX(her_v2, her)
  REAL(spr_v2, spr)
  COMPLEX(hpr_v2, hpr)
  EACH_OF(syr2_v2, rank_two, false)
  COMPLEX_OF(her2_v2, rank_two, true)
  REAL_OF(spr2_v2, rank_two_pack, false)
  COMPLEX_OF(hpr2_v2, rank_two_pack, true)
  return rows;
}

}  // namespace warpmeter::runtime
