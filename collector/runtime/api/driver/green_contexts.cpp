// SPDX-License-Identifier: MIT
// Green contexts: the primary one with some of the multiprocessors, which a program splits off the
// device's. How many there are, how they are split and what is refused is as an H200 answered.
#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/process/contexts.h"
#include "collector/runtime/stream/capture.h"
#include "collector/runtime/stream/outstanding.h"

// Opaque to programs: which multiprocessors those are.
struct CUdevResourceDesc_st {
  std::shared_ptr<const warpmeter::runtime::Multiprocessors> multiprocessors;
};

namespace warpmeter::runtime {
namespace green_contexts {
namespace {

/// Multiprocessors that lie side by side and start the blocks of a cluster together.
constexpr unsigned together = 8;
/// The least that can be split off where that does not matter.
constexpr unsigned least_apart = 2;

/// In the part of a resource that is not the program's.
struct Hidden {
  unsigned first = 0;  ///< multiprocessor
  int device = 0;
  bool is_split = false;  ///< off another, and no context's yet
};

Hidden hidden_of(const CUdevResource& resource) {
  Hidden hidden;
  std::memcpy(&hidden, resource._internal_padding, sizeof hidden);
  return hidden;
}

CUdevResource resource_of(unsigned count, const Hidden& hidden) {
  CUdevResource resource{};
  if (count == 0) return resource;
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource.sm.smCount = count;
  if (!hidden.is_split)
    resource.sm.minSmPartitionSize = resource.sm.smCoscheduledAlignment = together;
  std::memcpy(resource._internal_padding, &hidden, sizeof hidden);
  return resource;
}

Multiprocessors multiprocessors_of(const Process& process, int device) {
  Multiprocessors all(static_cast<std::size_t>(
      *attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, process.arch(), device)));
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

/// Puts the resource of a context, green or not.
CUresult put_resource(Process& process, const Context& context, CUdevResource* result,
                      CUdevResourceType type) {
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  const Multiprocessors all =
      context.is_green() ? *context.multiprocessors : multiprocessors_of(process, context.device);
  *result = resource_of(static_cast<unsigned>(all.size()), {all.front(), context.device, false});
  return CUDA_SUCCESS;
}

Context* named_context(const void* handle) {
  auto* context = static_cast<Context*>(const_cast<void*>(handle));
  return handle != nullptr && Contexts::get().holds(context) ? context : nullptr;
}
Context* green_context(CUgreenCtx handle) {
  Context* context = named_context(handle);
  return context != nullptr && context->is_green() ? context : nullptr;
}

/// `body(context)` of one that is named and is there.
template <class Find, class Body>
CUresult with_context(const Find& find, const Body& body) {
  Context* context = find();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return context->is_destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : body(*context);
}
template <class Body>
CUresult of_green(CUgreenCtx handle, const Body& body) {
  return with_context([&] { return green_context(handle); }, body);
}
template <class Body>
CUresult of_any(CUcontext handle, const Body& body) {
  return with_context([&] { return named_context(handle); }, body);
}

/// All streams of the context: of a green one its own, else the device's.
template <class Visit>
void for_each_stream_of(Process& process, const Context& context, const Visit& visit) {
  process.for_each_stream([&](Stream& stream) {
    const bool is_own = context.is_green() ? stream.green == &context : true;
    if (is_own && stream.device == context.device) visit(stream);
  });
}

/// Records all work of the context's streams so far in one event.
CUresult record_all(Process& process, const Context& context, CUevent handle) {
  if (process.event(handle) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const cudaError_t captured = forbidden_in_capture(process, context.device);
  if (captured != cudaSuccess) return as_driver_error(captured);
  Stream& last = *process.stream(cudaStreamLegacy);
  Races* const races = process.races();
  for_each_stream_of(process, context, [&](Stream& stream) {
    if (&stream == &last) return;
    if (races != nullptr) races->follow(last, races->clock_of(stream));
    if (!stream.waiting.empty()) last.follows.push_back({stream.shared_from_this(), stream.given});
  });
  return as_driver_error(streams::event_record(process, handle, cudaStreamLegacy));
}

/// Makes later work of the context's streams follow the event.
CUresult wait_with_all(Process& process, const Context& context, CUevent handle) {
  const Event* event = process.event(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const cudaError_t captured = forbidden_in_capture(process, context.device);
  if (captured != cudaSuccess) return as_driver_error(captured);
  for_each_stream_of(process, context, [&](Stream& stream) { follow(stream, *event); });
  return CUDA_SUCCESS;
}

CUresult device_get_dev_resource(Process& process, CUdevice device, CUdevResource* result,
                                 CUdevResourceType type) {
  if (!process.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  return put_resource(process, Contexts::get().primary(device), result, type);
}
CUresult context_get_dev_resource(Process& process, CUcontext handle, CUdevResource* result,
                                  CUdevResourceType type) {
  return of_any(
      handle, [&](const Context& context) { return put_resource(process, context, result, type); });
}
CUresult green_context_get_dev_resource(Process& process, CUgreenCtx handle, CUdevResource* result,
                                        CUdevResourceType type) {
  return of_green(
      handle, [&](const Context& context) { return put_resource(process, context, result, type); });
}

CUresult dev_sm_resource_split_by_count(Process& process, CUdevResource* groups, unsigned* count,
                                        const CUdevResource* input, CUdevResource* rest,
                                        unsigned flags, unsigned least) {
  constexpr unsigned apart = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING,
                     clusters = CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
  if (count == nullptr || input == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (input->type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  if ((flags & (apart | clusters)) == (apart | clusters)) return CUDA_ERROR_INVALID_VALUE;
  if (groups != nullptr && *count == 0) return CUDA_ERROR_INVALID_VALUE;
  const unsigned all = input->sm.smCount;
  Hidden hidden = hidden_of(*input);
  if (least > all || hidden.is_split) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  const unsigned step = (flags & apart) != 0 ? least_apart : together;
  const unsigned wanted = std::max(least, 1u);
  const unsigned size = std::min((wanted + step - 1) / step * step, all);
  unsigned possible = all / size;
  // A whole H200's one resource is not side by side.
  if (size == together && step == together &&
      all == multiprocessors_of(process, hidden.device).size())
    --possible;
  if (groups == nullptr) {
    *count = possible;
    return CUDA_SUCCESS;
  }
  *count = std::min(*count, possible);
  hidden.is_split = true;
  for (unsigned i = 0; i < *count; ++i) {
    groups[i] = resource_of(size, hidden);
    hidden.first += size;
  }
  if (rest != nullptr) *rest = resource_of(all - *count * size, hidden);
  return CUDA_SUCCESS;
}

CUresult dev_resource_generate_desc(CUdevResourceDesc* result, CUdevResource* resources,
                                    unsigned count) {
  if (result == nullptr || resources == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  Multiprocessors all;
  const int device = hidden_of(resources[0]).device;
  for (unsigned i = 0; i < count; ++i) {
    if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    const Hidden hidden = hidden_of(resources[i]);
    if (hidden.device != device) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    for (unsigned k = 0; k < resources[i].sm.smCount; ++k) all.push_back(hidden.first + k);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  // Nothing of the API takes a descriptor back.
  *result = new CUdevResourceDesc_st{std::make_shared<const Multiprocessors>(std::move(all))};
  return CUDA_SUCCESS;
}

CUresult green_context_create(Process& process, CUgreenCtx* result, CUdevResourceDesc descriptor,
                              CUdevice device, unsigned flags) {
  if (!process.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (result == nullptr || flags != CU_GREEN_CTX_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
  Context* context = Contexts::get().create(device, 0);
  context->multiprocessors =
      descriptor != nullptr  // an H200 takes none for all
          ? descriptor->multiprocessors
          : std::make_shared<const Multiprocessors>(multiprocessors_of(process, device));
  ++Contexts::get().primary(device).uses;
  *result = reinterpret_cast<CUgreenCtx>(context);
  return CUDA_SUCCESS;
}
CUresult green_context_destroy(Process& process, CUgreenCtx handle) {
  return of_green(handle, [&](Context& context) {
    process.show_printed();
    wait_for_device(process, context.device);
    context.is_destroyed = true;
    --Contexts::get().primary(context.device).uses;
    return CUDA_SUCCESS;
  });
}

CUresult context_from_green_context(CUcontext* result, CUgreenCtx handle) {
  return of_green(handle, [&](Context& context) {
    if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *result = reinterpret_cast<CUcontext>(&context);
    return CUDA_SUCCESS;
  });
}
CUresult green_context_get_id(CUgreenCtx handle, unsigned long long* number) {
  const auto named = [&]() -> Context* {
    Context* current = Contexts::get().current();
    if (handle != nullptr) return green_context(handle);
    return current != nullptr && current->is_green() ? current : nullptr;
  };
  return with_context(named, [&](const Context& context) {
    if (number == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *number = context.number;
    return CUDA_SUCCESS;
  });
}

CUresult green_context_stream_create(Process& process, CUstream* result, CUgreenCtx handle,
                                     unsigned flags, int priority) {
  return of_green(handle, [&](Context& context) {
    if (result == nullptr || flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t made = streams::create_with_priority(process, result, flags, priority);
    if (made == cudaSuccess) process.stream(*result)->green = &context;
    return as_driver_error(made);
  });
}
CUresult stream_get_green_context(Process& process, CUstream handle, CUgreenCtx* result) {
  const Stream* stream = process.stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *result = reinterpret_cast<CUgreenCtx>(green_of(handle, *stream));
  return CUDA_SUCCESS;
}

CUresult green_context_record_event(Process& process, CUgreenCtx handle, CUevent event) {
  return of_green(handle,
                  [&](const Context& context) { return record_all(process, context, event); });
}
CUresult green_context_wait_event(Process& process, CUgreenCtx handle, CUevent event) {
  return of_green(handle,
                  [&](const Context& context) { return wait_with_all(process, context, event); });
}
CUresult context_record_event(Process& process, CUcontext handle, CUevent event) {
  return of_any(handle,
                [&](const Context& context) { return record_all(process, context, event); });
}
CUresult context_wait_event(Process& process, CUcontext handle, CUevent event) {
  return of_any(handle,
                [&](const Context& context) { return wait_with_all(process, context, event); });
}

}  // namespace
}  // namespace green_contexts

std::vector<Answer> green_context_answers() {
  return {
      ANSWER(cuDeviceGetDevResource, green_contexts::device_get_dev_resource, Needs::initialised),
      ANSWER(cuCtxGetDevResource, green_contexts::context_get_dev_resource, Needs::initialised),
      ANSWER(cuGreenCtxGetDevResource, green_contexts::green_context_get_dev_resource,
             Needs::initialised),
      ANSWER(cuDevSmResourceSplitByCount, green_contexts::dev_sm_resource_split_by_count,
             Needs::initialised),
      ANSWER(cuDevResourceGenerateDesc, green_contexts::dev_resource_generate_desc,
             Needs::initialised),
      ANSWER(cuGreenCtxCreate, green_contexts::green_context_create, Needs::initialised),
      ANSWER(cuGreenCtxDestroy, green_contexts::green_context_destroy, Needs::initialised),
      ANSWER(cuCtxFromGreenCtx, green_contexts::context_from_green_context, Needs::initialised),
      ANSWER(cuGreenCtxGetId, green_contexts::green_context_get_id, Needs::initialised),
      ANSWER(cuGreenCtxStreamCreate, green_contexts::green_context_stream_create,
             Needs::initialised),
      ANSWER(cuStreamGetGreenCtx, green_contexts::stream_get_green_context, Needs::context),
      ANSWER(cuGreenCtxRecordEvent, green_contexts::green_context_record_event, Needs::initialised),
      ANSWER(cuGreenCtxWaitEvent, green_contexts::green_context_wait_event, Needs::initialised),
      ANSWER(cuCtxRecordEvent, green_contexts::context_record_event, Needs::initialised),
      ANSWER(cuCtxWaitEvent, green_contexts::context_wait_event, Needs::initialised),
  };
}

}  // namespace warpmeter::runtime
