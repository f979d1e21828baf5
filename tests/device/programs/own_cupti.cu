// SPDX-License-Identifier: MIT
// A program that listens to CUPTI itself, before CUDA starts: it loads the library as profilers do.
#include <dlfcn.h>
#include <cstdio>
__global__ void watched(int* data) { data[threadIdx.x] = threadIdx.x; }
using Callback = void (*)(void*, int, unsigned, const void*);
static void on_event(void*, int, unsigned, const void*) {}
int main() {
  void* library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return 77;
  const auto subscribe =
      reinterpret_cast<int (*)(void**, Callback, void*)>(dlsym(library, "cuptiSubscribe"));
  void* subscriber = nullptr;
  if (subscribe == nullptr || subscribe(&subscriber, on_event, nullptr) != 0) return 8;
  int* data = nullptr;
  if (cudaMalloc(&data, 4096) != cudaSuccess) return 9;
  watched<<<1, 64>>>(data);
  if (cudaDeviceSynchronize() != cudaSuccess) return 7;
  std::printf("unharmed\n");
  return 0;
}
