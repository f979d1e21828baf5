// SPDX-License-Identifier: MIT
// A kernel that fails, launched by the driver's API: the call that tells is no mistake of its own,
// and is missed where there is none.
#include <cuda.h>

#include <cstring>
namespace {

constexpr const char* ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry stop()
{
  trap;
  ret;
}
)";

}  // namespace

int main(int count, char** arguments) {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction stop = nullptr;
  cuInit(0);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  cuModuleLoadData(&module, ptx);
  cuModuleGetFunction(&stop, module, "stop");
  cuLaunchKernel(stop, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
  if (count > 1 && std::strcmp(arguments[1], "asks") == 0) cuCtxSynchronize();
  return 0;
}
