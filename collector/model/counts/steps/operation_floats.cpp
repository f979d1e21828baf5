// SPDX-License-Identifier: MIT
#include "collector/model/counts/steps/fields.h"

namespace warpmeter::model::steps {
namespace {

using Form = Operand::Form;

void read_operands_of(Kind kind, const Bits& bits, Operation& operation) {
  read_operands(bits, make(operation, kind));
  operation.a.is_absolute = bits.is_set(73);
  operation.flushes = bits.is_set(80);
  if (kind == Kind::multiply_add_floats || kind == Kind::multiply_add_doubles) {
    // Like the sign, this bit stays with its place where the operands change theirs.
    const auto form = static_cast<unsigned>(bits.at(9, 3));
    const bool is_swapped = form == 2 || form == 3 || form == 7;
    Operand &low = is_swapped ? operation.c : operation.b,
            &high = is_swapped ? operation.b : operation.c;
    low.is_absolute = low.form != Form::immediate && bits.is_set(62);
    high.is_absolute = bits.is_set(74);
    return;
  }
  // The second operand of an addition has the place of a third where it is no register, that of
  // doubles always.
  const bool is_high = kind == Kind::add_doubles && operation.c.form == Form::general;
  if (operation.c.form != Form::general || is_high) operation.b = operation.c;
  operation.c = {};
  if (operation.b.form != Form::immediate) {
    operation.b.is_absolute = bits.is_set(is_high ? 74 : 62);
  }
}

void read_arithmetic(Kind kind, const Bits& bits, Operation& operation) {
  read_operands_of(kind, bits, operation);
  read_result(bits, operation, is_double(kind) ? 2 : 1);
  operation.saturates = bits.is_set(77);
  operation.rounding = static_cast<std::uint8_t>(bits.at(78, 2));
  const bool scales = kind == Kind::multiply_floats && bits.at(84, 3) != 4;
  const bool is_other = bits.is_set(76) || (is_double(kind) && operation.saturates);
  if (is_other || scales) operation.kind = Kind::unknown;
}

void read_compare(Kind kind, const Bits& bits, Operation& operation) {
  read_operands_of(kind, bits, operation);
  read_predicate_results(bits, operation);
  operation.amount = static_cast<std::uint8_t>(bits.at(76, 4));
  operation.mode = static_cast<std::uint8_t>(bits.at(74, 2));
  operation.input = predicate(bits, 87, false);
  // DSETP.MIN and its like choose; they do not compare.
  if (is_double(kind) && (operation.amount == 0 || operation.amount == 15)) {
    operation.kind = Kind::unknown;
  }
}

void read_choice(Kind kind, const Bits& bits, Operation& operation) {
  read_operands_of(kind, bits, operation);
  read_result(bits, operation, 1);
  operation.input = predicate(bits, 87, false);
  // FMNMX.NAN keeps what is no number, FMNMX.XORSIGN gives the product's sign.
  const bool is_other = bits.at(74, 6) != 0 || bits.at(81, 6) != 0;
  if (is_other) operation.kind = Kind::unknown;
}

/// F2F, F2I, I2F and FRND: sizes are logarithms of bytes.
void read_conversion(Kind kind, const Bits& bits, Operation& operation) {
  constexpr unsigned size_of_32 = 2, size_of_64 = 3;
  read_operands(bits, make(operation, kind));
  operation.a = operation.c = {};
  operation.b.is_absolute = operation.b.form != Form::immediate && bits.is_set(62);
  const auto to = static_cast<unsigned>(bits.at(75, 2)),
             from = static_cast<unsigned>(bits.at(84, 2));
  operation.is_high = from == size_of_64;
  operation.is_signed = bits.is_set(kind == Kind::float_to_integer ? 72 : 74);
  operation.rounding = static_cast<std::uint8_t>(bits.at(78, 2));
  operation.flushes = bits.is_set(80);
  read_result(bits, operation, to == size_of_64 ? 2 : 1);
  const bool is_of_floats = kind == Kind::float_to_float || kind == Kind::float_to_whole;
  // NTZ, no number to zero: ptxas says it of 32 bits to 32 bits, whose results were measured so.
  const bool gives_zero = kind == Kind::float_to_integer && from == size_of_32 && to == size_of_32;
  const bool has_signs =
      kind != Kind::integer_to_float || (!operation.b.is_absolute && !operation.b.is_negated);
  const bool is_plain = bits.is_set(77) == gives_zero && has_signs && from >= size_of_32 &&
                        to >= size_of_32 && bits.at(81, 3) == 0 && !bits.is_set(86) &&
                        !bits.is_set(73) && !(is_of_floats && (bits.is_set(72) || bits.is_set(74)));
  if (!is_plain) operation.kind = Kind::unknown;
}

void read_special_function(const Bits& bits, Operation& operation) {
  constexpr unsigned hyperbolic_tangent = 9;
  read_operands(bits, make(operation, Kind::special_function));
  operation.a = operation.c = {};
  operation.b.is_absolute = operation.b.form != Form::immediate && bits.is_set(62);
  operation.amount = static_cast<std::uint8_t>(bits.at(74, 6));
  read_result(bits, operation, 1);
  if (operation.amount > hyperbolic_tangent || bits.at(72, 2) != 0 || bits.at(80, 7) != 0) {
    operation.kind = Kind::unknown;
  }
}

}  // namespace

bool read_floats(unsigned number, const Bits& bits, Operation& operation) {
  switch (number) {
    case 0x020:  // FMUL
      read_arithmetic(Kind::multiply_floats, bits, operation);
      return true;
    case 0x021:  // FADD
      read_arithmetic(Kind::add_floats, bits, operation);
      return true;
    case 0x023:  // FFMA
      read_arithmetic(Kind::multiply_add_floats, bits, operation);
      return true;
    case 0x028:  // DMUL
      read_arithmetic(Kind::multiply_doubles, bits, operation);
      return true;
    case 0x029:  // DADD
      read_arithmetic(Kind::add_doubles, bits, operation);
      return true;
    case 0x02b:  // DFMA
      read_arithmetic(Kind::multiply_add_doubles, bits, operation);
      return true;
    case 0x00b:  // FSETP
      read_compare(Kind::compare_floats, bits, operation);
      return true;
    case 0x02a:  // DSETP
      read_compare(Kind::compare_doubles, bits, operation);
      return true;
    case 0x008:  // FSEL
      read_choice(Kind::select_floats, bits, operation);
      return true;
    case 0x009:  // FMNMX
      read_choice(Kind::minimum_floats, bits, operation);
      return true;
    case 0x102:  // FCHK
      read_operands_of(Kind::check_division, bits, operation);
      operation.results[0] = predicate(bits, 81, false, false);
      return true;
    case 0x104:  // F2F
    case 0x110:
      read_conversion(Kind::float_to_float, bits, operation);
      return true;
    case 0x105:  // F2I
    case 0x111:
      read_conversion(Kind::float_to_integer, bits, operation);
      return true;
    case 0x106:  // I2F
    case 0x112:
    case 0x045:  // I2FP
      read_conversion(Kind::integer_to_float, bits, operation);
      return true;
    case 0x107:  // FRND
    case 0x113:
      read_conversion(Kind::float_to_whole, bits, operation);
      return true;
    case 0x108:  // MUFU
      read_special_function(bits, operation);
      return true;
    default:
      return false;
  }
}

}  // namespace warpmeter::model::steps
