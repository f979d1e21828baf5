// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/declared.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_set>

#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/row.h"
#include "collector/model/ptx/special_registers.h"

namespace warpmeter::model::ptx {
namespace {

class Names {
 public:
  Names(const Module& module, const Function& function,
        const std::unordered_set<std::string_view>& of_module)
      : module_(module), function_(function), of_module_(of_module), data_(data_flow(function)) {
    for (const auto* variables : {&function.variables, &function.parameters, &function.results}) {
      for (const Variable& variable : *variables) of_function_.insert(variable.name);
    }
  }

  /// The first one of the function that nobody declares; empty: there is none.
  std::string_view unknown_in(const Instruction& instruction) const {
    if (instruction.guard && !is_known(instruction.guard->predicate)) {
      return instruction.guard->predicate;
    }
    // Names in a call, and of instructions that the model does not execute, may be declared in ways
    // that are read over.
    const bool only_registers =
        instruction.row().effects.flow != Flow::next || !instruction.row().is_executed();
    for (const Operand& operand : instruction.operands) {
      const std::string_view name = unknown_in(operand, only_registers);
      if (!name.empty()) return name;
    }
    return {};
  }

 private:
  std::string_view unknown_in(const Operand& operand, bool only_registers) const {
    std::string_view name;
    if (operand.kind == Operand::Kind::address) name = operand.address.base;
    if (operand.kind == Operand::Kind::name && operand.special == Special::none) {
      name = operand.name;
    }
    const bool is_asked = !name.empty() && (name.front() == '%' || !only_registers);
    if (is_asked && !is_known(name)) return name;
    for (const Operand& part : operand.parts) {
      const std::string_view unknown = unknown_in(part, only_registers);
      if (!unknown.empty()) return unknown;
    }
    return {};
  }

  bool is_known(std::string_view name) const {
    if (name == "_" || data_.find(name) || of_function_.contains(name)) return true;
    if (of_module_.contains(name) || function_.labels.contains(name)) return true;
    if (function_.target_lists.contains(name) || module_.find(name) != nullptr) return true;
    if (special_named(name) != Special::none) return true;
    if (special_named(std::string(name) + ".x") != Special::none) return true;  // as a vector
    const std::size_t dot = name.rfind('.');  // "%r1.b3": a part of it
    return dot != name.npos && dot > 0 && is_known(name.substr(0, dot));
  }

  const Module& module_;
  const Function& function_;
  const std::unordered_set<std::string_view>& of_module_;
  std::unordered_set<std::string_view> of_function_;
  const DataFlow data_;
};

}  // namespace

std::optional<Diagnostic> check_names(const Module& module) {
  std::unordered_set<std::string_view> of_module;
  for (const Variable& variable : module.variables) of_module.insert(variable.name);
  for (const Function& function : module.functions) {
    if (auto unknown = check_opcodes(function)) return unknown;
    const Names names(module, function, of_module);
    for (const Instruction& instruction : function.body) {
      const std::string_view name = names.unknown_in(instruction);
      if (name.empty()) continue;
      return Diagnostic{instruction.line, 0,
                        fmt::format("'{}' in function '{}' names {}, which nobody declares",
                                    instruction.text.substr(0, 60), function.name.substr(0, 60),
                                    name.substr(0, 60))};
    }
  }
  return std::nullopt;
}

}  // namespace warpmeter::model::ptx
