// SPDX-License-Identifier: MIT
// Two contexts of the driver on every device, used in turn; each overwrites its own input.
#include <cuda.h>
#include <cstdio>
__global__ void add_in_place(int* data, int value) { data[threadIdx.x] += value; }
int main() {
  int devices = 0, wrong = 0;
  cuInit(0);
  if (cuDeviceGetCount(&devices) != CUDA_SUCCESS) return 9;
  for (int device = 0; device < devices; ++device) {
    CUcontext contexts[2];
    CUdeviceptr data[2];
    for (int i = 0; i < 2; ++i) {
      CUctxCreateParams parameters{};
      if (cuCtxCreate(&contexts[i], &parameters, 0, device) != CUDA_SUCCESS) return 9;
      if (cuMemAlloc(&data[i], 4096) != CUDA_SUCCESS) return 9;
      cuMemsetD32(data[i], 0, 1024);
    }
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 2; ++i) {
        cuCtxSetCurrent(contexts[i]);
        add_in_place<<<1, 64 + 64 * i>>>(reinterpret_cast<int*>(data[i]), i + 1);
      }
    }
    for (int i = 0; i < 2; ++i) {
      int value = 0;
      cuCtxSetCurrent(contexts[i]);
      if (cuMemcpyDtoH(&value, data[i], sizeof value) != CUDA_SUCCESS) return 8;
      wrong += value != 3 * (i + 1);
    }
    for (CUcontext context : contexts) cuCtxDestroy(context);
  }
  std::printf("%d wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
