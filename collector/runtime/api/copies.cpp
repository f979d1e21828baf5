// SPDX-License-Identifier: MIT
// Copies and sets of memory, in all the forms that they have.

#include "collector/runtime/stream/copies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/memory/array.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/capture.h"
#include "collector/runtime/stream/outstanding.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace {

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

const Array* array_of(cudaArray_const_t array) { return reinterpret_cast<const Array*>(array); }

/// The unit of a box's width: elements where an array takes part, else bytes.
std::uint64_t element_of(const cudaMemcpy3DParms& parameters) {
  const cudaArray_const_t array =
      parameters.srcArray != nullptr ? parameters.srcArray : parameters.dstArray;
  return array != nullptr ? array_of(array)->element_bytes() : 1;
}

}  // namespace

CopyWork line(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  CopyWork copy;
  copy.to = address_of(to);
  copy.from = address_of(from);
  copy.width = bytes;
  copy.to_pitch = copy.from_pitch = bytes;
  copy.kind = kind;
  return copy;
}

CopyWork box_of(const cudaMemcpy3DParms& parameters) {
  CopyWork copy;
  copy.kind = parameters.kind;
  const std::uint64_t element = element_of(parameters);
  copy.width = parameters.extent.width * element;
  copy.height = parameters.extent.height;
  copy.depth = parameters.extent.depth;
  const auto side = [&](cudaArray_t array, const cudaPitchedPtr& pitched, const cudaPos& position,
                        std::uint64_t& address, std::uint64_t& pitch, std::uint64_t& rows) {
    if (array != nullptr) {
      const Array& known = *array_of(array);
      address = known.address;
      pitch = known.pitch();
      rows = known.rows();
      address += position.x * element;
    } else {
      pitch = pitched.pitch;
      rows = pitched.ysize;
      if (pitched.ptr == nullptr) return;  // nowhere, whatever the position
      address = address_of(pitched.ptr) + position.x;
    }
    address += (position.z * rows + position.y) * pitch;
  };
  side(parameters.dstArray, parameters.dstPtr, parameters.dstPos, copy.to, copy.to_pitch,
       copy.to_height);
  side(parameters.srcArray, parameters.srcPtr, parameters.srcPos, copy.from, copy.from_pitch,
       copy.from_height);
  return copy;
}

cudaMemcpy3DParms parameters_of(const CopyWork& copy) {
  if (copy.described != nullptr) return *copy.described;
  const auto side = [&](std::uint64_t address, std::uint64_t pitch, std::uint64_t rows) {
    return cudaPitchedPtr{reinterpret_cast<void*>(address), pitch, copy.width,
                          rows == 0 ? copy.height : rows};
  };
  cudaMemcpy3DParms parameters{};
  parameters.srcPtr = side(copy.from, copy.from_pitch, copy.from_height);
  parameters.dstPtr = side(copy.to, copy.to_pitch, copy.to_height);
  parameters.extent = {copy.width, copy.height, copy.depth};
  parameters.kind = copy.kind;
  return parameters;
}

cudaError_t box_mistake(const cudaMemcpy3DParms& parameters) {
  const cudaExtent& extent = parameters.extent;
  const std::uint64_t element = element_of(parameters);
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
  const auto fits = [](std::size_t at, std::size_t count, std::size_t all) {
    return at <= all && count <= all - at;
  };
  const auto is_inside = [&](cudaArray_t handle, const cudaPitchedPtr& pitched, const cudaPos& at) {
    // How long a row is, and how many there are, is asked only where another follows.
    if (handle == nullptr && (pitched.ptr == nullptr || extent.height * extent.depth == 1))
      return true;
    if (handle == nullptr) {
      return fits(at.x, extent.width * element, pitched.pitch) &&
             (extent.depth == 1 || fits(at.y, extent.height, pitched.ysize));
    }
    const Array& array = *array_of(handle);
    return fits(at.x, extent.width, array.extent.width) &&
           fits(at.y, extent.height, array.rows()) && fits(at.z, extent.depth, array.layers());
  };
  return is_inside(parameters.dstArray, parameters.dstPtr, parameters.dstPos) &&
                 is_inside(parameters.srcArray, parameters.srcPtr, parameters.srcPos)
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

namespace {

cudaError_t place_in(Process& process, const SymbolPart& part, void*& place) {
  const auto found = process.symbol(part.symbol);
  if (!found) return process.symbol_mistake(part.symbol);
  const bool fits =
      part.offset <= found->place.bytes && part.bytes <= found->place.bytes - part.offset;
  if (!fits && part.bytes > 0) return cudaErrorInvalidValue;
  place = reinterpret_cast<void*>(found->place.address + part.offset);
  return cudaSuccess;
}

}  // namespace

cudaError_t copy_to(Process& process, const SymbolPart& part, const void* from, cudaMemcpyKind kind,
                    CopyWork& copy) {
  void* place = nullptr;
  const cudaError_t mistake = place_in(process, part, place);
  if (mistake != cudaSuccess) return mistake;
  if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost) {
    return cudaErrorInvalidMemcpyDirection;
  }
  copy = line(place, from, part.bytes, kind);
  return cudaSuccess;
}

cudaError_t copy_from(Process& process, void* to, const SymbolPart& part, cudaMemcpyKind kind,
                      CopyWork& copy) {
  void* place = nullptr;
  const cudaError_t mistake = place_in(process, part, place);
  if (mistake != cudaSuccess) return mistake;
  if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice) {
    return cudaErrorInvalidMemcpyDirection;
  }
  copy = line(to, place, part.bytes, kind);
  return cudaSuccess;
}

CopyWork box(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
             std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  CopyWork copy = line(to, from, width, kind);
  copy.to_pitch = to_pitch;
  copy.from_pitch = from_pitch;
  copy.height = height;
  return copy;
}

namespace {

bool is_captured(Process& process, cudaStream_t handle) {
  const Stream* stream = process.stream(handle);
  return stream != nullptr && stream->capture != nullptr;
}

/// A driver waits for the end of a copy from the device where the host's side is pageable, whatever
/// the call's name.
bool is_waited_for(Process& process, const CopyWork& copy) {
  const model::DeviceMemory& known = process.memory().machine();
  return known.find(copy.from) != nullptr && known.find(copy.to) == nullptr;
}

cudaError_t begin_copy(Process& process, cudaStream_t stream, const CopyWork& copy) {
  const cudaError_t mistake = copy_mistake(process, copy, is_captured(process, stream));
  return mistake != cudaSuccess ? mistake : submit(process, stream, copy);
}

}  // namespace

cudaError_t submit_copy(Process& process, cudaStream_t stream, const CopyWork& copy) {
  const cudaError_t result = begin_copy(process, stream, copy);
  const bool waits = !is_captured(process, stream) && is_waited_for(process, copy);
  if (result != cudaSuccess || !waits) return result;
  wait_until_done(process, *process.stream(stream));
  return process.surfaced_error();
}

cudaError_t copy_now(Process& process, const CopyWork& copy) {
  Stream& stream = *process.stream(nullptr);
  cudaError_t result = legacy_conflict(process, stream);
  if (result == cudaSuccess) result = unsafe_in_capture(process);
  if (result == cudaSuccess) result = forbidden_in_capture(stream);
  if (result == cudaSuccess) result = begin_copy(process, nullptr, copy);
  if (result != cudaSuccess) return result;
  wait_until_done(process, stream);
  process.show_printed();
  return process.surfaced_error();
}

namespace {

cudaError_t submit_set(Process& process, cudaStream_t stream, const SetWork& set) {
  const cudaError_t mistake = set_mistake(process, set, is_captured(process, stream));
  return mistake != cudaSuccess ? mistake : submit(process, stream, set);
}

SetWork set_of(void* to, int value, std::size_t bytes) {
  SetWork set;
  set.to = address_of(to);
  set.value = static_cast<std::uint32_t>(value) & 0xff;
  set.width = set.pitch = bytes;
  return set;
}

}  // namespace

namespace copies {
namespace {

cudaError_t copy(Process& process, void* to, const void* from, std::size_t bytes,
                 cudaMemcpyKind kind) {
  return copy_now(process, line(to, from, bytes, kind));
}

cudaError_t copy_async(Process& process, void* to, const void* from, std::size_t bytes,
                       cudaMemcpyKind kind, cudaStream_t stream) {
  return submit_copy(process, stream, line(to, from, bytes, kind));
}

cudaError_t copy_peer(Process& process, void* to, int to_device, const void* from, int from_device,
                      std::size_t bytes) {
  if (!process.has_device(to_device) || !process.has_device(from_device))
    return cudaErrorInvalidDevice;
  return copy_now(process, line(to, from, bytes, cudaMemcpyDeviceToDevice));
}

cudaError_t copy_peer_async(Process& process, void* to, int to_device, const void* from,
                            int from_device, std::size_t bytes, cudaStream_t stream) {
  if (!process.has_device(to_device) || !process.has_device(from_device))
    return cudaErrorInvalidDevice;
  return submit_copy(process, stream, line(to, from, bytes, cudaMemcpyDeviceToDevice));
}

cudaError_t copy_2d(Process& process, void* to, std::size_t to_pitch, const void* from,
                    std::size_t from_pitch, std::size_t width, std::size_t height,
                    cudaMemcpyKind kind) {
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
  return copy_now(process, box(to, to_pitch, from, from_pitch, width, height, kind));
}

cudaError_t copy_2d_async(Process& process, void* to, std::size_t to_pitch, const void* from,
                          std::size_t from_pitch, std::size_t width, std::size_t height,
                          cudaMemcpyKind kind, cudaStream_t stream) {
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
  return submit_copy(process, stream, box(to, to_pitch, from, from_pitch, width, height, kind));
}

cudaError_t copy_3d(Process& process, const cudaMemcpy3DParms* parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  const cudaError_t mistake = box_mistake(*parameters);
  return mistake != cudaSuccess ? mistake : copy_now(process, box_of(*parameters));
}

cudaError_t copy_3d_async(Process& process, const cudaMemcpy3DParms* parameters,
                          cudaStream_t stream) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  const cudaError_t mistake = box_mistake(*parameters);
  return mistake != cudaSuccess ? mistake : submit_copy(process, stream, box_of(*parameters));
}

cudaError_t copy_to_symbol(Process& process, const void* symbol, const void* from,
                           std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
  CopyWork copy;
  const cudaError_t mistake = copy_to(process, {symbol, bytes, offset}, from, kind, copy);
  return mistake != cudaSuccess ? mistake : copy_now(process, copy);
}

cudaError_t copy_to_symbol_async(Process& process, const void* symbol, const void* from,
                                 std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                                 cudaStream_t stream) {
  CopyWork copy;
  const cudaError_t mistake = copy_to(process, {symbol, bytes, offset}, from, kind, copy);
  return mistake != cudaSuccess ? mistake : submit_copy(process, stream, copy);
}

cudaError_t copy_from_symbol(Process& process, void* to, const void* symbol, std::size_t bytes,
                             std::size_t offset, cudaMemcpyKind kind) {
  CopyWork copy;
  const cudaError_t mistake = copy_from(process, to, {symbol, bytes, offset}, kind, copy);
  return mistake != cudaSuccess ? mistake : copy_now(process, copy);
}

cudaError_t copy_from_symbol_async(Process& process, void* to, const void* symbol,
                                   std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  CopyWork copy;
  const cudaError_t mistake = copy_from(process, to, {symbol, bytes, offset}, kind, copy);
  return mistake != cudaSuccess ? mistake : submit_copy(process, stream, copy);
}

cudaError_t set(Process& process, void* to, int value, std::size_t bytes) {
  return submit_set(process, nullptr, set_of(to, value, bytes));
}

cudaError_t set_async(Process& process, void* to, int value, std::size_t bytes,
                      cudaStream_t stream) {
  return submit_set(process, stream, set_of(to, value, bytes));
}

cudaError_t set_rows(Process& process, void* to, std::size_t pitch, int value, std::size_t width,
                     std::size_t rows, cudaStream_t stream) {
  SetWork set = set_of(to, value, width);
  set.pitch = pitch;
  set.height = rows;
  return submit_set(process, stream, set);
}

cudaError_t set_2d(Process& process, void* to, std::size_t pitch, int value, std::size_t width,
                   std::size_t height) {
  return set_rows(process, to, pitch, value, width, height, nullptr);
}

cudaError_t set_box(Process& process, const cudaPitchedPtr& to, int value, const cudaExtent& extent,
                    cudaStream_t stream) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    SetWork set = set_of(static_cast<char*>(to.ptr) + z * to.pitch * to.ysize, value, extent.width);
    set.pitch = to.pitch;
    set.height = extent.height;
    const cudaError_t result = submit_set(process, stream, set);
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

cudaError_t set_3d(Process& process, cudaPitchedPtr to, int value, cudaExtent extent) {
  return set_box(process, to, value, extent, nullptr);
}

}  // namespace
}  // namespace copies

std::vector<Answer> copy_answers() {
  return {
      ANSWER(cudaMemcpy, copies::copy, Needs::context),
      ANSWER(cudaMemcpyAsync, copies::copy_async, Needs::context),
      ANSWER(cudaMemcpyPeer, copies::copy_peer, Needs::context),
      ANSWER(cudaMemcpyPeerAsync, copies::copy_peer_async, Needs::context),
      ANSWER(cudaMemcpy2D, copies::copy_2d, Needs::context),
      ANSWER(cudaMemcpy2DAsync, copies::copy_2d_async, Needs::context),
      ANSWER(cudaMemcpy3D, copies::copy_3d, Needs::context),
      ANSWER(cudaMemcpy3DAsync, copies::copy_3d_async, Needs::context),
      ANSWER(cudaMemcpyToSymbol, copies::copy_to_symbol, Needs::context),
      ANSWER(cudaMemcpyToSymbolAsync, copies::copy_to_symbol_async, Needs::context),
      ANSWER(cudaMemcpyFromSymbol, copies::copy_from_symbol, Needs::context),
      ANSWER(cudaMemcpyFromSymbolAsync, copies::copy_from_symbol_async, Needs::context),
      ANSWER(cudaMemset, copies::set, Needs::context),
      ANSWER(cudaMemsetAsync, copies::set_async, Needs::context),
      ANSWER(cudaMemset2D, copies::set_2d, Needs::context),
      ANSWER(cudaMemset2DAsync, copies::set_rows, Needs::context),
      ANSWER(cudaMemset3D, copies::set_3d, Needs::context),
      ANSWER(cudaMemset3DAsync, copies::set_box, Needs::context),
  };
}

}  // namespace warpmeter::runtime
