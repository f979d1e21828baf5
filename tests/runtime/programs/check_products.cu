// SPDX-License-Identifier: MIT
// A warpgroup frees the memory that its products read by the arrival of one thread, as CUTLASS
// does.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
constexpr unsigned words_of_a = 64 * 8, words_of_b = 8 * 8, group = 128, threads = 160;

__device__ unsigned at(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ std::uint64_t described(const void* shared) {
  return std::uint64_t{at(shared) >> 4} | std::uint64_t{8} << 16 | std::uint64_t{16} << 32;
}
__device__ void begin(unsigned* a, unsigned* b, std::uint64_t* free) {
  for (unsigned i = threadIdx.x; i < words_of_a; i += threads) a[i] = 0x3c003c00;
  if (threadIdx.x < words_of_b) b[threadIdx.x] = 0x3c003c00;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(free)));
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}
__device__ void multiply(float (&d)[4], const unsigned* a, const unsigned* b) {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, 1, 1, 0, 0;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "l"(described(a)), "l"(described(b)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
__device__ void arrive(std::uint64_t* free) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(free)) : "memory");
}
__device__ void wait_until(std::uint64_t* free) {
  asm volatile(
      "{ .reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
      "@!done bra again; }" ::"r"(at(free))
      : "memory");
}

/// As it should be: who has waited for a product knows that all four warps have read.
__global__ void frees_by_one_thread(float* out) {
  __shared__ alignas(128) unsigned a[words_of_a], b[words_of_b];
  __shared__ std::uint64_t free;
  begin(a, b, &free);
  if (threadIdx.x >= group) {
    wait_until(&free);
    for (unsigned i = threadIdx.x - group; i < words_of_a; i += 32) a[i] = 0;
    return;
  }
  float d[4];
  multiply(d, a, b);
  wait_for_products();
  if (threadIdx.x == 0) arrive(&free);
  out[threadIdx.x] = d[0];
}

__global__ void frees_before_it_waits(float* out) {
  __shared__ alignas(128) unsigned a[words_of_a], b[words_of_b];
  __shared__ std::uint64_t free;
  begin(a, b, &free);
  if (threadIdx.x >= group) {
    wait_until(&free);
    for (unsigned i = threadIdx.x - group; i < words_of_a; i += 32)
      a[i] = 0;  // ! shared-memory race
    return;
  }
  float d[4];
  multiply(d, a, b);
  if (threadIdx.x == 0) arrive(&free);
  wait_for_products();
  out[threadIdx.x] = d[0];
}

/// The products are there; the loads of the other threads may not be.
__global__ void frees_while_others_load(float* out) {
  __shared__ alignas(128) unsigned a[words_of_a], b[words_of_b];
  __shared__ std::uint64_t free;
  begin(a, b, &free);
  if (threadIdx.x >= group) {
    wait_until(&free);
    for (unsigned i = threadIdx.x - group; i < words_of_a; i += 32)
      a[i] = 0;  // ! shared-memory race
    return;
  }
  float d[4];
  multiply(d, a, b);
  wait_for_products();
  const unsigned own = a[threadIdx.x];
  if (threadIdx.x == 0) arrive(&free);
  out[threadIdx.x] = d[0] + own;
}

int main() {
  float* out = nullptr;
  cudaMalloc(&out, group * sizeof(float));
  frees_by_one_thread<<<1, threads>>>(out);
  frees_before_it_waits<<<1, threads>>>(out);
  frees_while_others_load<<<1, threads>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
