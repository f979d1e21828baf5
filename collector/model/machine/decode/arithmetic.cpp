// SPDX-License-Identifier: MIT
// Instructions that compute values: those of the table, moves, selections, comparisons, predicates,
// and lanes talking to each other.
#include <fmt/format.h>

#include <algorithm>

#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {
namespace {

struct Clock {
  ptx::Special name;
  Code code;
  unsigned bytes;
  bool is_time = false;  ///< for the world
  unsigned shift = 0;
};
constexpr Clock clocks[] = {
    {ptx::Special::clock, Code::clock_32, 4},
    {ptx::Special::clock64, Code::clock_64, 8},
    {ptx::Special::clock_hi, Code::clock_32, 4, false, 32},
    {ptx::Special::globaltimer, Code::clock_64, 8, true},
    {ptx::Special::globaltimer_lo, Code::clock_32, 4, true},
    {ptx::Special::globaltimer_hi, Code::clock_32, 4, true, 32},
};

/// The type that a move or selection of this PTX type takes: only its size matters.
std::optional<RowType> plain_type(Type type) {
  const unsigned bits = ptx::info_of(type).bits;
  if (bits == 16) return RowType::u16;
  if (bits == 32) return RowType::u32;
  if (bits == 64) return RowType::u64;
  return std::nullopt;
}

}  // namespace

/// and, or, xor and not of predicates; those of numbers are in the table.
void Decoder::decode_logic() {
  if (instruction_->words.size() != 1 || !has(Word::pred)) return decode_value();
  const bool negates = instruction_->is(Opcode::not_);
  const Code code = instruction_->is(Opcode::and_)  ? Code::and_pred
                    : instruction_->is(Opcode::or_) ? Code::or_pred
                    : negates                       ? Code::mov_pred
                                                    : Code::xor_pred;
  const std::size_t operands = code == Code::mov_pred ? 2 : 3;
  expect_operands(operands, operands);
  const std::uint16_t a = predicate_source(instruction_->operands[1]);
  const std::uint16_t b = operands == 3 ? predicate_source(instruction_->operands[2]) : 0;
  emit(code, {.d = predicate_destination(instruction_->operands[0]),
              .a = static_cast<std::uint16_t>(negates ? a ^ 1 : a),
              .b = b});
}

void Decoder::decode_mov() {
  expect_operands(2, 2);
  const Operand& to = instruction_->operands[0];
  const Operand& from = instruction_->operands[1];
  if (has(Word::pred)) {
    if (from.kind == Operand::Kind::integer) {
      const std::uint16_t zero = constant(0, 4), value = constant(from.bits, 4);
      emit(Code::ne_u32, {.d = predicate_destination(to), .a = value, .b = zero});
      return;
    }
    if (from.special == ptx::Special::is_explicit_cluster) {
      const std::uint16_t zero = constant(0, 4), value = special(Special::is_explicit_cluster);
      emit(Code::ne_u32, {.d = predicate_destination(to), .a = value, .b = zero});
      return;
    }
    const std::uint16_t value = predicate_source(from);
    emit(Code::mov_pred, {.d = predicate_destination(to), .a = value});
    return;
  }
  if (to.kind == Operand::Kind::vector) return decode_pack(from, to, false);
  if (from.kind == Operand::Kind::vector) return decode_pack(to, from, true);
  if (has(Word::b128)) {
    for (unsigned i = 0; i < 2; ++i) {
      move_row(static_cast<std::uint16_t>(quad_row(to) + 4 * i),
               static_cast<std::uint16_t>(quad_row(from) + 4 * i), 8, true);
    }
    return;
  }
  if (from.special == ptx::Special::current_graph_exec) {
    return emit_device_call({*device_function("cudaGetCurrentGraphExec"), {}},
                            destination(to, RowType::u64));
  }
  for (const Clock& clock : clocks) {
    if (from.special != clock.name) continue;
    const std::uint16_t row = destination(to, clock.bytes == 4 ? RowType::u32 : RowType::u64);
    emit(clock.code, {.d = row, .imm = clock.is_time ? 1 : 0, .extra = clock.shift});
    return;
  }
  decode_value();
}

/// mov between a number and its parts: {low, high} of 32 or 64 bits.
void Decoder::decode_pack(const Operand& whole, const Operand& parts, bool packs) {
  const std::optional<RowType> type = plain_type(instruction_->last_type());
  const std::size_t count = parts.parts.size();
  if (has(Word::b128) && count == 2) {
    for (unsigned i = 0; i < 2; ++i) {
      const auto own = static_cast<std::uint16_t>(quad_row(whole) + 4 * i);
      const std::uint16_t part =
          packs ? source(parts.parts[i], RowType::u64) : destination(parts.parts[i], RowType::u64);
      move_row(packs ? own : part, packs ? part : own, 8, true);
    }
    return;
  }
  if ((type == RowType::u16 && count == 2) || (type == RowType::u32 && count == 4)) {
    return packs ? pack_bytes(whole, parts) : unpack_bytes(whole, parts);
  }
  Code code = Code::count;
  RowType part_type = RowType::u16;
  if (type == RowType::u32 && count == 2) {
    code = packs ? Code::pack_2x16 : Code::unpack_2x16;
  } else if (type == RowType::u64 && count == 4) {
    code = packs ? Code::pack_4x16 : Code::unpack_4x16;
  } else if (type == RowType::u64 && count == 2) {
    code = packs ? Code::pack_2x32 : Code::unpack_2x32;
    part_type = RowType::u32;
  } else {
    refuse("moves a vector of a form that the model does not have");
  }
  std::array<std::uint16_t, 4> rows{};
  for (std::size_t i = 0; i < count; ++i) {
    rows[i] = packs ? source(parts.parts[i], part_type) : destination(parts.parts[i], part_type);
  }
  if (packs) {
    const std::uint16_t row = destination(whole, *type);
    emit(code, {.d = row, .a = rows[0], .b = rows[1], .c = rows[2], .e = rows[3]});
  } else {
    const std::uint16_t row = source(whole, *type);
    emit(code, {.d = rows[0], .a = row, .b = rows[1], .c = rows[2], .e = rows[3]});
  }
}

/// {byte, byte} to 16 bits, or four to 32.
void Decoder::pack_bytes(const Operand& whole, const Operand& parts) {
  const std::size_t count = parts.parts.size();
  std::array<std::uint16_t, 2> pairs{};
  for (std::size_t i = 0; i < count; i += 2) {
    const std::uint16_t low = source(parts.parts[i], RowType::u16);
    const std::uint16_t high = source(parts.parts[i + 1], RowType::u16);
    const std::uint16_t d = count == 2 ? destination(whole, RowType::u16) : scratch(2);
    emit(Code::pack_bytes, {.d = d, .a = low, .b = high}, count == 2);
    pairs[i / 2] = d;
  }
  if (count == 2) return;
  const std::uint16_t d = destination(whole, RowType::u32);
  emit(Code::pack_2x16, {.d = d, .a = pairs[0], .b = pairs[1]});
}

void Decoder::unpack_bytes(const Operand& whole, const Operand& parts) {
  const std::size_t count = parts.parts.size();
  std::array<std::uint16_t, 2> pairs{};
  if (count == 2) {
    pairs[0] = source(whole, RowType::u16);
  } else {
    pairs = halves_of(source(whole, RowType::u32));
  }
  const std::uint16_t low_bits = constant(255, 2);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t d = destination(parts.parts[i], RowType::u16);
    const bool is_low = i % 2 == 0;
    emit(is_low ? Code::and_b16 : Code::high_byte,
         {.d = d, .a = pairs[i / 2], .b = is_low ? low_bits : std::uint16_t{0}});
  }
}

void Decoder::decode_selp() {
  expect_operands(4, 4);
  const std::optional<RowType> type = plain_type(instruction_->last_type());
  if (!type) refuse_form();
  // The type decides how a literal is read: selp.f32 takes 0f…, or a decimal.
  const RowType literal = has(Word::f32) ? RowType::f32 : has(Word::f64) ? RowType::f64 : *type;
  const std::uint16_t a = source(instruction_->operands[1], literal);
  const std::uint16_t b = source(instruction_->operands[2], literal);
  const std::uint16_t chosen = predicate_source(instruction_->operands[3]);
  const std::uint16_t d = destination(instruction_->operands[0], *type);
  const Code code = bytes_of(*type) == 2   ? Code::selp_b16
                    : bytes_of(*type) == 4 ? Code::selp_b32
                                           : Code::selp_b64;
  emit(code, {.d = d, .a = a, .b = b, .c = chosen});
}

void Decoder::decode_bfi() {
  expect_operands(5, 5);
  const bool is_wide = has(Word::b64);
  const RowType type = is_wide ? RowType::u64 : RowType::u32;
  const std::uint16_t field = source(instruction_->operands[1], type);
  const std::uint16_t into = source(instruction_->operands[2], type);
  const std::uint16_t position = source(instruction_->operands[3], RowType::u32);
  const std::uint16_t length = source(instruction_->operands[4], RowType::u32);
  const std::uint16_t d = destination(instruction_->operands[0], type);
  emit(is_wide ? Code::bfi_b64 : Code::bfi_b32,
       {.d = d, .a = field, .b = into, .c = position, .e = length});
}

/// lop3.or and lop3.and also say whether the result is not 0, or and and another predicate.
void Decoder::decode_lop3() {
  const bool tests = has(Word::or_) || has(Word::and_);
  expect_operands(tests ? 6 : 5, tests ? 6 : 5);
  if (instruction_->operands[4].kind != Operand::Kind::integer) {
    refuse("has a table that is no number");
  }
  const Operand& to = instruction_->operands[0];
  if (tests && to.kind != Operand::Kind::pair) refuse("has no predicate to write to");
  const std::uint16_t a = source(instruction_->operands[1], RowType::u32);
  const std::uint16_t b = source(instruction_->operands[2], RowType::u32);
  const std::uint16_t c = source(instruction_->operands[3], RowType::u32);
  const bool is_kept = !tests || to.parts[0].name != "_";
  const std::uint16_t d =
      is_kept ? destination(tests ? to.parts[0] : to, RowType::u32) : scratch(4);
  emit(Code::lop3, {.d = d,
                    .a = a,
                    .b = b,
                    .c = c,
                    .imm = static_cast<std::int64_t>(instruction_->operands[4].bits & 255)});
  if (!tests) return;
  Test test;
  test.comparison.code = Code::ne_u32;
  test.combine = has(Word::or_) ? Combine::bit_or : Combine::bit_and;
  test.other = predicate_source(instruction_->operands[5]);
  emit_test(test, d, constant(0, 4), predicate_destination(to.parts[1]), no_operand, true);
}

void Decoder::decode_activemask() {
  expect_operands(1, 1);
  const std::uint16_t d = destination(instruction_->operands[0], RowType::u32);
  emit(Code::activemask).d = d;
}

void Decoder::decode_elect() {
  expect_operands(2, 2);
  const Operand& to = instruction_->operands[0];
  if (to.kind != Operand::Kind::pair) refuse("has no predicate to write to");
  const std::uint16_t asked = source(instruction_->operands[1], RowType::u32);
  const std::uint16_t d = destination(to.parts[0], RowType::u32);
  const std::uint16_t e = predicate_destination(to.parts[1]);
  emit(Code::elect, {.d = d, .b = asked, .e = e});
}

void Decoder::decode_shfl() {
  expect_operands(4, 5);  // without .sync there is no member mask
  const Code code = has(Word::up)     ? Code::shfl_up
                    : has(Word::down) ? Code::shfl_down
                    : has(Word::bfly) ? Code::shfl_bfly
                                      : Code::shfl_idx;
  const Operand& to = instruction_->operands[0];
  const bool two = to.kind == Operand::Kind::pair;
  const std::uint16_t a = source(instruction_->operands[1], RowType::u32);
  const std::uint16_t b = source(instruction_->operands[2], RowType::u32);
  const std::uint16_t c = source(instruction_->operands[3], RowType::u32);
  const std::uint16_t d = destination(two ? to.parts[0] : to, RowType::u32);
  const std::uint16_t e = two ? predicate_destination(to.parts[1]) : no_operand;
  // Without .sync nobody is waited for.
  const std::uint16_t members =
      has(Word::sync) ? source(instruction_->operands.back(), RowType::u32) : constant(0, 4);
  emit(code, {.d = d, .a = a, .b = b, .c = c, .e = e, .f = members});
}

void Decoder::decode_vote() {
  expect_operands(2, 3);
  const Code code = has(Word::all)   ? Code::vote_all
                    : has(Word::any) ? Code::vote_any
                    : has(Word::uni) ? Code::vote_uni
                                     : Code::vote_ballot;
  const auto& operands = instruction_->operands;
  const std::uint16_t a = predicate_source(operands[1]);
  const std::uint16_t members =
      operands.size() == 3 ? source(operands[2], RowType::u32) : constant(0, 4);
  const std::uint16_t d = code == Code::vote_ballot ? destination(operands[0], RowType::u32)
                                                    : predicate_destination(operands[0]);
  emit(code, {.d = d, .a = a, .b = members});
}

void Decoder::decode_match() {
  expect_operands(3, 3);
  const bool is_wide = has(Word::b64), is_all = has(Word::all);
  const Operand& to = instruction_->operands[0];
  const bool two = to.kind == Operand::Kind::pair;
  const std::uint16_t a = source(instruction_->operands[1], is_wide ? RowType::u64 : RowType::u32);
  const std::uint16_t members = source(instruction_->operands[2], RowType::u32);
  const std::uint16_t d = destination(two ? to.parts[0] : to, RowType::u32);
  const std::uint16_t e = two ? predicate_destination(to.parts[1]) : no_operand;
  const Code code = is_all ? (is_wide ? Code::match_all_b64 : Code::match_all_b32)
                           : (is_wide ? Code::match_any_b64 : Code::match_any_b32);
  emit(code, {.d = d, .a = a, .b = members, .e = e});
}

void Decoder::decode_redux() {
  expect_operands(3, 3);
  const bool is_signed = has(Word::s32);
  const Code code = has(Word::add)    ? Code::redux_add
                    : has(Word::min)  ? (is_signed ? Code::redux_min_s32 : Code::redux_min_u32)
                    : has(Word::max)  ? (is_signed ? Code::redux_max_s32 : Code::redux_max_u32)
                    : has(Word::and_) ? Code::redux_and
                    : has(Word::or_)  ? Code::redux_or
                                      : Code::redux_xor;
  const std::uint16_t a = source(instruction_->operands[1], RowType::u32);
  const std::uint16_t members = source(instruction_->operands[2], RowType::u32);
  const std::uint16_t d = destination(instruction_->operands[0], RowType::u32);
  emit(code, {.d = d, .a = a, .b = members});
}

}  // namespace warpmeter::model
