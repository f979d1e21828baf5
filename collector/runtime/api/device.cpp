// SPDX-License-Identifier: MIT
// The answers about the device, which device is meant, errors and versions.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/device/error_texts.h"
#include "collector/runtime/process/contexts.h"
#include "collector/runtime/process/limits.h"
#include "collector/runtime/process/peers.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/outstanding.h"

namespace warpmeter::runtime {
namespace devices {
namespace {

constexpr int cuda_version = CUDART_VERSION;

/// The setting of cudaDeviceSetCacheConfig.
struct CachePreference {
  cudaFuncCache preferred = cudaFuncCachePreferNone;
};

cudaError_t get_device_count(Process& process, int* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  *count = process.devices();
  return process.devices() > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t get_device(int* device) {
  if (device == nullptr) return cudaErrorInvalidValue;
  *device = current_device;
  return cudaSuccess;
}

cudaError_t set_device(Process& process, int device) {
  if (!process.has_device(device)) return cudaErrorInvalidDevice;
  current_device = device;
  Contexts::get().choose_device(device);
  return cudaSuccess;
}

cudaError_t init_device(Process& process, int device, unsigned, unsigned) {
  if (!process.has_device(device)) return cudaErrorInvalidDevice;
  Contexts::get().primary(device).is_of_runtime = true;  // there is one, which is not current
  return cudaSuccess;
}

cudaError_t choose_device(int* device, const cudaDeviceProp*) {
  if (device == nullptr) return cudaErrorInvalidValue;
  *device = 0;
  return cudaSuccess;
}

cudaError_t set_valid_devices(int*, int) { return cudaSuccess; }

cudaError_t get_device_properties(Process& process, cudaDeviceProp* properties, int device) {
  if (properties == nullptr) return cudaErrorInvalidValue;
  if (!process.has_device(device)) return cudaErrorInvalidDevice;
  fill_properties(*properties, process.arch(), process.device_of_machine(device));
  return cudaSuccess;
}

cudaError_t get_attribute(Process& process, int* value, cudaDeviceAttr which, int device) {
  if (value == nullptr) return cudaErrorInvalidValue;
  if (!process.has_device(device)) return cudaErrorInvalidDevice;
  const std::optional<int> known =
      attribute(which, process.arch(), process.device_of_machine(device));
  if (!known) return cudaErrorInvalidValue;
  *value = *known;
  return cudaSuccess;
}

cudaError_t device_get_limit(std::size_t* value, cudaLimit limit) {
  if (value == nullptr) return cudaErrorInvalidValue;
  return get_limit(*value, limit);
}

cudaError_t device_set_limit(Process& process, cudaLimit limit, std::size_t value) {
  return set_limit(process, limit, value);
}

cudaError_t get_cache_config(Process& process, cudaFuncCache* config) {
  if (config == nullptr) return cudaErrorInvalidValue;
  *config = process.state<CachePreference>().preferred;
  return cudaSuccess;
}

cudaError_t set_cache_config(Process& process, cudaFuncCache config) {
  process.state<CachePreference>().preferred = config;
  return cudaSuccess;
}

cudaError_t get_stream_priority_range(int* least, int* greatest) {
  if (least != nullptr) *least = stream_priorities().first;
  if (greatest != nullptr) *greatest = stream_priorities().second;
  return cudaSuccess;
}

cudaError_t can_access_peer(Process& process, int* can, int device, int peer) {
  if (!process.has_device(device) || !process.has_device(peer)) return cudaErrorInvalidDevice;
  *can = device != peer ? 1 : 0;
  return cudaSuccess;
}

cudaError_t enable_peer_access(Process& process, int peer, unsigned flags) {
  const int device = current_device;
  if (!process.has_device(peer)) return cudaErrorInvalidDevice;
  if (peer == device) return cudaErrorPeerAccessUnsupported;
  if (flags != 0) return cudaErrorInvalidValue;
  if (is_peer_enabled(device, peer)) return cudaErrorPeerAccessAlreadyEnabled;
  enable_peer(device, peer);
  return cudaSuccess;
}

cudaError_t disable_peer_access(Process& process, int peer) {
  if (!process.has_device(peer)) return cudaErrorInvalidDevice;
  return disable_peer(current_device, peer) ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
}

cudaError_t get_pci_bus_id(Process& process, char* text, int length, int device) {
  if (text == nullptr || length < 13) return cudaErrorInvalidValue;
  if (!process.has_device(device)) return cudaErrorInvalidDevice;
  std::snprintf(text, static_cast<std::size_t>(length), "0000:00:%02x.0",
                static_cast<unsigned>(process.device_of_machine(device)));
  return cudaSuccess;
}

/// As between two of them in one machine, by NVLink.
cudaError_t get_p2p_attribute(Process& process, int* value, cudaDeviceP2PAttr which, int from,
                              int to) {
  if (value == nullptr) return cudaErrorInvalidValue;
  if (!process.has_device(from) || !process.has_device(to) || from == to)
    return cudaErrorInvalidDevice;
  switch (which) {
    case cudaDevP2PAttrPerformanceRank:
    case cudaDevP2PAttrOnlyPartialNativeAtomicSupported:
      *value = 0;
      return cudaSuccess;
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported:
    case cudaDevP2PAttrCudaArrayAccessSupported:
      *value = 1;
      return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

/// "0000:00:01.0", or without its domain or function.
cudaError_t get_by_pci_bus_id(Process& process, int* result, const char* text) {
  if (result == nullptr || text == nullptr) return cudaErrorInvalidValue;
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  const auto colons = std::count(text, text + std::strlen(text), ':');
  const bool is_read =
      colons == 2 ? std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &device, &function) >= 3
                  : std::sscanf(text, "%x:%x.%x", &bus, &device, &function) == 3;
  if (!is_read) return cudaErrorInvalidValue;
  if (domain != 0 || bus != 0 || function != 0) return cudaErrorInvalidDevice;
  for (int visible = 0; visible < process.devices(); ++visible) {
    if (static_cast<unsigned>(process.device_of_machine(visible)) != device) continue;
    *result = visible;
    return cudaSuccess;
  }
  return cudaErrorInvalidDevice;
}

/// No other device writes into this one's memory: nothing is left to wait for.
cudaError_t flush_remote_writes(Process& process, cudaFlushGPUDirectRDMAWritesTarget target,
                                cudaFlushGPUDirectRDMAWritesScope scope) {
  const int options = attribute(cudaDevAttrGPUDirectRDMAFlushWritesOptions, process.arch(),
                                process.device_of_machine(current_device))
                          .value_or(0);
  if ((options & cudaFlushGPUDirectRDMAWritesOptionHost) == 0) return cudaErrorNotSupported;
  const bool is_scope = scope == cudaFlushGPUDirectRDMAWritesToOwner ||
                        scope == cudaFlushGPUDirectRDMAWritesToAllDevices;
  const bool is_target = target == cudaFlushGPUDirectRDMAWritesTargetCurrentDevice;
  return is_scope && is_target ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t set_device_flags(unsigned flags) {
  const unsigned how_to_wait = flags & cudaDeviceScheduleMask;
  const bool is_one = (how_to_wait & (how_to_wait - 1)) == 0;  // each is a bit
  if ((flags & ~unsigned{cudaDeviceMask}) != 0 || !is_one) return cudaErrorInvalidValue;
  Contexts::get().primary(current_device).flags = flags;
  return cudaSuccess;
}

cudaError_t get_device_flags(unsigned* flags) {
  if (flags == nullptr) return cudaErrorInvalidValue;
  *flags = Contexts::get().primary(current_device).flags | cudaDeviceMapHost;
  return cudaSuccess;
}

cudaError_t reset(Process& process) {
  process.show_printed();
  // A thread that has used nothing yet has nothing to reset, whatever others have.
  if (Contexts::get().current() == nullptr) return cudaSuccess;
  wait_for_kernels(process);
  Contexts::get().primary(current_device).is_of_runtime = false;
  forget_peers(current_device);
  return process.reset();
}

cudaError_t get_last_error() {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex());
  begin_runtime(process);
  return process.take_last_error();
}

cudaError_t peek_at_last_error() {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex());
  begin_runtime(process);
  return process.peek_at_last_error();
}

const char* get_error_string(cudaError_t error) {
  begin_runtime(Process::get());
  return error_text(error);
}

const char* get_error_name(cudaError_t error) {
  begin_runtime(Process::get());
  return error_name(error);
}

cudaError_t driver_get_version(int* version) {
  if (version == nullptr) return cudaErrorInvalidValue;
  *version = cuda_version;
  return cudaSuccess;
}

cudaError_t profiler_start(Process& process) {
  if (process.report() != nullptr) process.report()->profile(true);
  return cudaSuccess;
}
cudaError_t profiler_stop(Process& process) {
  if (process.report() != nullptr) process.report()->profile(false);
  return cudaSuccess;
}

cudaChannelFormatDesc create_channel_desc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}

}  // namespace
}  // namespace devices

std::vector<Answer> device_answers() {
  return {
      ANSWER(cudaGetDeviceCount, devices::get_device_count, Needs::initialised, Answers::anywhere),
      ANSWER(cudaGetDevice, devices::get_device, Needs::device, Answers::after_failure),
      ANSWER(cudaSetDevice, devices::set_device, Needs::device, Answers::after_failure),
      ANSWER(cudaInitDevice, devices::init_device, Needs::device, Answers::after_failure),
      ANSWER(cudaChooseDevice, devices::choose_device, Needs::device, Answers::after_failure),
      ANSWER(cudaSetValidDevices, devices::set_valid_devices, Needs::device,
             Answers::after_failure),
      ANSWER(cudaGetDeviceProperties, devices::get_device_properties, Needs::device,
             Answers::after_failure),
      ANSWER(cudaDeviceGetAttribute, devices::get_attribute, Needs::device, Answers::after_failure),
      BOTH(cudaDeviceGetLimit, cuCtxGetLimit, devices::device_get_limit, Needs::context),
      BOTH(cudaDeviceSetLimit, cuCtxSetLimit, devices::device_set_limit, Needs::context),
      BOTH(cudaDeviceGetCacheConfig, cuCtxGetCacheConfig, devices::get_cache_config,
           Needs::context),
      BOTH(cudaDeviceSetCacheConfig, cuCtxSetCacheConfig, devices::set_cache_config,
           Needs::context),
      BOTH(cudaDeviceGetStreamPriorityRange, cuCtxGetStreamPriorityRange,
           devices::get_stream_priority_range, Needs::context),
      ANSWER(cudaDeviceCanAccessPeer, devices::can_access_peer, Needs::device),
      ANSWER(cuDeviceCanAccessPeer, devices::can_access_peer, Needs::initialised),
      ANSWER(cudaDeviceEnablePeerAccess, devices::enable_peer_access, Needs::context),
      ANSWER(cudaDeviceDisablePeerAccess, devices::disable_peer_access, Needs::context),
      ANSWER(cudaDeviceGetPCIBusId, devices::get_pci_bus_id, Needs::device),
      ANSWER(cuDeviceGetPCIBusId, devices::get_pci_bus_id, Needs::initialised),
      ANSWER(cudaDeviceGetP2PAttribute, devices::get_p2p_attribute, Needs::device),
      ANSWER(cuDeviceGetP2PAttribute, devices::get_p2p_attribute, Needs::initialised),
      ANSWER(cudaDeviceGetByPCIBusId, devices::get_by_pci_bus_id, Needs::device),
      ANSWER(cuDeviceGetByPCIBusId, devices::get_by_pci_bus_id, Needs::initialised),
      BOTH(cudaDeviceFlushGPUDirectRDMAWrites, cuFlushGPUDirectRDMAWrites,
           devices::flush_remote_writes, Needs::context),
      ANSWER(cudaSetDeviceFlags, devices::set_device_flags, Needs::context),
      ANSWER(cudaGetDeviceFlags, devices::get_device_flags, Needs::device),
      ANSWER(cudaDeviceReset, devices::reset, Needs::device, Answers::after_failure),
      DIRECT(cudaGetLastError, devices::get_last_error),
      DIRECT(cudaPeekAtLastError, devices::peek_at_last_error),
      DIRECT(cudaGetErrorString, devices::get_error_string),
      DIRECT(cudaGetErrorName, devices::get_error_name),
      ANSWER(cudaDriverGetVersion, devices::driver_get_version, Needs::initialised,
             Answers::after_failure),
      ANSWER(cudaRuntimeGetVersion, devices::driver_get_version, Needs::nothing,
             Answers::after_failure),
      ANSWER_AS("cudaProfilerStart", devices::profiler_start, Needs::context),
      ANSWER_AS("cudaProfilerStop", devices::profiler_stop, Needs::device),
      DIRECT(cudaCreateChannelDesc, devices::create_channel_desc),
  };
}

}  // namespace warpmeter::runtime
