// SPDX-License-Identifier: MIT
// One launch of one warp by the driver's API; programs.py runs it.
#include <cuda.h>

#include <cstdio>

int main() {
  constexpr const char* text =
      ".version 7.0\n.target sm_70\n.address_size 64\n"
      ".visible .entry k(.param .u64 p) { .reg .u64 %a; .reg .u32 %x; ld.param.u64 %a, [p];\n"
      "mov.u32 %x, 5; st.global.u32 [%a], %x; ret; }\n";
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction kernel;
  CUdeviceptr memory;
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS) return 1;
  if (cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS) return 1;
  if (cuCtxSetCurrent(context) != CUDA_SUCCESS) return 1;
  if (cuModuleLoadData(&module, text) != CUDA_SUCCESS) return 1;
  if (cuModuleGetFunction(&kernel, module, "k") != CUDA_SUCCESS) return 1;
  if (cuMemAlloc(&memory, 4) != CUDA_SUCCESS) return 1;
  void* arguments[] = {&memory};
  if (cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) != CUDA_SUCCESS) {
    return 1;
  }
  int value = 0;
  if (cuMemcpyDtoH(&value, memory, sizeof(value)) != CUDA_SUCCESS) return 1;
  std::printf("%d\n", value);
  return value == 5 ? 0 : 1;
}
