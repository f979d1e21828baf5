// SPDX-License-Identifier: MIT
// Registers that may be unset: see unset_finder.h.
#include <algorithm>
#include <map>
#include <string>

#include "collector/model/machine/decode/unset_finder.h"

namespace warpmeter::model {

void Decoder::UnsetFinder::find() {
  bool any = decoder_.stack_base_.has_value();
  for (const Instance& instance : decoder_.kept_) {
    for (const ptx::Variable& variable : instance.function->variables) {
      any |= variable.space == ptx::Space::local;
    }
  }
  program_.unset.follows_local = any;
  std::map<const ptx::Function*, std::vector<bool>> at_entry;
  for (const Instance& instance : decoder_.kept_) {
    Known& known = known_.emplace_back();
    known.instance = &instance;
    auto found = at_entry.find(instance.function);
    if (found == at_entry.end()) {
      const Analysis& analysis = *instance.analysis;
      found =
          at_entry.emplace(instance.function, ptx::unset_at_entry(analysis.data, analysis.graph))
              .first;
    }
    known.at_entry = found->second;
    any |= std::find(known.at_entry.begin(), known.at_entry.end(), true) != known.at_entry.end();
  }
  const bool from_memory = may_be_given_unset();
  if (!any && !from_memory) return;
  for (Known& known : known_) known.unset = known.at_entry;
  if (any) spread(false);
  for (Known& known : known_) number_registers(known, false);
  if (from_memory) {
    spread(true);
    for (Known& known : known_) number_registers(known, true);
  }
  for (Known& known : known_) add_steps(known);
  if (any) {
    for (UnsetStep& passing : decoder_.passings_) program_.unset.steps.push_back(passing);
  }
  find_dormant(program_.unset);
  auto& steps = program_.unset.steps;
  std::stable_sort(steps.begin(), steps.end(), [](const UnsetStep& a, const UnsetStep& b) {
    return a.operation < b.operation;
  });
}

bool Decoder::UnsetFinder::is_parameter_access(const ptx::Instruction& instruction) {
  return (instruction.opcode == Opcode::st || instruction.opcode == Opcode::ld) &&
         instruction.space == ptx::Space::param;
}

bool Decoder::UnsetFinder::may_reach_local(const ptx::Instruction& instruction) const {
  if (!program_.unset.follows_local) return false;
  if (instruction.opcode != Opcode::ld && instruction.opcode != Opcode::st) return false;
  const ptx::Space space = instruction.space;
  return space == ptx::Space::local || space == ptx::Space::none;
}

std::vector<UnsetPiece> Decoder::UnsetFinder::pieces_of(const Instance& instance,
                                                        const ptx::Instruction& instruction) const {
  const auto position = ptx::address_position(instruction);
  if (!position || !is_parameter_access(instruction)) return {};
  const ptx::Address& address = instruction.operands[*position].address;
  const auto symbol = instance.symbols.find(address.base);
  if (symbol == instance.symbols.end() || symbol->second.space != AddressSpace::local) return {};
  const std::uint32_t bytes = bytes_of_part(instruction);
  std::vector<UnsetPiece> pieces;
  for (std::size_t i = 0; i < registers_of(instruction).size(); ++i) {
    pieces.emplace_back(
        instance.root,
        symbol->second.address + static_cast<std::uint64_t>(address.offset) + i * bytes, bytes);
  }
  return pieces;
}

bool Decoder::UnsetFinder::may_come_by_local(const Known& known,
                                             const ptx::Instruction& load) const {
  return may_reach_local(load) || (has_bodies() && !pieces_of(*known.instance, load).empty());
}

bool Decoder::UnsetFinder::may_be_given_unset() const {
  return std::any_of(known_.begin(), known_.end(), [](const Known& known) {
    const auto& body = known.instance->function->body;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (!given_unset(body[i], known.instance->analysis->is_copied[i]).empty()) return true;
    }
    return false;
  });
}

void Decoder::UnsetFinder::spread(bool from_memory) {
  for (Known& known : known_) {
    const auto& body = known.instance->function->body;
    for (std::size_t i = 0; i < body.size(); ++i) {
      const ptx::Instruction& instruction = body[i];
      std::vector<const Operand*> given;
      if (from_memory) {
        given = given_unset(instruction, known.instance->analysis->is_copied[i]);
      } else if (instruction.opcode == Opcode::ld && may_come_by_local(known, instruction)) {
        given = registers_of(instruction);
      }
      for (const Operand* each : given) {
        if (const auto id = known.instance->analysis->data.find(each->name)) {
          known.unset[*id] = true;
        }
      }
    }
  }
  std::vector<std::vector<bool>> done(known_.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      Known& known = known_[i];
      const Instance& instance = *known.instance;
      const ptx::DataFlow& data = instance.analysis->data;
      std::vector<bool> unset = known.unset;
      for_each_piece(instance, [&](const ptx::Instruction& instruction, const Operand& operand,
                                   const UnsetPiece& piece) {
        const auto id = data.find(operand.name);
        if (instruction.opcode == Opcode::ld && id && pieces_.contains(piece)) unset[*id] = true;
      });
      if (unset == done[i]) continue;
      known.unset = done[i] = ptx::spread_unset(*instance.function, data, std::move(unset));
      changed = true;
      for_each_piece(instance, [&](const ptx::Instruction& instruction, const Operand& operand,
                                   const UnsetPiece& piece) {
        const auto id = data.find(operand.name);
        if (instruction.opcode == Opcode::st && id && known.unset[*id]) {
          changed |= pieces_.insert(piece).second;
        }
      });
    }
  }
}

std::uint32_t Decoder::UnsetFinder::add_register(std::string_view name, std::uint32_t bits,
                                                 bool at_start) {
  program_.unset.registers.push_back({std::string(name.substr(0, name.find('@'))), bits, at_start});
  return static_cast<std::uint32_t>(program_.unset.registers.size() - 1);
}

void Decoder::UnsetFinder::number_registers(Known& known, bool from_memory) {
  const auto& registers = known.instance->analysis->data.registers();
  known.numbers.resize(registers.size(), always_set);
  for (std::size_t id = 0; id < registers.size(); ++id) {
    if (!known.unset[id] || known.numbers[id] != always_set) continue;
    known.numbers[id] =
        add_register(registers[id].name, ptx::info_of(registers[id].type).bits, known.at_entry[id]);
    program_.unset.registers.back().from_memory = from_memory;
  }
}

void Decoder::find_unset() { UnsetFinder(*this).find(); }

}  // namespace warpmeter::model
