// SPDX-License-Identifier: MIT
// Products of matrices on the tensor cores, by warps (mma.sync). Eight sums a warp that do not wait
// for one another; the operands stay in registers. FP8 is in warpgroup_peaks.cu alone: sm_90 has no
// such instruction for warps, and ptxas takes its substitute out of the loop.
//
// Operands are of ordinary size and random, as zeros would cost less power than any real product.
#include "collector/cupti/peaks/report.cuh"

namespace {

constexpr unsigned warp_size = 32;
constexpr int chains = 8;

/// Random bits where `varies` has ones, `fixed` elsewhere.
__device__ unsigned operand(unsigned index, unsigned varies, unsigned fixed) {
  unsigned bits = (threadIdx.x * 8 + index + 1) * 2654435761u;
  bits ^= bits >> 15;
  return (bits * 2246822519u & varies) | fixed;
}

/// Different sums, which the compiler cannot make one of.
template <class T>
__device__ void begin(T (&sums)[chains][4]) {
  for (int chain = 0; chain < chains; ++chain) {
    for (T& value : sums[chain]) value = static_cast<T>(chain);
  }
}

/// Keeps the compiler from leaving the products out. The condition does not come true.
template <class T>
__device__ void keep(float4* to, const T (&sums)[chains][4]) {
  bool are_equal = true;
  for (const auto& sum : sums) are_equal = are_equal && sum[0] == 1 + sums[0][1];
  if (are_equal) reinterpret_cast<T*>(to)[0] = sums[0][0];
}

}  // namespace

#define MATRIX_PEAK(name)                                                                \
  extern "C" __global__ void name(float4* to, const float4*, unsigned, unsigned repeats, \
                                  Report* report)

// A and B have 4 and 2 registers, C has 4 of `type`, whose constraint is `letter`.
#define MMA(name, shape, types, type, letter, k, varies, fixed)                                   \
  MATRIX_PEAK(name) {                                                                             \
    unsigned a[4], b[2];                                                                          \
    for (int i = 0; i < 4; ++i) a[i] = operand(i, varies, fixed);                                 \
    for (int i = 0; i < 2; ++i) b[i] = operand(i + 4, varies, fixed);                             \
    type c[chains][4] = {};                                                                       \
    for (unsigned repeat = 0; repeat < repeats; ++repeat) {                                       \
      _Pragma("unroll") for (int chain = 0; chain < chains; ++chain) {                            \
        asm volatile("mma.sync.aligned." shape ".row.col." types                                  \
                     " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"           \
                     : "+" letter(c[chain][0]), "+" letter(c[chain][1]), "+" letter(c[chain][2]), \
                       "+" letter(c[chain][3])                                                    \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));         \
      }                                                                                           \
    }                                                                                             \
    keep(to, c);                                                                                  \
    report_work(report, 2ull * 16 * 8 * k * chains * repeats * (blockDim.x / warp_size));         \
  }

MMA(mma_fp16, "m16n8k16", "f32.f16.f16.f32", float, "f", 16, 0x83ff83ff, 0x38003800)
MMA(mma_bf16, "m16n8k16", "f32.bf16.bf16.f32", float, "f", 16, 0x807f807f, 0x3f003f00)
MMA(mma_tf32, "m16n8k8", "f32.tf32.tf32.f32", float, "f", 8, 0x807fe000, 0x3f000000)
MMA(mma_int8, "m16n8k32", "s32.s8.s8.s32", int, "r", 32, 0xffffffff, 0)

#if __CUDA_ARCH__ >= 900
constexpr int fp64_products = 16 * 8 * 16;
#else
constexpr int fp64_products = 8 * 8 * 4;
#endif

MATRIX_PEAK(mma_fp64) {
  double a[8], b[4], c[chains][4];
  begin(c);
  for (int i = 0; i < 8; ++i) a[i] = operand(i, 0xffff, 1) * 1e-5;
  for (int i = 0; i < 4; ++i) b[i] = operand(i + 8, 0xffff, 1) * 1e-5;
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (int chain = 0; chain < chains; ++chain) {
#if __CUDA_ARCH__ >= 900
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
          "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
          : "+d"(c[chain][0]), "+d"(c[chain][1]), "+d"(c[chain][2]), "+d"(c[chain][3])
          : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
            "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                   : "+d"(c[chain][0]), "+d"(c[chain][1])
                   : "d"(a[0]), "d"(b[0]));
#endif
    }
  }
  keep(to, c);
  report_work(report, 2ull * fp64_products * chains * repeats * (blockDim.x / warp_size));
}
