// SPDX-License-Identifier: MIT
// Names what CUDA numbers by NVTX: a thread before the first call of CUDA, then a device, a context
// and one of two streams. The stream has another name first.
#include <cuda.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include <cstdio>

__global__ void fill(int* values) { values[threadIdx.x] = 1; }

int main() {
  nvtxNameOsThreadA(4711, "reader");
  int* values = nullptr;
  if (cudaMalloc(&values, 32 * sizeof(int)) != cudaSuccess) return 9;
  cudaStream_t ahead = nullptr, other = nullptr;
  cudaStreamCreate(&ahead);
  cudaStreamCreate(&other);
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);
  nvtxNameCudaDeviceA(0, "first device");
  nvtxNameCuContextA(context, "main context");
  nvtxNameCudaStreamA(ahead, "behind");
  nvtxNameCudaStreamA(ahead, "ahead");
  fill<<<1, 32>>>(values);
  fill<<<1, 32, 0, ahead>>>(values);
  fill<<<1, 32, 0, other>>>(values);
  std::puts(cudaDeviceSynchronize() == cudaSuccess ? "filled" : "failed");
}
