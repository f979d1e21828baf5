// SPDX-License-Identifier: MIT
// Variables and elements of arrays that are not set on every path. --check finds those that matter
// (a comment says on which line), and nothing in the others.
#include <cuda_fp16.h>
__global__ void branch(int* out, const int* in, int n) {
  int i = threadIdx.x, x;
  if (i < n) x = in[i];
  out[i] = x * 3 + 1;  // ! uninitialised read
}
__global__ void branch_same(int* out, const int* in, int n) {
  int i = threadIdx.x, x;
  const bool has = in[i] > n;
  if (has) x = in[i + 1] * 3;
  __syncthreads();
  out[i] = 1;
  __syncthreads();
  if (has) out[i] = x;
}
__global__ void maximum(int* out, const int* in, int n) {
  int i = threadIdx.x, best;
  for (int k = 0; k < n; ++k) {
    if (in[k] > i) best = in[k];
  }
  out[i] = best;  // ! uninitialised read
}
__global__ void maximum_found(int* out, const int* in, int n) {
  int i = threadIdx.x, best;
  bool found = false;
  for (int k = 0; k < n; ++k) {
    if (in[k] > i) {
      best = in[k];
      found = true;
    }
  }
  out[i] = found ? best : -1;
}
__global__ void cases(int* out, const int* in) {
  int i = threadIdx.x, x;
  switch (in[i] & 3) {
    case 0:
      x = in[i + 1];
      break;
    case 1:
      x = in[i + 2];
      break;
    case 2:
      x = in[i] * 7;
      break;
  }
  out[i] = x;  // ! uninitialised read
}
__global__ void cases_twice(int* out, const int* in) {
  int i = threadIdx.x, a, b;
  const int m = in[i] % 3;
  if (m == 0) a = in[i + 1];
  if (m == 1) b = in[i + 2];
  __syncthreads();
  out[i] = m == 0 ? a : m == 1 ? b : 5;
}
__global__ void total(float* out, const float* in, int n) {
  int i = threadIdx.x;
  float sum;
  for (int k = 0; k < n; ++k) sum += in[k * 32 + i];
  out[i] = sum;  // ! uninitialised read
}
__global__ void pipeline(float* out, const float* in, int n) {
  int i = threadIdx.x;
  float now, next;
  if (n > 0) now = in[i];
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n) next = in[(k + 1) * 32 + i];
    out[k * 32 + i] = now * 2;
    now = next;
  }
}
__global__ void warp_sum(int* out, const int* in, int n) {
  int i = threadIdx.x, v;
  if (i < n) v = in[i];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (i == 0) out[0] = v;  // ! uninitialised read
}
__global__ void neighbour(int* out, const int* in, int n) {
  int i = threadIdx.x, v;
  if (i < n) v = in[i];
  const int left = __shfl_up_sync(~0u, v, 1);
  if (i > 0 && i < n) out[i] = v + left;
}
__global__ void endless(int* out, const int* in, int n) {
  int i = threadIdx.x, k;
  if (i < n) k = in[i];
  while (k < 20) k = k * 2 + 1;  // ! uninitialised read
  out[i] = k;
}
__global__ void early(int* out, const int* in) {
  int i = threadIdx.x, x;
  if (in[i] > 0) x = in[i + 1];
  if (in[i] <= 0) return;
  out[i] = x;
}
__global__ void adds(int* out, const int* in, int n) {
  int i = threadIdx.x, v;
  if (i < n) v = in[i];
  atomicAdd(out + (i & 3), v);  // ! uninitialised read
}
__global__ void unrolled(int* out, const int* in, int n) {
  int i = threadIdx.x, r[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if (i + k * 32 < n) r[k] = in[i + k * 32];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if (i + k * 32 < n) out[i + k * 32] = r[k];
  }
}
__device__ __noinline__ int plus(int a, int b, bool both) { return both ? a + b : a; }
__global__ void passes(int* out, const int* in, int n) {
  int i = threadIdx.x, b;
  if (i < n) b = in[i + 1];
  out[i] = plus(in[i], b, i < n + 3);  // ! uninitialised read
}
__global__ void passes_unused(int* out, const int* in, int n) {
  int i = threadIdx.x, b;
  if (i < n) b = in[i + 1];
  out[i] = plus(in[i], b, i < n);
}
struct Fields {
  unsigned a : 4, b : 12, c : 16;
};
__global__ void fields(unsigned* out, const int* in, int n) {
  int i = threadIdx.x;
  Fields s;
  s.a = in[i];
  if (i < n) s.b = in[i + 1];
  __syncthreads();
  out[i] = i < n ? s.b : s.a;
}
struct alignas(16) Point {
  float x, y, z;
};
__global__ void padding(Point* out, const Point* in, int n) {
  int i = threadIdx.x;
  Point p;
  if (i < n) {
    p = in[i];
  } else {
    p.x = 1, p.y = i, p.z = 3;
  }
  out[i] = p;
}
__global__ void halves(__half2* out, const __half* in, int n) {
  int i = threadIdx.x;
  __half2 h;
  h.x = in[i];
  if (i < n) h.y = in[i + 32];
  out[i] = i < n ? h : __half2half2(h.x);
}
__global__ void array(int* out, const int* in, int n) {
  int a[16];
  for (int i = 0; i < n; ++i) a[i] = in[i];
  out[threadIdx.x] = a[threadIdx.x & 15];  // ! uninitialised read
}
__global__ void array_within(int* out, const int* in, int n) {
  int a[16];
  for (int i = 0; i < n; ++i) a[i] = in[i];
  out[threadIdx.x] = a[threadIdx.x % n];
}
__global__ void sorted(int* out, const int* in) {
  int a[16], m = in[threadIdx.x] % 8;
  for (int i = 0; i < m; ++i) a[i] = in[i * 7 % 5];
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j + 1 < m - i; ++j) {
      if (a[j] > a[j + 1]) {
        const int other = a[j];
        a[j] = a[j + 1];
        a[j + 1] = other;
      }
    }
  }
  out[threadIdx.x] = m > 0 ? a[m - 1] : 0;
}
struct Maybe {
  int v[3];
  bool has;
};
__device__ __forceinline__ void fill(Maybe* a, const int* in) {
  for (int i = 0; i < 4; ++i) {
    a[i].has = false;
    if ((in[i] & 1) == 0) continue;
    a[i].has = true;
    a[i].v[0] = i, a[i].v[1] = in[i], a[i].v[2] = 7;
  }
}
__global__ void maybe(int* out, const int* in, int n) {
  Maybe a[4];
  fill(a, in);
  const Maybe copied = a[threadIdx.x & 3];
  a[(threadIdx.x + 1) & 3] = copied;
  const int k = in[threadIdx.x] & 3;
  out[threadIdx.x] = a[k].v[n % 3];  // ! uninitialised read
}
__global__ void maybe_asked(int* out, const int* in, int n) {
  Maybe a[4];
  fill(a, in);
  const Maybe copied = a[threadIdx.x & 3];
  a[(threadIdx.x + 1) & 3] = copied;
  const int k = in[threadIdx.x] & 3;
  out[threadIdx.x] = a[k].has ? a[k].v[n % 3] : -1;
}
__device__ __noinline__ int deep(int depth, int k) {
  int a[4];
  if (depth > 2) a[0] = depth, a[1] = depth, a[2] = k, a[3] = depth + 1;
  if (depth == 0) return a[k & 3];
  return deep(depth - 1, k) + (depth > 2 ? a[k & 3] : 0);
}
__global__ void recursion(int* out, const int* in) {
  out[threadIdx.x] = deep(5, in[threadIdx.x]);  // ! uninitialised read
}
