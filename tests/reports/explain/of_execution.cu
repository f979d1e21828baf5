// SPDX-License-Identifier: MIT
// The other kinds: narrow accesses, divergence, atomics, local memory, doubles, launches.
#include <cuda_fp16.h>
#include <cstdint>
// ---- narrow
__global__ void threshold(uint8_t* bin, const uint8_t* grey, int n, uint8_t t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) bin[i] = grey[i] > t ? 255 : 0;  // cause: threshold
}

__global__ void haxpy(__half* y, const __half* x, __half a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma(a, x[i], y[i]);  // cause: haxpy
}

// int8 weights to floats, with a scale for each column of 64.
__global__ void dequant(float* w, const int8_t* q, const float* scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  w[i] = scale[i / 64] * q[i];  // cause: dequant
}

__global__ void to_upper(char* s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  char c = s[i];  // cause: to_upper
  bool small = c >= 'a' && c <= 'z';
  s[i] = small ? c - 32 : c;  // cause: to_upper
}

struct RGBA {
  unsigned char r, g, b, a;
};
__global__ void luma(float* out, const RGBA* px, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float r = px[i].r;  // cause: luma
  float g = px[i].g;  // cause: luma
  float b = px[i].b;  // cause: luma
  float a = px[i].a;  // cause: luma
  out[i] = (0.25f * r + 0.5f * g + 0.25f * b) * a;
}

__global__ void mix(short* out, const short* l, const short* r) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = (l[i] + r[i]) / 2;  // cause: mix
}

// ---- divergence
// First reduction of the slides.
__global__ void reduce_modulo(int* out, const int* in) {
  __shared__ int s[256];
  int tid = threadIdx.x;
  s[tid] = in[blockIdx.x * 256 + tid];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    if (tid % (2 * d) == 0) {  // cause: reduce_modulo
      s[tid] += s[tid + d];
    }
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = s[0];
}

__global__ void mandel(int* iters, int w, float x0, float y0, float step, int limit) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  float cx = x0 + px * step, cy = y0 + py * step, x = 0, y = 0;
  int k = 0;
  while (k < limit && x * x + y * y < 4.f) {  // cause: mandel
    float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
    ++k;
  }
  iters[py * w + px] = k;
}

__global__ void collatz(int* steps, const int* start) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = start[i];
  int n = 0;
  while (v != 1) {  // cause: collatz
    v = v & 1 ? 3 * v + 1 : v >> 1;
    ++n;
  }
  steps[i] = n;
}

__global__ void every_third(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  if (i % 3 == 0) {  // cause: every_third
#pragma unroll 1
    for (int k = 0; k < 30; ++k) v = __sinf(v) + 0.5f * __cosf(v);
  }
  x[i] = v;
}

enum Kind { GAS, LIQUID, SOLID };
__device__ float gas(float t) {
#pragma unroll 1
  for (int k = 0; k < 20; ++k) t = t * 0.99f + __expf(-t);
  return t;
}
__device__ float liquid(float t) {
#pragma unroll 1
  for (int k = 0; k < 18; ++k) t = sqrtf(t * t + 0.3f);
  return t;
}
__device__ float solid(float t) {
#pragma unroll 1
  for (int k = 0; k < 25; ++k) t = fmaf(t, 0.5f, 2.f) / (1.f + t);
  return t;
}
__global__ void heat(float* temp, const int* kind) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float t = temp[i];
  int k = kind[i];
  if (k == GAS)  // cause: heat
    t = gas(t);
  else if (k == LIQUID)  // cause: heat
    t = liquid(t);
  else
    t = solid(t);
  temp[i] = t;
}

// ---- atomics
__global__ void dot_atomic(float* result, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float p = a[i] * b[i];
    atomicAdd(result, p);  // cause: dot_atomic
  }
}

__global__ void compact(int* out, int* count, const int* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) {
    int at = atomicAdd(count, 1);  // cause: compact
    out[at] = in[i];
  }
}

// A dark picture: most pixels fall into four bins.
__global__ void histogram_dark(unsigned* hist, const uchar4* img, int per_thread) {
  __shared__ unsigned h[256];
  h[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < per_thread; ++k) {
    uchar4 p = img[(blockIdx.x * per_thread + k) * 256 + threadIdx.x];
    atomicAdd(&h[p.x], 1);  // equal addresses add up: no fault
    atomicAdd(&h[p.y], 1);  // equal addresses add up: no fault
    atomicAdd(&h[p.z], 1);  // equal addresses add up: no fault
    atomicAdd(&h[p.w], 1);  // equal addresses add up: no fault
  }
  __syncthreads();
  atomicAdd(&hist[threadIdx.x], h[threadIdx.x]);
}

// Mass of particles by cell, four cells.
__global__ void deposit(float* rho, const float* x, float inv_dx, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int cell = (int)(x[i] * inv_dx);
    atomicAdd(&rho[cell], 1.0f - x[i]);  // cause: deposit
  }
}

// ---- local memory
__global__ void knn(int* out, const float* dist, int n, int k) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  float best[8];
  int id[8];
  for (int j = 0; j < 8; ++j) best[j] = 1e30f, id[j] = -1;
  for (int c = 0; c < n; ++c) {
    float d = dist[c * gridDim.x * blockDim.x + q];
    int at = k - 1;
    if (d >= best[at]) continue;          // cause: knn
    while (at > 0 && best[at - 1] > d) {  // cause: knn
      best[at] = best[at - 1];            // cause: knn
      id[at] = id[at - 1];                // cause: knn
      --at;
    }
    best[at] = d;  // cause: knn
    id[at] = c;    // cause: knn
  }
  out[q] = id[k - 1];  // cause: knn
}

// Depth-first walk of an implicit tree with a stack for each thread.
__global__ void walk(int* sum, int depth) {
  int stack[24];
  int top = 0, total = threadIdx.x;
  stack[top++] = 1;  // cause: walk
  while (top > 0) {
    int node = stack[--top];  // cause: walk
    total += node * 3 ^ total;
    if (node < (1 << depth)) {
      stack[top++] = 2 * node;      // cause: walk
      stack[top++] = 2 * node + 1;  // cause: walk
    }
  }
  sum[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

// A digit histogram of each thread.
__global__ void digits(int* out, const unsigned* keys, int per, int wanted) {
  int count[16] = {};  // cause: digits
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  for (int k = 0; k < per; ++k) count[keys[k * n + i] & 15]++;  // cause: digits
  out[i] = count[wanted];                                       // cause: digits
}

// ---- doubles
__global__ void sigmoid(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 1.0 / (1.0 + expf(-x[i]));  // cause: sigmoid
}

__global__ void to_grey(float* g, const float* r, const float* gr, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) g[i] = 0.299 * r[i] + 0.587 * gr[i] + 0.114 * b[i];  // cause: to_grey
}

#define PI 3.14159265358979
__global__ void phase(float* out, const float* w, float t, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float angle = 2 * PI * w[i] * t;  // cause: phase
    out[i] = __cosf(angle);
  }
}

// Lennard-Jones of pairs in shared memory; one constant is a double.
__global__ void lj(float* e, const float4* p) {
  __shared__ float4 s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  float4 me = p[i];
  s[threadIdx.x] = me;
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < 128; ++j) {
    float4 o = s[j];
    float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
    float r2 = dx * dx + dy * dy + dz * dz + 0.01;  // cause: lj
    float i2 = 1.f / r2, i6 = i2 * i2 * i2;
    sum += i6 * i6 - i6;
  }
  e[i] = sum;
}

// ---- launches
__global__ void scale4(float4* v, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 x = v[i];
    v[i] = make_float4(a * x.x, a * x.y, a * x.z, a * x.w);
  }
}

template <int T>
__global__ void block_max(float* out, const float* in, int n) {
  float m = -1e30f;
  for (int i = blockIdx.x * T + threadIdx.x; i < n; i += T * gridDim.x) m = fmaxf(m, in[i]);
  __shared__ float s[T / 32];
  for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = m;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < T / 32; ++w) m = fmaxf(m, s[w]);
    out[blockIdx.x] = m;
  }
}

// Blocks of 7 x 7.
__global__ void add2d(float* c, const float* a, const float* b) {
  int i = blockIdx.x * 49 + threadIdx.y * 7 + threadIdx.x;
  c[i] = a[i] + b[i];
}

__global__ void mul40(int* c, const int* a, const int* b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[i] * b[i];
}

__global__ void newton(float* r, const float* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = a[i], y = 1;
  for (int k = 0; k < 40; ++k) y = 0.5f * (y + __fdividef(x, y));
  r[i] = y;
}

// ---- the same, rewritten as the first finding says

__global__ void luma_vec(float* out, const uchar4* px, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uchar4 p = px[i];
  out[i] = (0.25f * p.x + 0.5f * p.y + 0.25f * p.z) * p.w;
}

__global__ void haxpy_vec(__half2* y, const __half2* x, __half a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma2(__half2half2(a), x[i], y[i]);
}
