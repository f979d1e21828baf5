// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/instruction.h"

#include <algorithm>
#include <iterator>

#include "collector/model/counts/sass/operations.h"
#include "collector/model/counts/sass/products.h"

namespace warpmeter::model::sass {
namespace {

struct Opcode {
  std::uint16_t number;
  AccessKind kind;
  AddressSpace space;
};
constexpr auto load = AccessKind::load;
constexpr auto store = AccessKind::store;
constexpr auto atomic = AccessKind::atomic;
constexpr auto reduction = AccessKind::reduction;
constexpr auto shared = AddressSpace::shared;
constexpr auto global = AddressSpace::global;
constexpr auto generic = AddressSpace::generic;

/// An access with a uniform register in its address has another opcode than one without.
constexpr Opcode accesses[] = {
    {0x381, load, global},      {0x981, load, global},       // LDG
    {0x97e, load, global},                                   // LDG of 256 bits
    {0x386, store, global},     {0x986, store, global},      // STG
    {0x97f, store, global},                                  // STG of 256 bits
    {0x984, load, shared},      {0x83b, load, shared},       // LDS, LDSM
    {0x388, store, shared},     {0x988, store, shared},      // STS
    {0x844, store, shared},                                  // STSM
    {0x380, load, generic},     {0x980, load, generic},      // LD
    {0x385, store, generic},    {0x985, store, generic},     // ST
    {0x38c, atomic, shared},    {0x98c, atomic, shared},     // ATOMS
    {0x38d, atomic, shared},    {0x98d, atomic, shared},     // ATOMS.CAS
    {0x58d, atomic, shared},    {0xf8c, atomic, shared},     // ATOMS.CAST.SPIN, ATOMS.POPC.INC
    {0x38a, atomic, generic},   {0x98a, atomic, generic},    // ATOM
    {0x38b, atomic, generic},   {0x98b, atomic, generic},    // ATOM.CAS
    {0x3a2, atomic, generic},   {0x9a2, atomic, generic},    // ATOM of floats
    {0x3a8, atomic, global},    {0x9a8, atomic, global},     // ATOMG
    {0x3a9, atomic, global},    {0x9a9, atomic, global},     // ATOMG.CAS
    {0x3a3, atomic, global},    {0x9a3, atomic, global},     // ATOMG of floats
    {0x38e, reduction, global}, {0x98e, reduction, global},  // RED
    {0x3a6, reduction, global}, {0x9a6, reduction, global},  // RED of floats
    {0x3b4, load, global},      {0x5b4, load, global},       // UTMALDG
    {0x3b5, store, global},     {0x3b6, reduction, global},  // UTMASTG, UTMAREDG
    {0x3ba, load, global},      {0x3bb, reduction, global},  // UBLKCP, UBLKRED
    {0xdbd, store, shared},     {0xdbe, reduction, shared},  // STAS, REDAS
};
constexpr std::uint16_t wide_load = 0x97e, wide_store = 0x97f, copy = 0xfae;
constexpr std::uint16_t matrix[] = {0x83b, 0x844};  // LDSM, STSM
constexpr std::uint16_t bulk_copy = 0x3ba;
constexpr std::uint16_t bulk[] = {0x3b4, 0x5b4, 0x3b5, 0x3b6, bulk_copy, 0x3bb};
constexpr std::uint16_t bytes_counted[] = {0xdbd, 0xdbe};
constexpr std::uint16_t local_load = 0x983, local_store = 0x387;
constexpr std::uint16_t count_lanes = 0xf8c;
constexpr std::uint16_t swaps[] = {0x38d, 0x98d, 0x58d, 0x38b, 0x98b, 0x3a9, 0x9a9};
/// VOTE, VOTEU, REDUX and CREDUX.
constexpr std::uint16_t elections[] = {0x806, 0x886, 0x3c4, 0x2cc};

constexpr std::uint16_t bra = 0x947, uniform_bra = 0x547, jmp = 0x94a, brx = 0x949, jmx = 0x94c,
                        exit_ = 0x94d, ret = 0x950, break_ = 0x942, sync = 0x941, kill = 0x95b,
                        call_absolute = 0x943, call_relative = 0x944, yield = 0x946;

std::uint8_t width_of(Word word) { return access_bytes[word.high >> 9 & 7]; }

}  // namespace

std::int64_t jump_target(Word word, std::uint64_t offset, int arch) {
  std::uint64_t distance = word.low >> 34 | (word.high & 0x3ffff) << 30;
  if ((distance >> 47 & 1) != 0) distance |= ~std::uint64_t{0} << 48;
  if (arch >= 90) distance = distance << 8 | (word.low >> 16 & 255);
  return static_cast<std::int64_t>(offset + instruction_bytes + distance * 4);
}

Instruction decode(Word word, std::uint64_t offset, int arch) {
  Instruction result;
  const auto number = static_cast<std::uint16_t>(word.low & 0xfff);
  const unsigned guard = word.low >> 12 & 15;  // predicate 7 is always true; bit 3 negates
  result.counted_as = counted_as(word);
  result.product = product_of(word, arch);
  result.calls_elsewhere = (number & 0x1ff) == 0x143 ||
                           ((number & 0x1ff) == (call_relative & 0x1ff) && number != call_relative);
  result.never_runs = guard == 15;
  result.is_guarded = guard != 7;
  result.guard = static_cast<std::uint8_t>(guard);
  result.is_local = number == local_load || number == local_store;
  result.is_local_store = number == local_store;
  if (result.is_local) result.width = width_of(word);
  result.result = static_cast<std::uint8_t>(word.low >> 16 & 255);
  const bool is_register = (number & 0xe00) == 0x200;  // no immediate value, no constant
  if (is_register) result.second = static_cast<std::uint8_t>(word.low >> 32 & 255);
  result.third = static_cast<std::uint8_t>(word.high & 255);
  result.is_barrier = (number & 0x1ff) == 0x11d;  // the upper bits say what its operands are
  result.is_sync = number == sync;
  result.gathers_warp = (number & 0x1ff) == 0x148;
  result.yields = number == yield || (number & 0x1ff) == 0x15d;  // NANOSLEEP likewise
  result.base = static_cast<std::uint8_t>(word.low >> 24 & 255);
  const auto added = static_cast<std::int32_t>(word.low >> 40 & 0xffffff);
  result.offset = added >= 1 << 23 ? added - (1 << 24) : added;
  const auto* const found = std::find_if(std::begin(accesses), std::end(accesses),
                                         [&](const Opcode& o) { return o.number == number; });
  if (number == copy) {
    result.access = load;
    result.space = global;
    result.carrier = Carrier::copy;
    result.bypasses_l1 = (word.high >> 17 & 1) == 0;
  } else if (found != std::end(accesses)) {
    result.access = found->kind;
    result.space = found->space;
    result.width = number == wide_load || number == wide_store ? 32 : width_of(word);
    if (found->kind == atomic || found->kind == reduction || is_one_of(number, matrix)) {
      result.width = 0;
    }
  }
  if (is_one_of(number, matrix)) result.carrier = Carrier::matrix;
  if (is_one_of(number, bytes_counted)) {
    result.carrier = Carrier::counted;
    result.width = 0;
  }
  if (is_one_of(number, bulk)) {
    result.carrier = Carrier::bulk;
    result.width = 0;
    const bool is_from_shared = (word.high >> 10 & 1) != 0;
    if (number == bulk_copy && is_from_shared) result.access = store;
  }
  result.is_compare_and_swap = is_one_of(number, swaps);
  result.counts_lanes = number == count_lanes;
  result.is_break = number == break_;
  result.elects_lane = is_one_of(number, elections);
  // A second predicate of a branch or exit.
  if (number == bra || number == exit_) result.is_guarded |= (word.high >> 23 & 15) != 7;
  if (number == bra && (word.high >> 27 & 1) != 0) {
    // BRA.DIV: what follows it executes the same lane group by lane group where a warp is not
    // together, which the model's never is.
  } else if (number == bra) {
    result.jump = Jump::branch;
    result.target = jump_target(word, offset, arch);
  } else if (number == uniform_bra) {
    result.jump = Jump::branch;
    result.target = jump_target(word, offset, arch);
    result.is_guarded |= (word.low >> 24 & 15) != 7;  // a predicate of the whole warp
  } else if (number == call_relative) {
    result.jump = Jump::call;
    result.target = jump_target(word, offset, arch);
  } else if (number == brx || number == jmx || number == jmp) {
    result.jump = Jump::indirect;
  } else if (number == call_absolute) {
    result.jump = Jump::call;
    result.target = -1;
  } else if (number == exit_ || number == ret || number == kill) {
    result.jump = Jump::end;
  }
  return result;
}

}  // namespace warpmeter::model::sass
