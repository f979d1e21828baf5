// SPDX-License-Identifier: MIT
#include "collector/model/ptx/memory/identity.h"

namespace warpmeter::model::ptx {
namespace {

Identity::Bits of_name(std::string_view name, const DataFlow& data) {
  if (!name.starts_with('%') || data.find(name)) return 0;
  const Same same = same_in(special_named(name));
  return same == Same::thread ? Identity::thread : same == Same::block ? Identity::block : 0;
}

Identity::Bits of_special(const Operand& operand, const DataFlow& data) {
  Identity::Bits bits = of_name(operand.name, data);
  for (const Operand& part : operand.parts) bits |= of_special(part, data);
  return bits;
}

}  // namespace

Identity::Identity(const Function& function, const DataFlow& data,
                   std::span<const MemoryAccess> accesses, std::span<const MemoryPiece> pieces,
                   BranchRegions& regions, const LiveValues& live)
    : function_(function),
      data_(data),
      accesses_(accesses),
      pieces_(pieces),
      registers_(data.registers().size(), 0),
      contents_(pieces.size(), 0),
      decided_(function.body.size()) {
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const Instruction& instruction = function.body[i];
    if (!instruction.guard || instruction.row().effects.flow != Flow::branch) continue;
    decided_[i] = live.left_by(regions.of(i));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < function.body.size(); ++i) changed |= step(i);
  }
}

Identity::Bits Identity::of(const std::vector<RegisterId>& registers) const {
  Bits bits = 0;
  for (const RegisterId id : registers) bits |= registers_[id];
  return bits;
}

bool Identity::add(Bits& to, Bits bits) const {
  const Bits before = to;
  to |= bits;
  return to != before;
}

bool Identity::step(std::size_t i) {
  const Instruction& instruction = function_.body[i];
  const Bits given = given_by(i);
  bool changed = false;
  for (const RegisterId id : data_.writes(i)) changed |= add(registers_[id], given);
  const Bits stored = of(accesses_[i].values);
  for (const PieceId id : accesses_[i].to) changed |= add(contents_[id], stored);
  if (!instruction.guard) return changed;
  const auto predicate = data_.find(instruction.guard->predicate);
  const Bits deciding = predicate ? registers_[*predicate] : Bits{0};
  for (const RegisterId id : decided_[i]) changed |= add(registers_[id], deciding);
  return changed;
}

Identity::Bits Identity::given_by(std::size_t i) const {
  const Instruction& instruction = function_.body[i];
  const Effects& effects = instruction.row().effects;
  if (instruction.is(Opcode::unknown) || effects.flow == Flow::call) return thread | block;
  Bits bits = loaded_by(i);
  for (const RegisterId id : data_.reads(i)) bits |= registers_[id];
  for (const Operand& operand : instruction.operands) bits |= of_special(operand, data_);
  if (effects.waits_for_block) return bits & block;  // a barrier's vote is the block's
  if (effects.differs) bits |= thread;
  return bits;
}

/// One place holds the same for all who look there, as far as they see the same memory.
Identity::Bits Identity::loaded_by(std::size_t i) const {
  const Instruction& instruction = function_.body[i];
  const Memory memory = instruction.row().effects.memory;
  // A function's parameter may be anything of its caller's.
  if (instruction.space == Space::param && !function_.is_entry) return thread | block;
  Bits bits = memory == Memory::atomic ? thread : Bits{0};
  for (const PieceId id : accesses_[i].from) {
    if (pieces_[id].kind != MemoryPiece::Kind::block) continue;
    bits |= instruction.space == Space::shared ? contents_[id] & block : contents_[id];
  }
  return bits;
}

}  // namespace warpmeter::model::ptx
