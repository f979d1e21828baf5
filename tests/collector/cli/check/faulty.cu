// SPDX-License-Identifier: MIT
// Kernels with mistakes. A line that ends in "// !" says what --check must find there; it must
// find nothing else. In faulty.yaml the kernel that cannot go on is the last.
__global__ void oob(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + 1];  // ! out of bounds
}
__global__ void oobs(float* out) {
  __shared__ float s[64];
  s[threadIdx.x * 2] = threadIdx.x;  // ! out of bounds
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];  // ! uninitialised read
}
__global__ void mis(float* out, const char* in) {
  out[threadIdx.x] = *(const float*)(in + threadIdx.x * 4 + 2);  // ! misaligned
}
__global__ void unset(float* out) {
  __shared__ float s[128];
  if (threadIdx.x < 32) s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];  // ! uninitialised read
}
__global__ void unsetg(float* out) {
  out[threadIdx.x] = out[threadIdx.x] + 1;  // ! uninitialised read
}
__global__ void unsetl(int* out, const int* in, int k) {
  int a[16];
  for (int i = 0; i < 8; ++i) a[in[i] & 7] = in[i];
  out[threadIdx.x] = a[k & 15];  // ! uninitialised read
}
__global__ void race_ww(float* out) {
  __shared__ float s;
  s = threadIdx.x;  // ! shared-memory race
  __syncthreads();
  out[threadIdx.x] = s;
}
__global__ void race_rw(float* out, const float* in) {
  __shared__ float s[128];
  s[threadIdx.x] = in[threadIdx.x];         // ! shared-memory race
  out[threadIdx.x] = s[127 - threadIdx.x];  // ! shared-memory race, uninitialised read
}
__global__ void race_loop(float* out, const float* in) {
  __shared__ float s[128];
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    s[threadIdx.x] = in[threadIdx.x + k];  // ! shared-memory race
    __syncthreads();
    sum += s[127 - threadIdx.x];  // ! shared-memory race
  }
  out[threadIdx.x] = sum;
}
__global__ void race_warp(float* out, const float* in) {
  __shared__ float s[32];
  s[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 16) s[threadIdx.x] += s[threadIdx.x + 16];  // ! shared-memory race
  if (threadIdx.x < 8) s[threadIdx.x] += s[threadIdx.x + 8];    // ! shared-memory race
  out[threadIdx.x] = s[0];                                      // ! shared-memory race
}
__global__ void race_atomic(int* out) {
  __shared__ int c;
  if (threadIdx.x == 0) c = 0;
  atomicAdd(&c, 1);  // ! shared-memory race
  __syncthreads();
  out[threadIdx.x] = c;
}
__global__ void bar_half(float* out) {
  __shared__ float s[128];
  s[threadIdx.x] = 1;
  if (threadIdx.x % 32 < 16) {
    s[threadIdx.x] = 2;
    __syncthreads();  // ! divergent barrier
  }
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void bar_warp(float* out) {
  __shared__ float s[128];
  s[threadIdx.x] = 1;
  if (threadIdx.x < 64) {
    s[threadIdx.x] = 2;
    __syncthreads();  // ! divergent barrier
  }
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void bar_two(float* out) {
  __shared__ float s[128];
  if (threadIdx.x < 64) {
    s[threadIdx.x] = 2;
    __syncthreads();  // ! divergent barrier
    out[threadIdx.x] = s[threadIdx.x ^ 1];
  } else {
    s[threadIdx.x] = 3;
    __syncthreads();
    out[threadIdx.x] = 2 * s[threadIdx.x ^ 1];
  }
}
__global__ void bar_trip(float* out) {
  __shared__ float s[128];
  for (int k = 0; k <= threadIdx.x / 32; ++k) {
    s[threadIdx.x] = k;
    __syncthreads();  // ! divergent barrier
  }
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void absent(int* out) {
  int v = threadIdx.x;
  if (threadIdx.x % 32 < 16) v = __shfl_sync(~0u, v, 0);  // ! absent lanes
  out[threadIdx.x] = v;
}
__global__ void absent_vote(int* out) {
  int v = threadIdx.x;
  if (threadIdx.x % 32 < 16) v = __any_sync(0xfffff, v == 3);  // ! absent lanes
  out[threadIdx.x] = v;
}
__global__ void absent_syncwarp(int* out) {
  if (threadIdx.x % 32 < 16) {
    out[threadIdx.x] = 1;
    __syncwarp();  // ! absent lanes
    out[threadIdx.x] += 1;
  } else {
    out[threadIdx.x] = 5;
  }
}
__global__ void selfout(int* out) {
  int v = threadIdx.x;
  v = __shfl_sync(0xffff, v, 0);  // ! absent lanes
  out[threadIdx.x] = v;
}
__global__ void stack_oob(int* out, const int* in, int k) {
  int a[16];
  for (int i = 0; i < 16; ++i) a[i] = in[i];
  a[k] = 5;  // ! out of bounds
  out[threadIdx.x] = a[in[3] & 15];
}
__device__ void start_copy(float* to, const float* from) {
  unsigned a = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(a), "l"(from));
  asm volatile("cp.async.commit_group;");
}
__global__ void copy_unawaited(float* out, const float* in) {
  __shared__ float s[128];
  start_copy(s + threadIdx.x, in + threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = s[127 - threadIdx.x];  // ! shared-memory race
}
__global__ void copy_own(float* out, const float* in) {
  __shared__ float s[128];
  start_copy(s + threadIdx.x, in + threadIdx.x);
  out[threadIdx.x] = s[threadIdx.x];  // ! shared-memory race
}
__global__ void copy_one_short(float* out, const float* in) {
  __shared__ float s[2][128];
  start_copy(s[0] + threadIdx.x, in + threadIdx.x);
  start_copy(s[1] + threadIdx.x, in + 128 + threadIdx.x);
  asm volatile("cp.async.wait_group 1;");
  __syncthreads();
  float sum = s[0][127 - threadIdx.x];
  sum += s[1][127 - threadIdx.x];  // ! shared-memory race
  out[threadIdx.x] = sum;
}
__global__ void copy_late(float* out, const float* in) {
  __shared__ float s[128];
  start_copy(s + threadIdx.x, in + threadIdx.x);
  __syncthreads();
  asm volatile("cp.async.wait_all;");
  out[threadIdx.x] = s[127 - threadIdx.x];  // ! shared-memory race
}
__global__ void blocks_halo(float* data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float left = i == 0 ? 0 : data[i - 1];  // ! race between blocks
  __syncthreads();
  data[i] = left + 2;
}
__global__ void blocks_read(float* data, const float* in) {
  data[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (blockIdx.x == 1) data[threadIdx.x + 256] = data[threadIdx.x];  // ! race between blocks
}
__global__ void blocks_sum(float* out, const float* in) {
  if (threadIdx.x == 0) out[0] = in[blockIdx.x];  // ! race between blocks
}
