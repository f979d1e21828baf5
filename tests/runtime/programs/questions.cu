// SPDX-License-Identifier: MIT
// The settings and questions of programs that change nothing in their results: attributes of
// streams, advice on managed memory, pools, what is known of devices, functions and pointers.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#define SAY(call) std::printf("%-26s %s\n", cudaGetErrorName(call), #call)

__global__ void add(int* out, double x, char c) { out[threadIdx.x] += static_cast<int>(x) + c; }

namespace {

const char* name_of(CUresult result) {
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  return name != nullptr ? name : "?";
}
#define SAY_DRIVER(call) std::printf("%-26s %s\n", name_of(call), #call)

void streams() {
  cudaStream_t first = nullptr, second = nullptr;
  cudaStreamCreate(&first);
  cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, -2);
  void* memory = nullptr;
  cudaMalloc(&memory, 1 << 20);
  cudaStreamAttrValue value{}, found{};
  value.accessPolicyWindow = {memory, 1 << 20, 0.5f, cudaAccessPropertyPersisting,
                              cudaAccessPropertyStreaming};
  SAY(cudaStreamGetAttribute(first, cudaStreamAttributeAccessPolicyWindow, &found));
  std::printf("%zu\n", found.accessPolicyWindow.num_bytes);
  SAY(cudaStreamSetAttribute(first, cudaStreamAttributeAccessPolicyWindow, &value));
  SAY(cudaStreamGetAttribute(first, cudaStreamAttributeAccessPolicyWindow, &found));
  std::printf("%d %zu %g\n", found.accessPolicyWindow.base_ptr == memory,
              found.accessPolicyWindow.num_bytes, found.accessPolicyWindow.hitRatio);
  value = {};
  value.syncPolicy = cudaSyncPolicyYield;
  SAY(cudaStreamSetAttribute(first, cudaStreamAttributeSynchronizationPolicy, &value));
  SAY(cudaStreamGetAttribute(first, cudaStreamAttributeSynchronizationPolicy, &found));
  std::printf("%d\n", found.syncPolicy);
  SAY(cudaStreamGetAttribute(second, cudaStreamAttributePriority, &found));
  std::printf("%d\n", found.priority);
  value = {};
  value.memSyncDomain = cudaLaunchMemSyncDomainRemote;
  SAY(cudaStreamSetAttribute(first, cudaStreamAttributeMemSyncDomain, &value));
  SAY(cudaStreamCopyAttributes(second, first));
  SAY(cudaStreamGetAttribute(second, cudaStreamAttributeMemSyncDomain, &found));
  std::printf("%d\n", found.memSyncDomain);
  SAY(cudaStreamSetAttribute(first, cudaLaunchAttributeCooperative, &value));
  SAY(cudaCtxResetPersistingL2Cache());
  CUstreamAttrValue driver{};
  SAY_DRIVER(cuStreamGetAttribute(second, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &driver));
  std::printf("%d\n", driver.syncPolicy);
  cudaFree(memory);
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
}

void advice() {
  constexpr std::size_t bytes = 1 << 20, half = bytes / 2;
  char* memory = nullptr;
  void* device_memory = nullptr;
  cudaMallocManaged(&memory, bytes);
  cudaMalloc(&device_memory, bytes);
  const cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
  const cudaMemLocation host = {cudaMemLocationTypeHost, 0};
  const cudaMemLocation nowhere = {cudaMemLocationTypeDevice, 99};
  const auto ask = [&](cudaMemRangeAttribute which, const char* at, std::size_t count) {
    int number = 77;
    const cudaError_t result = cudaMemRangeGetAttribute(&number, 4, which, at, count);
    if (result != cudaSuccess) return std::printf(" %s", cudaGetErrorName(result));
    return std::printf(" %d", number);
  };
  const auto show = [&] {
    for (const cudaMemRangeAttribute which :
         {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributePreferredLocation,
          cudaMemRangeAttributeLastPrefetchLocation, cudaMemRangeAttributePreferredLocationType}) {
      ask(which, memory, bytes);
      ask(which, memory, half);
      ask(which, memory + half, half);
    }
    int who[3] = {};
    cudaMemRangeGetAttribute(who, 12, cudaMemRangeAttributeAccessedBy, memory, bytes);
    std::printf(", %d %d %d\n", who[0], who[1], who[2]);
  };
  show();
  SAY(cudaMemAdvise(memory, half, cudaMemAdviseSetReadMostly, device));
  SAY(cudaMemAdvise(memory, bytes, cudaMemAdviseSetPreferredLocation, device));
  SAY(cudaMemAdvise(memory, bytes, cudaMemAdviseSetAccessedBy, device));
  show();
  SAY(cudaMemAdvise(memory + half, half, cudaMemAdviseSetPreferredLocation, host));
  SAY(cudaMemAdvise(memory, bytes, cudaMemAdviseSetReadMostly, device));
  SAY(cudaMemPrefetchAsync(memory, half, device, 0, nullptr));
  show();
  SAY(cudaMemPrefetchAsync(memory, bytes, host, 0, nullptr));
  SAY(cudaMemAdvise(memory, bytes, cudaMemAdviseUnsetReadMostly, device));
  SAY(cudaMemAdvise(memory, bytes, cudaMemAdviseUnsetPreferredLocation, device));
  SAY(cudaMemAdvise(memory, bytes, cudaMemAdviseUnsetAccessedBy, device));
  cudaDeviceSynchronize();
  show();
  SAY(cudaMemAdvise(memory, bytes, cudaMemAdviseSetPreferredLocation, nowhere));
  SAY(cudaMemAdvise(device_memory, bytes, cudaMemAdviseSetReadMostly, device));
  SAY(cudaMemPrefetchAsync(device_memory, bytes, device, 0, nullptr));
  int a = 0, b = 0;
  void* data[] = {&a, &b};
  std::size_t sizes[] = {4, 4};
  cudaMemRangeAttribute which[] = {cudaMemRangeAttributeReadMostly,
                                   cudaMemRangeAttributeLastPrefetchLocation};
  SAY(cudaMemRangeGetAttributes(data, sizes, which, 2, memory, bytes));
  std::printf("%d %d\n", a, b);
  sizes[1] = 3;
  SAY(cudaMemRangeGetAttributes(data, sizes, which, 2, memory, bytes));
  cudaFree(memory);
  cudaFree(device_memory);
}

void pools() {
  cudaMemLocation location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t usual = nullptr, again = nullptr, own = nullptr, current = nullptr;
  SAY(cudaDeviceGetDefaultMemPool(&usual, 0));
  SAY(cudaMemGetDefaultMemPool(&again, &location, cudaMemAllocationTypePinned));
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = location;
  SAY(cudaMemPoolCreate(&own, &properties));
  std::printf("%d %d\n", usual == again, usual == own);
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  SAY(cudaMemPoolGetAccess(&flags, own, &location));
  std::printf("%d\n", flags);
  std::uint64_t number = 99, threshold = 1 << 25;
  int is_on = 9, off = 0;
  SAY(cudaMemPoolGetAttribute(own, cudaMemPoolAttrReleaseThreshold, &number));
  SAY(cudaMemPoolGetAttribute(own, cudaMemPoolReuseAllowOpportunistic, &is_on));
  std::printf("%lu %d\n", number, is_on);
  SAY(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold));
  SAY(cudaMemPoolSetAttribute(own, cudaMemPoolReuseAllowOpportunistic, &off));
  SAY(cudaMemPoolGetAttribute(own, cudaMemPoolAttrReleaseThreshold, &number));
  SAY(cudaMemPoolGetAttribute(own, cudaMemPoolReuseAllowOpportunistic, &is_on));
  std::printf("%lu %d\n", number, is_on);
  void *from_own = nullptr, *from_current = nullptr;
  SAY(cudaMemSetMemPool(&location, cudaMemAllocationTypePinned, own));
  SAY(cudaDeviceGetMemPool(&current, 0));
  SAY(cudaMallocFromPoolAsync(&from_own, 1 << 20, usual, nullptr));
  SAY(cudaMallocAsync(&from_current, 3 << 20, nullptr));
  cudaDeviceSynchronize();
  std::uint64_t used = 0, high = 0;
  cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used);
  std::printf("%d %lu\n", current == own, used);
  CUmemoryPool pool = nullptr;
  SAY_DRIVER(cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
                                   reinterpret_cast<CUdeviceptr>(from_current)));
  std::printf("%d\n", pool == own);
  SAY(cudaFreeAsync(from_own, nullptr));
  SAY(cudaFreeAsync(from_current, nullptr));
  cudaDeviceSynchronize();
  cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used);
  cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemHigh, &high);
  std::printf("%lu %lu\n", used, high);
  SAY(cudaMemPoolTrimTo(own, 0));
  SAY(cudaMemPoolDestroy(own));
  SAY(cudaDeviceGetMemPool(&current, 0));
  std::printf("%d\n", current == usual);
}

void devices() {
  int value = 9, found = 9;
  char bus[32] = {};
  SAY(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
  SAY(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 99));
  SAY(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  SAY(cudaDeviceGetByPCIBusId(&found, bus));
  std::printf("%d\n", found);
  SAY(cudaDeviceGetByPCIBusId(&found, nullptr));
  CUdevice device = 0;
  cuDeviceGet(&device, 0);
  SAY_DRIVER(cuDeviceGetByPCIBusId(&device, bus));
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);
  SAY_DRIVER(cuCtxGetDevice_v2(&device, context));
  SAY_DRIVER(cuCtxSynchronize_v2(context));
}

void functions() {
  for (std::size_t i = 0; i < 4; ++i) {
    std::size_t offset = 99, bytes = 99;
    const cudaError_t result =
        cudaFuncGetParamInfo(reinterpret_cast<const void*>(add), i, &offset, &bytes);
    std::printf("%s %zu %zu\n", cudaGetErrorName(result), offset, bytes);
  }
  cudaFunction_t function = nullptr;
  cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(add));
  int grid = 0, block = 0, multiprocessors = 0, blocks = 0;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  SAY_DRIVER(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, nullptr, 0, 0));
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, block, 0);
  std::printf("%d %d\n", block, grid == blocks * multiprocessors);
  SAY_DRIVER(cuOccupancyMaxPotentialBlockSizeWithFlags(
      &grid, &block, function, [](int size) { return std::size_t(size) * 64; }, 0, 100, 0));
  std::printf("%d\n", block);
}

void pointers() {
  CUdeviceptr memory = 0;
  cuMemAlloc(&memory, 1000);
  unsigned is_synchronous = 9, yes = 1;
  SAY_DRIVER(cuPointerGetAttribute(&is_synchronous, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
  std::printf("%u\n", is_synchronous);
  SAY_DRIVER(cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory + 8));
  SAY_DRIVER(cuPointerGetAttribute(&is_synchronous, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
  std::printf("%u\n", is_synchronous);
  SAY_DRIVER(cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
  cuMemFree(memory);
}

void captures() {
  CUstream stream = nullptr;
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  SAY_DRIVER(cuThreadExchangeStreamCaptureMode(&mode));
  std::printf("%d\n", mode);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  cuuint64_t number = 0;
  CUgraph graph = nullptr, ended = nullptr;
  const CUgraphNode* nodes = nullptr;
  std::size_t count = 9;
  SAY_DRIVER(cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
  std::printf("%d\n", status);
  cuGraphCreate(&graph, 0);
  SAY_DRIVER(cuStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                         CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUhostFn nothing = [](void*) {};
  cuLaunchHostFunc(stream, nothing, nullptr);
  SAY_DRIVER(cuStreamGetCaptureInfo(stream, &status, &number, &ended, &nodes, nullptr, &count));
  std::printf("%d %d %d %zu\n", status, number != 0, ended == graph, count);
  SAY_DRIVER(cuStreamEndCapture(stream, &ended));
  std::printf("%d\n", ended == graph);
  CUuserObject object = nullptr;
  SAY_DRIVER(cuUserObjectCreate(&object, nullptr, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  SAY_DRIVER(cuUserObjectRetain(object, 2));
  SAY_DRIVER(cuUserObjectRelease(object, 3));
  cuGraphDestroy(graph);
  cuStreamDestroy(stream);
}

}  // namespace

int main() {
  cudaFree(nullptr);
  streams();
  advice();
  pools();
  devices();
  functions();
  pointers();
  captures();
  SAY(cudaSetDeviceFlags(cudaDeviceScheduleYield | cudaDeviceMapHost));
  SAY(cudaSetDeviceFlags(cudaDeviceScheduleYield | cudaDeviceScheduleSpin));
  SAY(cudaSetDeviceFlags(0xffff));
  cudaMemPool_t pool = nullptr;
  SAY(cudaDeviceGetDefaultMemPool(&pool, 5));
  cudaGetLastError();
  int* out = nullptr;
  cudaMalloc(&out, 128);
  cudaMemset(out, 0, 128);
  add<<<1, 32>>>(out, 2.5, 1);
  cudaDeviceSynchronize();
  cudaFree(out);
}
