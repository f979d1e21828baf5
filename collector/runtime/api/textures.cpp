// SPDX-License-Identifier: MIT
// Textures, surfaces and arrays with levels, by the runtime's API.
#include <algorithm>

#include "collector/runtime/api/answer.h"
#include "collector/runtime/api/call.h"
#include "collector/runtime/process/textures.h"

namespace warpmeter::runtime {
namespace api {
namespace {

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array,
                                     const cudaChannelFormatDesc* channels, cudaExtent extent,
                                     unsigned levels, unsigned flags) {
  const void* caller = __builtin_return_address(0);
  return call("cudaMallocMipmappedArray", [&](Process& p) {
    if (array == nullptr || channels == nullptr) return cudaErrorInvalidValue;
    if (!are_elements(*channels)) return cudaErrorInvalidChannelDescriptor;
    return make_mipmap(p, {*channels, extent, flags}, levels, caller,
                       reinterpret_cast<void**>(array));
  });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level, cudaMipmappedArray_const_t array,
                                       unsigned number) {
  return call("cudaGetMipmappedArrayLevel", [&](Process&) {
    const Mipmap* mipmap = mipmap_at(array);
    if (mipmap == nullptr) return cudaErrorInvalidResourceHandle;
    if (level == nullptr || number >= mipmap->levels.size()) return cudaErrorInvalidValue;
    *level = static_cast<cudaArray_t>(mipmap->levels[number]);
    return cudaSuccess;
  });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return call("cudaFreeMipmappedArray", [&](Process& p) {
    if (array != nullptr && mipmap_at(array) == nullptr) return cudaErrorInvalidResourceHandle;
    free_mipmap(p, array);
    return cudaSuccess;
  });
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* result, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture,
                                    const cudaResourceViewDesc* view) {
  return call("cudaCreateTextureObject", [&](Process& p) {
    if (result == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    if (texture == nullptr) return cudaErrorInvalidResourceHandle;
    return make_texture(p, *resource, *texture, view, *result);
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return call("cudaDestroyTextureObject", [&](Process&) {
    if (object_at(object, true) == nullptr) destroy_object(object);
    return cudaSuccess;
  });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* result, cudaTextureObject_t handle) {
  return call("cudaGetTextureObjectResourceDesc", [&](Process&) {
    const TextureObject* object = object_at(handle, false);
    if (object == nullptr || result == nullptr) return cudaErrorInvalidValue;
    *result = object->resource;
    return cudaSuccess;
  });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* result, cudaTextureObject_t handle) {
  return call("cudaGetTextureObjectTextureDesc", [&](Process&) {
    const TextureObject* object = object_at(handle, false);
    if (object == nullptr) return cudaErrorInvalidValue;
    if (result == nullptr) return cudaErrorInvalidResourceHandle;
    *result = object->texture;
    return cudaSuccess;
  });
}

cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* result,
                                                 cudaTextureObject_t handle) {
  return call("cudaGetTextureObjectResourceViewDesc", [&](Process&) {
    const TextureObject* object = object_at(handle, false);
    if (object == nullptr) return cudaErrorInvalidValue;
    if (result != nullptr) *result = object->view;
    return cudaSuccess;
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* result, const cudaResourceDesc* resource) {
  return call("cudaCreateSurfaceObject", [&](Process&) {
    if (result == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    return make_surface(*resource, *result);
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return call("cudaDestroySurfaceObject", [&](Process&) {
    if (object_at(object, false) == nullptr) destroy_object(object);
    return cudaSuccess;
  });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* result, cudaSurfaceObject_t handle) {
  return call("cudaGetSurfaceObjectResourceDesc", [&](Process&) {
    const TextureObject* object = object_at(handle, true);
    if (object == nullptr) return cudaErrorInvalidValue;
    if (result == nullptr) return cudaErrorInvalidDevice;  // as an H100 answers
    *result = object->resource;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* most,
                                                 const cudaChannelFormatDesc* channels,
                                                 int device) {
  return call("cudaDeviceGetTexture1DLinearMaxWidth", [&](Process& p) {
    if (most == nullptr || channels == nullptr) return cudaErrorInvalidValue;
    if (device < 0 || device >= p.devices()) return cudaErrorInvalidDevice;
    if (channels->f > cudaChannelFormatKindFloat || !are_elements(*channels)) {
      return cudaErrorInvalidChannelDescriptor;
    }
    // 2^30 elements, and 2^32 bytes.
    const auto bytes =
        static_cast<std::size_t>(channels->x + channels->y + channels->z + channels->w) / 8;
    *most = std::min(std::size_t{1} << 30, (std::size_t{1} << 32) / bytes);
    return cudaSuccess;
  });
}

// Arrays whose memory the program maps itself, or that have planes, are not made here: of all
// others a device answers that the question is invalid.
cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements*, cudaArray_t, int) {
  return call("cudaArrayGetMemoryRequirements", [](Process&) { return cudaErrorInvalidValue; });
}
cudaError_t cudaArrayGetPlane(cudaArray_t*, cudaArray_t, unsigned) {
  return call("cudaArrayGetPlane", [](Process&) { return cudaErrorInvalidValue; });
}
cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties*, cudaArray_t) {
  return call("cudaArrayGetSparseProperties", [](Process&) { return cudaErrorInvalidValue; });
}

}  // namespace
}  // namespace api

std::span<const Answer> texture_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cudaMallocMipmappedArray),
      WARPMETER_ANSWER(cudaGetMipmappedArrayLevel),
      WARPMETER_ANSWER(cudaFreeMipmappedArray),
      WARPMETER_ANSWER(cudaCreateTextureObject),
      WARPMETER_ANSWER(cudaDestroyTextureObject),
      WARPMETER_ANSWER(cudaGetTextureObjectResourceDesc),
      WARPMETER_ANSWER(cudaGetTextureObjectTextureDesc),
      WARPMETER_ANSWER(cudaGetTextureObjectResourceViewDesc),
      WARPMETER_ANSWER(cudaCreateSurfaceObject),
      WARPMETER_ANSWER(cudaDestroySurfaceObject),
      WARPMETER_ANSWER(cudaGetSurfaceObjectResourceDesc),
      WARPMETER_ANSWER(cudaDeviceGetTexture1DLinearMaxWidth),
      WARPMETER_ANSWER(cudaArrayGetMemoryRequirements),
      WARPMETER_ANSWER(cudaArrayGetPlane),
      WARPMETER_ANSWER(cudaArrayGetSparseProperties),
  };
  return table;
}

}  // namespace warpmeter::runtime
