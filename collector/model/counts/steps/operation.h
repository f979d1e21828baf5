// SPDX-License-Identifier: MIT
// Machine operations that decide where control goes (sm_80 to sm_90): integers, floats, predicates,
// ids, parameters, loads, local memory and jumps. Each is decoded with its operands, so that it can
// be executed; anything else has the kind `unknown`, and nobody knows what it writes.
//
// The fields were found by turning each bit of real instructions and reading what nvdisasm 13.0
// makes of it; tests/collector/model/steps_test.cpp holds them to hardware's counts.
#pragma once

#include <array>
#include <cstdint>

#include "collector/model/counts/sass/instruction.h"

namespace warpmeter::model::steps {

enum class Kind : std::uint8_t {
  unknown,
  nothing,  ///< writes no register
  add3,
  multiply_add,
  multiply_add_wide,
  multiply_add_high,
  compare,
  logic,
  shift,
  shift_add,
  select,
  minimum,
  add_minimum,
  move,
  special,
  constant,
  load,
  local_load,
  local_store,
  predicate_logic,
  absolute,
  count_bits,
  leading_bit,
  reverse,
  permute,
  predicates_to_register,
  register_to_predicates,
  vote,
  match_any,
  reduce,
  ask_space,  ///< if an address leads to global memory
  // Floats. Those that convert have 64 bits where `is_high`, and results of as many as registers.
  integer_to_float,
  float_to_integer,
  float_to_float,
  float_to_whole,
  special_function,
  select_floats,
  minimum_floats,
  add_floats,
  multiply_floats,
  multiply_add_floats,
  compare_floats,
  check_division,
  add_doubles,
  multiply_doubles,
  multiply_add_doubles,
  compare_doubles,
  // Control.
  branch,
  branch_by_table,
  branch_when_parted,
  call,
  call_away,
  back,
  end,
  begin_sync,
  sync,
  leave_sync,
  gather,
  barrier,  ///< BAR, for the block
};

struct Operand {
  enum class Form : std::uint8_t { none, general, uniform, immediate, constant };
  Form form = Form::none;
  std::uint8_t number = 0;  ///< the number of a register, the bank of a constant
  bool is_negated = false;
  std::uint32_t value = 0;  ///< an immediate, or the offset of a constant
  bool is_absolute = false;

  bool is_register() const { return form == Form::general || form == Form::uniform; }
  /// True for RZ and URZ.
  bool is_zero() const {
    return (form == Form::general && number == 255) || (form == Form::uniform && number == 63);
  }
};

/// One of P0…P6, or of UP0…UP6; 7 is true.
struct Predicate {
  std::uint8_t number = 7;
  bool is_negated = false, is_uniform = false;
  bool is_true() const { return number == 7 && !is_negated; }
};

struct Operation {
  Kind kind = Kind::unknown;
  Predicate guard;
  bool is_uniform = false;       ///< the uniform datapath: one value for the warp
  bool writes_anything = false;  ///< nobody knows which registers it writes
  std::uint8_t result = 255, result_registers = 0;  ///< the first register, and how many
  std::array<Predicate, 2> results;                 ///< predicates; number 7: none
  Operand a, b, c;
  Predicate input, second_input, third_input;
  std::uint8_t amount = 0;  ///< a shift, a lookup table, a comparison or a width
  std::uint8_t mode = 0;
  bool is_signed = false, is_extended = false, is_high = false, is_wrapped = false;
  bool is_right = false;
  bool flushes = false;       ///< floats below the normal ones count as 0
  bool saturates = false;     ///< a float becomes one from 0 to 1
  std::uint8_t rounding = 0;  ///< how floats round: nearest, down, up, towards zero
  bool writes_local = false;  ///< may write local memory of its threads
  std::uint8_t barrier = 0;
  std::int64_t target = 0;  ///< a jump's offset in the section, without its register

  bool never_runs() const { return guard.number == 7 && guard.is_negated; }
  bool writes_registers() const { return result_registers > 0; }
};

inline bool is_float(Kind kind) {
  return kind >= Kind::integer_to_float && kind <= Kind::compare_doubles;
}
inline bool is_double(Kind kind) {
  return kind >= Kind::add_doubles && kind <= Kind::compare_doubles;
}

/// `offset`: of the instruction in its section.
Operation decode_operation(sass::Word word, std::uint64_t offset, int arch);

}  // namespace warpmeter::model::steps
