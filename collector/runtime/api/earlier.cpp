// SPDX-License-Identifier: MIT
// The calls of programs before CUDA 13 that have other parameters, or names that are gone.
#include <cstddef>
#include <cstring>

#include "collector/runtime/api/advice.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {
namespace earlier {
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

cudaError_t get_device_properties(Process& process, PropertiesBefore13* properties, int device) {
  if (properties == nullptr) return cudaErrorInvalidValue;
  if (device < 0 || device >= process.devices()) return cudaErrorInvalidDevice;
  fill(*properties, process.arch(), process.device_of_machine(device));
  return cudaSuccess;
}

cudaError_t prefetch_before_13(Process& process, const void* pointer, std::size_t bytes, int device,
                               cudaStream_t stream) {
  return prefetch(process, reinterpret_cast<std::uint64_t>(pointer), bytes, location_of(device),
                  stream);
}

cudaError_t advise_before_13(Process& process, const void* pointer, std::size_t bytes,
                             cudaMemoryAdvise advice, int device) {
  return advise(process, reinterpret_cast<std::uint64_t>(pointer), bytes, advice,
                location_of(device));
}

/// Banks of four bytes, as every device has had them since 2014.
cudaError_t device_get_shared_mem_config(int* config) {
  if (config == nullptr) return cudaErrorInvalidValue;
  *config = 1;
  return cudaSuccess;
}
cudaError_t device_set_shared_mem_config(int) { return cudaSuccess; }

}  // namespace
}  // namespace earlier

std::vector<Answer> earlier_answers() {
  return {
      ANSWER_AS("cudaGetDeviceProperties_v2", earlier::get_device_properties, Needs::device,
                Answers::after_failure),
      ANSWER_AS("cudaMemPrefetchAsync of CUDA 12", earlier::prefetch_before_13, Needs::context),
      ANSWER_AS("cudaMemAdvise of CUDA 12", earlier::advise_before_13, Needs::context),
      ANSWER_AS("cudaDeviceGetSharedMemConfig", earlier::device_get_shared_mem_config,
                Needs::context),
      ANSWER_AS("cudaDeviceSetSharedMemConfig", earlier::device_set_shared_mem_config,
                Needs::context),
  };
}

}  // namespace warpmeter::runtime
