// SPDX-License-Identifier: MIT
// tensormap.replace and tensormap.cp_fenceproxy. A field is changed by the loads and stores that
// ptxas 13.0 makes of it (tensor_map.h says where it lies): those of a whole word are one store,
// others a load, an insertion and a store. The copy of a map is a load of four bytes a lane and an
// atomic exchange, as there.
#include <fmt/format.h>

#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {

/// An access of a word a lane, at `more` bytes behind the place.
void Decoder::emit_plain(bool is_load, const Target& place, std::int64_t more, std::uint16_t row,
                         unsigned bytes) {
  SiteInfo info;
  info.kind = is_load ? AccessKind::load : AccessKind::store;
  info.space = place.space;
  info.width = info.alignment = info.row_bytes = static_cast<std::uint8_t>(bytes);
  const std::uint32_t site = add_site(info);
  const AccessCodes* const codes =
      is_load ? find_load(bytes, false, bytes) : find_store(bytes, bytes);
  emit(codes->of(place.is_wide, false),
       {.d = row, .a = place.row, .f = 1, .imm = place.offset + more, .extra = site});
}

void Decoder::replace_bits(const Target& map, const TensorMapField& field, std::uint16_t value) {
  if (field.bits == 32) return emit_plain(false, map, field.byte, value, 4);
  const std::uint16_t word = scratch(4);
  emit_plain(true, map, field.byte, word, 4);
  emit(Code::bfi_b32,
       {.d = word,
        .a = value,
        .b = word,
        .c = constant(field.shift, 4),
        .e = constant(field.bits, 4)},
       false);
  emit_plain(false, map, field.byte, word, 4);
}

std::uint16_t Decoder::one_less(const Operand& operand) {
  return computed_32(Code::sub_u32, source(operand, RowType::u32), constant(1, 4));
}

void Decoder::replace_stride(const Target& map, unsigned axis, const Operand& operand) {
  const auto shifted = [&](std::uint64_t by) {
    const std::uint16_t wide = scratch(8);
    emit(Code::shr_u64, {.d = wide, .a = source(operand, RowType::u64), .b = constant(by, 4)},
         false);
    return lower_half(wide);
  };
  replace_bits(map, tensor_map::stride(axis), shifted(4));
  replace_bits(map, tensor_map::stride_top(axis), shifted(36));
}

/// The operand `ord`.
unsigned Decoder::map_axis(unsigned count) const {
  const Operand& axis = instruction_->operands[1];
  if (axis.kind != Operand::Kind::integer || axis.bits >= count) {
    refuse(fmt::format("replaces a field of an axis that is none of 0 to {}", count - 1));
  }
  return static_cast<unsigned>(axis.bits);
}

/// The operand `new_val` of a field whose values are a table's.
std::uint64_t Decoder::number_of_table(unsigned count) const {
  const Operand& number = instruction_->operands[1];
  if (number.kind != Operand::Kind::integer || number.bits >= count) {
    refuse(
        fmt::format("replaces a field by a value that is none of 0 to {}, those that the model has",
                    count - 1));
  }
  return number.bits;
}

/// [map] {, axis}, value
void Decoder::decode_replace_field() {
  namespace field = tensor_map;
  const Opcode opcode = instruction_->opcode;
  const bool has_axis = opcode == Opcode::replace_box_dim || opcode == Opcode::replace_global_dim ||
                        opcode == Opcode::replace_global_stride ||
                        opcode == Opcode::replace_element_stride;
  expect_operands(has_axis ? 3 : 2, has_axis ? 3 : 2);
  const Target map = address(instruction_->operands[0], access_space());
  const Operand& value = instruction_->operands.back();
  const auto by_table = [&](const TensorMapField& which, unsigned count) {
    replace_bits(map, which, constant(number_of_table(count), 4));
  };
  switch (opcode) {
    case Opcode::replace_global_address:
      return emit_plain(false, map, 0, source(value, RowType::u64), 8);
    case Opcode::replace_rank:
      return replace_bits(map, field::rank, source(value, RowType::u32));
    case Opcode::replace_box_dim:
      return replace_bits(map, field::box(map_axis(most_tensor_axes)), one_less(value));
    case Opcode::replace_global_dim:
      return replace_bits(map, field::extent(map_axis(most_tensor_axes)), one_less(value));
    case Opcode::replace_global_stride:
      return replace_stride(map, map_axis(most_tensor_axes - 1), value);
    case Opcode::replace_element_stride:
      return replace_bits(map, field::step(map_axis(most_tensor_axes)), one_less(value));
    case Opcode::replace_elemtype:
      return by_table(field::type, tensor_type_numbers.size());
    case Opcode::replace_interleave_layout:
      return by_table(field::interleave, 1);
    case Opcode::replace_swizzle_mode:
      return by_table(field::swizzle, 4);
    case Opcode::replace_swizzle_atomicity:
      return by_table(field::atomicity, 1);
    default:
      return by_table(field::fill, 2);
  }
}

/// [to], [from], 128
void Decoder::decode_publish_map() {
  expect_operands(3, 3);
  const auto& operands = instruction_->operands;
  if (operands[2].kind != Operand::Kind::integer || operands[2].bits != tensor_map_bytes) {
    refuse("copies another number of bytes than 128");
  }
  const std::uint16_t own = computed_32(Code::shl_b32, special(Special::laneid), constant(2, 4));
  const auto of_lane = [&](Target place) {
    const std::uint16_t row = scratch(place.is_wide ? 8 : 4);
    std::uint16_t bytes = own;
    if (place.is_wide) {
      bytes = scratch(8);
      emit(Code::u64_from_u32, {.d = bytes, .a = own}, false);
    }
    emit(place.is_wide ? Code::add_u64 : Code::add_u32, {.d = row, .a = place.row, .b = bytes},
         false);
    place.row = row;
    return place;
  };
  const Target to = of_lane(address(operands[0], AddressSpace::global));
  const Target from = of_lane(address(operands[1], AddressSpace::shared));
  const std::uint16_t word = scratch(4);
  emit_plain(true, from, 0, word, 4);
  SiteInfo info;
  info.kind = AccessKind::atomic;
  info.space = AddressSpace::global;
  info.exchanges = true;
  note_order(info);
  const std::uint32_t site = add_site(info);
  const unsigned how = static_cast<unsigned>(AtomicKind::exchange) |
                       static_cast<unsigned>(AtomicType::u32) << atomic_type_shift |
                       (to.is_wide ? atomic_wide_address : 0u);
  emit(Code::atomic, {.d = no_operand,
                      .a = to.row,
                      .b = word,
                      .c = static_cast<std::uint16_t>(how),
                      .e = word,
                      .f = 1,
                      .imm = to.offset,
                      .extra = site});
}

}  // namespace warpmeter::model
