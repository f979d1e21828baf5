// SPDX-License-Identifier: MIT
// Small floats, the mathematical functions of the toolkit, and bits.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
extern "C" {
__global__ void halves(float* out, const float* in) {
  const int i = threadIdx.x;
  const __half a = __float2half(in[i]), b = __float2half(in[i + 1]);
  const __half2 p = __halves2half2(a, b), q = __halves2half2(b, a);
  float* o = out + i * 16;
  o[0] = __half2float(__hadd(a, b));
  o[1] = __half2float(__hmul(a, b));
  o[2] = __half2float(__hfma(a, b, a));
  o[3] = __half2float(__hsub(a, b));
  o[4] = __half2float(__hdiv(a, b));
  o[5] = __half2float(__hmax(a, b));
  o[6] = __low2float(__hadd2(p, q));
  o[7] = __high2float(__hfma2(p, q, p));
  o[8] = __hlt(a, b);
  o[9] = __hbge2(p, q);
  o[10] = __half2float(hsqrt(__habs(a)));
  o[11] = __half2float(hexp(a));
  o[12] = __half2int_rn(a);
  o[13] = __half2float(__double2half(static_cast<double>(in[i])));
  o[14] = __half2float(__int2half_rn(__half2int_rz(a)));
  o[15] = __half2float(__hfma_relu(a, b, a));
}
__global__ void bfloats(float* out, const float* in) {
  const int i = threadIdx.x;
  const __nv_bfloat16 a = __float2bfloat16(in[i]), b = __float2bfloat16(in[i + 1]);
  const __nv_bfloat162 p(a, b), q(b, a);
  float* o = out + i * 8;
  o[0] = __bfloat162float(__hadd(a, b));
  o[1] = __bfloat162float(__hmul(a, b));
  o[2] = __bfloat162float(__hfma(a, b, a));
  o[3] = __bfloat162float(__hmin(a, b));
  o[4] = __low2float(__hsub2(p, q));
  o[5] = __heq(a, b);
  o[6] = __bfloat162float(__int2bfloat16_rn(static_cast<int>(in[i])));
  o[7] = __high2float(__habs2(q));
}
__global__ void bytes(float* out, const float* in) {
  const int i = threadIdx.x;
  const __nv_fp8_e4m3 a(in[i]);
  const __nv_fp8_e5m2 b(in[i]);
  out[2 * i] = static_cast<float>(a);
  out[2 * i + 1] = static_cast<float>(b);
}
__global__ void half_atomics(__half* h, __half2* h2, __nv_bfloat16* b, float2* f2) {
  atomicAdd(h, __float2half(1.0f));
  atomicAdd(h2, __float2half2_rn(0.5f));
  atomicAdd(b, __float2bfloat16(1.0f));
  atomicAdd(f2, make_float2(1.0f, 2.0f));
}
__global__ void functions(double* out, const double* in) {
  const int i = threadIdx.x;
  const double v = in[i], m = fabs(v) + 0.25;
  double* o = out + i * 16;
  o[0] = sin(v), o[1] = cos(v), o[2] = tan(v), o[3] = exp(v), o[4] = log(m), o[5] = pow(m, 1.7);
  o[6] = sqrt(m), o[7] = erf(v), o[8] = tgamma(m), o[9] = atan2(v, 2.0), o[10] = fmod(v, 0.7);
  o[11] = cbrt(v), o[12] = 1 / m, o[13] = sinh(v), o[14] = round(v), o[15] = hypot(v, 3.0);
}
__global__ void float_functions(float* out, const float* in) {
  const int i = threadIdx.x;
  const float v = in[i], m = fabsf(v) + 0.25f;
  float* o = out + i * 16;
  o[0] = sinf(v), o[1] = cosf(v), o[2] = tanf(v), o[3] = expf(v), o[4] = logf(m),
  o[5] = powf(m, 1.7f);
  o[6] = sqrtf(m), o[7] = erff(v), o[8] = tgammaf(m), o[9] = atan2f(v, 2.0f),
  o[10] = fmodf(v, 0.7f);
  o[11] = cbrtf(v), o[12] = 1 / m, o[13] = sinhf(v), o[14] = roundf(v), o[15] = hypotf(v, 3.0f);
}
__global__ void bits(unsigned* out, const unsigned* in) {
  const int i = threadIdx.x;
  const unsigned v = in[i], u = in[i + 1];
  unsigned* o = out + i * 16;
  o[0] = __popc(v), o[1] = __clz(v), o[2] = __ffs(v), o[3] = __brev(v), o[4] = __umulhi(v, u);
  o[5] = __funnelshift_l(v, u, 5), o[6] = __sad(v, u, 3), o[7] = __dp2a_lo(v, u, 2u);
  o[8] = __vabsdiffu4(v, u), o[9] = __vsadu4(v, u), o[10] = __vadd2(v, u), o[11] = __vmaxs2(v, u);
  o[12] = __vcmpgtu4(v, u), o[13] = __vavgu4(v, u), o[14] = __viaddmax_s32(v, u, 5);
  o[15] = static_cast<unsigned>(static_cast<unsigned __int128>(v) * u * u / (u | 1) >> 20);
}
}
