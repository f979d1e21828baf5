// SPDX-License-Identifier: MIT
// Kernels that each keep one unit of the card busy and nothing else: device memory, L2, L1, shared
// memory, and the units for fused multiply-adds.
//
// All have one signature: a buffer to write, one to read, a power of two of 16-byte vectors, how
// often to repeat, and the report. The buffers hold zeros, so no result is `impossible`, and only
// the copies write.
#include <cuda_fp16.h>

#include "collector/cupti/peaks/report.cuh"

namespace {

constexpr float impossible = 1.5f;
constexpr unsigned vector_bytes = 16;

__device__ float sum_of(float4 v) { return v.x + v.y + v.z + v.w; }

template <int vectors>
__device__ void copy(float4* to, const float4* from, Report* report) {
  const unsigned long long begin = 1ull * blockIdx.x * blockDim.x * vectors + threadIdx.x;
  float4 held[vectors];
#pragma unroll
  for (int i = 0; i < vectors; ++i) held[i] = __ldcs(&from[begin + i * blockDim.x]);
#pragma unroll
  for (int i = 0; i < vectors; ++i) __stcs(&to[begin + i * blockDim.x], held[i]);
  report_work(report, 2ull * vectors * blockDim.x * vector_bytes);
}

template <int vectors>
__device__ void read(float4* to, const float4* from, Report* report) {
  const unsigned long long begin = 1ull * blockIdx.x * blockDim.x * vectors + threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < vectors; ++i) sum += sum_of(__ldcs(&from[begin + i * blockDim.x]));
  if (sum == impossible) to[0].x = sum;
  report_work(report, 1ull * vectors * blockDim.x * vector_bytes);
}

/// Each block reads its vectors `repeats` times, eight or more a thread. `load` reads one.
template <class Load>
__device__ void read_cached(float4* to, unsigned vectors, unsigned repeats, Report* report,
                            Load load) {
  constexpr unsigned at_once = 8;
  constexpr unsigned warp_size = 32;  // a warp's 512 bytes begin with a line
  const unsigned mask = vectors - 1;
  float4 sums = {};
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
    for (unsigned i = 0; i < vectors; i += at_once * blockDim.x) {
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) {
        const float4 v = load((threadIdx.x + repeat * warp_size + i + k * blockDim.x) & mask);
        sums.x += v.x;
        sums.y += v.y;
        sums.z += v.z;
        sums.w += v.w;
      }
    }
  }
  if (sum_of(sums) == impossible) to[0].x = sums.x;
  report_work(report, 1ull * repeats * vectors * vector_bytes);
}

__device__ float product_sum(float a, float b, float c) { return fmaf(a, b, c); }
__device__ double product_sum(double a, double b, double c) { return fma(a, b, c); }
__device__ half2 product_sum(half2 a, half2 b, half2 c) { return __hfma2(a, b, c); }
__device__ bool is_impossible(float value) { return value == impossible; }
__device__ bool is_impossible(double value) { return value == impossible; }
__device__ bool is_impossible(half2 value) { return __low2float(value) == impossible; }

/// Eight sums a thread that do not wait for one another. `operations`: of one product and sum. The
/// compiler does not know the factor, nor that two halves are equal.
template <class T, int operations>
__device__ void multiply_add(float4* to, const float4* from, T factor, unsigned repeats,
                             Report* report) {
  constexpr int chains = 8, steps = 32;
  T sums[chains];
#pragma unroll
  for (int chain = 0; chain < chains; ++chain) {
    sums[chain] = reinterpret_cast<const T*>(from)[chain];
  }
  factor = product_sum(factor, factor, reinterpret_cast<const T*>(from)[chains]);
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
#pragma unroll
      for (T& sum : sums) sum = product_sum(sum, factor, factor);
    }
  }
#pragma unroll
  for (int chain = 1; chain < chains; ++chain) sums[0] = product_sum(sums[0], factor, sums[chain]);
  if (is_impossible(sums[0])) *reinterpret_cast<T*>(to) = sums[0];
  report_work(report, 1ull * repeats * steps * chains * operations * blockDim.x);
}

}  // namespace

#define PEAK(name)                                                                  \
  extern "C" __global__ void name(float4* to, const float4* from, unsigned vectors, \
                                  unsigned repeats, Report* report)

PEAK(copy_1) { copy<1>(to, from, report); }
PEAK(copy_2) { copy<2>(to, from, report); }
PEAK(copy_8) { copy<8>(to, from, report); }
PEAK(read_4) { read<4>(to, from, report); }
PEAK(read_8) { read<8>(to, from, report); }
PEAK(read_16) { read<16>(to, from, report); }

/// Vectors of its own for each block: hardware answers several multiprocessors that ask for the
/// same line at once (L2 request coalescer) faster than L2 does.
PEAK(read_l2) {
  const float4* own = from + std::size_t{blockIdx.x} * vectors;
  read_cached(to, vectors, repeats, report, [&](unsigned i) { return __ldcg(&own[i]); });
}
PEAK(read_l1) {
  read_cached(to, vectors, repeats, report, [&](unsigned i) { return __ldca(&from[i]); });
}
PEAK(read_shared) {
  __shared__ float4 held[2048];
  for (unsigned i = threadIdx.x; i < vectors; i += blockDim.x) held[i] = from[i];
  __syncthreads();
  read_cached(to, vectors, repeats, report, [&](unsigned i) { return held[i]; });
}

PEAK(fma_fp64) { multiply_add<double, 2>(to, from, vectors * 1e-9, repeats, report); }
PEAK(fma_fp32) { multiply_add<float, 2>(to, from, vectors * 1e-9f, repeats, report); }
PEAK(fma_fp16) {
  multiply_add<half2, 4>(to, from, __float2half2_rn(vectors * 1e-9f), repeats, report);
}

/// fma_fp16 where two sums are each other's factors.
PEAK(fma_fp16_pairs) {
  constexpr int pairs = 4, steps = 32, operations = 4;
  half2 x[pairs], y[pairs];
#pragma unroll
  for (int pair = 0; pair < pairs; ++pair) {
    x[pair] = reinterpret_cast<const half2*>(from)[2 * pair];
    y[pair] = reinterpret_cast<const half2*>(from)[2 * pair + 1];
  }
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
#pragma unroll
      for (int pair = 0; pair < pairs; ++pair) x[pair] = product_sum(y[pair], x[pair], y[pair]);
#pragma unroll
      for (int pair = 0; pair < pairs; ++pair) y[pair] = product_sum(x[pair], y[pair], x[pair]);
    }
  }
#pragma unroll
  for (int pair = 0; pair < pairs; ++pair) x[0] = product_sum(x[0], y[pair], x[pair]);
  if (is_impossible(x[0])) *reinterpret_cast<half2*>(to) = x[0];
  report_work(report, 2ull * repeats * steps * pairs * operations * blockDim.x);
}

/// The clock of a multiprocessor that has nothing else to do, for 50 microseconds.
PEAK(clock_probe) {
  const auto now = [] {
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
  };
  const unsigned long long begin = now();
  const long long first = clock64();
  unsigned long long end = begin;
  while (end - begin < 50'000) end = now();
  report->cycles = static_cast<unsigned long long>(clock64() - first);
  report->nanoseconds = end - begin;
}
