// SPDX-License-Identifier: MIT
// A function for each line of operations.h that has a value.

#define UNARY(code, names, D, A, ...)                                  \
  const Operation* do_##code(Warp& w, const Operation* op, u32 mask) { \
    const A* row_a = row<A>(w, op->a);                                 \
    return assign<D>(w, op, mask, [=](u32 l) -> D {                    \
      const A a = row_a[l];                                            \
      return __VA_ARGS__;                                              \
    });                                                                \
  }
#define BINARY(code, names, D, A, B, ...)                              \
  const Operation* do_##code(Warp& w, const Operation* op, u32 mask) { \
    const A* row_a = row<A>(w, op->a);                                 \
    const B* row_b = row<B>(w, op->b);                                 \
    return assign<D>(w, op, mask, [=](u32 l) -> D {                    \
      const A a = row_a[l];                                            \
      const B b = row_b[l];                                            \
      return __VA_ARGS__;                                              \
    });                                                                \
  }
#define TERNARY(code, names, D, A, B, C, ...)                          \
  const Operation* do_##code(Warp& w, const Operation* op, u32 mask) { \
    const A* row_a = row<A>(w, op->a);                                 \
    const B* row_b = row<B>(w, op->b);                                 \
    const C* row_c = row<C>(w, op->c);                                 \
    return assign<D>(w, op, mask, [=](u32 l) -> D {                    \
      const A a = row_a[l];                                            \
      const B b = row_b[l];                                            \
      const C c = row_c[l];                                            \
      return __VA_ARGS__;                                              \
    });                                                                \
  }
#define CONVERT(code, D, A, ...) UNARY(code, "", D, A, __VA_ARGS__)

inline u32 combined(const Warp& w, const Operation* op, u32 bits) {
  const u32 other = predicate(w, op->f);
  switch (static_cast<Combine>(op->c)) {
    case Combine::bit_and:
      return bits & other;
    case Combine::bit_or:
      return bits | other;
    case Combine::bit_xor:
      return bits ^ other;
    case Combine::none:
      break;
  }
  return bits;
}

/// setp: d takes the comparison, e (which may be absent) its contrary, both combined with f.
inline const Operation* decide(Warp& w, const Operation* op, u32 mask, u32 bits) {
  if (op->c == 0 && op->e == no_operand) {
    set_predicate(w, op->d, mask, bits);
  } else {
    const u32 p = combined(w, op, bits), q = combined(w, op, ~bits);
    set_predicate(w, op->d, mask, p);
    if (op->e != no_operand) set_predicate(w, op->e, mask, q);
  }
  return op + 1;
}

#define COMPARE(code, comparison, T, ...)                              \
  const Operation* do_##code(Warp& w, const Operation* op, u32 mask) { \
    const T* row_a = row<T>(w, op->a);                                 \
    const T* row_b = row<T>(w, op->b);                                 \
    return decide(w, op, mask, collect([=](u32 l) {                    \
                    const T a = row_a[l];                              \
                    const T b = row_b[l];                              \
                    return __VA_ARGS__;                                \
                  }));                                                 \
  }
#define CLASSIFY(code, names, T, ...)                                  \
  const Operation* do_##code(Warp& w, const Operation* op, u32 mask) { \
    const T* row_a = row<T>(w, op->a);                                 \
    set_predicate(w, op->d, mask, collect([=](u32 l) {                 \
                    const T a = row_a[l];                              \
                    return __VA_ARGS__;                                \
                  }));                                                 \
    return op + 1;                                                     \
  }

/// x + y + carry. A difference is x + ~y + 1, and the hardware keeps the carry of that sum: no
/// carry is a borrow, which addc after sub.cc sees (the library's division of 128 bits counts on
/// it).
template <class T, bool subtracts>
inline T sum_with_carry(T x, T y, bool carry_in, bool& carry_out) {
  const T addend = subtracts ? static_cast<T>(~y) : y;
  const T part = x + addend;
  const T whole = part + T{carry_in};
  carry_out = part < x || whole < part;
  return whole;
}

#define CARRY(code, names, T, sources, x, y, subtracts, reads, writes)           \
  const Operation* do_##code(Warp& w, const Operation* op, u32 mask) {           \
    T* d = row<T>(w, op->d);                                                     \
    const T* row_a = row<T>(w, op->a);                                           \
    const T* row_b = row<T>(w, op->b);                                           \
    [[maybe_unused]] const T* row_c = row<T>(w, (sources) == 3 ? op->c : op->a); \
    u32 carries = 0;                                                             \
    for (u32 l = 0; l < lane_count; ++l) {                                       \
      const T a = row_a[l];                                                      \
      const T b = row_b[l];                                                      \
      [[maybe_unused]] const T c = row_c[l];                                     \
      bool carry_out = false;                                                    \
      const bool carry_in = (reads) ? (w.carry >> l & 1) != 0 : (subtracts);     \
      const T sum = sum_with_carry<T, subtracts>(x, y, carry_in, carry_out);     \
      if ((mask >> l & 1) != 0) d[l] = sum;                                      \
      carries |= u32{carry_out} << l;                                            \
    }                                                                            \
    if (writes) w.carry = (w.carry & ~mask) | (carries & mask);                  \
    return op + 1;                                                               \
  }

#include "collector/model/machine/warp/operations.h"

template <class T>
inline const Operation* select(Warp& w, const Operation* op, u32 mask) {
  const T* a = row<T>(w, op->a);
  const T* b = row<T>(w, op->b);
  const u32 chosen = predicate(w, op->c);
  return assign<T>(w, op, mask, [=](u32 l) { return (chosen >> l & 1) != 0 ? a[l] : b[l]; });
}
const Operation* do_selp_b16(Warp& w, const Operation* op, u32 mask) {
  return select<u16>(w, op, mask);
}
const Operation* do_selp_b32(Warp& w, const Operation* op, u32 mask) {
  return select<u32>(w, op, mask);
}
const Operation* do_selp_b64(Warp& w, const Operation* op, u32 mask) {
  return select<u64>(w, op, mask);
}

template <class T>
inline const Operation* insert(Warp& w, const Operation* op, u32 mask) {
  constexpr bool is_wide = sizeof(T) == 8;
  const T* field = row<T>(w, op->a);
  const T* into = row<T>(w, op->b);
  const u32* position = row<u32>(w, op->c);
  const u32* length = row<u32>(w, op->e);
  return assign<T>(w, op, mask, [=](u32 l) {
    const u32 from = is_wide ? at_most_255(position[l]) : position[l] & 255;
    const u32 bits = is_wide ? at_most_255(length[l]) : length[l] & 255;
    return insert_field(field[l], into[l], from, bits);
  });
}
const Operation* do_bfi_b32(Warp& w, const Operation* op, u32 mask) {
  return insert<u32>(w, op, mask);
}
const Operation* do_bfi_b64(Warp& w, const Operation* op, u32 mask) {
  return insert<u64>(w, op, mask);
}

const Operation* do_lop3(Warp& w, const Operation* op, u32 mask) {
  const u32* a = row<u32>(w, op->a);
  const u32* b = row<u32>(w, op->b);
  const u32* c = row<u32>(w, op->c);
  const u32 table = static_cast<u32>(op->imm);
  return assign<u32>(w, op, mask, [=](u32 l) { return logic_3(a[l], b[l], c[l], table); });
}

const Operation* do_pack_2x16(Warp& w, const Operation* op, u32 mask) {
  const u16* a = row<u16>(w, op->a);
  const u16* b = row<u16>(w, op->b);
  return assign<u32>(w, op, mask, [=](u32 l) { return u32{a[l]} | u32{b[l]} << 16; });
}
const Operation* do_pack_4x16(Warp& w, const Operation* op, u32 mask) {
  const u16* a = row<u16>(w, op->a);
  const u16* b = row<u16>(w, op->b);
  const u16* c = row<u16>(w, op->c);
  const u16* e = row<u16>(w, op->e);
  return assign<u64>(w, op, mask, [=](u32 l) {
    return u64{a[l]} | u64{b[l]} << 16 | u64{c[l]} << 32 | u64{e[l]} << 48;
  });
}
const Operation* do_pack_2x32(Warp& w, const Operation* op, u32 mask) {
  const u32* a = row<u32>(w, op->a);
  const u32* b = row<u32>(w, op->b);
  return assign<u64>(w, op, mask, [=](u32 l) { return u64{a[l]} | u64{b[l]} << 32; });
}

/// The parts of a number, lowest first, into several rows. None of them is the source's.
template <class Part, class Whole>
inline void unpack(Warp& w, u16 to, u16 from, u32 mask, u32 shift) {
  const Whole* whole = row<Whole>(w, from);
  alignas(64) Part parts[lane_count];
  EACH_LANE { parts[l] = static_cast<Part>(whole[l] >> shift); }
  blend(row<Part>(w, to), parts, mask);
}
const Operation* do_unpack_2x16(Warp& w, const Operation* op, u32 mask) {
  unpack<u16, u32>(w, op->d, op->a, mask, 0);
  unpack<u16, u32>(w, op->b, op->a, mask, 16);
  return op + 1;
}
const Operation* do_unpack_4x16(Warp& w, const Operation* op, u32 mask) {
  unpack<u16, u64>(w, op->d, op->a, mask, 0);
  unpack<u16, u64>(w, op->b, op->a, mask, 16);
  unpack<u16, u64>(w, op->c, op->a, mask, 32);
  unpack<u16, u64>(w, op->e, op->a, mask, 48);
  return op + 1;
}
const Operation* do_unpack_2x32(Warp& w, const Operation* op, u32 mask) {
  unpack<u32, u64>(w, op->d, op->a, mask, 0);
  unpack<u32, u64>(w, op->b, op->a, mask, 32);
  return op + 1;
}

const Operation* do_mov_pred(Warp& w, const Operation* op, u32 mask) {
  set_predicate(w, op->d, mask, predicate(w, op->a));
  return op + 1;
}
const Operation* do_and_pred(Warp& w, const Operation* op, u32 mask) {
  set_predicate(w, op->d, mask, predicate(w, op->a) & predicate(w, op->b));
  return op + 1;
}
const Operation* do_or_pred(Warp& w, const Operation* op, u32 mask) {
  set_predicate(w, op->d, mask, predicate(w, op->a) | predicate(w, op->b));
  return op + 1;
}
const Operation* do_xor_pred(Warp& w, const Operation* op, u32 mask) {
  set_predicate(w, op->d, mask, predicate(w, op->a) ^ predicate(w, op->b));
  return op + 1;
}

/// A clock that never goes back: the instructions that this warp has executed. With imm it is
/// %globaltimer: a nanosecond each, since the launch began on this machine. So what a loop waits
/// for comes after as many turns every time, though the time itself is another one.
inline u64 ticks(const Warp& w, const Operation* op) {
  const u64 executed = w.warp_instructions + (op->instruction - w.counted_from);
  return (op->imm != 0 ? w.launched_at + executed : executed) >> op->extra;
}
const Operation* do_clock_32(Warp& w, const Operation* op, u32 mask) {
  const u32 now = static_cast<u32>(ticks(w, op));
  return assign<u32>(w, op, mask, [=](u32) { return now; });
}
const Operation* do_clock_64(Warp& w, const Operation* op, u32 mask) {
  const u64 now = ticks(w, op);
  return assign<u64>(w, op, mask, [=](u32) { return now; });
}
