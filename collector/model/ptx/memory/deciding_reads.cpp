// SPDX-License-Identifier: MIT
#include "collector/model/ptx/memory/deciding_reads.h"

#include <algorithm>

namespace warpmeter::model::ptx {
namespace {

/// True if others of the block, or another function, may ask for what the instruction stores.
bool hands_on(const Instruction& instruction) {
  const Effects& effects = instruction.row().effects;
  if (effects.flow != Flow::next || instruction.is(Opcode::unknown)) return true;
  return instruction.opcode == Opcode::st && instruction.space != Space::global;
}

}  // namespace

std::vector<bool> deciding_reads(const Function& function, const DataFlow& data) {
  std::vector<bool> decides(data.registers().size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = function.body.size(); i-- > 0;) {  // values mostly come from before
      const Instruction& instruction = function.body[i];
      const auto mark = [&](RegisterId id) {
        changed |= !decides[id];
        decides[id] = true;
      };
      if (instruction.guard) {
        if (const auto id = data.find(instruction.guard->predicate)) mark(*id);
      }
      const auto writes = data.writes(i);
      const bool gives =
          std::any_of(writes.begin(), writes.end(), [&](RegisterId id) { return decides[id]; });
      if (!gives && !hands_on(instruction)) continue;
      for (const RegisterId id : data.reads(i)) mark(id);
    }
  }
  std::vector<bool> found(function.body.size(), false);
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const auto writes = data.writes(i);
    found[i] =
        std::any_of(writes.begin(), writes.end(), [&](RegisterId id) { return decides[id]; });
  }
  return found;
}

}  // namespace warpmeter::model::ptx
