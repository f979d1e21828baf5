// SPDX-License-Identifier: MIT
// The operations of the machine code, and the counters of hardware that each adds to. PerfWorks
// counts the threads of an operation in one class (fp32, integer, …), those of nine arithmetic
// operations once more, and its warps by the unit or the kind of access.
//
// The table was measured: small kernels ran on an H200 (sm_90; driver 580.159, 2026-11-28), and
// the counters of each equal the sums over its operations. tests/golden/h200_operation_classes.csv
// holds what came back. An operation that no kernel executed is not in the table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "collector/model/counts/sass/instruction.h"

namespace warpmeter::model::sass {

/// The counters that an operation adds to: sums of these.
using CountedAs = std::uint64_t;
namespace counted {
// Threads whose guard is true: smsp__sass_thread_inst_executed_op_…_pred_on, one of these each.
inline constexpr CountedAs fp16 = 1, fp32 = 1 << 1, fp64 = 1 << 2, fp8 = 1 << 3, integer = 1 << 4,
                           bit = 1 << 5, conversion = 1 << 6, control = 1 << 7, memory = 1 << 8,
                           exchange = 1 << 9, uniform = 1 << 10, misc = 1 << 11;
inline constexpr CountedAs classes = (1 << 12) - 1;
// The same, of arithmetic: …_op_fadd_pred_on and so on.
inline constexpr CountedAs fadd = 1 << 12, fmul = 1 << 13, ffma = 1 << 14, dadd = 1 << 15,
                           dmul = 1 << 16, dfma = 1 << 17, hadd = 1 << 18, hmul = 1 << 19,
                           hfma = 1 << 20;
// Warps, by unit: smsp__inst_executed_pipe_….
inline constexpr CountedAs cbu = 1 << 21, adu = 1 << 22, fma_pipe = 1 << 23, fp64_pipe = 1 << 24;
inline constexpr CountedAs any_unit = 1 << 25;  ///< the unit is not known
// Warps, by the kind of access: smsp__inst_executed_op_….
inline constexpr CountedAs global_load = 1 << 26, global_store = 1 << 27,
                           global_reduction = 1 << 28, local_load = 1 << 29, local_store = 1 << 30,
                           shared_load = CountedAs{1} << 31, shared_store = CountedAs{1} << 32,
                           shared_atomic = CountedAs{1} << 33,
                           shared_compare_and_swap = CountedAs{1} << 34,
                           generic_load = CountedAs{1} << 35, generic_store = CountedAs{1} << 36,
                           atomic = CountedAs{1} << 37, compare_and_swap = CountedAs{1} << 38,
                           surface_load = CountedAs{1} << 39, surface_store = CountedAs{1} << 40,
                           surface_reduction = CountedAs{1} << 41, texture = CountedAs{1} << 42,
                           constant_load = CountedAs{1} << 46;
// For the share of branches at which all threads go one way.
inline constexpr CountedAs branch = CountedAs{1} << 44;
inline constexpr CountedAs any_branch = CountedAs{1} << 45;  ///< it is not known whether it is one
/// Only in the table: the form of the instruction says whether it is `adu`.
inline constexpr CountedAs adu_by_form = CountedAs{1} << 43;
// Threads whose guard is true, of special functions of single precision; no counter holds them.
inline constexpr CountedAs special = CountedAs{1} << 47;
inline constexpr CountedAs any_special = CountedAs{1} << 48;  ///< it is not known whether it is one
}  // namespace counted

struct OperationRow {
  std::uint16_t number;   ///< the low 9 bits of the word; the next three say what the operands are
  std::string_view name;  ///< as nvdisasm writes it
  CountedAs counted_as;
};
/// By number.
std::span<const OperationRow> operation_rows();

/// The counters of an instruction; 0: it is not in the table.
CountedAs counted_as(Word word);

/// Why the table does not hold for an architecture; empty: it does. Numbers are those of sm_75 to
/// sm_90; later ones use some for other operations.
std::string_view why_not_counted(int arch);
/// Why it is not exact there, although it holds.
std::string_view why_classes_not_exact(int arch);

}  // namespace warpmeter::model::sass
