// SPDX-License-Identifier: MIT
#include "collector/model/ptx/memory/verified_loads.h"

#include <algorithm>

namespace warpmeter::model::ptx {
namespace {

/// Registers that hold the same as those given, by way of moves and changes of the address space.
void add_copied(const Function& function, const DataFlow& data, std::vector<bool>& same) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const Opcode opcode = function.body[i].opcode;
      if (opcode != Opcode::mov && opcode != Opcode::cvta) continue;
      const auto writes = data.writes(i);
      if (std::none_of(writes.begin(), writes.end(), [&](RegisterId id) { return same[id]; })) {
        continue;
      }
      for (const RegisterId id : data.reads(i)) {
        changed |= !same[id];
        same[id] = true;
      }
    }
  }
}

std::vector<bool> copies_of(const Function& function, const DataFlow& data, RegisterId id) {
  std::vector<bool> same(data.registers().size(), false);
  same[id] = true;
  add_copied(function, data, same);
  return same;
}

}  // namespace

std::vector<bool> verified_loads(const Function& function, const DataFlow& data) {
  std::vector<bool> found(function.body.size(), false);
  for (const Instruction& swap : function.body) {
    if (swap.opcode != Opcode::atom || !swap.has(Word::cas) || swap.operands.size() < 4) continue;
    const auto compared = data.find(swap.operands[2].name);
    const auto base = data.find(swap.operands[1].address.base);
    if (!compared || !base) continue;
    const std::vector<bool> values = copies_of(function, data, *compared);
    const std::vector<bool> bases = copies_of(function, data, *base);
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const Instruction& load = function.body[i];
      if (load.opcode != Opcode::ld || load.operands.size() < 2) continue;
      const auto to = data.find(load.operands[0].name);
      const auto from = data.find(load.operands[1].address.base);
      found[i] = found[i] || (to && from && values[*to] && bases[*from] &&
                              load.operands[1].address.offset == swap.operands[1].address.offset);
    }
  }
  return found;
}

}  // namespace warpmeter::model::ptx
