// SPDX-License-Identifier: MIT
// Memory that cuMemMap maps: a part of a growing range that nothing has set, memory that is never
// released or never unmapped, calls that are refused; with an argument a store into what may only
// be read.
#include <cuda.h>
namespace {

constexpr const char* ptx = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry write_one(.param .u64 number) {
  .reg .b64 %a<2>;
  ld.param.u64 %a0, [number];
  st.global.u32 [%a0], 1;
  ret;
}
)";

constexpr std::size_t chunk = 2 << 20;

}  // namespace

int main(int count, char**) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  CUmodule module = nullptr;
  CUfunction write_one = nullptr;
  cuModuleLoadData(&module, ptx);
  cuModuleGetFunction(&write_one, module, "write_one");

  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  CUdeviceptr table = 0;
  CUmemGenericAllocationHandle kept = 0, mapped = 0, whole = 0;
  cuMemAddressReserve(&table, 4 * chunk, 0, 0, 0);
  cuMemCreate(&kept, chunk, &properties, 0);
  cuMemCreate(&mapped, chunk, &properties, 0);
  cuMemCreate(&whole, chunk, &properties, 0);
  CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, device},
                            CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  int numbers[16] = {};
  cuMemMap(table, chunk, 0, whole, 0);
  cuMemSetAccess(table, chunk, &access, 1);
  cuMemsetD32(table, 1, 32);
  cuMemMap(table + chunk, chunk, 0, mapped, 0);
  cuMemSetAccess(table + chunk, chunk, &access, 1);
  cuMemcpyDtoH(numbers, table + 64, 64);     // set before it grew
  cuMemcpyDtoH(numbers, table + 256, 64);    // set by nobody
  cuMemcpyDtoH(numbers, table + chunk, 64);  // nor that
  CUdeviceptr end = table + 2 * chunk - 4;
  void* arguments[] = {&end};
  cuLaunchKernel(write_one, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  cuMemRelease(whole);
  cuMemRelease(mapped);
  cuMemUnmap(table, chunk);  // the first of them is given back in order
  if (count > 1) {
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    cuMemSetAccess(table + chunk, chunk, &access, 1);
    cuLaunchKernel(write_one, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
  }
  cuCtxSynchronize();
  if (count > 1) return 0;
  cuMemMap(table + chunk, chunk, 0, kept, 0);  // where something is
  cuMemUnmap(table + 3 * chunk, 2 * chunk);    // half of it is reserved
  cuMemAddressFree(table, 4 * chunk);          // something is mapped in it
}
