// SPDX-License-Identifier: MIT
// setp and set: comparisons into predicates, or into numbers that say yes or no.
#include <algorithm>
#include <optional>

#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {
namespace {

/// The value that `set` writes where the comparison holds; zero elsewhere.
struct Answer {
  Type type;
  unsigned bytes;
  std::uint64_t yes;
};
constexpr Answer answers[] = {
    {Type::u32, 4, 0xffffffff}, {Type::s32, 4, 0xffffffff}, {Type::f32, 4, 0x3f800000},
    {Type::u16, 2, 0xffff},     {Type::s16, 2, 0xffff},     {Type::f16, 2, 0x3c00},
    {Type::bf16, 2, 0x3f80},    {Type::f16x2, 2, 0x3c00},   {Type::bf16x2, 2, 0x3f80},
};

bool is_packed(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

/// The type of one of its numbers.
Type element_of(Type type) {
  if (type == Type::f16x2) return Type::f16;
  return type == Type::bf16x2 ? Type::bf16 : type;
}

}  // namespace

/// The instruction's comparison, for operands of a type; of a packed one, for its parts'.
Decoder::Test Decoder::test_of(Type type) {
  std::optional<Comparison> comparison;
  Test test;
  for (const Word word : instruction_->words) {
    if (!comparison) comparison = find_comparison(word, element_of(type));
  }
  if (has(Word::and_)) test.combine = Combine::bit_and;
  if (has(Word::or_)) test.combine = Combine::bit_or;
  if (has(Word::xor_)) test.combine = Combine::bit_xor;
  if (!comparison) refuse_form();
  test.comparison = *comparison;
  const std::size_t operands = test.combine == Combine::none ? 3 : 4;
  expect_operands(operands, operands);
  const RowType row = is_packed(type) ? RowType::u32 : comparison->type;
  const Code flush = !has(Word::ftz)                    ? Code::count
                     : comparison->type == RowType::f32 ? Code::flush_f32
                     : type == Type::f16                ? Code::flush_f16
                     : type == Type::f16x2              ? Code::flush_f16x2
                                                        : Code::count;
  for (std::size_t i = 0; i < 2; ++i) {
    test.rows[i] = source(instruction_->operands[i + 1], row);
    if (flush != Code::count) test.rows[i] = unary(flush, test.rows[i], bytes_of(row));
  }
  if (test.combine != Combine::none) test.other = predicate_source(instruction_->operands[3]);
  return test;
}

void Decoder::emit_test(const Test& test, std::uint16_t a, std::uint16_t b, std::uint16_t d,
                        std::uint16_t e, bool guarded) {
  emit(test.comparison.code,
       {.d = d,
        .a = test.comparison.swapped ? b : a,
        .b = test.comparison.swapped ? a : b,
        .c = static_cast<std::uint16_t>(test.combine),
        .e = e,
        .f = test.other},
       guarded);
}

/// Low and high half of a row of 32 bits, in rows of 16.
std::array<std::uint16_t, 2> Decoder::halves_of(std::uint16_t row) {
  const std::array<std::uint16_t, 2> parts = {scratch(2), scratch(2)};
  emit(Code::unpack_2x16, {.d = parts[0], .a = row, .b = parts[1]}, false);
  return parts;
}

void Decoder::decode_setp() {
  if (instruction_->operands.empty()) refuse("has no operands");
  const Type type = instruction_->last_type();
  const Operand& to = instruction_->operands[0];
  const Test test = test_of(type);
  const bool two = to.kind == Operand::Kind::pair;
  const std::uint16_t d = predicate_destination(two ? to.parts[0] : to);
  if (!is_packed(type)) {
    const std::uint16_t e = two ? predicate_destination(to.parts[1]) : no_operand;
    return emit_test(test, test.rows[0], test.rows[1], d, e, true);
  }
  // The second predicate of a pair is the upper halves'.
  if (!two) refuse("writes one predicate where it takes two");
  const std::uint16_t e = predicate_destination(to.parts[1]);
  const auto a = halves_of(test.rows[0]), b = halves_of(test.rows[1]);
  const std::uint16_t low = scratch_predicate(), high = scratch_predicate();
  emit_test(test, a[0], b[0], low, no_operand, false);
  emit_test(test, a[1], b[1], high, no_operand, false);
  const auto move = [&](std::uint16_t to_predicate, std::uint16_t from) {
    emit(Code::mov_pred, {.d = to_predicate, .a = static_cast<std::uint16_t>(2 * from)});
  };
  // The guard is written last, when it is one of the two.
  const bool guards_itself = guard_ != no_guard && guard_ / 2 == d;
  if (guards_itself) move(e, high);
  move(d, low);
  if (!guards_itself) move(e, high);
}

/// set.CmpOp.dtype.stype: all ones or 1.0 where the comparison holds.
void Decoder::decode_set() {
  if (instruction_->operands.empty()) refuse("has no operands");
  const Type type = instruction_->last_type(), result = instruction_->first_type();
  const auto* answer = std::find_if(std::begin(answers), std::end(answers),
                                    [&](const Answer& known) { return known.type == result; });
  if (answer == std::end(answers)) refuse_form();
  const Test test = test_of(type);
  const auto yes_scratch = scratch_predicate();
  const auto choose = [&](std::uint16_t d, unsigned bytes, std::uint64_t value, bool guarded) {
    const std::uint16_t yes = constant(value, bytes), no = constant(0, bytes);
    emit(bytes == 2 ? Code::selp_b16 : Code::selp_b32,
         {.d = d, .a = yes, .b = no, .c = static_cast<std::uint16_t>(2 * yes_scratch)}, guarded);
  };
  if (!is_packed(type)) {
    if (is_packed(result)) refuse_form();
    const std::uint16_t d =
        destination(instruction_->operands[0], answer->bytes == 2 ? RowType::u16 : RowType::u32);
    emit_test(test, test.rows[0], test.rows[1], yes_scratch, no_operand, false);
    return choose(d, answer->bytes, answer->yes, true);
  }
  if (!is_packed(result) && answer->bytes != 4) refuse_form();
  const auto a = halves_of(test.rows[0]), b = halves_of(test.rows[1]);
  const std::array<std::uint16_t, 2> parts = {scratch(2), scratch(2)};
  for (std::size_t i = 0; i < 2; ++i) {
    emit_test(test, a[i], b[i], yes_scratch, no_operand, false);
    choose(parts[i], 2, is_packed(result) ? answer->yes : 0xffff, false);
  }
  const std::uint16_t d = destination(instruction_->operands[0], RowType::u32);
  emit(Code::pack_2x16, {.d = d, .a = parts[0], .b = parts[1]});
}

}  // namespace warpmeter::model
