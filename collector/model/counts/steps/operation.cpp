// SPDX-License-Identifier: MIT
#include "collector/model/counts/steps/fields.h"

#include <algorithm>
#include <iterator>

namespace warpmeter::model::steps {
namespace {

using Form = Operand::Form;

bool read_control(unsigned opcode, const Bits& bits, std::uint64_t offset, int arch,
                  Operation& operation) {
  operation.input = predicate(bits, 87, false);
  switch (opcode) {
    case 0x947:  // BRA
    case 0x547:
      operation.kind = bits.is_set(91) ? Kind::branch_when_parted : Kind::branch;
      operation.target = sass::jump_target(bits.word(), offset, arch);
      if (opcode == 0x547) {
        operation.second_input = predicate(bits, 24, true);
      } else if (bits.is_set(32) && operation.kind == Kind::branch) {
        operation.kind = Kind::unknown;  // BRA.U and its like
      }
      return true;
    case 0x949:  // BRX
      operation.kind = Kind::branch_by_table;
      operation.a = general(bits.at(24, 8));
      operation.target = sass::jump_target(bits.word(), offset, arch);
      return true;
    case 0x944:  // CALL.REL
      operation.kind = Kind::call;
      operation.target = sass::jump_target(bits.word(), offset, arch);
      return true;
    case 0x950:  // RET.REL
      operation.kind = Kind::back;
      operation.a = general(bits.at(24, 8));
      operation.target = sass::jump_target(bits.word(), offset, arch);
      return true;
    case 0x94d:
      operation.kind = Kind::end;
      return true;
    case 0x945:
    case 0x941:
    case 0x942:
      operation.kind = opcode == 0x945   ? Kind::begin_sync
                       : opcode == 0x941 ? Kind::sync
                                         : Kind::leave_sync;
      operation.barrier = static_cast<std::uint8_t>(bits.at(16, 4));
      return true;
    case 0x348:  // WARPSYNC
    case 0x948:  // WARPSYNC.ALL
      operation.kind = Kind::gather;
      if (opcode == 0x348) operation.a = general(bits.at(24, 8));
      operation.mode = static_cast<std::uint8_t>(bits.at(85, 2));  // EXCLUSIVE, COLLECTIVE
      return true;
    case 0x355:  // BMOV: masks of lanes that wait go to registers and back
    case 0x356:
    case 0x343:
    case 0x943:
    case 0x94a:
    case 0x94c:
    case 0x95b:
      operation.kind = Kind::call_away;
      return true;
    default:
      operation.input = {};
      if ((opcode & 0x1ff) != 0x11d) return false;
      operation.kind = Kind::barrier;
      return true;
  }
}

/// The results of an operation of which nothing else is known.
struct Effect {
  std::uint16_t number;         ///< without its form
  std::uint8_t registers;       ///< by_width: as many as its width says
  std::uint8_t predicates = 0;  ///< 1: at bit 81; 2: also at bit 84
  bool is_uniform = false;
};
constexpr std::uint8_t by_width = 255;
constexpr Effect effects[] = {
    // Stores, reductions, copies, fences, barriers, and what only waits.
    {0x185, 0},
    {0x186, 0},
    {0x187, 0},
    {0x188, 0},
    {0x18e, 0},
    {0x1a6, 0},
    {0x1ae, 0},
    {0x044, 0},
    {0x192, 0},
    {0x1ab, 0},
    {0x18f, 0},
    {0x118, 0},
    {0x11a, 0},
    {0x11b, 0},
    {0x1af, 0},
    {0x146, 0},
    {0x15d, 0},
    // Floats, halves and bytes.
    {0x020, 1},
    {0x021, 1},
    {0x023, 1},
    {0x008, 1},
    {0x009, 1},
    {0x00a, 1},
    {0x00f, 1},
    {0x015, 1},
    {0x014, 1},
    {0x026, 1},
    {0x030, 1},
    {0x031, 1},
    {0x032, 1},
    {0x033, 1},
    {0x035, 1},
    {0x03e, 1},
    {0x040, 1},
    {0x045, 1},
    {0x01a, 1},
    {0x01b, 1},
    {0x016, 1},
    {0x100, 1, 1},
    {0x108, 1},
    {0x107, 1},
    {0x104, 1},
    {0x105, 1},
    {0x106, 1},
    {0x00b, 0, 2},
    {0x034, 0, 2},
    {0x02a, 0, 2},
    {0x102, 0, 1},
    // Doubles, 64 bits and matrices.
    {0x028, 2},
    {0x029, 2},
    {0x02b, 2},
    {0x110, 2},
    {0x111, 2},
    {0x112, 2},
    {0x113, 2},
    {0x14e, 2},
    {0x03b, 4},
    {0x03c, 4},
    {0x037, 4},
    {0x03f, 8},
    {0x03d, 4},
    // Loads and atomics.
    {0x180, by_width, 1},
    {0x181, by_width, 1},
    {0x183, by_width},
    {0x184, by_width},
    {0x18a, 4, 1},
    {0x18c, 2},
    {0x18d, 2},
    {0x1a2, 4, 1},
    {0x1a3, 4, 1},
    {0x1a8, 4, 1},
    {0x1a9, 4, 1},
    // Between lanes.
    {0x189, 1, 1},
    {0x1a1, 1, 1},
    {0x11c, 1, 1},
    {0x1aa, 1, 1},
    {0x1c4, 1, 0, true},
    {0x0bd, 1, 1, true},
    {0x0bf, 1, 0, true},
};

void read_unknown(unsigned opcode, const Bits& bits, Operation& operation) {
  const unsigned number = opcode & 0x1ff;
  const auto* const found = std::find_if(std::begin(effects), std::end(effects),
                                         [&](const Effect& e) { return e.number == number; });
  operation.results = {};
  if (found == std::end(effects)) {
    operation.kind = Kind::unknown;
    operation.writes_anything = true;
    return;
  }
  const Effect& effect = *found;
  operation.is_uniform = effect.is_uniform;
  unsigned registers = effect.registers;
  if (registers == by_width) registers = (sass::access_bytes[bits.at(73, 3)] + 3U) / 4U;
  read_result(bits, operation, static_cast<std::uint8_t>(registers));
  if (effect.predicates > 0) read_predicate_results(bits, operation);
  if (effect.predicates == 1) operation.results[1] = {};
  operation.writes_local = number == 0x185 || number == 0x187 || number == 0x18a || number == 0x1a2;
  const bool writes = operation.result_registers > 0 || effect.predicates > 0;
  operation.kind = writes ? Kind::unknown : Kind::nothing;
}

void read_load(const Bits& bits, Operation& operation) {
  operation.kind = Kind::load;
  operation.amount = static_cast<std::uint8_t>(bits.at(73, 3));
  read_result(bits, operation,
              static_cast<std::uint8_t>((sass::access_bytes[operation.amount] + 3) / 4));
  operation.a = general(bits.at(24, 8));
  operation.target = bits.signed_at(40, 24);
  const bool has_descriptor = bits.is_set(76) || bits.at(32, 6) == 63;
  const bool is_strong = bits.is_set(77) || bits.is_set(78) || bits.is_set(80);
  const bool has_predicate = bits.at(81, 3) != 7;
  if (!bits.is_set(72) || !has_descriptor || is_strong || has_predicate || operation.amount == 7) {
    read_unknown(0x981, bits, operation);
    operation.a = {};
  }
}

/// A generic atomic of floats, whose predicate says that it was done: to memory that is not global
/// it cannot be. Or QSPC.E.S, which asks for shared memory.
void read_ask_space(unsigned opcode, const Bits& bits, Operation& operation) {
  const bool is_atomic = opcode == 0x9a2;
  read_unknown(opcode, bits, operation);
  const bool has_address = is_atomic ? bits.at(70, 3) == 7 : bits.at(64, 17) == 0x500;
  if (!has_address || operation.results[0].number == 7) return;
  operation.kind = Kind::ask_space;
  operation.a = general(bits.at(24, 8));
  operation.target = bits.signed_at(40, 24);
  operation.is_high = is_atomic;  // true for global memory
}

/// LDL or STL.
void read_local(unsigned opcode, const Bits& bits, Operation& operation) {
  const bool is_store = opcode == 0x387;
  operation.amount = static_cast<std::uint8_t>(bits.at(73, 3));
  if (bits.is_set(91) || operation.amount == 7) return read_unknown(opcode, bits, operation);
  operation.kind = is_store ? Kind::local_store : Kind::local_load;
  operation.a = general(bits.at(24, 8));
  operation.target = bits.signed_at(40, 24);
  operation.writes_local = is_store;
  const auto registers = static_cast<std::uint8_t>((sass::access_bytes[operation.amount] + 3) / 4);
  if (is_store) operation.b = general(bits.at(32, 8));
  if (!is_store) read_result(bits, operation, registers);
}

}  // namespace

Operation decode_operation(sass::Word word, std::uint64_t offset, int arch) {
  const Bits bits(word);
  Operation operation;
  const auto opcode = static_cast<unsigned>(bits.at(0, 12));
  const unsigned number = opcode & 0x1ff;
  operation.guard = predicate(bits, 12, false);
  if (read_control(opcode, bits, offset, arch, operation)) return operation;
  // The uniform datapath's operations have the numbers of the others, and 0x080 more.
  const bool may_be_uniform = (number & 0x180) == 0x080;
  if (may_be_uniform) {
    operation.is_uniform = operation.guard.is_uniform = true;
    if (read_shared_arithmetic(number & 0x7f, bits, operation)) return operation;
  } else if (read_shared_arithmetic(number, bits, operation)) {
    return operation;
  } else if (read_general_arithmetic(number, bits, operation) ||
             read_floats(number, bits, operation)) {
    if (operation.kind == Kind::unknown) read_unknown(opcode, bits, operation);
    return operation;
  }
  switch (opcode) {
    case 0x919:  // S2R
    case 0x9c3:  // S2UR
      operation.is_uniform = opcode == 0x9c3;
      read_result(bits, make(operation, Kind::special), 1);
      operation.amount = static_cast<std::uint8_t>(bits.at(72, 8));
      return operation;
    case 0x805:  // CS2R
      read_result(bits, make(operation, Kind::special), bits.is_set(80) ? 2 : 1);
      operation.amount = static_cast<std::uint8_t>(bits.at(72, 8));
      if (operation.amount != 255) operation.kind = Kind::unknown;
      return operation;
    case 0xb82:  // LDC
    case 0xab9:  // ULDC
      operation.kind = Kind::constant;
      operation.is_uniform = operation.guard.is_uniform = opcode == 0xab9;
      operation.amount = static_cast<std::uint8_t>(bits.at(73, 3));
      read_result(bits, operation,
                  static_cast<std::uint8_t>((sass::access_bytes[operation.amount] + 3) / 4));
      operation.a = operation.is_uniform ? uniform(63) : general(bits.at(24, 8));
      operation.b = constant(bits);
      if (bits.is_set(91) || operation.amount == 7) operation.kind = Kind::unknown;
      return operation;
    case 0x981:  // LDG
      read_load(bits, operation);
      return operation;
    case 0x9a2:  // ATOM
    case 0x3aa:  // QSPC
      read_ask_space(opcode, bits, operation);
      return operation;
    case 0x983:  // LDL
    case 0x387:  // STL
      read_local(opcode, bits, operation);
      return operation;
    case 0x3a1:  // MATCH
      if (bits.at(72, 9) != 0x80) {
        read_unknown(opcode, bits, operation);
        return operation;
      }
      read_result(bits, make(operation, Kind::match_any), 1);
      operation.a = general(bits.at(24, 8));
      return operation;
    case 0x3c4:  // REDUX
      operation.is_uniform = true;
      read_result(bits, make(operation, Kind::reduce), 1);
      operation.a = general(bits.at(24, 8));
      operation.amount = static_cast<std::uint8_t>(bits.at(78, 3));
      operation.is_signed = bits.is_set(73);
      if (operation.amount > 5) operation.kind = Kind::unknown;
      return operation;
    case 0x2ca:  // R2UR
      operation.is_uniform = true;
      operation.guard.is_uniform = false;
      read_result(bits, make(operation, Kind::move), 1);
      operation.b = general(bits.at(24, 8));
      return operation;
    case 0x81c:  // PLOP3
    case 0x89c:
      operation.kind = Kind::predicate_logic;
      operation.is_uniform = operation.guard.is_uniform = opcode == 0x89c;
      read_predicate_results(bits, operation);
      operation.input = predicate(bits, 87, operation.is_uniform);
      operation.second_input = predicate(bits, 77, operation.is_uniform);
      operation.third_input = predicate(bits, 68, operation.is_uniform || bits.is_set(67));
      operation.amount = static_cast<std::uint8_t>(bits.at(64, 3) | bits.at(72, 5) << 3);
      operation.mode = static_cast<std::uint8_t>(bits.at(16, 8));
      return operation;
    case 0x803:  // P2R
      read_result(bits, make(operation, Kind::predicates_to_register), 1);
      operation.a = general(bits.at(24, 8));
      operation.b = {Form::immediate, 0, false, static_cast<std::uint32_t>(bits.at(32, 32))};
      if (bits.at(76, 2) != 0) operation.kind = Kind::unknown;
      return operation;
    case 0x804:  // R2P
      operation.kind = Kind::register_to_predicates;
      operation.a = general(bits.at(24, 8));
      operation.b = {Form::immediate, 0, false, static_cast<std::uint32_t>(bits.at(32, 32))};
      operation.amount = static_cast<std::uint8_t>(bits.at(76, 2));
      return operation;
    case 0x806:  // VOTE
    case 0x886:  // VOTEU
      operation.is_uniform = opcode == 0x886;
      operation.guard.is_uniform = false;
      read_result(bits, make(operation, Kind::vote), 1);
      operation.results[0] = predicate(bits, 81, operation.is_uniform, false);
      operation.input = predicate(bits, 87, false);
      operation.mode = static_cast<std::uint8_t>(bits.at(72, 2));
      if (operation.mode > 1) operation.kind = Kind::unknown;
      return operation;
    default:
      read_unknown(opcode, bits, operation);
      return operation;
  }
}

}  // namespace warpmeter::model::steps
