// SPDX-License-Identifier: MIT
// Descriptors of tensors for copies of boxes (cuTensorMapEncodeTiled). The refusals were measured
// on an H200: tests/runtime/programs/tensor_misuse.cu.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "collector/model/machine/warp/tensor_map.h"
#include "collector/runtime/api/row.h"

namespace warpmeter::runtime {
namespace tensors {
namespace {

using model::TensorMap, model::TensorType;

constexpr std::uint64_t most_extent = std::uint64_t{1} << 32, most_stride = std::uint64_t{1} << 40;
constexpr std::uint32_t most_box = 256, most_step = 8, address_step = 16;
/// The shared memory of a multiprocessor.
constexpr std::uint64_t most_box_bytes = 228 << 10;

bool is_float(TensorType type) { return type >= TensorType::f16; }

/// Fills in the tensor map; false where it is none.
bool fill_in(TensorMap& map, CUtensorMapDataType type, cuuint32_t rank, void* address,
             const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
             const cuuint32_t* steps, CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill filling) {
  if (rank < 1 || rank > model::most_tensor_axes || type > CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ) {
    return false;
  }
  if (extents == nullptr || strides == nullptr || box == nullptr || steps == nullptr) return false;
  map.type = static_cast<TensorType>(type);
  map.rank = static_cast<std::uint8_t>(rank);
  map.swizzle_shift = static_cast<std::uint8_t>(swizzle);
  map.fills_with_nan = filling != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  map.address = reinterpret_cast<std::uintptr_t>(address);
  if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return false;
  if (filling > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA) return false;
  if (map.fills_with_nan && !is_float(map.type)) return false;
  std::uint64_t bytes = map.element_bytes();
  for (unsigned axis = 0; axis < rank; ++axis) {
    if (extents[axis] < 1 || extents[axis] > most_extent) return false;
    if (box[axis] < 1 || box[axis] > most_box || steps[axis] < 1 || steps[axis] > most_step) {
      return false;
    }
    map.extents[axis] = extents[axis];
    map.box[axis] = static_cast<std::uint16_t>(box[axis]);
    map.steps[axis] = static_cast<std::uint8_t>(steps[axis]);
    bytes *= (box[axis] + steps[axis] - 1) / steps[axis];
    if (axis == 0) continue;
    const cuuint64_t stride = strides[axis - 1];
    if (stride % address_step != 0 || stride >= most_stride) return false;
    map.strides[axis - 1] = stride;
  }
  if (map.address % address_step != 0 || bytes > most_box_bytes) return false;
  return map.row_bytes() % model::box_chunk == 0 &&
         (map.swizzle_shift == 0 || map.row_bytes() <= map.pitch());
}

CUresult tensor_map_encode_tiled(Process& process, CUtensorMap* result, CUtensorMapDataType type,
                                 cuuint32_t rank, void* address, const cuuint64_t* extents,
                                 const cuuint64_t* strides, const cuuint32_t* box,
                                 const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                 CUtensorMapFloatOOBfill filling) {
  // It needs no context, and yet tells of a kernel that has failed.
  if (const cudaError_t failed = process.surfaced_error()) return as_driver_error(failed);
  if (result == nullptr || interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
      promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) {
    process.say("cuTensorMapEncodeTiled: the model has no tensors whose channels are interleaved");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  TensorMap map;
  if (!fill_in(map, type, rank, address, extents, strides, box, steps, swizzle, filling)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  model::write_tensor_map(map, reinterpret_cast<std::byte*>(result));
  return CUDA_SUCCESS;
}

CUresult tensor_map_replace_address(CUtensorMap* changed, void* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  auto* const bytes = reinterpret_cast<std::byte*>(changed);
  if (bytes == nullptr || place == 0 || place % address_step != 0) return CUDA_ERROR_INVALID_VALUE;
  std::optional<TensorMap> map = model::read_tensor_map(bytes);
  if (!map) return CUDA_ERROR_INVALID_VALUE;
  map->address = place;
  model::write_tensor_map(*map, bytes);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace tensors

std::vector<Answer> tensor_answers() {
  return {
      ANSWER(cuTensorMapEncodeTiled, tensors::tensor_map_encode_tiled, Needs::initialised),
      ANSWER(cuTensorMapReplaceAddress, tensors::tensor_map_replace_address, Needs::initialised),
  };
}

}  // namespace warpmeter::runtime
