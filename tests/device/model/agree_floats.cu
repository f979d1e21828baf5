// SPDX-License-Identifier: MIT
// Floats in the ways that the toolkit's functions offer: doubles with their slow paths, halves and
// bfloat16s in pairs, rounding modes. Approximate results are not asked for bit by bit.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define AT                                    \
  [[maybe_unused]] const int t = threadIdx.x; \
  const int i = blockIdx.x * blockDim.x + threadIdx.x

extern "C" __global__ void double_functions(const double* in, double* out, int n) {
  AT;
  const double x = in[i] + i * 0.37 / n, y = in[(i + 1) % 1024] + 0.1;
  double sum = sin(x * 1000) + cos(x * 1e6) + tan(x) + exp(-x * x / 20) + exp2(y) + expm1(y / 9);
  sum += log(fabs(x) + 1e-3) + log2(fabs(y) + 0.5) + log10(fabs(x) + 2) + log1p(fabs(y));
  sum += pow(fabs(x) + 0.1, y / 3) + cbrt(x) + sqrt(fabs(x)) + rsqrt(fabs(y) + 0.1) + hypot(x, y);
  sum += erf(y / 4) + erfc(x / 5) + lgamma(fabs(x) + 0.3) + tgamma(fabs(y) / 4 + 0.5);
  sum += atan2(x, y) + asin(x / 100) + acosh(fabs(x) + 1.5) + sinh(y / 8) + tanh(x / 5);
  out[i] = sum + fmod(x, 1.7) + remainder(y, 0.9) + normcdf(x / 9) + j0(x) + x / y;
}

extern "C" __global__ void float_functions(const float* in, float* out, int n) {
  AT;
  const float x = in[i] + static_cast<float>(i) * 0.37f / static_cast<float>(n);
  const float y = in[(i + 1) % 1024] + 0.1f;
  float sum = sinf(x * 50) + cosf(x * 3000) + tanf(x / 8) + expf(-x * x / 20) + exp2f(y);
  sum += logf(fabsf(x) + 1e-3f) + log10f(fabsf(x) + 2) + powf(fabsf(x) + 0.1f, y / 3) + cbrtf(x);
  sum += erff(y / 4) + lgammaf(fabsf(x) + 0.3f) + atan2f(x, y) + asinhf(y) + tanhf(x / 5);
  sum +=
      __sinf(x / 9) + __expf(y / 9) + __logf(fabsf(y) + 2) + __fdividef(x, y + 20) + rsqrtf(9 + x);
  out[i] = sum + fmodf(x, 1.7f) + normcdff(x / 9) + x / y + sqrtf(fabsf(y));
}

// Each of these has one right answer.
extern "C" __global__ void rounded(const float* in, double* out, int n) {
  AT;
  const float x = in[i] + static_cast<float>(i) / static_cast<float>(n),
              y = in[(i + 3) % 1024] + 0.7f;
  double sum = __fadd_rd(x, y) + 3.0 * __fadd_ru(x, y) + 5.0 * __fmul_rz(x, y);
  sum += 7.0 * __fmaf_ru(x, y, 0.1f) + 11.0 * __fdiv_rd(x, y) + 13.0 * __fsqrt_ru(fabsf(x));
  sum += 17.0 * __frcp_rz(y) + __double2float_rd(x * 1.1) + __float2int_ru(x) + rintf(y * 3);
  sum += __dadd_ru(x, y * 0.1) + __dmul_rd(x, y * 0.3) + __fma_rz(x, y, 0.2) + __ddiv_ru(x, y);
  sum += __dsqrt_rd(fabs(static_cast<double>(y))) + __drcp_ru(y) +
         ldexp(static_cast<double>(x), i % 7);
  int exponent;
  sum += frexp(static_cast<double>(y), &exponent) + exponent + nextafterf(x, y) + truncf(x * 9);
  out[i] = sum + __ll2double_rz(__double_as_longlong(sum) >> 3) * 1e-15 +
           __uint2float_rd(i * 77777u) + __saturatef(x) + copysignf(y, x) + fdimf(x, y) +
           roundf(y * 2.5f) + llrintf(x * 7.5f);
}

extern "C" __global__ void half_pairs(const __half2* in, __half2* out, int n) {
  AT;
  const __half2 x = in[i], y = in[(i + n) % 512], one = __floats2half2_rn(1.f, 2.f);
  __half2 sum = __hfma2(x, y, one);
  sum = __hadd2(sum, __hmul2_sat(x, y));
  sum = __hsub2(sum, __hmax2(x, __hneg2(y)));
  sum = __hadd2(sum, __hfma2_relu(y, x, one));
  sum = __hadd2(sum, __habs2(__hmin2(x, y)));
  sum = __hadd2(sum, __hgt2(x, y));
  sum = __hadd2(sum, __h2div(x, one));
  sum = __hadd2(sum, h2rint(__hmul2(y, __float2half2_rn(0.3f))));
  sum = __hadd2(sum, __lowhigh2highlow(x));
  const __half low = __hfma(__low2half(x), __high2half(y), __float2half(0.5f));
  out[i] = __hadd2(sum, __halves2half2(low, __hge(low, __low2half(y)) ? __high2half(x) : low));
}

extern "C" __global__ void bfloat_pairs(const int* in, __nv_bfloat162* out, int n) {
  AT;
  const __nv_bfloat162 x =
      __floats2bfloat162_rn(static_cast<float>(in[i]), static_cast<float>(in[(i + n) % 512]));
  const __nv_bfloat162 y = __float2bfloat162_rn(static_cast<float>(in[(i + 7) % 512]) + 0.25f);
  __nv_bfloat162 sum = __hfma2(x, y, y);
  sum = __hadd2(sum, __hmul2(x, y));
  sum = __hsub2(sum, __hmax2(x, __hneg2(y)));
  sum = __hadd2(sum, __habs2(__hmin2(x, y)));
  sum = __hadd2(sum, __hle2(x, y));
  const float wide = __low2float(x) * 1.7f + __high2float(y);
  sum = __hadd2(sum, __floats2bfloat162_rn(wide, __bfloat162float(__float2bfloat16_rz(wide * 3))));
  out[i] =
      __hadd2(sum, __halves2bfloat162(__float2bfloat16_ru(wide), __int2bfloat16_rn(in[i] * 37)));
}

extern "C" __global__ void half_dot(const __half2* in, float* out, int n) {
  __shared__ float partial[256];
  AT;
  __half2 sum = __float2half2_rn(0.f);
  for (int k = 0; k < n; ++k) sum = __hfma2(in[(i + k * 64) % 512], in[(i + k) % 512], sum);
  partial[t] = __low2float(sum) + __high2float(sum);
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = partial[0];
}
