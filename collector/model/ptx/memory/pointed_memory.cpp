// SPDX-License-Identifier: MIT
#include "collector/model/ptx/memory/pointed_memory.h"

#include <algorithm>

namespace warpmeter::model::ptx {
namespace {

bool add_all(std::vector<PieceId>& to, const std::vector<PieceId>& from) {
  bool changed = false;
  for (const PieceId id : from) {
    if (std::find(to.begin(), to.end(), id) != to.end()) continue;
    to.push_back(id);
    changed = true;
  }
  return changed;
}

/// Whatever operands name beside registers, as often as they do.
std::vector<std::string_view> names_in(const Function& function) {
  std::vector<std::string_view> names;
  const auto note = [&](const auto& self, const Operand& operand) -> void {
    const std::string_view name =
        operand.address.base.empty() ? operand.name : operand.address.base;
    if (!name.empty() && !name.starts_with('%')) names.push_back(name);
    for (const Operand& part : operand.parts) self(self, part);
  };
  for (const Instruction& instruction : function.body) {
    for (const Operand& operand : instruction.operands) note(note, operand);
  }
  return names;
}

constexpr PieceId elsewhere = 0;  // the first of the pieces

bool is_constant(Space space) { return space == Space::constant || space == Space::param; }

}  // namespace

bool PointedMemory::Pointers::add(const Pointers& other) {
  const bool is_new = (other.may_come_from_memory && !may_come_from_memory) ||
                      (other.has_unknown_half && !has_unknown_half);
  may_come_from_memory |= other.may_come_from_memory;
  has_unknown_half |= other.has_unknown_half;
  const bool has_sure = add_all(sure, other.sure);
  return add_all(possible, other.possible) || has_sure || is_new;
}

PointedMemory::PointedMemory(const Function& function, const DataFlow& data,
                             const Spaces& variables)
    : function_(function), data_(data), held_(data.registers().size()) {
  number_of({});
  spaces_.push_back(Space::global);
  const auto add = [&](std::string_view name, Space space) {
    using Kind = MemoryPiece::Kind;
    const Kind kind = space == Space::global ? Kind::variable : Kind::block;
    variables_.emplace(name, number_of({kind, name, 0}));
    spaces_.push_back(space);
  };
  for (const std::string_view name : names_in(function)) {
    const auto variable = variables.find(name);
    const bool is_known = variable != variables.end() && !variables_.contains(name);
    if (is_known && variable->second != Space::constant) add(name, variable->second);
  }
  for (const Variable& variable : function.variables) add(variable.name, variable.space);
  if (!function.is_entry) {
    for (const auto* list : {&function.parameters, &function.results}) {
      for (const Variable& variable : *list) add(variable.name, Space::param);
    }
  }
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const Instruction& instruction = function.body[i];
    const bool is_parameter = instruction.opcode == Opcode::ld && function.is_entry &&
                              instruction.space == Space::param &&
                              instruction.operands.size() == 2 &&
                              info_of(instruction.first_type()).bits == 64;
    if (!is_parameter) continue;
    const Address& from = instruction.operands[1].address;
    const auto& parameters = function.parameters;
    const bool is_named = std::any_of(parameters.begin(), parameters.end(),
                                      [&](const Variable& p) { return p.name == from.base; });
    if (!is_named) continue;  // for a call, or whichever a number says
    for (unsigned part = 0; part < instruction.parts; ++part) {
      const auto offset = static_cast<std::uint32_t>(from.offset + 8 * part);
      const PieceId id = number_of({MemoryPiece::Kind::parameter, from.base, offset});
      if (id == spaces_.size()) spaces_.push_back(Space::global);
      loaded_[i].push_back(id);
    }
  }
  follow();
}

PieceId PointedMemory::number_of(const MemoryPiece& piece) {
  const auto known = std::find(pieces_.begin(), pieces_.end(), piece);
  const auto id = static_cast<PieceId>(known - pieces_.begin());
  if (known == pieces_.end()) pieces_.push_back(piece);
  return id;
}

void PointedMemory::follow() {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < function_.body.size(); ++i) {
      const auto writes = data_.writes(i);
      if (writes.empty()) continue;
      const Pointers given = given_by(i);
      if (given.empty()) continue;
      for (const RegisterId id : writes) changed |= held_[id].add(given);
    }
  }
}

PointedMemory::Pointers PointedMemory::of_name(std::string_view name) const {
  if (const auto id = data_.find(name)) return held_[*id];
  Pointers result;
  if (const auto known = variables_.find(name); known != variables_.end()) {
    result.sure.push_back(known->second);
  }
  return result;
}

PointedMemory::Pointers PointedMemory::given_by(std::size_t index) const {
  const Instruction& instruction = function_.body[index];
  const Effects& effects = instruction.row().effects;
  Pointers result;
  if (const auto parameter = loaded_.find(index); parameter != loaded_.end()) {
    result.possible = parameter->second;
    return result;
  }
  if (effects.memory != Memory::none || effects.flow == Flow::call) {
    result.may_come_from_memory = info_of(instruction.first_type()).bits >= 64;
    return result;
  }
  for (std::size_t i = effects.writes_first ? 1 : 0; i < instruction.operands.size(); ++i) {
    const Operand& operand = instruction.operands[i];
    const bool is_place = !operand.address.base.empty();
    result.add(of_name(is_place ? operand.address.base : operand.name));
    for (const Operand& part : operand.parts) {
      const Pointers of_part = of_name(part.name);
      result.has_unknown_half |= !of_part.has_pieces();
      result.add(of_part);
    }
  }
  const bool moves_a_half = instruction.opcode == Opcode::shl && instruction.operands.size() == 3 &&
                            instruction.operands[2].kind == Operand::Kind::integer &&
                            instruction.operands[2].bits >= 32;
  result.has_unknown_half |= moves_a_half && !result.has_pieces();
  if (instruction.opcode == Opcode::cvta && !result.possible.empty()) {
    add_all(result.sure, result.possible);
    result.possible.clear();
  }
  return result;
}

/// Pieces in global memory are reached generically too, as all others are.
bool PointedMemory::is_in(PieceId piece, Space space) const {
  return space == Space::none || spaces_[piece] == space;
}

const std::vector<PieceId>& PointedMemory::reached(const Operand& address, Space space) {
  found_.clear();
  const Pointers pointers = of_name(address.address.base);
  const auto keep = [&](const std::vector<PieceId>& from) {
    for (const PieceId id : from) {
      if (is_in(id, space)) found_.push_back(id);
    }
  };
  keep(pointers.sure);
  if (!found_.empty() || (is_constant(space) && pointers.sure.empty())) return found_;
  keep(pointers.possible);
  const bool is_global = space == Space::global || space == Space::none;
  const bool is_anywhere = pointers.may_come_from_memory || found_.empty();
  if (!is_anywhere) return found_;
  // It may be any of those that the code names, or, of global memory, another.
  found_.clear();
  for (PieceId id = 0; id < pieces_.size(); ++id) {
    if (is_global ? spaces_[id] == Space::global : spaces_[id] == space) found_.push_back(id);
  }
  return found_;
}

void PointedMemory::add_all_reached(const Operand& address, std::vector<PieceId>& to) const {
  const Pointers pointers = of_name(address.address.base);
  add_all(to, pointers.sure);
  add_all(to, pointers.possible);
  if (pointers.may_come_from_memory || pointers.has_unknown_half || !pointers.has_pieces()) {
    add_all(to, {elsewhere});
  }
}

}  // namespace warpmeter::model::ptx
