// SPDX-License-Identifier: MIT
// A launch of each kernel that measures the tensor cores' peaks, some products long. Each line has
// the kernel and the operations that it says it did: 2mnk for each product.
#include <cuda_runtime.h>

#include <cstdio>

#include "collector/cupti/peaks/report.h"

#define KERNEL(name, to) \
  extern "C" __global__ void name(to*, const float4*, unsigned vectors, unsigned repeats, Report*)
KERNEL(mma_fp16, float4);
KERNEL(mma_bf16, float4);
KERNEL(mma_tf32, float4);
KERNEL(mma_int8, float4);
KERNEL(mma_fp64, float4);
KERNEL(wgmma_fp16, unsigned);
KERNEL(wgmma_bf16, unsigned);
KERNEL(wgmma_tf32, unsigned);
KERNEL(wgmma_fp8, unsigned);
KERNEL(wgmma_int8, unsigned);

namespace {

constexpr unsigned blocks = 3, repeats = 2;

template <class To>
bool launch(const char* name, void (*kernel)(To*, const float4*, unsigned, unsigned, Report*),
            unsigned threads, To* memory, Report* report) {
  kernel<<<blocks, threads>>>(memory, nullptr, 1, repeats, report);
  Report host{};
  const cudaError_t error = cudaMemcpy(&host, report, sizeof(host), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) {
    std::printf("%s: %s\n", name, cudaGetErrorString(error));
    return false;
  }
  std::printf("%s %llu\n", name, static_cast<unsigned long long>(host.work) * blocks);
  return true;
}

}  // namespace

int main() {
  float4* memory = nullptr;
  Report* report = nullptr;
  if (cudaMalloc(&memory, 4096) != cudaSuccess ||
      cudaMalloc(&report, sizeof(Report)) != cudaSuccess) {
    std::printf("no memory\n");
    return 1;
  }
  auto* const words = reinterpret_cast<unsigned*>(memory);
  bool ok = true;
#define MMA(name) ok = launch(#name, name, 64, memory, report) && ok
#define WGMMA(name) ok = launch(#name, name, 128, words, report) && ok
  MMA(mma_fp16);
  MMA(mma_bf16);
  MMA(mma_tf32);
  MMA(mma_int8);
  MMA(mma_fp64);
  WGMMA(wgmma_fp16);
  WGMMA(wgmma_bf16);
  WGMMA(wgmma_tf32);
  WGMMA(wgmma_fp8);
  WGMMA(wgmma_int8);
  return ok ? 0 : 1;
}
