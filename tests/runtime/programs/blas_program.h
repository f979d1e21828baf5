// SPDX-License-Identifier: MIT
// The parts that programs of cuBLAS share: calls, numbers here and on the device, comparisons.
#pragma once
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

using Single = std::complex<float>;
using Double = std::complex<double>;
constexpr int none = 0, transposed = 1, adjoint = 2, lower = 0, upper = 1, left = 0, right = 1;

inline void* handle = nullptr;
inline int compared = 0, wrong = 0;

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
inline Single number<Single>(int whole) {
  return {static_cast<float>(whole % 7 - 3), static_cast<float>(whole % 5 - 2)};
}
template <>
inline Double number<Double>(int whole) {
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

inline void expect(bool is_so, const char* what) {
  ++compared;
  if (is_so) return;
  ++wrong;
  std::printf("%s is wrong\n", what);
}

/// Says how many comparisons there were; the program's exit code.
inline int end_of_program() {
  std::printf("cublasDestroy: %d\n", call(cublasDestroy_v2, handle));
  std::printf("%d compared, %d wrong\n", compared, wrong);
  return wrong == 0 ? 0 : 1;
}
