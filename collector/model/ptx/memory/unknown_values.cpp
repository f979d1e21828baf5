// SPDX-License-Identifier: MIT
#include "collector/model/ptx/memory/unknown_values.h"

#include <algorithm>
#include <optional>

#include "collector/model/ptx/driver_functions.h"

namespace warpmeter::model::ptx {
namespace {

Unknowns named_by(const Operand& operand) {
  Unknowns named = 0;
  if (operand.has_special_of(DecidedBy::clock)) named |= bit_of(Unknown::clock);
  if (operand.has_special_of(DecidedBy::place)) named |= bit_of(Unknown::place);
  return named;
}

bool calls(const Instruction& instruction, std::string_view name) {
  return instruction.row().effects.flow == Flow::call && instruction.operands.size() > 1 &&
         instruction.operands[1].name == name;
}

/// The registers that hold addresses on the heap, or their negative.
class HeapPointers {
 public:
  HeapPointers(const Function& function, const DataFlow& data,
               std::span<const MemoryAccess> accesses, std::size_t pieces)
      : function_(function), data_(data), signs_(data.registers().size(), 0) {
    std::vector<bool> is_answer(pieces, false);
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      if (!calls(function.body[i], "malloc")) continue;
      for (const PieceId id : accesses[i].to) is_answer[id] = has_any_ = true;
    }
    for (bool changed = has_any_; changed;) {
      changed = false;
      for (std::size_t i = 0; i < function.body.size(); ++i) {
        const auto& from = accesses[i].from;
        const bool loads = std::any_of(from.begin(), from.end(), [&](PieceId id) {
          return is_answer[id] && function.body[i].row().effects.memory == Memory::load;
        });
        const Signs given = loads ? plus : given_by(i).value_or(0);
        for (const RegisterId id : data.writes(i)) {
          changed = changed || (signs_[id] | given) != signs_[id];
          signs_[id] |= given;
        }
      }
    }
  }

  /// True if the instruction makes a number of an address. Addresses of one piece of memory compare
  /// in the same way wherever it lies.
  bool is_taken_apart(std::size_t i) const {
    const Instruction& instruction = function_.body[i];
    const auto reads = data_.reads(i);
    return has_any_ && !instruction.is(Opcode::setp) && !data_.writes(i).empty() &&
           instruction.row().effects.memory == Memory::none &&
           instruction.row().effects.flow == Flow::next && !given_by(i) &&
           std::any_of(reads.begin(), reads.end(), [&](RegisterId id) { return signs_[id] != 0; });
  }

 private:
  using Signs = std::uint8_t;
  static constexpr Signs plus = 1, minus = 2;

  static Signs negative(Signs signs) {
    return static_cast<Signs>((signs & plus) << 1 | (signs & minus) >> 1);
  }

  /// A distance is left of two addresses.
  static Signs sum(Signs one, Signs other) { return one == negative(other) ? 0 : one | other; }

  Signs of(const Operand& operand) const {
    const auto id = data_.find(operand.name);
    return id ? signs_[*id] : 0;
  }

  /// Nullopt for an instruction that does not make an address, or a distance, of addresses.
  std::optional<Signs> given_by(std::size_t i) const {
    const Instruction& instruction = function_.body[i];
    const auto& operands = instruction.operands;
    switch (instruction.opcode) {
      case Opcode::mov:
      case Opcode::cvta:
        return of(operands[1]);
      case Opcode::not_:
      case Opcode::neg:
        return negative(of(operands[1]));
      case Opcode::add:
        return sum(of(operands[1]), of(operands[2]));
      case Opcode::sub:
        return sum(of(operands[1]), negative(of(operands[2])));
      case Opcode::mad:
        return of(operands[3]);
      case Opcode::min:
      case Opcode::max:
      case Opcode::selp:
        return of(operands[1]) | of(operands[2]);
      case Opcode::and_: {  // malloc answers multiples of 16
        const auto mask = static_cast<std::int64_t>(operands[2].bits);
        if (operands[2].kind != Operand::Kind::integer || mask < -16 || mask > 15) return {};
        return mask < 0 ? of(operands[1]) : Signs{0};
      }
      default:
        return {};
    }
  }

  const Function& function_;
  const DataFlow& data_;
  std::vector<Signs> signs_;  ///< by register
  bool has_any_ = false;
};

/// Registers and memory that a kernel never sets. A function that others call may be handed what
/// they set.
class NeverSet {
 public:
  NeverSet(const Function& function, const DataFlow& data, std::span<const MemoryAccess> accesses,
           std::span<const MemoryPiece> pieces)
      : function_(function),
        data_(data),
        accesses_(accesses),
        pieces_(pieces),
        is_written_(data.registers().size(), false),
        is_stored_(pieces.size(), false) {
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      for (const RegisterId id : data.writes(i)) is_written_[id] = true;
      for (const PieceId id : accesses[i].to) is_stored_[id] = true;
      note_stores(function.body[i]);
    }
  }

  bool gives(std::size_t i) const { return function_.is_entry && (loads(i) || computes(i)); }

 private:
  /// Stores that nobody can tell where they go, and to shared memory.
  void note_stores(const Instruction& instruction) {
    const Effects& effects = instruction.row().effects;
    const bool is_of_driver = calls_driver(instruction);
    const bool has_address =
        std::any_of(instruction.operands.begin(), instruction.operands.end(),
                    [](const Operand& operand) { return operand.kind == Operand::Kind::address; });
    if (effects.flow == Flow::call && !is_of_driver) stores_anywhere_ = true;
    if (effects.memory == Memory::none && has_address) stores_anywhere_ = true;
    if (effects.memory == Memory::none || effects.memory == Memory::load) return;
    stores_in_shared_ =
        stores_in_shared_ || instruction.space == Space::shared || instruction.space == Space::none;
  }

  /// Shared arrays that the module declares may be one and the same: its dynamic memory.
  bool is_set(PieceId id) const {
    const auto& own = function_.variables;
    const bool is_own = std::any_of(own.begin(), own.end(), [&](const Variable& variable) {
      return variable.name == pieces_[id].name && variable.space != Space::param;
    });
    return is_stored_[id] || stores_anywhere_ || pieces_[id].kind != MemoryPiece::Kind::block ||
           (!is_own && stores_in_shared_);
  }

  bool loads(std::size_t i) const {
    const Instruction& instruction = function_.body[i];
    const auto& from = accesses_[i].from;
    return instruction.row().effects.memory == Memory::load && instruction.space != Space::param &&
           !from.empty() &&
           std::none_of(from.begin(), from.end(), [&](PieceId id) { return is_set(id); });
  }

  /// Compilers move a register that nothing sets, but compute nothing with it.
  bool computes(std::size_t i) const {
    switch (function_.body[i].row().execution) {
      case Execution::value:
      case Execution::logic:
      case Execution::set:
      case Execution::set_predicate:
      case Execution::convert:
        break;
      default:
        return false;
    }
    const auto reads = data_.reads(i);
    return std::any_of(reads.begin(), reads.end(), [&](RegisterId id) { return !is_written_[id]; });
  }

  const Function& function_;
  const DataFlow& data_;
  std::span<const MemoryAccess> accesses_;
  std::span<const MemoryPiece> pieces_;
  std::vector<bool> is_written_, is_stored_;  ///< by register; by piece
  bool stores_anywhere_ = false, stores_in_shared_ = false;
};

}  // namespace

UnknownValues unknown_values(const Function& function, const DataFlow& data,
                             std::span<const MemoryAccess> accesses,
                             std::span<const MemoryPiece> pieces,
                             std::span<const Unknowns> given_by_calls) {
  UnknownValues values;
  const HeapPointers heap(function, data, accesses, pieces.size());
  const NeverSet never_set(function, data, accesses, pieces);
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    Unknowns given = given_by_calls[i];
    for (const Operand& operand : function.body[i].operands) given |= named_by(operand);
    if (heap.is_taken_apart(i)) given |= bit_of(Unknown::heap);
    if (never_set.gives(i)) given |= bit_of(Unknown::unset);
    for (std::size_t k = 0; given != 0 && k < unknown_count; ++k) {
      if ((given >> k & 1) == 0) continue;
      values[k].resize(function.body.size(), false);
      values[k][i] = true;
    }
  }
  return values;
}

Unknowns all_of(const UnknownValues& values) {
  Unknowns all = 0;
  for (std::size_t k = 0; k < unknown_count; ++k) {
    if (!values[k].empty()) all |= bit_of(static_cast<Unknown>(k));
  }
  return all;
}

}  // namespace warpmeter::model::ptx
