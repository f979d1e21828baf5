// SPDX-License-Identifier: MIT
// The driver's copies and sets: lines, and boxes of its own shape.
#include "collector/runtime/api/driver_call.h"
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

CUresult copy_2d(std::string_view name, const CUDA_MEMCPY2D* c, CUstream stream) {
  return driver_call(name, Needs::context, [&](Process& p) {
    if (c == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return copy_box(p, stream,
                    {c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes,
                     c->dstY, 0, c->dstPitch, 0},
                    {c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes,
                     c->srcY, 0, c->srcPitch, 0},
                    c->WidthInBytes, c->Height, 1);
  });
}

/// Also between devices, whose memory is this process's.
template <class Copy>
CUresult copy_3d(std::string_view name, const Copy* c, CUstream stream) {
  return driver_call(name, Needs::context, [&](Process& p) {
    if (c == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return copy_box(p, stream,
                    {c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes,
                     c->dstY, c->dstZ, c->dstPitch, c->dstHeight},
                    {c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes,
                     c->srcY, c->srcZ, c->srcPitch, c->srcHeight},
                    c->WidthInBytes, c->Height, c->Depth);
  });
}

template <class Value>
CUresult set_numbers(std::string_view name, CUdeviceptr to, std::size_t pitch, Value value,
                     std::size_t width, std::size_t height, CUstream stream) {
  return driver_call(name, Needs::context, [&](Process& p) {
    SetWork work;
    work.to = to;
    work.value = value;
    work.element_bytes = sizeof value;
    work.width = width;
    work.height = height;
    work.pitch = pitch;
    const bool has_room =
        height <= 1 || (pitch % sizeof value == 0 && width <= pitch / sizeof value);
    if (to % sizeof value != 0 || !has_room) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t mistake = set_mistake(p, work);
    return as_driver_error(mistake != cudaSuccess ? mistake : submit(p, stream, work));
  });
}

}  // namespace

namespace api {
namespace {

// Copies in a line.
CUresult copy_line(std::string_view name, std::uint64_t to, std::uint64_t from, std::size_t bytes,
                   cudaMemcpyKind kind, CUstream stream) {
  return driver_call(name, Needs::context, [&](Process& p) {
    if (stream == nullptr) p.show_printed();
    CopyWork copy;
    copy.to = to;
    copy.from = from;
    copy.width = copy.to_pitch = copy.from_pitch = bytes;
    copy.kind = kind;
    return submit_driver_copy(p, stream, copy);
  });
}
std::uint64_t host_address(const void* host) { return reinterpret_cast<std::uint64_t>(host); }

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t n) {
  return copy_line("cuMemcpy", to, from, n, cudaMemcpyDefault, nullptr);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t n, CUstream stream) {
  return copy_line("cuMemcpyAsync", to, from, n, cudaMemcpyDefault, stream);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t n) {
  return copy_line("cuMemcpyHtoD", to, host_address(from), n, cudaMemcpyHostToDevice, nullptr);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t n, CUstream stream) {
  return copy_line("cuMemcpyHtoDAsync", to, host_address(from), n, cudaMemcpyHostToDevice, stream);
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t n) {
  return copy_line("cuMemcpyDtoH", host_address(to), from, n, cudaMemcpyDeviceToHost, nullptr);
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t n, CUstream stream) {
  return copy_line("cuMemcpyDtoHAsync", host_address(to), from, n, cudaMemcpyDeviceToHost, stream);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t n) {
  return copy_line("cuMemcpyDtoD", to, from, n, cudaMemcpyDeviceToDevice, nullptr);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t n, CUstream stream) {
  return copy_line("cuMemcpyDtoDAsync", to, from, n, cudaMemcpyDeviceToDevice, stream);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t n) {
  return copy_line("cuMemcpyPeer", to, from, n, cudaMemcpyDeviceToDevice, nullptr);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t n,
                           CUstream stream) {
  return copy_line("cuMemcpyPeerAsync", to, from, n, cudaMemcpyDeviceToDevice, stream);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) { return copy_2d("cuMemcpy2D", copy, nullptr); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) {
  return copy_2d("cuMemcpy2DUnaligned", copy, nullptr);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy_2d("cuMemcpy2DAsync", copy, stream);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) { return copy_3d("cuMemcpy3D", copy, nullptr); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy_3d("cuMemcpy3DAsync", copy, stream);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  return copy_3d("cuMemcpy3DPeer", copy, nullptr);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  return copy_3d("cuMemcpy3DPeerAsync", copy, stream);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t n) {
  return set_numbers("cuMemsetD8", to, n, value, n, 1, nullptr);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t n) {
  return set_numbers("cuMemsetD16", to, 2 * n, value, n, 1, nullptr);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t n) {
  return set_numbers("cuMemsetD32", to, 4 * n, value, n, 1, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t n, CUstream stream) {
  return set_numbers("cuMemsetD8Async", to, n, value, n, 1, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t n, CUstream stream) {
  return set_numbers("cuMemsetD16Async", to, 2 * n, value, n, 1, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t n, CUstream stream) {
  return set_numbers("cuMemsetD32Async", to, 4 * n, value, n, 1, stream);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                         std::size_t height) {
  return set_numbers("cuMemsetD2D8", to, pitch, value, width, height, nullptr);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr to, std::size_t pitch, unsigned short value,
                          std::size_t width, std::size_t height) {
  return set_numbers("cuMemsetD2D16", to, pitch, value, width, height, nullptr);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                          std::size_t height) {
  return set_numbers("cuMemsetD2D32", to, pitch, value, width, height, nullptr);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  return set_numbers("cuMemsetD2D8Async", to, pitch, value, width, height, stream);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return set_numbers("cuMemsetD2D16Async", to, pitch, value, width, height, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                            std::size_t height, CUstream stream) {
  return set_numbers("cuMemsetD2D32Async", to, pitch, value, width, height, stream);
}

}  // namespace
}  // namespace api

std::span<const Answer> driver_copy_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cuMemcpy),
      WARPMETER_ANSWER(cuMemcpyAsync),
      WARPMETER_ANSWER(cuMemcpyHtoD_v2),
      WARPMETER_ANSWER(cuMemcpyHtoDAsync_v2),
      WARPMETER_ANSWER(cuMemcpyDtoH_v2),
      WARPMETER_ANSWER(cuMemcpyDtoHAsync_v2),
      WARPMETER_ANSWER(cuMemcpyDtoD_v2),
      WARPMETER_ANSWER(cuMemcpyDtoDAsync_v2),
      WARPMETER_ANSWER(cuMemcpyPeer),
      WARPMETER_ANSWER(cuMemcpyPeerAsync),
      WARPMETER_ANSWER(cuMemcpy2D_v2),
      WARPMETER_ANSWER(cuMemcpy2DUnaligned_v2),
      WARPMETER_ANSWER(cuMemcpy2DAsync_v2),
      WARPMETER_ANSWER(cuMemcpy3D_v2),
      WARPMETER_ANSWER(cuMemcpy3DAsync_v2),
      WARPMETER_ANSWER(cuMemsetD8_v2),
      WARPMETER_ANSWER(cuMemsetD16_v2),
      WARPMETER_ANSWER(cuMemsetD32_v2),
      WARPMETER_ANSWER(cuMemsetD8Async),
      WARPMETER_ANSWER(cuMemsetD16Async),
      WARPMETER_ANSWER(cuMemsetD32Async),
      WARPMETER_ANSWER(cuMemsetD2D8_v2),
      WARPMETER_ANSWER(cuMemsetD2D16_v2),
      WARPMETER_ANSWER(cuMemsetD2D32_v2),
      WARPMETER_ANSWER(cuMemsetD2D8Async),
      WARPMETER_ANSWER(cuMemsetD2D16Async),
      WARPMETER_ANSWER(cuMemsetD2D32Async),
      WARPMETER_ANSWER(cuMemcpy3DPeer),
      WARPMETER_ANSWER(cuMemcpy3DPeerAsync),
  };
  return table;
}

}  // namespace warpmeter::runtime
