// SPDX-License-Identifier: MIT
#include "collector/model/machine/decode/unset_memory.h"

#include <algorithm>
#include <vector>

namespace warpmeter::model {

using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

std::uint32_t bytes_of_part(const ptx::Instruction& instruction) {
  return ptx::info_of(instruction.first_type()).bytes();
}

std::vector<const Operand*> registers_of(const ptx::Instruction& instruction) {
  const Operand& data = instruction.operands[instruction.opcode == Opcode::ld ? 0 : 1];
  if (data.kind != Operand::Kind::vector) return {&data};
  std::vector<const Operand*> all;
  for (const Operand& part : data.parts) all.push_back(&part);
  return all;
}

bool is_plain_access(const ptx::Instruction& instruction) {
  const Space space = instruction.space;
  return (instruction.opcode == Opcode::ld || instruction.opcode == Opcode::st) &&
         instruction.operands.size() >= 2 &&
         (space == Space::global || space == Space::shared || space == Space::none);
}

std::vector<const Operand*> given_unset(const ptx::Instruction& instruction, bool is_copied) {
  const bool is_shuffle = instruction.opcode == Opcode::shfl;
  const bool is_load = instruction.opcode == Opcode::ld && is_plain_access(instruction);
  if (!is_shuffle && !is_load) return {};
  const Operand& to = instruction.operands[0];
  if (is_shuffle) return {to.kind == Operand::Kind::pair ? &to.parts[0] : &to};  // `value|is_there`
  if (!is_copied && to.kind != Operand::Kind::vector) return {};
  return registers_of(instruction);
}

void find_dormant(UnsetTable& table) {
  const auto is_awake = [&](const UnsetOperand& one) {
    return one.number != always_set && !table.registers[one.number].from_memory;
  };
  const auto any_awake = [&](const std::vector<UnsetOperand>& all) {
    return std::any_of(all.begin(), all.end(), is_awake);
  };
  for (UnsetStep& step : table.steps) {
    bool awake = step.copy || !step.forgotten.empty() || (step.has_guard && is_awake(step.guard)) ||
                 any_awake(step.results) || any_awake(step.sources);
    for (const UnsetStep::Use& use : step.uses) awake |= any_awake(use.operands);
    step.is_dormant = !awake;
  }
}

}  // namespace warpmeter::model
