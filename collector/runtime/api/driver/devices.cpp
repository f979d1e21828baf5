// SPDX-License-Identifier: MIT
// The driver's API: what is there, contexts, errors, and functions by their names. It is answered
// by the same process as the runtime's, so that a program may use both.
#include <cstdio>
#include <vector>

#include "collector/runtime/api/driver/names.h"
#include "collector/runtime/api/lookup.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/device/error_texts.h"
#include "collector/runtime/process/contexts.h"
#include "collector/runtime/process/peers.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/outstanding.h"

namespace warpmeter::runtime {
namespace contexts {
namespace {

/// A question about a device.
template <class Body>
CUresult device_call(Process& process, CUdevice device, const Body& body) {
  return process.has_device(device) ? body() : CUDA_ERROR_INVALID_DEVICE;
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

CUresult make_context(Process& process, CUcontext* result, unsigned flags, CUdevice device) {
  return device_call(process, device, [&] {
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

CUresult init(Process& process, unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (process.is_fork()) return CUDA_ERROR_NOT_INITIALIZED;
  if (process.devices() == 0) return CUDA_ERROR_NO_DEVICE;
  Contexts::get().is_initialised = true;
  return CUDA_SUCCESS;
}

CUresult driver_get_version(int* version) { return put_answer(version, CUDA_VERSION); }

CUresult get_error_string(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool is_known = driver_error_name(error) != nullptr;
  *text = is_known ? error_text(error) : nullptr;
  return is_known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult get_error_name(CUresult error, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = driver_error_name(error);
  return *name != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult device_get(Process& process, CUdevice* device, int ordinal) {
  return device_call(process, ordinal, [&] { return put_answer(device, CUdevice{ordinal}); });
}

CUresult device_get_count(Process& process, int* count) {
  return put_answer(count, process.devices());
}

CUresult device_get_name(Process& process, char* name, int length, CUdevice device) {
  return device_call(process, device, [&] {
    if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    cudaDeviceProp properties{};
    fill_properties(properties, process.arch(), process.device_of_machine(device));
    std::snprintf(name, static_cast<std::size_t>(length), "%s", properties.name);
    return CUDA_SUCCESS;
  });
}

CUresult device_get_uuid(Process& process, CUuuid* uuid, CUdevice device) {
  return device_call(process, device, [&] {
    cudaDeviceProp properties{};
    fill_properties(properties, process.arch(), process.device_of_machine(device));
    return put_answer(uuid, properties.uuid);
  });
}

CUresult device_total_mem(Process& process, std::size_t* bytes, CUdevice device) {
  return device_call(process, device,
                     [&] { return put_answer(bytes, std::size_t{process.memory().limit()}); });
}

CUresult device_get_attribute(Process& process, int* value, CUdevice_attribute which,
                              CUdevice device) {
  return device_call(process, device, [&] {
    const std::optional<int> known =
        attribute(which, process.arch(), process.device_of_machine(device));
    return known ? put_answer(value, *known) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult device_compute_capability(Process& process, int* major, int* minor, CUdevice device) {
  return device_call(process, device, [&] {
    if (major == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *major = process.arch() / 10;
    return put_answer(minor, process.arch() % 10);
  });
}

CUresult device_primary_context_retain(Process& process, CUcontext* result, CUdevice device) {
  return device_call(process, device, [&] {
    if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Context& primary = Contexts::get().primary(device);
    ++primary.uses;
    return put_answer(result, handle_of(&primary));
  });
}

CUresult device_primary_context_release(Process& process, CUdevice device) {
  return device_call(process, device, [&] {
    Context& primary = Contexts::get().primary(device);
    if (primary.uses == 0) return CUDA_ERROR_INVALID_CONTEXT;
    --primary.uses;
    return CUDA_SUCCESS;
  });
}

CUresult device_primary_context_set_flags(Process& process, CUdevice device, unsigned flags) {
  return device_call(process, device, [&] {
    Contexts::get().primary(device).flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult device_primary_context_get_state(Process& process, CUdevice device, unsigned* flags,
                                          int* is_active) {
  return device_call(process, device, [&] {
    const Context& primary = Contexts::get().primary(device);
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = primary.flags;
    return put_answer(is_active, primary.is_active() ? 1 : 0);
  });
}

CUresult device_primary_context_reset(Process& process, CUdevice device) {
  return device_call(process, device, [&] {
    wait_for_kernels(process);
    process.show_printed();
    Context& primary = Contexts::get().primary(device);
    primary.uses = 0;
    primary.is_of_runtime = false;
    forget_peers(device);
    return as_driver_error(process.reset());
  });
}

CUresult create_v3(Process& process, CUcontext* result, CUexecAffinityParam*, int, unsigned flags,
                   CUdevice device) {
  return make_context(process, result, flags, device);
}
CUresult create_v4(Process& process, CUcontext* result, CUctxCreateParams*, unsigned flags,
                   CUdevice device) {
  return make_context(process, result, flags, device);
}

CUresult destroy(Process& process, CUcontext handle) {
  Context* context = handle == nullptr ? nullptr : context_of(handle);
  if (context != nullptr && context->is_destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (context == nullptr || context->is_primary || context->is_green()) {
    return handle == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CONTEXT;
  }
  process.show_printed();
  if (Contexts::get().current() == context) Contexts::get().pop();
  context->is_destroyed = true;
  wait_for_device(process, context->device);
  std::vector<std::uint64_t> own;
  process.memory().for_each([&](const Block& block) {
    if (block.context == context->number) own.push_back(block.address);
  });
  for (const std::uint64_t address : own) process.memory().release(address);
  return CUDA_SUCCESS;
}

CUresult push_current(CUcontext handle) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Context* context = context_of(handle);
  if (context == nullptr || context->is_destroyed) return CUDA_ERROR_INVALID_CONTEXT;
  Contexts::get().push(context);
  return CUDA_SUCCESS;
}

CUresult pop_current(CUcontext* result) {
  Context* context = Contexts::get().pop();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (result != nullptr) *result = handle_of(context);
  return CUDA_SUCCESS;
}

CUresult set_current(CUcontext handle) {
  Context* context = handle == nullptr ? nullptr : context_of(handle);
  if (handle != nullptr && (context == nullptr || context->is_destroyed)) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  Contexts::get().make_current(context);
  return CUDA_SUCCESS;
}

CUresult get_current(CUcontext* result) {
  return put_answer(result, handle_of(Contexts::get().current()));
}

CUresult get_device(CUdevice* device) {
  return put_answer(device, CUdevice{Contexts::get().current()->device});
}
CUresult get_flags(unsigned* flags) {
  const Context& current = *Contexts::get().current();
  return put_answer(flags, current.flags | (current.is_primary ? CU_CTX_MAP_HOST : 0));
}
CUresult set_flags(unsigned flags) {
  Contexts::get().current()->flags = flags;
  return CUDA_SUCCESS;
}
CUresult get_id(CUcontext handle, unsigned long long* number) {
  const Context* context = context_of(handle);
  return context == nullptr ? CUDA_ERROR_CONTEXT_IS_DESTROYED : put_answer(number, context->number);
}
CUresult get_api_version(CUcontext handle, unsigned* version) {
  constexpr unsigned since_contexts_are_current_per_thread = 3020;
  return context_of(handle) == nullptr ? CUDA_ERROR_INVALID_CONTEXT
                                       : put_answer(version, since_contexts_are_current_per_thread);
}
CUresult reset_persisting_l2_cache() { return CUDA_SUCCESS; }
CUresult enable_peer_access(CUcontext handle, unsigned) {
  const Context* peer = handle == nullptr ? nullptr : context_of(handle);
  const Context* current = Contexts::get().current();
  if (peer == nullptr || peer == current) return CUDA_ERROR_INVALID_CONTEXT;
  enable_peer(current->device, peer->device);
  return CUDA_SUCCESS;
}
CUresult disable_peer_access(CUcontext handle) {
  const Context* peer = handle == nullptr ? nullptr : context_of(handle);
  if (peer == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return disable_peer(Contexts::get().current()->device, peer->device)
             ? CUDA_SUCCESS
             : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

/// The runtime under the driver's tables is not answered: it is answered itself.
CUresult get_export_table(const void** table, const CUuuid*) {
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

CUresult get_proc_address_at_first(const char* name, void** function, int version, cuuint64_t) {
  return find_function(name, version, function, nullptr);
}
CUresult get_proc_address(const char* name, void** function, int version, cuuint64_t,
                          CUdriverProcAddressQueryResult* status) {
  return find_function(name, version, function, status);
}
cudaError_t entry_point(const char* name, void** function, int version,
                        cudaDriverEntryPointQueryResult* status) {
  auto result = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult found = find_function(name, version, function, &result);
  if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(result);
  if (found != CUDA_SUCCESS) return static_cast<cudaError_t>(found);
  return *function != nullptr || status != nullptr ? cudaSuccess : cudaErrorSymbolNotFound;
}
cudaError_t get_driver_entry_point(const char* name, void** function, unsigned long long,
                                   cudaDriverEntryPointQueryResult* status) {
  return entry_point(name, function, CUDART_VERSION, status);
}
cudaError_t get_driver_entry_point_by_version(const char* name, void** function, unsigned version,
                                              unsigned long long,
                                              cudaDriverEntryPointQueryResult* status) {
  return entry_point(name, function, static_cast<int>(version), status);
}

CUresult profiler_start(Process& process) {
  if (process.report() != nullptr) process.report()->profile(true);
  return CUDA_SUCCESS;
}
CUresult profiler_stop(Process& process) {
  if (process.report() != nullptr) process.report()->profile(false);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace contexts

std::vector<Answer> driver_device_answers() {
  return {
      ANSWER(cuInit, contexts::init, Needs::nothing),
      ANSWER(cuDriverGetVersion, contexts::driver_get_version, Needs::nothing),
      DIRECT(cuGetErrorString, contexts::get_error_string),
      DIRECT(cuGetErrorName, contexts::get_error_name),
      ANSWER(cuDeviceGet, contexts::device_get, Needs::initialised),
      ANSWER(cuDeviceGetCount, contexts::device_get_count, Needs::initialised),
      ANSWER(cuDeviceGetName, contexts::device_get_name, Needs::initialised),
      ANSWER(cuDeviceGetUuid_v2, contexts::device_get_uuid, Needs::initialised),
      ANSWER_AS("cuDeviceGetUuid", contexts::device_get_uuid, Needs::initialised),
      ANSWER(cuDeviceTotalMem_v2, contexts::device_total_mem, Needs::initialised),
      ANSWER(cuDeviceGetAttribute, contexts::device_get_attribute, Needs::initialised,
             No(CUDA_ERROR_INVALID_VALUE)),
      ANSWER_AS("cuDeviceComputeCapability", contexts::device_compute_capability,
                Needs::initialised),
      ANSWER(cuDevicePrimaryCtxRetain, contexts::device_primary_context_retain, Needs::initialised),
      ANSWER(cuDevicePrimaryCtxRelease_v2, contexts::device_primary_context_release,
             Needs::initialised),
      ANSWER_AS("cuDevicePrimaryCtxRelease", contexts::device_primary_context_release,
                Needs::initialised),
      ANSWER(cuDevicePrimaryCtxSetFlags_v2, contexts::device_primary_context_set_flags,
             Needs::initialised),
      ANSWER_AS("cuDevicePrimaryCtxSetFlags", contexts::device_primary_context_set_flags,
                Needs::initialised),
      ANSWER(cuDevicePrimaryCtxGetState, contexts::device_primary_context_get_state,
             Needs::initialised),
      ANSWER(cuDevicePrimaryCtxReset_v2, contexts::device_primary_context_reset,
             Needs::initialised),
      ANSWER_AS("cuDevicePrimaryCtxReset", contexts::device_primary_context_reset,
                Needs::initialised),
      ANSWER_AS("cuCtxCreate_v2", contexts::make_context, Needs::initialised),
      ANSWER_AS("cuCtxCreate_v3", contexts::create_v3, Needs::initialised),
      ANSWER(cuCtxCreate_v4, contexts::create_v4, Needs::initialised),
      ANSWER(cuCtxDestroy_v2, contexts::destroy, Needs::initialised),
      ANSWER(cuCtxPushCurrent_v2, contexts::push_current, Needs::initialised),
      ANSWER(cuCtxPopCurrent_v2, contexts::pop_current, Needs::initialised),
      ANSWER(cuCtxSetCurrent, contexts::set_current, Needs::initialised),
      ANSWER(cuCtxGetCurrent, contexts::get_current, Needs::initialised,
             No(CUDA_ERROR_NOT_INITIALIZED)),
      ANSWER(cuCtxGetDevice, contexts::get_device, Needs::context,
             No(CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_INVALID_CONTEXT)),
      ANSWER(cuCtxGetFlags, contexts::get_flags, Needs::context),
      ANSWER(cuCtxSetFlags, contexts::set_flags, Needs::context),
      ANSWER(cuCtxGetId, contexts::get_id, Needs::initialised),
      ANSWER(cuCtxGetApiVersion, contexts::get_api_version, Needs::initialised),
      ANSWER(cuCtxResetPersistingL2Cache, contexts::reset_persisting_l2_cache, Needs::context),
      ANSWER(cuCtxEnablePeerAccess, contexts::enable_peer_access, Needs::context),
      ANSWER(cuCtxDisablePeerAccess, contexts::disable_peer_access, Needs::context),
      DIRECT(cuGetExportTable, contexts::get_export_table),
      DIRECT_AS("cuGetProcAddress", contexts::get_proc_address_at_first),
      DIRECT(cuGetProcAddress_v2, contexts::get_proc_address),
      ANSWER_AS("cudaGetDriverEntryPoint", contexts::get_driver_entry_point, Needs::initialised,
                Answers::after_failure),
      ANSWER(cudaGetDriverEntryPointByVersion, contexts::get_driver_entry_point_by_version,
             Needs::initialised, Answers::after_failure),
      ANSWER_AS("cuProfilerStart", contexts::profiler_start, Needs::context),
      ANSWER_AS("cuProfilerStop", contexts::profiler_stop, Needs::context),
  };
}

}  // namespace warpmeter::runtime
