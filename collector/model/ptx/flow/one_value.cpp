// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/one_value.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/flow/definitions.h"

namespace warpmeter::model::ptx {
namespace {

/// Instructions that give each thread a value of its own.
bool tells_threads_apart(const Instruction& instruction, const Function& function) {
  const Effects& effects = instruction.row().effects;
  if (instruction.is(Opcode::unknown) || effects.flow != Flow::next || effects.waits_for_block) {
    return true;
  }
  if (effects.differs) return true;
  if (effects.memory == Memory::none) return false;
  const Space space = instruction.space;
  const bool may_be_own = space == Space::local || (space == Space::param && !function.is_entry);
  return effects.memory != Memory::load || may_be_own;
}

/// A special register that is the same in all threads of a grid, or of a block, or what is no
/// register at all.
bool is_same_special(std::string_view name, Same in) {
  if (!name.starts_with('%')) return true;
  const Same same = same_in(special_named(name));
  return same == Same::grid || same == in;
}

class OneValues {
 public:
  /// `in`: those of a grid, or of a block.
  OneValues(const Function& function, const DataFlow& data, Same in = Same::grid)
      : data_(data), in_(in), is_one_(data.registers().size(), true) {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < function.body.size(); ++i) {
        const Instruction& instruction = function.body[i];
        if (data.writes(i).empty() || gives_one(i, instruction, function)) continue;
        for (const RegisterId written : data.writes(i)) {
          changed |= is_one_[written];
          is_one_[written] = false;
        }
      }
    }
  }

  /// All registers that the operand names, and special ones.
  bool is_one(const Operand& operand) const {
    if (operand.kind == Operand::Kind::address) return is_one(operand.address.base);
    if (operand.kind == Operand::Kind::name) return is_one(operand.name);
    return std::all_of(operand.parts.begin(), operand.parts.end(),
                       [&](const Operand& part) { return is_one(part); });
  }

  bool is_one(std::string_view name) const {
    const auto id = data_.find(name);
    return id ? is_one_[*id] : is_same_special(name, in_);
  }

 private:
  bool gives_one(std::size_t index, const Instruction& instruction,
                 const Function& function) const {
    if (tells_threads_apart(instruction, function)) return false;
    const auto reads = data_.reads(index);
    const bool from_one =
        std::all_of(reads.begin(), reads.end(), [&](RegisterId id) { return is_one_[id]; });
    return from_one && std::all_of(instruction.operands.begin() + 1, instruction.operands.end(),
                                   [&](const Operand& operand) { return is_one(operand); });
  }

  const DataFlow& data_;
  Same in_;
  std::vector<bool> is_one_;
};

bool joins_conditions(const Instruction& instruction) {
  const bool is_logical = instruction.is(Opcode::and_) || instruction.is(Opcode::or_) ||
                          instruction.is(Opcode::xor_) || instruction.is(Opcode::not_);
  return is_logical && instruction.first_type() == Type::pred;
}

/// The definition of the one operand that may differ between threads.
std::size_t differing_operand(const Instruction& instruction, const OneValues& values,
                              const Definitions& definitions) {
  std::size_t found = nowhere;
  for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
    if (values.is_one(instruction.operands[i])) continue;
    if (found != nowhere) return nowhere;
    found = definitions.of(instruction.operands[i].name);
  }
  return found;
}

}  // namespace

std::vector<std::size_t> parting_branches(const Function& function, const DataFlow& data) {
  const OneValues values(function, data, Same::block);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const Instruction& branch = function.body[i];
    const bool is_guarded = branch.row().effects.flow == Flow::branch && branch.guard;
    if (is_guarded && !values.is_one(branch.guard->predicate)) found.push_back(i);
  }
  return found;
}

std::vector<std::size_t> deciding_comparisons(const Function& function, const DataFlow& data) {
  std::vector<std::size_t> found(function.body.size());
  std::iota(found.begin(), found.end(), std::size_t{0});
  const bool has_joined = std::any_of(function.body.begin(), function.body.end(), joins_conditions);
  if (!has_joined) return found;
  const OneValues values(function, data);
  const Definitions definitions(function, data);
  constexpr int most_joined = 8;
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const Instruction& branch = function.body[i];
    if (!branch.is(Opcode::bra) || !branch.guard) continue;
    std::size_t at = definitions.of(branch.guard->predicate);
    int joined = 0;
    while (at != nowhere && joins_conditions(function.body[at]) && joined < most_joined) {
      at = differing_operand(function.body[at], values, definitions);
      ++joined;
    }
    if (at != nowhere && joined > 0 && function.body[at].is(Opcode::setp)) found[i] = at;
  }
  return found;
}

std::vector<bool> stores_of_one_value(const Function& function, const DataFlow& data) {
  const OneValues values(function, data);
  std::vector<bool> found(function.body.size(), false);
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const Instruction& instruction = function.body[i];
    found[i] = instruction.opcode == Opcode::st && instruction.operands.size() > 1 &&
               values.is_one(instruction.operands[1]);
  }
  return found;
}

}  // namespace warpmeter::model::ptx
