// SPDX-License-Identifier: MIT
// Kernels that between them use what nvcc has to say in PTX: the .ptx files beside this one were
// made from it with `nvcc -ptx -O3 -lineinfo -arch=compute_90` (and 100, the other generation of
// the compiler, whose text looks different).
#include <cstdio>
__device__ int table[3] = {1, 2, 3};
__device__ int* pointers[4] = {table, table + 1, nullptr, table + 2};
__constant__ float coefficients[2][3] = {{1.5f, 2, 3}, {4, 5, 6}};
struct Record {
  char tag;
  double weight;
  short parts[3];
  const char* name;
};
__device__ Record records[2] = {{'a', 1.25, {1, 2, 3}, "first"}, {'b', 2.5, {-4, 5, 6}, "\"\n"}};
__device__ int add_one(int x) { return x + 1; }
__device__ int twice(int x) { return x * 2; }
typedef int (*Step)(int);
__device__ Step steps[2] = {add_one, twice};
extern __shared__ float dynamic_tile[];

template <int N, class T>
__global__ void transpose(const T* __restrict__ from, T* to, int n) {
  __shared__ T tile[N][N + 1];
  const int x = blockIdx.x * N + threadIdx.x, y = blockIdx.y * N + threadIdx.y;
  if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = from[y * n + x];
  __syncthreads();
  if (x < n && y < n) to[x * n + y] = tile[threadIdx.x][threadIdx.y];
}
template __global__ void transpose<16, float>(const float*, float*, int);
template __global__ void transpose<32, double>(const double*, double*, int);

extern "C" __global__ void prints(int n) {
  printf("%d %s %f\n", n, records[n & 1].name, records[n].weight);
}

extern "C" __global__ void switches(int* o, int n) {
  int v = o[threadIdx.x];
  switch (n) {
    case 0:
      v += 3;
      break;
    case 1:
      v *= 7;
      o[1] = 2;
      break;
    case 2:
      v ^= n;
      o[5] = v;
      break;
    case 3:
      v = steps[v & 1](v);
      break;
    case 4:
      v /= n;
      o[9] = v;
      break;
    case 6:
      v = __popc(v);
      break;
    default:
      v = -1;
  }
  o[threadIdx.x] = v;
}

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
extern "C" __global__ void recurses(int* o) { o[threadIdx.x] = fibonacci(threadIdx.x); }

extern "C" __global__ void calls_through(int* o, Step step) {
  o[0] = step(o[1]);
  o[1] = steps[o[2]](3);
  *pointers[o[3]] = 4;
}

extern "C" __global__ void assembles(int* o) {
  int r, q;
  asm volatile(
      "{ .reg .pred p; .reg .u32 t<3>;\n setp.ne.u32 p, %1, 0;\n"
      " @p mov.u32 t0, 4; @!p mov.u32 t0, 0x5;\n add.u32 %0, t0, %1; }"
      : "=r"(r)
      : "r"(o[1]));
  asm volatile(
      "{ .reg .pred p; .reg .b64 t<3>; .reg .u32 u;\n setp.eq.u32 p, %1, 0;\n @p bra L1;\n"
      " mov.u32 u, 3; bra.uni L2; L1: mov.u32 u, 2; L2: cvt.u64.u32 t0, u;\n"
      " cvt.u32.u64 u, t0; add.u32 %0, u, %1; }"
      : "=r"(q)
      : "r"(o[2]));
  asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 1; @p bra L1; mov.u32 %0, 3; L1: }"
               : "+r"(q)
               : "r"(o[3]));
  o[0] = r + q + coefficients[r & 1][q % 3];
}

extern "C" __global__ void __launch_bounds__(256, 2) bounded(float* o, double d, char c, Record s) {
  o[threadIdx.x] *= d + c + s.weight + s.parts[o[1] > 2];
}

extern "C" __global__ void indexes_locals(int* o) {
  int a[8], s = 0;
  for (int i = 0; i < 8; ++i) a[i] = o[i];
  for (int i = 0; i < 8; ++i) s += a[o[i] & 7];
  o[0] = s;
}

extern "C" __global__ void cooperates(int* o, unsigned long long* u, float* f) {
  __shared__ int sum;
  atomicAdd(&sum, 1);
  atomicAdd(o, 2);
  o[3] = atomicCAS(o, 1, 2);
  atomicMax(u, 3ull);
  f[0] = atomicExch(f + 1, 2.f);
  if (__any_sync(~0u, o[1])) o[2] = __ballot_sync(~0u, o[4]);
  o[5] = __shfl_xor_sync(~0u, o[6], 1);
  o[6] = __syncthreads_count(o[7]);
  o[8] = __match_any_sync(~0u, o[9]);
  o[10] = __reduce_add_sync(~0u, o[11]) + sum;
}

extern "C" __global__ void vectors(float4* a, double2* d, uchar4* c) {
  float4 v = a[threadIdx.x];
  v.x += 1;
  a[threadIdx.x + 1] = v;
  d[1] = d[threadIdx.x];
  c[2] = c[threadIdx.x];
  dynamic_tile[threadIdx.x] = v.y;
}

// Threads that end inside an `if` in a loop: the others still meet behind the `if`.
extern "C" __global__ void returns_early(int* o, int n) {
  const int t = threadIdx.x;
  if (o[t + 1] & 1) {
    for (int i = 0; i < n; ++i) {
      if (o[t * 3 + i] == 7) return;
      o[t + i * 32] += i;
    }
  } else {
    for (int i = 0; i < n; ++i) o[t + i * 64] -= i;
  }
  for (int i = 0; i < n; ++i) o[t + i * 128] ^= t;
}
