// SPDX-License-Identifier: MIT
// CUDA arrays: made, asked about, and copied to, from and between.
#include <memory>

#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/memory/array.h"
#include "collector/runtime/process/textures.h"
#include "collector/runtime/stream/copies.h"
#include "collector/runtime/stream/outstanding.h"

namespace warpmeter::runtime {
namespace {

Handles<Array>& all_arrays() { return Process::get().state<Handles<Array>>(); }

/// A part of an array that a copy touches: `height` rows of `width` bytes.
struct Part {
  cudaArray_const_t handle;
  std::size_t x, y, width, height;

  const Array* array() const { return array_at(handle); }
  bool is_inside() const {
    const Array* known = array();
    return known != nullptr && x <= known->pitch() && width <= known->pitch() - x &&
           y <= known->rows() && height <= known->rows() - y;
  }
  void* place() const {
    return reinterpret_cast<void*>(array()->address + y * array()->pitch() + x);
  }
};

/// Bytes in a row, which go on in the next one where one ends.
bool holds(cudaArray_const_t handle, std::size_t x, std::size_t y, std::size_t bytes) {
  const Array* array = array_at(handle);
  if (array == nullptr || x > array->pitch() || y >= array->rows()) return false;
  return bytes <= array->bytes() - y * array->pitch() - x;
}

/// An array is the device's: into it nothing goes to the host, out of it nothing comes from there.
bool may_go_to_array(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
         kind == cudaMemcpyDefault;
}
bool may_come_from_array(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
         kind == cudaMemcpyDefault;
}

// Mistakes are found in an H200's order. `copy(work)` does it, now or in a stream.
template <class Copy>
cudaError_t rows_to(const Part& to, const void* from, std::size_t pitch, cudaMemcpyKind kind,
                    const Copy& copy) {
  if (to.handle == nullptr) return cudaErrorInvalidResourceHandle;
  if (to.width == 0 || to.height == 0) return cudaSuccess;
  if (to.width > pitch) return cudaErrorInvalidPitchValue;
  if (!may_go_to_array(kind)) return cudaErrorInvalidMemcpyDirection;
  if (!to.is_inside()) return cudaErrorInvalidValue;
  return copy(box(to.place(), to.array()->pitch(), from, pitch, to.width, to.height, kind));
}
template <class Copy>
cudaError_t rows_from(void* to, std::size_t pitch, const Part& from, cudaMemcpyKind kind,
                      const Copy& copy) {
  if (from.handle == nullptr) return cudaErrorInvalidResourceHandle;
  if (from.width == 0 || from.height == 0) return cudaSuccess;
  if (from.width > pitch) return cudaErrorInvalidPitchValue;
  if (!may_come_from_array(kind)) return cudaErrorInvalidMemcpyDirection;
  if (!from.is_inside()) return cudaErrorInvalidValue;
  return copy(box(to, pitch, from.place(), from.array()->pitch(), from.width, from.height, kind));
}
template <class Copy>
cudaError_t line_to(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                    std::size_t bytes, cudaMemcpyKind kind, const Copy& copy) {
  if (to != nullptr && bytes > 0 && !may_go_to_array(kind)) return cudaErrorInvalidMemcpyDirection;
  if (!holds(to, x, y, bytes)) return cudaErrorInvalidValue;
  return copy(line(Part{to, x, y, 0, 0}.place(), from, bytes, kind));
}
template <class Copy>
cudaError_t line_from(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                      std::size_t bytes, cudaMemcpyKind kind, const Copy& copy) {
  if (from != nullptr && bytes > 0 && !may_come_from_array(kind)) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (!holds(from, x, y, bytes)) return cudaErrorInvalidValue;
  return copy(line(to, Part{from, x, y, 0, 0}.place(), bytes, kind));
}

auto now(Process& process) {
  return [&process](const CopyWork& copy) { return copy_now(process, copy); };
}
auto in(Process& process, cudaStream_t stream) {
  return [&process, stream](const CopyWork& copy) { return submit_copy(process, stream, copy); };
}

/// True if a device has arrays of that shape: the limits are an H100's.
bool is_shape(const Array& wanted) {
  constexpr unsigned for_video = 0x100;  // CUDA_ARRAY3D_VIDEO_ENCODE_DECODE
  constexpr unsigned known = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap |
                             cudaArrayTextureGather | cudaArrayColorAttachment | cudaArraySparse |
                             cudaArrayDeferredMapping | CUDA_ARRAY3D_DEPTH_TEXTURE | for_video;
  if ((wanted.flags & ~known) != 0) return false;
  const bool is_layered = (wanted.flags & cudaArrayLayered) != 0;
  const auto [width, height, depth] = wanted.extent;
  if ((wanted.flags & cudaArrayTextureGather) != 0) {
    return width <= 32768 && height > 0 && height <= 32768 && depth == 0;
  }
  if ((wanted.flags & cudaArrayCubemap) != 0) {
    const bool has_sides = is_layered ? depth > 0 && depth % 6 == 0 && depth <= 2046 : depth == 6;
    return width == height && width <= 32768 && has_sides;
  }
  if (is_layered) return width <= 32768 && height <= 32768 && depth > 0 && depth <= 2048;
  if (depth > 0) {
    const bool is_deep = width <= 8192 && height <= 8192 && depth <= 32768;
    return height > 0 && (is_deep || (width <= 16384 && height <= 16384 && depth <= 16384));
  }
  const bool is_stored_line = height == 0 && (wanted.flags & cudaArraySurfaceLoadStore) != 0;
  return width <= (is_stored_line ? 32768 : 131072) && height <= 65536;
}

}  // namespace

Array* array_at(const void* handle) { return all_arrays().find(handle); }

cudaError_t make_array(Process& process, const Array& wanted, void** handle) {
  auto made = std::make_unique<Array>(wanted);
  if (made->bytes() == 0 || !is_shape(wanted)) return cudaErrorInvalidValue;
  const Block* block = process.memory().allocate(made->bytes(), current_device,
                                                 process.name_of_allocation(made->bytes()));
  if (block == nullptr) return cudaErrorMemoryAllocation;
  made->address = block->address;
  *handle = &all_arrays().add(std::move(made));
  return cudaSuccess;
}

bool free_array(Process& process, const void* handle) {
  const Array* array = array_at(handle);
  if (array == nullptr) return false;
  if (!array->is_level) remove_array(process, handle);
  return true;
}

void remove_array(Process& process, const void* handle) {
  const Array* array = array_at(handle);
  for (int device = 0; device < process.devices(); ++device) wait_for_device(process, device);
  process.memory().release(array->address);
  all_arrays().take(handle);
}

namespace arrays {
namespace {

cudaError_t array_call(Process& process, cudaArray_t* array, const cudaChannelFormatDesc* channels,
                       const cudaExtent& extent, unsigned flags) {
  if (array == nullptr || channels == nullptr) return cudaErrorInvalidValue;
  if (!are_elements(*channels)) return cudaErrorInvalidChannelDescriptor;
  return make_array(process, {*channels, extent, flags}, reinterpret_cast<void**>(array));
}

cudaError_t allocate_array(Process& process, cudaArray_t* array,
                           const cudaChannelFormatDesc* channels, std::size_t width,
                           std::size_t height, unsigned flags) {
  return array_call(process, array, channels, {width, height, 0}, flags);
}

cudaError_t free_array_of_api(Process& process, cudaArray_t array) {
  return array == nullptr || free_array(process, array) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t array_get_info(cudaChannelFormatDesc* channels, cudaExtent* extent, unsigned* flags,
                           cudaArray_t handle) {
  const Array* array = array_at(handle);
  if (array == nullptr) return cudaErrorInvalidResourceHandle;
  if (channels != nullptr) *channels = array->channels;
  if (extent != nullptr) *extent = array->extent;
  if (flags != nullptr) *flags = array->flags;
  return cudaSuccess;
}

cudaError_t get_channel_desc(cudaChannelFormatDesc* channels, cudaArray_const_t handle) {
  const Array* array = array_at(handle);
  if (array == nullptr || channels == nullptr) return cudaErrorInvalidValue;
  *channels = array->channels;
  return cudaSuccess;
}

cudaError_t copy_2d_to_array(Process& process, cudaArray_t to, std::size_t x, std::size_t y,
                             const void* from, std::size_t pitch, std::size_t width,
                             std::size_t height, cudaMemcpyKind kind) {
  return rows_to({to, x, y, width, height}, from, pitch, kind, now(process));
}

cudaError_t copy_2d_to_array_async(Process& process, cudaArray_t to, std::size_t x, std::size_t y,
                                   const void* from, std::size_t pitch, std::size_t width,
                                   std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return rows_to({to, x, y, width, height}, from, pitch, kind, in(process, stream));
}

cudaError_t copy_2d_from_array(Process& process, void* to, std::size_t pitch,
                               cudaArray_const_t from, std::size_t x, std::size_t y,
                               std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return rows_from(to, pitch, {from, x, y, width, height}, kind, now(process));
}

cudaError_t copy_2d_from_array_async(Process& process, void* to, std::size_t pitch,
                                     cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return rows_from(to, pitch, {from, x, y, width, height}, kind, in(process, stream));
}

cudaError_t copy_to_array(Process& process, cudaArray_t to, std::size_t x, std::size_t y,
                          const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return line_to(to, x, y, from, bytes, kind, now(process));
}

cudaError_t copy_to_array_async(Process& process, cudaArray_t to, std::size_t x, std::size_t y,
                                const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                cudaStream_t stream) {
  return line_to(to, x, y, from, bytes, kind, in(process, stream));
}

cudaError_t copy_from_array(Process& process, void* to, cudaArray_const_t from, std::size_t x,
                            std::size_t y, std::size_t bytes, cudaMemcpyKind kind) {
  return line_from(to, from, x, y, bytes, kind, now(process));
}

cudaError_t copy_from_array_async(Process& process, void* to, cudaArray_const_t from, std::size_t x,
                                  std::size_t y, std::size_t bytes, cudaMemcpyKind kind,
                                  cudaStream_t stream) {
  return line_from(to, from, x, y, bytes, kind, in(process, stream));
}

cudaError_t copy_array_to_array(Process& process, cudaArray_t to, std::size_t to_x,
                                std::size_t to_y, cudaArray_const_t from, std::size_t from_x,
                                std::size_t from_y, std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes > 0 && !may_come_from_array(kind)) return cudaErrorInvalidMemcpyDirection;
  if (!holds(from, from_x, from_y, bytes)) return cudaErrorInvalidValue;
  return line_to(to, to_x, to_y, Part{from, from_x, from_y, 0, 0}.place(), bytes, kind,
                 now(process));
}

cudaError_t copy_2d_array_to_array(Process& process, cudaArray_t to, std::size_t to_x,
                                   std::size_t to_y, cudaArray_const_t from, std::size_t from_x,
                                   std::size_t from_y, std::size_t width, std::size_t height,
                                   cudaMemcpyKind kind) {
  const Part part{from, from_x, from_y, width, height};
  if (width > 0 && height > 0 && !may_come_from_array(kind)) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (!part.is_inside()) return cudaErrorInvalidValue;
  return rows_to({to, to_x, to_y, width, height}, part.place(), part.array()->pitch(), kind,
                 now(process));
}

}  // namespace
}  // namespace arrays

std::vector<Answer> array_answers() {
  return {
      ANSWER(cudaMallocArray, arrays::allocate_array, Needs::context),
      ANSWER(cudaMalloc3DArray, arrays::array_call, Needs::context),
      ANSWER(cudaFreeArray, arrays::free_array_of_api, Needs::context),
      ANSWER(cudaArrayGetInfo, arrays::array_get_info, Needs::context),
      ANSWER(cudaGetChannelDesc, arrays::get_channel_desc, Needs::context),
      ANSWER(cudaMemcpy2DToArray, arrays::copy_2d_to_array, Needs::context),
      ANSWER(cudaMemcpy2DToArrayAsync, arrays::copy_2d_to_array_async, Needs::context),
      ANSWER(cudaMemcpy2DFromArray, arrays::copy_2d_from_array, Needs::context),
      ANSWER(cudaMemcpy2DFromArrayAsync, arrays::copy_2d_from_array_async, Needs::context),
      ANSWER_AS("cudaMemcpyToArray", arrays::copy_to_array, Needs::context),
      ANSWER_AS("cudaMemcpyToArrayAsync", arrays::copy_to_array_async, Needs::context),
      ANSWER_AS("cudaMemcpyFromArray", arrays::copy_from_array, Needs::context),
      ANSWER_AS("cudaMemcpyFromArrayAsync", arrays::copy_from_array_async, Needs::context),
      ANSWER_AS("cudaMemcpyArrayToArray", arrays::copy_array_to_array, Needs::context),
      ANSWER(cudaMemcpy2DArrayToArray, arrays::copy_2d_array_to_array, Needs::context),
  };
}

}  // namespace warpmeter::runtime
