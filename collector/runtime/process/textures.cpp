// SPDX-License-Identifier: MIT
#include "collector/runtime/process/textures.h"

#include <algorithm>
#include <map>
#include <memory>

#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {
namespace {

Handles<Mipmap>& mipmaps() { return Process::get().state<Handles<Mipmap>>(); }

struct TextureObjects {
  std::map<unsigned long long, TextureObject> all;
  model::Textures told;  ///< to the machine
  unsigned long long last = 0;
};
TextureObjects& objects() { return Process::get().state<TextureObjects>(); }

model::Image texture_image_of(const Array& array) {
  model::Image image;
  image.address = array.address;
  image.width = static_cast<std::uint32_t>(array.extent.width);
  image.height = static_cast<std::uint32_t>(array.rows());
  image.depth = static_cast<std::uint32_t>(array.layers());
  image.row_bytes = array.pitch();
  image.slice_bytes = array.pitch() * array.rows();
  return image;
}

bool array_has_layers(const Array& array) { return (array.flags & cudaArrayLayered) != 0; }
bool is_cube(const Array& array) { return (array.flags & cudaArrayCubemap) != 0; }

std::uint8_t dimensions_of(const Array& array) {
  if (array.extent.height == 0) return 1;
  return array.extent.depth == 0 || array_has_layers(array) || is_cube(array) ? 2 : 3;
}

constexpr std::uint64_t object_alignment = 512, row_alignment = 32;

/// Elements as a view names them, by number of the format.
cudaChannelFormatDesc viewed_channels(cudaResourceViewFormat format) {
  const int number = static_cast<int>(format) -
                     1;  // the order is unsigned and signed of 8, 16, 32; halves, floats
  const int group = number / 3;
  constexpr int channels[] = {1, 2, 4};
  const int count = channels[number % 3];
  const int bits = group < 2 ? 8 : group < 4 || group == 6 ? 16 : 32;
  const cudaChannelFormatKind kind = group >= 6       ? cudaChannelFormatKindFloat
                                     : group % 2 == 0 ? cudaChannelFormatKindUnsigned
                                                      : cudaChannelFormatKindSigned;
  return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 2 ? bits : 0, kind};
}

/// A texture in the making: where its elements lie, and what they are.
struct Making {
  model::Texture texture;
  cudaChannelFormatDesc channels{};
};

cudaError_t from_arrays(const Array& first, const std::vector<void*>& levels, Making& making) {
  making.channels = first.channels;
  making.texture.is_layered = array_has_layers(first);
  making.texture.is_cube = is_cube(first);
  making.texture.dimensions = dimensions_of(first);
  for (const void* level : levels)
    making.texture.levels.push_back(texture_image_of(*array_at(level)));
  return cudaSuccess;
}

bool is_of_device(Process& process, const void* address) {
  return process.memory().machine().find(reinterpret_cast<std::uint64_t>(address)) != nullptr;
}

cudaError_t from_memory(Process& process, const void* address,
                        const cudaChannelFormatDesc& channels, const model::Image& image,
                        Making& making) {
  if (channels.f > cudaChannelFormatKindFloat || !are_elements(channels)) {
    return cudaErrorInvalidChannelDescriptor;
  }
  if (!is_of_device(process, address) ||
      reinterpret_cast<std::uint64_t>(address) % object_alignment != 0) {
    return cudaErrorInvalidValue;
  }
  making.channels = channels;
  making.texture.levels.push_back(image);
  making.texture.levels[0].address = reinterpret_cast<std::uint64_t>(address);
  return cudaSuccess;
}

std::uint64_t texel_bytes(const cudaChannelFormatDesc& channels) {
  return static_cast<std::uint64_t>(channels.x + channels.y + channels.z + channels.w) / 8;
}

cudaError_t from_resource(Process& process, const cudaResourceDesc& resource, Making& making) {
  switch (resource.resType) {
    case cudaResourceTypeArray: {
      void* const handle = resource.res.array.array;
      if (handle == nullptr) return cudaErrorInvalidResourceHandle;
      const Array* array = array_at(handle);
      if (array == nullptr) return cudaErrorContextIsDestroyed;
      return from_arrays(*array, {handle}, making);
    }
    case cudaResourceTypeMipmappedArray: {
      const Mipmap* mipmap = mipmap_at(resource.res.mipmap.mipmap);
      if (mipmap == nullptr) return cudaErrorInvalidResourceHandle;
      return from_arrays(*array_at(mipmap->levels[0]), mipmap->levels, making);
    }
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      model::Image image;
      const std::uint64_t bytes = std::max<std::uint64_t>(1, texel_bytes(linear.desc));
      image.width = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(linear.sizeInBytes / bytes, 0x7fffffff));
      making.texture.is_linear_memory = true;
      making.texture.dimensions = 1;
      return from_memory(process, linear.devPtr, linear.desc, image, making);
    }
    case cudaResourceTypePitch2D: {
      const auto& rows = resource.res.pitch2D;
      if (rows.width > 131072 || rows.height > 65000 || rows.pitchInBytes > 2097120 ||
          rows.pitchInBytes % row_alignment != 0) {
        return cudaErrorInvalidValue;
      }
      model::Image image;
      image.width = static_cast<std::uint32_t>(std::max<std::size_t>(1, rows.width));
      image.height = static_cast<std::uint32_t>(std::max<std::size_t>(1, rows.height));
      image.row_bytes = rows.pitchInBytes;
      return from_memory(process, rows.devPtr, rows.desc, image, making);
    }
  }
  return cudaErrorInvalidValue;
}

/// The view of an array. Memory that is no array has none.
cudaError_t look_through(Process& process, const cudaResourceDesc& resource,
                         const cudaResourceViewDesc& view, Making& making) {
  if (resource.resType == cudaResourceTypeLinear || resource.resType == cudaResourceTypePitch2D) {
    return cudaSuccess;
  }
  const bool has_levels = resource.resType == cudaResourceTypeMipmappedArray;
  const void* first =
      has_levels ? mipmap_at(resource.res.mipmap.mipmap)->levels[0] : resource.res.array.array;
  const Array& array = *array_at(first);
  if (view.format == cudaResViewFormatNone) return cudaErrorInvalidValue;
  if (view.format > cudaResViewFormatFloat4) {
    if (view.format <= cudaResViewFormatUnsignedBlockCompressed7 && array.element_bytes() >= 8) {
      process.say("a texture of compressed blocks is not supported by the model");
      return cudaErrorNotSupported;
    }
    return cudaErrorInvalidValue;
  }
  const cudaChannelFormatDesc seen = viewed_channels(view.format);
  const auto [width, height, depth] = array.extent;
  if (view.width != width || view.height != height || view.depth != depth ||
      texel_bytes(seen) != array.element_bytes()) {
    return cudaErrorInvalidValue;
  }
  const auto layers = static_cast<unsigned>(array_has_layers(array) ? depth : 1);
  if (view.firstLayer > view.lastLayer || view.lastLayer >= layers) return cudaErrorInvalidValue;
  if (view.firstMipmapLevel > view.lastMipmapLevel) return cudaErrorInvalidValue;
  if (!has_levels && view.lastMipmapLevel != 0) return cudaErrorInvalidValue;
  making.channels = seen;
  auto& levels = making.texture.levels;
  const auto count = static_cast<unsigned>(levels.size());
  if (view.firstMipmapLevel >= count) return cudaErrorInvalidValue;
  levels = {levels.begin() + view.firstMipmapLevel,
            levels.begin() + std::min(count, view.lastMipmapLevel + 1)};
  if (view.lastLayer != 0) {
    for (model::Image& image : levels) {
      image.address += view.firstLayer * image.slice_bytes;
      image.depth = view.lastLayer - view.firstLayer + 1;
    }
  }
  return cudaSuccess;
}

/// How it is read; the errors are those of an H100.
cudaError_t read_as(const cudaTextureDesc& wanted, model::Texture& texture) {
  model::TexelFormat& format = texture.format;
  const bool is_wide = format.bits == 32;
  const bool is_normalized = wanted.readMode == cudaReadModeNormalizedFloat;
  for (const cudaTextureAddressMode mode : wanted.addressMode) {
    if (mode < cudaAddressModeWrap || mode > cudaAddressModeBorder) return cudaErrorInvalidValue;
  }
  if (wanted.filterMode < 0 || wanted.filterMode > cudaFilterModeLinear ||
      wanted.mipmapFilterMode < 0 || wanted.mipmapFilterMode > cudaFilterModeLinear) {
    return cudaErrorInvalidValue;
  }
  if (format.is_number() && wanted.filterMode == cudaFilterModeLinear &&
      (!is_normalized || is_wide)) {
    return cudaErrorInvalidFilterSetting;
  }
  if (is_normalized &&
      (format.kind == model::ChannelKind::floating || (format.is_number() && is_wide))) {
    return cudaErrorInvalidNormSetting;
  }
  if (is_normalized && format.is_number()) {
    format.kind = format.kind == model::ChannelKind::unsigned_number
                      ? model::ChannelKind::unsigned_fraction
                      : model::ChannelKind::signed_fraction;
  }
  format.is_srgb =
      wanted.sRGB != 0 && format.bits == 8 && format.kind == model::ChannelKind::unsigned_fraction;
  for (unsigned axis = 0; axis < 3; ++axis) {
    texture.address[axis] =
        wanted.addressMode[axis] == cudaAddressModeWrap     ? model::AddressMode::wrap
        : wanted.addressMode[axis] == cudaAddressModeClamp  ? model::AddressMode::clamp
        : wanted.addressMode[axis] == cudaAddressModeMirror ? model::AddressMode::mirror
                                                            : model::AddressMode::border;
  }
  std::copy_n(wanted.borderColor, 4, texture.border.begin());
  texture.is_normalized = wanted.normalizedCoords != 0;
  texture.is_linear = wanted.filterMode == cudaFilterModeLinear;
  texture.is_linear_between_levels = wanted.mipmapFilterMode == cudaFilterModeLinear;
  texture.is_seamless = wanted.seamlessCubemap != 0;
  texture.anisotropy = wanted.maxAnisotropy;
  texture.level_bias = wanted.mipmapLevelBias;
  texture.least_level = wanted.minMipmapLevelClamp;
  texture.most_level = wanted.maxMipmapLevelClamp;
  return cudaSuccess;
}

bool is_texture_gone(const TextureObject& object) {
  if (object.resource.resType == cudaResourceTypeArray) {
    return array_at(object.resource.res.array.array) == nullptr;
  }
  return object.resource.resType == cudaResourceTypeMipmappedArray &&
         mipmap_at(object.resource.res.mipmap.mipmap) == nullptr;
}

}  // namespace

bool are_elements(const cudaChannelFormatDesc& channels) {
  const int bits[] = {channels.x, channels.y, channels.z, channels.w};
  const auto* last = std::find(std::begin(bits), std::end(bits), 0);
  const auto count = last - std::begin(bits);
  // Kinds that are compressed, or made for video, have sizes of their own; fractions are of 8 or 16
  // bits, one, two or four.
  if (channels.f > cudaChannelFormatKindSignedNormalized16X4) return true;
  if (channels.f == cudaChannelFormatKindNV12) return true;
  if (channels.f == cudaChannelFormatKindNone) return false;
  if (channels.f > cudaChannelFormatKindNV12) {
    const int number = channels.f - cudaChannelFormatKindUnsignedNormalized8X1;
    if (bits[0] != (number / 3 % 2 == 0 ? 8 : 16) || count != 1 << number % 3) return false;
  }
  const bool is_size =
      bits[0] == 16 || bits[0] == 32 || (bits[0] == 8 && channels.f != cudaChannelFormatKindFloat);
  return is_size && (count == 1 || count == 2 || count == 4) &&
         std::all_of(std::begin(bits), last, [&](int one) { return one == bits[0]; }) &&
         std::all_of(last, std::end(bits), [](int one) { return one == 0; });
}

std::optional<model::TexelFormat> texel_format(const cudaChannelFormatDesc& channels) {
  using enum model::ChannelKind;
  const int kind = channels.f;
  if (kind == cudaChannelFormatKindNone || kind == cudaChannelFormatKindNV12 ||
      kind > cudaChannelFormatKindSignedNormalized16X4) {
    return std::nullopt;
  }
  model::TexelFormat format;
  format.kind = kind == cudaChannelFormatKindSigned               ? signed_number
                : kind == cudaChannelFormatKindUnsigned           ? unsigned_number
                : kind == cudaChannelFormatKindFloat              ? floating
                : kind < cudaChannelFormatKindSignedNormalized8X1 ? unsigned_fraction
                                                                  : signed_fraction;
  format.bits = static_cast<std::uint8_t>(channels.x);
  format.channels = static_cast<std::uint8_t>(channels.w != 0 ? 4 : channels.y != 0 ? 2 : 1);
  return format;
}

const Mipmap* mipmap_at(const void* handle) { return mipmaps().find(handle); }

cudaError_t make_mipmap(Process& process, const Array& wanted, unsigned levels, void** handle) {
  const bool has_fixed_depth = (wanted.flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
  const auto [width, height, depth] = wanted.extent;
  if (width > 32768 || height > 32768) return cudaErrorInvalidValue;
  std::size_t longest = std::max({width, height, has_fixed_depth ? 1 : depth});
  unsigned most = 1;
  for (; longest > 1; longest /= 2) ++most;
  auto made = std::make_unique<Mipmap>();
  for (unsigned level = 0; level < std::clamp(levels, 1u, most); ++level) {
    const auto part = [&](std::size_t whole) {
      return whole == 0 ? whole : std::max<std::size_t>(1, whole >> level);
    };
    Array array = wanted;
    array.extent = {part(width), part(height), has_fixed_depth ? depth : part(depth)};
    array.is_level = true;
    void* part_handle = nullptr;
    const cudaError_t result = make_array(process, array, &part_handle);
    if (result != cudaSuccess) {
      for (const void* before : made->levels) remove_array(process, before);
      return result;
    }
    made->levels.push_back(part_handle);
  }
  *handle = &mipmaps().add(std::move(made));
  return cudaSuccess;
}

void free_mipmap(Process& process, const void* handle) {
  const Mipmap* mipmap = mipmap_at(handle);
  if (mipmap == nullptr) return;
  for (const void* level : mipmap->levels) remove_array(process, level);
  mipmaps().take(handle);
}

cudaError_t make_texture(Process& process, const cudaResourceDesc& resource,
                         const cudaTextureDesc& texture, const cudaResourceViewDesc* view,
                         unsigned long long& handle) {
  Making making;
  cudaError_t result = from_resource(process, resource, making);
  if (result == cudaSuccess && view != nullptr) {
    result = look_through(process, resource, *view, making);
  }
  if (result != cudaSuccess) return result;
  const std::optional<model::TexelFormat> format = texel_format(making.channels);
  if (!format) {
    process.say("a texture of compressed blocks, or of video, is not supported by the model");
    return cudaErrorNotSupported;
  }
  making.texture.format = *format;
  result = read_as(texture, making.texture);
  if (result != cudaSuccess) return result;
  handle = ++objects().last;
  objects().told.textures.emplace(static_cast<std::uint32_t>(handle), std::move(making.texture));
  objects().all[handle] = {resource, texture, view != nullptr ? *view : cudaResourceViewDesc{},
                           false};
  return cudaSuccess;
}

cudaError_t make_surface(const cudaResourceDesc& resource, unsigned long long& handle) {
  if (resource.resType != cudaResourceTypeArray) return cudaErrorInvalidValue;
  const Array* array = array_at(resource.res.array.array);
  if (array == nullptr) return cudaErrorInvalidResourceHandle;
  const std::optional<model::TexelFormat> format = texel_format(array->channels);
  if (!format) return cudaErrorInvalidValue;
  handle = ++objects().last;
  objects().told.surfaces.emplace(
      static_cast<std::uint32_t>(handle),
      model::Surface{*format, texture_image_of(*array), dimensions_of(*array),
                     array_has_layers(*array) || is_cube(*array)});
  objects().all[handle] = {resource, {}, {}, true};
  return cudaSuccess;
}

void destroy_object(unsigned long long handle) {
  objects().told.textures.erase(static_cast<std::uint32_t>(handle));
  objects().told.surfaces.erase(static_cast<std::uint32_t>(handle));
  objects().all.erase(handle);
}

const TextureObject* object_at(unsigned long long handle, bool is_surface) {
  const auto found = objects().all.find(handle);
  if (found == objects().all.end() || found->second.is_surface != is_surface) return nullptr;
  return is_texture_gone(found->second) ? nullptr : &found->second;
}

const model::Textures& machine_textures() { return objects().told; }

void note_stores(const model::Program& program, model::check::WrittenMemory& written) {
  using Work = model::TextureAccess::Work;
  const bool stores = std::any_of(
      program.texture_accesses.begin(), program.texture_accesses.end(), [](const auto& access) {
        return access.is_surface && access.work != Work::load && access.work != Work::ask;
      });
  if (!stores) return;
  for (const auto& [handle, surface] : objects().told.surfaces) {
    model::check::MarkedBytes* bytes = written.find(surface.image.address);
    if (bytes != nullptr) bytes->mark(0, surface.image.slice_bytes * surface.image.depth);
  }
}

}  // namespace warpmeter::runtime
