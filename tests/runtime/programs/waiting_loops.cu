// SPDX-License-Identifier: MIT
// Lanes that wait for other threads in a loop, and what the warp does behind it: on hardware it is
// not together again before a barrier, a __syncwarp() or an exchange of all lanes.
#include <cuda_runtime.h>

#include <cstdio>
__device__ unsigned my_place() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ bool is_first() { return threadIdx.x % 32 == 0; }

__device__ void raise(float* address, float value) {
  int* const bits = reinterpret_cast<int*>(address);
  int old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (old != assumed);
}

__global__ void one_lane(float* p, int* out) {
  if (is_first()) raise(p + threadIdx.x, 3);
  out[my_place()] = 1;
}

__global__ void half_a_warp(float* p, int* out) {
  if (threadIdx.x % 32 < 16) raise(p + threadIdx.x, 3);
  out[my_place()] = 1;
}

__global__ void behind_a_branch(float* p, int* out) {
  if (threadIdx.x % 32 < 16) {
    if (is_first()) raise(p + threadIdx.x, 3);
    out[my_place()] = 1;
  }
  out[64 + my_place()] = 1;
}

__global__ void next_round(float* p, int* out, int n) {
  __shared__ int all[64];
  for (int i = 0; i < n; ++i) {
    all[threadIdx.x] = i;
    __syncthreads();
    out[i * 64 + threadIdx.x] = all[63 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) raise(p + i, 3);
  }
}

__global__ void flag(volatile int* p, int* out) {
  if (is_first()) {
    while (p[0] == 7) {
    }
  }
  out[my_place()] = 1;
}

__device__ __noinline__ void lock(int* p) {
  while (atomicCAS(p, 0, 1) != 0) {
  }
}

__global__ void in_a_function(int* p, int* out) {
  if (is_first()) lock(p + threadIdx.x);
  out[my_place()] = 1;
}

// The hardware's answers hold here: together again, or one lane alone, or no lane let go.
__global__ void behind_a_barrier(float* p, int* out) {
  if (is_first()) raise(p + threadIdx.x, 3);
  __syncthreads();
  out[my_place()] = 1;
}

__global__ void behind_syncwarp(float* p, int* out) {
  if (is_first()) raise(p + threadIdx.x, 3);
  __syncwarp();
  out[my_place()] = 1;
}

__global__ void behind_a_shuffle(float* p, int* out) {
  int number = threadIdx.x;
  if (is_first()) raise(p + threadIdx.x, 3);
  number = __shfl_sync(0xffffffff, number, 0);
  out[my_place()] = number;
}

__global__ void behind_a_vote(float* p, int* out) {
  if (is_first()) raise(p + threadIdx.x, 3);
  out[my_place()] = __any_sync(0xffffffff, threadIdx.x == 3);
}

__global__ void alone(float* p, int* out) {
  out[my_place()] = 1;
  if (threadIdx.x == 0) {
    raise(p, 3);
    out[64] = 2;
  }
}

__global__ void whole_block(volatile int* p, int* out) {
  while (p[0] == 7) {
  }
  out[my_place()] = 1;
}

__global__ void chain(int* p, int* out) {
  int at = 0;
  if (is_first()) {
    do at = p[at + 1];
    while (at != 0);
  }
  out[my_place()] = at;
}

int main() {
  constexpr int numbers = 1024, rounds = 3;
  float* p;
  int* out;
  cudaMalloc(&p, numbers * sizeof(float));
  cudaMalloc(&out, numbers * sizeof(int));
  int* const whole = reinterpret_cast<int*>(p);
  const auto start = [&] { cudaMemset(p, 0, numbers * sizeof(float)); };
  start(), behind_a_barrier<<<1, 64>>>(p, out);
  start(), behind_syncwarp<<<1, 64>>>(p, out);
  start(), behind_a_shuffle<<<1, 64>>>(p, out);
  start(), behind_a_vote<<<1, 64>>>(p, out);
  start(), alone<<<1, 64>>>(p, out);
  start(), whole_block<<<1, 64>>>(whole, out);
  start(), chain<<<1, 64>>>(whole, out);
  start(), one_lane<<<1, 64>>>(p, out);
  start(), half_a_warp<<<1, 64>>>(p, out);
  start(), behind_a_branch<<<1, 64>>>(p, out);
  start(), next_round<<<1, 64>>>(p, out, rounds);
  start(), flag<<<1, 64>>>(whole, out);
  start(), in_a_function<<<1, 64>>>(whole, out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
