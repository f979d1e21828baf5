// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/reached.h"

#include <unordered_map>
#include <vector>

#include "collector/model/ptx/row.h"

namespace warpmeter::model::ptx {
namespace {

class Reach {
 public:
  explicit Reach(const Module& module) : module_(module) {
    for (const Variable& variable : module.variables) variables_[variable.name] = &variable;
  }

  std::unordered_set<std::string_view> from(const Function& entry) {
    found_.insert(entry.name);
    add_code(entry);
    while (!open_.empty()) {
      const std::string_view name = open_.back();
      open_.pop_back();
      if (const Function* function = module_.find(name)) {
        add(function->name);  // behind an alias
        add_code(*function);
      }
      const auto variable = variables_.find(name);
      if (variable == variables_.end()) continue;
      for (const auto& relocation : variable->second->relocations) add(relocation.name);
    }
    return std::move(found_);
  }

 private:
  /// A kernel that is named is launched, and runs by itself.
  void add(std::string_view name) {
    const Function* function = module_.find(name);
    if (function != nullptr && function->is_entry) return;
    if (!name.empty() && found_.insert(name).second) open_.push_back(name);
  }

  void add(const Operand& operand) {
    add(operand.name);
    add(operand.address.base);
    for (const Operand& part : operand.parts) add(part);
  }

  void add_code(const Function& function) {
    for (const Instruction& instruction : function.body) {
      for (const Operand& operand : instruction.operands) add(operand);
      const bool calls = instruction.row().effects.flow == Flow::call;
      if (calls && module_.find(instruction.operands[1].name) == nullptr) add_all_functions();
    }
    for (const auto& [label, targets] : function.target_lists) {
      for (const std::string_view target : targets) add(target);
    }
  }

  void add_all_functions() {
    for (const Function& function : module_.functions) {
      if (!function.is_entry) add(function.name);
    }
  }

  const Module& module_;
  std::unordered_map<std::string_view, const Variable*> variables_;
  std::unordered_set<std::string_view> found_;
  std::vector<std::string_view> open_;
};

}  // namespace

std::unordered_set<std::string_view> reached_names(const Module& module, const Function& entry) {
  return Reach(module).from(entry);
}

}  // namespace warpmeter::model::ptx
