// SPDX-License-Identifier: MIT
#include "collector/model/counts/steps/fields.h"

namespace warpmeter::model::steps {
namespace {

using Form = Operand::Form;

void read_input(const Bits& bits, Operation& operation) {
  operation.input = predicate(bits, 87, operation.is_uniform);
  operation.second_input = predicate(bits, 77, operation.is_uniform);
}

void without_signs(Operation& operation) {
  operation.a.is_negated = operation.b.is_negated = operation.c.is_negated = false;
}

}  // namespace

void read_operands(const Bits& bits, Operation& operation) {
  const auto number = [&](std::uint64_t n) {
    return operation.is_uniform ? uniform(n) : general(n);
  };
  operation.a = number(bits.at(24, 8));
  operation.a.is_negated = bits.is_set(72);
  const Operand low_register = number(bits.at(32, 8)), high_register = number(bits.at(64, 8));
  const Operand immediate = {Form::immediate, 0, false,
                             static_cast<std::uint32_t>(bits.at(32, 32))};
  const unsigned form = static_cast<unsigned>(bits.at(9, 3));
  const bool is_swapped = form == 2 || form == 3 || form == 7;
  Operand low = low_register;
  if (form == 2 || form == 4) low = immediate;
  if (form == 3 || form == 5) low = constant(bits);
  if (form == 6 || form == 7) low = uniform(bits.at(32, 6));
  if (form == 0) operation.kind = Kind::unknown;
  low.is_negated = form != 2 && form != 4 && bits.is_set(63);
  Operand high = high_register;
  high.is_negated = bits.is_set(75);
  operation.b = is_swapped ? high : low;
  operation.c = is_swapped ? low : high;
}

void read_arithmetic(const Bits& bits, Operation& operation) {
  read_operands(bits, operation);
  read_result(bits, operation, 1);
  read_predicate_results(bits, operation);
  read_input(bits, operation);
  operation.is_signed = bits.is_set(73);
  operation.is_extended = bits.is_set(74);
}

bool read_shared_arithmetic(unsigned number, const Bits& bits, Operation& operation) {
  switch (number) {
    case 0x010:
      read_arithmetic(bits, make(operation, Kind::add3));
      return true;
    case 0x024:
      read_arithmetic(bits, make(operation, Kind::multiply_add));
      operation.results = {};
      operation.a.is_negated = operation.b.is_negated = false;
      return true;
    case 0x025:
      read_arithmetic(bits, make(operation, Kind::multiply_add_wide));
      read_result(bits, operation, 2);
      operation.results[1] = {};
      operation.a.is_negated = operation.b.is_negated = false;
      if (operation.is_extended) operation.kind = Kind::unknown;
      return true;
    case 0x027:
      read_arithmetic(bits, make(operation, Kind::multiply_add_high));
      operation.results[1] = {};
      operation.a.is_negated = operation.b.is_negated = false;
      if (operation.is_extended) operation.kind = Kind::unknown;
      return true;
    case 0x00c:
      read_arithmetic(bits, make(operation, Kind::compare));
      without_signs(operation);
      operation.result_registers = 0;
      operation.c = {};
      operation.amount = static_cast<std::uint8_t>(bits.at(76, 3));
      operation.mode = static_cast<std::uint8_t>(bits.at(74, 2));
      operation.is_extended = bits.is_set(72);
      operation.second_input = predicate(bits, 68, operation.is_uniform);
      return true;
    case 0x012:
      read_arithmetic(bits, make(operation, Kind::logic));
      without_signs(operation);
      operation.results[1] = {};
      operation.amount = static_cast<std::uint8_t>(bits.at(72, 8));
      operation.mode = bits.is_set(80) ? 1 : 0;  // and, or
      return true;
    case 0x019:
      read_arithmetic(bits, make(operation, Kind::shift));
      without_signs(operation);
      operation.results = {};
      operation.mode = static_cast<std::uint8_t>(bits.at(73, 2));  // S64, U64, S32, U32
      operation.is_wrapped = bits.is_set(75);
      operation.is_right = bits.is_set(76);
      operation.is_high = bits.is_set(80);
      return true;
    case 0x011:
      read_arithmetic(bits, make(operation, Kind::shift_add));
      operation.c.is_negated = false;
      operation.results[1] = {};
      operation.amount = static_cast<std::uint8_t>(bits.at(75, 5));
      operation.is_high = bits.is_set(80);
      return true;
    case 0x007:
      read_arithmetic(bits, make(operation, Kind::select));
      without_signs(operation);
      operation.c = {};
      operation.results = {};
      return true;
    case 0x002:
      read_arithmetic(bits, make(operation, Kind::move));
      without_signs(operation);
      operation.a = operation.c = {};
      operation.results = {};
      return true;
    default:
      return false;
  }
}

bool read_general_arithmetic(unsigned number, const Bits& bits, Operation& operation) {
  const unsigned type = static_cast<unsigned>(bits.at(72, 5));
  switch (number) {
    case 0x017:  // IMNMX
    case 0x048:  // VIMNMX
      read_arithmetic(bits, make(operation, Kind::minimum));
      without_signs(operation);
      operation.c = {};
      operation.results = {};
      operation.is_signed = number == 0x017 ? bits.is_set(73) : type == 1;
      if (number == 0x048 && type > 1) operation.kind = Kind::unknown;
      return true;
    case 0x046: {  // VIADDMNMX
      read_arithmetic(bits, make(operation, Kind::add_minimum));
      operation.a.is_negated = operation.c.is_negated = false;
      operation.results = {};
      const unsigned form = static_cast<unsigned>(bits.at(9, 3));
      operation.is_signed = (type & 1) == 0;
      if (form != 4 && form != 2) operation.kind = Kind::unknown;
      if ((type & 2) != 0 || bits.is_set(76)) operation.kind = Kind::unknown;
      return true;
    }
    case 0x036:  // VIADD
      read_arithmetic(bits, make(operation, Kind::add3));
      operation.a.is_negated = false;
      operation.c = general(255);
      operation.results = {};
      operation.is_extended = false;
      if (bits.at(72, 8) != 0) operation.kind = Kind::unknown;
      return true;
    case 0x013:  // IABS
      read_arithmetic(bits, make(operation, Kind::absolute));
      operation.a = operation.c = {};
      operation.results = {};
      return true;
    case 0x016:  // PRMT
      read_arithmetic(bits, make(operation, Kind::permute));
      without_signs(operation);
      operation.results = {};
      if (bits.at(72, 3) != 0) operation.kind = Kind::unknown;
      return true;
    case 0x035: {  // HFMA2.MMA of zeros and an immediate, which moves it
      read_arithmetic(bits, make(operation, Kind::move));
      const bool moves =
          operation.a.is_zero() && operation.b.is_zero() && operation.c.form == Form::immediate;
      if (!moves) operation.kind = Kind::unknown;
      operation.b = operation.c;
      operation.a = operation.c = {};
      operation.results = {};
      return true;
    }
    case 0x109:  // POPC
    case 0x101:  // BREV
    case 0x100:  // FLO
      read_arithmetic(bits, make(operation, number == 0x109   ? Kind::count_bits
                                            : number == 0x101 ? Kind::reverse
                                                              : Kind::leading_bit));
      operation.a = operation.c = {};
      operation.is_signed = number == 0x100 && bits.is_set(73);
      operation.is_high = number == 0x100 && bits.is_set(74);  // SH: the distance from the top
      if (number == 0x100) {
        if (operation.results[0].number != 7 || operation.is_signed) {
          operation.kind = Kind::unknown;
        }
        operation.is_signed = false;
      }
      operation.results = {};
      return true;
    default:
      return false;
  }
}

}  // namespace warpmeter::model::steps
