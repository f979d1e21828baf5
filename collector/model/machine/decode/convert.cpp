// SPDX-License-Identifier: MIT
// cvt: any type to any type, as a chain of at most a few operations.
//
// A register may be wider than the type it is read or written as, types of 8 bits live in 16-bit
// rows, and an integer wider than its target is cut. So: bring the source to a row of its type's
// own width, convert, and widen the result to the register. Every link but the last goes to a
// scratch row.
#include <algorithm>
#include <iterator>

#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {
namespace {

struct Conversion {
  Type type;
  Code code;
};

Code choose(const Conversion* begin, const Conversion* end, ptx::Kind kind, unsigned bits) {
  const auto* const found = std::find_if(begin, end, [&](const Conversion& known) {
    const ptx::TypeInfo info = ptx::info_of(known.type);
    return info.kind == kind && info.bits == bits;
  });
  return found == end ? Code::count : found->code;
}

template <std::size_t n>
Code choose(const Conversion (&table)[n], ptx::Kind kind, unsigned bits) {
  return choose(table, table + n, kind, bits);
}

constexpr Conversion to_f64[] = {
    {Type::u16, Code::f64_from_u16}, {Type::s16, Code::f64_from_s16},
    {Type::u32, Code::f64_from_u32}, {Type::s32, Code::f64_from_s32},
    {Type::u64, Code::f64_from_u64}, {Type::s64, Code::f64_from_s64},
    {Type::f32, Code::f64_from_f32},
};
constexpr Conversion to_f32[] = {
    {Type::u16, Code::f32_from_u16},   {Type::s16, Code::f32_from_s16},
    {Type::u32, Code::f32_from_u32},   {Type::s32, Code::f32_from_s32},
    {Type::u64, Code::f32_from_u64},   {Type::s64, Code::f32_from_s64},
    {Type::f64, Code::f32_from_f64},   {Type::f16, Code::f32_from_f16},
    {Type::bf16, Code::f32_from_bf16},
};
constexpr Conversion from_f64[] = {
    {Type::u8, Code::u8_from_f64},   {Type::s8, Code::s8_from_f64},
    {Type::u16, Code::u16_from_f64}, {Type::s16, Code::s16_from_f64},
    {Type::u32, Code::u32_from_f64}, {Type::s32, Code::s32_from_f64},
    {Type::u64, Code::u64_from_f64}, {Type::s64, Code::s64_from_f64},
};
constexpr Conversion from_f32[] = {
    {Type::u8, Code::u8_from_f32},   {Type::s8, Code::s8_from_f32},
    {Type::u16, Code::u16_from_f32}, {Type::s16, Code::s16_from_f32},
    {Type::u32, Code::u32_from_f32}, {Type::s32, Code::s32_from_f32},
    {Type::u64, Code::u64_from_f32}, {Type::s64, Code::s64_from_f32},
};
/// Clamps of 64-bit integers to the range of a type; those that are not here have nothing to clamp.
constexpr Conversion clamp_signed[] = {
    {Type::u8, Code::clamp_s64_u8},   {Type::s8, Code::clamp_s64_s8},
    {Type::u16, Code::clamp_s64_u16}, {Type::s16, Code::clamp_s64_s16},
    {Type::u32, Code::clamp_s64_u32}, {Type::s32, Code::clamp_s64_s32},
    {Type::u64, Code::clamp_s64_u64},
};
constexpr Conversion clamp_unsigned[] = {
    {Type::u8, Code::clamp_u64_u8},   {Type::s8, Code::clamp_u64_s8},
    {Type::u16, Code::clamp_u64_u16}, {Type::s16, Code::clamp_u64_s16},
    {Type::u32, Code::clamp_u64_u32}, {Type::s32, Code::clamp_u64_s32},
    {Type::s64, Code::clamp_u64_s64},
};

/// By the directed roundings; count: none is written.
struct Directed {
  Code rz, rm, rp;

  Code of(ptx::Rounding rounding) const {
    switch (rounding) {
      case ptx::Rounding::rz:
        return rz;
      case ptx::Rounding::rm:
        return rm;
      case ptx::Rounding::rp:
        return rp;
      default:
        return Code::count;
    }
  }
};
#define DIRECTED(code) \
  Directed { Code::code##_rz, Code::code##_rm, Code::code##_rp }

}  // namespace

/// Nothing for what is converted in pairs, or not at all.
std::optional<Decoder::Number> Decoder::number_of(Type type) {
  const ptx::TypeInfo info = ptx::info_of(type);
  const Number number{info.kind, info.bits};
  const bool is_integer = info.kind == ptx::Kind::u || info.kind == ptx::Kind::s;
  if (info.elements != 1 || !(is_integer || number.is_float())) return std::nullopt;
  return number;
}

Code Decoder::float_from(const Number& from, bool to_f64_row) {
  return to_f64_row ? choose(to_f64, from.kind, from.bits) : choose(to_f32, from.kind, from.bits);
}

Code Decoder::integer_from_float(const Number& to, bool is_f64) {
  return is_f64 ? choose(from_f64, to.kind, to.bits) : choose(from_f32, to.kind, to.bits);
}

/// The clamp of a 64-bit integer to the range of a type; count: nothing to clamp.
Code Decoder::clamp(bool is_signed, const Number& to) {
  return is_signed ? choose(clamp_signed, to.kind, to.bits)
                   : choose(clamp_unsigned, to.kind, to.bits);
}

/// An operation from one row to a scratch row, whatever the guard.
std::uint16_t Decoder::unary(Code code, std::uint16_t row, unsigned result_bytes) {
  const std::uint16_t result = scratch(result_bytes);
  emit(code, {.d = result, .a = row}, false);
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
std::uint16_t Decoder::convert_source(const Operand& operand, const Number& from) {
  const unsigned bytes = from.row_bytes();
  const auto found =
      operand.kind == Operand::Kind::name ? register_row(operand.name) : std::nullopt;
  std::uint16_t row;
  if (found && found->second > bytes && !from.is_float()) {
    row = resized(found->first, found->second, false, bytes);
  } else {
    const RowType type = from.is_float() && from.bits == 32   ? RowType::f32
                         : from.is_float() && from.bits == 64 ? RowType::f64
                         : bytes == 2                         ? RowType::u16
                         : bytes == 4                         ? RowType::u32
                                                              : RowType::u64;
    row = source(operand, type);
  }
  if (from.bits == 8) row = unary(from.is_signed() ? Code::u16_from_s8 : Code::u16_from_u8, row, 2);
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
  move_row(d, row, wanted, true);
}

void Decoder::decode_cvt() {
  if (has(Word::pack)) return decode_value();
  if (decode_packed_cvt()) return;
  const std::optional<Number> to = number_of(instruction_->first_type());
  const std::optional<Number> from = number_of(instruction_->last_type());
  if (!to || !from || from->kind == ptx::Kind::tf || instruction_->types().size() != 2) {
    refuse_form();
  }
  expect_operands(2, 2);
  std::uint16_t row = convert_source(instruction_->operands[1], *from);
  Number now = *from;
  if (now.bits == 8) now.bits = 16;
  const bool is_f32 = now.kind == ptx::Kind::f && now.bits == 32;
  if (is_f32 && has(Word::ftz)) row = unary(Code::flush_f32, row, 4);
  if (is_f32 && has(Word::relu)) row = unary(Code::relu_f32, row, 4);

  const bool rounds_to_whole = has(Word::rni) || has(Word::rzi) || has(Word::rmi) || has(Word::rpi);
  if (now.is_float() && now.bits == 16) {  // nothing else starts from 16 bits
    const bool widens = now.kind == ptx::Kind::f && to->is_float() && to->bits == 64;
    row = unary(widens ? Code::f64_from_f16 : float_from(now, false), row, widens ? 8 : 4);
    now = {ptx::Kind::f, widens ? 64u : 32u};
  }
  if (now.is_float() && (rounds_to_whole || !to->is_float())) {
    const bool wide = now.bits == 64;
    const Code code = has(Word::rni)   ? (wide ? Code::rni_f64 : Code::rni_f32)
                      : has(Word::rmi) ? (wide ? Code::rmi_f64 : Code::rmi_f32)
                      : has(Word::rpi) ? (wide ? Code::rpi_f64 : Code::rpi_f32)
                                       : (wide ? Code::rzi_f64 : Code::rzi_f32);
    // A conversion to an integer truncates by itself.
    if (to->is_float() || !has(Word::rzi)) row = unary(code, row, now.row_bytes());
  }

  if (to->is_float()) {
    convert_to_float(row, now, *to);
  } else if (now.is_float()) {
    row = unary(integer_from_float(*to, now.bits == 64), row, to->row_bytes());
    finish_convert(row, to->row_bytes(), to->is_signed());
  } else {
    if (has(Word::sat)) {
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
  int rounding = 0;
  switch (instruction_->rounding) {
    case ptx::Rounding::rz:
      rounding = 1;
      break;
    case ptx::Rounding::rm:
      rounding = 2;
      break;
    case ptx::Rounding::rp:
      rounding = 3;
      break;
    case ptx::Rounding::rna:
      rounding = 4;
      break;
    default:
      break;
  }
  return static_cast<std::int64_t>(format) | rounding << narrow_rounding_shift |
         (has(Word::satfinite) ? narrow_saturates : 0) |
         (instruction_->last_type() == Type::f64 ? narrow_keeps_nan : 0);
}

std::uint16_t Decoder::narrow(std::uint16_t f64_row, NarrowFormat format) {
  const std::uint16_t result = scratch(format == NarrowFormat::tf32 ? 4 : 2);
  emit(Code::narrow_f64, {.d = result, .a = f64_row, .imm = narrowing(format)}, false);
  return result;
}

/// Conversions to and from pairs: two f32 to one register of two numbers, pairs of 8 bits to pairs
/// of 16 and back. False for any other cvt.
bool Decoder::decode_packed_cvt() {
  struct Packed {
    Type type;
    NarrowFormat format;
    unsigned bytes;  ///< the bytes of one number
  };
  static constexpr Packed all[] = {{Type::f16x2, NarrowFormat::f16, 2},
                                   {Type::bf16x2, NarrowFormat::bf16, 2},
                                   {Type::e4m3x2, NarrowFormat::e4m3, 1},
                                   {Type::e5m2x2, NarrowFormat::e5m2, 1}};
  const auto find = [](Type type) {
    return std::find_if(std::begin(all), std::end(all),
                        [&](const Packed& known) { return known.type == type; });
  };
  const auto* const to = find(instruction_->first_type());
  const auto* const from = find(instruction_->last_type());
  if (to == std::end(all)) return false;
  const bool from_f32 = instruction_->last_type() == Type::f32;
  if (!from_f32 && (from == std::end(all) || from->bytes == to->bytes)) refuse_form();
  expect_operands(from_f32 ? 3 : 2, from_f32 ? 3 : 2);

  std::array<std::uint16_t, 2> wide{};  // low, high
  if (from_f32) {
    for (std::size_t i = 0; i < 2; ++i) {
      std::uint16_t row = source(instruction_->operands[2 - i], RowType::f32);
      if (has(Word::ftz)) row = unary(Code::flush_f32, row, 4);
      if (has(Word::relu)) row = unary(Code::relu_f32, row, 4);
      wide[i] = unary(Code::f64_from_f32, row, 8);
    }
  } else if (from->bytes == 2) {
    std::uint16_t row = source(instruction_->operands[1], RowType::u32);
    const bool is_f16 = from->format == NarrowFormat::f16;
    if (has(Word::relu)) row = unary(is_f16 ? Code::relu_f16x2 : Code::relu_bf16x2, row, 4);
    const auto parts = halves_of(row);
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
    parts[i] = narrow(wide[i], to->format);
    if (from == std::end(all) || from->bytes == 2 || !has(Word::relu)) continue;
    emit(to->format == NarrowFormat::f16 ? Code::relu_f16 : Code::relu_bf16,
         {.d = parts[i], .a = parts[i]}, false);
  }
  const std::uint16_t d =
      destination(instruction_->operands[0], to->bytes == 2 ? RowType::u32 : RowType::u16);
  emit(to->bytes == 2 ? Code::pack_2x16 : Code::pack_bytes, {.d = d, .a = parts[0], .b = parts[1]});
  return true;
}

/// To f16, bf16 or tf32, by way of an f64 that says of what it lost that something was lost.
void Decoder::convert_to_narrow(std::uint16_t row, const Number& from, const Number& to) {
  using ptx::Kind;
  const ptx::Rounding rounding = instruction_->rounding;
  const bool is_plain = (rounding == ptx::Rounding::none || rounding == ptx::Rounding::rn ||
                         rounding == ptx::Rounding::rni || rounding == ptx::Rounding::rzi ||
                         rounding == ptx::Rounding::rmi || rounding == ptx::Rounding::rpi) &&
                        !has(Word::satfinite);
  if (from.kind == Kind::f && from.bits == 32 && is_plain && to.kind != Kind::tf) {
    if (has(Word::sat)) row = unary(Code::saturate_f32, row, 4);
    row = unary(to.kind == Kind::bf ? Code::bf16_from_f32 : Code::f16_from_f32, row, 2);
    return finish_convert(row, 2, false);
  }
  if (to.kind == Kind::tf && rounding == ptx::Rounding::rna && !has(Word::satfinite) &&
      from.bits == 32) {
    return finish_convert(unary(Code::tf32_from_f32, row, 4), 4, false);
  }
  if (from.bits == 64 && !from.is_float()) {
    row = unary(from.is_signed() ? Code::sticky_f64_from_s64 : Code::sticky_f64_from_u64, row, 8);
  } else if (from.bits != 64) {
    row = unary(float_from(from, true), row, 8);
  }
  if (has(Word::sat)) row = unary(Code::saturate_f64, row, 8);
  row = narrow(row, to.kind == Kind::f    ? NarrowFormat::f16
                    : to.kind == Kind::bf ? NarrowFormat::bf16
                                          : NarrowFormat::tf32);
  finish_convert(row, to.kind == Kind::tf ? 4 : 2, false);
}

void Decoder::convert_to_float(std::uint16_t row, const Number& from, const Number& to) {
  if (to.is_narrow()) return convert_to_narrow(row, from, to);
  const ptx::Rounding rounding = instruction_->rounding;
  const bool is_f64 = to.bits == 64;
  if (!from.is_float()) {
    const bool is_signed = from.is_signed();
    const Directed directed = is_f64
                                  ? (is_signed ? DIRECTED(f64_from_s64) : DIRECTED(f64_from_u64))
                                  : (is_signed ? DIRECTED(f32_from_s64) : DIRECTED(f32_from_u64));
    const Code code = directed.of(rounding);
    if (code != Code::count) {
      row = unary(code, resized(row, from.row_bytes(), is_signed, 8), to.bits / 8);
    } else {
      row = unary(float_from(from, is_f64), row, to.bits / 8);
    }
  } else if (from.bits != to.bits) {
    const Code code = is_f64 ? Code::count : DIRECTED(f32_from_f64).of(rounding);
    row = unary(code != Code::count ? code : float_from(from, is_f64), row, to.bits / 8);
  }
  if (!is_f64 && has(Word::ftz)) row = unary(Code::flush_f64_result, row, 4);
  if (has(Word::sat))
    row = unary(is_f64 ? Code::saturate_f64 : Code::saturate_f32, row, to.bits / 8);
  finish_convert(row, to.bits / 8, false);
}

#undef DIRECTED

}  // namespace warpmeter::model
