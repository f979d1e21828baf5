// SPDX-License-Identifier: MIT
// Machine code that nvJitLink links as the program runs: of code for link-time optimization alone,
// and of that and PTX.
#include <nvJitLink.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "driver_program.h"
namespace {

constexpr int name_width = 14;

constexpr const char* kernel = R"(
extern __device__ float scaled(float factor, float x);
extern "C" __global__ void saxpy(float factor, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += scaled(factor, x[2 * i]);
}
)";
constexpr const char* helper =
    "__device__ float scaled(float factor, float x) { return factor * x; }";

std::string optimizable(const char* source, const char* file) {
  nvrtcProgram program = nullptr;
  nvrtcCreateProgram(&program, source, file, 0, nullptr, nullptr);
  const char* options[] = {"-arch=sm_90", "-dlto", "-rdc=true", "-lineinfo"};
  nvrtcCompileProgram(program, 4, options);
  std::size_t size = 0;
  nvrtcGetLTOIRSize(program, &size);
  std::string code(size, '\0');
  nvrtcGetLTOIR(program, code.data());
  nvrtcDestroyProgram(&program);
  return code;
}

std::string linked(const std::string& first, nvJitLinkInputType type, const std::string& second) {
  nvJitLinkHandle handle = nullptr;
  const char* options[] = {"-arch=sm_90", "-lto", "-lineinfo"};
  std::printf("%d", nvJitLinkCreate(&handle, 3, options));
  std::printf(
      " %d", nvJitLinkAddData(handle, NVJITLINK_INPUT_LTOIR, first.data(), first.size(), "kernel"));
  std::printf(" %d", nvJitLinkAddData(handle, type, second.data(), second.size(), "helper"));
  std::printf(" %d", nvJitLinkComplete(handle));
  std::size_t size = 0;
  nvJitLinkGetLinkedCubinSize(handle, &size);
  std::string cubin(size, '\0');
  std::printf(" %d", nvJitLinkGetLinkedCubin(handle, cubin.data()));
  std::printf(" %d\n", nvJitLinkDestroy(&handle));
  return cubin;
}

void run(const std::string& cubin) {
  constexpr int count = 64;
  CUmodule module = nullptr;
  CUfunction saxpy = nullptr;
  CUdeviceptr x = 0, y = 0;
  SAY(cuModuleLoadData(&module, cubin.data()));
  SAY(cuModuleGetFunction(&saxpy, module, "saxpy"));
  std::vector<float> host(2 * count);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  cuMemAlloc(&x, 2 * count * sizeof(float));
  cuMemAlloc(&y, count * sizeof(float));
  cuMemcpyHtoD(x, host.data(), 2 * count * sizeof(float));
  cuMemsetD32(y, 0, count);
  float factor = 3;
  void* arguments[] = {&factor, &x, &y};
  SAY(cuLaunchKernel(saxpy, 2, 1, 1, count / 2, 1, 1, 0, nullptr, arguments, nullptr));
  SAY(cuMemcpyDtoH(host.data(), y, count * sizeof(float)));
  std::printf("%g %g\n", host[1], host[count - 1]);
  cuModuleUnload(module);
}

}  // namespace

int main() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  const std::string code = optimizable(kernel, "kernel.cu");
  run(linked(code, NVJITLINK_INPUT_LTOIR, optimizable(helper, "helper.cu")));
  run(linked(code, NVJITLINK_INPUT_PTX, compiled(helper, "helper.cu", "-rdc=true")));
}
