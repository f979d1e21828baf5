// SPDX-License-Identifier: MIT
#include "collector/model/ptx/memory/thread_numbers.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace warpmeter::model::ptx {
namespace {

constexpr std::uint8_t block_number = 1, block_size = 2;

std::uint8_t meaning_of(Special special) {
  switch (special) {
    case Special::ctaid_x:
    case Special::ctaid_y:
    case Special::ctaid_z:
      return block_number;
    case Special::ntid_x:
    case Special::ntid_y:
    case Special::ntid_z:
      return block_size;
    default:
      return 0;
  }
}

}  // namespace

bool numbers_threads_of_grid(const Function& function, const DataFlow& data) {
  std::vector<std::uint8_t> meaning(data.registers().size());
  const auto meaning_of_operand = [&](const Operand& operand) -> std::uint8_t {
    if (operand.kind != Operand::Kind::name) return 0;
    const auto id = data.find(operand.name);
    return id ? meaning[*id] : meaning_of(operand.special);
  };
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const Instruction& instruction = function.body[i];
    const auto& operands = instruction.operands;
    if (operands.size() < 2) continue;
    const std::uint8_t first = meaning_of_operand(operands[1]);
    const bool passes_on = instruction.is(Opcode::mov) || instruction.is(Opcode::cvt);
    if (passes_on && data.writes(i).size() == 1) meaning[data.writes(i)[0]] |= first;
    const bool multiplies = instruction.is(Opcode::mul) || instruction.is(Opcode::mad);
    if (!multiplies || operands.size() < 3) continue;
    const std::uint8_t second = meaning_of_operand(operands[2]);
    if ((first | second) == (block_number | block_size) && first != 0 && second != 0) return true;
  }
  return false;
}

}  // namespace warpmeter::model::ptx
