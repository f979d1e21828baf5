// SPDX-License-Identifier: MIT
// Which registers may be unset, over all functions as they were inlined (unset.cpp), and what the
// instructions do with them (unset_steps.cpp): UnsetTable. Made last, and only looked at closely
// where some function reads a register on a way on which nothing has written it.
//
// Parameters and results of functions lie in local memory. They are followed through it, for a
// compiler passes undefined values to functions that do not use them. Where functions keep
// variables there, all that is loaded from local memory may be unset as well. In global and shared
// memory, loads that may find a part of what they read unset are followed too (unset_memory.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "collector/model/machine/decode/decoder.h"
#include "collector/model/machine/decode/unset_memory.h"
#include "collector/model/ptx/memory/unset.h"

namespace warpmeter::model {

/// A piece of a parameter: whose frame, where, how many bytes.
using UnsetPiece = std::tuple<const Root*, std::uint64_t, std::uint32_t>;

/// Follows what may be unset through one instance after the other until nothing is added.
class Decoder::UnsetFinder {
 public:
  explicit UnsetFinder(Decoder& decoder) : decoder_(decoder), program_(decoder.program_) {}

  void find();

 private:
  struct Known {
    const Instance* instance = nullptr;
    std::vector<bool> at_entry, unset;  ///< by register
    std::vector<std::uint32_t> numbers;
  };

  bool has_bodies() const { return program_.has_calls; }  ///< functions that are not inlined

  static bool is_parameter_access(const ptx::Instruction& instruction);

  /// A load or store that may lead to variables in local memory.
  bool may_reach_local(const ptx::Instruction& instruction) const;

  /// The pieces that an access to a parameter in local memory touches, in the order of its
  /// registers; none for the parameters of the kernel and of bodies of their own.
  std::vector<UnsetPiece> pieces_of(const Instance& instance,
                                    const ptx::Instruction& instruction) const;

  bool may_come_by_local(const Known& known, const ptx::Instruction& load) const;

  bool may_be_given_unset() const;

  /// `from_memory`: what given_unset() tells, in place of what comes through local memory.
  void spread(bool from_memory);

  template <class Visit>
  void for_each_piece(const Instance& instance, Visit visit) const {
    for (const ptx::Instruction& instruction : instance.function->body) {
      const std::vector<UnsetPiece> pieces = pieces_of(instance, instruction);
      if (pieces.empty()) continue;
      const std::vector<const Operand*> operands = registers_of(instruction);
      for (std::size_t i = 0; i < std::min(pieces.size(), operands.size()); ++i) {
        visit(instruction, *operands[i], pieces[i]);
      }
    }
  }

  std::uint32_t add_register(std::string_view name, std::uint32_t bits, bool at_start);

  void number_registers(Known& known, bool from_memory);

  UnsetOperand operand(const Known& known, const Operand& from) const;

  std::vector<UnsetOperand> operands(const Known& known,
                                     const std::vector<const Operand*>& from) const;

  /// An instruction's first operation: behind those that let lanes meet before it.
  static std::uint32_t first_operation(const Instance& instance, std::size_t index);

  void add_steps(Known& known);

  void push(UnsetStep step, std::uint32_t operation);

  /// The state of a function that was entered anew before it returned is unknown: the machine kept
  /// its registers in memory meanwhile.
  void add_return(const Root& root, std::uint32_t operation);

  /// Where an address operand leads; nothing where it is of a form that is not followed.
  std::optional<UnsetStep::Place> place_of(const Known& known, const Operand& address) const;

  /// In the addresses of local memory.
  UnsetStep::Place place_of(const Symbol& symbol, std::int64_t offset) const;

  /// Registers and variables of a function are unset each time that it is called.
  void add_entry(const Known& known);

  static bool is_any_unset(const std::vector<UnsetOperand>& all);

  std::optional<UnsetStep> step_of(const Known& known, std::size_t index,
                                   const std::vector<std::size_t>& neighbours);

  /// Loads and stores of global and shared memory: registers in the order of their bytes.
  void reach_memory(const Known& known, const ptx::Instruction& instruction, UnsetStep& step) const;

  void reach_local(const Known& known, const ptx::Instruction& instruction, UnsetStep& step);

  void add_use(const Known& known, const ptx::UnsetRole::Use& use,
               const std::vector<std::size_t>& neighbours, UnsetStep& step);

  Decoder& decoder_;
  Program& program_;
  std::vector<Known> known_;
  std::set<UnsetPiece> pieces_;  ///< that may be unset
};

}  // namespace warpmeter::model
