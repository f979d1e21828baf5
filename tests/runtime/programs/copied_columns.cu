// SPDX-License-Identifier: MIT
// Each warp brings a row of global memory into a column of a tile by cp.async: 32 words of one
// bank.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void copy_columns(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  const int row = blockIdx.x * 32 + threadIdx.y;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x][threadIdx.y]));
  const float* const from = in + row * n + threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[row * n + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}

int main() {
  constexpr int blocks = 4, n = 32, count = blocks * 32 * n;
  float *in = nullptr, *out = nullptr;
  cudaMallocManaged(&in, count * sizeof(float));
  cudaMallocManaged(&out, count * sizeof(float));
  for (int i = 0; i < count; ++i) in[i] = static_cast<float>(i);
  copy_columns<<<blocks, dim3(32, 32)>>>(in, out, n);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s, %g\n", cudaGetErrorName(error), out[1]);
  return error == cudaSuccess ? 0 : 1;
}
