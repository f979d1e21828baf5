// SPDX-License-Identifier: MIT
// Barriers inside an `if`, as people write them: on hardware they go well where the other threads
// end, or where the compiler predicates them. The same kernels with the same numbers have run on an
// H100 (s_reduce, s_scan, x_reduce_then_bar_unrolled, x_leader_then_bar, m_warp_loop and
// b_if_then_all of tests/collector/model/programs/barriers.cu).
#include <cuda_runtime.h>

#include <cstdio>
constexpr int threads = 96;

__global__ void reduce(int* out) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = t * 7 % 31;
  if (t < 32) s[96 + t] = 0;
  __syncthreads();
  for (int k = 64; k > 0; k >>= 1) {
    if (t < k) {
      s[t] += s[t + k];
      __syncthreads();
    }
  }
  if (t == 0) *out = s[0];
}

__global__ void reduce_and_meet(int* out) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = t * 7 % 31;
  if (t < 32) s[96 + t] = 0;
  __syncthreads();
  for (int k = 64; k > 0; k >>= 1) {
    if (t < k) {
      s[t] += s[t + k];
      __syncthreads();
    }
  }
  __syncthreads();
  out[t] = s[0];
}

__global__ void scan(int* out) {
  __shared__ int s[threads];
  const int t = threadIdx.x;
  s[t] = t * 5 % 17;
  __syncthreads();
  for (int d = 1; d < threads; d *= 2) {
    if (t >= d) {
      const int v = s[t - d];
      __syncthreads();
      s[t] += v;
      __syncthreads();
    }
  }
  out[t] = s[t];
}

__global__ void leader(int* out) {
  __shared__ int total;
  if (threadIdx.x == 0) {
    total = 42;
    __syncthreads();
  }
  __syncthreads();
  out[threadIdx.x] = total;
}

// Lanes read 0 from those who are not there.
__global__ void warp_sum(int* out) {
  const int lane = threadIdx.x % 32;
  int v = threadIdx.x;
  for (int i = 16; i > 0; i /= 2) {
    if (lane < i) v += __shfl_down_sync(~0u, v, i);
  }
  out[threadIdx.x] = v;
}

// These wait for each other for ever.
__global__ void half_and_all(int* out) {
  if (threadIdx.x % 32 < 16) {
    atomicAdd(out, 1);
    __syncthreads();
    atomicAdd(out + 1, 1);
  }
  atomicAdd(out + 2, 1);
  __syncthreads();
}

int main() {
  int *d = nullptr, h[threads];
  cudaMalloc(&d, sizeof(h));
  const auto show = [&](const char* name) {
    const cudaError_t e = cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
    std::printf("%s: %s, %d %d %d\n", name, cudaGetErrorString(e), h[0], h[1], h[31]);
  };
  cudaMemset(d, 0, sizeof(h));
  reduce<<<1, threads>>>(d);
  show("reduce");
  reduce_and_meet<<<1, threads>>>(d);
  show("reduce_and_meet");
  scan<<<1, threads>>>(d);
  show("scan");
  leader<<<1, threads>>>(d);
  show("leader");
  warp_sum<<<1, threads>>>(d);
  show("warp_sum");
  half_and_all<<<1, threads>>>(d);  // hangs on hardware
  std::printf("half_and_all: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
