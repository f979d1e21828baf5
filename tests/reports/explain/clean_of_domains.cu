// SPDX-License-Identifier: MIT
// Kernels of many domains without a fault worth mending, some of which look as though they had one.
#include <cuda_runtime.h>
__device__ __forceinline__ float warp_sum(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

// ---------------------------------------------------------------- images turned, by a padded and a
// swizzled tile
__global__ void transpose_padded(float* out, const float* in, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transpose_swizzled(float* out, const float* in, int n) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    int r = threadIdx.y + j;
    tile[r][threadIdx.x ^ r] = in[(y + j) * n + x];
  }
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    int c = threadIdx.y + j;
    out[(y + j) * n + x] = tile[threadIdx.x][c ^ threadIdx.x];
  }
}

// ---------------------------------------------------------------- text: capitals, sixteen letters
// at once
__device__ __forceinline__ unsigned upper4(unsigned w) {
  unsigned small = __vcmpgeu4(w, 0x61616161u) & __vcmpleu4(w, 0x7a7a7a7au);
  return w ^ (small & 0x20202020u);
}

__global__ void upper_words(unsigned* out, const unsigned* text, int n16) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n16) return;
  uint4 w = reinterpret_cast<const uint4*>(text)[i];
  w.x = upper4(w.x);
  w.y = upper4(w.y);
  w.z = upper4(w.z);
  w.w = upper4(w.w);
  reinterpret_cast<uint4*>(out)[i] = w;
}

// ---------------------------------------------------------------- vectors, and what is left over
__global__ void axpy_vector(float* y, const float* x, float a, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  int n4 = n / 4;
  float4* y4 = reinterpret_cast<float4*>(y);
  const float4* x4 = reinterpret_cast<const float4*>(x);
  for (int i = id; i < n4; i += all) {
    float4 u = x4[i], v = y4[i];
    v.x += a * u.x;
    v.y += a * u.y;
    v.z += a * u.z;
    v.w += a * u.w;
    y4[i] = v;
  }
  if (id < n - 4 * n4) y[4 * n4 + id] += a * x[4 * n4 + id];
}

// ---------------------------------------------------------------- FIR filter with a halo in shared
// memory
__constant__ float fir_taps[9] = {.05f, .08f, .12f, .16f, .18f, .16f, .12f, .08f, .05f};

__global__ void fir_halo(float* out, const float* in, int n) {
  __shared__ float buffer[256 + 8];
  int t = threadIdx.x, base = blockIdx.x * 256;
  buffer[t + 4] = in[base + t];
  if (t < 8) {
    int j = t < 4 ? t - 4 : 252 + t;
    int at = base + j;
    buffer[j + 4] = at >= 0 && at < n ? in[at] : 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 9; ++k) sum += fir_taps[k] * buffer[t + k];
  out[base + t] = sum;
}

// ---------------------------------------------------------------- a recursive filter down the
// columns
__global__ void iir_columns(float* __restrict__ out, const float* __restrict__ in, float a,
                            int columns, int rows) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  float y = 0.0f;
#pragma unroll 4
  for (int r = 0; r < rows; ++r) {
    y = a * y + (1.0f - a) * in[r * columns + x];
    out[r * columns + x] = y;
  }
}

// ---------------------------------------------------------------- dot product: one atomic addition
// a block
__global__ void dot_blocks(float* result, const float* a, const float* b, int n) {
  __shared__ float parts[8];
  float sum = 0.0f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += a[i] * b[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0.0f;
    for (int w = 0; w < 8; ++w) all += parts[w];
    atomicAdd(result, all);
  }
}

// ---------------------------------------------------------------- norm: the last block adds up
__device__ float block_sum(float v, float* parts) {
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < 8 ? parts[threadIdx.x] : 0.0f;
  if (threadIdx.x < 32) v = warp_sum(v);
  return v;
}

__global__ void norm_last_block(float* norm, float* partial, unsigned* ticket, const float* x,
                                int n) {
  __shared__ float parts[8];
  __shared__ bool last;
  float sum = 0.0f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[i] * x[i];
  sum = block_sum(sum, parts);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  sum = 0.0f;
  for (int b = threadIdx.x; b < (int)gridDim.x; b += 256) sum += ((volatile float*)partial)[b];
  __syncthreads();
  sum = block_sum(sum, parts);
  if (threadIdx.x == 0) {
    *norm = sqrtf(sum);
    *ticket = 0;
  }
}

// ---------------------------------------------------------------- how many exceed a limit: warps
// vote
__global__ void count_above(unsigned* count, const float* x, float limit, int n) {
  __shared__ unsigned found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  unsigned mine = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    mine += __popc(__ballot_sync(0xffffffffu, x[i] > limit));
  if (threadIdx.x % 32 == 0) atomicAdd(&found, mine);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(count, found);
}

// ---------------------------------------------------------------- histogram: a column of counters
// for each thread
__global__ void private_counters(int* partial, const int* codes, int n) {
  __shared__ int counters[8][256];
  __shared__ int sums[8];
  int t = threadIdx.x;
#pragma unroll
  for (int b = 0; b < 8; ++b) counters[b][t] = 0;
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) counters[codes[i]][t]++;
  __syncthreads();
  int lane = t % 32, warp = t / 32, sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += counters[warp][lane + 32 * k];
  sum = __reduce_add_sync(0xffffffffu, sum);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (t < 8) partial[blockIdx.x * 8 + t] = sums[t];
}

// ---------------------------------------------------------------- density estimate: all lanes read
// one word of the tile
__global__ void density(float* out, const float* x, const float* sample, float width) {
  __shared__ float tile[32];
  int i = blockIdx.x * 256 + threadIdx.x;
  if (threadIdx.x < 32) tile[threadIdx.x] = sample[threadIdx.x];
  __syncthreads();
  float at = x[i], sum = 0.0f;
#pragma unroll 8
  for (int j = 0; j < 32; ++j) {
    float d = (at - tile[j]) * width;
    sum += exp2f(-d * d);
  }
  out[i] = sum;
}

// ---------------------------------------------------------------- physics: vapour pressure,
// coefficients in constant memory
__constant__ float vapour[8] = {6.11f,    .4438f,   .0143f,   2.65e-4f,
                                3.02e-6f, 2.04e-8f, 6.4e-11f, 1e-13f};

__global__ void vapour_pressure(float* p, const float* temperature, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t = temperature[i], sum = 0.0f;
  for (int k = 7; k >= 0; --k) sum = sum * t + vapour[k];
  p[i] = sum;
}

// ---------------------------------------------------------------- doubles that are meant
__global__ void relax(double* next, const double* now, const double* source, double omega, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) next[i] = (1.0 - omega) * now[i] + 0.5 * omega * source[i];
}

__global__ void exact_sums(double* sums, const float* x, int n) {
  __shared__ double parts[8];
  double sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) sum += parts[w];
    sums[blockIdx.x] = sum;
  }
}

// ---------------------------------------------------------------- image whose width is no multiple
// of the block's
__global__ void tone_curve(float* out, const float* image, float exponent, int width, int height) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= width || y >= height) return;
  out[y * width + x] = __powf(image[y * width + x], exponent);
}

// ---------------------------------------------------------------- prefix sums of blocks by
// shuffles
__global__ void scan_blocks(int* out, const int* in) {
  __shared__ int warps[8];
  int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int v = in[i];
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    int u = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += u;
  }
  if (lane == 31) warps[warp] = v;
  __syncthreads();
  int before = 0;
#pragma unroll
  for (int w = 0; w < 7; ++w) before += w < warp ? warps[w] : 0;
  out[i] = v + before;
}

// ---------------------------------------------------------------- softmax, a row of 128 for each
// warp
__global__ void softmax_rows(float* out, const float* in) {
  int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  float4 v = reinterpret_cast<const float4*>(in)[row * 32 + lane];
  float top = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
  for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
  v.x = __expf(v.x - top);
  v.y = __expf(v.y - top);
  v.z = __expf(v.z - top);
  v.w = __expf(v.w - top);
  float scale = __fdividef(1.0f, warp_sum(v.x + v.y + v.z + v.w));
  v.x *= scale;
  v.y *= scale;
  v.z *= scale;
  v.w *= scale;
  reinterpret_cast<float4*>(out)[row * 32 + lane] = v;
}

// ---------------------------------------------------------------- finance: options, floats
// throughout
__device__ __forceinline__ float cdf(float d) {
  float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(d));
  float tail =
      0.39894228f * __expf(-0.5f * d * d) * k *
      (0.31938153f + k * (-0.35656378f + k * (1.7814779f + k * (-1.8212559f + k * 1.3302744f))));
  return d > 0 ? 1.0f - tail : tail;
}

__global__ void price_options(float* __restrict__ call, float* __restrict__ put,
                              const float* __restrict__ spot, const float* __restrict__ strike,
                              const float* __restrict__ years, float rate, float sigma, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = spot[i], k = strike[i], t = years[i];
  float root = sigma * __fsqrt_rn(t);
  float d1 = __fdividef(__logf(__fdividef(s, k)) + (rate + 0.5f * sigma * sigma) * t, root);
  float discounted = k * __expf(-rate * t);
  float c = s * cdf(d1) - discounted * cdf(d1 - root);
  call[i] = c;
  put[i] = c - s + discounted;
}

// ---------------------------------------------------------------- Monte Carlo: pi, no input at all
__global__ void throw_darts(unsigned* hits, int rounds) {
  __shared__ unsigned parts[8];
  unsigned id = blockIdx.x * 256 + threadIdx.x, state = id * 2654435761u + 12345u, inside = 0;
  for (int r = 0; r < rounds; ++r) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    float x = (state & 0xffff) * (1.0f / 65536), y = (state >> 16) * (1.0f / 65536);
    if (x * x + y * y < 1.0f) ++inside;
  }
  inside = __reduce_add_sync(0xffffffffu, inside);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = inside;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) inside += parts[w];
    hits[blockIdx.x] = inside;
  }
}

// ---------------------------------------------------------------- particles: arrays of structs,
// but of 16 bytes
__global__ void move_particles(float* place, float* speed, float dt, float wall) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 p = reinterpret_cast<float4*>(place)[i];
  float4 v = reinterpret_cast<float4*>(speed)[i];
  p.x += dt * v.x;
  p.y += dt * v.y;
  p.z += dt * v.z;
  if (p.x > wall) v.x = -v.x;
  if (p.y > wall) v.y = -v.y;
  if (p.z > wall) v.z = -v.z;
  reinterpret_cast<float4*>(place)[i] = p;
  reinterpret_cast<float4*>(speed)[i] = v;
}

// ---------------------------------------------------------------- spectra: complex products
__global__ void multiply_spectra(float2* out, const float2* a, const float2* b, float scale,
                                 int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float2 u = a[i], v = b[i];
    out[i] = make_float2(scale * (u.x * v.x - u.y * v.y), scale * (u.x * v.y + u.y * v.x));
  }
}

// ---------------------------------------------------------------- genetics: differences of packed
// sequences
__global__ void differences(int* out, const unsigned* a, const unsigned* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 u = reinterpret_cast<const uint4*>(a)[i], v = reinterpret_cast<const uint4*>(b)[i];
  out[i] = __popc(u.x ^ v.x) + __popc(u.y ^ v.y) + __popc(u.z ^ v.z) + __popc(u.w ^ v.w);
}

// ---------------------------------------------------------------- image to bits: lane k keeps the
// k-th vote
__global__ void to_bits(unsigned* bits, const float* image, float limit) {
  int warp = (blockIdx.x * 256 + threadIdx.x) / 32, lane = threadIdx.x % 32;
  unsigned word = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    unsigned vote = __ballot_sync(0xffffffffu, image[(warp * 16 + k) * 32 + lane] > limit);
    if (lane == k) word = vote;
  }
  if (lane < 16) bits[warp * 16 + lane] = word;
}

// ---------------------------------------------------------------- warps with roles of their own
__global__ void two_roles(float* out, const float* in, float step, int terms) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float v = in[i], sum = 0.0f;
  if (threadIdx.x / 32 % 2 == 0) {
    for (int k = 1; k <= terms; ++k) sum += v * __sinf(k * step);
  } else {
    for (int k = 1; k <= terms; ++k) sum += v * __cosf(k * step);
  }
  out[i] = sum;
}

// ---------------------------------------------------------------- 3 x 3 matrices in registers
__global__ void adjugates(float* __restrict__ out, const float* __restrict__ in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float m[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) m[k] = in[k * n + i];
#pragma unroll
  for (int r = 0; r < 3; ++r)
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      const int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
      out[(c * 3 + r) * n + i] = m[r1 * 3 + c1] * m[r2 * 3 + c2] - m[r1 * 3 + c2] * m[r2 * 3 + c1];
    }
}

// ---------------------------------------------------------------- matrix times vector: a warp per
// row, the vector shared
__global__ void matrix_vector(float* y, const float* matrix, const float* x) {
  __shared__ __align__(16) float shared_x[256];
  shared_x[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  int lane = threadIdx.x % 32, warp = blockIdx.x * 8 + threadIdx.x / 32;
  float4 u = reinterpret_cast<float4*>(shared_x)[lane],
         v = reinterpret_cast<float4*>(shared_x)[lane + 32];
  const float4* rows = reinterpret_cast<const float4*>(matrix) + warp * 4 * 64;
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    float4 a = rows[r * 64 + lane], b = rows[r * 64 + lane + 32];
    float sum = a.x * u.x + a.y * u.y + a.z * u.z + a.w * u.w + b.x * v.x + b.y * v.y + b.z * v.z +
                b.w * v.w;
    sum = warp_sum(sum);
    if (lane == 0) y[warp * 4 + r] = sum;
  }
}

// ---------------------------------------------------------------- sort 32 in a warp
__global__ void sort_warps(int* out, const int* in) {
  int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x & 31;
  int v = in[i];
#pragma unroll
  for (int k = 2; k <= 32; k *= 2)
#pragma unroll
    for (int j = k / 2; j > 0; j /= 2) {
      int u = __shfl_xor_sync(0xffffffffu, v, j);
      bool up = (lane & k) == 0, first = (lane & j) == 0;
      v = up == first ? min(v, u) : max(v, u);
    }
  out[i] = v;
}

// ---------------------------------------------------------------- graphs: values by an index that
// is in order
__global__ void gather_sorted(float* out, const float* rank, const int* vertex, const float* degree,
                              int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __fdividef(rank[vertex[i]], degree[i]);
}
