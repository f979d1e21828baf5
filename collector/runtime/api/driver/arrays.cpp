// SPDX-License-Identifier: MIT
// The driver's arrays: its own descriptions of them, and copies of stretches of bytes.
#include "collector/runtime/api/row.h"
#include "collector/runtime/memory/array.h"
#include "collector/runtime/process/textures.h"
#include "collector/runtime/stream/copies.h"

namespace warpmeter::runtime {
namespace {

struct Format {
  CUarray_format format;
  cudaChannelFormatKind kind;
  int bits;
};
constexpr Format formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
    {CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
    {CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
    {CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
    {CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
    {CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32},
    {CU_AD_FORMAT_UNORM_INT8X1, cudaChannelFormatKindUnsignedNormalized8X1, 8},
    {CU_AD_FORMAT_UNORM_INT8X2, cudaChannelFormatKindUnsignedNormalized8X2, 8},
    {CU_AD_FORMAT_UNORM_INT8X4, cudaChannelFormatKindUnsignedNormalized8X4, 8},
    {CU_AD_FORMAT_UNORM_INT16X1, cudaChannelFormatKindUnsignedNormalized16X1, 16},
    {CU_AD_FORMAT_UNORM_INT16X2, cudaChannelFormatKindUnsignedNormalized16X2, 16},
    {CU_AD_FORMAT_UNORM_INT16X4, cudaChannelFormatKindUnsignedNormalized16X4, 16},
    {CU_AD_FORMAT_SNORM_INT8X1, cudaChannelFormatKindSignedNormalized8X1, 8},
    {CU_AD_FORMAT_SNORM_INT8X2, cudaChannelFormatKindSignedNormalized8X2, 8},
    {CU_AD_FORMAT_SNORM_INT8X4, cudaChannelFormatKindSignedNormalized8X4, 8},
    {CU_AD_FORMAT_SNORM_INT16X1, cudaChannelFormatKindSignedNormalized16X1, 16},
    {CU_AD_FORMAT_SNORM_INT16X2, cudaChannelFormatKindSignedNormalized16X2, 16},
    {CU_AD_FORMAT_SNORM_INT16X4, cudaChannelFormatKindSignedNormalized16X4, 16},
};

CUresult make_driver_array(Process& process, CUarray* result,
                           const CUDA_ARRAY3D_DESCRIPTOR& wanted) {
  const std::optional<cudaChannelFormatDesc> channels =
      channels_of(wanted.Format, wanted.NumChannels);
  if (result == nullptr || !channels) return CUDA_ERROR_INVALID_VALUE;
  Array array;
  array.channels = *channels;
  array.extent = {wanted.Width, wanted.Height, wanted.Depth};
  array.flags = wanted.Flags;
  return as_driver_error(make_array(process, array, reinterpret_cast<void**>(result)));
}

CUDA_ARRAY3D_DESCRIPTOR description_of(const Array& array) {
  CUDA_ARRAY3D_DESCRIPTOR told{};
  told.Width = array.extent.width;
  told.Height = array.extent.height;
  told.Depth = array.extent.depth;
  told.Flags = array.flags;
  const cudaChannelFormatDesc& channels = array.channels;
  for (const int bits : {channels.x, channels.y, channels.z, channels.w}) {
    if (bits != 0) ++told.NumChannels;
  }
  for (const Format& known : formats) {
    if (known.kind == channels.f && known.bits == channels.x) told.Format = known.format;
  }
  return told;
}

/// A side of a copy in a stretch: an array from a byte on, or an address.
struct CopyPlace {
  bool is_array = false;
  CUarray array = nullptr;
  std::uint64_t at = 0;  ///< for an array: bytes from its beginning

  CopyPlace(std::uint64_t address) : at(address) {}
  CopyPlace(const void* address) : at(reinterpret_cast<std::uint64_t>(address)) {}
  CopyPlace(CUarray handle, std::size_t offset) : is_array(true), array(handle), at(offset) {}

  /// Where it lies; false where an array does not hold it.
  bool find(std::size_t bytes, std::uint64_t& address) const {
    address = at;
    if (!is_array) return true;
    const Array* known = array_at(array);
    if (known == nullptr || at > known->bytes() || bytes > known->bytes() - at) return false;
    address += known->address;
    return true;
  }
};

CUresult copy_stretch(Process& process, const CopyPlace& to, const CopyPlace& from,
                      std::size_t bytes, cudaMemcpyKind kind, CUstream stream, bool waits = true) {
  CopyWork copy = line(nullptr, nullptr, bytes, kind);
  if (!to.find(bytes, copy.to) || !from.find(bytes, copy.from)) return CUDA_ERROR_INVALID_VALUE;
  return as_driver_error(waits ? copy_now(process, copy) : submit_copy(process, stream, copy));
}

}  // namespace

std::optional<cudaChannelFormatDesc> channels_of(CUarray_format format, unsigned count) {
  if (count != 1 && count != 2 && count != 4) return std::nullopt;
  for (const Format& known : formats) {
    if (known.format != format) continue;
    const auto bits = [&](unsigned channel) { return channel < count ? known.bits : 0; };
    const cudaChannelFormatDesc channels{bits(0), bits(1), bits(2), bits(3), known.kind};
    return are_elements(channels) ? std::optional(channels) : std::nullopt;
  }
  return std::nullopt;
}

namespace driver_arrays {
namespace {

CUresult array_create(Process& process, CUarray* result, const CUDA_ARRAY_DESCRIPTOR* wanted) {
  if (wanted == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return make_driver_array(
      process, result, {wanted->Width, wanted->Height, 0, wanted->Format, wanted->NumChannels, 0});
}

CUresult array_3d_create(Process& process, CUarray* result, const CUDA_ARRAY3D_DESCRIPTOR* wanted) {
  return wanted == nullptr ? CUDA_ERROR_INVALID_VALUE : make_driver_array(process, result, *wanted);
}

CUresult array_destroy(Process& process, CUarray array) {
  return free_array(process, array) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult array_get_descriptor(CUDA_ARRAY_DESCRIPTOR* result, CUarray handle) {
  const Array* array = array_at(handle);
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR told = description_of(*array);
  *result = {told.Width, told.Height, told.Format, told.NumChannels};
  return CUDA_SUCCESS;
}

CUresult array_3d_get_descriptor(CUDA_ARRAY3D_DESCRIPTOR* result, CUarray handle) {
  const Array* array = array_at(handle);
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *result = description_of(*array);
  return CUDA_SUCCESS;
}

CUresult copy_htoa(Process& process, CUarray to, std::size_t offset, const void* from,
                   std::size_t n) {
  return copy_stretch(process, {to, offset}, from, n, cudaMemcpyHostToDevice, nullptr);
}
CUresult copy_htoa_async(Process& process, CUarray to, std::size_t offset, const void* from,
                         std::size_t n, CUstream stream) {
  return copy_stretch(process, {to, offset}, from, n, cudaMemcpyHostToDevice, stream, false);
}
CUresult copy_atoh(Process& process, void* to, CUarray from, std::size_t offset, std::size_t n) {
  return copy_stretch(process, to, {from, offset}, n, cudaMemcpyDeviceToHost, nullptr);
}
CUresult copy_atoh_async(Process& process, void* to, CUarray from, std::size_t offset,
                         std::size_t n, CUstream stream) {
  return copy_stretch(process, to, {from, offset}, n, cudaMemcpyDeviceToHost, stream, false);
}
CUresult copy_dtoa(Process& process, CUarray to, std::size_t offset, CUdeviceptr from,
                   std::size_t n) {
  return copy_stretch(process, {to, offset}, std::uint64_t{from}, n, cudaMemcpyDeviceToDevice,
                      nullptr);
}
CUresult copy_atod(Process& process, CUdeviceptr to, CUarray from, std::size_t offset,
                   std::size_t n) {
  return copy_stretch(process, std::uint64_t{to}, {from, offset}, n, cudaMemcpyDeviceToDevice,
                      nullptr);
}
CUresult copy_atoa(Process& process, CUarray to, std::size_t to_offset, CUarray from,
                   std::size_t from_offset, std::size_t n) {
  return copy_stretch(process, {to, to_offset}, {from, from_offset}, n, cudaMemcpyDeviceToDevice,
                      nullptr);
}

}  // namespace
}  // namespace driver_arrays

std::vector<Answer> driver_array_answers() {
  return {
      ANSWER(cuArrayCreate_v2, driver_arrays::array_create, Needs::context),
      ANSWER(cuArray3DCreate_v2, driver_arrays::array_3d_create, Needs::context),
      ANSWER(cuArrayDestroy, driver_arrays::array_destroy, Needs::context),
      ANSWER(cuArrayGetDescriptor_v2, driver_arrays::array_get_descriptor, Needs::context),
      ANSWER(cuArray3DGetDescriptor_v2, driver_arrays::array_3d_get_descriptor, Needs::context),
      ANSWER(cuMemcpyHtoA_v2, driver_arrays::copy_htoa, Needs::context),
      ANSWER(cuMemcpyHtoAAsync_v2, driver_arrays::copy_htoa_async, Needs::context),
      ANSWER(cuMemcpyAtoH_v2, driver_arrays::copy_atoh, Needs::context),
      ANSWER(cuMemcpyAtoHAsync_v2, driver_arrays::copy_atoh_async, Needs::context),
      ANSWER(cuMemcpyDtoA_v2, driver_arrays::copy_dtoa, Needs::context),
      ANSWER(cuMemcpyAtoD_v2, driver_arrays::copy_atod, Needs::context),
      ANSWER(cuMemcpyAtoA_v2, driver_arrays::copy_atoa, Needs::context),
  };
}

}  // namespace warpmeter::runtime
