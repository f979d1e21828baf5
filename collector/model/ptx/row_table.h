// The rows of instructions.h as a table that the compiler can read, for what is checked at compile
// time.
#pragma once

#include <array>

#include "collector/model/ptx/row.h"

namespace warpmeter::model::ptx::table {

inline constexpr std::string_view on_a_gpu = "measure this kernel on a GPU";

inline constexpr std::array<Row, row_count> rows = {{
#define INSTRUCTION(opcode, names, forms, effects, execution, since) \
  {Opcode::opcode, names, forms, effects, Execution::execution, since, {}, {}},
#define REFUSED(opcode, names, effects, what, instead, since) \
  {Opcode::opcode, names, {}, effects, Execution::refused, since, what, instead},
#include "collector/model/ptx/instructions.h"
}};

/// The end of the choices that begin at `open`, a '{'.
constexpr std::size_t closing(std::string_view choices, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < choices.size(); ++i) {
    if (choices[i] == '{') ++depth;
    if (choices[i] == '}' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

/// What executes the row of this one name; refused where there is none.
constexpr Execution execution_named(std::string_view name) {
  for (const Row& row : rows) {
    if (row.names == name) return row.execution;
  }
  return Execution::refused;
}

}  // namespace warpmeter::model::ptx::table
