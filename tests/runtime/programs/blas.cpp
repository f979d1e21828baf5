// SPDX-License-Identifier: MIT
// A program that is linked with cuBLAS: what there is of all four types, the order of streams, and
// statuses. Its numbers are small and whole, so that every sum is exact
// in every order. Each result is compared with the sum that BLAS defines, written out as loops
// here. It runs with NVIDIA's library as well: it prints the same lines on a GPU.
#include <climits>
#include <cstring>

#include "blas_program.h"

namespace {

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

/// A product of `inner` columns and rows where there are two; C has `columns` columns of 2.
int past_the_end(int inner, int columns) {
  Numbers<float> a(16), c(4);
  const float one = 1, zero = 0;
  std::printf("cublasSgemm: %d\n", call(cublasSgemm_v2, handle, none, none, 2, columns, inner, &one,
                                        a.there, 2, a.there, inner, &zero, c.there, 2));
  std::printf("cudaDeviceSynchronize: %d\n", cudaDeviceSynchronize());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  std::printf("cublasCreate: %d\n", call(cublasCreate_v2, &handle));
  if (count > 1 && std::strcmp(words[1], "past") == 0) return past_the_end(9, 1);
  if (count > 1 && std::strcmp(words[1], "huge") == 0) return past_the_end(2, INT_MAX);
  if (count > 1) {  // a function that the model does not have
    std::printf("cublasSgelsBatched: %d\n", call(cublasSgelsBatched, handle));
    return 0;
  }
  all_of_type<float>();
  all_of_type<double>();
  all_of_type<Single>();
  all_of_type<Double>();
  order();
  statuses();
  return end_of_program();
}
