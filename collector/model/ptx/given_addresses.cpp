#include "collector/model/ptx/given_addresses.h"

#include <algorithm>

namespace warpmeter::model::ptx {

std::vector<bool> given_addresses(const Function& function, const DataFlow& data) {
  std::vector<bool> found(function.body.size(), false);
  const auto is_atomic = [&](std::size_t i) {
    return function.body[i].row().effects.memory == Memory::atomic;
  };
  std::vector<bool> given(data.registers().size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const auto reads = data.reads(i);
      if (!is_atomic(i) &&
          std::none_of(reads.begin(), reads.end(), [&](RegisterId id) { return given[id]; })) {
        continue;
      }
      for (const RegisterId written : data.writes(i)) {
        changed |= !given[written];
        given[written] = true;
      }
    }
  }
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    for (const Operand& operand : function.body[i].operands) {
      if (operand.kind != Operand::Kind::address) continue;
      const auto base = data.find(operand.address.base);
      found[i] = found[i] || (base && given[*base]);
    }
  }
  return found;
}

}  // namespace warpmeter::model::ptx
