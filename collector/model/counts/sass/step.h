// SPDX-License-Identifier: MIT
// An instruction of machine code as the search for loops that wait sees it: who may see what it
// reads or writes, and which registers and predicates it reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "collector/model/counts/sass/instruction.h"

namespace warpmeter::model::sass {

enum class Scope : std::uint8_t { weak, gpu, system };

/// Four bits that hold the order and the scope of an access.
Scope scope_of(Word word, int arch);
/// MEMBAR for the GPU or the system, or a cluster. One for the block orders nothing for others:
/// before each product of a warpgroup Triton fences the block's shared memory.
bool is_fence(Word word);
/// CS2R, S2R and S2UR of CLOCKLO, CLOCKHI, GLOBALTIMERLO and GLOBALTIMERHI.
bool reads_clock(Word word);

/// Which of its fields an operation uses. An operation that the table in step.cpp has not may read
/// all of them and writes its result.
struct Fields {
  std::uint16_t number = 0;     ///< the lower nine bits of the opcode
  bool base = true;             ///< the first source is where most have it
  bool third = true;            ///< the third source is a register
  bool predicate = true;        ///< reads one beside its guard
  bool overwrites = false;      ///< writes its result and nothing else but predicates
  std::uint8_t predicates = 0;  ///< how many it sets
  std::uint8_t registers = 1;   ///< how many it writes, where no width says so
};

struct Step {
  std::uint16_t number = 0;  ///< the opcode
  Word word;
  Instruction instruction;
  Scope scope = Scope::weak;
  Fields fields;

  /// A load or an atomic of global or generic memory.
  bool reads() const {
    return (instruction.access == AccessKind::load || instruction.access == AccessKind::atomic) &&
           instruction.space != AddressSpace::shared && instruction.carrier == Carrier::registers;
  }
  /// A read of the clock or the timer.
  bool is_clock() const { return reads_clock(word); }
  /// A store or an atomic that others see.
  bool publishes() const;
  /// UIADD3, ULEA, USEL, S2UR and the like: their fields number other registers than a lane's.
  bool is_of_the_warp() const;
  /// R2UR, REDUX, VOTE, VOTEU: its value goes on as one of the whole warp.
  bool goes_to_the_warp() const;
  /// The registers that it writes, from its result on.
  std::size_t count_results() const;
};

Step step_at(Bytes code, std::uint64_t offset, int arch);

}  // namespace warpmeter::model::sass
