// SPDX-License-Identifier: MIT
// The descriptor that tells copies of boxes of a tensor (cp.async.bulk.tensor) how it lies in
// memory: 128 bytes that the runtime fills in (cuTensorMapEncodeTiled) and a kernel names. NVIDIA
// does not say how they are laid out; these are our own, so that a GPU's mean nothing here.
//
// The rules for boxes were measured on an H200: tests/runtime/programs/tensor_copies.cu,
// tensor_misuse.cu.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace warpmeter::model {

inline constexpr unsigned most_tensor_axes = 5;
inline constexpr std::uint32_t tensor_map_alignment = 64, tensor_map_mark = 0x70616d74;
/// The bytes that are moved as one, and that a row's column has to be a multiple of.
inline constexpr std::uint32_t box_chunk = 16;
/// The alignment of a box's place in shared memory.
inline constexpr std::uint32_t box_alignment = 128;

/// In the order of CUtensorMapDataType.
enum class TensorType : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
};
inline constexpr std::array<std::uint8_t, 13> tensor_type_bytes{1, 2, 4, 4, 8, 8, 2,
                                                                4, 8, 2, 4, 4, 4};

struct TensorMap {
  std::uint32_t mark = tensor_map_mark;
  TensorType type = TensorType::u8;
  std::uint8_t rank = 1;
  std::uint8_t swizzle_shift = 0;  ///< 1, 2, 3: in rows of 32, 64, 128 bytes; 0: not at all
  bool fills_with_nan = false;
  /// Programs (CUTLASS, Triton) clear a bit of a descriptor's second word, which drivers
  /// before 13.2 set wrongly: nothing is kept there.
  std::uint64_t mended_by_programs = 0;
  std::uint64_t address = 0;
  std::array<std::uint64_t, most_tensor_axes> extents{};      ///< elements
  std::array<std::uint64_t, most_tensor_axes - 1> strides{};  ///< bytes, of the second axis on
  std::array<std::uint16_t, most_tensor_axes> box{};          ///< elements, before steps
  std::array<std::uint8_t, most_tensor_axes> steps{};  ///< those of the first axis mean nothing

  std::uint32_t element_bytes() const { return tensor_type_bytes[static_cast<std::size_t>(type)]; }
  std::uint32_t row_bytes() const { return box[0] * element_bytes(); }
  /// From one row to the next in shared memory: where they are swizzled, a whole row of that.
  std::uint32_t pitch() const { return swizzle_shift == 0 ? row_bytes() : 16u << swizzle_shift; }
  std::uint32_t count(unsigned axis) const {
    return axis == 0 ? box[0] : (box[axis] + steps[axis] - 1u) / steps[axis];
  }
  /// The bytes of a copy, elements beside the tensor too.
  std::uint32_t box_bytes() const {
    std::uint32_t bytes = row_bytes();
    for (unsigned axis = 1; axis < rank; ++axis) bytes *= count(axis);
    return bytes;
  }
  /// Where the byte lies that would lie at an address of shared memory.
  std::uint64_t swizzled(std::uint64_t address_in_shared) const {
    const std::uint64_t mask = (1u << swizzle_shift) - 1;
    return address_in_shared ^ (address_in_shared >> 7 & mask) << 4;
  }
};
static_assert(sizeof(TensorMap) <= 128);

/// Sixteen bytes of a box; those from `begin` to before `end` are of the tensor.
struct BoxChunk {
  std::uint64_t global = 0;  ///< where the first byte is, or would be
  std::uint32_t shared = 0;  ///< from the box's place, before it is swizzled
  std::uint32_t begin = 0, end = 0;
};

/// Calls `act` for each chunk until it says false. `corner`: the first element of the box.
template <typename Act>
bool for_each_chunk(const TensorMap& map, const std::array<std::int32_t, most_tensor_axes>& corner,
                    Act&& act) {
  const std::int64_t bytes = map.element_bytes();
  const std::int64_t row_begin = corner[0] * bytes;
  const std::int64_t row_end = static_cast<std::int64_t>(map.extents[0]) * bytes;
  std::array<std::uint32_t, most_tensor_axes> at{};
  for (std::uint32_t row = 0;; ++row) {
    bool is_inside = true;
    std::uint64_t begin = map.address + static_cast<std::uint64_t>(row_begin);
    for (unsigned axis = 1; axis < map.rank; ++axis) {
      const std::int64_t place =
          std::int64_t{corner[axis]} + std::int64_t{at[axis]} * map.steps[axis];
      is_inside &= place >= 0 && static_cast<std::uint64_t>(place) < map.extents[axis];
      begin += static_cast<std::uint64_t>(place) * map.strides[axis - 1];
    }
    for (std::uint32_t column = 0; column < map.row_bytes(); column += box_chunk) {
      BoxChunk chunk{begin + column, row * map.pitch() + column, 0, 0};
      if (is_inside) {
        const std::int64_t first = row_begin + column;
        const auto within = [&](std::int64_t byte) {
          return static_cast<std::uint32_t>(std::clamp<std::int64_t>(byte - first, 0, box_chunk));
        };
        chunk.begin = within(0);
        chunk.end = within(row_end);
      }
      if (!act(chunk)) return false;
    }
    unsigned axis = 1;
    while (axis < map.rank && ++at[axis] == map.count(axis)) at[axis++] = 0;
    if (axis >= map.rank) return true;
  }
}

}  // namespace warpmeter::model
