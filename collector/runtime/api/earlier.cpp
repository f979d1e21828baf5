// SPDX-License-Identifier: MIT
// The calls of programs before CUDA 13 that have other parameters, or names that are gone.
#include <cstddef>
#include <cstring>

#include "collector/runtime/api/advice.h"
#include "collector/runtime/api/answer.h"
#include "collector/runtime/api/call.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {
namespace {

// The members of cudaDeviceProp in CUDA 12, in their order: those of today, and those that CUDA 13
// dropped.
// clang-format off
#define WARPMETER_PROPERTIES_BEFORE_13(SAME, GONE) \
  SAME(name) SAME(uuid) SAME(luid) SAME(luidDeviceNodeMask) SAME(totalGlobalMem) \
  SAME(sharedMemPerBlock) SAME(regsPerBlock) SAME(warpSize) SAME(memPitch) \
  SAME(maxThreadsPerBlock) SAME(maxThreadsDim) SAME(maxGridSize) GONE(clockRate) \
  SAME(totalConstMem) SAME(major) SAME(minor) SAME(textureAlignment) \
  SAME(texturePitchAlignment) GONE(deviceOverlap) SAME(multiProcessorCount) \
  GONE(kernelExecTimeoutEnabled) SAME(integrated) SAME(canMapHostMemory) GONE(computeMode) \
  SAME(maxTexture1D) SAME(maxTexture1DMipmap) GONE(maxTexture1DLinear) SAME(maxTexture2D) \
  SAME(maxTexture2DMipmap) SAME(maxTexture2DLinear) SAME(maxTexture2DGather) \
  SAME(maxTexture3D) SAME(maxTexture3DAlt) SAME(maxTextureCubemap) SAME(maxTexture1DLayered) \
  SAME(maxTexture2DLayered) SAME(maxTextureCubemapLayered) SAME(maxSurface1D) \
  SAME(maxSurface2D) SAME(maxSurface3D) SAME(maxSurface1DLayered) SAME(maxSurface2DLayered) \
  SAME(maxSurfaceCubemap) SAME(maxSurfaceCubemapLayered) SAME(surfaceAlignment) \
  SAME(concurrentKernels) SAME(ECCEnabled) SAME(pciBusID) SAME(pciDeviceID) SAME(pciDomainID) \
  SAME(tccDriver) SAME(asyncEngineCount) SAME(unifiedAddressing) GONE(memoryClockRate) \
  SAME(memoryBusWidth) SAME(l2CacheSize) SAME(persistingL2CacheMaxSize) \
  SAME(maxThreadsPerMultiProcessor) SAME(streamPrioritiesSupported) \
  SAME(globalL1CacheSupported) SAME(localL1CacheSupported) SAME(sharedMemPerMultiprocessor) \
  SAME(regsPerMultiprocessor) SAME(managedMemory) SAME(isMultiGpuBoard) \
  SAME(multiGpuBoardGroupID) SAME(hostNativeAtomicSupported) \
  GONE(singleToDoublePrecisionPerfRatio) SAME(pageableMemoryAccess) \
  SAME(concurrentManagedAccess) SAME(computePreemptionSupported) \
  SAME(canUseHostPointerForRegisteredMem) SAME(cooperativeLaunch) \
  GONE(cooperativeMultiDeviceLaunch) SAME(sharedMemPerBlockOptin) \
  SAME(pageableMemoryAccessUsesHostPageTables) SAME(directManagedMemAccessFromHost) \
  SAME(maxBlocksPerMultiProcessor) SAME(accessPolicyMaxWindowSize) \
  SAME(reservedSharedMemPerBlock) SAME(hostRegisterSupported) SAME(sparseCudaArraySupported) \
  SAME(hostRegisterReadOnlySupported) SAME(timelineSemaphoreInteropSupported) \
  SAME(memoryPoolsSupported) SAME(gpuDirectRDMASupported) \
  SAME(gpuDirectRDMAFlushWritesOptions) SAME(gpuDirectRDMAWritesOrdering) \
  SAME(memoryPoolSupportedHandleTypes) SAME(deferredMappingCudaArraySupported) \
  SAME(ipcEventSupported) SAME(clusterLaunch) SAME(unifiedFunctionPointers)
// clang-format on

struct PropertiesBefore13 {
#define WARPMETER_SAME(member) decltype(cudaDeviceProp::member) member;
#define WARPMETER_GONE(member) int member;
  WARPMETER_PROPERTIES_BEFORE_13(WARPMETER_SAME, WARPMETER_GONE)
#undef WARPMETER_SAME
#undef WARPMETER_GONE
  int reserved[63];
};
static_assert(sizeof(PropertiesBefore13) == 1032, "as CUDA 12 has it");

void fill(PropertiesBefore13& properties, int arch, int device) {
  cudaDeviceProp today{};
  fill_properties(today, arch, device);
  std::memset(&properties, 0, sizeof properties);
#define WARPMETER_SAME(member) \
  std::memcpy(&properties.member, &today.member, sizeof properties.member);
#define WARPMETER_GONE(member)
  WARPMETER_PROPERTIES_BEFORE_13(WARPMETER_SAME, WARPMETER_GONE)
#undef WARPMETER_SAME
#undef WARPMETER_GONE
  const auto value = [&](int which) { return attribute(which, arch, device).value_or(0); };
  properties.clockRate = value(cudaDevAttrClockRate);
  properties.memoryClockRate = value(cudaDevAttrMemoryClockRate);
  properties.deviceOverlap = value(cudaDevAttrGpuOverlap);
  properties.kernelExecTimeoutEnabled = value(cudaDevAttrKernelExecTimeout);
  properties.computeMode = value(cudaDevAttrComputeMode);
  properties.maxTexture1DLinear = value(cudaDevAttrMaxTexture1DLinearWidth);
  properties.singleToDoublePrecisionPerfRatio = value(cudaDevAttrSingleToDoublePrecisionPerfRatio);
}

}  // namespace

namespace api {
namespace {

cudaError_t cudaGetDeviceProperties_v2(PropertiesBefore13* properties, int device) {
  return device_call_always("cudaGetDeviceProperties", [&](Process& p) {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (device < 0 || device >= p.devices()) return cudaErrorInvalidDevice;
    fill(*properties, p.arch(), p.device_of_machine(device));
    return cudaSuccess;
  });
}

cudaError_t prefetch_before_13(const void* pointer, std::size_t bytes, int device,
                               cudaStream_t stream) {
  return call("cudaMemPrefetchAsync", [&](Process& p) {
    return prefetch(p, reinterpret_cast<std::uint64_t>(pointer), bytes, location_of(device),
                    stream);
  });
}

cudaError_t advise_before_13(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                             int device) {
  return call("cudaMemAdvise", [&](Process& p) {
    return advise(p, reinterpret_cast<std::uint64_t>(pointer), bytes, advice, location_of(device));
  });
}

/// Banks of four bytes, as every device has had them since 2014.
cudaError_t cudaDeviceGetSharedMemConfig(int* config) {
  return call("cudaDeviceGetSharedMemConfig", [&](Process&) {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = 1;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceSetSharedMemConfig(int) {
  return call("cudaDeviceSetSharedMemConfig", [](Process&) { return cudaSuccess; });
}

}  // namespace
}  // namespace api

std::span<const Answer> earlier_answers() {
  static const Answer table[] = {
      WARPMETER_UNDECLARED(cudaGetDeviceProperties_v2),
      answer("cudaMemPrefetchAsync of CUDA 12", &api::prefetch_before_13),
      answer("cudaMemAdvise of CUDA 12", &api::advise_before_13),
      WARPMETER_UNDECLARED(cudaDeviceGetSharedMemConfig),
      WARPMETER_UNDECLARED(cudaDeviceSetSharedMemConfig),
  };
  return table;
}

}  // namespace warpmeter::runtime
