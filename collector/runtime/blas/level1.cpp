// SPDX-License-Identifier: MIT
// BLAS's first level: vectors.
#include "collector/runtime/blas/call.h"
#include "collector/runtime/blas/numbers.h"

namespace warpmeter::runtime {
namespace blas::level1 {
namespace {

/// The position, from 1 on, of the greatest or least number; 0: there is none.
template <class T, bool is_greatest>
Status extreme(Call& call, Size n, const T* x, Size step, Index result) {
  const auto find = [=](Reach& reach) -> std::int64_t {
    if (n <= 0 || step <= 0) return 0;
    const Vector<const T> all = reach.vector(x, n, step);
    std::int64_t found = 0;
    for (std::int64_t i = 1; i < n; ++i) {
      const double size = size_of(wide(all[i])), best = size_of(wide(all[found]));
      if (is_greatest ? size > best : size < best) found = i;
    }
    return found + 1;
  };
  if (result.wide != nullptr) return call.result<std::int64_t>(result.wide, find);
  return call.result<int>(result.narrow,
                          [=](Reach& reach) { return static_cast<int>(find(reach)); });
}
template <class T>
Status amax(Call& call, Size n, const T* x, Size step, Index result) {
  return extreme<T, true>(call, n, x, step, result);
}
template <class T>
Status amin(Call& call, Size n, const T* x, Size step, Index result) {
  return extreme<T, false>(call, n, x, step, result);
}

template <class T>
Status asum(Call& call, Size n, const T* x, Size step, Real<T>* result) {
  return call.result<Real<T>>(result, [=](Reach& reach) {
    if (n <= 0 || step <= 0) return Real<T>(0);
    const Vector<const T> all = reach.vector(x, n, step);
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += size_of(wide(all[i]));
    return static_cast<Real<T>>(sum);
  });
}

/// Numbers are scaled by the greatest one, whose square need not be finite.
template <class T>
Status nrm2(Call& call, Size n, const T* x, Size step, Real<T>* result) {
  return call.result<Real<T>>(result, [=](Reach& reach) {
    if (n <= 0 || step <= 0) return Real<T>(0);
    const Vector<const T> all = reach.vector(x, n, step);
    double greatest = 0, sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double size = std::abs(wide(all[i]));
      if (std::isnan(size)) return static_cast<Real<T>>(size);
      greatest = std::max(greatest, size);
    }
    if (greatest == 0 || std::isinf(greatest)) return static_cast<Real<T>>(greatest);
    // A power of two scales without rounding.
    const double unit = std::ldexp(1.0, std::ilogb(greatest));
    for (std::int64_t i = 0; i < n; ++i) sum += std::norm(wide(all[i]) / unit);
    return static_cast<Real<T>>(unit * std::sqrt(sum));
  });
}

template <class T, bool conjugates>
Status inner_product(Call& call, Size n, const T* x, Size x_step, const T* y, Size y_step,
                     T* result) {
  return call.result<T>(result, [=](Reach& reach) {
    if (n <= 0) return T(0);
    const Vector<const T> one = reach.vector(x, n, x_step), other = reach.vector(y, n, y_step);
    Wide<T> sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const Wide<T> factor = wide(one[i]);
      sum += times(conjugates ? conjugate(factor) : factor, wide(other[i]));
    }
    return narrow<T>(sum);
  });
}
template <class T>
Status dot(Call& call, Size n, const T* x, Size x_step, const T* y, Size y_step, T* result) {
  return inner_product<T, false>(call, n, x, x_step, y, y_step, result);
}
template <class T>
Status dotc(Call& call, Size n, const T* x, Size x_step, const T* y, Size y_step, T* result) {
  return inner_product<T, true>(call, n, x, x_step, y, y_step, result);
}

template <class T>
Status axpy(Call& call, Size n, const T* alpha, const T* x, Size x_step, T* y, Size y_step) {
  if (n <= 0) return Status::success;
  if (alpha == nullptr) return Status::invalid_value;
  return call.run([=, factor = call.scalar(alpha)](Reach& reach) {
    const Vector<const T> from = reach.vector(x, n, x_step);
    const Vector<T> to = reach.vector(y, n, y_step);
    const Wide<T> a = wide(factor.at(reach));
    for (std::int64_t i = 0; i < n; ++i) {
      to[i] = narrow<T>(times(a, wide(from[i])) + wide(to[i]));
    }
  });
}

/// The factor of complex numbers may be real.
template <class T, class Factor>
Status scale(Call& call, Size n, const Factor* alpha, T* x, Size step) {
  if (n <= 0 || step <= 0) return Status::success;
  if (alpha == nullptr) return Status::invalid_value;
  return call.run([=, factor = call.scalar(alpha)](Reach& reach) {
    const Vector<T> all = reach.vector(x, n, step);
    const Wide<Factor> a = wide(factor.at(reach));
    for (std::int64_t i = 0; i < n; ++i) all[i] = narrow<T>(times(Wide<T>(a), wide(all[i])));
  });
}
template <class T>
Status scal(Call& call, Size n, const T* alpha, T* x, Size step) {
  return scale<T, T>(call, n, alpha, x, step);
}
template <class T>
Status scal_real(Call& call, Size n, const Real<T>* alpha, T* x, Size step) {
  return scale<T, Real<T>>(call, n, alpha, x, step);
}

template <class T>
Status copy(Call& call, Size n, const T* x, Size x_step, T* y, Size y_step) {
  if (n <= 0) return Status::success;
  return call.run([=](Reach& reach) {
    const Vector<const T> from = reach.vector(x, n, x_step);
    const Vector<T> to = reach.vector(y, n, y_step);
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
  });
}

template <class T>
Status swap(Call& call, Size n, T* x, Size x_step, T* y, Size y_step) {
  if (n <= 0) return Status::success;
  return call.run([=](Reach& reach) {
    const Vector<T> one = reach.vector(x, n, x_step), other = reach.vector(y, n, y_step);
    for (std::int64_t i = 0; i < n; ++i) std::swap(one[i], other[i]);
  });
}

/// x = c x + s y, y = c y - s* x.
template <class T, class Sine>
Status rotate(Call& call, Size n, T* x, Size x_step, T* y, Size y_step, const Real<T>* cosine,
              const Sine* sine) {
  if (n <= 0) return Status::success;
  if (cosine == nullptr || sine == nullptr) return Status::invalid_value;
  return call.run([=, of_cosine = call.scalar(cosine), of_sine = call.scalar(sine)](Reach& reach) {
    const Vector<T> one = reach.vector(x, n, x_step), other = reach.vector(y, n, y_step);
    const double c = of_cosine.at(reach);
    const Wide<T> s = Wide<T>(wide(of_sine.at(reach)));
    for (std::int64_t i = 0; i < n; ++i) {
      const Wide<T> a = wide(one[i]), b = wide(other[i]);
      one[i] = narrow<T>(c * a + times(s, b));
      other[i] = narrow<T>(c * b - times(conjugate(s), a));
    }
  });
}
template <class T>
Status rot(Call& call, Size n, T* x, Size x_step, T* y, Size y_step, const Real<T>* cosine,
           const T* sine) {
  return rotate<T, T>(call, n, x, x_step, y, y_step, cosine, sine);
}
template <class T>
Status rot_real(Call& call, Size n, T* x, Size x_step, T* y, Size y_step, const Real<T>* cosine,
                const Real<T>* sine) {
  return rotate<T, Real<T>>(call, n, x, x_step, y, y_step, cosine, sine);
}

using Single = std::complex<float>;
using Double = std::complex<double>;

}  // namespace
}  // namespace blas::level1

std::vector<Answer> blas_level1_answers() {
  using namespace blas;
  using namespace blas::level1;
  std::vector<Answer> rows;
  ONE(Isamax_v2, amax<float>)
  ONE(Idamax_v2, amax<double>)
  ONE(Icamax_v2, amax<Single>)
  ONE(Izamax_v2, amax<Double>)
  ONE(Isamin_v2, amin<float>)
  ONE(Idamin_v2, amin<double>)
  ONE(Icamin_v2, amin<Single>)
  ONE(Izamin_v2, amin<Double>)
  REAL(asum_v2, asum)
  ONE(Scasum_v2, asum<Single>)
  ONE(Dzasum_v2, asum<Double>)
  REAL(nrm2_v2, nrm2)
  ONE(Scnrm2_v2, nrm2<Single>)
  ONE(Dznrm2_v2, nrm2<Double>)
  REAL(dot_v2, dot)
  COMPLEX(dotu_v2, dot)
  COMPLEX(dotc_v2, dotc)
  EACH(axpy_v2, axpy)
  EACH(scal_v2, scal)
  ONE(Csscal_v2, scal_real<Single>)
  ONE(Zdscal_v2, scal_real<Double>)
  EACH(copy_v2, copy)
  EACH(swap_v2, swap)
  EACH(rot_v2, rot)
  ONE(Csrot_v2, rot_real<Single>)
  ONE(Zdrot_v2, rot_real<Double>)
  return rows;
}

}  // namespace warpmeter::runtime
