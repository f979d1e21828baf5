// SPDX-License-Identifier: MIT
// Calls of the driver's API that fail for a mistake, and others whose error is the answer to what
// they ask.
#include <cuda.h>

#include <vector>
namespace {

constexpr const char* ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry fill(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.volatile.global.u32 [%rd3], %r1;
  ret;
}
)";

}  // namespace

int main() {
  CUcontext context = nullptr;
  CUdevice device = 0;
  CUmodule module = nullptr;
  CUfunction fill = nullptr, none = nullptr;
  CUdeviceptr out = 0, nothing = 0;
  CUstream stream = nullptr;
  unsigned kind = 0;
  int value = 0;
  std::vector<unsigned> host(64);

  // Is the driver in use, and of which device? Is there such an attribute, variable or kernel, and
  // whose memory is it?
  cuCtxGetCurrent(&context);
  cuInit(0);
  cuCtxGetDevice(&device);
  cuDeviceGet(&device, 0);
  cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, device);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  cuModuleLoadData(&module, ptx);
  cuModuleGetFunction(&none, module, "drain");
  cuModuleGetGlobal(&nothing, nullptr, module, "level");
  cuModuleGetFunction(&fill, module, "fill");
  cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                        reinterpret_cast<CUdeviceptr>(host.data()));
  cuMemGetAddressRange(&nothing, nullptr, reinterpret_cast<CUdeviceptr>(host.data()));

  cuMemAlloc(&nothing, 0);
  cuMemAlloc(&out, 256);
  void* arguments[] = {&out};
  for (int i = 0; i < 2; ++i) {
    cuLaunchKernel(fill, 1, 1, 1, 2048, 1, 1, 0, nullptr, arguments, nullptr);
  }
  cuLaunchKernel(none, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr);
  cuLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr);
  cuMemcpyDtoH(host.data(), out, 260);
  cuMemcpyDtoH(host.data(), out, 256);
  cuStreamCreate(&stream, 0);
  cuStreamQuery(stream);
  cuStreamDestroy(stream);
  cuStreamSynchronize(stream);
  cuMemFree(out);
  cuMemFree(out);
  cuDevicePrimaryCtxRelease(device);
  return host[63] == 63 ? 0 : 1;
}
