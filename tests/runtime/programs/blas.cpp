// SPDX-License-Identifier: MIT
// A program that is linked with cuBLAS. Its numbers are small and whole, so that every sum is exact
// in every order. Each result is compared with the sum that BLAS defines, written out as loops
// here. It runs with NVIDIA's library as well: it prints the same lines on a GPU.
#include <cuda_runtime.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <type_traits>
#include <vector>

#include "cublas.h"

#define DECLARE(NAME) extern "C" int NAME();
CUBLAS_FUNCTIONS(DECLARE)

namespace {

using Single = std::complex<float>;
using Double = std::complex<double>;
constexpr int none = 0, transposed = 1, adjoint = 2, lower = 0, upper = 1, left = 0, right = 1;

void* handle = nullptr;
int compared = 0, wrong = 0;

/// Calls a function by the types of the arguments.
template <class... Arguments>
int call(int (*function)(), Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}
/// The function of the type T.
#define OF(T, NAME)                            \
  (std::is_same_v<T, float>    ? cublasS##NAME \
   : std::is_same_v<T, double> ? cublasD##NAME \
   : std::is_same_v<T, Single> ? cublasC##NAME \
                               : cublasZ##NAME)

template <class T>
struct Real {
  using type = T;
};
template <class T>
struct Real<std::complex<T>> {
  using type = T;
};

template <class T>
T number(int whole) {
  return T(static_cast<typename Real<T>::type>(whole % 7 - 3));
}
template <>
Single number<Single>(int whole) {
  return {static_cast<float>(whole % 7 - 3), static_cast<float>(whole % 5 - 2)};
}
template <>
Double number<Double>(int whole) {
  return {static_cast<double>(whole % 7 - 3), static_cast<double>(whole % 5 - 2)};
}

template <class T>
T with_op(int op, T value) {
  if constexpr (std::is_same_v<T, Single> || std::is_same_v<T, Double>) {
    return op == adjoint ? std::conj(value) : value;
  }
  return value;
}

/// Numbers here and in the device's memory.
template <class T>
struct Numbers {
  explicit Numbers(std::size_t count, int seed = 0) : here(count) {
    for (std::size_t i = 0; i < count; ++i) here[i] = number<T>(static_cast<int>(i) * 3 + seed);
    cudaMalloc(reinterpret_cast<void**>(&there), count * sizeof(T));
    send();
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  ~Numbers() { cudaFree(there); }
  void send() { cudaMemcpy(there, here.data(), here.size() * sizeof(T), cudaMemcpyHostToDevice); }
  /// All of it, also what lies between columns, is as expected.
  void expect(const std::vector<T>& expected, const char* what) {
    std::vector<T> got(here.size());
    cudaMemcpy(got.data(), there, got.size() * sizeof(T), cudaMemcpyDeviceToHost);
    ++compared;
    if (got == expected) return;
    ++wrong;
    std::printf("%s is wrong\n", what);
  }
  std::vector<T> here;
  T* there = nullptr;
};

void expect(bool is_so, const char* what) {
  ++compared;
  if (is_so) return;
  ++wrong;
  std::printf("%s is wrong\n", what);
}

/// Element (i, j) of op(A).
template <class T>
T at(const std::vector<T>& a, int leading, int op, int i, int j) {
  const int place = op == none ? i + j * leading : j + i * leading;
  return with_op(op, a[static_cast<std::size_t>(place)]);
}

template <class T>
std::vector<T> product(const Numbers<T>& a, int a_leading, int a_op, const Numbers<T>& b,
                       int b_leading, int b_op, std::vector<T> c, int c_leading, int m, int n,
                       int k, T alpha, T beta, int from_a = 0, int from_b = 0, int from_c = 0) {
  const std::vector<T> one(a.here.begin() + from_a, a.here.end());
  const std::vector<T> other(b.here.begin() + from_b, b.here.end());
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      T sum = 0;
      for (int l = 0; l < k; ++l) {
        sum += at(one, a_leading, a_op, i, l) * at(other, b_leading, b_op, l, j);
      }
      T& to = c[static_cast<std::size_t>(from_c + i + j * c_leading)];
      to = alpha * sum + beta * to;
    }
  }
  return c;
}

template <class T>
void vectors() {
  Numbers<T> x(30), y(20, 1);
  const T alpha = number<T>(5);
  std::vector<T> expected = y.here;
  for (std::size_t i = 0; i < 10; ++i) expected[2 * i] += alpha * x.here[(9 - i) * 3];
  call(OF(T, axpy_v2), handle, 10, &alpha, x.there, -3, y.there, 2);
  y.expect(expected, "axpy");
  for (std::size_t i = 0; i < 10; ++i) expected[2 * i] *= alpha;
  call(OF(T, scal_v2), handle, 10, &alpha, y.there, 2);
  y.expect(expected, "scal");
  std::vector<T> swapped = x.here;
  for (std::size_t i = 0; i < 10; ++i) std::swap(swapped[i], expected[i]);
  call(OF(T, swap_v2), handle, 10, x.there, 1, y.there, 1);
  x.expect(swapped, "swap");
  y.expect(expected, "swap");
  for (std::size_t i = 0; i < 20; ++i) expected[i] = swapped[i];
  call(OF(T, copy_v2), handle, 20, x.there, 1, y.there, 1);
  y.expect(expected, "copy");
}

template <class T>
void products() {
  const T alpha = number<T>(1), beta = number<T>(6);
  constexpr int m = 5, n = 4, k = 3, leading = 7;
  for (int a_op = none; a_op <= adjoint; ++a_op) {
    for (int b_op = none; b_op <= adjoint; ++b_op) {
      Numbers<T> a(leading * leading), b(leading * leading, 2), c(leading * n, 4);
      const auto expected =
          product(a, leading, a_op, b, leading, b_op, c.here, leading, m, n, k, alpha, beta);
      expect(call(OF(T, gemm_v2), handle, a_op, b_op, m, n, k, &alpha, a.there, leading, b.there,
                  leading, &beta, c.there, leading) == 0,
             "the status of gemm");
      c.expect(expected, "gemm");
    }
    Numbers<T> a(leading * leading), x(leading, 2), y(leading, 4);
    const int rows = a_op == none ? m : n, columns = a_op == none ? n : m;
    const auto expected =
        product(a, leading, a_op, x, leading, none, y.here, leading, rows, 1, columns, alpha, beta);
    call(OF(T, gemv_v2), handle, a_op, m, n, &alpha, a.there, leading, x.there, 1, &beta, y.there,
         1);
    y.expect(expected, "gemv");
  }
  Numbers<T> a(60), b(60, 2), c(60, 4);
  std::vector<T> expected = c.here;
  for (int i = 0; i < 3; ++i) {
    expected =
        product(a, 5, none, b, 4, none, expected, 5, 5, 3, 4, alpha, beta, 20 * i, 0, 15 * i);
  }
  call(OF(T, gemmStridedBatched), handle, none, none, 5, 3, 4, &alpha, a.there, 5, 20LL, b.there, 4,
       0LL, &beta, c.there, 5, 15LL, 3);
  c.expect(expected, "gemmStridedBatched");
  T* places[9] = {};
  for (int i = 0; i < 3; ++i) {
    places[i] = a.there + 20 * i;
    places[3 + i] = b.there;
    places[6 + i] = c.there + 15 * i;
  }
  T** lists = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&lists), sizeof places);
  cudaMemcpy(lists, places, sizeof places, cudaMemcpyHostToDevice);
  c.send();
  call(OF(T, gemmBatched), handle, none, none, 5, 3, 4, &alpha, lists, 5, lists + 3, 4, &beta,
       lists + 6, 5, 3);
  c.expect(expected, "gemmBatched");
  cudaFree(lists);
}

template <class T>
void triangles() {
  constexpr int n = 4, k = 3;
  const T alpha = number<T>(1), beta = number<T>(6), one = T(1);
  for (const int fill : {lower, upper}) {
    const auto holds = [&](int i, int j) { return fill == lower ? i >= j : i <= j; };
    const auto place = [](int i, int j) { return static_cast<std::size_t>(i + j * n); };
    Numbers<T> a(n * n), b(n * n, 2), c(n * n, 4);
    auto full = product(a, n, none, a, n, transposed, c.here, n, n, n, k, alpha, beta);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        if (!holds(i, j)) full[place(i, j)] = c.here[place(i, j)];
      }
    }
    call(OF(T, syrk_v2), handle, fill, none, n, k, &alpha, a.there, n, &beta, c.there, n);
    c.expect(full, "syrk");

    Numbers<T> mirrored(n * n), triangle(n * n), d(n * n, 3);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        mirrored.here[place(i, j)] = a.here[holds(i, j) ? place(i, j) : place(j, i)];
        triangle.here[place(i, j)] = i == j ? T(1) : holds(i, j) ? a.here[place(i, j)] : T(0);
      }
    }
    auto expected = product(b, n, none, mirrored, n, none, d.here, n, n, n, n, alpha, beta);
    call(OF(T, symm_v2), handle, right, fill, n, n, &alpha, a.there, n, b.there, n, &beta, d.there,
         n);
    d.expect(expected, "symm");
    // A triangle with ones on its diagonal has a whole inverse: solving brings back what was.
    expected = product(triangle, n, transposed, b, n, none, d.here, n, n, n, n, one, T(0));
    call(OF(T, trmm_v2), handle, left, fill, transposed, 1, n, n, &one, a.there, n, b.there, n,
         d.there, n);
    d.expect(expected, "trmm");
    call(OF(T, trsm_v2), handle, left, fill, transposed, 1, n, n, &one, a.there, n, d.there, n);
    d.expect(b.here, "trsm");
    expected = product(b, n, none, triangle, n, none, d.here, n, n, n, n, one, T(0));
    call(OF(T, trmm_v2), handle, right, fill, none, 1, n, n, &one, a.there, n, b.there, n, d.there,
         n);
    d.expect(expected, "trmm");
    call(OF(T, trsm_v2), handle, right, fill, none, 1, n, n, &one, a.there, n, d.there, n);
    d.expect(b.here, "trsm");
  }
}

template <class T>
void others() {
  const T alpha = number<T>(1), beta = number<T>(6);
  Numbers<T> a(12), b(12, 2), c(12, 4), x(4, 1);
  std::vector<T> expected = c.here;
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < 3; ++i) {
      expected[static_cast<std::size_t>(i + 3 * j)] =
          alpha * at(a.here, 4, transposed, i, j) +
          beta * b.here[static_cast<std::size_t>(i + 3 * j)];
    }
  }
  call(OF(T, geam), handle, transposed, none, 3, 4, &alpha, a.there, 4, &beta, b.there, 3, c.there,
       3);
  c.expect(expected, "geam");
  for (std::size_t i = 0; i < 12; ++i) expected[i] = a.here[i] * x.here[i / 3];
  call(OF(T, dgmm), handle, right, 3, 4, a.there, 3, x.there, 1, c.there, 3);
  c.expect(expected, "dgmm");

  // 2 0 1 / 1 4 0 / 4 0 1 by columns: the pivot is row 3, the second is the middle one.
  Numbers<T> matrix(9), solved(3);
  matrix.here = {T(2), T(1), T(4), T(0), T(4), T(0), T(1), T(0), T(1)};
  solved.here = {T(3), T(5), T(5)};
  matrix.send();
  solved.send();
  T* places[] = {matrix.there, solved.there};
  T** lists = nullptr;
  int* integers = nullptr;
  int pivots[4] = {}, info = 7;
  cudaMalloc(reinterpret_cast<void**>(&lists), sizeof places);
  cudaMalloc(reinterpret_cast<void**>(&integers), sizeof pivots);
  cudaMemcpy(lists, places, sizeof places, cudaMemcpyHostToDevice);
  call(OF(T, getrfBatched), handle, 3, lists, 3, integers, integers + 3, 1);
  cudaMemcpy(pivots, integers, sizeof pivots, cudaMemcpyDeviceToHost);
  expect(pivots[0] == 3 && pivots[1] == 2 && pivots[2] == 3 && pivots[3] == 0, "getrf's pivots");
  call(OF(T, getrsBatched), handle, none, 3, 1, lists, 3, integers, lists + 1, 3, &info, 1);
  expect(info == 0, "getrs's information");
  solved.expect({T(1), T(1), T(1)}, "getrs");
  cudaFree(lists);
  cudaFree(integers);
}

void results() {
  Numbers<float> x(10);
  Numbers<Double> z(10);
  Numbers<Single> c(10), d(10, 2);
  x.here = {3, -4, 12, 0, 0, 0, 0, 0, -12, 1};
  x.send();
  float real = 0, *on_device = nullptr;
  double wide = 0;
  int index = 0;
  std::int64_t wide_index = 0;
  expect(call(cublasIsamax_v2, handle, 10, x.there, 1, &index) == 0 && index == 3, "amax");
  call(cublasIsamax_v2_64, handle, std::int64_t{10}, x.there, std::int64_t{1}, &wide_index);
  expect(wide_index == 3, "amax of 64 bits");
  call(cublasSnrm2_v2, handle, 3, x.there, 1, &real);
  expect(real == 13, "nrm2");
  call(cublasSdot_v2, handle, 10, x.there, 1, x.there, 1, &real);
  expect(real == 9 + 16 + 144 + 144 + 1, "dot");
  Single sum = 0, expected = 0;
  for (std::size_t i = 0; i < 10; ++i) expected += std::conj(c.here[i]) * d.here[i];
  call(cublasCdotc_v2, handle, 10, c.there, 1, d.there, 1, &sum);
  expect(sum == expected, "dotc");
  double size = 0;
  for (const Double& each : z.here) size += std::abs(each.real()) + std::abs(each.imag());
  call(cublasScasum_v2, handle, 10, c.there, 1, &real);
  expect(real == static_cast<float>(size), "asum");
  z.here.assign(10, 0);
  z.here[4] = {3e200, 4e200};
  z.send();
  call(cublasDznrm2_v2, handle, 10, z.there, 1, &wide);
  expect(std::abs(wide / 5e200 - 1) < 1e-14, "nrm2 of great numbers");
  // In the device's memory, where later work of the stream reads it.
  cudaMalloc(reinterpret_cast<void**>(&on_device), sizeof real);
  call(cublasSetPointerMode_v2, handle, 1);
  call(cublasSnrm2_v2, handle, 3, x.there, 1, on_device);
  call(cublasSscal_v2, handle, 3, on_device, x.there, 1);
  int mode = 0;
  call(cublasGetPointerMode_v2, handle, &mode);
  expect(mode == 1, "the pointer mode");
  call(cublasSetPointerMode_v2, handle, 0);
  auto scaled = x.here;
  for (std::size_t i = 0; i < 3; ++i) scaled[i] *= 13;
  x.expect(scaled, "scal by a number in the device's memory");
  cudaFree(on_device);
}

/// Matrices that memory has a triangle, a band or a pack of.
void stored_in_parts() {
  constexpr int n = 4;
  const double two = 2, three = 3;
  const auto place = [](int i, int j) { return static_cast<std::size_t>(i + j * n); };
  Numbers<double> pack(n * (n + 1) / 2), x(n, 1), y(n, 2);
  std::vector<double> expected = y.here;
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) {
      const int row = std::min(i, j), column = std::max(i, j);  // the upper triangle, by columns
      sum += pack.here[static_cast<std::size_t>(row + column * (column + 1) / 2)] *
             x.here[static_cast<std::size_t>(j)];
    }
    expected[static_cast<std::size_t>(i)] =
        two * sum + three * expected[static_cast<std::size_t>(i)];
  }
  call(cublasDspmv_v2, handle, upper, n, &two, pack.there, x.there, 1, &three, y.there, 1);
  y.expect(expected, "spmv");

  // Ones on the diagonal, and 2, -1, 3 below it: x = 1, 1, 2, -5 for b = 1, 3, 1, 1.
  Numbers<double> band(2 * n), b(n);
  band.here = {9, 2, 9, -1, 9, 3, 9, 9};
  b.here = {1, 3, 1, 1};
  band.send();
  b.send();
  call(cublasDtbsv_v2, handle, lower, none, 1, n, 1, band.there, 2, b.there, 1);
  b.expect({1, 1, 2, -5}, "tbsv");

  Numbers<Double> a(n * n), u(n, 1), v(n, 2);
  const Double alpha(2, 1), beta(-1, 1);
  std::vector<Double> hermitian = v.here;
  for (int i = 0; i < n; ++i) {
    Double sum = 0;
    for (int j = 0; j < n; ++j) {
      const Double element = i > j   ? a.here[place(i, j)]
                             : i < j ? std::conj(a.here[place(j, i)])
                                     : Double(a.here[place(i, i)].real());
      sum += element * u.here[static_cast<std::size_t>(j)];
    }
    hermitian[static_cast<std::size_t>(i)] =
        alpha * sum + beta * hermitian[static_cast<std::size_t>(i)];
  }
  call(cublasZhemv_v2, handle, lower, n, &alpha, a.there, n, u.there, 1, &beta, v.there, 1);
  v.expect(hermitian, "hemv");
}

/// Updates by vectors and by matrices.
void updates() {
  constexpr int n = 3, k = 2;
  const float half = 0.5F, twice = 2;
  const auto place = [](int i, int j) { return static_cast<std::size_t>(i + j * n); };
  Numbers<float> a(n * n), x(n, 1), y(n, 2);
  std::vector<float> expected = a.here;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) expected[i + j * n] += half * x.here[i] * y.here[j];
  }
  call(cublasSger_v2, handle, n, n, &half, x.there, 1, y.there, 1, a.there, n);
  a.expect(expected, "ger");
  Numbers<Double> z(n * n), u(n, 1), v(n, 2);
  const Double alpha(2, 1);
  std::vector<Double> wide = z.here;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) wide[i + j * n] += alpha * u.here[i] * std::conj(v.here[j]);
  }
  call(cublasZgerc_v2, handle, n, n, &alpha, u.there, 1, v.there, 1, z.there, n);
  z.expect(wide, "gerc");

  Numbers<Single> c(n * n, 3), d(n * k, 1);
  std::vector<Single> of_c = c.here;
  Numbers<Double> e(n * n, 3), f(n * k, 1), g(n * k, 2);
  std::vector<Double> of_e = e.here;
  const double wide_twice = 2;
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {  // the lower triangle, whose diagonal becomes real
      Single& to = of_c[place(i, j)];
      Double& other = of_e[place(i, j)];
      if (i == j) to = to.real(), other = other.real();
      to *= twice;
      other *= wide_twice;
      for (int l = 0; l < k; ++l) {
        to += half * d.here[place(i, l)] * std::conj(d.here[place(j, l)]);
        other += alpha * f.here[place(i, l)] * std::conj(g.here[place(j, l)]) +
                 std::conj(alpha) * g.here[place(i, l)] * std::conj(f.here[place(j, l)]);
      }
    }
  }
  call(cublasCherk_v2, handle, lower, none, n, k, &half, d.there, n, &twice, c.there, n);
  c.expect(of_c, "herk");
  call(cublasZher2k_v2, handle, lower, none, n, k, &alpha, f.there, n, g.there, n, &wide_twice,
       e.there, n);
  e.expect(of_e, "her2k");
}

/// Functions of one type, and copies.
void of_one_type() {
  Numbers<double> x(4), y(4, 1);
  const double cosine = 3, sine = 4, by = 2;
  std::vector<double> one = x.here, other = y.here;
  for (std::size_t i = 0; i < 4; ++i) {
    one[i] = 3 * x.here[i] + 4 * y.here[i];
    other[i] = 3 * y.here[i] - 4 * x.here[i];
  }
  call(cublasDrot_v2, handle, 4, x.there, 1, y.there, 1, &cosine, &sine);
  x.expect(one, "rot");
  y.expect(other, "rot");
  double sum = 0, size = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    sum += one[i] * other[i];
    size += std::abs(one[i]);
  }
  double got = 0;
  call(cublasDdot_v2, handle, 4, x.there, 1, y.there, 1, &got);
  expect(got == sum, "dot");
  call(cublasDasum_v2, handle, 4, x.there, 1, &got);
  expect(got == size, "asum");
  Numbers<Double> z(4);
  z.here = {{3, -3}, {1, 1}, {0, -2}, {5, 0}};
  z.send();
  int index = 0;
  call(cublasIzamin_v2, handle, 4, z.there, 1, &index);
  expect(index == 2, "amin: the first of two that are as small");
  Double product = 0;
  call(cublasZdotu_v2, handle, 2, z.there, 1, z.there, 1, &product);
  expect(product == Double(0, -16), "dotu");  // (3 - 3i)² + (1 + i)²
  call(cublasZdscal_v2, handle, 4, &by, z.there, 1);
  z.expect({{6, -6}, {2, 2}, {0, -4}, {10, 0}}, "scal by a real number");
  const float here[] = {1, 2, 3, 4, 5, 6, 7, 8};
  float back[8] = {}, steps[8] = {};
  float* there = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&there), sizeof here);
  expect(call(cublasSetMatrix, 2, 2, 4, here, 3, there, 2) == 0, "the status of SetMatrix");
  call(cublasGetMatrix, 2, 2, 4, there, 2, back, 4);
  expect(back[0] == 1 && back[1] == 2 && back[4] == 4 && back[5] == 5, "SetMatrix and GetMatrix");
  call(cublasSetVector, 3, 4, here, 2, there, 1);
  call(cublasGetVector, 3, 4, there, 1, steps, 3);
  expect(steps[0] == 1 && steps[3] == 3 && steps[6] == 5, "SetVector and GetVector");
  float whole = 0;
  call(cublasSdot_v2_64, handle, std::int64_t{3}, there, std::int64_t{1}, there, std::int64_t{-1},
       &whole);
  expect(whole == 1 * 5 + 3 * 3 + 5 * 1, "dot of 64 bits, backwards");
  cudaFree(there);
}

/// 1, 2, 3, 4 in 16 bits: exact in half and in bfloat16.
void short_numbers() {
  constexpr std::uint16_t half[] = {0x3c00, 0x4000, 0x4200, 0x4400};
  constexpr std::uint16_t brain[] = {0x3f80, 0x4000, 0x4040, 0x4080};
  const float one = 1, zero = 0;
  const int whole_one = 1, whole_zero = 0;
  void *a = nullptr, *c = nullptr;
  cudaMalloc(&a, 64);
  cudaMalloc(&c, 64);
  const auto multiply = [&](const void* numbers, std::size_t bytes, int type, int to, int compute,
                            const void* alpha, const void* beta) {
    cudaMemcpy(a, numbers, bytes, cudaMemcpyHostToDevice);
    return call(cublasGemmEx, handle, none, none, 2, 2, 2, alpha, a, type, 2, a, type, 2, beta, c,
                to, 2, compute, -1);
  };
  // 1 3 / 2 4 squared: 7 15 / 10 22.
  const std::vector<float> squared = {7, 10, 15, 22};
  std::vector<float> got(4);
  for (const auto& [numbers, type] : {std::pair(half, 2), std::pair(brain, 14)}) {
    expect(multiply(numbers, sizeof half, type, 0, 68, &one, &zero) == 0, "the status of GemmEx");
    cudaMemcpy(got.data(), c, 16, cudaMemcpyDeviceToHost);
    expect(got == squared, "GemmEx of 16 bits");
  }
  multiply(half, sizeof half, 2, 2, 68, &one, &zero);
  std::uint16_t short_ones[4] = {};
  cudaMemcpy(short_ones, c, sizeof short_ones, cudaMemcpyDeviceToHost);
  expect(short_ones[0] == 0x4700 && short_ones[1] == 0x4900 && short_ones[2] == 0x4b80 &&
             short_ones[3] == 0x4d80,
         "GemmEx to half");
  constexpr std::uint16_t half_one = 0x3c00, half_zero = 0;
  call(cublasHgemm, handle, none, none, 2, 2, 2, &half_one, a, 2, a, 2, &half_zero, c, 2);
  cudaMemcpy(short_ones, c, sizeof short_ones, cudaMemcpyDeviceToHost);
  expect(short_ones[0] == 0x4700 && short_ones[3] == 0x4d80, "Hgemm");
  const std::int8_t bytes[16] = {1, 2, 3, 4};
  std::int32_t whole[4] = {};
  // Whole numbers need columns of 4 bytes.
  cudaMemcpy(a, bytes, sizeof bytes, cudaMemcpyHostToDevice);
  call(cublasGemmEx, handle, transposed, none, 1, 1, 4, &whole_one, a, 3, 4, a, 3, 4, &whole_zero,
       c, 10, 4, 72, -1);
  cudaMemcpy(whole, c, 4, cudaMemcpyDeviceToHost);
  expect(whole[0] == 30, "GemmEx of whole numbers");
  expect(multiply(half, sizeof half, 2, 1, 70, &one, &zero) == 15, "GemmEx of no such types");
  cudaFree(a);
  cudaFree(c);
}

/// A late host function of the stream writes what the product reads; a graph runs it twice.
void order() {
  constexpr float one = 1;
  float* numbers = nullptr;
  cudaMallocManaged(reinterpret_cast<void**>(&numbers), 3 * sizeof(float));
  numbers[0] = numbers[1] = 0;
  numbers[2] = 5;
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  call(cublasSetStream_v2, handle, stream);
  cudaLaunchHostFunc(
      stream,
      [](void* given) {
        auto* all = static_cast<float*>(given);
        all[0] = 3;
        all[1] = 4;
      },
      numbers);
  const auto multiply = [&] {
    return call(cublasSgemm_v2, handle, none, none, 1, 1, 1, &one, numbers, 1, numbers + 1, 1, &one,
                numbers + 2, 1);
  };
  multiply();
  cudaStreamSynchronize(stream);
  expect(numbers[2] == 5 + 12, "the order of a stream");
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  multiply();
  cudaStreamEndCapture(stream, &graph);
  expect(numbers[2] == 5 + 12, "a captured product");
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, stream);
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  expect(numbers[2] == 5 + 3 * 12, "a product of a graph");
  call(cublasSetStream_v2, handle, cudaStream_t{nullptr});
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  cudaFree(numbers);
}

void statuses() {
  Numbers<float> a(16);
  const float one = 1;
  const auto gemm = [&](void* by, int op, int m, int leading) {
    return call(cublasSgemm_v2, by, op, none, m, 2, 2, &one, a.there, leading, a.there, 2, &one,
                a.there + 8, 2);
  };
  int version = 0;
  std::printf("no handle: %d\n", gemm(nullptr, none, 2, 2));
  std::printf("no such operation: %d\n", gemm(handle, 9, 2, 2));
  std::printf("-1 rows: %d\n", gemm(handle, none, -1, 2));
  std::printf("columns too near: %d\n", gemm(handle, none, 2, 1));
  std::printf("no rows: %d\n", gemm(handle, none, 0, 2));
  std::printf("a step of 0: %d\n", call(cublasSgemv_v2, handle, none, 2, 2, &one, a.there, 2,
                                        a.there, 0, &one, a.there + 8, 1));
  std::printf("no pointer mode: %d\n", call(cublasSetPointerMode_v2, handle, 7));
  std::printf("version: %d\n", call(cublasGetVersion_v2, handle, &version));
  expect(version >= 120000, "the version");
}

template <class T>
void all_of_type() {
  vectors<T>();
  products<T>();
  triangles<T>();
  others<T>();
}

}  // namespace

int main(int count, char**) {
  std::printf("cublasCreate: %d\n", call(cublasCreate_v2, &handle));
  if (count > 1) {  // a function that the model does not have
    std::printf("cublasSgelsBatched: %d\n", call(cublasSgelsBatched, handle));
    return 0;
  }
  all_of_type<float>();
  all_of_type<double>();
  all_of_type<Single>();
  all_of_type<Double>();
  results();
  stored_in_parts();
  updates();
  of_one_type();
  short_numbers();
  order();
  statuses();
  std::printf("cublasDestroy: %d\n", call(cublasDestroy_v2, handle));
  std::printf("%d compared, %d wrong\n", compared, wrong);
  return wrong == 0 ? 0 : 1;
}
