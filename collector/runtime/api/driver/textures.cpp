// SPDX-License-Identifier: MIT
// Textures, surfaces and arrays with levels, by the driver's API: its descriptions are turned into
// the runtime's.
#include <algorithm>

#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/process/textures.h"

namespace warpmeter::runtime {
namespace driver_textures {
namespace {

/// An error with a name in the runtime is an invalid value to the driver.
CUresult texture_error(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidFilterSetting:
    case cudaErrorInvalidNormSetting:
    case cudaErrorInvalidChannelDescriptor:
      return CUDA_ERROR_INVALID_VALUE;
    default:
      return as_driver_error(error);
  }
}

/// False where the format is none.
bool texture_parts_of(const CUDA_RESOURCE_DESC& given, cudaResourceDesc& wanted) {
  wanted.resType = static_cast<cudaResourceType>(given.resType);
  wanted.flags = given.flags;
  std::optional<cudaChannelFormatDesc> channels;
  switch (given.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      wanted.res.array.array = reinterpret_cast<cudaArray_t>(given.res.array.hArray);
      return true;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      wanted.res.mipmap.mipmap =
          reinterpret_cast<cudaMipmappedArray_t>(given.res.mipmap.hMipmappedArray);
      return true;
    case CU_RESOURCE_TYPE_LINEAR:
      channels = channels_of(given.res.linear.format, given.res.linear.numChannels);
      if (!channels) return false;
      wanted.res.linear.devPtr = reinterpret_cast<void*>(given.res.linear.devPtr);
      wanted.res.linear.desc = *channels;
      wanted.res.linear.sizeInBytes = given.res.linear.sizeInBytes;
      return true;
    case CU_RESOURCE_TYPE_PITCH2D:
      channels = channels_of(given.res.pitch2D.format, given.res.pitch2D.numChannels);
      if (!channels) return false;
      wanted.res.pitch2D.devPtr = reinterpret_cast<void*>(given.res.pitch2D.devPtr);
      wanted.res.pitch2D.desc = *channels;
      wanted.res.pitch2D.width = given.res.pitch2D.width;
      wanted.res.pitch2D.height = given.res.pitch2D.height;
      wanted.res.pitch2D.pitchInBytes = given.res.pitch2D.pitchInBytes;
      return true;
  }
  return false;
}

/// The elements of a resource; nullopt for none.
std::optional<cudaChannelFormatDesc> elements_of(const cudaResourceDesc& resource) {
  const void* array = nullptr;
  switch (resource.resType) {
    case cudaResourceTypeArray:
      array = resource.res.array.array;
      break;
    case cudaResourceTypeMipmappedArray:
      if (const Mipmap* mipmap = mipmap_at(resource.res.mipmap.mipmap)) array = mipmap->levels[0];
      break;
    case cudaResourceTypeLinear:
      return resource.res.linear.desc;
    case cudaResourceTypePitch2D:
      return resource.res.pitch2D.desc;
  }
  const Array* known = array_at(array);
  return known == nullptr ? std::nullopt : std::optional(known->channels);
}

constexpr unsigned texture_flags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                                   CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                                   CU_TRSF_SEAMLESS_CUBEMAP;

cudaTextureDesc texture_parts_of(const CUDA_TEXTURE_DESC& given,
                                 const cudaChannelFormatDesc& elements) {
  cudaTextureDesc wanted{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    wanted.addressMode[axis] = static_cast<cudaTextureAddressMode>(given.addressMode[axis]);
  }
  wanted.filterMode = static_cast<cudaTextureFilterMode>(given.filterMode);
  // Numbers are fractions unless they are to be read as what they are; those of 32 bits never are.
  const bool are_numbers =
      elements.f == cudaChannelFormatKindSigned || elements.f == cudaChannelFormatKindUnsigned;
  const bool are_fractions =
      are_numbers && elements.x < 32 && (given.flags & CU_TRSF_READ_AS_INTEGER) == 0;
  // Numbers have no mean: the driver takes the filter, and point sampling is what is left.
  if (are_numbers && !are_fractions) wanted.filterMode = cudaFilterModePoint;
  wanted.readMode = are_fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  wanted.sRGB = (given.flags & CU_TRSF_SRGB) != 0 ? 1 : 0;
  std::copy_n(given.borderColor, 4, wanted.borderColor);
  wanted.normalizedCoords = (given.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
  wanted.maxAnisotropy = given.maxAnisotropy;
  wanted.mipmapFilterMode = static_cast<cudaTextureFilterMode>(given.mipmapFilterMode);
  wanted.mipmapLevelBias = given.mipmapLevelBias;
  wanted.minMipmapLevelClamp = given.minMipmapLevelClamp;
  wanted.maxMipmapLevelClamp = given.maxMipmapLevelClamp;
  wanted.disableTrilinearOptimization =
      (given.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0 ? 1 : 0;
  wanted.seamlessCubemap = (given.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0 ? 1 : 0;
  return wanted;
}

CUDA_TEXTURE_DESC told_texture(const cudaTextureDesc& given, bool are_numbers) {
  CUDA_TEXTURE_DESC told{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    told.addressMode[axis] = static_cast<CUaddress_mode>(given.addressMode[axis]);
  }
  told.filterMode = static_cast<CUfilter_mode>(given.filterMode);
  told.flags =
      (are_numbers && given.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0u) |
      (given.normalizedCoords != 0 ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
      (given.sRGB != 0 ? CU_TRSF_SRGB : 0u) |
      (given.disableTrilinearOptimization != 0 ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u) |
      (given.seamlessCubemap != 0 ? CU_TRSF_SEAMLESS_CUBEMAP : 0u);
  told.maxAnisotropy = given.maxAnisotropy;
  told.mipmapFilterMode = static_cast<CUfilter_mode>(given.mipmapFilterMode);
  told.mipmapLevelBias = given.mipmapLevelBias;
  told.minMipmapLevelClamp = given.minMipmapLevelClamp;
  told.maxMipmapLevelClamp = given.maxMipmapLevelClamp;
  std::copy_n(given.borderColor, 4, told.borderColor);
  return told;
}

CUarray_format texture_format_of(const cudaChannelFormatDesc& channels) {
  for (int number = 0; number < 256; ++number) {
    const auto format = static_cast<CUarray_format>(number);
    const auto known = channels_of(format, channels.w != 0 ? 4 : channels.y != 0 ? 2 : 1);
    if (known && known->f == channels.f && known->x == channels.x) return format;
  }
  return CU_AD_FORMAT_FLOAT;
}

CUDA_RESOURCE_DESC told_texture(const cudaResourceDesc& given) {
  CUDA_RESOURCE_DESC told{};
  told.resType = static_cast<CUresourcetype>(given.resType);
  const auto count = [](const cudaChannelFormatDesc& channels) {
    return channels.w != 0 ? 4u : channels.y != 0 ? 2u : 1u;
  };
  if (given.resType == cudaResourceTypeArray) {
    told.res.array.hArray = reinterpret_cast<CUarray>(given.res.array.array);
  } else if (given.resType == cudaResourceTypeMipmappedArray) {
    told.res.mipmap.hMipmappedArray = reinterpret_cast<CUmipmappedArray>(given.res.mipmap.mipmap);
  } else if (given.resType == cudaResourceTypeLinear) {
    const auto& linear = given.res.linear;
    told.res.linear.devPtr = reinterpret_cast<CUdeviceptr>(linear.devPtr);
    told.res.linear.format = texture_format_of(linear.desc);
    told.res.linear.numChannels = count(linear.desc);
    told.res.linear.sizeInBytes = linear.sizeInBytes;
  } else {
    const auto& rows = given.res.pitch2D;
    told.res.pitch2D.devPtr = reinterpret_cast<CUdeviceptr>(rows.devPtr);
    told.res.pitch2D.format = texture_format_of(rows.desc);
    told.res.pitch2D.numChannels = count(rows.desc);
    told.res.pitch2D.width = rows.width;
    told.res.pitch2D.height = rows.height;
    told.res.pitch2D.pitchInBytes = rows.pitchInBytes;
  }
  return told;
}

CUresult mipmapped_array_create(Process& process, CUmipmappedArray* result,
                                const CUDA_ARRAY3D_DESCRIPTOR* wanted, unsigned levels) {
  if (result == nullptr || wanted == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto channels = channels_of(wanted->Format, wanted->NumChannels);
  if (!channels) return CUDA_ERROR_INVALID_VALUE;
  const Array array{*channels, {wanted->Width, wanted->Height, wanted->Depth}, wanted->Flags};
  return as_driver_error(make_mipmap(process, array, levels, reinterpret_cast<void**>(result)));
}

CUresult tex_object_create(Process& process, CUtexObject* result,
                           const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* texture,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  if (result == nullptr || resource == nullptr || texture == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  cudaResourceDesc wanted{};
  if (!texture_parts_of(*resource, wanted) || resource->flags != 0 ||
      (texture->flags & ~texture_flags) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto elements = elements_of(wanted);
  if (!elements) return CUDA_ERROR_INVALID_HANDLE;
  // The two views are the same structure.
  cudaResourceViewDesc seen{};
  if (view != nullptr) {
    seen.format = static_cast<cudaResourceViewFormat>(view->format);
    seen.width = view->width;
    seen.height = view->height;
    seen.depth = view->depth;
    seen.firstMipmapLevel = view->firstMipmapLevel;
    seen.lastMipmapLevel = view->lastMipmapLevel;
    seen.firstLayer = view->firstLayer;
    seen.lastLayer = view->lastLayer;
  }
  return texture_error(make_texture(process, wanted, texture_parts_of(*texture, *elements),
                                    view != nullptr ? &seen : nullptr, *result));
}

CUresult tex_object_get_resource_desc(CUDA_RESOURCE_DESC* result, CUtexObject handle) {
  const TextureObject* object = object_at(handle, false);
  if (object == nullptr || result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *result = told_texture(object->resource);
  return CUDA_SUCCESS;
}

CUresult tex_object_get_texture_desc(CUDA_TEXTURE_DESC* result, CUtexObject handle) {
  const TextureObject* object = object_at(handle, false);
  if (object == nullptr || result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto elements = elements_of(object->resource);
  const bool are_numbers = elements && elements->f <= cudaChannelFormatKindUnsigned;
  *result = told_texture(object->texture, are_numbers);
  return CUDA_SUCCESS;
}

CUresult tex_object_get_resource_view_desc(CUDA_RESOURCE_VIEW_DESC* result, CUtexObject handle) {
  const TextureObject* object = object_at(handle, false);
  if (object == nullptr || result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const cudaResourceViewDesc& view = object->view;
  *result = {};
  result->format = static_cast<CUresourceViewFormat>(view.format);
  result->width = view.width;
  result->height = view.height;
  result->depth = view.depth;
  result->firstMipmapLevel = view.firstMipmapLevel;
  result->lastMipmapLevel = view.lastMipmapLevel;
  result->firstLayer = view.firstLayer;
  result->lastLayer = view.lastLayer;
  return CUDA_SUCCESS;
}

CUresult surf_object_create(CUsurfObject* result, const CUDA_RESOURCE_DESC* resource) {
  cudaResourceDesc wanted{};
  if (result == nullptr || resource == nullptr || !texture_parts_of(*resource, wanted)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return texture_error(make_surface(wanted, *result));
}

CUresult surf_object_get_resource_desc(CUDA_RESOURCE_DESC* result, CUsurfObject handle) {
  const TextureObject* object = object_at(handle, true);
  if (object == nullptr || result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *result = told_texture(object->resource);
  return CUDA_SUCCESS;
}

CUresult device_get_texture_1d_linear_max_width(Process& process, std::size_t* most,
                                                CUarray_format format, unsigned count,
                                                CUdevice device) {
  const auto channels = channels_of(format, count);
  if (!channels) return CUDA_ERROR_INVALID_VALUE;
  return as_driver_error(
      textures::device_get_texture_1d_linear_max_width(process, most, &*channels, device));
}

}  // namespace
}  // namespace driver_textures

std::vector<Answer> driver_texture_answers() {
  return {
      ANSWER(cuMipmappedArrayCreate, driver_textures::mipmapped_array_create, Needs::context),
      ANSWER(cuDeviceGetTexture1DLinearMaxWidth,
             driver_textures::device_get_texture_1d_linear_max_width, Needs::initialised),
      ANSWER(cuTexObjectCreate, driver_textures::tex_object_create, Needs::context),
      ANSWER(cuTexObjectGetResourceDesc, driver_textures::tex_object_get_resource_desc,
             Needs::context),
      ANSWER(cuTexObjectGetTextureDesc, driver_textures::tex_object_get_texture_desc,
             Needs::context),
      ANSWER(cuTexObjectGetResourceViewDesc, driver_textures::tex_object_get_resource_view_desc,
             Needs::context),
      ANSWER(cuSurfObjectCreate, driver_textures::surf_object_create, Needs::context),
      ANSWER(cuSurfObjectGetResourceDesc, driver_textures::surf_object_get_resource_desc,
             Needs::context),
  };
}

}  // namespace warpmeter::runtime
