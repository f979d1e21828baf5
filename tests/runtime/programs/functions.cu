// SPDX-License-Identifier: MIT
// CUDA's functions of numbers, on many operands: a line for each with a hash of all bits of its
// results, and one in which every NaN is the same. The output of an H100 lies in expected/.
//
// Operands are of three kinds: any bits, numbers from -12 to 12, numbers near 1.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
namespace {

constexpr std::uint32_t count = 1 << 14;

__device__ std::uint32_t mix(std::uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}
__device__ std::uint64_t mix(std::uint64_t h) {
  h += 0x9e3779b97f4a7c15u;
  h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
  h = (h ^ h >> 27) * 0x94d049bb133111ebu;
  return h ^ h >> 31;
}

/// The i-th operand. Whole bits are cut into numbers without arithmetic that could be contracted.
template <class T>
__device__ T operand(std::uint64_t i);
template <>
__device__ double operand<double>(std::uint64_t i) {
  const std::uint64_t bits = mix(i);
  if (i % 3 == 0) return __longlong_as_double(static_cast<long long>(bits));
  const std::uint64_t one = 0x3ff0000000000000u, fraction = bits >> 12;
  const double near = __longlong_as_double(static_cast<long long>(one | fraction));  // 1 … 2
  if (i % 3 == 1) return __dmul_rn(24, __dadd_rn(near, -1.5));
  return __dadd_rn(near, -0.5);
}
template <>
__device__ float operand<float>(std::uint64_t i) {
  const std::uint32_t bits = mix(static_cast<std::uint32_t>(i));
  if (i % 3 == 0) return __uint_as_float(bits);
  const float near = __uint_as_float(0x3f800000u | bits >> 9);
  if (i % 3 == 1) return __fmul_rn(24, __fadd_rn(near, -1.5f));
  return __fadd_rn(near, -0.5f);
}
template <>
__device__ __half operand<__half>(std::uint64_t i) {
  return __ushort_as_half(static_cast<unsigned short>(i));
}
template <>
__device__ __nv_bfloat16 operand<__nv_bfloat16>(std::uint64_t i) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(i));
}
template <>
__device__ __half2 operand<__half2>(std::uint64_t i) {
  return {operand<__half>(i), operand<__half>(mix(static_cast<std::uint32_t>(i)))};
}
template <>
__device__ __nv_bfloat162 operand<__nv_bfloat162>(std::uint64_t i) {
  return {operand<__nv_bfloat16>(i), operand<__nv_bfloat16>(mix(static_cast<std::uint32_t>(i)))};
}

__device__ void add(std::uint32_t* sums, std::uint32_t bits, bool is_nan, std::uint64_t i) {
  const std::uint32_t place = static_cast<std::uint32_t>(i) * 0x9e3779b9u;
  atomicAdd(&sums[0], mix(bits + place));
  atomicAdd(&sums[1], mix((is_nan ? 0x7fffffffu : bits) + place));
}
// An instruction on f64 gives, for two NaN, the one that stands second in the machine code, where
// ptxas may have turned the operands round: all count as one.
__device__ void add(std::uint32_t* sums, double value, std::uint64_t i) {
  const bool is_nan = isnan(value);
  const auto bits = static_cast<std::uint64_t>(__double_as_longlong(value));
  const std::uint32_t word =
      mix(static_cast<std::uint32_t>(bits)) + static_cast<std::uint32_t>(bits >> 32);
  add(sums, is_nan ? 0x7fffffffu : word, is_nan, i);
}
__device__ void add(std::uint32_t* sums, float value, std::uint64_t i) {
  const std::uint32_t bits = __float_as_uint(value);
  add(sums, bits, (bits & 0x7fffffffu) > 0x7f800000u, i);
}
// ptxas 13.0 takes the sign bit of tanh.approx.f16 for 0, so that a mask of it is lost.
__device__ void add(std::uint32_t* sums, __half value, std::uint64_t i) {
  add(sums, std::uint32_t{__half_as_ushort(value)}, __hisnan(value), i);
}
__device__ void add(std::uint32_t* sums, __nv_bfloat16 value, std::uint64_t i) {
  add(sums, std::uint32_t{__bfloat16_as_ushort(value)}, __hisnan(value), i);
}
__device__ void add(std::uint32_t* sums, __half2 value, std::uint64_t i) {
  add(sums, __low2half(value), 2 * i);
  add(sums, __high2half(value), 2 * i + 1);
}
__device__ void add(std::uint32_t* sums, __nv_bfloat162 value, std::uint64_t i) {
  add(sums, __low2bfloat16(value), 2 * i);
  add(sums, __high2bfloat16(value), 2 * i + 1);
}

/// How often a point is squared and moved before it leaves, in the words that people use.
template <class T>
__device__ int escape(T x0, T y0) {
  T x = 0, y = 0;
  int turns = 0;
  while (x * x + y * y <= 4 && turns < 200) {
    const T next = x * x - y * y + x0;
    y = 2 * x * y + y0;
    x = next;
    ++turns;
  }
  return turns;
}
__device__ float power_of_complex(float re, float im) {
  float x = 1, y = 0;
  for (int i = 0; i < 9; ++i) {
    const float next = x * re - y * im;
    y = x * im + y * re;
    x = next;
  }
  return x - 2 * y;
}

std::uint32_t* sums = nullptr;

template <class Kernel>
void print(const char* name, Kernel kernel, std::uint32_t operands) {
  cudaMemset(sums, 0, 8);
  kernel<<<operands / 256, 256>>>(sums);
  std::uint32_t found[2];
  const cudaError_t error = cudaMemcpy(found, sums, sizeof(found), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) {
    std::printf("%s %s\n", name, cudaGetErrorName(error));
  } else {
    std::printf("%s %08x %08x\n", name, found[0], found[1]);
  }
}

}  // namespace

// A kernel each. a is any operand, b another.
#define FUNCTION(name, T, operands, ...)                    \
  __global__ void kernel_##name(std::uint32_t* to) {        \
    const std::uint64_t i = blockIdx.x * 256 + threadIdx.x; \
    const T a = operand<T>(i), b = operand<T>(i * 5 + 7);   \
    (void)b;                                                \
    add(to, __VA_ARGS__, i);                                \
  }
#define F1(name) FUNCTION(name, float, count, name(a))
#define F2(name) FUNCTION(name, float, count, name(a, b))
#define D1(name) FUNCTION(d_##name, double, count, name(a))
#define D2(name) FUNCTION(d_##name, double, count, name(a, b))
#define H1(name) FUNCTION(name, __half, 65536, name(a))
#define H2(name) FUNCTION(name, __half2, 65536, name(a))
#define B1(name) FUNCTION(b_##name, __nv_bfloat16, 65536, name(a))
#define B2(name) FUNCTION(b_##name, __nv_bfloat162, 65536, name(a))
#include "functions.h"
#undef FUNCTION

int main() {
  cudaMalloc(&sums, 8);
#define FUNCTION(name, T, operands, ...) print(#name, kernel_##name, operands);
#include "functions.h"
  return 0;
}
