// SPDX-License-Identifier: MIT
// atom and red.
#include <algorithm>
#include <iterator>

#include "collector/model/machine/access.h"
#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {
namespace {

struct AtomicName {
  Word word;
  AtomicKind kind;
};
constexpr AtomicName atomic_names[] = {
    {Word::add, AtomicKind::add},       {Word::min, AtomicKind::minimum},
    {Word::max, AtomicKind::maximum},   {Word::and_, AtomicKind::bit_and},
    {Word::or_, AtomicKind::bit_or},    {Word::xor_, AtomicKind::bit_xor},
    {Word::exch, AtomicKind::exchange}, {Word::cas, AtomicKind::compare_and_swap},
    {Word::inc, AtomicKind::increment}, {Word::dec, AtomicKind::decrement},
};
struct AtomicOperand {
  Type name;
  AtomicType type;
  RowType row;
};
constexpr AtomicOperand atomic_operands[] = {
    {Type::u32, AtomicType::u32, RowType::u32},
    {Type::b32, AtomicType::u32, RowType::u32},
    {Type::s32, AtomicType::s32, RowType::s32},
    {Type::u64, AtomicType::u64, RowType::u64},
    {Type::b64, AtomicType::u64, RowType::u64},
    {Type::s64, AtomicType::s64, RowType::s64},
    {Type::f32, AtomicType::f32, RowType::f32},
    {Type::f64, AtomicType::f64, RowType::f64},
    {Type::f16, AtomicType::f16, RowType::u16},
    {Type::bf16, AtomicType::bf16, RowType::u16},
    {Type::f16x2, AtomicType::f16x2, RowType::u32},
    {Type::bf16x2, AtomicType::bf16x2, RowType::u32},
    {Type::b16, AtomicType::b16, RowType::u16},
    {Type::b128, AtomicType::b128, RowType::u64},
};

bool is_narrow_float(AtomicType type) {
  return type == AtomicType::f16 || type == AtomicType::bf16 || type == AtomicType::f16x2 ||
         type == AtomicType::bf16x2;
}

/// True if the machine has the operation on the type; more than PTX allows does no harm.
bool is_possible(AtomicKind kind, AtomicType type, unsigned parts) {
  if (kind == AtomicKind::exchange) return !is_narrow_float(type);
  if (kind == AtomicKind::compare_and_swap) {
    return parts == 1 && !is_narrow_float(type) && type != AtomicType::f32 &&
           type != AtomicType::f64;
  }
  if (type == AtomicType::b16 || type == AtomicType::b128) return false;
  if (type == AtomicType::f32 || type == AtomicType::f64) return kind == AtomicKind::add;
  if (!is_narrow_float(type)) return true;
  return kind == AtomicKind::add || kind == AtomicKind::minimum || kind == AtomicKind::maximum;
}

}  // namespace

/// The operand's numbers in rows that follow each other: its own row where it is one number.
std::uint16_t Decoder::atomic_operand(const Operand& operand, RowType type, unsigned parts,
                                      bool is_quad) {
  if (is_quad) return quad_row(operand);
  if (parts == 1) return source(operand, type);
  if (operand.kind != Operand::Kind::vector || operand.parts.size() != parts) {
    refuse("has another number of registers than it says");
  }
  const unsigned bytes = bytes_of(type), units = bytes * 32 / row_unit_bytes;
  const std::uint16_t rows = scratch_rows(bytes, parts);
  for (unsigned i = 0; i < parts; ++i) {
    move_row(static_cast<std::uint16_t>(rows + i * units), source(operand.parts[i], type), bytes,
             false);
  }
  return rows;
}

AtomicKind Decoder::atomic_kind() const {
  const auto* const kind = std::find_if(std::begin(atomic_names), std::end(atomic_names),
                                        [&](const AtomicName& known) { return has(known.word); });
  if (kind == std::end(atomic_names)) refuse_form();
  return kind->kind;
}

Decoder::AtomicForm Decoder::atomic_form() const {
  const AtomicKind kind = atomic_kind();
  const auto* const type = std::find_if(
      std::begin(atomic_operands), std::end(atomic_operands),
      [&](const AtomicOperand& known) { return known.name == instruction_->last_type(); });
  if (type == std::end(atomic_operands)) refuse_form();
  if (!is_possible(kind, type->type, instruction_->parts)) refuse_form();
  return {kind, type->type, type->row};
}

void Decoder::decode_atomic(bool returns) {
  const AtomicForm form = atomic_form();
  const unsigned parts = instruction_->parts;
  const bool is_quad = form.type == AtomicType::b128;
  const std::size_t first = returns ? 1 : 0;
  const std::size_t sources = form.kind == AtomicKind::compare_and_swap ? 2 : 1;
  const std::size_t operands =
      first + 1 + sources + (has(Word::L2_cache_hint) ? 1 : 0) + (has(Word::counts_bytes) ? 1 : 0);
  expect_operands(operands, operands);
  const Target target = address(instruction_->operands[first], access_space());
  if (target.space != AddressSpace::shared) program_.blocks_communicate = true;

  SiteInfo info;
  info.kind = returns ? AccessKind::atomic : AccessKind::reduction;
  info.space = target.space;
  info.width = static_cast<std::uint8_t>(is_quad ? 16 : bytes_of(form.row) * parts);
  info.alignment = info.width;
  note_order(info);
  info.exchanges = form.kind == AtomicKind::exchange;
  info.is_float =
      form.row == RowType::f32 || form.row == RowType::f64 || is_narrow_float(form.type);
  const Operand& value = instruction_->operands[first + 1];
  const std::uint16_t b = atomic_operand(value, form.row, parts, is_quad);
  const std::uint16_t e =
      sources == 2 ? atomic_operand(instruction_->operands[first + 2], form.row, 1, is_quad) : b;
  const unsigned bytes = bytes_of(form.row), units = bytes * 32 / row_unit_bytes;
  std::vector<std::uint16_t> results;
  std::uint16_t d = no_operand;
  if (returns) {
    const Operand& to = instruction_->operands[0];
    if (parts == 1) {
      d = is_quad ? quad_row(to) : destination(to, form.row);
    } else {
      if (to.parts.size() != parts) refuse("has another number of registers than it says");
      d = scratch_rows(bytes, parts);
      for (const Operand& part : to.parts) results.push_back(destination(part, form.row));
    }
  }
  const std::uint32_t site = add_site(info);
  const unsigned how = form.code() | (target.is_wide ? atomic_wide_address : 0u);
  emit(Code::atomic, {.d = d,
                      .a = target.row,
                      .b = b,
                      .c = static_cast<std::uint16_t>(how),
                      .e = e,
                      .f = static_cast<std::uint16_t>(parts),
                      .imm = target.offset,
                      .extra = site});
  for (unsigned i = 0; i < results.size(); ++i) {
    move_row(results[i], static_cast<std::uint16_t>(d + i * units), bytes, true);
  }
}

}  // namespace warpmeter::model
