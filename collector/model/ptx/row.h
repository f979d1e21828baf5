// SPDX-License-Identifier: MIT
// The facts about every instruction of PTX, from the rows of instructions.h: control flow, data
// flow, the checker's roles and the grading of accesses are derived from it. It is wider than what
// the machine can execute, so that a kernel is refused for what it really lacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/ptx/words.h"

namespace warpmeter::model::ptx {

enum class Opcode : std::uint8_t {
#define INSTRUCTION(opcode, ...) opcode,
#define REFUSED(opcode, ...) opcode,
#include "collector/model/ptx/instructions.h"
  unknown,  ///< PTX has no such instruction
};

enum class Memory : std::uint8_t {
  none,
  load,
  store,
  atomic,  ///< reads, changes and returns the old value
  reduce,  ///< reads and changes
  copy,    ///< from memory to memory: cp.async and its like
};

enum class Flow : std::uint8_t {
  next,            ///< to the next instruction
  branch,          ///< to the label that is the first operand
  indexed_branch,  ///< to a label of the list that is the second operand
  call,
  leave,   ///< ret: to the caller, or the end of the thread in an entry
  finish,  ///< exit and trap: the end of the thread
};

struct Effects {
  /// True if the first operand is written: a register, a pair, a vector or, of a call, a list.
  bool writes_first = false;
  bool reads_first = false;  ///< and what it was before
  Memory memory = Memory::none;
  Flow flow = Flow::next;
  bool waits_for_block = false;  ///< for other threads of the block
  bool orders = false;           ///< accesses before it and after it, of more than this thread
  bool differs = false;          ///< its result is the thread's own, whatever its operands are
  bool is_matrix = false;        ///< its lanes name rows of matrices, and hold parts of others
  bool is_product = false;       ///< for matrices in shared memory, which its operands describe
  bool is_fragment = false;      ///< several accesses, which the machine code has (fragments.h)
  bool names_lanes = false;      ///< with .sync its last operand is the lanes that take part
};

/// Which part of the machine executes an instruction.
enum class Execution : std::uint8_t {
  refused,
  value,  ///< a row of machine/operations.h
  logic,  ///< the logic of predicates, or a value
  insert,
  select,
  set,
  set_predicate,
  lookup,
  convert,
  convert_address,
  is_in_space,
  move,
  policy,
  load,
  store,
  atomic,
  reduction,
  copy,
  copy_commit,
  copy_wait,
  copy_wait_all,
  copy_arrive,
  bulk_copy,      ///< cp.async.bulk and its like
  box_copy,       ///< cp.async.bulk.tensor and its like
  replace_field,  ///< tensormap.replace
  publish_map,    ///< tensormap.cp_fenceproxy
  bulk_commit,
  bulk_wait,
  counted_store,      ///< st.async
  counted_reduction,  ///< red.async
  branch,
  indexed_branch,
  call,
  leave,
  finish,
  trap,
  barrier,
  barrier_reduction,
  warp_barrier,
  fence,
  shuffle,
  vote,
  match,
  activemask,
  redux,
  elect,
  mbarrier,
  pending_count,
  matrix,    ///< ldmatrix and stmatrix
  fragment,  ///< wmma.load and wmma.store
  matrix_product,
  matrix_transpose,
  warpgroup_product,  ///< wgmma.mma_async
  warpgroup_wait,
  texture,      ///< tex and tld4
  surface,      ///< suld, sust and sured
  ask_texture,  ///< txq and suq
  stack_take,
  stack_save,
  stack_restore,
  video,
  map_address,      ///< mapa
  rank_of_address,  ///< getctarank
  cluster_arrive,
  cluster_wait,
  nothing,  ///< one warp runs at a time, in order: there is nothing to wait for or to fetch early
};

/// In which PTX, for which architectures: {78, 90} is PTX 7.8, sm_90.
struct Since {
  std::uint8_t ptx = 10, arch = 10;
};

struct Row {
  Opcode opcode = Opcode::unknown;
  std::string_view names, forms;  ///< with choices
  Effects effects;
  Execution execution = Execution::refused;
  Since since;
  std::string_view what, instead;  ///< for a refused one: "reads a texture", …

  constexpr bool is_executed() const { return execution != Execution::refused; }
};

/// True if it computes registers of registers, and does nothing else.
bool computes(const Row& row);

/// All rows, in the order of Opcode.
const Row& row_of(Opcode opcode);
constexpr std::size_t row_count = static_cast<std::size_t>(Opcode::unknown);

/// The instruction that a text is, "bar.red.popc.u32", and where its modifiers begin. Names are of
/// whole words; the longest wins.
struct Named {
  Opcode opcode = Opcode::unknown;
  std::size_t end = 0;  ///< the end of the name in the text
};
Named find_opcode(std::string_view text);

/// True if modifiers, ".sync.all.pred", are one of the row's forms. Always, of a row whose forms
/// are those of the operations.
bool has_form(const Row& row, std::string_view modifiers);

/// "{,.sync}.{all,any}" → "", … each text once; what a star follows: not at all, and each alone.
std::vector<std::string> expanded(std::string_view choices);

}  // namespace warpmeter::model::ptx
