// SPDX-License-Identifier: MIT
#include "collector/inject/names/resource_numbers.h"

namespace warpmeter::inject {

void ResourceNumbers::context_made(CUcontext context) {
  const std::lock_guard lock(mutex_);
  contexts_.insert(context);
}

void ResourceNumbers::stream_made(CUcontext context, CUstream stream) {
  const std::lock_guard lock(mutex_);
  streams_[stream] = context;
}

CUcontext ResourceNumbers::context_of(CUstream stream) {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  if (found != streams_.end()) return found->second;
  const bool is_default =
      stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
  return is_default && contexts_.size() == 1 ? *contexts_.begin() : nullptr;
}

std::optional<ResourceNumber> ResourceNumbers::of_stream(CUstream stream) {
  CUcontext context = context_of(stream);
  std::uint32_t context_number = 0, number = 0;
  const std::uint8_t is_of_thread = stream == CU_STREAM_PER_THREAD ? 1 : 0;
  if (context == nullptr || api_.cuptiGetContextId(context, &context_number) != CUPTI_SUCCESS ||
      api_.cuptiGetStreamIdEx(context, stream, is_of_thread, &number) != CUPTI_SUCCESS) {
    return std::nullopt;
  }
  return ResourceNumber{context_number, number};
}

std::optional<ResourceNumber> ResourceNumbers::of(const Named& named) {
  if (named.resource == Resource::stream) {
    return of_stream(reinterpret_cast<CUstream>(named.handle));
  }
  if (named.resource != Resource::context) return ResourceNumber{0, named.handle};
  std::uint32_t number = 0;
  const auto context = reinterpret_cast<CUcontext>(named.handle);
  if (api_.cuptiGetContextId(context, &number) != CUPTI_SUCCESS) return std::nullopt;
  return ResourceNumber{0, number};
}

}  // namespace warpmeter::inject
