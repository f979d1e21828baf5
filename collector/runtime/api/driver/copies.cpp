// SPDX-License-Identifier: MIT
// The driver's copies and sets: lines, and boxes of its own shape.
#include "collector/runtime/api/row.h"
#include "collector/runtime/memory/array.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
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

}  // namespace

namespace driver_copies {
namespace {

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
std::uint64_t host_address(const void* host) { return reinterpret_cast<std::uint64_t>(host); }

CUresult copy(Process& process, CUdeviceptr to, CUdeviceptr from, std::size_t n) {
  return copy_line(process, to, from, n, cudaMemcpyDefault, nullptr);
}
CUresult copy_async(Process& process, CUdeviceptr to, CUdeviceptr from, std::size_t n,
                    CUstream stream) {
  return copy_line(process, to, from, n, cudaMemcpyDefault, stream);
}
CUresult copy_htod(Process& process, CUdeviceptr to, const void* from, std::size_t n) {
  return copy_line(process, to, host_address(from), n, cudaMemcpyHostToDevice, nullptr);
}
CUresult copy_htod_async(Process& process, CUdeviceptr to, const void* from, std::size_t n,
                         CUstream stream) {
  return copy_line(process, to, host_address(from), n, cudaMemcpyHostToDevice, stream);
}
CUresult copy_dtoh(Process& process, void* to, CUdeviceptr from, std::size_t n) {
  return copy_line(process, host_address(to), from, n, cudaMemcpyDeviceToHost, nullptr);
}
CUresult copy_dtoh_async(Process& process, void* to, CUdeviceptr from, std::size_t n,
                         CUstream stream) {
  return copy_line(process, host_address(to), from, n, cudaMemcpyDeviceToHost, stream);
}
CUresult copy_dtod(Process& process, CUdeviceptr to, CUdeviceptr from, std::size_t n) {
  return copy_line(process, to, from, n, cudaMemcpyDeviceToDevice, nullptr);
}
CUresult copy_dtod_async(Process& process, CUdeviceptr to, CUdeviceptr from, std::size_t n,
                         CUstream stream) {
  return copy_line(process, to, from, n, cudaMemcpyDeviceToDevice, stream);
}
CUresult copy_peer(Process& process, CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                   std::size_t n) {
  return copy_line(process, to, from, n, cudaMemcpyDeviceToDevice, nullptr);
}
CUresult copy_peer_async(Process& process, CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                         std::size_t n, CUstream stream) {
  return copy_line(process, to, from, n, cudaMemcpyDeviceToDevice, stream);
}

CUresult memcpy2_d_v2(Process& process, const CUDA_MEMCPY2D* copy) {
  return copy_2d(process, copy, nullptr);
}
CUresult copy_2d_unaligned(Process& process, const CUDA_MEMCPY2D* copy) {
  return copy_2d(process, copy, nullptr);
}
CUresult copy_2d_async(Process& process, const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy_2d(process, copy, stream);
}
CUresult memcpy3_d_v2(Process& process, const CUDA_MEMCPY3D* copy) {
  return copy_3d(process, copy, nullptr);
}
CUresult copy_3d_async(Process& process, const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy_3d(process, copy, stream);
}
CUresult copy_3d_peer(Process& process, const CUDA_MEMCPY3D_PEER* copy) {
  return copy_3d(process, copy, nullptr);
}
CUresult copy_3d_peer_async(Process& process, const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  return copy_3d(process, copy, stream);
}

CUresult set_8(Process& process, CUdeviceptr to, unsigned char value, std::size_t n) {
  return set_numbers(process, to, n, value, n, 1, nullptr);
}
CUresult set_16(Process& process, CUdeviceptr to, unsigned short value, std::size_t n) {
  return set_numbers(process, to, 2 * n, value, n, 1, nullptr);
}
CUresult set_32(Process& process, CUdeviceptr to, unsigned value, std::size_t n) {
  return set_numbers(process, to, 4 * n, value, n, 1, nullptr);
}
CUresult set_8_async(Process& process, CUdeviceptr to, unsigned char value, std::size_t n,
                     CUstream stream) {
  return set_numbers(process, to, n, value, n, 1, stream);
}
CUresult set_16_async(Process& process, CUdeviceptr to, unsigned short value, std::size_t n,
                      CUstream stream) {
  return set_numbers(process, to, 2 * n, value, n, 1, stream);
}
CUresult set_32_async(Process& process, CUdeviceptr to, unsigned value, std::size_t n,
                      CUstream stream) {
  return set_numbers(process, to, 4 * n, value, n, 1, stream);
}
CUresult set_rows_8(Process& process, CUdeviceptr to, std::size_t pitch, unsigned char value,
                    std::size_t width, std::size_t height) {
  return set_numbers(process, to, pitch, value, width, height, nullptr);
}
CUresult set_rows_16(Process& process, CUdeviceptr to, std::size_t pitch, unsigned short value,
                     std::size_t width, std::size_t height) {
  return set_numbers(process, to, pitch, value, width, height, nullptr);
}
CUresult set_rows_32(Process& process, CUdeviceptr to, std::size_t pitch, unsigned value,
                     std::size_t width, std::size_t height) {
  return set_numbers(process, to, pitch, value, width, height, nullptr);
}
CUresult set_rows_8_async(Process& process, CUdeviceptr to, std::size_t pitch, unsigned char value,
                          std::size_t width, std::size_t height, CUstream stream) {
  return set_numbers(process, to, pitch, value, width, height, stream);
}
CUresult set_rows_16_async(Process& process, CUdeviceptr to, std::size_t pitch,
                           unsigned short value, std::size_t width, std::size_t height,
                           CUstream stream) {
  return set_numbers(process, to, pitch, value, width, height, stream);
}
CUresult set_rows_32_async(Process& process, CUdeviceptr to, std::size_t pitch, unsigned value,
                           std::size_t width, std::size_t height, CUstream stream) {
  return set_numbers(process, to, pitch, value, width, height, stream);
}

}  // namespace
}  // namespace driver_copies

std::span<const Answer> driver_copy_answers() {
  static const Answer table[] = {
      ANSWER(cuMemcpy, driver_copies::copy, Needs::context),
      ANSWER(cuMemcpyAsync, driver_copies::copy_async, Needs::context),
      ANSWER(cuMemcpyHtoD_v2, driver_copies::copy_htod, Needs::context),
      ANSWER(cuMemcpyHtoDAsync_v2, driver_copies::copy_htod_async, Needs::context),
      ANSWER(cuMemcpyDtoH_v2, driver_copies::copy_dtoh, Needs::context),
      ANSWER(cuMemcpyDtoHAsync_v2, driver_copies::copy_dtoh_async, Needs::context),
      ANSWER(cuMemcpyDtoD_v2, driver_copies::copy_dtod, Needs::context),
      ANSWER(cuMemcpyDtoDAsync_v2, driver_copies::copy_dtod_async, Needs::context),
      ANSWER(cuMemcpyPeer, driver_copies::copy_peer, Needs::context),
      ANSWER(cuMemcpyPeerAsync, driver_copies::copy_peer_async, Needs::context),
      ANSWER(cuMemcpy2D_v2, driver_copies::memcpy2_d_v2, Needs::context),
      ANSWER(cuMemcpy2DUnaligned_v2, driver_copies::copy_2d_unaligned, Needs::context),
      ANSWER(cuMemcpy2DAsync_v2, driver_copies::copy_2d_async, Needs::context),
      ANSWER(cuMemcpy3D_v2, driver_copies::memcpy3_d_v2, Needs::context),
      ANSWER(cuMemcpy3DAsync_v2, driver_copies::copy_3d_async, Needs::context),
      ANSWER(cuMemsetD8_v2, driver_copies::set_8, Needs::context),
      ANSWER(cuMemsetD16_v2, driver_copies::set_16, Needs::context),
      ANSWER(cuMemsetD32_v2, driver_copies::set_32, Needs::context),
      ANSWER(cuMemsetD8Async, driver_copies::set_8_async, Needs::context),
      ANSWER(cuMemsetD16Async, driver_copies::set_16_async, Needs::context),
      ANSWER(cuMemsetD32Async, driver_copies::set_32_async, Needs::context),
      ANSWER(cuMemsetD2D8_v2, driver_copies::set_rows_8, Needs::context),
      ANSWER(cuMemsetD2D16_v2, driver_copies::set_rows_16, Needs::context),
      ANSWER(cuMemsetD2D32_v2, driver_copies::set_rows_32, Needs::context),
      ANSWER(cuMemsetD2D8Async, driver_copies::set_rows_8_async, Needs::context),
      ANSWER(cuMemsetD2D16Async, driver_copies::set_rows_16_async, Needs::context),
      ANSWER(cuMemsetD2D32Async, driver_copies::set_rows_32_async, Needs::context),
      ANSWER(cuMemcpy3DPeer, driver_copies::copy_3d_peer, Needs::context),
      ANSWER(cuMemcpy3DPeerAsync, driver_copies::copy_3d_peer_async, Needs::context),
  };
  return table;
}

}  // namespace warpmeter::runtime
