// SPDX-License-Identifier: MIT
// The effect of instructions on registers that may be unset: see unset_finder.h.
#include <algorithm>
#include <utility>

#include "collector/model/machine/decode/unset_finder.h"
#include "collector/model/ptx/row.h"

namespace warpmeter::model {

UnsetOperand Decoder::UnsetFinder::operand(const Known& known, const Operand& from) const {
  UnsetOperand result;
  if (from.kind == Operand::Kind::integer) {
    result.is_constant = true;
    result.value = from.bits;
    result.bits = 64;
    return result;
  }
  const std::string_view name = from.kind == Operand::Kind::address ? from.address.base : from.name;
  result.is_negated = from.negated;
  const ptx::DataFlow& data = known.instance->analysis->data;
  const auto id = data.find(name);
  if (!id) return result;
  result.number = known.numbers[*id];
  result.bits = ptx::info_of(data.registers()[*id].type).bits;
  if (const auto predicate = decoder_.predicate_index(name)) {
    result.is_predicate = true;
    result.row = *predicate;
  } else if (const auto row = decoder_.register_row(name)) {
    result.row = row->first;
  }
  return result;
}

std::vector<UnsetOperand> Decoder::UnsetFinder::operands(
    const Known& known, const std::vector<const Operand*>& from) const {
  std::vector<UnsetOperand> all;
  all.reserve(from.size());
  for (const Operand* each : from) all.push_back(operand(known, *each));
  return all;
}

std::uint32_t Decoder::UnsetFinder::first_operation(const Instance& instance, std::size_t index) {
  const Analysis& analysis = *instance.analysis;
  const ptx::Block& block = analysis.graph.blocks[analysis.graph.block_of[index]];
  return instance.operation_of[index] + (analysis.is_meeting[index] ? 1u : 0u) +
         (block.gathers && block.first == index ? 1u : 0u);
}

void Decoder::UnsetFinder::add_steps(Known& known) {
  Instance* const before = std::exchange(decoder_.instance_, const_cast<Instance*>(known.instance));
  add_entry(known);
  const ptx::Function& function = *known.instance->function;
  const auto neighbours = ptx::neighbouring_stores(function, known.instance->analysis->graph);
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    if (auto step = step_of(known, i, neighbours[i])) {
      push(std::move(*step), first_operation(*known.instance, i));
    }
    const bool goes_on = i + 1 < function.body.size();
    if (goes_on && function.body[i].opcode == Opcode::call && known.instance->root->is_recursive) {
      add_return(*known.instance->root, first_operation(*known.instance, i + 1));
    }
  }
  decoder_.instance_ = before;
}

void Decoder::UnsetFinder::push(UnsetStep step, std::uint32_t operation) {
  step.operation = operation;
  step.instruction = program_.operations[operation].instruction;
  if (step.spread == ptx::Spread::matrix_product) {
    step.product = program_.products[program_.operations[operation].extra];
  }
  program_.unset.steps.push_back(std::move(step));
}

void Decoder::UnsetFinder::add_return(const Root& root, std::uint32_t operation) {
  UnsetStep step;
  for (const Known& known : known_) {
    if (known.instance->root != &root) continue;
    for (const std::uint32_t number : known.numbers) {
      if (number != always_set) step.results.emplace_back().number = number;
    }
  }
  push(std::move(step), operation);
}

std::optional<UnsetStep::Place> Decoder::UnsetFinder::place_of(const Known& known,
                                                               const Operand& address) const {
  UnsetStep::Place place;
  place.offset = address.address.offset;
  place.base = operand(known, address);
  if (place.base.row != no_operand) return place;
  const auto symbol = known.instance->symbols.find(address.address.base);
  if (symbol == known.instance->symbols.end()) return std::nullopt;
  if (symbol->second.space != AddressSpace::local) return std::nullopt;
  return place_of(symbol->second, place.offset);
}

UnsetStep::Place Decoder::UnsetFinder::place_of(const Symbol& symbol, std::int64_t offset) const {
  UnsetStep::Place place;
  place.offset = static_cast<std::int64_t>(symbol.address) + offset;
  place.base.bits = 64;
  if (symbol.in_frame) {
    place.base.row = decoder_.frame_row();
  } else {
    place.base.is_constant = true;
  }
  return place;
}

void Decoder::UnsetFinder::add_entry(const Known& known) {
  const Instance& instance = *known.instance;
  const ptx::ControlFlow& graph = instance.analysis->graph;
  if (!instance.returns() || graph.blocks.empty() || !graph.blocks[0].predecessors.empty()) return;
  UnsetStep step;
  step.spread = ptx::Spread::lose;
  for (std::size_t id = 0; id < known.at_entry.size(); ++id) {
    if (!known.at_entry[id]) continue;
    UnsetOperand result;
    result.number = known.numbers[id];
    result.bits = program_.unset.registers[result.number].bits;
    step.results.push_back(result);
  }
  for (const ptx::Variable& variable : instance.function->variables) {
    if (variable.space != ptx::Space::local) continue;
    const Symbol& symbol = instance.symbols.at(variable.name);
    step.forgotten.push_back({place_of(symbol, 0), symbol.bytes});
  }
  if (!step.results.empty() || !step.forgotten.empty()) {
    push(std::move(step), instance.operation_of[0]);
  }
}

bool Decoder::UnsetFinder::is_any_unset(const std::vector<UnsetOperand>& all) {
  return std::any_of(all.begin(), all.end(),
                     [](const UnsetOperand& one) { return one.number != always_set; });
}

std::optional<UnsetStep> Decoder::UnsetFinder::step_of(const Known& known, std::size_t index,
                                                       const std::vector<std::size_t>& neighbours) {
  const ptx::Instruction& instruction = known.instance->function->body[index];
  const ptx::UnsetRole role = ptx::unset_role(instruction);
  UnsetStep step;
  step.spread = role.spread;
  step.bits = role.bits;
  step.from_bits = role.from_bits;
  step.is_signed = role.is_signed;
  step.extends_sign = role.extends_sign;
  step.clamps = role.clamps;
  step.combines_or = role.combines_or;
  step.table = role.table;
  step.results = operands(known, role.results);
  step.sources = operands(known, role.sources);
  reach_local(known, instruction, step);
  reach_memory(known, instruction, step);
  if (instruction.guard) {
    Operand guard;
    guard.name = instruction.guard->predicate;
    guard.negated = instruction.guard->negated;
    step.has_guard = true;
    step.guard = operand(known, guard);
    step.is_branch = instruction.opcode == Opcode::bra ||
                     (instruction.opcode == Opcode::ret && known.instance->returns());
    if (role.has_effect && step.guard.number != always_set) {
      step.uses.emplace_back().what = ptx::UnsetUse::decision;
      step.uses.back().operands = {step.guard};
    }
  }
  for (const ptx::UnsetRole::Use& use : role.uses) add_use(known, use, neighbours, step);
  const bool gives = is_any_unset(step.results);
  if (!gives) step.results.clear();
  const bool is_used = !step.uses.empty() || !step.written.empty() || step.access.stores;
  if (!gives && !is_used) return std::nullopt;
  return step;
}

void Decoder::UnsetFinder::reach_memory(const Known& known, const ptx::Instruction& instruction,
                                        UnsetStep& step) const {
  if (!is_plain_access(instruction) || bytes_of_part(instruction) > 8) return;
  step.bytes = bytes_of_part(instruction);
  step.is_load = instruction.opcode == Opcode::ld && is_any_unset(step.results);
  step.is_store = instruction.opcode == Opcode::st;
  if (step.is_store && !step.access.stores) {
    step.sources = operands(known, registers_of(instruction));
  }
}

void Decoder::UnsetFinder::reach_local(const Known& known, const ptx::Instruction& instruction,
                                       UnsetStep& step) {
  const bool is_parameter = !pieces_of(*known.instance, instruction).empty();
  if (!is_parameter && !may_reach_local(instruction)) return;
  const bool loads = instruction.opcode == Opcode::ld;
  const Operand& address = instruction.operands[loads ? 1 : 0];
  const auto place = place_of(known, address);
  if (!place || bytes_of_part(instruction) > 8) return;
  step.access.place = *place;
  step.access.bytes = bytes_of_part(instruction);
  step.access.is_parameter = is_parameter;
  step.access.is_generic = instruction.space == ptx::Space::none && place->base.row != no_operand &&
                           known.instance->analysis->data.find(address.address.base).has_value();
  if (loads) {
    step.spread = ptx::Spread::load;
    step.access.loads = true;
    return;
  }
  std::vector<UnsetOperand> written = operands(known, registers_of(instruction));
  if (!is_any_unset(written)) return;
  step.sources = std::move(written);
  step.access.stores = true;
}

void Decoder::UnsetFinder::add_use(const Known& known, const ptx::UnsetRole::Use& use,
                                   const std::vector<std::size_t>& neighbours, UnsetStep& step) {
  UnsetStep::Use made;
  made.what = use.what;
  made.operands = operands(known, use.operands);
  made.bits = use.bits;
  if (!is_any_unset(made.operands)) return;
  if (use.what == ptx::UnsetUse::value) {
    if (use.generic_address != nullptr) {
      const auto place = place_of(known, *use.generic_address);
      if (!place) return;
      made.is_generic = true;
      made.place = *place;
    }
    step.written.push_back(made);
    const auto always = [](const UnsetOperand& one) { return one.number == always_set; };
    if (std::any_of(made.operands.begin(), made.operands.end(), always)) return;
    for (const std::size_t beside : neighbours) {
      for (const Operand* each : registers_of(known.instance->function->body[beside])) {
        made.neighbours.push_back(operand(known, *each));
        made.neighbours.back().bits = 8 * bytes_of_part(known.instance->function->body[beside]);
      }
    }
    if (std::any_of(made.neighbours.begin(), made.neighbours.end(), always)) return;
  }
  step.uses.push_back(std::move(made));
}

}  // namespace warpmeter::model
