// SPDX-License-Identifier: MIT
// Registers fall into classes: those of one class differ by a number that is the same in every
// thread of a block. A number that starts no class of its own comes from a sum with a uniform
// number: one that a kernel computes from its parameters, the block's place in the grid and
// constants alone.
#include "collector/model/ptx/flow/leaders.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

namespace warpmeter::model::ptx {
namespace {

/// Passes over the text in search of uniform registers; compiled code, in which a value mostly
/// stands before its uses, needs two.
constexpr int most_passes = 4;

/// True if it computes a value from its operands and nothing else.
bool is_pure(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::add:
    case Opcode::sub:
    case Opcode::mul:
    case Opcode::mad:
    case Opcode::mov:
    case Opcode::cvt:
    case Opcode::cvta:
    case Opcode::shl:
    case Opcode::shr:
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::not_:
    case Opcode::neg:
    case Opcode::min:
    case Opcode::max:
      return !instruction.has(Word::cc);  // which writes the carry as well
    default:
      return false;
  }
}

/// Special registers that are the same for every thread of a block.
bool is_of_block(Special special) { return same_in(special) != Same::thread; }

/// Registers that hold the same number in all threads of a block that gave them one, at any time.
class Uniform {
 public:
  Uniform(const Function& function, const DataFlow& data) : function_(function), data_(data) {
    std::vector<std::uint32_t> writes(data.registers().size());
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      for (const RegisterId id : data.writes(i)) ++writes[id];
    }
    is_uniform_.resize(writes.size());
    bool changed = true;
    for (int pass = 0; changed && pass < most_passes; ++pass) {
      changed = false;
      for (std::size_t i = 0; i < function.body.size(); ++i) {
        const auto written = data.writes(i);
        if (written.size() != 1 || writes[written[0]] != 1 || is_uniform_[written[0]]) continue;
        if (!gives_uniform(function.body[i])) continue;
        is_uniform_[written[0]] = true;
        changed = true;
      }
    }
  }

  bool holds(const Operand& operand) const {
    if (operand.kind == Operand::Kind::integer) return true;
    if (operand.kind != Operand::Kind::name || operand.negated) return false;
    const auto id = data_.find(operand.name);
    return id ? is_uniform_[*id] : is_of_block(operand.special);
  }

 private:
  bool gives_uniform(const Instruction& instruction) const {
    if (instruction.guard || instruction.operands.size() < 2) return false;
    if (instruction.opcode == Opcode::ld) return is_parameter(instruction.operands[1]);
    return is_pure(instruction) &&
           std::all_of(instruction.operands.begin() + 1, instruction.operands.end(),
                       [&](const Operand& operand) { return holds(operand); });
  }

  /// True for parameters of the kernel itself: those of device functions differ from thread to
  /// thread.
  bool is_parameter(const Operand& address) const {
    return function_.is_entry && address.kind == Operand::Kind::address &&
           std::any_of(
               function_.parameters.begin(), function_.parameters.end(),
               [&](const Variable& variable) { return variable.name == address.address.base; });
  }

  const Function& function_;
  const DataFlow& data_;
  std::vector<bool> is_uniform_;
};

bool is_plain_access(Opcode opcode) {
  return opcode == Opcode::ld || opcode == Opcode::ldu || opcode == Opcode::st;
}

/// Where lanes may stop or part, or other code runs in between.
bool may_stop(const Instruction& instruction) {
  const Effects& effects = instruction.row().effects;
  return instruction.is(Opcode::unknown) || effects.flow != Flow::next || effects.orders;
}

class Leaders {
 public:
  Leaders(const Function& function, const DataFlow& data)
      : function_(function), data_(data), uniform_(function, data) {}

  void start() {
    classes_.clear();
    leaders_.clear();
  }

  /// The leader of the access, which it becomes itself where there is none yet.
  std::size_t access(std::size_t index) {
    const Instruction& instruction = function_.body[index];
    const auto position = address_position(instruction);
    if (!position || !is_plain_access(instruction.opcode)) return nowhere;
    const auto base = data_.find(instruction.operands[*position].address.base);
    if (!base) return nowhere;
    const auto known = leaders_.find(class_of(*base));
    if (known != leaders_.end()) return known->second;
    if (!instruction.guard) leaders_.emplace(class_of(*base), index);
    return nowhere;
  }

  void execute(std::size_t index) {
    const Instruction& instruction = function_.body[index];
    const auto written = data_.writes(index);
    const std::optional<std::uint32_t> kept = kept_class(instruction, written.size());
    for (const RegisterId id : written) classes_[id] = kept ? *kept : next_class_++;
  }

 private:
  std::uint32_t class_of(RegisterId id) {
    const auto [known, is_new] = classes_.emplace(id, next_class_);
    if (is_new) ++next_class_;
    return known->second;
  }

  std::optional<RegisterId> varying(const Operand& operand) const {
    if (operand.kind != Operand::Kind::name || operand.negated) return std::nullopt;
    return data_.find(operand.name);
  }

  /// The class that the one register that is written belongs to, where it is a sum of another of
  /// its width and something uniform.
  std::optional<std::uint32_t> kept_class(const Instruction& instruction, std::size_t written) {
    const auto& operands = instruction.operands;
    const TypeInfo type = info_of(instruction.last_type());
    const bool is_address = type.is_integer() && (type.bits == 32 || type.bits == 64);
    if (written != 1 || instruction.guard || instruction.words.size() != 1 || !is_address) {
      return std::nullopt;
    }
    std::optional<RegisterId> from;
    const bool copies = instruction.opcode == Opcode::mov && operands.size() == 2;
    const bool adds = instruction.opcode == Opcode::add && operands.size() == 3;
    const bool subtracts = instruction.opcode == Opcode::sub && operands.size() == 3;
    if (adds && uniform_.holds(operands[1])) {
      from = varying(operands[2]);
    } else if (copies || ((adds || subtracts) && uniform_.holds(operands[2]))) {
      from = varying(operands[1]);
    }
    const auto to = varying(operands[0]);
    if (!from || !to || data_.registers()[*from].width != data_.registers()[*to].width) {
      return std::nullopt;
    }
    return class_of(*from);
  }

  const Function& function_;
  const DataFlow& data_;
  const Uniform uniform_;
  std::unordered_map<RegisterId, std::uint32_t> classes_;
  std::unordered_map<std::uint32_t, std::size_t> leaders_;
  std::uint32_t next_class_ = 0;
};

}  // namespace

std::vector<std::size_t> leading_accesses(const Function& function, const ControlFlow& graph,
                                          const DataFlow& data) {
  std::vector<std::size_t> result(function.body.size(), nowhere);
  Leaders leaders(function, data);
  for (const Block& block : graph.blocks) {
    leaders.start();
    for (std::size_t i = block.first; i < block.end; ++i) {
      if (may_stop(function.body[i])) {
        leaders.start();
        continue;
      }
      result[i] = leaders.access(i);
      leaders.execute(i);
    }
  }
  return result;
}

}  // namespace warpmeter::model::ptx
