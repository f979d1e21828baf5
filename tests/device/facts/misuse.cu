// SPDX-License-Identifier: MIT
// The runtime's answers to wrong calls, one a line. Its output on a GPU is what programs get
// without one: tests/runtime/expected/misuse.txt.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void fill(int* out, int value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}
__global__ void out_of_bounds(int* out) { out[(1ll << 32) + threadIdx.x] = 1; }
__global__ __launch_bounds__(64) void bounded(int* out) { out[threadIdx.x] = 1; }
__device__ int variable[4];
__constant__ int constant[4];

#define SAY(call)                                                                     \
  do {                                                                                \
    const cudaError_t result = (call);                                                \
    const cudaError_t peeked = cudaPeekAtLastError();                                 \
    std::printf("%-12d %-12d %-12d %s\n", result, peeked, cudaGetLastError(), #call); \
  } while (0)
#define SAY_LAUNCH(launch)                                                   \
  do {                                                                       \
    launch;                                                                  \
    const cudaError_t last = cudaGetLastError();                             \
    std::printf("%-12d %-12d %s\n", last, cudaDeviceSynchronize(), #launch); \
  } while (0)

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  int *d = nullptr, *e = nullptr, *h = static_cast<int*>(std::malloc(4096)), *pinned = nullptr;
  void* null = nullptr;
  SAY(cudaMalloc(&d, 4096));
  SAY(cudaMalloc(&e, 4096));
  SAY(cudaMalloc(nullptr, 4096));
  SAY(cudaMalloc(&null, 0));
  std::printf("%d\n", null == nullptr);
  SAY(cudaMalloc(&null, size_t(1) << 50));
  SAY(cudaFree(nullptr));
  SAY(cudaFree(d + 1));
  SAY(cudaFree(h));
  SAY(cudaMemcpy(d, h, 4096, cudaMemcpyHostToDevice));
  SAY(cudaMemcpy(d, h, 4096, cudaMemcpyDeviceToHost));
  SAY(cudaMemcpy(h, d, 4096, cudaMemcpyHostToDevice));
  SAY(cudaMemcpy(h, d, 4096, cudaMemcpyDeviceToDevice));
  SAY(cudaMemcpy(d, e, 4096, cudaMemcpyHostToHost));
  SAY(cudaMemcpy(d, h, 4096, static_cast<cudaMemcpyKind>(7)));
  SAY(cudaMemcpy(d, h, 4096, cudaMemcpyDefault));
  SAY(cudaMemcpy(nullptr, d, 16, cudaMemcpyDeviceToHost));
  SAY(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDeviceToHost));
  SAY(cudaMemcpy(d, nullptr, 16, cudaMemcpyHostToDevice));
  SAY(cudaMemcpy(d, h, size_t(1) << 33, cudaMemcpyHostToDevice));
  SAY(cudaMemcpy(d, e, 4096, cudaMemcpyDeviceToHost));
  SAY(cudaMemcpy(d, e, 4096, cudaMemcpyHostToDevice));
  SAY(cudaMemcpy(d, e, 4096, cudaMemcpyDeviceToDevice));
  SAY(cudaMemcpy2D(d, 64, e, 64, 64, 2, cudaMemcpyDeviceToHost));
  SAY(cudaMemset(d, 0, 4096));
  SAY(cudaMemset(d, 0, size_t(1) << 33));
  SAY(cudaMemset(h, 0, 64));
  SAY(cudaMemset(nullptr, 0, 64));
  SAY(cudaMemcpy2D(d, 64, h, 32, 64, 2, cudaMemcpyHostToDevice));
  SAY(cudaMemcpy2D(d, 64, h, 64, 64, 2, cudaMemcpyHostToDevice));
  SAY(cudaFree(e));
  SAY(cudaFree(e));
  SAY(cudaMemcpy(e, h, 16, cudaMemcpyHostToDevice));
  SAY(cudaFreeHost(h));
  SAY(cudaFreeHost(nullptr));
  SAY(cudaMallocHost(&pinned, 4096));
  SAY(cudaFree(pinned));
  SAY(cudaFreeHost(pinned));
  SAY(cudaHostRegister(h, 4096, 0));
  SAY(cudaHostRegister(h, 4096, 0));
  SAY(cudaHostUnregister(h));
  SAY(cudaHostUnregister(h));
  SAY(cudaSetDevice(99));
  SAY(cudaSetDevice(-1));
  SAY(cudaSetDevice(0));
  int count = 0;
  SAY(cudaGetDeviceCount(nullptr));
  SAY(cudaDeviceGetAttribute(&count, static_cast<cudaDeviceAttr>(9999), 0));
  SAY(cudaDeviceGetAttribute(&count, cudaDevAttrWarpSize, 99));
  SAY(cudaMemcpyToSymbol(variable, h, 16));
  SAY(cudaMemcpyToSymbol(variable, h, 17));
  SAY(cudaMemcpyToSymbol(variable, h, 8, 12));
  SAY(cudaMemcpyToSymbol(constant, h, 17));
  SAY(cudaMemcpyToSymbol(reinterpret_cast<const void*>(h), h, 16));
  SAY(cudaMemcpyFromSymbol(h, constant, 16));
  size_t bytes = 0;
  SAY(cudaGetSymbolSize(&bytes, constant));
  std::printf("%zu\n", bytes);
  cudaFuncAttributes attributes{};
  SAY(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(h)));
  SAY(cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 << 10));
  SAY(cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
  SAY_LAUNCH((fill<<<4, 256>>>(d, 1, 1024)));
  SAY_LAUNCH((fill<<<0, 256>>>(d, 1, 1024)));
  SAY_LAUNCH((fill<<<1, 0>>>(d, 1, 1024)));
  SAY_LAUNCH((fill<<<1, 1025>>>(d, 1, 1024)));
  SAY_LAUNCH((fill<<<1, dim3(1, 1, 65)>>>(d, 1, 1024)));
  SAY_LAUNCH((fill<<<dim3(1, 65536), 1>>>(d, 1, 1024)));
  SAY_LAUNCH((fill<<<1, 32, 100 << 10>>>(d, 1, 1024)));
  SAY_LAUNCH((fill<<<1, 32, 300 << 10>>>(d, 1, 1024)));
  SAY_LAUNCH((bounded<<<1, 65>>>(d)));
  SAY_LAUNCH((bounded<<<1, 32, 100 << 10>>>(d)));
  int value = 1;
  int* where = d;
  void* arguments[] = {&where, &value, &value};
  SAY(cudaLaunchKernel(reinterpret_cast<const void*>(h), dim3(1), dim3(1), arguments, 0, nullptr));
  SAY(cudaLaunchKernel(reinterpret_cast<const void*>(fill), dim3(1), dim3(1), arguments, 0,
                       nullptr));
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr, other = nullptr;
  float ms = 0;
  SAY(cudaEventCreate(&event));
  SAY(cudaEventCreate(&other));
  SAY(cudaEventQuery(event));
  SAY(cudaEventElapsedTime(&ms, event, other));
  SAY(cudaEventRecord(event));
  SAY(cudaEventElapsedTime(&ms, event, other));
  SAY(cudaEventRecord(nullptr));
  SAY(cudaEventSynchronize(event));
  SAY(cudaEventDestroy(event));
  SAY(cudaStreamCreateWithFlags(&stream, 77));
  SAY(cudaStreamCreate(&stream));
  SAY(cudaStreamQuery(stream));
  SAY(cudaStreamSynchronize(stream));
  SAY(cudaStreamDestroy(stream));
  SAY(cudaStreamDestroy(nullptr));
  cudaPointerAttributes pointer{};
  SAY(cudaPointerGetAttributes(&pointer, d));
  std::printf("%d %d\n", pointer.type, pointer.device);
  SAY(cudaPointerGetAttributes(&pointer, h));
  std::printf("%d %d\n", pointer.type, pointer.device);
  SAY(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1));
  SAY(cudaGetDevice(nullptr));
  // An illegal address stays.
  out_of_bounds<<<1, 32>>>(d);
  SAY(cudaDeviceSynchronize());
  SAY(cudaMalloc(&e, 4));
  SAY(cudaFree(d));
  SAY(cudaMemcpy(h, d, 16, cudaMemcpyDeviceToHost));
  SAY(cudaGetDeviceCount(&count));
  SAY(cudaSetDevice(0));
  SAY(cudaEventCreate(&event));
  SAY_LAUNCH((fill<<<4, 256>>>(d, 1, 1024)));
  SAY(cudaDeviceReset());
  SAY(cudaMalloc(&e, 4));
}
