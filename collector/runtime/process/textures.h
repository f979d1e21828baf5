// SPDX-License-Identifier: MIT
// Texture and surface objects of the program: what each was made of, and what the machine is told
// of it. The numbers that programs get are the machine's handles.
#pragma once

#include <optional>
#include <vector>

#include "collector/model/check/unset/written.h"
#include "collector/model/machine/program.h"
#include "collector/model/machine/texture/texture.h"
#include "collector/runtime/device/cuda_api.h"
#include "collector/runtime/memory/array.h"

namespace warpmeter::runtime {

class Process;

/// Levels of an array, the first the largest.
struct Mipmap {
  std::vector<void*> levels;  ///< handles of arrays
};
/// Null for none of that handle.
const Mipmap* mipmap_at(const void* handle);
cudaError_t make_mipmap(Process& process, const Array& wanted, unsigned levels, void** handle);
void free_mipmap(Process& process, const void* handle);

struct TextureObject {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  cudaResourceViewDesc view{};
  bool is_surface = false;
};

/// Checks as the driver does; cudaErrorNotSupported, said, for what the model has not.
cudaError_t make_texture(Process& process, const cudaResourceDesc& resource,
                         const cudaTextureDesc& texture, const cudaResourceViewDesc* view,
                         unsigned long long& handle);
cudaError_t make_surface(const cudaResourceDesc& resource, unsigned long long& handle);
void destroy_object(unsigned long long handle);
/// Null for none of that handle and kind, and where the array is gone that it was made of.
const TextureObject* object_at(unsigned long long handle, bool is_surface);

/// For launches.
const model::Textures& machine_textures();
/// Counts all that surfaces hold as written, where the program stores to one.
void note_stores(const model::Program& program, model::check::WrittenMemory& written);

/// The format of that description's elements; nullopt for what the model has not.
std::optional<model::TexelFormat> texel_format(const cudaChannelFormatDesc& channels);
/// The channels of the driver's format, with so many channels; nullopt for what is none.
std::optional<cudaChannelFormatDesc> channels_of(CUarray_format format, unsigned count);
/// True if a device has elements like that.
bool are_elements(const cudaChannelFormatDesc& channels);

}  // namespace warpmeter::runtime
