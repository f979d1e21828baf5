// SPDX-License-Identifier: MIT
#include "collector/model/ptx/module.h"

#include <fmt/format.h>

namespace warpmeter::model::ptx {

const Function* Module::find(std::string_view name) const {
  for (const auto& [alias, function] : aliases) {
    if (alias == name) name = function;
  }
  if (!places_.empty()) {
    const auto place = places_.find(name);
    return place == places_.end() ? nullptr : &functions[place->second];
  }
  const Function* declaration = nullptr;
  for (const Function& function : functions) {
    if (function.name != name) continue;
    if (!function.is_declaration) return &function;
    declaration = &function;
  }
  return declaration;
}

void Module::index_functions() {
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const auto [place, is_new] = places_.try_emplace(functions[i].name, i);
    if (is_new || !functions[place->second].is_declaration) continue;
    place->second = i;  // the first definition, else the last declaration
  }
}

std::optional<std::size_t> address_position(const Instruction& instruction) {
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    if (instruction.operands[i].kind == Operand::Kind::address) return i;
  }
  return std::nullopt;
}

std::optional<Diagnostic> check_opcodes(const Function& function) {
  for (const Instruction& instruction : function.body) {
    if (!instruction.is(Opcode::unknown)) continue;
    return Diagnostic{instruction.line, 0,
                      fmt::format("unknown instruction '{}' in function '{}'",
                                  instruction.text.substr(0, 60), function.name.substr(0, 60))};
  }
  return std::nullopt;
}

}  // namespace warpmeter::model::ptx
