// SPDX-License-Identifier: MIT
// The careful path of a memory access: every lane checked, counted, and remembered in the site (see
// warp.h) where the fast path of execute/ will find it. Also atomics, which have no fast path.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/model/machine/observer.h"
#include "collector/model/machine/program.h"
#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

/// Checks, counts and fills w.lane_host for the lanes of the mask, or raises w.trap and says false.
/// `addresses` are those of the access's space, offset included; w.sites[op->extra] is its site.
bool reach(Warp& w, const Operation* op, std::uint32_t mask, const std::uint64_t* addresses);

/// Ends the warp at the operation for what a lane does at an address: w.trap. False.
bool raise(Warp& w, const Operation* op, const SiteInfo& info, TrapKind kind, AddressSpace space,
           unsigned lane, std::uint64_t address);

/// Memory of this machine behind a generic address, for reading; null and 0 where there is none.
struct HostStretch {
  const std::byte* host = nullptr;
  std::uint64_t bytes = 0;
};
HostStretch host_at(Warp& w, unsigned lane, std::uint64_t generic_address);

/// Tells that the block touches the words of a remembered access, whose first lane's is at `first`.
void tell_touched(const Warp& w, const Operation* op, std::uint32_t mask, std::uint64_t first);

/// The same where there is an observer.
void tell_observer(const Warp& w, const Operation* op, std::uint32_t mask, std::uint64_t first);
/// The places of a remembered access.
Places places_of(const Warp& w, const Operation* op, std::uint32_t mask, std::uint64_t first);

/// Tells the observer of an operation before it is executed.
void observe(const Warp& w, const Operation* op, std::uint32_t mask);

enum class AtomicKind : std::uint16_t {
  add,
  minimum,
  maximum,
  bit_and,
  bit_or,
  bit_xor,
  exchange,
  compare_and_swap,
  increment,
  decrement,
};
enum class AtomicType : std::uint16_t {
  u32,
  s32,
  u64,
  s64,
  f32,
  f64,
  f16,
  bf16,
  f16x2,
  bf16x2,
  b16,
  b128,
};

/// Operation::c of an atomic: kind, type << 4, whether its address register is of 64 bits, and
/// whether sums of floats keep subnormal numbers in global memory too.
inline constexpr std::uint16_t atomic_kind_mask = 15;
inline constexpr int atomic_type_shift = 4;
inline constexpr std::uint16_t atomic_wide_address = 1 << 8, atomic_keeps_subnormals = 1 << 9;

/// Changes memory for one lane after the other, at w.lane_host. d takes the old values (it may be
/// no_operand), b is the operand; of compare_and_swap, b is compared and e stored. f is how many
/// numbers of a vector there are; their rows follow each other.
void change_atomically(Warp& w, const Operation* op, std::uint32_t mask);

}  // namespace warpmeter::model
