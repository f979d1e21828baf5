// SPDX-License-Identifier: MIT
// Green contexts: multiprocessors split off the device's, contexts and streams that have those
// alone, what runs on them, and what is refused.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>
__global__ void mark(unsigned* used) {
  unsigned own = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(own));
  if (threadIdx.x == 0) atomicAdd(used + own, 1u);
}
__global__ void nothing() {}

namespace {

const char* name_of(CUresult result) {
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  return name != nullptr ? name : "?";
}
#define SAY(call) std::printf("%-43s %s\n", name_of(call), #call)

void show(const char* what, const CUdevResource& resource) {
  std::printf("%s: type %d, %u multiprocessors, at least %u, in steps of %u\n", what,
              static_cast<int>(resource.type), resource.sm.smCount, resource.sm.minSmPartitionSize,
              resource.sm.smCoscheduledAlignment);
}

void splits(const CUdevResource& all) {
  for (const unsigned flags : {0u, 1u, 2u, 3u}) {
    for (const unsigned least : {0u, 2u, 8u, 9u, 20u, 32u, 66u, 132u, 133u}) {
      unsigned possible = 0;
      CUresult result =
          cuDevSmResourceSplitByCount(nullptr, &possible, &all, nullptr, flags, least);
      std::printf("flags %u, at least %u: %s, %u groups", flags, least, name_of(result), possible);
      std::vector<CUdevResource> groups(2);
      CUdevResource rest{};
      unsigned count = 2;
      result = cuDevSmResourceSplitByCount(groups.data(), &count, &all, &rest, flags, least);
      if (result == CUDA_SUCCESS) {
        std::printf("; %u of %u, the rest %d %u", count, groups[0].sm.smCount,
                    static_cast<int>(rest.type), rest.sm.smCount);
      }
      std::puts("");
    }
  }
}

int count_used(const unsigned* used) {
  int count = 0;
  for (int i = 0; i < 132; ++i) count += used[i] > 0 ? 1 : 0;
  return count;
}

void cooperative(int blocks) {
  const cudaError_t result = cudaLaunchCooperativeKernel(
      reinterpret_cast<const void*>(nothing), dim3(blocks), dim3(128), nullptr, 0, nullptr);
  std::printf("%d blocks together: %s\n", blocks, cudaGetErrorName(result));
  cudaGetLastError();
}

}  // namespace

int main() {
  CUdevice device = 0;
  CUcontext primary = nullptr;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&primary, device);
  cuCtxSetCurrent(primary);

  CUdevResource all{}, found{}, none{};
  SAY(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
  show("the device", all);
  SAY(cuDeviceGetDevResource(device, &found, CU_DEV_RESOURCE_TYPE_INVALID));
  SAY(cuDeviceGetDevResource(device, nullptr, CU_DEV_RESOURCE_TYPE_SM));
  SAY(cuDeviceGetDevResource(9, &found, CU_DEV_RESOURCE_TYPE_SM));
  SAY(cuCtxGetDevResource(primary, &found, CU_DEV_RESOURCE_TYPE_SM));
  SAY(cuCtxGetDevResource(nullptr, &found, CU_DEV_RESOURCE_TYPE_SM));
  splits(all);

  CUdevResource parts[2], rest{};
  unsigned count = 2;
  SAY(cuDevSmResourceSplitByCount(parts, &count, &all, &rest, 0, 16));
  SAY(cuDevSmResourceSplitByCount(parts, nullptr, &all, &rest, 0, 16));
  SAY(cuDevSmResourceSplitByCount(parts, &count, &none, &rest, 0, 16));
  CUdevResource again{};
  unsigned one = 1, zero = 0;
  SAY(cuDevSmResourceSplitByCount(&again, &one, &parts[0], nullptr, 0, 8));
  SAY(cuDevSmResourceSplitByCount(&again, &zero, &all, nullptr, 0, 8));
  show("a part", parts[0]);

  CUdevResourceDesc first = nullptr, both = nullptr, wrong = nullptr;
  SAY(cuDevResourceGenerateDesc(&first, parts, 1));
  SAY(cuDevResourceGenerateDesc(&both, parts, 2));
  SAY(cuDevResourceGenerateDesc(nullptr, parts, 1));
  SAY(cuDevResourceGenerateDesc(&wrong, nullptr, 1));
  SAY(cuDevResourceGenerateDesc(&wrong, &none, 1));
  CUgreenCtx green = nullptr, wide = nullptr;
  SAY(cuGreenCtxCreate(&green, first, device, CU_GREEN_CTX_DEFAULT_STREAM));
  SAY(cuGreenCtxCreate(&wide, both, device, CU_GREEN_CTX_DEFAULT_STREAM));
  SAY(cuGreenCtxCreate(&wide, both, device, 0));
  SAY(cuGreenCtxCreate(nullptr, both, device, CU_GREEN_CTX_DEFAULT_STREAM));
  SAY(cuGreenCtxCreate(&wide, both, 9, CU_GREEN_CTX_DEFAULT_STREAM));
  SAY(cuGreenCtxGetDevResource(wide, &found, CU_DEV_RESOURCE_TYPE_SM));
  show("of both", found);
  unsigned long long number = 0, of_primary = 0;
  SAY(cuGreenCtxGetId(green, &number));
  SAY(cuCtxGetId(primary, &of_primary));
  std::printf("another number %d\n", number != of_primary);
  SAY(cuGreenCtxGetId(nullptr, &number));
  CUcontext context = nullptr;
  SAY(cuCtxFromGreenCtx(&context, green));
  SAY(cuCtxFromGreenCtx(nullptr, green));
  SAY(cuCtxFromGreenCtx(&context, nullptr));

  CUstream stream = nullptr, plain = nullptr, refused = nullptr;
  SAY(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  SAY(cuGreenCtxStreamCreate(&refused, green, CU_STREAM_DEFAULT, 0));
  SAY(cuGreenCtxStreamCreate(&refused, nullptr, CU_STREAM_NON_BLOCKING, 0));
  cuStreamCreate(&plain, CU_STREAM_DEFAULT);
  CUgreenCtx owner = nullptr;
  SAY(cuStreamGetGreenCtx(stream, &owner));
  std::printf("its own %d\n", owner == green);
  SAY(cuStreamGetGreenCtx(plain, &owner));
  std::printf("none %d\n", owner == nullptr);
  CUcontext regular = nullptr;
  SAY(cuStreamGetCtx_v2(stream, &regular, &owner));
  std::printf("the primary one %d, its own %d\n", regular == primary, owner == green);
  SAY(cuStreamGetCtx(stream, &regular));
  std::printf("the primary one %d, its own %d\n", regular == primary, regular == context);
  SAY(cuStreamGetCtx_v2(plain, &regular, &owner));
  std::printf("the primary one %d, none %d\n", regular == primary, owner == nullptr);

  unsigned* used = nullptr;
  constexpr std::size_t bytes = 132 * sizeof(unsigned);
  cudaMallocManaged(&used, bytes);
  std::memset(used, 0, bytes);
  mark<<<2000, 128, 0, stream>>>(used);
  SAY(cuStreamSynchronize(stream));
  std::printf("%d multiprocessors used\n", count_used(used));

  SAY(cuCtxSetCurrent(context));
  SAY(cuCtxGetDevResource(context, &found, CU_DEV_RESOURCE_TYPE_SM));
  show("the context", found);
  SAY(cuGreenCtxGetId(nullptr, &number));
  int processors = 0;
  cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  std::printf("the device still has %d\n", processors);
  CUstream inside = nullptr;
  SAY(cuStreamCreate(&inside, CU_STREAM_NON_BLOCKING));
  SAY(cuStreamGetGreenCtx(inside, &owner));
  std::printf("its own %d\n", owner == green);
  SAY(cuStreamGetGreenCtx(nullptr, &owner));
  std::printf("its own %d\n", owner == green);
  std::memset(used, 0, bytes);
  mark<<<2000, 128>>>(used);
  cudaDeviceSynchronize();
  std::printf("%d multiprocessors used\n", count_used(used));
  cooperative(256);
  cooperative(257);
  cudaDeviceSynchronize();
  CUevent event = nullptr;
  cuEventCreate(&event, CU_EVENT_DEFAULT);
  SAY(cuGreenCtxRecordEvent(green, event));
  SAY(cuGreenCtxWaitEvent(green, event));
  SAY(cuCtxRecordEvent(context, event));
  SAY(cuCtxWaitEvent(context, event));
  SAY(cuGreenCtxRecordEvent(green, nullptr));
  SAY(cuGreenCtxRecordEvent(nullptr, event));
  SAY(cuCtxRecordEvent(nullptr, event));
  SAY(cuEventSynchronize(event));

  SAY(cuCtxDestroy(context));
  SAY(cuGreenCtxDestroy(green));
  CUdeviceptr memory = 0;
  SAY(cuMemAlloc(&memory, 64));
  SAY(cuGreenCtxDestroy(nullptr));
  SAY(cuCtxSetCurrent(primary));
  SAY(cuMemAlloc(&memory, 64));
}
