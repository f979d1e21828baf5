// SPDX-License-Identifier: MIT
// The descriptor that tells copies of boxes of a tensor (cp.async.bulk.tensor) how it lies in
// memory: 128 bytes that the runtime fills in (cuTensorMapEncodeTiled), or a kernel field by field
// (tensormap.replace). NVIDIA does not say how they are laid out. Ours lie where the machine code
// of tensormap.replace stores them (ptxas 13.0, sm_90a to sm_120a): loads and stores of a field are
// those of hardware, and a map that a kernel makes from zeros is one.
//
//   byte    bits
//   0x00    0-63   the address
//   0x08    4-6    the rank - 1
//           7-10   the type, as tensormap.replace numbers it
//           11-12  the interleaving of channels (0: none; the model has no other)
//           13-14  the swizzle: rows of 16 << n bytes, 0: none
//           15     1: elements beside the tensor are NaN
//           19-21  the atomicity of the swizzle (0: 16 bytes; the model has no other)
//   0x0c    0-31   the stride / 16 of the second axis; 0x10, 0x14, 0x18: of the next ones
//   0x1c    0-15   their highest four bits each
//   0x20    0-31   the first axis's elements - 1; 0x24 to 0x30: of the next ones
//   0x34    0-14   the steps - 1, three bits an axis
//           24-31  the first axis's elements of the box - 1
//   0x38    0-31   of the next axes, eight bits each
//
// Promotion to L2 is left out. Programs (CUTLASS, Triton) clear bit 21 at 0x08, which drivers
// before 13.2 set wrongly.
//
// The rules for boxes were measured on an H200: tests/runtime/programs/tensor_copies.cu,
// tensor_misuse.cu.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace warpmeter::model {

inline constexpr unsigned most_tensor_axes = 5;
inline constexpr std::uint32_t tensor_map_alignment = 64, tensor_map_bytes = 128;
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

/// The number of a type in a descriptor, and of tensormap.replace's .elemtype, by TensorType.
inline constexpr std::array<std::uint8_t, 13> tensor_type_numbers{0, 1, 2,  3, 4,  5, 6,
                                                                  7, 9, 10, 8, 11, 12};

/// A field of a descriptor: `bits` from the bit `shift` on of the word at `byte`.
struct TensorMapField {
  std::uint8_t byte = 0, shift = 0, bits = 32;
};
namespace tensor_map {
inline constexpr TensorMapField address{0, 0, 64}, rank{8, 4, 3}, type{8, 7, 4},
    interleave{8, 11, 2}, swizzle{8, 13, 2}, fill{8, 15, 1}, atomicity{8, 19, 3};
/// The stride of the axis behind this one.
constexpr TensorMapField stride(unsigned axis) {
  return {static_cast<std::uint8_t>(0x0c + 4 * axis), 0, 32};
}
constexpr TensorMapField stride_top(unsigned axis) {
  return {0x1c, static_cast<std::uint8_t>(4 * axis), 4};
}
constexpr TensorMapField extent(unsigned axis) {
  return {static_cast<std::uint8_t>(0x20 + 4 * axis), 0, 32};
}
constexpr TensorMapField step(unsigned axis) {
  return {0x34, static_cast<std::uint8_t>(3 * axis), 3};
}
constexpr TensorMapField box(unsigned axis) {
  if (axis == 0) return {0x34, 24, 8};
  return {0x38, static_cast<std::uint8_t>(8 * (axis - 1)), 8};
}
}  // namespace tensor_map

struct TensorMap {
  TensorType type = TensorType::u8;
  std::uint8_t rank = 1;
  std::uint8_t swizzle_shift = 0;  ///< 1, 2, 3: in rows of 32, 64, 128 bytes; 0: not at all
  bool fills_with_nan = false;
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
/// Nothing where the bytes describe no tensor whose boxes the model copies.
std::optional<TensorMap> read_tensor_map(const std::byte* bytes);
void write_tensor_map(const TensorMap& map, std::byte* bytes);

/// Rounds to the ten bits of fraction that a tensor core reads, as a box of such numbers has
/// it (measured): halves to the even one, all that are no numbers to one.
void round_to_tf32(std::byte* numbers, std::uint32_t bytes);

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
