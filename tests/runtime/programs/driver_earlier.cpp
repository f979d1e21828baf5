// SPDX-License-Identifier: MIT
// The driver's functions of before: a kernel that is told its block and its parameters one by one,
// properties of a device in one structure, banks of shared memory.
#include <cstdio>

#include "driver_program.h"
namespace {

constexpr int name_width = 26;

/// numbers[index in the grid] = summand + (int)factor
constexpr const char* ptx = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry fill(.param .u64 numbers, .param .u32 summand, .param .f32 factor) {
  .reg .b64 %a<3>;
  .reg .b32 %r<6>;
  .reg .f32 %f<1>;
  ld.param.u64 %a0, [numbers];
  ld.param.u32 %r0, [summand];
  ld.param.f32 %f0, [factor];
  cvt.rzi.s32.f32 %r1, %f0;
  add.s32 %r1, %r1, %r0;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %a1, %r5, 4;
  add.u64 %a2, %a0, %a1;
  st.global.u32 [%a2], %r1;
  ret;
}
)";

}  // namespace

int main() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction fill = nullptr;
  CUdeviceptr numbers = 0;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  cuModuleLoadData(&module, ptx);
  cuModuleGetFunction(&fill, module, "fill");
  cuMemAlloc(&numbers, 64 * 4);
  cuMemsetD8(numbers, 0, 64 * 4);

  SAY(cuFuncSetBlockShape(fill, 0, 1, 1));
  SAY(cuFuncSetBlockShape(fill, 16, 1, 1));
  SAY(cuFuncSetSharedSize(fill, 128));
  SAY(cuParamSetv(fill, 0, &numbers, sizeof numbers));
  SAY(cuParamSeti(fill, 8, 40));
  SAY(cuParamSetf(fill, 12, 2.5f));
  SAY(cuParamSetSize(fill, 16));
  int found[64] = {};
  for (int blocks = 1; blocks < 4; ++blocks) {
    if (blocks == 1) SAY(cuLaunch(fill));
    if (blocks == 2) SAY(cuLaunchGrid(fill, 2, 1));
    if (blocks == 3) SAY(cuLaunchGridAsync(fill, 3, 1, nullptr));
    SAY(cuCtxSynchronize());
    cuMemcpyDtoH(found, numbers, sizeof found);
    int filled = 0;
    for (const int one : found) filled += one == 42 ? 1 : 0;
    std::printf("%d\n", filled);
  }

  CUdevprop properties{};
  SAY(cuDeviceGetProperties(&properties, device));
  std::printf("%d %d %d\n", properties.maxThreadsPerBlock, properties.maxThreadsDim[2],
              properties.SIMDWidth);
  CUsharedconfig config = CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE;
  SAY(cuCtxGetSharedMemConfig(&config));
  std::printf("%d\n", config);
  SAY(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
  cuMemFree(numbers);
}
