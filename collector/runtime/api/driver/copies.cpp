// SPDX-License-Identifier: MIT
// The driver's copies and sets: lines, and boxes of its own shape.
#include "collector/runtime/api/row.h"
#include "collector/runtime/memory/array.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace driver_copies {
namespace {

CUresult submit_driver_copy(Process& process, CUstream stream, const CopyWork& copy) {
  const cudaError_t mistake = copy_mistake(process, copy);
  return as_driver_error(mistake != cudaSuccess ? mistake : submit(process, stream, copy));
}

/// One side of a copy of a box.
struct BoxSide {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t x, y, z, pitch, height;

  bool is_device() const { return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_ARRAY; }

  void put(std::uint64_t& address, std::uint64_t& row, std::uint64_t& rows,
           std::uint64_t width) const {
    if (type == CU_MEMORYTYPE_ARRAY) {
      const Array& known = *reinterpret_cast<const Array*>(array);
      address = known.address;
      row = known.pitch();
      rows = known.rows();
    } else {
      address = type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uint64_t>(host) : device;
      row = pitch == 0 ? width : pitch;
      rows = height;
    }
    address += (z * rows + y) * row + x;
  }
};

cudaMemcpyKind copy_kind(const BoxSide& to, const BoxSide& from) {
  if (to.type == CU_MEMORYTYPE_UNIFIED || from.type == CU_MEMORYTYPE_UNIFIED) {
    return cudaMemcpyDefault;
  }
  if (to.is_device()) return from.is_device() ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  return from.is_device() ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

CUresult copy_box(Process& process, CUstream stream, const BoxSide& to, const BoxSide& from,
                  std::size_t width, std::size_t height, std::size_t depth) {
  const auto lacks_array = [](const BoxSide& side) {
    return side.type == CU_MEMORYTYPE_ARRAY && side.array == nullptr;
  };
  if (lacks_array(to) || lacks_array(from)) return CUDA_ERROR_INVALID_VALUE;
  CopyWork copy;
  copy.width = width;
  copy.height = height;
  copy.depth = depth;
  copy.kind = copy_kind(to, from);
  to.put(copy.to, copy.to_pitch, copy.to_height, width);
  from.put(copy.from, copy.from_pitch, copy.from_height, width);
  // A wrong pitch is an invalid value to the driver.
  const CUresult result = submit_driver_copy(process, stream, copy);
  return result == static_cast<CUresult>(cudaErrorInvalidPitchValue) ? CUDA_ERROR_INVALID_VALUE
                                                                     : result;
}

CUresult copy_2d(Process& process, const CUDA_MEMCPY2D* c, CUstream stream) {
  if (c == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return copy_box(process, stream,
                  {c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes, c->dstY,
                   0, c->dstPitch, 0},
                  {c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes, c->srcY,
                   0, c->srcPitch, 0},
                  c->WidthInBytes, c->Height, 1);
}

/// Also between devices, whose memory is this process's.
template <class Copy>
CUresult copy_3d(Process& process, const Copy* c, CUstream stream) {
  if (c == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return copy_box(process, stream,
                  {c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes, c->dstY,
                   c->dstZ, c->dstPitch, c->dstHeight},
                  {c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes, c->srcY,
                   c->srcZ, c->srcPitch, c->srcHeight},
                  c->WidthInBytes, c->Height, c->Depth);
}

template <class Value>
CUresult set_numbers(Process& process, CUdeviceptr to, std::size_t pitch, Value value,
                     std::size_t width, std::size_t height, CUstream stream) {
  SetWork work;
  work.to = to;
  work.value = value;
  work.element_bytes = sizeof value;
  work.width = width;
  work.height = height;
  work.pitch = pitch;
  const bool has_room = height <= 1 || (pitch % sizeof value == 0 && width <= pitch / sizeof value);
  if (to % sizeof value != 0 || !has_room) return CUDA_ERROR_INVALID_VALUE;
  const cudaError_t mistake = set_mistake(process, work);
  return as_driver_error(mistake != cudaSuccess ? mistake : submit(process, stream, work));
}

// Copies in a line.
CUresult copy_line(Process& process, std::uint64_t to, std::uint64_t from, std::size_t bytes,
                   cudaMemcpyKind kind, CUstream stream) {
  if (stream == nullptr) process.show_printed();
  CopyWork copy;
  copy.to = to;
  copy.from = from;
  copy.width = copy.to_pitch = copy.from_pitch = bytes;
  copy.kind = kind;
  return submit_driver_copy(process, stream, copy);
}

template <cudaMemcpyKind kind>
CUresult copy(Process& process, std::uint64_t to, std::uint64_t from, std::size_t n) {
  return copy_line(process, to, from, n, kind, nullptr);
}
template <cudaMemcpyKind kind>
CUresult copy_async(Process& process, std::uint64_t to, std::uint64_t from, std::size_t n,
                    CUstream stream) {
  return copy_line(process, to, from, n, kind, stream);
}
CUresult copy_peer_async(Process& process, CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                         std::size_t n, CUstream stream) {
  return copy_line(process, to, from, n, cudaMemcpyDeviceToDevice, stream);
}
CUresult copy_peer(Process& process, CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                   std::size_t n) {
  return copy_line(process, to, from, n, cudaMemcpyDeviceToDevice, nullptr);
}

CUresult copy_rows(Process& process, const CUDA_MEMCPY2D* copy) {
  return copy_2d(process, copy, nullptr);
}
template <class Copy>
CUresult copy_boxes(Process& process, const Copy* copy) {
  return copy_3d(process, copy, nullptr);
}

template <class Value>
CUresult set(Process& process, CUdeviceptr to, Value value, std::size_t n) {
  return set_numbers(process, to, n * sizeof value, value, n, 1, nullptr);
}
template <class Value>
CUresult set_async(Process& process, CUdeviceptr to, Value value, std::size_t n, CUstream stream) {
  return set_numbers(process, to, n * sizeof value, value, n, 1, stream);
}
template <class Value>
CUresult set_rows(Process& process, CUdeviceptr to, std::size_t pitch, Value value,
                  std::size_t width, std::size_t height) {
  return set_numbers(process, to, pitch, value, width, height, nullptr);
}

}  // namespace
}  // namespace driver_copies

std::vector<Answer> driver_copy_answers() {
  return {
      ANSWER(cuMemcpy, driver_copies::copy<cudaMemcpyDefault>, Needs::context),
      ANSWER(cuMemcpyAsync, driver_copies::copy_async<cudaMemcpyDefault>, Needs::context),
      ANSWER(cuMemcpyHtoD_v2, driver_copies::copy<cudaMemcpyHostToDevice>, Needs::context),
      ANSWER(cuMemcpyHtoDAsync_v2, driver_copies::copy_async<cudaMemcpyHostToDevice>,
             Needs::context),
      ANSWER(cuMemcpyDtoH_v2, driver_copies::copy<cudaMemcpyDeviceToHost>, Needs::context),
      ANSWER(cuMemcpyDtoHAsync_v2, driver_copies::copy_async<cudaMemcpyDeviceToHost>,
             Needs::context),
      ANSWER(cuMemcpyDtoD_v2, driver_copies::copy<cudaMemcpyDeviceToDevice>, Needs::context),
      ANSWER(cuMemcpyDtoDAsync_v2, driver_copies::copy_async<cudaMemcpyDeviceToDevice>,
             Needs::context),
      ANSWER(cuMemcpyPeer, driver_copies::copy_peer, Needs::context),
      ANSWER(cuMemcpyPeerAsync, driver_copies::copy_peer_async, Needs::context),
      ANSWER(cuMemcpy2D_v2, driver_copies::copy_rows, Needs::context),
      ANSWER(cuMemcpy2DUnaligned_v2, driver_copies::copy_rows, Needs::context),
      ANSWER(cuMemcpy2DAsync_v2, driver_copies::copy_2d, Needs::context),
      ANSWER(cuMemcpy3D_v2, driver_copies::copy_boxes<CUDA_MEMCPY3D>, Needs::context),
      ANSWER(cuMemcpy3DAsync_v2, driver_copies::copy_3d<CUDA_MEMCPY3D>, Needs::context),
      ANSWER(cuMemcpy3DPeer, driver_copies::copy_boxes<CUDA_MEMCPY3D_PEER>, Needs::context),
      ANSWER(cuMemcpy3DPeerAsync, driver_copies::copy_3d<CUDA_MEMCPY3D_PEER>, Needs::context),
      ANSWER(cuMemsetD8_v2, driver_copies::set<unsigned char>, Needs::context),
      ANSWER(cuMemsetD8Async, driver_copies::set_async<unsigned char>, Needs::context),
      ANSWER(cuMemsetD2D8_v2, driver_copies::set_rows<unsigned char>, Needs::context),
      ANSWER(cuMemsetD2D8Async, driver_copies::set_numbers<unsigned char>, Needs::context),
      ANSWER(cuMemsetD16_v2, driver_copies::set<unsigned short>, Needs::context),
      ANSWER(cuMemsetD16Async, driver_copies::set_async<unsigned short>, Needs::context),
      ANSWER(cuMemsetD2D16_v2, driver_copies::set_rows<unsigned short>, Needs::context),
      ANSWER(cuMemsetD2D16Async, driver_copies::set_numbers<unsigned short>, Needs::context),
      ANSWER(cuMemsetD32_v2, driver_copies::set<unsigned>, Needs::context),
      ANSWER(cuMemsetD32Async, driver_copies::set_async<unsigned>, Needs::context),
      ANSWER(cuMemsetD2D32_v2, driver_copies::set_rows<unsigned>, Needs::context),
      ANSWER(cuMemsetD2D32Async, driver_copies::set_numbers<unsigned>, Needs::context),
  };
}

}  // namespace warpmeter::runtime
