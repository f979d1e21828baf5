// SPDX-License-Identifier: MIT
// Registers that an instruction may read although no instruction on the way to it has written them.
//
// Compilers leave such reads in correct programs: a value that is not needed on some path is not
// set on it, and is copied on like any other. So a read is no mistake by itself. A use matters
// where the value is used for something that can be seen: as an address, as what a store writes, to
// decide a branch. MemorySanitizer (Stepanov, Serebryany, 2015) follows unset bits to such uses,
// and so does --check. This is the part of it that looks at the text alone: which registers may be
// unset, and what each instruction does with unset bits of what it reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// By register: whether some path from the function's beginning reads it before a write that all
/// lanes make. A write under a guard leaves lanes out.
std::vector<bool> unset_at_entry(const DataFlow& data, const ControlFlow& graph);

/// How the unset bits of an instruction's sources get into its results.
enum class Spread : std::uint8_t {
  none,     ///< not at all: what is loaded from memory, for example
  all,      ///< one unset bit makes every bit of the results unset
  upwards,  ///< from the lowest unset bit on: sums and products of integers
  copy,     ///< bit by bit, each source to its result, cut or extended
  bit_and,
  bit_or,
  bit_xor,
  lop3,
  select,
  shift_left,
  shift_right,
  funnel_left,
  funnel_right,
  extract,  ///< bfe
  insert,   ///< bfi
  permute,  ///< prmt
  pack,
  unpack,
  equal,  ///< setp.eq and .ne: bits that differ decide it
  compare,
  shuffle_up,  ///< lanes take what other lanes have
  shuffle_down,
  shuffle_xor,
  shuffle_index,
  ballot,
  vote_any,
  vote_all,
  group,  ///< the group of all lanes together
  matrix_product,
  matrix_transpose,
  load,  ///< the load of local memory that may be unset
  lose,  ///< the results are unset: where a function begins
};

/// The use that makes an unset value matter.
enum class UnsetUse : std::uint8_t {
  address,
  value,     ///< that is written to memory
  decision,  ///< a branch's, or a guard's of something that can be seen
  barrier,
  members,  ///< the lanes that an exchange names
  callee,
};

/// The role of an instruction for unset registers. Operands are parts of it: names and integers.
struct UnsetRole {
  Spread spread = Spread::all;
  std::uint32_t bits = 32;       ///< that are computed
  std::uint32_t from_bits = 32;  ///< the bits that a copy takes of the source
  bool is_signed = false;        ///< shifts, and copies to wider registers, repeat the sign
  bool extends_sign = false;     ///< for a copy: from `from_bits` to `bits`
  bool clamps = false;           ///< the clamps of a funnel shift
  bool combines_or = false;      ///< for a comparison with a third source: by or
  std::uint8_t table = 0;        ///< the table of lop3
  std::vector<const Operand*> results, sources;
  struct Use {
    UnsetUse what = UnsetUse::address;
    std::vector<const Operand*> operands;
    /// The bits of a value that are written of each operand. It matters when they all are unset:
    /// parts may be padding.
    std::uint32_t bits = 0;
    const Operand* generic_address = nullptr;  ///< that may lead to local memory
  };
  std::vector<Use> uses;
  bool has_effect = false;  ///< true if it matters whether it is executed
};
UnsetRole unset_role(const Instruction& instruction);

/// The registers that may be unset at some time when `unset` may be at first, or when the function
/// loads them: they, and all that is computed from them.
std::vector<bool> spread_unset(const Function& function, const DataFlow& data,
                               std::vector<bool> unset);

/// Stores that fill the gaps between another one's bytes and what stands beside them, or may: of
/// the same block and source line, counted from the same register, and close by. Together they copy
/// a structure, of which a part may be padding. By instruction, empty for what is no store.
std::vector<std::vector<std::size_t>> neighbouring_stores(const Function& function,
                                                          const ControlFlow& graph);

}  // namespace warpmeter::model::ptx
