// SPDX-License-Identifier: MIT
// The driver's API: what is there, contexts, errors, and functions by their names. It is answered
// by the same process as the runtime's, so that a program may use both.
#include <array>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "collector/runtime/api/driver/names.h"
#include "collector/runtime/api/driver_call.h"
#include "collector/runtime/api/lookup.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/device/error_texts.h"
#include "collector/runtime/process/limits.h"
#include "collector/runtime/process/peers.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/outstanding.h"

namespace warpmeter::runtime {
namespace {

bool has_device(const Process& process, CUdevice device) {
  return device >= 0 && device < process.devices();
}

/// A question about a device.
template <class Body>
CUresult device_call(std::string_view name, CUdevice device, const Body& body) {
  return driver_call(name, Needs::initialised, [&](Process& process) {
    return has_device(process, device) ? body(process) : CUDA_ERROR_INVALID_DEVICE;
  });
}

template <class T>
CUresult put_answer(T* place, const T& value) {
  if (place == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *place = value;
  return CUDA_SUCCESS;
}

CUcontext handle_of(Context* context) { return reinterpret_cast<CUcontext>(context); }

/// The one that is named, or the current one for null; null: there is none.
Context* context_of(CUcontext handle) {
  auto* context = reinterpret_cast<Context*>(handle);
  if (context == nullptr) return Contexts::get().current();
  return Contexts::get().holds(context) ? context : nullptr;
}

CUresult make_context(std::string_view name, CUcontext* result, unsigned flags, CUdevice device) {
  return device_call(name, device, [&](Process&) {
    const unsigned how_to_wait = flags & CU_CTX_SCHED_MASK;
    const bool is_one = (how_to_wait & (how_to_wait - 1)) == 0;  // each is a bit
    if (result == nullptr || (flags & ~unsigned{CU_CTX_FLAGS_MASK}) != 0 || !is_one) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    Context* context = Contexts::get().create(device, flags);
    Contexts::get().push(context);
    return put_answer(result, handle_of(context));
  });
}

}  // namespace

void* runtime_answer(std::string_view name) {
  static const auto* known = [] {
    auto* all = new std::unordered_map<std::string_view, void*>;
    for (const Answer& one : answers()) all->emplace(one.name, one.function);
    return all;
  }();
  const auto found = known->find(name);
  return found == known->end() ? nullptr : found->second;
}

namespace api {
namespace {

CUresult cuInit(unsigned flags) {
  return driver_call("cuInit", Needs::nothing, [&](Process& p) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (p.is_fork()) return CUDA_ERROR_NOT_INITIALIZED;
    if (p.devices() == 0) return CUDA_ERROR_NO_DEVICE;
    Contexts::get().is_initialised = true;
    return CUDA_SUCCESS;
  });
}

CUresult cuDriverGetVersion(int* version) {
  return driver_call("cuDriverGetVersion", Needs::nothing,
                     [&](Process&) { return put_answer(version, CUDA_VERSION); });
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool is_known = driver_error_name(error) != nullptr;
  *text = is_known ? error_text(error) : nullptr;
  return is_known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = driver_error_name(error);
  return *name != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return device_call("cuDeviceGet", ordinal,
                     [&](Process&) { return put_answer(device, CUdevice{ordinal}); });
}

CUresult cuDeviceGetCount(int* count) {
  return driver_call("cuDeviceGetCount", Needs::initialised,
                     [&](Process& p) { return put_answer(count, p.devices()); });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return device_call("cuDeviceGetName", device, [&](Process& p) {
    if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    cudaDeviceProp properties{};
    fill_properties(properties, p.arch(), p.device_of_machine(device));
    std::snprintf(name, static_cast<std::size_t>(length), "%s", properties.name);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return device_call("cuDeviceGetUuid", device, [&](Process& p) {
    cudaDeviceProp properties{};
    fill_properties(properties, p.arch(), p.device_of_machine(device));
    return put_answer(uuid, properties.uuid);
  });
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  return device_call("cuDeviceTotalMem", device, [&](Process& p) {
    return put_answer(bytes, std::size_t{p.memory().limit()});
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  return device_call("cuDeviceGetAttribute", device, [&](Process& p) {
    const std::optional<int> known = attribute(which, p.arch(), p.device_of_machine(device));
    return known ? put_answer(value, *known) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return device_call("cuDeviceComputeCapability", device, [&](Process& p) {
    if (major == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *major = p.arch() / 10;
    return put_answer(minor, p.arch() % 10);
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* result, CUdevice device) {
  return device_call("cuDevicePrimaryCtxRetain", device, [&](Process&) {
    if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Context& primary = Contexts::get().primary(device);
    ++primary.uses;
    return put_answer(result, handle_of(&primary));
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return device_call("cuDevicePrimaryCtxRelease", device, [&](Process&) {
    Context& primary = Contexts::get().primary(device);
    if (primary.uses == 0) return CUDA_ERROR_INVALID_CONTEXT;
    --primary.uses;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return device_call("cuDevicePrimaryCtxSetFlags", device, [&](Process&) {
    Contexts::get().primary(device).flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* is_active) {
  return device_call("cuDevicePrimaryCtxGetState", device, [&](Process&) {
    const Context& primary = Contexts::get().primary(device);
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = primary.flags;
    return put_answer(is_active, primary.is_active() ? 1 : 0);
  });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return device_call("cuDevicePrimaryCtxReset", device, [&](Process& p) {
    wait_for_kernels(p);
    p.show_printed();
    Context& primary = Contexts::get().primary(device);
    primary.uses = 0;
    primary.is_of_runtime = false;
    reset_limits(p);
    forget_peers(device);
    return as_driver_error(p.reset());
  });
}

CUresult cuCtxCreate_v2(CUcontext* result, unsigned flags, CUdevice device) {
  return make_context("cuCtxCreate", result, flags, device);
}
CUresult cuCtxCreate_v3(CUcontext* result, CUexecAffinityParam*, int, unsigned flags,
                        CUdevice device) {
  return make_context("cuCtxCreate", result, flags, device);
}
CUresult cuCtxCreate_v4(CUcontext* result, CUctxCreateParams*, unsigned flags, CUdevice device) {
  return make_context("cuCtxCreate", result, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
  return driver_call("cuCtxDestroy", Needs::initialised, [&](Process& p) {
    Context* context = handle == nullptr ? nullptr : context_of(handle);
    if (context != nullptr && context->is_destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (context == nullptr || context->is_primary || context->is_green()) {
      return handle == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CONTEXT;
    }
    p.show_printed();
    if (Contexts::get().current() == context) Contexts::get().pop();
    context->is_destroyed = true;
    wait_for_device(p, context->device);
    std::vector<std::uint64_t> own;
    p.memory().for_each([&](const Block& block) {
      if (block.context == context->number) own.push_back(block.address);
    });
    for (const std::uint64_t address : own) p.memory().release(address);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  return driver_call("cuCtxPushCurrent", Needs::initialised, [&](Process&) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Context* context = context_of(handle);
    if (context == nullptr || context->is_destroyed) return CUDA_ERROR_INVALID_CONTEXT;
    Contexts::get().push(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent_v2(CUcontext* result) {
  return driver_call("cuCtxPopCurrent", Needs::initialised, [&](Process&) {
    Context* context = Contexts::get().pop();
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (result != nullptr) *result = handle_of(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext handle) {
  return driver_call("cuCtxSetCurrent", Needs::initialised, [&](Process&) {
    Context* context = handle == nullptr ? nullptr : context_of(handle);
    if (handle != nullptr && (context == nullptr || context->is_destroyed)) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    Contexts::get().make_current(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* result) {
  return driver_call("cuCtxGetCurrent", Needs::initialised, [&](Process&) {
    return put_answer(result, handle_of(Contexts::get().current()));
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return driver_call("cuCtxGetDevice", Needs::context, [&](Process&) {
    return put_answer(device, CUdevice{Contexts::get().current()->device});
  });
}
CUresult cuCtxGetFlags(unsigned* flags) {
  return driver_call("cuCtxGetFlags", Needs::context, [&](Process&) {
    const Context& current = *Contexts::get().current();
    return put_answer(flags, current.flags | (current.is_primary ? CU_CTX_MAP_HOST : 0));
  });
}
CUresult cuCtxSetFlags(unsigned flags) {
  return driver_call("cuCtxSetFlags", Needs::context, [&](Process&) {
    Contexts::get().current()->flags = flags;
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxGetId(CUcontext handle, unsigned long long* number) {
  return driver_call("cuCtxGetId", Needs::initialised, [&](Process&) {
    const Context* context = context_of(handle);
    return context == nullptr ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                              : put_answer(number, context->number);
  });
}
CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  return driver_call("cuCtxGetApiVersion", Needs::initialised, [&](Process&) {
    constexpr unsigned since_contexts_are_current_per_thread = 3020;
    return context_of(handle) == nullptr
               ? CUDA_ERROR_INVALID_CONTEXT
               : put_answer(version, since_contexts_are_current_per_thread);
  });
}
CUresult cuCtxResetPersistingL2Cache() {
  return driver_call("cuCtxResetPersistingL2Cache", Needs::context,
                     [](Process&) { return CUDA_SUCCESS; });
}
CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned) {
  return driver_call("cuCtxEnablePeerAccess", Needs::context, [&](Process&) {
    const Context* peer = handle == nullptr ? nullptr : context_of(handle);
    const Context* current = Contexts::get().current();
    if (peer == nullptr || peer == current) return CUDA_ERROR_INVALID_CONTEXT;
    enable_peer(current->device, peer->device);
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxDisablePeerAccess(CUcontext handle) {
  return driver_call("cuCtxDisablePeerAccess", Needs::context, [&](Process&) {
    const Context* peer = handle == nullptr ? nullptr : context_of(handle);
    if (peer == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return disable_peer(Contexts::get().current()->device, peer->device)
               ? CUDA_SUCCESS
               : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  });
}

/// The runtime under the driver's tables is not answered: it is answered itself.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
  if (table != nullptr) *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

// Functions by name.

CUresult find_function(const char* name, int version, void** function,
                       CUdriverProcAddressQueryResult* status) {
  if (name == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *function = function_named(driver_spelling(name, version));
  if (*function == nullptr) *function = function_named(name);
  const bool is_too_new = *function != nullptr && is_newer_than(name, version);
  if (is_too_new) *function = nullptr;
  const bool is_found = *function != nullptr;
  if (status != nullptr) {
    *status = is_found     ? CU_GET_PROC_ADDRESS_SUCCESS
              : is_too_new ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                           : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return is_found || status != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult get_proc_address(const char* name, void** function, int version, cuuint64_t) {
  return find_function(name, version, function, nullptr);
}
CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t,
                             CUdriverProcAddressQueryResult* status) {
  return find_function(name, version, function, status);
}
cudaError_t entry_point(const char* name, void** function, int version,
                        cudaDriverEntryPointQueryResult* status) {
  return call_always("cudaGetDriverEntryPoint", [&](Process&) {
    auto result = CU_GET_PROC_ADDRESS_SUCCESS;
    const CUresult found = find_function(name, version, function, &result);
    if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(result);
    if (found != CUDA_SUCCESS) return static_cast<cudaError_t>(found);
    return *function != nullptr || status != nullptr ? cudaSuccess : cudaErrorSymbolNotFound;
  });
}
cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                    cudaDriverEntryPointQueryResult* status) {
  return entry_point(name, function, CUDART_VERSION, status);
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  return entry_point(name, function, static_cast<int>(version), status);
}

CUresult cuProfilerStart() {
  return driver_call("cuProfilerStart", Needs::context, [](Process&) { return CUDA_SUCCESS; });
}
CUresult cuProfilerStop() {
  return driver_call("cuProfilerStop", Needs::context, [](Process&) { return CUDA_SUCCESS; });
}

}  // namespace
}  // namespace api

std::span<const Answer> driver_device_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cuInit),
      WARPMETER_ANSWER(cuDriverGetVersion),
      WARPMETER_ANSWER(cuGetErrorString),
      WARPMETER_ANSWER(cuGetErrorName),
      WARPMETER_ANSWER(cuDeviceGet),
      WARPMETER_ANSWER(cuDeviceGetCount),
      WARPMETER_ANSWER(cuDeviceGetName),
      WARPMETER_ANSWER(cuDeviceGetUuid_v2),
      answer("cuDeviceGetUuid", &api::cuDeviceGetUuid_v2),
      WARPMETER_ANSWER(cuDeviceTotalMem_v2),
      WARPMETER_ANSWER(cuDeviceGetAttribute),
      WARPMETER_UNDECLARED(cuDeviceComputeCapability),
      WARPMETER_FORWARD_IN(cuDeviceCanAccessPeer, cudaDeviceCanAccessPeer, initialised),
      WARPMETER_FORWARD_IN(cuDeviceGetPCIBusId, cudaDeviceGetPCIBusId, initialised),
      WARPMETER_ANSWER(cuDevicePrimaryCtxRetain),
      WARPMETER_ANSWER(cuDevicePrimaryCtxRelease_v2),
      answer("cuDevicePrimaryCtxRelease", &api::cuDevicePrimaryCtxRelease_v2),
      WARPMETER_ANSWER(cuDevicePrimaryCtxSetFlags_v2),
      answer("cuDevicePrimaryCtxSetFlags", &api::cuDevicePrimaryCtxSetFlags_v2),
      WARPMETER_ANSWER(cuDevicePrimaryCtxGetState),
      WARPMETER_ANSWER(cuDevicePrimaryCtxReset_v2),
      answer("cuDevicePrimaryCtxReset", &api::cuDevicePrimaryCtxReset_v2),
      WARPMETER_UNDECLARED(cuCtxCreate_v2),
      WARPMETER_UNDECLARED(cuCtxCreate_v3),
      WARPMETER_ANSWER(cuCtxCreate_v4),
      WARPMETER_ANSWER(cuCtxDestroy_v2),
      WARPMETER_ANSWER(cuCtxPushCurrent_v2),
      WARPMETER_ANSWER(cuCtxPopCurrent_v2),
      WARPMETER_ANSWER(cuCtxSetCurrent),
      WARPMETER_ANSWER(cuCtxGetCurrent),
      WARPMETER_ANSWER(cuCtxGetDevice),
      WARPMETER_ANSWER(cuCtxGetFlags),
      WARPMETER_ANSWER(cuCtxSetFlags),
      WARPMETER_ANSWER(cuCtxGetId),
      WARPMETER_ANSWER(cuCtxGetApiVersion),
      WARPMETER_ANSWER(cuCtxResetPersistingL2Cache),
      WARPMETER_ANSWER(cuCtxEnablePeerAccess),
      WARPMETER_ANSWER(cuCtxDisablePeerAccess),
      WARPMETER_FORWARD(cuCtxSynchronize, cudaDeviceSynchronize),
      WARPMETER_FORWARD(cuCtxGetLimit, cudaDeviceGetLimit),
      WARPMETER_FORWARD(cuCtxSetLimit, cudaDeviceSetLimit),
      WARPMETER_FORWARD(cuCtxGetCacheConfig, cudaDeviceGetCacheConfig),
      WARPMETER_FORWARD(cuCtxSetCacheConfig, cudaDeviceSetCacheConfig),
      WARPMETER_FORWARD(cuCtxGetStreamPriorityRange, cudaDeviceGetStreamPriorityRange),
      WARPMETER_ANSWER(cuGetExportTable),
      answer("cuGetProcAddress", &api::get_proc_address),
      WARPMETER_ANSWER(cuGetProcAddress_v2),
      WARPMETER_UNDECLARED(cudaGetDriverEntryPoint),
      WARPMETER_UNDECLARED(cudaGetDriverEntryPointByVersion),
      WARPMETER_UNDECLARED(cuProfilerStart),
      WARPMETER_UNDECLARED(cuProfilerStop),
  };
  return table;
}

}  // namespace warpmeter::runtime
