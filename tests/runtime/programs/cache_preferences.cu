// SPDX-License-Identifier: MIT
// The kernel's preferences for the cache that is also shared memory: as it was told in two ways,
// and how many of its blocks a multiprocessor then holds.
#include <cuda_runtime.h>

#include <cstdio>
template <int words>
__global__ void rotate(int* out) {
  __shared__ int tile[words];
  tile[threadIdx.x % words] = *out;
  __syncthreads();
  out[1] = tile[(threadIdx.x + 1) % words];
}
__global__ void nothing() {}

namespace {

template <class Kernel>
void show_blocks(Kernel kernel) {
  for (const int threads : {32, 128, 512, 1024}) {
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0);
    std::printf(" %d", blocks);
  }
  std::puts("");
}

template <class Kernel>
void ask(const char* what, Kernel kernel) {
  const auto* function = reinterpret_cast<const void*>(kernel);
  for (const cudaFuncCache preferred : {cudaFuncCachePreferNone, cudaFuncCachePreferShared,
                                        cudaFuncCachePreferL1, cudaFuncCachePreferEqual}) {
    cudaFuncSetCacheConfig(function, preferred);
    std::printf("%s, preference %d:", what, static_cast<int>(preferred));
    show_blocks(kernel);
  }
  for (const int carveout : {0, 10, 25, 50, 100}) {
    cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout, carveout);
    std::printf("%s, %d %%:", what, carveout);
    show_blocks(kernel);
  }
}

}  // namespace

int main() {
  ask("none", nothing);
  ask("1 KB", rotate<256>);
  ask("4 KB", rotate<1024>);
  ask("48 KB", rotate<12288>);
  // A setting in percent stays.
  const auto* function = reinterpret_cast<const void*>(rotate<1024>);
  cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout, 10);
  cudaFuncSetCacheConfig(function, cudaFuncCachePreferNone);
  cudaFuncAttributes attributes{};
  cudaFuncGetAttributes(&attributes, function);
  std::printf("%d %%:", attributes.preferredShmemCarveout);
  show_blocks(rotate<1024>);
  std::printf("%s\n", cudaGetErrorName(cudaFuncSetCacheConfig(
                          reinterpret_cast<const void*>(nothing), static_cast<cudaFuncCache>(4))));
  nothing<<<1, 1>>>();
  cudaDeviceSynchronize();
}
