// SPDX-License-Identifier: MIT
// Textures, surfaces and arrays with levels, by the runtime's API.
#include <algorithm>

#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/process/textures.h"

namespace warpmeter::runtime {
namespace textures {
namespace {

cudaError_t allocate_mipmapped_array(Process& process, cudaMipmappedArray_t* array,
                                     const cudaChannelFormatDesc* channels, cudaExtent extent,
                                     unsigned levels, unsigned flags) {
  if (array == nullptr || channels == nullptr) return cudaErrorInvalidValue;
  if (!are_elements(*channels)) return cudaErrorInvalidChannelDescriptor;
  return make_mipmap(process, {*channels, extent, flags}, levels, reinterpret_cast<void**>(array));
}

cudaError_t get_mipmapped_array_level(cudaArray_t* level, cudaMipmappedArray_const_t array,
                                      unsigned number) {
  const Mipmap* mipmap = mipmap_at(array);
  if (mipmap == nullptr) return cudaErrorInvalidResourceHandle;
  if (level == nullptr || number >= mipmap->levels.size()) return cudaErrorInvalidValue;
  *level = static_cast<cudaArray_t>(mipmap->levels[number]);
  return cudaSuccess;
}

cudaError_t free_mipmapped_array(Process& process, cudaMipmappedArray_t array) {
  if (array != nullptr && mipmap_at(array) == nullptr) return cudaErrorInvalidResourceHandle;
  free_mipmap(process, array);
  return cudaSuccess;
}

cudaError_t create_texture_object(Process& process, cudaTextureObject_t* result,
                                  const cudaResourceDesc* resource, const cudaTextureDesc* texture,
                                  const cudaResourceViewDesc* view) {
  if (result == nullptr || resource == nullptr) return cudaErrorInvalidValue;
  if (texture == nullptr) return cudaErrorInvalidResourceHandle;
  return make_texture(process, *resource, *texture, view, *result);
}

cudaError_t destroy_texture_object(cudaTextureObject_t object) {
  if (object_at(object, true) == nullptr) destroy_object(object);
  return cudaSuccess;
}

cudaError_t get_texture_object_resource_desc(cudaResourceDesc* result, cudaTextureObject_t handle) {
  const TextureObject* object = object_at(handle, false);
  if (object == nullptr || result == nullptr) return cudaErrorInvalidValue;
  *result = object->resource;
  return cudaSuccess;
}

cudaError_t get_texture_object_texture_desc(cudaTextureDesc* result, cudaTextureObject_t handle) {
  const TextureObject* object = object_at(handle, false);
  if (object == nullptr) return cudaErrorInvalidValue;
  if (result == nullptr) return cudaErrorInvalidResourceHandle;
  *result = object->texture;
  return cudaSuccess;
}

cudaError_t get_texture_object_resource_view_desc(cudaResourceViewDesc* result,
                                                  cudaTextureObject_t handle) {
  const TextureObject* object = object_at(handle, false);
  if (object == nullptr) return cudaErrorInvalidValue;
  if (result != nullptr) *result = object->view;
  return cudaSuccess;
}

cudaError_t create_surface_object(cudaSurfaceObject_t* result, const cudaResourceDesc* resource) {
  if (result == nullptr || resource == nullptr) return cudaErrorInvalidValue;
  return make_surface(*resource, *result);
}

cudaError_t destroy_surface_object(cudaSurfaceObject_t object) {
  if (object_at(object, false) == nullptr) destroy_object(object);
  return cudaSuccess;
}

cudaError_t get_surface_object_resource_desc(cudaResourceDesc* result, cudaSurfaceObject_t handle) {
  const TextureObject* object = object_at(handle, true);
  if (object == nullptr) return cudaErrorInvalidValue;
  if (result == nullptr) return cudaErrorInvalidDevice;  // as an H100 answers
  *result = object->resource;
  return cudaSuccess;
}

// Arrays whose memory the program maps itself, or that have planes, are not made here: of all
// others a device answers that the question is invalid.
cudaError_t array_get_memory_requirements(cudaArrayMemoryRequirements*, cudaArray_t, int) {
  return cudaErrorInvalidValue;
}
cudaError_t array_get_plane(cudaArray_t*, cudaArray_t, unsigned) { return cudaErrorInvalidValue; }
cudaError_t array_get_sparse_properties(cudaArraySparseProperties*, cudaArray_t) {
  return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t device_get_texture_1d_linear_max_width(Process& process, std::size_t* most,
                                                   const cudaChannelFormatDesc* channels,
                                                   int device) {
  if (most == nullptr || channels == nullptr) return cudaErrorInvalidValue;
  if (device < 0 || device >= process.devices()) return cudaErrorInvalidDevice;
  if (channels->f > cudaChannelFormatKindFloat || !are_elements(*channels)) {
    return cudaErrorInvalidChannelDescriptor;
  }
  // 2^30 elements, and 2^32 bytes.
  const auto bytes =
      static_cast<std::size_t>(channels->x + channels->y + channels->z + channels->w) / 8;
  *most = std::min(std::size_t{1} << 30, (std::size_t{1} << 32) / bytes);
  return cudaSuccess;
}

}  // namespace textures

std::vector<Answer> texture_answers() {
  return {
      ANSWER(cudaMallocMipmappedArray, textures::allocate_mipmapped_array, Needs::context),
      BOTH(cudaGetMipmappedArrayLevel, cuMipmappedArrayGetLevel,
           textures::get_mipmapped_array_level, Needs::context),
      BOTH(cudaFreeMipmappedArray, cuMipmappedArrayDestroy, textures::free_mipmapped_array,
           Needs::context),
      ANSWER(cudaCreateTextureObject, textures::create_texture_object, Needs::context),
      BOTH(cudaDestroyTextureObject, cuTexObjectDestroy, textures::destroy_texture_object,
           Needs::context),
      ANSWER(cudaGetTextureObjectResourceDesc, textures::get_texture_object_resource_desc,
             Needs::context),
      ANSWER(cudaGetTextureObjectTextureDesc, textures::get_texture_object_texture_desc,
             Needs::context),
      ANSWER(cudaGetTextureObjectResourceViewDesc, textures::get_texture_object_resource_view_desc,
             Needs::context),
      ANSWER(cudaCreateSurfaceObject, textures::create_surface_object, Needs::context),
      BOTH(cudaDestroySurfaceObject, cuSurfObjectDestroy, textures::destroy_surface_object,
           Needs::context),
      ANSWER(cudaGetSurfaceObjectResourceDesc, textures::get_surface_object_resource_desc,
             Needs::context),
      ANSWER(cudaDeviceGetTexture1DLinearMaxWidth, textures::device_get_texture_1d_linear_max_width,
             Needs::context),
      ANSWER(cudaArrayGetMemoryRequirements, textures::array_get_memory_requirements,
             Needs::context),
      ANSWER(cudaArrayGetPlane, textures::array_get_plane, Needs::context),
      ANSWER(cudaArrayGetSparseProperties, textures::array_get_sparse_properties, Needs::context),
  };
}

}  // namespace warpmeter::runtime
