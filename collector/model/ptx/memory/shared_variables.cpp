// SPDX-License-Identifier: MIT
#include "collector/model/ptx/memory/shared_variables.h"

#include <cstddef>

namespace warpmeter::model::ptx {
namespace {

/// The content of a register: nothing that is known yet, a number, an address in one variable, or
/// something else. They only grow, in this order.
struct Meant {
  enum class Kind { nothing, number, variable, any } kind = Kind::nothing;
  std::string_view name;

  bool operator==(const Meant&) const = default;
};

/// The meaning of a register that holds the one or the other.
Meant either(const Meant& a, const Meant& b) {
  if (a == b || b.kind == Meant::Kind::nothing) return a;
  if (a.kind == Meant::Kind::nothing) return b;
  return {Meant::Kind::any, {}};
}

Meant sum(const Meant& a, const Meant& b) {
  if (a.kind == Meant::Kind::nothing || b.kind == Meant::Kind::nothing) return {};
  if (a.kind == Meant::Kind::number) return b;
  if (b.kind == Meant::Kind::number) return a;
  return {Meant::Kind::any, {}};
}

Meant difference(const Meant& a, const Meant& b) {
  if (a.kind == Meant::Kind::nothing || b.kind == Meant::Kind::nothing) return {};
  return b.kind == Meant::Kind::number ? a : Meant{Meant::Kind::any, {}};
}

/// The meaning of something that is computed otherwise: a number, unless addresses are among what
/// it is made of.
Meant computed(const Meant& a, const Meant& b) {
  if (a.kind == Meant::Kind::nothing || b.kind == Meant::Kind::nothing) return {};
  if (a.kind == Meant::Kind::number && b.kind == Meant::Kind::number) return a;
  return {Meant::Kind::any, {}};
}

class Finder {
 public:
  Finder(const Function& function, const DataFlow& data,
         const std::unordered_set<std::string_view>& names)
      : function_(function), data_(data), names_(names), held_(data.registers().size()) {}

  std::vector<std::string_view> find() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < function_.body.size(); ++i) {
        if (data_.writes(i).empty()) continue;
        const Meant given = result_of(function_.body[i]);
        for (const RegisterId id : data_.writes(i)) {
          const Meant now = either(held_[id], given);
          changed |= !(now == held_[id]);
          held_[id] = now;
        }
      }
    }
    std::vector<std::string_view> found(function_.body.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto position = address_position(function_.body[i]);
      if (!position) continue;
      const Meant meant = of(function_.body[i].operands[*position]);
      if (meant.kind == Meant::Kind::variable) found[i] = meant.name;
    }
    return found;
  }

 private:
  Meant of(const Operand& operand) const {
    const std::string_view name =
        operand.address.base.empty() ? operand.name : operand.address.base;
    if (const auto id = data_.find(name)) return held_[*id];
    if (names_.contains(name)) return {Meant::Kind::variable, name};
    return {Meant::Kind::number, {}};
  }

  Meant result_of(const Instruction& instruction) const {
    const auto& operands = instruction.operands;
    const auto at = [&](std::size_t i) {
      return i < operands.size() ? of(operands[i]) : Meant{Meant::Kind::number, {}};
    };
    switch (instruction.opcode) {
      case Opcode::mov:
      case Opcode::cvta:
      case Opcode::cvt:
        // No operand of several parts is an address.
        if (operands.size() == 2 && operands[0].parts.empty() && operands[1].parts.empty()) {
          return at(1);
        }
        return {Meant::Kind::any, {}};
      case Opcode::add:
      case Opcode::or_:
      case Opcode::and_:
        return sum(at(1), at(2));
      case Opcode::sub:
        return difference(at(1), at(2));
      case Opcode::mad:
        return sum(computed(at(1), at(2)), at(3));
      case Opcode::selp:
        return either(at(1), at(2));
      case Opcode::mul:
      case Opcode::shl:
      case Opcode::shr:
      case Opcode::setp:
        return computed(at(1), at(2));
      case Opcode::ld:
        return {Meant::Kind::number, {}};
      default:
        break;
    }
    Meant all{Meant::Kind::number, {}};
    for (std::size_t i = 1; i < operands.size(); ++i) {
      all = computed(all, of(operands[i]));
      for (const Operand& part : operands[i].parts) all = computed(all, of(part));
    }
    return all;
  }

  const Function& function_;
  const DataFlow& data_;
  const std::unordered_set<std::string_view>& names_;
  std::vector<Meant> held_;
};

}  // namespace

std::vector<std::string_view> meant_variables(const Function& function, const DataFlow& data,
                                              const std::unordered_set<std::string_view>& names) {
  if (names.empty()) return std::vector<std::string_view>(function.body.size());
  return Finder(function, data, names).find();
}

}  // namespace warpmeter::model::ptx
