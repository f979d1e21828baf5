// SPDX-License-Identifier: MIT
// CUDA's driver, CUPTI and NVML, loaded at run time.
//
// A program that is linked with libcuda does not start where there is no driver, and libcupti lies
// in a different place on every machine. So nothing is linked: a table of function pointers a
// library is filled by dlopen and dlsym, and what is missing has one sentence that says so and one
// that says what to do. The libraries stay loaded until the process ends, for CUDA does not survive
// being unloaded.
//
// Ask driver_library() before anything else: some calls of CUPTI crash where there is no driver.
#pragma once

#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collector/cupti/nvml.h"

// The symbols as the libraries export them: with the suffix that cuda.h hides behind a macro
// (plain `cuMemAlloc` is an entry of 2009 that takes 32-bit sizes).
#define WARPMETER_DRIVER_SYMBOLS(X)    \
  X(cuInit)                            \
  X(cuDriverGetVersion)                \
  X(cuGetErrorName)                    \
  X(cuGetErrorString)                  \
  X(cuDeviceGet)                       \
  X(cuDeviceGetCount)                  \
  X(cuDeviceGetName)                   \
  X(cuDeviceGetAttribute)              \
  X(cuDeviceTotalMem_v2)               \
  X(cuDeviceGetUuid_v2)                \
  X(cuDevicePrimaryCtxRetain)          \
  X(cuDevicePrimaryCtxRelease_v2)      \
  X(cuDevicePrimaryCtxReset_v2)        \
  X(cuCtxSetCurrent)                   \
  X(cuCtxSynchronize)                  \
  X(cuStreamCreate)                    \
  X(cuStreamDestroy_v2)                \
  X(cuStreamQuery)                     \
  X(cuEventCreate)                     \
  X(cuEventRecord)                     \
  X(cuEventQuery)                      \
  X(cuEventElapsedTime_v2)             \
  X(cuEventDestroy_v2)                 \
  X(cuThreadExchangeStreamCaptureMode) \
  X(cuPointerGetAttribute)             \
  X(cuFuncLoad)                        \
  X(cuFuncGetParamInfo)                \
  X(cuStreamSynchronize)               \
  X(cuMemAlloc_v2)                     \
  X(cuMemFree_v2)                      \
  X(cuMemGetInfo_v2)                   \
  X(cuMemcpyHtoD_v2)                   \
  X(cuMemcpyDtoH_v2)                   \
  X(cuMemcpyDtoDAsync_v2)              \
  X(cuMemsetD32Async)                  \
  X(cuModuleLoadDataEx)                \
  X(cuModuleUnload)                    \
  X(cuModuleGetFunction)               \
  X(cuFuncGetAttribute)                \
  X(cuFuncSetAttribute)                \
  X(cuLaunchKernel)                    \
  X(cuModuleGetGlobal_v2)              \
  X(cuMemcpyHtoDAsync_v2)              \
  X(cuFuncGetName)                     \
  X(cuKernelGetName)                   \
  X(cuStreamIsCapturing)               \
  X(cuGraphGetNodes)                   \
  X(cuGraphNodeGetType)                \
  X(cuGraphKernelNodeGetParams_v2)     \
  X(cuGraphKernelNodeSetParams_v2)     \
  X(cuGraphKernelNodeGetAttribute)     \
  X(cuGraphKernelNodeCopyAttributes)   \
  X(cuGraphMemcpyNodeGetParams)        \
  X(cuGraphMemcpyNodeSetParams)        \
  X(cuGraphMemsetNodeGetParams)        \
  X(cuGraphMemsetNodeSetParams)        \
  X(cuGraphNodeFindInClone)            \
  X(cuGraphChildGraphNodeGetGraph)     \
  X(cuGraphGetEdges_v2)                \
  X(cuGraphCreate)                     \
  X(cuGraphClone)                      \
  X(cuGraphDestroy)                    \
  X(cuGraphAddKernelNode_v2)           \
  X(cuGraphAddMemcpyNode)              \
  X(cuGraphAddMemsetNode)              \
  X(cuGraphAddEmptyNode)               \
  X(cuGraphInstantiateWithFlags)       \
  X(cuGraphLaunch)                     \
  X(cuGraphExecDestroy)                \
  X(cuKernelGetFunction)               \
  X(cuLaunchKernelEx)

#define WARPMETER_CUPTI_SYMBOLS(X)                \
  X(cuptiGetVersion)                              \
  X(cuptiGetResultString)                         \
  X(cuptiDeviceGetChipName)                       \
  X(cuptiProfilerInitialize)                      \
  X(cuptiProfilerDeviceSupported)                 \
  X(cuptiProfilerGetCounterAvailability)          \
  X(cuptiProfilerHostInitialize)                  \
  X(cuptiProfilerHostDeinitialize)                \
  X(cuptiProfilerHostGetBaseMetrics)              \
  X(cuptiProfilerHostGetSubMetrics)               \
  X(cuptiProfilerHostGetMetricProperties)         \
  X(cuptiProfilerHostConfigAddMetrics)            \
  X(cuptiProfilerHostGetConfigImageSize)          \
  X(cuptiProfilerHostGetConfigImage)              \
  X(cuptiProfilerHostGetNumOfPasses)              \
  X(cuptiProfilerHostEvaluateToGpuValues)         \
  X(cuptiRangeProfilerEnable)                     \
  X(cuptiRangeProfilerDisable)                    \
  X(cuptiRangeProfilerSetConfig)                  \
  X(cuptiRangeProfilerStart)                      \
  X(cuptiRangeProfilerStop)                       \
  X(cuptiRangeProfilerDecodeData)                 \
  X(cuptiRangeProfilerGetCounterDataSize)         \
  X(cuptiRangeProfilerCounterDataImageInitialize) \
  X(cuptiRangeProfilerGetCounterDataInfo)         \
  X(cuptiActivityRegisterCallbacks)               \
  X(cuptiActivitySetAttribute)                    \
  X(cuptiActivityEnable)                          \
  X(cuptiActivityDisable)                         \
  X(cuptiActivityFlushAll)                        \
  X(cuptiActivityFlushPeriod)                     \
  X(cuptiActivityConfigureUnifiedMemoryCounter)   \
  X(cuptiGetTimestamp)                            \
  X(cuptiActivityGetNextRecord)                   \
  X(cuptiActivityGetNumDroppedRecords)            \
  X(cuptiSetThreadIdType)                         \
  X(cuptiSubscribe_v2)                            \
  X(cuptiUnsubscribe)                             \
  X(cuptiEnableCallback)                          \
  X(cuptiGetCallbackName)                         \
  X(cuptiGetContextId)                            \
  X(cuptiGetDeviceId)                             \
  X(cuptiGetStreamIdEx)                           \
  X(cuptiSassMetricsGetProperties)                \
  X(cuptiSassMetricsSetConfig)                    \
  X(cuptiSassMetricsEnable)                       \
  X(cuptiSassMetricsGetDataProperties)            \
  X(cuptiSassMetricsFlushData)                    \
  X(cuptiSassMetricsDisable)                      \
  X(cuptiPCSamplingEnable)                        \
  X(cuptiPCSamplingGetNumStallReasons)            \
  X(cuptiPCSamplingGetStallReasons)               \
  X(cuptiPCSamplingSetConfigurationAttribute)     \
  X(cuptiPCSamplingDisable)                       \
  X(cuptiGetCubinCrc)                             \
  X(cuptiGetSassToSourceCorrelation)

#define WARPMETER_NVML_SYMBOLS(X)              \
  X(nvmlInit_v2)                               \
  X(nvmlErrorString)                           \
  X(nvmlSystemGetDriverVersion)                \
  X(nvmlDeviceGetHandleByUUID)                 \
  X(nvmlDeviceGetClockInfo)                    \
  X(nvmlDeviceGetCurrentClocksThrottleReasons) \
  X(nvmlDeviceGetTemperature)                  \
  X(nvmlDeviceGetPowerUsage)                   \
  X(nvmlDeviceGetEccMode)                      \
  X(nvmlDeviceGetMigMode)                      \
  X(nvmlDeviceGetPersistenceMode)

// Null where NVML lacks them: a driver without them still tells its clocks.
#define WARPMETER_LATER_NVML_SYMBOLS(X)           \
  X(nvmlDeviceGetComputeRunningProcesses_v3)      \
  X(nvmlDeviceGetGraphicsRunningProcesses_v3)     \
  X(nvmlDeviceGetProcessUtilization)              \
  X(nvmlSystemGetProcessName)                     \
  X(nvmlDeviceGetApplicationsClock)               \
  X(nvmlDeviceGetDefaultApplicationsClock)        \
  X(nvmlDeviceGetDeviceHandleFromMigDeviceHandle) \
  X(nvmlDeviceGetCount_v2)                        \
  X(nvmlDeviceGetHandleByIndex_v2)                \
  X(nvmlDeviceGetTotalEnergyConsumption)          \
  X(nvmlSystemGetCudaDriverVersion_v2)            \
  X(nvmlDeviceGetUUID)                            \
  X(nvmlDeviceGetCudaComputeCapability)           \
  X(nvmlDeviceGetPciInfo_v3)                      \
  X(nvmlDeviceGetNvLinkState)                     \
  X(nvmlDeviceGetNvLinkVersion)                   \
  X(nvmlDeviceGetNvLinkRemoteDeviceType)          \
  X(nvmlDeviceGetNvLinkRemotePciInfo_v2)

namespace warpmeter::cupti {

#define WARPMETER_MEMBER(symbol) decltype(&::symbol) symbol = nullptr;
struct DriverApi {
  WARPMETER_DRIVER_SYMBOLS(WARPMETER_MEMBER)
};
struct CuptiApi {
  WARPMETER_CUPTI_SYMBOLS(WARPMETER_MEMBER)
};
struct NvmlApi {
  WARPMETER_NVML_SYMBOLS(WARPMETER_MEMBER)
  WARPMETER_LATER_NVML_SYMBOLS(WARPMETER_MEMBER)
};
#undef WARPMETER_MEMBER

/// A library's functions, or why there are none.
template <class Api>
struct Loaded {
  Api api{};            ///< every pointer is set when ok(), but NVML's later ones
  std::string path;     ///< the path of the file; empty when it was not found
  std::string version;  ///< as the library tells it: "13.0"
  std::string failure;  ///< one clause without a final stop: what is missing
  std::string remedy;   ///< one clause: what to do about it

  bool ok() const { return failure.empty(); }
  /// Failure and remedy as one sentence.
  std::string sentence() const { return failure + "; " + remedy; }
};

/// The oldest driver that CUPTI 13 takes, as the driver writes CUDA 13.0.
inline constexpr int oldest_driver = 13000;

/// The driver's library, loaded once a process.
const Loaded<DriverApi>& driver_library();
const Loaded<CuptiApi>& cupti_library();
const Loaded<NvmlApi>& nvml_library();

/// An environment variable, or nullopt.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Where libcupti.so.13 and libcublas.so.13 may lie, best first, existing directories only, each
/// once: next to the program, $CUDA_HOME and $CUDA_PATH, the toolkit of the nvcc in $PATH,
/// /usr/local/cuda*, $LD_LIBRARY_PATH, the distribution's library folders, and pip's packages of
/// the python in $PATH and of the system. `root` is "/" except in tests.
std::vector<std::filesystem::path> cupti_directories(const Environment& environment,
                                                     const std::filesystem::path& program,
                                                     const std::filesystem::path& root = "/");

/// The folder of the CUPTI that this process has loaded already; empty: none. Whoever finds one has
/// to use it: PyTorch brings its own, and of two copies only one may count.
std::filesystem::path cupti_in_use();

/// The directories of this process, with `cupti_in_use()` first.
std::vector<std::filesystem::path> library_directories();

/// Activities and callbacks are CUPTI's own; counters need its companion libnvperf_host.so too,
/// whose constructors take 0.06 s.
enum class CuptiUse { activities, counters };

/// Loads CUPTI from the first of the directories that has it; the loader's own search path is the
/// last resort when `directories` do not.
Loaded<CuptiApi> load_cupti(const std::vector<std::filesystem::path>& directories,
                            bool search_loader_path = true, CuptiUse use = CuptiUse::counters);

/// Loads the companion of a CUPTI that was loaded for activities. Throws Error{no_hardware}.
void load_companion(const Loaded<CuptiApi>& cupti);

/// The first of the directories that holds CUPTI and its companion, without loading them; empty:
/// none.
std::filesystem::path cupti_folder_in(const std::vector<std::filesystem::path>& directories);

/// "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)"
std::string in_words(const DriverApi& api, CUresult result);

/// Throws Error{no_hardware}, naming `what` was attempted, unless the call succeeded.
void check(const DriverApi& api, CUresult result, const char* what);

}  // namespace warpmeter::cupti
