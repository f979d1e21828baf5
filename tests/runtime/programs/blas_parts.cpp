// SPDX-License-Identifier: MIT
// The functions of cuBLAS that not all types have: results, packs, bands and hermitian matrices,
// updates, numbers of 16 bits and whole ones. As in blas.cpp every sum is exact.
#include "blas_program.h"

namespace {

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
  // 1 1 / -1 -1 squared is nothing but zeros, and the sums of their rows keep them.
  constexpr std::uint16_t no_sum[] = {0x3c00, 0xbc00, 0x3c00, 0xbc00};
  multiply(no_sum, sizeof no_sum, 2, 2, 68, &one, &zero);
  cudaMemcpy(short_ones, c, sizeof short_ones, cudaMemcpyDeviceToHost);
  expect(std::all_of(short_ones, short_ones + 4, [](auto bits) { return bits == 0; }),
         "zeros in half");
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

}  // namespace

int main() {
  std::printf("cublasCreate: %d\n", call(cublasCreate_v2, &handle));
  results();
  stored_in_parts();
  updates();
  of_one_type();
  short_numbers();
  return end_of_program();
}
