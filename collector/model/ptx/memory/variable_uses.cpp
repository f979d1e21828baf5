// SPDX-License-Identifier: MIT
#include "collector/model/ptx/memory/variable_uses.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/model/ptx/flow/registers.h"

namespace warpmeter::model::ptx {
namespace {

using Variables = std::set<const Variable*>;

/// The effect of an instruction at the address that operand `number` is.
enum class Touch { nothing, reads, writes, both, escapes };

Touch touch_of(const Instruction& instruction, std::size_t number) {
  switch (instruction.row().effects.memory) {
    case Memory::load:
      return Touch::reads;
    case Memory::store:
      return Touch::writes;
    case Memory::atomic:
    case Memory::reduce:
      return Touch::both;
    case Memory::copy:
      return number == 0 ? Touch::writes : Touch::reads;
    case Memory::none:
      break;
  }
  const Opcode opcode = instruction.opcode;
  const bool only_looks =
      opcode == Opcode::prefetch || opcode == Opcode::prefetchu || opcode == Opcode::isspacep;
  if (only_looks) return Touch::nothing;
  return Touch::escapes;
}

class VariableSearch {
 public:
  VariableSearch(const Module& module, const Function& entry) : module_(module) {
    for (const Variable& variable : module.variables) {
      if (variable.space == Space::global || variable.space == Space::constant) {
        named_[variable.name] = &variable;
      }
    }
    reach(&entry);
    while (!functions_.empty()) {
      const Function* function = functions_.back();
      functions_.pop_back();
      visit(*function);
    }
  }
  std::map<const Variable*, VariableUse> take() { return std::move(uses_); }

 private:
  void reach(const Function* function) {
    if (function != nullptr && seen_.insert(function).second) functions_.push_back(function);
  }

  /// The kernel also holds the memory that the variable's initial value points to.
  VariableUse& use(const Variable* variable) {
    const auto [found, is_new] = uses_.try_emplace(variable);
    if (!is_new) return found->second;
    for (const Variable::Relocation& relocation : variable->relocations) {
      if (const auto to = named_.find(relocation.name); to != named_.end()) {
        use(to->second).escapes = true;
      } else {
        reach(module_.find(relocation.name));
      }
    }
    return uses_[variable];
  }

  void touch(const Variable* variable, Touch how) {
    VariableUse& known = use(variable);
    known.reads |= how == Touch::reads || how == Touch::both;
    known.writes |= how == Touch::writes || how == Touch::both;
    known.escapes |= how == Touch::escapes;
  }

  /// The variable, unless the function has one of that name itself.
  const Variable* variable_named(std::string_view name) const {
    if (name.empty() || own_.contains(name)) return nullptr;
    const auto found = named_.find(name);
    return found == named_.end() ? nullptr : found->second;
  }

  /// The variables that a register may point to.
  const Variables& held(std::string_view name, const DataFlow& data) const {
    static const Variables none;
    const auto id = data.find(name);
    return id ? pointers_[*id] : none;
  }

  static std::string_view base_of(const Operand& operand) {
    return operand.address.base.empty() ? operand.name : operand.address.base;
  }

  /// The variables that an operand's value, or its address, is made from.
  void collect(const Operand& operand, const DataFlow& data, Variables& all) {
    const std::string_view name = base_of(operand);
    if (const Variable* variable = variable_named(name)) {
      all.insert(variable);
    } else if (!own_.contains(name)) {
      reach(module_.find(name));
    }
    const Variables& more = held(name, data);
    all.insert(more.begin(), more.end());
    for (const Operand& part : operand.parts) collect(part, data, all);
  }

  static bool is_access(const Instruction& instruction) {
    return std::any_of(instruction.operands.begin(), instruction.operands.end(),
                       [](const Operand& o) { return o.kind == Operand::Kind::address; });
  }

  /// Values flow on; what is loaded is not followed. True when a register points to more than
  /// before.
  bool flow(const Instruction& instruction, std::size_t index, const DataFlow& data) {
    if (instruction.opcode == Opcode::call || is_access(instruction)) return false;
    Variables all;
    for (const Operand& operand : instruction.operands) collect(operand, data, all);
    bool grows = false;
    for (const RegisterId id : data.writes(index)) {
      const std::size_t before = pointers_[id].size();
      pointers_[id].insert(all.begin(), all.end());
      grows |= pointers_[id].size() > before;
    }
    return grows;
  }

  void judge(const Instruction& instruction, const DataFlow& data) {
    const bool is_call = instruction.opcode == Opcode::call;
    if (!is_call && !is_access(instruction)) {
      // A name that no register takes up is used all the same.
      Variables named;
      for (const Operand& operand : instruction.operands) collect(operand, data, named);
      for (const Variable* variable : named) use(variable);
      return;
    }
    std::size_t first = 0;  // the operands before the address are results
    while (!is_call && instruction.operands[first].kind != Operand::Kind::address) ++first;
    for (std::size_t i = first; i < instruction.operands.size(); ++i) {
      const Operand& operand = instruction.operands[i];
      Variables all;
      collect(operand, data, all);
      const bool is_address = operand.kind == Operand::Kind::address && !is_call;
      for (const Variable* variable : all) {
        touch(variable, is_address ? touch_of(instruction, i) : Touch::escapes);
      }
    }
  }

  void visit(const Function& function) {
    own_.clear();
    for (const auto* list : {&function.parameters, &function.results, &function.variables}) {
      for (const Variable& variable : *list) own_.insert(variable.name);
    }
    const DataFlow data = data_flow(function);
    pointers_.assign(data.registers().size(), {});
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t i = 0; i < function.body.size(); ++i) {
        grows |= flow(function.body[i], i, data);
      }
    }
    for (const Instruction& instruction : function.body) judge(instruction, data);
  }

  const Module& module_;
  std::unordered_map<std::string_view, const Variable*> named_;
  std::map<const Variable*, VariableUse> uses_;
  std::set<const Function*> seen_;
  std::vector<const Function*> functions_;
  std::set<std::string_view> own_;   ///< for the function that is looked at
  std::vector<Variables> pointers_;  ///< the pointers of each of its registers
};

}  // namespace

std::map<const Variable*, VariableUse> variable_uses(const Module& module, const Function& entry) {
  return VariableSearch(module, entry).take();
}

}  // namespace warpmeter::model::ptx
