// SPDX-License-Identifier: MIT
// BLAS's third level beside the general product (gemm.cpp): symmetric and triangular matrices, and
// cuBLAS's own geam, dgmm, tpttr and trttp.
#include "collector/runtime/blas/level3.h"
#include "collector/runtime/blas/call.h"
#include "collector/runtime/blas/dense.h"

namespace warpmeter::runtime {
namespace blas::level3 {
namespace {

bool is_leading(std::int64_t leading, std::int64_t rows) {
  return leading >= std::max<std::int64_t>(1, rows);
}

/// C = alpha A B + beta C, or alpha B A + beta C: A is symmetric or hermitian.
template <class T, bool is_hermitian>
Status symmetric(Call& call, Side side, Fill fill, Size m, Size n, const T* alpha, const T* a,
                 Size a_leading, const T* b, Size b_leading, const T* beta, T* c, Size c_leading) {
  const std::int64_t order = side == Side::left ? m : n;
  if (!is_valid(side) || !is_valid(fill) || m < 0 || n < 0 || !is_leading(a_leading, order) ||
      !is_leading(b_leading, m) || !is_leading(c_leading, m) || alpha == nullptr ||
      beta == nullptr) {
    return Status::invalid_value;
  }
  if (m == 0 || n == 0) return Status::success;
  return call.run([=, one = call.scalar(alpha), two = call.scalar(beta)](Reach& reach) {
    const Triangle<const T> stored{a, order, a_leading, fill};
    const auto left = mirrored(reach, stored, is_hermitian);
    const auto right = load(reach, b, b_leading, Op::none, m, n);
    store(reach.matrix(c, m, n, c_leading),
          side == Side::left ? product(left, right) : product(right, left), wide(one.at(reach)),
          wide(two.at(reach)));
  });
}

/// The arguments of an update of a triangle: C = alpha op(A) op(B)^T + beta C.
template <class T, class Alpha, class Beta>
struct Update {
  Fill fill;
  Op op;
  std::int64_t n, k;
  const Alpha* alpha;
  const T* a;
  std::int64_t a_leading;
  const T* b;
  std::int64_t b_leading;
  const Beta* beta;
  T* c;
  std::int64_t c_leading;

  bool is_valid(bool is_hermitian) const {
    const std::int64_t rows = op == Op::none ? n : k;
    const bool is_op = op == Op::none || op == (is_hermitian ? Op::adjoint : Op::transposed) ||
                       (!is_complex<T> && op == Op::adjoint);
    return blas::is_valid(fill) && is_op && n >= 0 && k >= 0 && is_leading(a_leading, rows) &&
           is_leading(b_leading, rows) && is_leading(c_leading, n) && alpha != nullptr &&
           beta != nullptr;
  }
};

/// `is_twice`: with alpha op(B) op(A)^T too.
template <bool is_hermitian, bool is_twice, class T, class Alpha, class Beta>
Status update(Call& call, const Update<T, Alpha, Beta>& it) {
  if (!it.is_valid(is_hermitian)) return Status::invalid_value;
  if (it.n == 0) return Status::success;
  return call.run([it, alpha = call.scalar(it.alpha), beta = call.scalar(it.beta)](Reach& reach) {
    const Op op = it.op;
    const auto a = load(reach, it.a, it.a_leading, op, it.n, it.k);
    const auto b = it.b == it.a ? a : load(reach, it.b, it.b_leading, op, it.n, it.k);
    const Wide<T> by = Wide<T>(wide(alpha.at(reach)));
    Dense<Wide<T>> sum = product(a, transposed(b, is_hermitian));
    for (Wide<T>& element : sum.all) element = times(by, element);
    if (is_twice) {
      const auto mirror = transposed(sum, is_hermitian);
      for (std::size_t i = 0; i < sum.all.size(); ++i) sum.all[i] += mirror.all[i];
    }
    const Matrix<T> c = reach.matrix(it.c, it.n, it.n, it.c_leading, it.fill);
    store(c, sum, Wide<T>(1), Wide<T>(wide(beta.at(reach))), it.fill);
    for (std::int64_t i = 0; is_hermitian && i < it.n; ++i) c.at(i, i) = T(std::real(c.at(i, i)));
  });
}
template <class T>
Status syrk(Call& call, Fill fill, Op op, Size n, Size k, const T* alpha, const T* a, Size leading,
            const T* beta, T* c, Size c_leading) {
  return update<false, false, T, T, T>(
      call, {fill, op, n, k, alpha, a, leading, a, leading, beta, c, c_leading});
}
template <class T>
Status herk(Call& call, Fill fill, Op op, Size n, Size k, const Real<T>* alpha, const T* a,
            Size leading, const Real<T>* beta, T* c, Size c_leading) {
  return update<true, false, T, Real<T>, Real<T>>(
      call, {fill, op, n, k, alpha, a, leading, a, leading, beta, c, c_leading});
}
template <class T, bool is_twice>
Status syrk_of_two(Call& call, Fill fill, Op op, Size n, Size k, const T* alpha, const T* a,
                   Size a_leading, const T* b, Size b_leading, const T* beta, T* c,
                   Size c_leading) {
  return update<false, is_twice, T, T, T>(
      call, {fill, op, n, k, alpha, a, a_leading, b, b_leading, beta, c, c_leading});
}
template <class T, bool is_twice>
Status herk_of_two(Call& call, Fill fill, Op op, Size n, Size k, const T* alpha, const T* a,
                   Size a_leading, const T* b, Size b_leading, const Real<T>* beta, T* c,
                   Size c_leading) {
  return update<true, is_twice, T, T, Real<T>>(
      call, {fill, op, n, k, alpha, a, a_leading, b, b_leading, beta, c, c_leading});
}

template <class T>
bool is_valid(const TriangleAndMatrix<T>& it) {
  const std::int64_t order = it.side == Side::left ? it.m : it.n;
  return blas::is_valid(it.side) && blas::is_valid(it.fill) && blas::is_valid(it.op) &&
         blas::is_valid(it.diagonal) && it.m >= 0 && it.n >= 0 && is_leading(it.a_leading, order) &&
         is_leading(it.b_leading, it.m);
}

/// C = alpha op(A) B, or alpha B op(A).
template <class T>
Status trmm(Call& call, Side side, Fill fill, Op op, Diagonal diagonal, Size m, Size n,
            const T* alpha, const T* a, Size a_leading, const T* b, Size b_leading, T* c,
            Size c_leading) {
  const TriangleAndMatrix<T> it{side, fill, op, diagonal, m, n, a_leading, b_leading};
  if (!is_valid(it) || !is_leading(c_leading, m) || alpha == nullptr) return Status::invalid_value;
  if (m == 0 || n == 0) return Status::success;
  return call.run([=, factor = call.scalar(alpha)](Reach& reach) {
    const Triangle<const T> stored{a, side == Side::left ? m : n, a_leading, fill};
    const auto triangle = triangular(reach, stored, op, diagonal);
    const auto matrix = load(reach, b, b_leading, Op::none, m, n);
    store(reach.matrix(c, m, n, c_leading),
          side == Side::left ? product(triangle, matrix) : product(matrix, triangle),
          wide(factor.at(reach)), Wide<T>(0));
  });
}

template <class T>
Status trsm(Call& call, Side side, Fill fill, Op op, Diagonal diagonal, Size m, Size n,
            const T* alpha, const T* a, Size a_leading, T* b, Size b_leading) {
  const TriangleAndMatrix<T> it{side, fill, op, diagonal, m, n, a_leading, b_leading};
  if (!is_valid(it) || alpha == nullptr) return Status::invalid_value;
  if (m == 0 || n == 0) return Status::success;
  return call.run([=, factor = call.scalar(alpha)](Reach& reach) {
    it.solve(reach, a, b, wide(factor.at(reach)));
  });
}

template <class T>
Status trsm_batched(Call& call, Side side, Fill fill, Op op, Diagonal diagonal, Size m, Size n,
                    const T* alpha, const T* const* a, Size a_leading, T* const* b, Size b_leading,
                    Size count) {
  const TriangleAndMatrix<T> it{side, fill, op, diagonal, m, n, a_leading, b_leading};
  if (!is_valid(it) || alpha == nullptr || count < 0) return Status::invalid_value;
  if (m == 0 || n == 0 || count == 0) return Status::success;
  return call.run([=, factor = call.scalar(alpha)](Reach& reach) {
    const T* const* all_a = reach.read(a, count);
    T* const* all_b = reach.read(b, count);
    for (std::int64_t i = 0; i < count; ++i) {
      it.solve(reach, all_a[i], all_b[i], wide(factor.at(reach)));
    }
  });
}

/// C = alpha op(A) + beta op(B); a factor of 0 leaves its matrix unread.
template <class T>
Status geam(Call& call, Op a_op, Op b_op, Size m, Size n, const T* alpha, const T* a,
            Size a_leading, const T* beta, const T* b, Size b_leading, T* c, Size c_leading) {
  if (!is_valid(a_op) || !is_valid(b_op) || m < 0 || n < 0 || alpha == nullptr || beta == nullptr ||
      !is_leading(a_leading, a_op == Op::none ? m : n) ||
      !is_leading(b_leading, b_op == Op::none ? m : n) || !is_leading(c_leading, m)) {
    return Status::invalid_value;
  }
  if ((c == a && (a_op != Op::none || a_leading != c_leading)) ||
      (c == b && (b_op != Op::none || b_leading != c_leading))) {
    return Status::invalid_value;
  }
  if (m == 0 || n == 0) return Status::success;
  return call.run([=, one = call.scalar(alpha), two = call.scalar(beta)](Reach& reach) {
    const Matrix<T> to = reach.matrix(c, m, n, c_leading);  // before memory for it
    Dense<Wide<T>> sum(m, n);
    const auto add = [&](Wide<T> by, Op op, const T* from, std::int64_t leading) {
      if (by == Wide<T>(0)) return;
      const auto matrix = load(reach, from, leading, op, m, n);
      for (std::size_t i = 0; i < sum.all.size(); ++i) sum.all[i] += times(by, matrix.all[i]);
    };
    add(wide(one.at(reach)), a_op, a, a_leading);
    add(wide(two.at(reach)), b_op, b, b_leading);
    store(to, sum, Wide<T>(1), Wide<T>(0));
  });
}

/// C = diag(x) A, or A diag(x).
template <class T>
Status dgmm(Call& call, Side side, Size m, Size n, const T* a, Size a_leading, const T* x,
            Size step, T* c, Size c_leading) {
  if (!is_valid(side) || m < 0 || n < 0 || !is_leading(a_leading, m) || !is_leading(c_leading, m)) {
    return Status::invalid_value;
  }
  if (m == 0 || n == 0) return Status::success;
  return call.run([=](Reach& reach) {
    Dense<Wide<T>> scaled = load(reach, a, a_leading, Op::none, m, n);
    const Vector<const T> by = reach.vector(x, side == Side::left ? m : n, step);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) {
        scaled.at(i, j) = times(scaled.at(i, j), wide(by[side == Side::left ? i : j]));
      }
    }
    store(reach.matrix(c, m, n, c_leading), scaled, Wide<T>(1), Wide<T>(0));
  });
}

/// A triangle from one way of storing it to another.
template <class T>
Status repack(Call& call, const Triangle<const T>& from, const Triangle<T>& to) {
  const std::int64_t leading = std::max(from.leading, to.leading);
  if (!is_valid(from.fill) || from.n < 0 || !is_leading(leading, from.n)) {
    return Status::invalid_value;
  }
  if (from.n == 0) return Status::success;
  return call.run([=](Reach& reach) {
    const T* source = from.reached(reach);
    T* target = to.reached(reach);
    for (std::int64_t j = 0; j < from.n; ++j) {
      for (std::int64_t i = 0; i < from.n; ++i) {
        if (from.holds(i, j)) target[to.place(i, j)] = source[from.place(i, j)];
      }
    }
  });
}
template <class T>
Status tpttr(Call& call, Fill fill, Size n, const T* packed, T* a, Size leading) {
  return repack<T>(call, {packed, n, 1, fill, Triangle<const T>::In::pack}, {a, n, leading, fill});
}
template <class T>
Status trttp(Call& call, Fill fill, Size n, const T* a, Size leading, T* packed) {
  return repack<T>(call, {a, n, leading, fill}, {packed, n, 1, fill, Triangle<T>::In::pack});
}

using Single = std::complex<float>;
using Double = std::complex<double>;

}  // namespace
}  // namespace blas::level3

std::vector<Answer> blas_level3_answers() {
  using namespace blas;
  using namespace blas::level3;
  std::vector<Answer> rows;
  ONE(Ssymm_v2, symmetric<float, false>)
  ONE(Dsymm_v2, symmetric<double, false>)
  ONE(Csymm_v2, symmetric<Single, false>)
  ONE(Zsymm_v2, symmetric<Double, false>)
  ONE(Chemm_v2, symmetric<Single, true>)
  ONE(Zhemm_v2, symmetric<Double, true>)
  EACH(syrk_v2, syrk)
  COMPLEX(herk_v2, herk)
  ONE(Ssyr2k_v2, syrk_of_two<float, true>)
  ONE(Dsyr2k_v2, syrk_of_two<double, true>)
  ONE(Csyr2k_v2, syrk_of_two<Single, true>)
  ONE(Zsyr2k_v2, syrk_of_two<Double, true>)
  ONE(Cher2k_v2, herk_of_two<Single, true>)
  ONE(Zher2k_v2, herk_of_two<Double, true>)
  ONE(Ssyrkx, syrk_of_two<float, false>)
  ONE(Dsyrkx, syrk_of_two<double, false>)
  ONE(Csyrkx, syrk_of_two<Single, false>)
  ONE(Zsyrkx, syrk_of_two<Double, false>)
  ONE(Cherkx, herk_of_two<Single, false>)
  ONE(Zherkx, herk_of_two<Double, false>)
  EACH(trmm_v2, trmm)
  EACH(trsm_v2, trsm)
  EACH(trsmBatched, trsm_batched)
  EACH(geam, geam)
  EACH(dgmm, dgmm)
  EACH(tpttr, tpttr)
  EACH(trttp, trttp)
  return rows;
}

}  // namespace warpmeter::runtime
