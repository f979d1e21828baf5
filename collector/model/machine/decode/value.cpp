// SPDX-License-Identifier: MIT
// Instructions of the table of values: what surrounds their operations, and sums that ptxas makes
// of a product and a sum (ptx/contraction.h).
#include <algorithm>

#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {
namespace {

/// The meaning of `.ftz`, `.sat` and `.relu` for a type; count: nothing.
struct FloatWrapping {
  Type type;
  unsigned bytes;
  Code flush, saturate, lift;
};
constexpr FloatWrapping float_wrappings[] = {
    {Type::f32, 4, Code::flush_f32, Code::saturate_f32, Code::count},
    {Type::f64, 8, Code::count, Code::saturate_f64, Code::count},
    {Type::f16, 2, Code::flush_f16, Code::saturate_f16, Code::relu_f16},
    {Type::f16x2, 4, Code::flush_f16x2, Code::saturate_f16x2, Code::relu_f16x2},
    {Type::bf16, 2, Code::count, Code::saturate_bf16, Code::relu_bf16},
    {Type::bf16x2, 4, Code::count, Code::saturate_bf16x2, Code::relu_bf16x2},
    {Type::f32x2, 8, Code::flush_f32x2, Code::count, Code::count},
    {Type::s16x2, 4, Code::count, Code::count, Code::relu_s16x2},
    {Type::s32, 4, Code::count, Code::count, Code::relu_s32},
};

/// Operands of another type than the instruction's last are none of `.ftz`'s business.
bool is_flushed(const FloatWrapping& wrapping, RowType type) {
  return wrapping.type == Type::f32 ? type == RowType::f32
                                    : type != RowType::none && bytes_of(type) == wrapping.bytes;
}

const FloatWrapping* wrapping_of(Type type) {
  const auto* const known =
      std::find_if(std::begin(float_wrappings), std::end(float_wrappings),
                   [&](const FloatWrapping& candidate) { return candidate.type == type; });
  return known == std::end(float_wrappings) ? nullptr : known;
}

}  // namespace

void Decoder::decode_value() {
  if (instruction_->is_taken_in) {
    emit(Code::nothing);
  } else if (instruction_->contraction != ptx::Contraction::none) {
    decode_contraction();
  } else if (!find_and_emit_value()) {
    refuse_form();
  }
}

/// An instruction of the table. `.ftz` flushes every float source and the result; `.sat` clamps the
/// result, `.relu` lifts it to zero; they are operations of their own around the instruction's.
/// False: the table has none.
bool Decoder::find_and_emit_value() {
  const ptx::Instruction& instruction = *instruction_;
  const bool is_extreme = instruction.is(Opcode::min) || instruction.is(Opcode::max);
  const auto find = [&](ptx::Words words) {
    if (is_extreme && instruction.operands.size() == 4) words.add(Word::three);
    return find_value_operation(instruction.opcode, words);
  };
  const ValueOperation* operation = find(instruction.words);
  bool flushes = false, saturates = false, lifts = false;
  const FloatWrapping* wrapping = nullptr;
  if (operation == nullptr) {
    flushes = has(Word::ftz), saturates = has(Word::sat), lifts = has(Word::relu);
    ptx::Words plain;
    for (const Word word : instruction.words) {
      if (word != Word::ftz && word != Word::sat && word != Word::relu) plain.add(word);
    }
    operation = find(plain);
    if (operation == nullptr) return false;
    wrapping = wrapping_of(ptx::type_of(plain.back()));
    if (wrapping == nullptr) return false;
    if ((flushes && wrapping->flush == Code::count) ||
        (saturates && wrapping->saturate == Code::count) ||
        (lifts && wrapping->lift == Code::count)) {
      return false;
    }
  }
  expect_operands(operation->source_count + 1, operation->source_count + 1);
  std::array<std::uint16_t, 3> rows{};
  for (unsigned i = 0; i < operation->source_count; ++i) {
    const RowType type = operation->sources[i];
    rows[i] = source(instruction.operands[i + 1], type);
    if (flushes && is_flushed(*wrapping, type)) {
      // The sign of a NaN counts, which the other flush takes away.
      const bool keeps_nan = has(Word::xorsign) && wrapping->flush == Code::flush_f32;
      rows[i] =
          unary(keeps_nan ? Code::flush_f64_result : wrapping->flush, rows[i], wrapping->bytes);
    }
  }
  std::array<Code, 3> last{};
  std::size_t last_count = 0;
  if (flushes && is_flushed(*wrapping, operation->destination))
    last[last_count++] = wrapping->flush;
  if (saturates) last[last_count++] = wrapping->saturate;
  if (lifts) last[last_count++] = wrapping->lift;
  emit_value(operation->code, operation->destination, rows, {last.data(), last_count});
  return true;
}

/// The operation, and those of its result that follow.
void Decoder::emit_value(Code code, RowType type, const std::array<std::uint16_t, 3>& rows,
                         std::span<const Code> last) {
  const Operand& to = instruction_->operands.front();
  const unsigned bytes = bytes_of(type);
  const std::uint16_t target =
      type == RowType::none ? predicate_destination(to) : destination(to, type);
  std::uint16_t result = last.empty() ? target : scratch(bytes);
  emit(code, {.d = result, .a = rows[0], .b = rows[1], .c = rows[2]}, last.empty());
  for (std::size_t i = 0; i < last.size(); ++i) {
    if (i + 1 < last.size()) {
      result = unary(last[i], result, bytes);
      continue;
    }
    emit(last[i], {.d = target, .a = result});
  }
}

/// A sum that takes in a product: fma, or what is like it of a quotient.
void Decoder::decode_contraction() {
  const Type type = instruction_->last_type();
  const Word name = instruction_->words.back();
  const auto find = [](Opcode opcode, std::initializer_list<Word> words) {
    ptx::Words all;
    for (const Word word : words) all.add(word);
    return find_value_operation(opcode, all);
  };
  const ValueOperation* fused = find(Opcode::fma, {Word::rn, name});
  const ValueOperation* negation = find(Opcode::neg, {name});
  const FloatWrapping* wrapping = wrapping_of(type);
  if (fused == nullptr || negation == nullptr || wrapping == nullptr) refuse_form();
  const bool flushes = has(Word::ftz), is_quotient = instruction_->product != ptx::Product::mul;
  if (flushes && wrapping->flush == Code::count) refuse_form();
  std::array<std::uint16_t, 3> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = source(instruction_->operands[i + 1], fused->sources[i]);
    if (flushes) rows[i] = unary(wrapping->flush, rows[i], wrapping->bytes);
  }
  if (instruction_->contraction != ptx::Contraction::adds) {
    std::uint16_t& negated = rows[instruction_->contraction == ptx::Contraction::subtracts ? 2 : 0];
    negated = unary(negation->code, negated, wrapping->bytes);
  }
  Code code = fused->code;
  if (is_quotient) {
    const bool is_full = instruction_->product == ptx::Product::div_full;
    code = flushes ? (is_full ? Code::div_full_ftz_add_f32 : Code::div_approx_ftz_add_f32)
                   : (is_full ? Code::div_full_add_f32 : Code::div_approx_add_f32);
  }
  std::array<Code, 2> last{};
  std::size_t last_count = 0;
  if (flushes) last[last_count++] = wrapping->flush;
  if (has(Word::sat)) last[last_count++] = wrapping->saturate;
  emit_value(code, fused->destination, rows, {last.data(), last_count});
}

}  // namespace warpmeter::model
