// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/step.h"

#include <algorithm>
#include <iterator>

namespace warpmeter::model::sass {
namespace {

constexpr bool no = false, yes = true;

// clang-format off
//                  number  base third predicate overwrites predicates registers
constexpr Fields table[] = {
    /* MOV       */ {0x002, no,  no,   no,       yes},
    /* CS2R      */ {0x005, no,  yes,  no,       no,        0,         2},
    /* VOTE      */ {0x006, no,  yes,  yes,      yes},
    /* SEL       */ {0x007, yes, no,   yes,      yes},
    /* FSETP     */ {0x00b, yes, no,   yes,      no,        2,         0},
    /* ISETP     */ {0x00c, yes, no,   yes,      no,        2,         0},
    /* IADD3     */ {0x010, yes, yes,  yes,      yes,       2},
    /* LEA       */ {0x011, yes, yes,  yes,      yes,       1},
    /* LOP3      */ {0x012, yes, yes,  yes,      yes,       1},
    /* PRMT      */ {0x016, yes, yes,  no,       yes},
    /* IMNMX     */ {0x017, yes, yes,  yes,      yes},
    /* SHF       */ {0x019, yes, yes,  no,       yes},
    /* PLOP3     */ {0x01c, yes, no,   yes,      no,        2,         0},
    /* FMUL      */ {0x020, yes, no,   no,       yes},
    /* FADD      */ {0x021, yes, no,   no,       yes},
    /* FFMA      */ {0x023, yes, yes,  no,       yes},
    /* IMAD      */ {0x024, yes, yes,  yes,      yes},
    /* IMAD.WIDE */ {0x025, yes, yes,  yes,      yes,       0,         2},
    /* IMAD.HI   */ {0x027, yes, yes,  yes,      yes},
    /* DSETP     */ {0x02a, yes, no,   yes,      no,        2,         0},
    /* HSETP2    */ {0x034, yes, yes,  yes,      no,        2,         0},
    /* VIADD     */ {0x036, yes, no,   no,       yes},
    /* S2R       */ {0x119, no,  yes,  no,       yes},
    /* BAR       */ {0x11d, yes, yes,  yes,      no,        0,         0},
    /* LD        */ {0x180, yes, yes,  no,       no},
    /* LDG       */ {0x181, yes, no,   no,       yes},
    /* LDC       */ {0x182, yes, no,   no,       yes},
    /* LDS       */ {0x184, yes, no,   no,       yes},
};
// clang-format on

constexpr std::uint16_t lower_bits = 0x1ff, constant_load = 0x182;

Fields fields_of(std::uint16_t number) {
  const auto* const found =
      std::find_if(std::begin(table), std::end(table),
                   [&](const Fields& row) { return row.number == (number & lower_bits); });
  return found != std::end(table) ? *found : Fields{};
}

/// True of an atomic, but no compare and swap, that leaves every integer as it is when its operand
/// is 0: ADD, OR, XOR, MAX of unsigned numbers. An exchange for 0 does not: it releases a lock.
bool keeps_with_zero(Word word) {
  constexpr std::uint64_t add = 0, max = 2, bitwise_or = 6, bitwise_xor = 7;
  constexpr std::uint16_t of_floats[] = {0x3a2, 0x9a2, 0x3a3, 0x9a3};
  const std::uint64_t type = word.high >> 9 & 7;
  const std::uint64_t operation = word.high >> 23 & 15;
  const bool is_unsigned = type == 0 || type == 2;  // U32, U64
  // From sm_100 on the fourth bit says something else of floats.
  if (is_one_of(static_cast<std::uint16_t>(word.low & 0xfff), of_floats)) {
    return (operation & 7) == add;
  }
  return operation == add || operation == bitwise_or || operation == bitwise_xor ||
         (operation == max && is_unsigned);
}

/// An atomic with the operand 0 that reads and changes nothing.
bool only_reads(const Step& step) {
  return step.instruction.access == AccessKind::atomic && !step.instruction.is_compare_and_swap &&
         (step.word.low >> 32 & 255) == no_register && keeps_with_zero(step.word);
}

}  // namespace

Scope scope_of(Word word, int arch) {
  const unsigned bits = word.high >> 13 & 15;
  const unsigned system = arch >= 80 ? 0xa : 0xb, gpu = arch >= 80 ? 0x7 : 0xa;
  if (bits == gpu) return Scope::gpu;
  return bits >= system ? Scope::system : Scope::weak;
}

bool is_fence(Word word) {
  constexpr std::uint64_t membar = 0x992, gpu = 2;
  return (word.low & 0xfff) == membar && (word.high >> 12 & 7) >= gpu;
}

bool reads_clock(Word word) {
  constexpr std::uint16_t numbers[] = {0x805, 0x919, 0x9c3};
  const std::uint64_t source = word.high >> 8 & 255;
  return source >= 0x50 && source <= 0x53 &&
         is_one_of(static_cast<std::uint16_t>(word.low & 0xfff), numbers);
}

bool Step::publishes() const {
  if (instruction.space == AddressSpace::shared || !instruction.access) return false;
  if (instruction.access == AccessKind::store) return scope != Scope::weak;
  return instruction.access == AccessKind::reduction ||
         (instruction.access == AccessKind::atomic && !only_reads(*this));
}

bool Step::is_of_the_warp() const {
  constexpr std::uint16_t first = 0x080, last = 0x0bf, special = 0x1c3;  // S2UR
  const auto lower = static_cast<std::uint16_t>(number & lower_bits);
  return lower == special || (lower >= first && lower <= last && !goes_to_the_warp());
}

bool Step::goes_to_the_warp() const {
  constexpr std::uint16_t numbers[] = {0x2ca, 0x3c2, 0x3c4, 0x806, 0x886};
  return is_one_of(number, numbers);
}

std::size_t Step::count_results() const {
  constexpr std::uint16_t first_of_flow = 0x141, last_of_flow = 0x150;  // BSYNC to RET
  constexpr std::uint64_t bits_64 = 5;
  const auto lower = static_cast<std::uint16_t>(number & lower_bits);
  if (lower >= first_of_flow && lower <= last_of_flow) return 0;
  if (lower == constant_load) return (word.high >> 9 & 7) == bits_64 ? 2 : 1;
  return std::max<std::size_t>(fields.registers, instruction.width / 4);
}

Step step_at(Bytes code, std::uint64_t offset, int arch) {
  Step step;
  step.word = *number_at<Word>(code, offset);
  step.number = static_cast<std::uint16_t>(step.word.low & 0xfff);
  step.instruction = decode(step.word, offset, arch);
  step.scope = scope_of(step.word, arch);
  step.fields = fields_of(step.number);
  return step;
}

}  // namespace warpmeter::model::sass
