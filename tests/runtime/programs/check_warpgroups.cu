// SPDX-License-Identifier: MIT
// Products of warpgroups whose matrices are not there yet, and those whose are: at most one mistake
// a kernel.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
constexpr unsigned bytes_of_a = 64 * 32, bytes_of_b = 8 * 32;

__device__ unsigned at(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
/// Eight lines of 16 bytes follow each other, then those of the other half.
__device__ std::uint64_t described(unsigned place) {
  return std::uint64_t{place >> 4} | std::uint64_t{128 >> 4} << 16 | std::uint64_t{256 >> 4} << 32;
}
__device__ void fill(unsigned* words, unsigned bytes) {
  for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x) words[i] = 0x3c003c00;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ void multiply(float (&d)[4], unsigned a, unsigned b) {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, 1, 1, 0, 0;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "l"(described(a)), "l"(described(b)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/// B was never written.
__global__ void lacks_b(float* out) {
  __shared__ alignas(128) unsigned a[bytes_of_a / 4], b[bytes_of_b / 4];
  fill(a, bytes_of_a);
  __syncthreads();
  float d[4];
  multiply(d, at(a), at(b));  // mistake
  out[threadIdx.x] = d[0];
}

/// Other threads may still write A.
__global__ void does_not_wait(float* out) {
  __shared__ alignas(128) unsigned a[bytes_of_a / 4], b[bytes_of_b / 4];
  fill(b, bytes_of_b);
  __syncthreads();
  fill(a, bytes_of_a);
  float d[4];
  multiply(d, at(a), at(b));  // mistake
  out[threadIdx.x] = d[0];
}

/// As it should be.
__global__ void multiplies(float* out) {
  __shared__ alignas(128) unsigned a[bytes_of_a / 4], b[bytes_of_b / 4];
  fill(a, bytes_of_a);
  fill(b, bytes_of_b);
  __syncthreads();
  float d[4];
  multiply(d, at(a), at(b));
  __syncthreads();
  fill(a, bytes_of_a);
  out[threadIdx.x] = d[0];
}

/// The descriptor leads beyond the block's shared memory.
__global__ void leaves_memory(float* out) {
  __shared__ alignas(128) unsigned a[bytes_of_a / 4];
  fill(a, bytes_of_a);
  __syncthreads();
  float d[4];
  multiply(d, at(a), at(a) + 100 * 1024);  // mistake
  out[threadIdx.x] = d[0];
}

/// Three warps are no warpgroup.
__global__ void lacks_a_warp(float* out) {
  __shared__ alignas(128) unsigned a[bytes_of_a / 4], b[bytes_of_b / 4];
  fill(a, bytes_of_a);
  fill(b, bytes_of_b);
  __syncthreads();
  float d[4];
  multiply(d, at(a), at(b));  // mistake
  out[threadIdx.x] = d[0];
}

int main() {
  float* out = nullptr;
  cudaMalloc(&out, 128 * sizeof(float));
  lacks_b<<<1, 128>>>(out);
  cudaDeviceSynchronize();
  does_not_wait<<<1, 128>>>(out);
  cudaDeviceSynchronize();
  multiplies<<<1, 128>>>(out);
  cudaDeviceSynchronize();
  leaves_memory<<<1, 128>>>(out);
  cudaDeviceSynchronize();
  lacks_a_warp<<<1, 96>>>(out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(out);
}
