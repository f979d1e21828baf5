// SPDX-License-Identifier: MIT
// The driver's API: contexts, a module compiled by NVRTC as the program runs, memory, launches,
// functions by their names, and what is wrong.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "driver_program.h"
namespace {

constexpr int name_width = 34;

constexpr const char* source = R"(
__constant__ float factor;
__device__ int calls;
extern "C" __global__ void scale(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) atomicAdd(&calls, 1);
  if (i < n) out[i] = factor * in[i];
}
)";

}  // namespace

int main() {
  int count = 0, major = 0;
  CUdevice device = 0;
  CUcontext context = nullptr, current = nullptr;
  CUmodule module = nullptr;
  CUfunction scale = nullptr, none = nullptr;
  CUdeviceptr in = 0, out = 0, factor = 0, calls = 0, base = 0;
  std::size_t bytes = 0;

  SAY(cuDeviceGetCount(&count));  // before cuInit
  SAY(cuInit(1));
  SAY(cuInit(0));
  SAY(cuDeviceGetCount(&count));
  SAY(cuDeviceGet(&device, 99));
  SAY(cuDeviceGet(&device, 0));
  SAY(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  std::printf("%d device, sm_%d\n", count, major * 10);
  SAY(cuMemAlloc(&in, 16));  // without a context
  SAY(cuDevicePrimaryCtxRetain(&context, device));
  SAY(cuCtxGetCurrent(&current));
  std::printf("current: %s\n", current == nullptr ? "none" : "one");
  SAY(cuCtxSetCurrent(context));
  SAY(cuCtxGetCurrent(&current));
  std::printf("current: %s\n", current == context ? "the primary one" : "another");

  const std::string ptx = compiled(source, "scale.cu");
  SAY(cuModuleLoadData(&module, "not PTX"));
  SAY(cuModuleLoadData(&module, ptx.c_str()));
  SAY(cuModuleGetFunction(&none, module, "nothing"));
  SAY(cuModuleGetFunction(&scale, module, "scale"));
  SAY(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
  SAY(cuModuleGetGlobal(&calls, nullptr, module, "calls"));

  constexpr int n = 1000;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i);
  const float two = 2;
  SAY(cuMemAlloc(&in, 0));
  SAY(cuMemAlloc(&in, n * 4));
  SAY(cuMemAlloc(&out, n * 4));
  SAY(cuMemcpyHtoD(factor, &two, 4));
  SAY(cuMemcpyHtoD(in, host.data(), n * 4));
  SAY(cuMemcpyHtoD(in, host.data(), n * 8));
  SAY(cuMemGetAddressRange(&base, &bytes, in + 100));
  std::printf("%d %zu\n", base == in, bytes);
  void* arguments[] = {&out, &in, const_cast<int*>(&n)};
  SAY(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  SAY(cuLaunchKernel(scale, 8, 1, 1, 2048, 1, 1, 0, nullptr, arguments, nullptr));
  struct {
    CUdeviceptr out, in;
    int n;
  } packed = {in, out, n};
  std::size_t size = offsetof(decltype(packed), n) + sizeof n;  // a byte more would be refused
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  SAY(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra));
  SAY(cuCtxSynchronize());
  SAY(cuMemcpyDtoH(host.data(), in, n * 4));
  int times = 0;
  SAY(cuMemcpyDtoH(&times, calls, 4));
  std::printf("%g %g, %d launches\n", host[1], host[n - 1], times);
  SAY(cuMemsetD32(in, 7, n));
  SAY(cuMemcpyDtoH(host.data(), in, n * 4));
  int seven = 0;
  std::memcpy(&seven, host.data() + n - 1, 4);
  std::printf("%d\n", seven);

  CUDA_MEMCPY2D box{};
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = host.data();
  box.srcPitch = 40;
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.dstDevice = out;
  box.dstPitch = 80;
  box.WidthInBytes = 40;
  box.Height = 10;
  SAY(cuMemcpy2D(&box));

  CUstream stream = nullptr;
  CUevent begin = nullptr, end = nullptr;
  float ms = -1;
  SAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  SAY(cuEventCreate(&begin, 0));
  SAY(cuEventCreate(&end, 0));
  SAY(cuEventRecord(begin, stream));
  SAY(cuMemcpyDtoHAsync(host.data(), in, n * 4, stream));
  SAY(cuEventRecord(end, stream));
  SAY(cuEventSynchronize(end));
  SAY(cuEventElapsedTime(&ms, begin, end));
  std::printf("%d\n", ms >= 0);
  SAY(cuStreamDestroy(stream));

  void* found = nullptr;
  CUdriverProcAddressQueryResult status{};
  SAY(cuGetProcAddress("cuMemAlloc", &found, 13000, 0, &status));
  std::printf("%d %d\n", found != nullptr, status);
  using Allocate = CUresult (*)(CUdeviceptr*, std::size_t);
  CUdeviceptr other = 0;
  SAY(reinterpret_cast<Allocate>(found)(&other, 64));
  SAY(cuGetProcAddress("cuNothing", &found, 13000, 0, &status));
  std::printf("%d %d\n", found != nullptr, status);
  int blocks = 0, threads = 0;
  SAY(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale));
  SAY(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 0));
  std::printf("%d %d\n", threads, blocks);
  SAY(cuMemFree(other));
  SAY(cuMemFree(other));
  SAY(cuModuleUnload(module));
  SAY(cuModuleUnload(module));
  SAY(cuDevicePrimaryCtxRelease(device));
  SAY(cuMemAlloc(&in, 16));
  CUcontext own = nullptr;
  SAY(cuCtxCreate(&own, nullptr, 0, device));
  SAY(cuMemAlloc(&in, 16));
  SAY(cuCtxDestroy(own));
}
