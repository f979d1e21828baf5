// SPDX-License-Identifier: MIT
#include "collector/model/machine/warp/tensor_map.h"

#include <cstring>

namespace warpmeter::model {
namespace {

/// The shared memory of a multiprocessor: no box is larger.
constexpr std::uint64_t most_box_bytes = 228 << 10;

std::uint64_t read(const std::byte* bytes, const TensorMapField& field) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes + field.byte, field.bits == 64 ? 8 : 4);
  return field.bits == 64 ? word : word >> field.shift & ((std::uint64_t{1} << field.bits) - 1);
}

void write(std::byte* bytes, const TensorMapField& field, std::uint64_t value) {
  std::uint64_t word = 0;
  const std::size_t size = field.bits == 64 ? 8 : 4;
  std::memcpy(&word, bytes + field.byte, size);
  word = field.bits == 64 ? value : word | value << field.shift;
  std::memcpy(bytes + field.byte, &word, size);
}

}  // namespace

std::optional<TensorMap> read_tensor_map(const std::byte* bytes) {
  namespace field = tensor_map;
  TensorMap map;
  map.address = read(bytes, field::address);
  map.rank = static_cast<std::uint8_t>(read(bytes, field::rank) + 1);
  map.swizzle_shift = static_cast<std::uint8_t>(read(bytes, field::swizzle));
  map.fills_with_nan = read(bytes, field::fill) != 0;
  const auto* const type =
      std::find(tensor_type_numbers.begin(), tensor_type_numbers.end(), read(bytes, field::type));
  if (type == tensor_type_numbers.end() || map.rank > most_tensor_axes) return std::nullopt;
  if (read(bytes, field::interleave) != 0 || read(bytes, field::atomicity) != 0) {
    return std::nullopt;
  }
  map.type = static_cast<TensorType>(type - tensor_type_numbers.begin());
  std::uint64_t bytes_of_box = map.element_bytes();
  for (unsigned axis = 0; axis < map.rank; ++axis) {
    map.extents[axis] = read(bytes, field::extent(axis)) + 1;
    map.box[axis] = static_cast<std::uint16_t>(read(bytes, field::box(axis)) + 1);
    map.steps[axis] = static_cast<std::uint8_t>(read(bytes, field::step(axis)) + 1);
    bytes_of_box *= map.count(axis);
    if (axis + 1 == map.rank) break;
    const std::uint64_t sixteenths =
        read(bytes, field::stride(axis)) | read(bytes, field::stride_top(axis)) << 32;
    map.strides[axis] = sixteenths * box_chunk;
  }
  const bool fits = map.swizzle_shift == 0 || map.row_bytes() <= map.pitch();
  const bool is_possible = map.row_bytes() % box_chunk == 0 && fits &&
                           bytes_of_box <= most_box_bytes && map.address % box_chunk == 0;
  return is_possible ? std::optional(map) : std::nullopt;
}

void write_tensor_map(const TensorMap& map, std::byte* bytes) {
  namespace field = tensor_map;
  std::memset(bytes, 0, tensor_map_bytes);
  write(bytes, field::address, map.address);
  write(bytes, field::rank, map.rank - 1u);
  write(bytes, field::type, tensor_type_numbers[static_cast<std::size_t>(map.type)]);
  write(bytes, field::swizzle, map.swizzle_shift);
  write(bytes, field::fill, map.fills_with_nan ? 1 : 0);
  for (unsigned axis = 0; axis < map.rank; ++axis) {
    write(bytes, field::extent(axis), map.extents[axis] - 1);
    write(bytes, field::box(axis), map.box[axis] - 1u);
    write(bytes, field::step(axis), map.steps[axis] - 1u);
    if (axis + 1 == map.rank) break;
    const std::uint64_t sixteenths = map.strides[axis] / box_chunk;
    write(bytes, field::stride(axis), sixteenths & 0xffffffff);
    write(bytes, field::stride_top(axis), sixteenths >> 32);
  }
}

void round_to_tf32(std::byte* numbers, std::uint32_t bytes) {
  constexpr std::uint32_t infinity = 0x7f800000, dropped = 0x1fff, no_number = 0x7fffffff;
  for (std::uint32_t i = 0; i + 4 <= bytes; i += 4) {
    std::uint32_t bits;
    std::memcpy(&bits, numbers + i, sizeof(bits));
    const std::uint32_t magnitude = bits & no_number;
    if (magnitude > infinity) bits = no_number;
    if (magnitude < infinity) bits += dropped / 2 + (bits >> 13 & 1);
    bits &= ~dropped;
    std::memcpy(numbers + i, &bits, sizeof(bits));
  }
}

}  // namespace warpmeter::model
