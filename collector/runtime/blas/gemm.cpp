// SPDX-License-Identifier: MIT
// The general product C = alpha op(A) op(B) + beta C, of numbers of any type, one matrix or many.
// The functions of one type are the same as those that name types.
#include <optional>

#include "collector/runtime/blas/call.h"
#include "collector/runtime/blas/dense.h"
#include "collector/runtime/blas/operand.h"

namespace warpmeter::runtime {
namespace blas::products {
namespace {

struct Product {
  Op a_op = Op::none, b_op = Op::none;
  std::int64_t m = 0, n = 0, k = 0;
  const void *alpha = nullptr, *beta = nullptr;
  Type factors = Type::real32;
  Operand a, b, c;
  std::int64_t count = 1;

  bool is_valid() const {
    const auto fits = [](const Operand& operand, std::int64_t rows) {
      return operand.leading >= std::max<std::int64_t>(1, rows);
    };
    return blas::is_valid(a_op) && blas::is_valid(b_op) && m >= 0 && n >= 0 && k >= 0 &&
           count >= 0 && fits(a, a_op == Op::none ? m : k) && fits(b, b_op == Op::none ? k : n) &&
           fits(c, m) && alpha != nullptr && beta != nullptr;
  }
};

template <class W>
Dense<W> load_any(Reach& reach, const Operand& operand, std::int64_t which, Op op,
                  std::int64_t rows, std::int64_t columns) {
  return with_number(operand.type, [&](auto number) {
    using T = decltype(number);
    if constexpr (is_complex<T> && !is_complex<W>) {
      return Dense<W>(rows, columns);  // the product of complex numbers has complex ones
    } else {
      return load_as<W, T>(reach, static_cast<const T*>(operand.of(reach, which)), operand.leading,
                           op, rows, columns);
    }
  });
}

template <class W>
W factor_in(const std::complex<double>& factor) {
  if constexpr (is_complex<W>)
    return factor;
  else
    return factor.real();
}

/// W: double, or complex.
template <class W>
void compute(Reach& reach, const Product& it, std::int64_t which, W alpha, W beta) {
  with_number(it.c.type, [&](auto number) {
    using T = decltype(number);
    constexpr bool is_result = !std::is_same_v<T, std::complex<std::int8_t>>;
    if constexpr (is_result && is_complex<T> == is_complex<W>) {
      T* first = static_cast<T*>(const_cast<void*>(it.c.of(reach, which)));
      const Matrix<T> to = reach.matrix(first, it.m, it.n, it.c.leading);  // before memory for it
      Dense<W> sum(it.m, it.n);
      if (alpha != W(0) && it.k > 0) {
        sum = product(load_any<W>(reach, it.a, which, it.a_op, it.m, it.k),
                      load_any<W>(reach, it.b, which, it.b_op, it.k, it.n));
      }
      store(to, sum, alpha, beta);
    }
  });
}

Status multiply(Call& call, const Product& it) {
  if (!it.is_valid()) return Status::invalid_value;
  if (it.m == 0 || it.n == 0 || it.count == 0) return Status::success;
  const Factor alpha(call, it.alpha, it.factors), beta(call, it.beta, it.factors);
  return call.run([=](Reach& reach) {
    const std::complex<double> one = alpha.at(reach), two = beta.at(reach);
    for (std::int64_t i = 0; i < it.count; ++i) {
      if (is_complex_type(it.c.type)) {
        compute<std::complex<double>>(reach, it, i, one, two);
      } else {
        compute<double>(reach, it, i, one.real(), two.real());
      }
    }
  });
}

template <class T>
Status gemm(Call& call, Op a_op, Op b_op, Size m, Size n, Size k, const T* alpha, const T* a,
            Size a_leading, const T* b, Size b_leading, const T* beta, T* c, Size c_leading) {
  constexpr Type type = type_of<T>();
  return multiply(call, {a_op,
                         b_op,
                         m,
                         n,
                         k,
                         alpha,
                         beta,
                         type,
                         {a, type, a_leading},
                         {b, type, b_leading},
                         {c, type, c_leading}});
}

template <class T>
Status gemm_batched(Call& call, Op a_op, Op b_op, Size m, Size n, Size k, const T* alpha,
                    const T* const* a, Size a_leading, const T* const* b, Size b_leading,
                    const T* beta, T* const* c, Size c_leading, Size count) {
  constexpr Type type = type_of<T>();
  return multiply(call, {a_op,
                         b_op,
                         m,
                         n,
                         k,
                         alpha,
                         beta,
                         type,
                         {a, type, a_leading, 0, true},
                         {b, type, b_leading, 0, true},
                         {c, type, c_leading, 0, true},
                         count});
}

template <class T>
Status gemm_strided(Call& call, Op a_op, Op b_op, Size m, Size n, Size k, const T* alpha,
                    const T* a, Size a_leading, long long a_apart, const T* b, Size b_leading,
                    long long b_apart, const T* beta, T* c, Size c_leading, long long c_apart,
                    Size count) {
  constexpr Type type = type_of<T>();
  return multiply(call, {a_op,
                         b_op,
                         m,
                         n,
                         k,
                         alpha,
                         beta,
                         type,
                         {a, type, a_leading, a_apart},
                         {b, type, b_leading, b_apart},
                         {c, type, c_leading, c_apart},
                         count});
}

/// cublasComputeType_t and the types of A and B, of C: which type the factors have; none: the
/// library has no such product ("cublasGemmEx" of its documentation).
std::optional<Type> type_of_factors(int compute, Type ab, Type c) {
  const bool is_half = compute == 64 || compute == 65, is_integer = compute == 72 || compute == 73;
  const bool is_double = compute == 70 || compute == 71 || compute == 79;
  const bool is_plain = compute == 68 || compute == 69;
  const bool is_fast = compute == 74 || compute == 75 || compute == 77 || compute == 78;
  if (is_half) return ab == Type::real16 && c == ab ? std::optional(Type::real16) : std::nullopt;
  if (is_integer) {
    const bool is_known = ab == Type::integer8 && c == Type::integer32;
    return is_known ? std::optional(Type::integer32) : std::nullopt;
  }
  if (is_double) {
    const bool is_known = (ab == Type::real64 || ab == Type::complex64) && c == ab;
    return is_known ? std::optional(ab) : std::nullopt;
  }
  if (!is_plain && !is_fast) return std::nullopt;
  if ((ab == Type::real32 || ab == Type::complex32) && c == ab) return ab;
  if (!is_plain) return std::nullopt;
  if (ab == Type::complex_integer8 && c == Type::complex32) return Type::complex32;
  const bool is_short = ab == Type::real16 || ab == Type::brain16;
  const bool is_known =
      (is_short && (c == ab || c == Type::real32)) || (ab == Type::integer8 && c == Type::real32);
  return is_known ? std::optional(Type::real32) : std::nullopt;
}

Status multiply_as(Call& call, Product it, int compute) {
  const std::optional<Type> factors = type_of_factors(compute, it.a.type, it.c.type);
  if (it.a.type != it.b.type || !factors) return Status::not_supported;
  it.factors = *factors;
  return multiply(call, it);
}

Status gemm_ex(Call& call, Op a_op, Op b_op, Size m, Size n, Size k, const void* alpha,
               const void* a, Type a_type, Size a_leading, const void* b, Type b_type,
               Size b_leading, const void* beta, void* c, Type c_type, Size c_leading, int compute,
               int) {
  return multiply_as(call,
                     {a_op,
                      b_op,
                      m,
                      n,
                      k,
                      alpha,
                      beta,
                      c_type,
                      {a, a_type, a_leading},
                      {b, b_type, b_leading},
                      {c, c_type, c_leading}},
                     compute);
}

Status gemm_batched_ex(Call& call, Op a_op, Op b_op, Size m, Size n, Size k, const void* alpha,
                       const void* const* a, Type a_type, Size a_leading, const void* const* b,
                       Type b_type, Size b_leading, const void* beta, void* const* c, Type c_type,
                       Size c_leading, Size count, int compute, int) {
  return multiply_as(call,
                     {a_op,
                      b_op,
                      m,
                      n,
                      k,
                      alpha,
                      beta,
                      c_type,
                      {a, a_type, a_leading, 0, true},
                      {b, b_type, b_leading, 0, true},
                      {c, c_type, c_leading, 0, true},
                      count},
                     compute);
}

Status gemm_strided_ex(Call& call, Op a_op, Op b_op, Size m, Size n, Size k, const void* alpha,
                       const void* a, Type a_type, Size a_leading, long long a_apart, const void* b,
                       Type b_type, Size b_leading, long long b_apart, const void* beta, void* c,
                       Type c_type, Size c_leading, long long c_apart, Size count, int compute,
                       int) {
  return multiply_as(call,
                     {a_op,
                      b_op,
                      m,
                      n,
                      k,
                      alpha,
                      beta,
                      c_type,
                      {a, a_type, a_leading, a_apart},
                      {b, b_type, b_leading, b_apart},
                      {c, c_type, c_leading, c_apart},
                      count},
                     compute);
}

/// Factors of T, and matrices of T or of shorter numbers.
template <class T>
Status gemm_short(Call& call, Op a_op, Op b_op, Size m, Size n, Size k, const T* alpha,
                  const void* a, Type a_type, Size a_leading, const void* b, Type b_type,
                  Size b_leading, const T* beta, void* c, Type c_type, Size c_leading) {
  constexpr int plain = 68;
  return gemm_ex(call, a_op, b_op, m, n, k, alpha, a, a_type, a_leading, b, b_type, b_leading, beta,
                 c, c_type, c_leading, plain, 0);
}

}  // namespace
}  // namespace blas::products

std::vector<Answer> blas_product_answers() {
  using namespace blas;
  using namespace blas::products;
  std::vector<Answer> rows;
  EACH(gemm_v2, gemm)
  EACH(gemmBatched, gemm_batched)
  EACH(gemmStridedBatched, gemm_strided)
  ONE(Hgemm, gemm<Half>)
  ONE(HgemmBatched, gemm_batched<Half>)
  ONE(HgemmStridedBatched, gemm_strided<Half>)
  COMPLEX(gemm3m, gemm)
  ONE(SgemmEx, gemm_short<float>)
  ONE(CgemmEx, gemm_short<std::complex<float>>)
  ONE(GemmEx, gemm_ex)
  ONE(GemmBatchedEx, gemm_batched_ex)
  ONE(GemmStridedBatchedEx, gemm_strided_ex)
  return rows;
}

}  // namespace warpmeter::runtime
