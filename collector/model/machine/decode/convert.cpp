// cvt: any type to any type, as a chain of at most a few operations.
//
// A register may be wider than the type it is read or written as, types of 8 bits live in 16-bit
// rows, and an integer wider than its target is cut. So: bring the source to a row of its type's
// own width, convert, and widen the result to the register. Every link but the last goes to a
// scratch row.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {
namespace {

struct Type {
  char kind = 'u';  ///< u, s, f, h for bf16, or t for tf32
  unsigned bits = 32;

  bool is_float() const { return kind == 'f' || kind == 'h' || kind == 't'; }
  bool is_narrow() const { return kind == 't' || (is_float() && bits == 16); }
  bool is_signed() const { return kind == 's'; }
  unsigned row_bytes() const { return std::max(bits / 8, 2u); }
};

std::optional<Type> type_of(std::string_view name) {
  if (name == "bf16") return Type{'h', 16};
  if (name == "tf32") return Type{'t', 32};
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
  if (has("pack") ? decode_value() : decode_packed_cvt()) return;
  const auto& modifiers = instruction_->modifiers;
  if (modifiers.size() < 2 || has("rs")) refuse_opcode();
  const std::optional<Type> to = type_of(modifiers[modifiers.size() - 2]);
  const std::optional<Type> from = type_of(modifiers.back());
  if (!to || !from || from->kind == 't') refuse_opcode();
  expect_operands(2, 2);
  std::uint16_t row =
      convert_source(instruction_->operands[1], from->is_float(), from->is_signed(), from->bits);
  Type now = *from;
  if (now.bits == 8) now.bits = 16;
  if (now.kind == 'f' && now.bits == 32 && has("ftz")) row = unary(Code::flush_f32, row, 4);
  if (now.kind == 'f' && now.bits == 32 && has("relu")) row = unary(Code::relu_f32, row, 4);

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

/// Operation::imm of narrow_f64, by the instruction's modifiers.
std::int64_t Decoder::narrowing(NarrowFormat format) const {
  const int rounding = has("rz") ? 1 : has("rm") ? 2 : has("rp") ? 3 : has("rna") ? 4 : 0;
  return static_cast<std::int64_t>(format) | rounding << narrow_rounding_shift |
         (has("satfinite") ? narrow_saturates : 0);
}

std::uint16_t Decoder::narrow(std::uint16_t f64_row, NarrowFormat format, unsigned number) {
  const std::uint16_t result = scratch(format == NarrowFormat::tf32 ? 4 : 2, number);
  Operation& operation = emit(Code::narrow_f64, false);
  operation.a = f64_row;
  operation.d = result;
  operation.imm = narrowing(format);
  return result;
}

/// Conversions to and from pairs: two f32 to one register of two numbers, pairs of 8 bits to pairs
/// of 16 and back. False for any other cvt.
bool Decoder::decode_packed_cvt() {
  struct Packed {
    std::string_view name;
    NarrowFormat format;
    unsigned bytes;  ///< of one number
  };
  static constexpr Packed all[] = {{"f16x2", NarrowFormat::f16, 2},
                                   {"bf16x2", NarrowFormat::bf16, 2},
                                   {"e4m3x2", NarrowFormat::e4m3, 1},
                                   {"e5m2x2", NarrowFormat::e5m2, 1}};
  const auto& modifiers = instruction_->modifiers;
  const auto find = [](std::string_view name) {
    return std::find_if(std::begin(all), std::end(all),
                        [&](const Packed& known) { return known.name == name; });
  };
  if (modifiers.size() < 2 || has("rs")) return false;
  const auto* const to = find(modifiers[modifiers.size() - 2]);
  const auto* const from = find(modifiers.back());
  if (to == std::end(all)) return false;
  const bool from_f32 = modifiers.back() == "f32";
  if (!from_f32 && (from == std::end(all) || from->bytes == to->bytes)) refuse_opcode();
  expect_operands(from_f32 ? 3 : 2, from_f32 ? 3 : 2);

  std::array<std::uint16_t, 2> wide{};  // low, high
  if (from_f32) {
    for (std::size_t i = 0; i < 2; ++i) {
      std::uint16_t row = source(instruction_->operands[2 - i], RowType::f32);
      if (has("ftz")) row = unary(Code::flush_f32, row, 4);
      if (has("relu")) row = unary(Code::relu_f32, row, 4);
      wide[i] = unary(Code::f64_from_f32, row, 8);
    }
  } else if (from->bytes == 2) {
    std::uint16_t row = source(instruction_->operands[1], RowType::u32);
    const bool is_f16 = from->format == NarrowFormat::f16;
    if (has("relu")) row = unary(is_f16 ? Code::relu_f16x2 : Code::relu_bf16x2, row, 4);
    const auto parts = halves_of(row, 20);
    for (std::size_t i = 0; i < 2; ++i) {
      wide[i] = is_f16 ? unary(Code::f64_from_f16, parts[i], 8)
                       : unary(Code::f64_from_f32, unary(Code::f32_from_bf16, parts[i], 4), 8);
    }
  } else {
    const std::uint16_t row = source(instruction_->operands[1], RowType::u16);
    const Code widen =
        from->format == NarrowFormat::e4m3 ? Code::f64_from_e4m3 : Code::f64_from_e5m2;
    wide[0] = unary(widen, row, 8);
    wide[1] = unary(widen, unary(Code::high_byte, row, 2), 8);
  }
  std::array<std::uint16_t, 2> parts{};
  for (unsigned i = 0; i < 2; ++i) {
    parts[i] = narrow(wide[i], to->format, 24 + i);
    if (from == std::end(all) || from->bytes == 2 || !has("relu")) continue;
    Operation& lift =
        emit(to->format == NarrowFormat::f16 ? Code::relu_f16 : Code::relu_bf16, false);
    lift.a = parts[i];
    lift.d = parts[i];
  }
  const std::uint16_t d =
      destination(instruction_->operands[0], to->bytes == 2 ? RowType::u32 : RowType::u16);
  Operation& pack = emit(to->bytes == 2 ? Code::pack_2x16 : Code::pack_bytes);
  pack.d = d;
  pack.a = parts[0];
  pack.b = parts[1];
  return true;
}

/// To f16, bf16 or tf32, by way of an f64 that says of what it lost that something was lost.
void Decoder::convert_to_narrow(std::uint16_t row, char from_kind, unsigned from_bits, char kind) {
  const Type now{from_kind, from_bits};
  const bool is_plain = !has("rz") && !has("rm") && !has("rp") && !has("rna") && !has("satfinite");
  if (now.kind == 'f' && now.bits == 32 && is_plain && kind != 't') {
    if (has("sat")) row = unary(Code::saturate_f32, row, 4);
    row = unary(kind == 'h' ? Code::bf16_from_f32 : Code::f16_from_f32, row, 2);
    return finish_convert(row, 2, false);
  }
  if (now.bits == 64 && !now.is_float()) {
    row = unary(now.is_signed() ? Code::sticky_f64_from_s64 : Code::sticky_f64_from_u64, row, 8);
  } else if (now.bits != 64) {
    row = unary(float_from(now, true), row, 8);
  }
  if (has("sat")) row = unary(Code::saturate_f64, row, 8);
  row = narrow(row,
               kind == 'f'   ? NarrowFormat::f16
               : kind == 'h' ? NarrowFormat::bf16
                             : NarrowFormat::tf32,
               24);
  finish_convert(row, kind == 't' ? 4 : 2, false);
}

void Decoder::convert_to_float(std::uint16_t row, char from_kind, unsigned from_bits, char kind,
                               unsigned bits) {
  if (Type{kind, bits}.is_narrow()) return convert_to_narrow(row, from_kind, from_bits, kind);
  const Type now{from_kind, from_bits};
  const bool to_f64 = bits == 64;
  if (!now.is_float()) {
    const bool is_signed = now.is_signed();
    const Code first = to_f64 ? (is_signed ? Code::f64_from_s64_rz : Code::f64_from_u64_rz)
                              : (is_signed ? Code::f32_from_s64_rz : Code::f32_from_u64_rz);
    const Code code = directed(*instruction_, first);
    if (code != Code::count) {
      row = unary(code, resized(row, now.row_bytes(), is_signed, 8), bits / 8);
    } else {
      row = unary(float_from(now, to_f64), row, bits / 8);
    }
  } else if (now.bits != bits) {
    const Code code = to_f64 ? Code::count : directed(*instruction_, Code::f32_from_f64_rz);
    row = unary(code != Code::count ? code : float_from(now, to_f64), row, bits / 8);
  }
  if (!to_f64 && has("ftz")) row = unary(Code::flush_f64_result, row, 4);
  if (has("sat")) row = unary(to_f64 ? Code::saturate_f64 : Code::saturate_f32, row, bits / 8);
  finish_convert(row, bits / 8, false);
}

}  // namespace warpmeter::model
