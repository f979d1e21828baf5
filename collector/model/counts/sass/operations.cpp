// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/operations.h"

#include <algorithm>
#include <iterator>

namespace warpmeter::model::sass {
namespace counted {

// clang-format off
constexpr OperationRow rows[] = {
    {0x001, "PMTRIG", misc},
    {0x002, "MOV", misc},
    {0x003, "P2R", bit},
    {0x004, "R2P", bit},
    {0x005, "CS2R", misc},
    {0x006, "VOTE", exchange},
    {0x007, "SEL", bit},
    {0x008, "FSEL", fp32},
    {0x009, "FMNMX", fp32},
    {0x00a, "FSET", fp32},
    {0x00b, "FSETP", fp32},
    {0x00c, "ISETP", integer},
    {0x00f, "VIMNMX3", integer},
    {0x010, "IADD3", integer},
    {0x011, "LEA", integer},
    {0x012, "LOP3", integer},
    {0x013, "IABS", integer},
    {0x014, "VABSDIFF", misc},
    {0x015, "VABSDIFF4", misc},
    {0x016, "PRMT", bit},
    {0x019, "SHF", integer},
    {0x01a, "SGXT", integer},
    {0x01b, "BMSK", bit},
    {0x01c, "PLOP3", bit},
    {0x020, "FMUL", fp32 | fmul | fma_pipe},
    {0x021, "FADD", fp32 | fadd | fma_pipe},
    {0x023, "FFMA", fp32 | ffma | fma_pipe},
    {0x024, "IMAD", integer | fma_pipe},
    {0x025, "IMAD", integer | fma_pipe},
    {0x026, "IDP", integer | fma_pipe},
    {0x027, "IMAD", integer | fma_pipe},
    {0x028, "DMUL", fp64 | dmul | fp64_pipe},
    {0x029, "DADD", fp64 | dadd | fp64_pipe},
    {0x02a, "DSETP", fp64 | fp64_pipe},
    {0x02b, "DFMA", fp64 | dfma | fp64_pipe},
    {0x02d, "PREEXIT", misc | adu},
    {0x02e, "ACQBULK", misc},
    {0x02f, "ELECT", exchange},
    {0x030, "HADD2", fp16 | hadd | fma_pipe},
    {0x031, "HFMA2", fp16 | hfma | fma_pipe},
    {0x032, "HMUL2", fp16 | hmul | fma_pipe},
    {0x033, "HSET2", fp16},
    {0x034, "HSETP2", fp16},
    {0x035, "HFMA2", fp16 | hfma},
    {0x036, "VIADD", integer | fma_pipe},
    {0x037, "IMMA", integer},
    {0x038, "I2I", integer},
    {0x039, "I2IP", integer},
    {0x03a, "MOVM", misc},
    {0x03b, "LDSM", memory},
    {0x03c, "HMMA", fp16},
    {0x03d, "BMMA", bit},
    {0x03e, "F2FP", conversion},
    {0x03f, "DMMA", fp64},
    {0x040, "HMNMX2", fp16},
    {0x043, "F2IP", conversion},
    {0x044, "STSM", memory},
    {0x045, "I2FP", conversion},
    {0x046, "VIADDMNMX", integer},
    {0x048, "VIMNMX", integer},
    {0x082, "UMOV", uniform},
    {0x083, "UP2UR", uniform},
    {0x084, "UR2UP", uniform},
    {0x086, "VOTEU", exchange},
    {0x087, "USEL", uniform},
    {0x08c, "UISETP", uniform},
    {0x090, "UIADD3", uniform},
    {0x091, "ULEA", uniform},
    {0x092, "ULOP3", uniform},
    {0x097, "UIADD3", uniform},
    {0x099, "USHF", uniform},
    {0x09a, "USGXT", uniform},
    {0x0a4, "UIMAD", uniform},
    {0x0a5, "UIMAD", uniform},
    {0x0b9, "ULDC", uniform},
    {0x0bd, "UFLO", uniform},
    {0x0bf, "UPOPC", uniform},
    {0x0ca, "R2UR", misc},
    {0x100, "FLO", integer},
    {0x101, "BREV", bit},
    {0x102, "FCHK", fp32},
    {0x104, "F2F", conversion},
    {0x105, "F2I", conversion},
    {0x106, "I2F", conversion},
    {0x107, "FRND", conversion},
    {0x108, "MUFU", fp32},
    {0x109, "POPC", integer},
    {0x110, "F2F", conversion},
    {0x111, "F2I", conversion},
    {0x112, "I2F", conversion},
    {0x113, "FRND", conversion},
    {0x118, "NOP", misc},
    {0x119, "S2R", misc | adu_by_form},
    {0x11a, "DEPBAR", misc},
    {0x11c, "B2R", misc | adu},
    {0x11d, "BAR", misc | adu},
    {0x141, "BSYNC", control | cbu},
    {0x142, "BREAK", control | cbu},
    {0x144, "CALL", control | branch | cbu | adu_by_form},
    {0x145, "BSSY", control | cbu},
    {0x146, "YIELD", control | cbu},
    {0x147, "BRA", control | branch},
    {0x148, "WARPSYNC", control | cbu | adu_by_form},
    {0x149, "BRX", control | any_branch | cbu | adu},
    {0x14d, "EXIT", control | cbu},
    {0x150, "RET", control | branch | cbu | adu},
    {0x155, "BMOV", misc},
    {0x156, "BMOV", misc},
    {0x15d, "NANOSLEEP", control | cbu | adu_by_form},
    {0x160, "TEX", memory | texture},
    {0x163, "TLD4", memory | texture},
    {0x166, "TLD", memory | texture},
    {0x16c, "TXD", memory | texture},
    {0x16f, "TXQ", memory | texture},
    {0x180, "LD", memory | generic_load},
    {0x181, "LDG", memory | global_load},
    {0x182, "LDC", memory | adu | constant_load},
    {0x183, "LDL", memory | local_load},
    {0x184, "LDS", memory | shared_load},
    {0x185, "ST", memory | generic_store},
    {0x186, "STG", memory | global_store},
    {0x187, "STL", memory | local_store},
    {0x188, "STS", memory | shared_store},
    {0x189, "SHFL", exchange},
    {0x18a, "ATOM", memory | atomic},
    {0x18b, "ATOM", memory | compare_and_swap},
    {0x18c, "ATOMS", memory | shared_atomic},
    {0x18d, "ATOMS", memory | shared_atomic | shared_compare_and_swap},
    {0x18e, "REDG", memory | global_reduction},
    {0x18f, "CCTL", memory},
    {0x192, "MEMBAR", memory},
    {0x199, "SULD", memory | surface_load},
    {0x19d, "SUST", memory | surface_store},
    {0x19f, "SURED", memory | surface_reduction},
    {0x1a1, "MATCH", exchange | adu},
    {0x1a2, "ATOM", memory | atomic},
    {0x1a3, "ATOMG", memory | atomic},
    {0x1a6, "REDG", memory | global_reduction},
    {0x1a7, "SYNCS", misc | any_unit},
    {0x1a8, "ATOMG", memory | atomic},
    {0x1a9, "ATOMG", memory | compare_and_swap},
    {0x1aa, "QSPC", memory},
    {0x1ab, "ERRBAR", control | adu_by_form},
    {0x1ae, "LDGSTS", memory},
    {0x1af, "LDGDEPBAR", memory},
    {0x1b2, "SYNCS", misc | any_unit},
    {0x1b7, "UTMACMDFLUSH", memory},
    {0x1ba, "UBLKCP", memory},
    {0x1bb, "UBLKRED", memory},
    {0x1bc, "UBLKPF", memory},
    {0x1c3, "S2UR", misc | adu},
    {0x1c4, "REDUX", exchange | adu},
    {0x1c5, "WARPGROUP", exchange},
    {0x1c6, "FENCE", misc},
    {0x1c7, "UCGABAR", control | adu_by_form},
    {0x1f0, "HGMMA", fp16},
    {0x1f1, "IGMMA", integer},
    {0x1f3, "QGMMA", fp8},
};
// clang-format on
static_assert(std::is_sorted(std::begin(rows), std::end(rows),
                             [](const auto& a, const auto& b) { return a.number < b.number; }));

}  // namespace counted

namespace {

constexpr std::uint16_t number_bits = 0x1ff;
constexpr std::uint16_t special_function = 0x108, s2r = 0x119, warpsync = 0x148,
                        error_barrier = 0x1ab, cluster_barrier = 0x1c7;
constexpr std::uint16_t cluster_error_barrier_form = 0x5ab, cluster_arrival_form = 0x9c7;

/// S2R by its special register (bits 72 to 79): those that differ between the threads of a warp
/// come from another unit.
CountedAs unit_of_special(unsigned special) {
  constexpr unsigned of_threads[] = {0x00, 0x03, 0x21, 0x22, 0x23, 0x38, 0x39, 0x3c};
  constexpr unsigned of_warps[] = {0x25, 0x26, 0x2f, 0x43, 0x88};
  const auto is_among = [&](const auto& list) {
    return std::find(std::begin(list), std::end(list), special) != std::end(list);
  };
  if (is_among(of_warps)) return counted::adu;
  return is_among(of_threads) ? 0 : counted::any_unit;
}

/// MUFU by its function (bits 74 to 79): those of double precision have half of their operand, and
/// bits 72 and 73 say that it is of half precision. ptxas of CUDA 13 showed the numbers.
CountedAs special_of_function(Word word) {
  constexpr unsigned last_function = 9, reciprocal_of_double = 6, root_of_double = 7;
  const auto precision = static_cast<unsigned>(word.high >> 8 & 3);
  const auto function = static_cast<unsigned>(word.high >> 10 & 63);
  const bool is_wide = function == reciprocal_of_double || function == root_of_double;
  if (function > last_function || precision == 3) return counted::any_special;
  return is_wide || precision != 0 ? 0 : counted::special;
}

CountedAs unit_of_form(Word word, std::uint16_t number) {
  if (number == s2r) return unit_of_special(word.high >> 8 & 255);
  const auto form = static_cast<std::uint16_t>(word.low & 0xfff);
  // The two stand together wherever ptxas writes them, and add one: the first or the second.
  if (number == error_barrier) return form == cluster_error_barrier_form ? counted::adu : 0;
  if (number == cluster_barrier) return form == cluster_arrival_form ? counted::adu : 0;
  const bool has_register = (form & 0xe00) == 0x200;
  if (!has_register) return 0;
  return number == warpsync ? counted::adu | counted::any_branch : counted::adu;
}

}  // namespace

std::span<const OperationRow> operation_rows() { return counted::rows; }

CountedAs counted_as(Word word) {
  const auto number = static_cast<std::uint16_t>(word.low & number_bits);
  const auto* const row =
      std::lower_bound(std::begin(counted::rows), std::end(counted::rows), number,
                       [](const OperationRow& a, std::uint16_t b) { return a.number < b; });
  if (row == std::end(counted::rows) || row->number != number) return 0;
  // A second predicate decides too, and executions do not tell of it.
  if (number == 0x147 && (word.high >> 23 & 15) != 7) {
    return counted::control | counted::any_branch;
  }
  if (number == special_function) return row->counted_as | special_of_function(word);
  if ((row->counted_as & counted::adu_by_form) == 0) return row->counted_as;
  return (row->counted_as & ~counted::adu_by_form) | unit_of_form(word, number);
}

std::string_view why_not_counted(int arch) {
  return arch <= 90 ? "" : "the classes of instructions are not known of this architecture";
}

std::string_view why_classes_not_exact(int arch) {
  return arch == 90 ? "" : "approximate: the classes of instructions were measured on sm_90 only";
}

}  // namespace warpmeter::model::sass
