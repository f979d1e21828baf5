// SPDX-License-Identifier: MIT
#include "collector/model/ptx/memory/memory_accesses.h"

namespace warpmeter::model::ptx {
namespace {

class Notes {
 public:
  Notes(const Function& function, const DataFlow& data, PointedMemory& memory)
      : function_(function), data_(data), memory_(memory) {}

  std::vector<MemoryAccess> all() {
    std::vector<MemoryAccess> accesses(function_.body.size());
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      const Instruction& instruction = function_.body[i];
      const Effects& effects = instruction.row().effects;
      MemoryAccess& access = accesses[i];
      if (effects.flow == Flow::call) note_call(instruction, access);
      if (effects.memory == Memory::none) continue;
      bool is_first = true;
      for (std::size_t k = 0; k < instruction.operands.size(); ++k) {
        const Operand& operand = instruction.operands[k];
        if (operand.kind != Operand::Kind::address) {
          if (k > 0 || !effects.writes_first) note_values(operand, access.values);
          continue;
        }
        note_values(operand, access.address);
        const bool is_copy = effects.memory == Memory::copy;
        auto& side =
            effects.memory == Memory::load || (is_copy && !is_first) ? access.from : access.to;
        if (side.empty())
          side = memory_.reached(operand, is_copy ? Space::none : instruction.space);
        access.is_to_one_place =
            is_first && instruction.space == Space::shared && !data_.find(operand.address.base);
        if (is_first) access.place = operand.address;
        is_first = false;
      }
    }
    return accesses;
  }

 private:
  /// The result depends on the arguments.
  void note_call(const Instruction& instruction, MemoryAccess& access) {
    for (std::size_t k = 0; k < instruction.operands.size(); ++k) {
      auto& side = k == 0 ? access.to : access.from;
      for (const Operand& part : instruction.operands[k].parts) {
        if (data_.find(part.name)) continue;  // for one that PTX defines
        Operand place;
        place.address.base = part.name;
        const auto& reached = memory_.reached(place, Space::param);
        side.insert(side.end(), reached.begin(), reached.end());
      }
    }
  }

  void note_values(const Operand& operand, std::vector<RegisterId>& to) const {
    const bool is_address = operand.kind == Operand::Kind::address;
    if (const auto id = data_.find(is_address ? operand.address.base : operand.name)) {
      to.push_back(*id);
    }
    for (const Operand& part : operand.parts) note_values(part, to);
  }

  const Function& function_;
  const DataFlow& data_;
  PointedMemory& memory_;
};

}  // namespace

std::vector<MemoryAccess> memory_accesses(const Function& function, const DataFlow& data,
                                          PointedMemory& memory) {
  return Notes(function, data, memory).all();
}

}  // namespace warpmeter::model::ptx
