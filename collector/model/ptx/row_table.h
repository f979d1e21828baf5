// SPDX-License-Identifier: MIT
// The rows of instructions.h as a table that the compiler can read, for what is checked at compile
// time.
#pragma once

#include <array>

#include "collector/model/ptx/row.h"

namespace warpmeter::model::ptx::table {

// The parts of the rows.
inline constexpr Effects effect = {}, result = {.writes_first = true},
                         own_result = {.writes_first = true, .differs = true},
                         loads = {.writes_first = true, .memory = Memory::load},
                         loads_matrix = {.writes_first = true,
                                         .memory = Memory::load,
                                         .differs = true,
                                         .is_matrix = true},
                         stores = {.memory = Memory::store},
                         stores_matrix = {.memory = Memory::store, .is_matrix = true},
                         adds_products = {.writes_first = true,
                                          .reads_first = true,
                                          .memory = Memory::load,
                                          .differs = true,
                                          .is_product = true},
                         loads_fragment = {.writes_first = true,
                                           .memory = Memory::load,
                                           .differs = true,
                                           .is_fragment = true},
                         stores_fragment = {.memory = Memory::store, .is_fragment = true},
                         changes = {.writes_first = true, .memory = Memory::atomic},
                         reduces = {.memory = Memory::reduce}, copies = {.memory = Memory::copy},
                         jumps = {.flow = Flow::branch},
                         jumps_by_index = {.flow = Flow::indexed_branch},
                         calls = {.writes_first = true, .flow = Flow::call},
                         returns = {.flow = Flow::leave}, ends = {.flow = Flow::finish},
                         barrier = {.waits_for_block = true, .orders = true},
                         barrier_result = {.writes_first = true,
                                           .waits_for_block = true,
                                           .orders = true},
                         cluster_barrier = {.orders = true},
                         warp_barrier = {.orders = true, .names_lanes = true},
                         changes_object = {.orders = true, .differs = true},
                         asks_object = {.writes_first = true, .orders = true, .differs = true},
                         asks_lanes = own_result,
                         exchanges = {.writes_first = true, .differs = true, .names_lanes = true};

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

/// The execution of the row of this one name; refused where there is none.
constexpr Execution execution_named(std::string_view name) {
  for (const Row& row : rows) {
    if (row.names == name) return row.execution;
  }
  return Execution::refused;
}

}  // namespace warpmeter::model::ptx::table
