// SPDX-License-Identifier: MIT
// Two devices (--model-devices 2): each has variables of its own, and managed ones are one. So it
// is with a library's. A module belongs to its context.
#include <cuda.h>

#include <cstdio>
__device__ int tag = 5;
__constant__ int constant = 6;
__managed__ int total = 100;

__global__ void add(int* out) {
  out[0] = ++tag;
  out[1] = constant;
  total += 1;
}

const char* const code = R"(
.version 8.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 count = 10;
.visible .global .attribute(.managed) .align 4 .u32 shared;
.visible .entry bump() {
  .reg .b32 %r<3>;
  ld.global.u32 %r1, [count];
  add.u32 %r1, %r1, 1;
  st.global.u32 [count], %r1;
  ld.global.u32 %r2, [shared];
  add.u32 %r2, %r2, 1;
  st.global.u32 [shared], %r2;
  ret;
})";

int read(CUdeviceptr address) {
  int value = 0;
  cudaMemcpy(&value, reinterpret_cast<void*>(address), sizeof value, cudaMemcpyDefault);
  return value;
}

int main() {
  int* out[2];
  void *of_tag[2], *of_total[2];
  for (int i = 0; i < 2; ++i) {
    cudaSetDevice(i);
    cudaMalloc(&out[i], 2 * sizeof(int));
    const int first = 10 * (i + 1), second = first + 5;
    if (i == 1) std::printf("%s\n", cudaGetErrorName(cudaMemcpyToSymbol(tag, &first, 4)));
    std::printf("%s\n", cudaGetErrorName(cudaMemcpyToSymbol(constant, &second, 4)));
    cudaGetSymbolAddress(&of_tag[i], tag);
    cudaGetSymbolAddress(&of_total[i], total);
  }
  for (int i = 0; i < 2; ++i) {
    cudaSetDevice(i);
    int host[2], of_symbol = 0;
    size_t bytes = 0;
    for (int time = 0; time <= i; ++time) add<<<1, 1>>>(out[i]);
    cudaMemcpy(host, out[i], sizeof host, cudaMemcpyDefault);
    cudaMemcpyFromSymbol(&of_symbol, tag, sizeof of_symbol);
    cudaGetSymbolSize(&bytes, tag);
    std::printf("device %d: %d %d, %d of %zu bytes\n", i, host[0], host[1], of_symbol, bytes);
  }
  std::printf("apart %d, managed at one address %d: %d\n", of_tag[0] != of_tag[1],
              of_total[0] == &total && of_total[1] == &total, total);

  cudaLibrary_t library;
  cudaKernel_t kernel;
  cudaLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0);
  cudaLibraryGetKernel(&kernel, library, "bump");
  void *of_count[2], *shared = nullptr;
  size_t bytes = 0;
  for (int i = 0; i < 2; ++i) {
    cudaSetDevice(i);
    cudaLibraryGetGlobal(&of_count[i], &bytes, library, "count");
    for (int time = 0; time < 2 - i; ++time) {
      cudaLaunchKernel(reinterpret_cast<void*>(kernel), dim3(1), dim3(1), nullptr, 0, nullptr);
    }
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  }
  cudaLibraryGetManaged(&shared, &bytes, library, "shared");
  std::printf("of a library: %d and %d, managed %d\n",
              read(reinterpret_cast<CUdeviceptr>(of_count[0])),
              read(reinterpret_cast<CUdeviceptr>(of_count[1])), *static_cast<int*>(shared));
  std::printf("%s\n", cudaGetErrorName(cudaLibraryUnload(library)));

  CUmodule modules[2];
  CUdeviceptr counts[2];
  CUfunction bump;
  for (int i = 0; i < 2; ++i) {
    cudaSetDevice(i);
    cuModuleLoadData(&modules[i], code);
    cuModuleGetGlobal(&counts[i], nullptr, modules[i], "count");
  }
  cuModuleGetFunction(&bump, modules[1], "bump");
  cuLaunchKernel(bump, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  std::printf("of modules: %d and %d\n", read(counts[0]), read(counts[1]));
}
