// Which registers may be unset, over all functions as they were inlined, and what the instructions
// do with them: UnsetTable. Made last, and only looked at closely where some function reads a
// register on a way on which nothing has written it.
//
// Parameters and results of functions lie in local memory. They are followed through it, for a
// compiler passes undefined values to functions that do not use them. Where functions keep
// variables there, all that is loaded from local memory may be unset as well. Of global and shared
// memory, loads that may find a part of what they read unset are followed too (unset_memory.h).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "collector/model/machine/decode/decoder.h"
#include "collector/model/machine/decode/unset_memory.h"
#include "collector/model/ptx/row.h"
#include "collector/model/ptx/unset.h"

namespace warpmeter::model {
namespace {

/// A piece of a parameter: whose frame, where, how many bytes.
using Piece = std::tuple<const Root*, std::uint64_t, std::uint32_t>;

}  // namespace

/// Follows what may be unset through one instance after the other until nothing is added.
class Decoder::UnsetFinder {
 public:
  explicit UnsetFinder(Decoder& decoder) : decoder_(decoder), program_(decoder.program_) {}

  void find() {
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
    const bool from_memory = may_load_unset();
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

 private:
  struct Known {
    const Instance* instance = nullptr;
    std::vector<bool> at_entry, unset;  ///< by register
    std::vector<std::uint32_t> numbers;
  };

  bool has_bodies() const { return program_.has_calls; }  ///< functions that are not inlined

  static bool is_parameter_access(const ptx::Instruction& instruction) {
    return (instruction.opcode == Opcode::st || instruction.opcode == Opcode::ld) &&
           instruction.space == ptx::Space::param;
  }

  /// A load or store that may lead to variables in local memory.
  bool may_reach_local(const ptx::Instruction& instruction) const {
    if (!program_.unset.follows_local) return false;
    if (instruction.opcode != Opcode::ld && instruction.opcode != Opcode::st) return false;
    const ptx::Space space = instruction.space;
    return space == ptx::Space::local || space == ptx::Space::none;
  }

  /// The pieces that an access to a parameter in local memory touches, in the order of its
  /// registers; none for the parameters of the kernel and of bodies of their own.
  std::vector<Piece> pieces_of(const Instance& instance,
                               const ptx::Instruction& instruction) const {
    const auto position = ptx::address_position(instruction);
    if (!position || !is_parameter_access(instruction)) return {};
    const ptx::Address& address = instruction.operands[*position].address;
    const auto symbol = instance.symbols.find(address.base);
    if (symbol == instance.symbols.end() || symbol->second.space != AddressSpace::local) return {};
    const std::uint32_t bytes = bytes_of_part(instruction);
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < registers_of(instruction).size(); ++i) {
      pieces.emplace_back(
          instance.root,
          symbol->second.address + static_cast<std::uint64_t>(address.offset) + i * bytes, bytes);
    }
    return pieces;
  }

  bool may_load_unset() const {
    return std::any_of(known_.begin(), known_.end(), [](const Known& known) {
      const auto& body = known.instance->function->body;
      for (std::size_t i = 0; i < body.size(); ++i) {
        if (may_load_unset_part(body[i], known.instance->analysis->is_copied[i])) return true;
        if (body[i].opcode == Opcode::shfl) return true;
      }
      return false;
    });
  }

  /// `from_memory`: what loads of global and shared memory give as well, and what shuffles do.
  void spread(bool from_memory) {
    for (Known& known : known_) {
      const auto& body = known.instance->function->body;
      for (std::size_t i = 0; i < body.size(); ++i) {
        const ptx::Instruction& instruction = body[i];
        if (from_memory && instruction.opcode == Opcode::shfl) {  // of a lane that is not there
          const ptx::Operand& result = instruction.operands[0];
          const bool is_pair = result.kind == ptx::Operand::Kind::pair;  // `value|is_there`
          const std::string_view value = is_pair ? result.parts[0].name : result.name;
          if (const auto id = known.instance->analysis->data.find(value)) {
            known.unset[*id] = true;
          }
        }
        const bool is_passed =
            !from_memory && has_bodies() && !pieces_of(*known.instance, instruction).empty();
        const bool gives =
            from_memory ? may_load_unset_part(instruction, known.instance->analysis->is_copied[i])
                        : is_passed || may_reach_local(instruction);
        if (instruction.opcode != Opcode::ld || !gives) continue;
        for (const Operand* each : registers_of(instruction)) {
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
                                     const Piece& piece) {
          const auto id = data.find(operand.name);
          if (instruction.opcode == Opcode::ld && id && pieces_.contains(piece)) unset[*id] = true;
        });
        if (unset == done[i]) continue;
        known.unset = done[i] = ptx::spread_unset(*instance.function, data, std::move(unset));
        changed = true;
        for_each_piece(instance, [&](const ptx::Instruction& instruction, const Operand& operand,
                                     const Piece& piece) {
          const auto id = data.find(operand.name);
          if (instruction.opcode == Opcode::st && id && known.unset[*id]) {
            changed |= pieces_.insert(piece).second;
          }
        });
      }
    }
  }

  template <class Visit>
  void for_each_piece(const Instance& instance, Visit visit) const {
    for (const ptx::Instruction& instruction : instance.function->body) {
      const std::vector<Piece> pieces = pieces_of(instance, instruction);
      if (pieces.empty()) continue;
      const std::vector<const Operand*> operands = registers_of(instruction);
      for (std::size_t i = 0; i < std::min(pieces.size(), operands.size()); ++i) {
        visit(instruction, *operands[i], pieces[i]);
      }
    }
  }

  std::uint32_t add_register(std::string_view name, std::uint32_t bits, bool at_start) {
    program_.unset.registers.push_back(
        {std::string(name.substr(0, name.find('@'))), bits, at_start});
    return static_cast<std::uint32_t>(program_.unset.registers.size() - 1);
  }

  void number_registers(Known& known, bool from_memory) {
    const auto& registers = known.instance->analysis->data.registers();
    known.numbers.resize(registers.size(), always_set);
    for (std::size_t id = 0; id < registers.size(); ++id) {
      if (!known.unset[id] || known.numbers[id] != always_set) continue;
      known.numbers[id] = add_register(registers[id].name, ptx::info_of(registers[id].type).bits,
                                       known.at_entry[id]);
      program_.unset.registers.back().from_memory = from_memory;
    }
  }

  UnsetOperand operand(const Known& known, const Operand& from) const {
    UnsetOperand result;
    if (from.kind == Operand::Kind::integer) {
      result.is_constant = true;
      result.value = from.bits;
      result.bits = 64;
      return result;
    }
    const std::string_view name =
        from.kind == Operand::Kind::address ? from.address.base : from.name;
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

  std::vector<UnsetOperand> operands(const Known& known,
                                     const std::vector<const Operand*>& from) const {
    std::vector<UnsetOperand> all;
    all.reserve(from.size());
    for (const Operand* each : from) all.push_back(operand(known, *each));
    return all;
  }

  /// An instruction's first operation: behind those that let lanes meet before it.
  static std::uint32_t first_operation(const Instance& instance, std::size_t index) {
    const Analysis& analysis = *instance.analysis;
    const ptx::Block& block = analysis.graph.blocks[analysis.graph.block_of[index]];
    return instance.operation_of[index] + (analysis.is_meeting[index] ? 1u : 0u) +
           (block.gathers && block.first == index ? 1u : 0u);
  }

  void add_steps(Known& known) {
    Instance* const before =
        std::exchange(decoder_.instance_, const_cast<Instance*>(known.instance));
    add_entry(known);
    const ptx::Function& function = *known.instance->function;
    const auto neighbours = ptx::neighbouring_stores(function, known.instance->analysis->graph);
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      if (auto step = step_of(known, i, neighbours[i])) {
        push(std::move(*step), first_operation(*known.instance, i));
      }
      const bool goes_on = i + 1 < function.body.size();
      if (goes_on && function.body[i].opcode == Opcode::call &&
          known.instance->root->is_recursive) {
        add_return(*known.instance->root, first_operation(*known.instance, i + 1));
      }
    }
    decoder_.instance_ = before;
  }

  void push(UnsetStep step, std::uint32_t operation) {
    step.operation = operation;
    step.instruction = program_.operations[operation].instruction;
    if (step.spread == ptx::Spread::matrix_product) {
      step.product = program_.products[program_.operations[operation].extra];
    }
    program_.unset.steps.push_back(std::move(step));
  }

  /// Of a function that was entered anew before it returned, nothing is known: the machine kept its
  /// registers in memory meanwhile.
  void add_return(const Root& root, std::uint32_t operation) {
    UnsetStep step;
    for (const Known& known : known_) {
      if (known.instance->root != &root) continue;
      for (const std::uint32_t number : known.numbers) {
        if (number != always_set) step.results.emplace_back().number = number;
      }
    }
    push(std::move(step), operation);
  }

  /// Where an address operand leads; nothing where it is of a form that is not followed.
  std::optional<UnsetStep::Place> place_of(const Known& known, const Operand& address) const {
    UnsetStep::Place place;
    place.offset = address.address.offset;
    place.base = operand(known, address);
    if (place.base.row != no_operand) return place;
    const auto symbol = known.instance->symbols.find(address.address.base);
    if (symbol == known.instance->symbols.end()) return std::nullopt;
    if (symbol->second.space != AddressSpace::local) return std::nullopt;
    return place_of(symbol->second, place.offset);
  }

  /// In the addresses of local memory.
  UnsetStep::Place place_of(const Symbol& symbol, std::int64_t offset) const {
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

  /// Registers and variables of a function are unset each time that it is called.
  void add_entry(const Known& known) {
    const Instance& instance = *known.instance;
    const ptx::ControlFlow& graph = instance.analysis->graph;
    if (!instance.returns() || graph.blocks.empty() || !graph.blocks[0].predecessors.empty())
      return;
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

  static bool is_any_unset(const std::vector<UnsetOperand>& all) {
    return std::any_of(all.begin(), all.end(),
                       [](const UnsetOperand& one) { return one.number != always_set; });
  }

  std::optional<UnsetStep> step_of(const Known& known, std::size_t index,
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

  /// Loads and stores of global and shared memory: registers in the order of their bytes.
  void reach_memory(const Known& known, const ptx::Instruction& instruction,
                    UnsetStep& step) const {
    if (!is_plain_access(instruction) || bytes_of_part(instruction) > 8) return;
    step.bytes = bytes_of_part(instruction);
    step.is_load = instruction.opcode == Opcode::ld && is_any_unset(step.results);
    step.is_store = instruction.opcode == Opcode::st;
    if (step.is_store && !step.access.stores) {
      step.sources = operands(known, registers_of(instruction));
    }
  }

  void reach_local(const Known& known, const ptx::Instruction& instruction, UnsetStep& step) {
    const bool is_parameter = !pieces_of(*known.instance, instruction).empty();
    if (!is_parameter && !may_reach_local(instruction)) return;
    const bool loads = instruction.opcode == Opcode::ld;
    const Operand& address = instruction.operands[loads ? 1 : 0];
    const auto place = place_of(known, address);
    if (!place || bytes_of_part(instruction) > 8) return;
    step.access.place = *place;
    step.access.bytes = bytes_of_part(instruction);
    step.access.is_parameter = is_parameter;
    step.access.is_generic = instruction.space == ptx::Space::none &&
                             place->base.row != no_operand &&
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

  void add_use(const Known& known, const ptx::UnsetRole::Use& use,
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

  Decoder& decoder_;
  Program& program_;
  std::vector<Known> known_;
  std::set<Piece> pieces_;  ///< that may be unset
};

void Decoder::find_unset() { UnsetFinder(*this).find(); }

}  // namespace warpmeter::model
