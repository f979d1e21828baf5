// SPDX-License-Identifier: MIT
// The answers about the device, which device is meant, errors and versions.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "collector/runtime/api/answer.h"
#include "collector/runtime/api/call.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/device/error_texts.h"
#include "collector/runtime/process/limits.h"
#include "collector/runtime/process/peers.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {
namespace {

constexpr int cuda_version = CUDART_VERSION;

/// The setting of cudaDeviceSetCacheConfig.
cudaFuncCache& preferred_cache() {
  static cudaFuncCache preferred = cudaFuncCachePreferNone;
  return preferred;
}

}  // namespace

namespace api {
namespace {

cudaError_t cudaGetDeviceCount(int* count) {
  const auto put = [&](const Process& process) {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = process.devices();
    return process.devices() > 0 ? cudaSuccess : cudaErrorNoDevice;
  };
  // Where nothing else is answered: the number is known before.
  if (is_in_host_function() || Process::get().is_fork()) return put(Process::get());
  return call_always("cudaGetDeviceCount", put);
}

cudaError_t cudaGetDevice(int* device) {
  return device_call_always("cudaGetDevice", [&](Process&) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = current_device;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return device_call_always("cudaSetDevice", [&](Process& p) {
    if (!p.has_device(device)) return cudaErrorInvalidDevice;
    current_device = device;
    Contexts::get().choose_device(device);
    return cudaSuccess;
  });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return device_call_always("cudaInitDevice", [&](Process& p) {
    if (!p.has_device(device)) return cudaErrorInvalidDevice;
    Contexts::get().primary(device).is_of_runtime = true;  // there is one, which is not current
    return cudaSuccess;
  });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  return device_call_always("cudaChooseDevice", [&](Process&) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaSetValidDevices(int*, int) {
  return device_call_always("cudaSetValidDevices", [](Process&) { return cudaSuccess; });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return device_call_always("cudaGetDeviceProperties", [&](Process& p) {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (!p.has_device(device)) return cudaErrorInvalidDevice;
    fill_properties(*properties, p.arch(), p.device_of_machine(device));
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  return device_call_always("cudaDeviceGetAttribute", [&](Process& p) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!p.has_device(device)) return cudaErrorInvalidDevice;
    const std::optional<int> known = attribute(which, p.arch(), p.device_of_machine(device));
    if (!known) return cudaErrorInvalidValue;
    *value = *known;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return call("cudaDeviceGetLimit", [&](Process&) {
    if (value == nullptr) return cudaErrorInvalidValue;
    return get_limit(*value, limit);
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return call("cudaDeviceSetLimit", [&](Process& p) { return set_limit(p, limit, value); });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return call("cudaDeviceGetCacheConfig", [&](Process&) {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = preferred_cache();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return call("cudaDeviceSetCacheConfig", [&](Process&) {
    preferred_cache() = config;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call("cudaDeviceGetStreamPriorityRange", [&](Process&) {
    if (least != nullptr) *least = stream_priorities().first;
    if (greatest != nullptr) *greatest = stream_priorities().second;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call_without_context("cudaDeviceCanAccessPeer", [&](Process& p) {
    if (!p.has_device(device) || !p.has_device(peer)) return cudaErrorInvalidDevice;
    *can = device != peer ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call("cudaDeviceEnablePeerAccess", [&](Process& p) {
    const int device = current_device;
    if (!p.has_device(peer)) return cudaErrorInvalidDevice;
    if (peer == device) return cudaErrorPeerAccessUnsupported;
    if (flags != 0) return cudaErrorInvalidValue;
    if (is_peer_enabled(device, peer)) return cudaErrorPeerAccessAlreadyEnabled;
    enable_peer(device, peer);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call("cudaDeviceDisablePeerAccess", [&](Process& p) {
    if (!p.has_device(peer)) return cudaErrorInvalidDevice;
    return disable_peer(current_device, peer) ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return call_without_context("cudaDeviceGetPCIBusId", [&](Process& p) {
    if (text == nullptr || length < 13) return cudaErrorInvalidValue;
    if (!p.has_device(device)) return cudaErrorInvalidDevice;
    std::snprintf(text, static_cast<std::size_t>(length), "0000:00:%02x.0",
                  static_cast<unsigned>(p.device_of_machine(device)));
    return cudaSuccess;
  });
}

/// As between two of them in one machine, by NVLink.
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr which, int from, int to) {
  return call_without_context("cudaDeviceGetP2PAttribute", [&](Process& p) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!p.has_device(from) || !p.has_device(to) || from == to) return cudaErrorInvalidDevice;
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
  });
}

/// "0000:00:01.0", or without its domain or function.
cudaError_t cudaDeviceGetByPCIBusId(int* result, const char* text) {
  return call_without_context("cudaDeviceGetByPCIBusId", [&](Process& p) {
    if (result == nullptr || text == nullptr) return cudaErrorInvalidValue;
    unsigned domain = 0, bus = 0, device = 0, function = 0;
    const auto colons = std::count(text, text + std::strlen(text), ':');
    const bool is_read =
        colons == 2 ? std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &device, &function) >= 3
                    : std::sscanf(text, "%x:%x.%x", &bus, &device, &function) == 3;
    if (!is_read) return cudaErrorInvalidValue;
    if (domain != 0 || bus != 0 || function != 0) return cudaErrorInvalidDevice;
    for (int visible = 0; visible < p.devices(); ++visible) {
      if (static_cast<unsigned>(p.device_of_machine(visible)) != device) continue;
      *result = visible;
      return cudaSuccess;
    }
    return cudaErrorInvalidDevice;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call("cudaSetDeviceFlags", [&](Process&) {
    const unsigned how_to_wait = flags & cudaDeviceScheduleMask;
    const bool is_one = (how_to_wait & (how_to_wait - 1)) == 0;  // each is a bit
    if ((flags & ~unsigned{cudaDeviceMask}) != 0 || !is_one) return cudaErrorInvalidValue;
    Contexts::get().primary(current_device).flags = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call_without_context("cudaGetDeviceFlags", [&](Process&) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = Contexts::get().primary(current_device).flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceReset() {
  return device_call_always("cudaDeviceReset", [](Process& p) {
    p.show_printed();
    // A thread that has used nothing yet has nothing to reset, whatever others have.
    if (Contexts::get().current() == nullptr) return cudaSuccess;
    wait_for_kernels(p);
    Contexts::get().primary(current_device).is_of_runtime = false;
    reset_limits(p);
    forget_peers(current_device);
    return p.reset();
  });
}

cudaError_t cudaGetLastError() {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex());
  begin_runtime(process);
  return process.take_last_error();
}

cudaError_t cudaPeekAtLastError() {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex());
  begin_runtime(process);
  return process.peek_at_last_error();
}

const char* cudaGetErrorString(cudaError_t error) {
  begin_runtime(Process::get());
  return error_text(error);
}

const char* cudaGetErrorName(cudaError_t error) {
  begin_runtime(Process::get());
  return error_name(error);
}

cudaError_t cudaDriverGetVersion(int* version) {
  return call_always("cudaDriverGetVersion", [&](Process&) {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = cuda_version;
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  const Row row("cudaRuntimeGetVersion", Needs::nothing, Answers::after_failure);
  return enter(row, nullptr, [&](Process&) {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = cuda_version;
    return cudaSuccess;
  });
}

cudaError_t cudaProfilerStart() {
  return call("cudaProfilerStart", [](Process&) { return cudaSuccess; });
}
cudaError_t cudaProfilerStop() {
  return call_without_context("cudaProfilerStop", [](Process&) { return cudaSuccess; });
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}

}  // namespace
}  // namespace api

std::span<const Answer> device_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cudaGetDeviceCount),
      WARPMETER_ANSWER(cudaGetDevice),
      WARPMETER_ANSWER(cudaSetDevice),
      WARPMETER_ANSWER(cudaInitDevice),
      WARPMETER_ANSWER(cudaChooseDevice),
      WARPMETER_ANSWER(cudaSetValidDevices),
      WARPMETER_ANSWER(cudaGetDeviceProperties),
      WARPMETER_ANSWER(cudaDeviceGetAttribute),
      WARPMETER_ANSWER(cudaDeviceGetLimit),
      WARPMETER_ANSWER(cudaDeviceSetLimit),
      WARPMETER_ANSWER(cudaDeviceGetCacheConfig),
      WARPMETER_ANSWER(cudaDeviceSetCacheConfig),
      WARPMETER_ANSWER(cudaDeviceGetStreamPriorityRange),
      WARPMETER_ANSWER(cudaDeviceCanAccessPeer),
      WARPMETER_ANSWER(cudaDeviceEnablePeerAccess),
      WARPMETER_ANSWER(cudaDeviceDisablePeerAccess),
      WARPMETER_ANSWER(cudaDeviceGetPCIBusId),
      WARPMETER_ANSWER(cudaDeviceGetP2PAttribute),
      WARPMETER_ANSWER(cudaDeviceGetByPCIBusId),
      WARPMETER_ANSWER(cudaSetDeviceFlags),
      WARPMETER_ANSWER(cudaGetDeviceFlags),
      WARPMETER_ANSWER(cudaDeviceReset),
      WARPMETER_ANSWER(cudaGetLastError),
      WARPMETER_ANSWER(cudaPeekAtLastError),
      WARPMETER_ANSWER(cudaGetErrorString),
      WARPMETER_ANSWER(cudaGetErrorName),
      WARPMETER_ANSWER(cudaDriverGetVersion),
      WARPMETER_ANSWER(cudaRuntimeGetVersion),
      WARPMETER_UNDECLARED(cudaProfilerStart),
      WARPMETER_UNDECLARED(cudaProfilerStop),
      WARPMETER_ANSWER(cudaCreateChannelDesc),
  };
  return table;
}

}  // namespace warpmeter::runtime
