// What every instruction of PTX does to control and data, by name: the one table from which control
// flow, data flow and the grading of accesses are derived. It is wider than what the machine can
// execute, so that a kernel is refused for what it really lacks.
//
// An entry may name more than the opcode ("bar.red"): the longest entry that the instruction starts
// with, component by component, is its own.
#pragma once

#include <optional>
#include <string_view>

#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

enum class Memory {
  none,
  load,
  store,
  atomic,  ///< reads, changes and returns the old value
  reduce,  ///< reads and changes
  copy,    ///< from memory to memory: cp.async and its like
};

enum class Flow {
  next,            ///< to the next instruction
  branch,          ///< to the label that is the first operand
  indexed_branch,  ///< to a label of the list that is the second operand
  call,
  leave,   ///< ret: to the caller, or the end of the thread in an entry
  finish,  ///< exit and trap: the end of the thread
};

struct Opcode {
  std::string_view name;
  /// Whether the first operand is written: a register, a pair, a vector or, of a call, a list.
  bool writes_first = false;
  Memory memory = Memory::none;
  Flow flow = Flow::next;
  bool is_barrier = false;  ///< waits for other threads of the block
};

/// The entry of an instruction; null when PTX has no such instruction.
const Opcode* find_opcode(const Instruction& instruction);

/// A diagnostic for the first instruction of the function that PTX does not have.
std::optional<Diagnostic> check_opcodes(const Function& function);

/// The space that a modifier of an access names ("shared", "shared::cta", "global", "const", …);
/// Space::none for a generic access.
Space access_space(const Instruction& instruction);

/// The position of the address among an access's operands; nothing for an instruction without one.
std::optional<std::size_t> address_position(const Instruction& instruction);

}  // namespace warpmeter::model::ptx
