// SPDX-License-Identifier: MIT
// Machine code that NVRTC makes as the program runs: a cubin of the device's own architecture and
// one of another; and a function that an old version had not.
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "driver_program.h"
namespace {

constexpr int name_width = 28;

constexpr const char* source = R"(
__constant__ float factor;
template <int Step> __global__ void scale(float* out, const float* in) {
  out[threadIdx.x] = factor * in[Step * threadIdx.x];
}
)";

std::string machine_code(const char* architecture, std::string* name) {
  nvrtcProgram program = nullptr;
  nvrtcCreateProgram(&program, source, "scale.cu", 0, nullptr, nullptr);
  nvrtcAddNameExpression(program, "scale<2>");
  const std::string option = std::string("-arch=") + architecture;
  const char* options[] = {option.c_str(), "-lineinfo"};
  nvrtcCompileProgram(program, 2, options);
  const char* lowered = nullptr;
  nvrtcGetLoweredName(program, "scale<2>", &lowered);
  if (name != nullptr) *name = lowered;
  std::size_t size = 0;
  nvrtcGetCUBINSize(program, &size);
  std::string cubin(size, '\0');
  nvrtcGetCUBIN(program, cubin.data());
  nvrtcDestroyProgram(&program);
  return cubin;
}

}  // namespace

int main() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  CUdeviceptr in = 0, out = 0, factor = 0;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);

  std::string name;
  const std::string cubin = machine_code("sm_90", &name);
  SAY(cuModuleLoadData(&module, cubin.data()));
  SAY(cuModuleGetFunction(&scale, module, name.c_str()));
  SAY(cuModuleGetGlobal(&factor, nullptr, module, "factor"));
  std::vector<float> host(64);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  const float three = 3;
  cuMemAlloc(&in, 256);
  cuMemAlloc(&out, 128);
  cuMemcpyHtoD(in, host.data(), 256);
  SAY(cuMemcpyHtoD(factor, &three, sizeof three));
  void* arguments[] = {&out, &in};
  SAY(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  SAY(cuMemcpyDtoH(host.data(), out, 128));
  std::printf("%g %g\n", host[1], host[31]);

  const std::string of_another = machine_code("sm_80", nullptr);
  SAY(cuModuleLoadData(&module, of_another.data()));

  void* function = nullptr;
  CUdriverProcAddressQueryResult status{};
  SAY(cuGetProcAddress("cuTensorMapEncodeTiled", &function, 11000, 0, &status));
  std::printf("%d %d\n", function != nullptr, status);
  SAY(cuGetProcAddress("cuTensorMapEncodeTiled", &function, 12000, 0, &status));
  std::printf("%d %d\n", function != nullptr, status);
}
