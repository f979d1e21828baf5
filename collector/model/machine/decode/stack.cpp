// SPDX-License-Identifier: MIT
// The stack of alloca: a piece of each thread's local memory behind everything else in it, of which
// a row says how much is in use. A function gives back its stack when it returns.
#include <fmt/format.h>

#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {

/// alloca: what was taken so far and a piece more.
void Decoder::decode_stack_take() {
  const bool is_wide = has(Word::u64);
  const auto& operands = instruction_->operands;
  expect_operands(2, 3);
  std::uint64_t alignment = 8;
  if (operands.size() > 2) alignment = immediate(operands[2], RowType::u32);
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) refuse("aligns to no power of two");
  const RowType type = is_wide ? RowType::u64 : RowType::u32;
  const std::uint16_t bytes = resized(source(operands[1], type), is_wide ? 8 : 4, false, 8);
  const std::uint16_t address = scratch(8);
  combine(Code::add_u64, address, stack_base_row(), stack_used_row());
  combine(Code::add_u64, address, address, constant(alignment - 1, 8));
  combine(Code::and_b64, address, address, constant(~(alignment - 1), 8));
  move_to(operands[0], address, is_wide);
  combine(Code::add_u64, address, address, bytes);
  combine(Code::sub_u64, stack_used_row(), address, stack_base_row(), true);
}

void Decoder::decode_stack_save() {
  expect_operands(1, 1);
  const std::uint16_t address = scratch(8);
  combine(Code::add_u64, address, stack_base_row(), stack_used_row());
  move_to(instruction_->operands[0], address, has(Word::u64));
}

void Decoder::decode_stack_restore() {
  expect_operands(1, 1);
  const bool is_wide = has(Word::u64);
  const RowType type = is_wide ? RowType::u64 : RowType::u32;
  const std::uint16_t row = source(instruction_->operands[0], type);
  const std::uint16_t address = resized(row, is_wide ? 8 : 4, false, 8);
  combine(Code::sub_u64, stack_used_row(), address, stack_base_row(), true);
}

void Decoder::combine(Code code, std::uint16_t d, std::uint16_t a, std::uint16_t b, bool guarded) {
  emit(code, {.d = d, .a = a, .b = b}, guarded);
}

void Decoder::move_to(const Operand& to, std::uint16_t address, bool is_wide) {
  const std::uint16_t row = destination(to, is_wide ? RowType::u64 : RowType::u32);
  move_row(row, is_wide ? address : resized(address, 8, false, 4), is_wide ? 8 : 4, true);
}

std::uint16_t Decoder::stack_base_row() {
  if (!stack_base_) stack_base_ = allocate_row(8);
  return *stack_base_;
}

/// A row that starts at zero.
std::uint16_t Decoder::stack_used_row() {
  if (!stack_used_) {
    stack_used_ = allocate_row(8);
    program_.registers.push_back({*stack_used_, 4});
  }
  return *stack_used_;
}

/// Behind all other local memory, once its size is known.
void Decoder::place_stack() {
  if (!stack_base_) return;
  program_.constants.push_back({*stack_base_, 8, program_.local_bytes});
  program_.local_bytes += most_taken_bytes;
  program_.takes_stack = true;
}

/// Decodes a call so that what its function takes is given back.
void Decoder::decode_call() {
  if (!module_.takes_stack) return decode_plain_call();
  Root& root = *instance_->root;
  std::uint32_t& used = root.is_entry ? program_.local_bytes : root.frame_bytes;
  const std::uint32_t at = (used + 7) / 8 * 8;
  used = at + 8;
  const auto [base, offset] = local_place({AddressSpace::local, at, !root.is_entry, 8});
  emit_local(false, base, true, offset, stack_used_row(), 8, false);
  decode_plain_call();
  emit_local(true, base, true, offset, stack_used_row(), 8, false);
}

}  // namespace warpmeter::model
