// cvt: any type to any type, as a chain of at most a few operations.
//
// A register may be wider than the type it is read or written as, types of 8 bits live in 16-bit
// rows, and an integer wider than its target is cut. So: bring the source to a row of its type's
// own width, convert, and widen the result to the register. Every link but the last goes to a
// scratch row.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "collector/model/decode/decoder.h"

namespace warpmeter::model {
namespace {

struct Type {
  char kind = 'u';  ///< u, s, f, or h for bf16
  unsigned bits = 32;

  bool is_float() const { return kind == 'f' || kind == 'h'; }
  bool is_signed() const { return kind == 's'; }
  unsigned row_bytes() const { return std::max(bits / 8, 2u); }
};

std::optional<Type> type_of(std::string_view name) {
  if (name == "bf16") return Type{'h', 16};
  for (const char* known :
       {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f16", "f32", "f64"}) {
    if (name == known) return Type{name[0], static_cast<unsigned>(std::stoul(known + 1))};
  }
  return std::nullopt;
}

Code choose(const Type& from, std::initializer_list<std::pair<std::string_view, Code>> codes) {
  const std::string name = fmt::format("{}{}", from.kind, from.bits);
  for (const auto& [known, code] : codes) {
    if (known == name) return code;
  }
  return Code::count;
}

Code float_from(const Type& from, bool to_f64) {
  if (to_f64) {
    return choose(from, {{"u16", Code::f64_from_u16},
                         {"s16", Code::f64_from_s16},
                         {"u32", Code::f64_from_u32},
                         {"s32", Code::f64_from_s32},
                         {"u64", Code::f64_from_u64},
                         {"s64", Code::f64_from_s64},
                         {"f32", Code::f64_from_f32}});
  }
  return choose(from, {{"u16", Code::f32_from_u16},
                       {"s16", Code::f32_from_s16},
                       {"u32", Code::f32_from_u32},
                       {"s32", Code::f32_from_s32},
                       {"u64", Code::f32_from_u64},
                       {"s64", Code::f32_from_s64},
                       {"f64", Code::f32_from_f64},
                       {"f16", Code::f32_from_f16},
                       {"h16", Code::f32_from_bf16}});
}

Code integer_from_float(const Type& to, bool from_f64) {
  if (from_f64) {
    return choose(to, {{"u8", Code::u8_from_f64},
                       {"s8", Code::s8_from_f64},
                       {"u16", Code::u16_from_f64},
                       {"s16", Code::s16_from_f64},
                       {"u32", Code::u32_from_f64},
                       {"s32", Code::s32_from_f64},
                       {"u64", Code::u64_from_f64},
                       {"s64", Code::s64_from_f64}});
  }
  return choose(to, {{"u8", Code::u8_from_f32},
                     {"s8", Code::s8_from_f32},
                     {"u16", Code::u16_from_f32},
                     {"s16", Code::s16_from_f32},
                     {"u32", Code::u32_from_f32},
                     {"s32", Code::s32_from_f32},
                     {"u64", Code::u64_from_f32},
                     {"s64", Code::s64_from_f32}});
}

/// The clamp of a 64-bit integer to the range of a type; count: nothing to clamp.
Code clamp(bool is_signed, const Type& to) {
  if (is_signed) {
    return choose(to, {{"u8", Code::clamp_s64_u8},
                       {"s8", Code::clamp_s64_s8},
                       {"u16", Code::clamp_s64_u16},
                       {"s16", Code::clamp_s64_s16},
                       {"u32", Code::clamp_s64_u32},
                       {"s32", Code::clamp_s64_s32},
                       {"u64", Code::clamp_s64_u64}});
  }
  return choose(to, {{"u8", Code::clamp_u64_u8},
                     {"s8", Code::clamp_u64_s8},
                     {"u16", Code::clamp_u64_u16},
                     {"s16", Code::clamp_u64_s16},
                     {"u32", Code::clamp_u64_u32},
                     {"s32", Code::clamp_u64_s32},
                     {"s64", Code::clamp_u64_s64}});
}

/// Directed roundings: rz, rm, rp of the three codes.
Code directed(const ptx::Instruction& instruction, Code first) {
  const auto& all = instruction.modifiers;
  const auto has = [&](std::string_view name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  const auto code = static_cast<std::uint16_t>(first);
  if (has("rz")) return first;
  if (has("rm")) return static_cast<Code>(code + 1);
  if (has("rp")) return static_cast<Code>(code + 2);
  return Code::count;
}

}  // namespace

/// An operation from one row to a scratch row, whatever the guard.
std::uint16_t Decoder::unary(Code code, std::uint16_t row, unsigned result_bytes) {
  next_scratch_ = (next_scratch_ + 1) % 4;
  const std::uint16_t result = scratch(result_bytes, next_scratch_);
  Operation& operation = emit(code, false);
  operation.a = row;
  operation.d = result;
  return result;
}

/// An integer of `from_bytes` (2, 4 or 8) brought to a row of `bytes`.
std::uint16_t Decoder::resized(std::uint16_t row, unsigned from_bytes, bool is_signed,
                               unsigned bytes) {
  if (from_bytes == bytes) return row;
  Code code;
  if (bytes == 2) {
    code = from_bytes == 4 ? Code::u16_from_u32 : Code::u16_from_u64;
  } else if (bytes == 4) {
    code = from_bytes == 8 ? Code::u32_from_u64
           : is_signed     ? Code::u32_from_s16
                           : Code::u32_from_u16;
  } else if (from_bytes == 4) {
    code = is_signed ? Code::u64_from_s32 : Code::u64_from_u32;
  } else {
    code = is_signed ? Code::u64_from_s16 : Code::u64_from_u16;
  }
  return unary(code, row, bytes);
}

/// The source of a cvt, in a row of its type's own width; 8-bit integers extended to 16.
std::uint16_t Decoder::convert_source(const Operand& operand, bool is_float, bool is_signed,
                                      unsigned bits) {
  const unsigned bytes = std::max(bits / 8, 2u);
  const auto found =
      operand.kind == Operand::Kind::name ? register_row(operand.name) : std::nullopt;
  std::uint16_t row;
  if (found && found->second > bytes && !is_float) {
    row = resized(found->first, found->second, false, bytes);
  } else {
    const RowType type = is_float && bits == 32   ? RowType::f32
                         : is_float && bits == 64 ? RowType::f64
                         : bytes == 2             ? RowType::u16
                         : bytes == 4             ? RowType::u32
                                                  : RowType::u64;
    row = source(operand, type);
  }
  if (bits == 8) row = unary(is_signed ? Code::u16_from_s8 : Code::u16_from_u8, row, 2);
  return row;
}

/// The last link: a result of `bytes` into the destination, extended where that is wider.
void Decoder::finish_convert(std::uint16_t row, unsigned bytes, bool is_signed) {
  const Operand& to = instruction_->operands[0];
  const auto found = register_row(to.name);
  const unsigned wanted = found && found->second > bytes ? found->second : bytes;
  row = resized(row, bytes, is_signed, wanted);
  const RowType type = wanted == 2 ? RowType::u16 : wanted == 4 ? RowType::u32 : RowType::u64;
  const std::uint16_t d = destination(to, type);
  Operation& operation = emit(wanted == 2   ? Code::mov_b16
                              : wanted == 4 ? Code::mov_b32
                                            : Code::mov_b64);
  operation.a = row;
  operation.d = d;
}

void Decoder::decode_cvt() {
  expect_operands(2, 2);
  const auto& modifiers = instruction_->modifiers;
  if (modifiers.size() < 2) refuse_opcode();
  const std::optional<Type> to = type_of(modifiers[modifiers.size() - 2]);
  const std::optional<Type> from = type_of(modifiers.back());
  if (!to || !from || has("relu") || has("satfinite") || has("rna") || has("rs")) refuse_opcode();
  std::uint16_t row =
      convert_source(instruction_->operands[1], from->is_float(), from->is_signed(), from->bits);
  Type now = *from;
  if (now.bits == 8) now.bits = 16;
  if (now.kind == 'f' && now.bits == 32 && has("ftz")) row = unary(Code::flush_f32, row, 4);

  const bool rounds_to_whole = has("rni") || has("rzi") || has("rmi") || has("rpi");
  if (now.is_float() && now.bits == 16) {  // nothing else starts from 16 bits
    const bool to_f64 = now.kind == 'f' && to->is_float() && to->bits == 64;
    row = unary(to_f64 ? Code::f64_from_f16 : float_from(now, false), row, to_f64 ? 8 : 4);
    now = {'f', to_f64 ? 64u : 32u};
  }
  if (now.is_float() && (rounds_to_whole || !to->is_float())) {
    const bool wide = now.bits == 64;
    const Code code = has("rni")   ? (wide ? Code::rni_f64 : Code::rni_f32)
                      : has("rmi") ? (wide ? Code::rmi_f64 : Code::rmi_f32)
                      : has("rpi") ? (wide ? Code::rpi_f64 : Code::rpi_f32)
                                   : (wide ? Code::rzi_f64 : Code::rzi_f32);
    // Going to an integer truncates by itself.
    if (to->is_float() || !has("rzi")) row = unary(code, row, now.row_bytes());
  }

  if (to->is_float()) {
    convert_to_float(row, now.kind, now.bits, to->kind, to->bits);
  } else if (now.is_float()) {
    row = unary(integer_from_float(*to, now.bits == 64), row, to->row_bytes());
    finish_convert(row, to->row_bytes(), to->is_signed());
  } else {
    if (has("sat")) {
      row = resized(row, now.row_bytes(), now.is_signed(), 8);
      now.bits = 64;
      const Code code = clamp(now.is_signed(), *to);
      if (code != Code::count) row = unary(code, row, 8);
    }
    row = resized(row, now.row_bytes(), now.is_signed(), to->row_bytes());
    if (to->bits == 8) row = unary(to->is_signed() ? Code::u16_from_s8 : Code::u16_from_u8, row, 2);
    finish_convert(row, to->row_bytes(), to->is_signed());
  }
}

void Decoder::convert_to_float(std::uint16_t row, char from_kind, unsigned from_bits, char kind,
                               unsigned bits) {
  Type now{from_kind, from_bits};
  if (bits == 16 && !now.is_float() && now.bits > 16) {
    refuse("rounds a wide integer to 16 bits, which the model does not do");
  }
  if (bits == 16 && now.bits == 64) {
    refuse("rounds f64 to 16 bits, which the model does not do");
  }
  const unsigned meant = bits == 16 ? 32 : bits;  // to 16 bits by way of f32
  if (!now.is_float()) {
    const bool is_signed = now.is_signed();
    const Code first = meant == 64 ? (is_signed ? Code::f64_from_s64_rz : Code::f64_from_u64_rz)
                                   : (is_signed ? Code::f32_from_s64_rz : Code::f32_from_u64_rz);
    const Code code = directed(*instruction_, first);
    if (code != Code::count && bits != 16) {
      row = unary(code, resized(row, now.row_bytes(), is_signed, 8), meant / 8);
    } else {
      row = unary(float_from(now, meant == 64), row, meant / 8);
    }
  } else if (now.bits != meant) {
    const Code code = meant == 32 ? directed(*instruction_, Code::f32_from_f64_rz) : Code::count;
    row = unary(code != Code::count ? code : float_from(now, meant == 64), row, meant / 8);
  }
  if (meant == 32 && has("ftz")) row = unary(Code::flush_f64_result, row, 4);
  if (has("sat"))
    row = unary(meant == 64 ? Code::saturate_f64 : Code::saturate_f32, row, meant / 8);
  if (bits == 16) {
    if (has("rz") || has("rm") || has("rp")) {
      refuse("rounds to 16 bits in a direction, which the model does not do");
    }
    row = unary(kind == 'h' ? Code::bf16_from_f32 : Code::f16_from_f32, row, 2);
  }
  finish_convert(row, bits / 8, false);
}

}  // namespace warpmeter::model
