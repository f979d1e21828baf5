// SPDX-License-Identifier: MIT
// Attributes of streams. None of them changes what a kernel does or counts, but programs set them
// and ask for them.
#include <algorithm>
#include <array>

#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/process/contexts.h"

namespace warpmeter::runtime {
namespace stream_attributes {
namespace {

constexpr std::array kept_attributes = {
    cudaLaunchAttributeAccessPolicyWindow, cudaLaunchAttributeSynchronizationPolicy,
    cudaLaunchAttributePriority, cudaLaunchAttributeMemSyncDomainMap,
    cudaLaunchAttributeMemSyncDomain};

bool is_kept(cudaLaunchAttributeID which) {
  return std::find(kept_attributes.begin(), kept_attributes.end(), which) != kept_attributes.end();
}

/// The attribute of a stream that nobody has set.
cudaLaunchAttributeValue value_at_first(const Stream& stream, cudaLaunchAttributeID which) {
  cudaLaunchAttributeValue value{};
  // No policy at all: as an H200 says (driver 580).
  if (which == cudaLaunchAttributeSynchronizationPolicy) value.cooperative = -1;
  if (which == cudaLaunchAttributePriority) value.priority = stream.priority;
  if (which == cudaLaunchAttributeMemSyncDomainMap) value.memSyncDomainMap = {0, 1};
  if (which == cudaLaunchAttributeMemSyncDomain)
    value.memSyncDomain = cudaLaunchMemSyncDomainDefault;
  return value;
}

bool is_window(const Process& process, const cudaAccessPolicyWindow& window) {
  const auto most = attribute(cudaDevAttrMaxAccessPolicyWindowSize, process.arch(), current_device);
  return window.hitRatio >= 0 && window.hitRatio <= 1 &&
         window.num_bytes <= static_cast<std::size_t>(most.value_or(0)) &&
         window.hitProp >= cudaAccessPropertyNormal &&
         window.hitProp <= cudaAccessPropertyPersisting &&
         (window.missProp == cudaAccessPropertyNormal ||
          window.missProp == cudaAccessPropertyStreaming);
}

bool is_value(const Process& process, cudaLaunchAttributeID which,
              const cudaLaunchAttributeValue& value) {
  switch (which) {
    case cudaLaunchAttributeAccessPolicyWindow:
      return is_window(process, value.accessPolicyWindow);
    case cudaLaunchAttributeSynchronizationPolicy:
      return value.syncPolicy >= cudaSyncPolicyAuto &&
             value.syncPolicy <= cudaSyncPolicyBlockingSync;
    case cudaLaunchAttributeMemSyncDomain:
      return value.memSyncDomain == cudaLaunchMemSyncDomainDefault ||
             value.memSyncDomain == cudaLaunchMemSyncDomainRemote;
    case cudaLaunchAttributeMemSyncDomainMap: {
      const int domains =
          attribute(cudaDevAttrMemSyncDomainCount, process.arch(), current_device).value_or(1);
      return value.memSyncDomainMap.default_ < domains && value.memSyncDomainMap.remote < domains;
    }
    default:
      return true;
  }
}

cudaError_t stream_set_attribute(Process& process, cudaStream_t handle, cudaLaunchAttributeID which,
                                 const cudaLaunchAttributeValue* value) {
  Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (value == nullptr || !is_kept(which) || !is_value(process, which, *value)) {
    return cudaErrorInvalidValue;
  }
  cudaLaunchAttributeValue kept = *value;
  if (which == cudaLaunchAttributePriority) {
    const auto [least, greatest] = stream_priorities();
    kept.priority = stream->priority = std::clamp(value->priority, greatest, least);
  }
  stream->attributes[which] = kept;
  return cudaSuccess;
}

cudaError_t stream_get_attribute(Process& process, cudaStream_t handle, cudaLaunchAttributeID which,
                                 cudaLaunchAttributeValue* value) {
  const Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (value == nullptr || !is_kept(which)) return cudaErrorInvalidValue;
  const auto found = stream->attributes.find(which);
  *value = found != stream->attributes.end() ? found->second : value_at_first(*stream, which);
  return cudaSuccess;
}

cudaError_t stream_copy_attributes(Process& process, cudaStream_t to, cudaStream_t from) {
  Stream* target = process.stream(to);
  const Stream* source = process.stream(from);
  if (target == nullptr || source == nullptr) return cudaErrorInvalidResourceHandle;
  if (target->device != source->device) return cudaErrorInvalidValue;
  target->attributes = source->attributes;
  target->priority = source->priority;
  return cudaSuccess;
}

/// Nothing persists in a cache that is not modelled.
cudaError_t context_reset_persisting_l2_cache() {
  return Contexts::get().current() != nullptr ? cudaSuccess : cudaErrorDeviceUninitialized;
}

}  // namespace
}  // namespace stream_attributes

std::vector<Answer> stream_attribute_answers() {
  return {
      BOTH(cudaStreamSetAttribute, cuStreamSetAttribute, stream_attributes::stream_set_attribute,
           Needs::context),
      BOTH(cudaStreamGetAttribute, cuStreamGetAttribute, stream_attributes::stream_get_attribute,
           Needs::context),
      BOTH(cudaStreamCopyAttributes, cuStreamCopyAttributes,
           stream_attributes::stream_copy_attributes, Needs::context),
      ANSWER(cudaCtxResetPersistingL2Cache, stream_attributes::context_reset_persisting_l2_cache,
             Needs::device),
  };
}

}  // namespace warpmeter::runtime
