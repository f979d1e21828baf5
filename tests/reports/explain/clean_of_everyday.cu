// SPDX-License-Identifier: MIT
// Well-written kernels that come near to a rule.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <stdint.h>
namespace cg = cooperative_groups;

// The classical sum of a block, neighbours last.
__global__ void tree_sum(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  float v = 0.0f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) v += in[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int h = 128; h > 0; h >>= 1) {
    if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

// Seven points, marching along z with the planes above and below in registers.
__global__ void laplace_3d(const float* __restrict__ in, float* __restrict__ out, int nx, int plane,
                           int depth) {
  __shared__ float tile[10][34];
  const int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  const int at = (blockIdx.y * 8 + ly) * nx + blockIdx.x * 32 + lx + 31;
  float below = in[at], here = in[at + plane];
  for (int z = 1; z < depth - 1; ++z) {
    const float above = in[at + (z + 1) * plane];
    __syncthreads();
    tile[ly][lx] = here;
    if (threadIdx.y == 0) tile[0][lx] = in[at + z * plane - nx];
    if (threadIdx.y == 7) tile[9][lx] = in[at + z * plane + nx];
    if (threadIdx.x == 0) tile[ly][0] = in[at + z * plane - 1];
    if (threadIdx.x == 31) tile[ly][33] = in[at + z * plane + 1];
    __syncthreads();
    out[at + z * plane] = above + below + tile[ly - 1][lx] + tile[ly + 1][lx] + tile[ly][lx - 1] +
                          tile[ly][lx + 1] - 6.0f * here;
    below = here;
    here = above;
  }
}

__global__ void daxpy(double a, const double* __restrict__ x, double* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// Bias of a channel, channels last.
__global__ void add_bias(const float* __restrict__ x, const float* __restrict__ bias,
                         float* __restrict__ y, int channels, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(0.0f, x[i] + bias[i % channels]);
}

// Eight lanes a row of 32.
__global__ void short_rows(const float4* __restrict__ in, float* __restrict__ out) {
  auto group = cg::tiled_partition<8>(cg::this_thread_block());
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
  const float4 v = in[row * 8 + group.thread_rank()];
  float sum = v.x + v.y + v.z + v.w;
  for (int d = 4; d > 0; d >>= 1) sum += group.shfl_xor(sum, d);
  if (group.thread_rank() == 0) out[row] = sum;
}

// Cross entropy: a warp a row, one logit of it looked up.
__global__ void cross_entropy(const float4* __restrict__ logits, const int* __restrict__ target,
                              float* __restrict__ loss, int cols4) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  float top = -1e30f, sum = 0.0f;
  for (int c = threadIdx.x; c < cols4; c += 32) {
    const float4 v = logits[row * cols4 + c];
    const float m = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)), next = fmaxf(top, m);
    sum = sum * __expf(top - next) + __expf(v.x - next) + __expf(v.y - next) + __expf(v.z - next) +
          __expf(v.w - next);
    top = next;
  }
  for (int d = 16; d > 0; d >>= 1) {
    const float t = __shfl_xor_sync(0xffffffffu, top, d), s = __shfl_xor_sync(0xffffffffu, sum, d),
                next = fmaxf(top, t);
    sum = sum * __expf(top - next) + s * __expf(t - next);
    top = next;
  }
  if (threadIdx.x == 0) {
    const float own = reinterpret_cast<const float*>(logits)[row * cols4 * 4 + target[row]];
    loss[row] = __logf(sum) + top - own;
  }
}

// Four by four matrices, an array an element.
__global__ void determinants(const float* __restrict__ m, float* __restrict__ det, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) a[k] = m[k * n + i];
  det[i] = a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
           a[2] * (a[3] * a[7] - a[4] * a[6]);
}

// A table of 256 words in shared memory, at places that the data say.
__global__ void map_levels(const uchar4* __restrict__ in, uchar4* __restrict__ out,
                           const uint8_t* __restrict__ table, int n4) {
  __shared__ uint32_t levels[256];
  levels[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n4; i += gridDim.x * 256) {
    const uchar4 p = in[i];
    out[i] = make_uchar4(levels[p.x], levels[p.y], levels[p.z], levels[p.w]);
  }
}

__global__ void to_planes(const uchar4* __restrict__ in, float* __restrict__ r,
                          float* __restrict__ g, float* __restrict__ b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uchar4 p = in[i];
  constexpr float unit = 1.0f / 255.0f;
  r[i] = p.x * unit;
  g[i] = p.y * unit;
  b[i] = p.z * unit;
}

// A warp reserves places for all its lanes at once.
__global__ void filter_positive(const int* __restrict__ in, int* __restrict__ out,
                                int* __restrict__ count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = i < n ? in[i] : 0;
  const unsigned keep = __ballot_sync(0xffffffffu, v > 0), lane = threadIdx.x & 31;
  int base = 0;
  if (lane == 0 && keep) base = atomicAdd(count, __popc(keep));
  base = __shfl_sync(0xffffffffu, base, 0);
  if (v > 0) out[base + __popc(keep & ((1u << lane) - 1))] = v;
}

__global__ void clip(float* __restrict__ v, float low, float high, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float x = v[i];
    if (x < low)
      v[i] = low;
    else if (x > high)
      v[i] = high;
  }
}

__global__ void squared_norm_half(const __half2* __restrict__ x, float* __restrict__ out, int n2) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n2; i += gridDim.x * blockDim.x) {
    const float2 v = __half22float2(x[i]);
    sum += v.x * v.x + v.y * v.y;
  }
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
  __shared__ float warps[8];
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) sum += warps[w];
    atomicAdd(out, sum);
  }
}
