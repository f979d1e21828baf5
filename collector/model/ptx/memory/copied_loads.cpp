// SPDX-License-Identifier: MIT
#include "collector/model/ptx/memory/copied_loads.h"

#include <algorithm>

namespace warpmeter::model::ptx {
namespace {

bool names(const Operand& operand, std::string_view name) {
  if (operand.kind == Operand::Kind::address) return operand.address.base == name;
  if (operand.kind == Operand::Kind::name) return operand.name == name;
  return std::any_of(operand.parts.begin(), operand.parts.end(),
                     [&](const Operand& part) { return names(part, name); });
}

/// True if the instruction does nothing with the register but put it elsewhere.
bool puts_elsewhere(const Instruction& instruction, std::string_view name) {
  if (instruction.guard && instruction.guard->predicate == name) return false;
  if (instruction.opcode == Opcode::mov) return true;
  return instruction.opcode == Opcode::st && !names(instruction.operands[0], name);
}

}  // namespace

std::vector<bool> copied_loads(const Function& function, const DataFlow& data) {
  // A register is used when something computes with it, or with what a move made of it.
  std::vector<bool> used(data.registers().size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const Instruction& instruction = function.body[i];
      const auto writes = data.writes(i);
      const bool gives_used =
          std::any_of(writes.begin(), writes.end(), [&](RegisterId id) { return used[id]; });
      for (const RegisterId id : data.reads(i)) {
        if (used[id]) continue;
        used[id] = gives_used || !puts_elsewhere(instruction, data.registers()[id].name);
        changed |= used[id];
      }
    }
  }
  std::vector<bool> copied(function.body.size(), false);
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const auto writes = data.writes(i);
    copied[i] = function.body[i].opcode == Opcode::ld &&
                std::none_of(writes.begin(), writes.end(), [&](RegisterId id) { return used[id]; });
  }
  return copied;
}

}  // namespace warpmeter::model::ptx
