// SPDX-License-Identifier: MIT
// The few functions of NVML that we call. The CUDA toolkit brings no nvml.h; these declarations
// follow NVIDIA's "NVML API Reference Guide" (sections Device Queries, Device Enums, Clocks Event
// Reasons), whose binary interface is stable across drivers, and were run against driver 580.
// Nothing links against them: library.cpp takes the addresses from libnvidia-ml.so.1.
#pragma once

extern "C" {

using nvmlDevice_t = struct nvmlDevice_st*;
using nvmlReturn_t = int;  // 0: success

nvmlReturn_t nvmlInit_v2();
const char* nvmlErrorString(nvmlReturn_t result);
nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, int clock, unsigned int* mhz);
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device,
                                                       unsigned long long* reasons);
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, int sensor, unsigned int* celsius);
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int* milliwatts);
nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, int* current, int* pending);
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int* current,
                                  unsigned int* pending);
nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, int* mode);

// The fields that an older NVML may lack.
struct nvmlProcessInfo_t {
  unsigned int pid;
  unsigned long long usedGpuMemory;  // bytes; all bits set: not known
  unsigned int gpuInstanceId, computeInstanceId;
};
struct nvmlProcessUtilizationSample_t {
  unsigned int pid;
  unsigned long long timeStamp;  // µs since 1970
  unsigned int smUtil, memUtil, encUtil, decUtil;
};
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* count,
                                                     nvmlProcessInfo_t* infos);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int* count,
                                                      nvmlProcessInfo_t* infos);
nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device,
                                             nvmlProcessUtilizationSample_t* samples,
                                             unsigned int* count, unsigned long long since);
nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char* name, unsigned int length);
nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, int clock, unsigned int* mhz);
nvmlReturn_t nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t device, int clock,
                                                   unsigned int* mhz);
nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t instance,
                                                          nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device,
                                                 unsigned long long* millijoules);
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version);  // 13000: CUDA 13.0
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned int length);
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor);

struct nvmlPciInfo_t {
  char busIdLegacy[16];
  unsigned int domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
};
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info);
nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, int* is_active);
nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned int link,
                                        unsigned int* version);
nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link, int* type);
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link,
                                                 nvmlPciInfo_t* info);

}  // extern "C"

namespace warpmeter::cupti {

inline constexpr nvmlReturn_t nvml_success = 0;
inline constexpr nvmlReturn_t nvml_not_found = 6;
inline constexpr nvmlReturn_t nvml_insufficient_size = 7;
inline constexpr int nvml_clock_sm = 1;
inline constexpr int nvml_clock_memory = 2;
inline constexpr int nvml_temperature_gpu = 0;

}  // namespace warpmeter::cupti
