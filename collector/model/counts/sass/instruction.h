// SPDX-License-Identifier: MIT
// The parts of a machine instruction that the audit reads (sm_70 and newer: 128 bits each):
// accesses to memory, jumps, and the marks of code that ptxas writes instead of an atomic. Opcodes
// are the low 12 bits and were found by compiling every PTX access for sm_80 to sm_120 and reading
// what its line became (tests/collector/model/sass_test.cpp holds them to that).
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "collector/model/machine/memory/memory.h"
#include "collector/model/machine/program.h"

namespace warpmeter::model::sass {

inline constexpr std::uint64_t instruction_bytes = 16;
/// The bytes of an access, by the field that gives its width.
inline constexpr std::uint8_t access_bytes[] = {1, 1, 2, 2, 4, 8, 16, 16};
inline constexpr std::uint8_t no_register = 255;  ///< RZ

struct Word {
  std::uint64_t low = 0, high = 0;
};

/// True if `numbers`, of operations, has `number`.
template <class Numbers>
bool is_one_of(std::uint16_t number, const Numbers& numbers) {
  return std::find(std::begin(numbers), std::end(numbers), number) != std::end(numbers);
}

enum class Jump : std::uint8_t {
  none,
  branch,    ///< to `target`
  indirect,  ///< nobody knows where
  call,      ///< to `target` and back
  end,       ///< the end of the thread or the function
};

struct Instruction {
  /// The kind of an access; nothing for any other instruction.
  std::optional<AccessKind> access;
  AddressSpace space = AddressSpace::generic;
  std::uint8_t base = 0;    ///< register of an access's address, else of the first operand
  std::int32_t offset = 0;  ///< that is added to it
  std::uint8_t width = 0;   ///< bytes a lane of a load or store; 0: not read
  Carrier carrier = Carrier::registers;
  bool is_compare_and_swap = false;  ///< also the one that an atomic's loop is made of
  bool elects_lane = false;          ///< a vote or reduction over the warp: one lane acts for all
  bool counts_lanes = false;         ///< ATOMS.POPC.INC: equal addresses are added up beforehand
  bool never_runs = false;           ///< its guard is !PT
  bool is_break = false;             ///< lanes stop waiting for others
  bool is_guarded = false;           ///< some threads may not execute it
  bool bypasses_l1 = false;          ///< a copy past the registers that leaves L1 out: cp.async.cg
  bool is_local = false;             ///< LDL, STL: an access to local memory
  bool is_local_store = false;       ///< STL, of the register `second`
  bool is_barrier = false;           ///< BAR: of the block
  bool is_sync = false;              ///< BSYNC: waits for lanes that a BSSY named
  bool gathers_warp = false;         ///< WARPSYNC: waits for other lanes of the warp
  bool yields = false;               ///< YIELD, NANOSLEEP: others of the warp go on meanwhile
  /// Registers, of what has them: 0 may stand where an instruction has none.
  std::uint8_t result = 0, second = no_register, third = 0;
  std::uint8_t guard = 7;        ///< a predicate, 7: none; 8 more: negated
  std::uint64_t counted_as = 0;  ///< CountedAs, see operations.h
  TensorProduct product;
  bool calls_elsewhere = false;  ///< a call of what a register or the linker names
  Jump jump = Jump::none;
  std::int64_t target = 0;  ///< offset in the section
};

/// `offset`: of the instruction in its section, which jumps are relative to.
Instruction decode(Word word, std::uint64_t offset, int arch);

/// Where a jump at `offset` goes, without its register. Distances count in units of 4 bytes from
/// the next instruction; from sm_90 on, eight more bits of them lie before the field.
std::int64_t jump_target(Word word, std::uint64_t offset, int arch);

}  // namespace warpmeter::model::sass
