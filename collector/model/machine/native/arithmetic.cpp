// SPDX-License-Identifier: MIT
// Whole numbers, bits, selections and predicates.
#include "collector/model/machine/native/cases.h"
#include "collector/model/machine/native/emitter.h"

namespace warpmeter::model::native {

bool Emitter::emit_inline(const Operation& op) {
  if (op.code == Code::nothing) return true;
  if (op.code == Code::meet && lanes_ == Lanes::all) return true;  // they are here
  return emit_integers(op) || emit_floats(op) || emit_conversion(op) || emit_comparison(op) ||
         emit_predicate(op) || emit_access(op);
}

bool Emitter::emit_integers(const Operation& op) {
  const auto multiply_wide = [&](bool is_signed, bool adds) {
    for (int part = 0; part < 4 * pieces_of_unit_; ++part) {
      const Vector a = half_of(piece_of(op.a), part), b = half_of(piece_of(op.b), part);
      const Register to = scratch(), other = scratch();
      const Vector d = vector(to), t = vector(other);
      is_signed ? vpmovsxdq(d, a) : vpmovzxdq(d, a);
      is_signed ? vpmovsxdq(t, b) : vpmovzxdq(t, b);
      is_signed ? vpmuldq(d, d, t) : vpmuludq(d, d, t);
      if (adds) vpaddq(d, d, read_anywhere(piece_of(op.c) + part));
      bind({piece_of(op.d), part, 4}, to);
      unpin();
    }
    return true;
  };
  const auto multiply_high = [&](bool is_signed) {
    binary(op, 2, [&](Register d_, Register a_, Register b_) {
      const Register even = scratch();
      const Vector d = vector(d_), a = vector(a_), b = vector(b_), t = vector(even);
      vpsrlq(d, a, 32);
      vpsrlq(t, b, 32);
      is_signed ? vpmuldq(t, d, t) : vpmuludq(t, d, t);
      is_signed ? vpmuldq(d, a, b) : vpmuludq(d, a, b);
      vpsrlq(d, d, 32);
      set_->take_odd_lanes(d_, even);
    });
    return true;
  };
  const auto multiply_64 = [&](bool adds) {
    for (int i = 0; i < 4 * pieces_of_unit_; ++i) {
      const Register a = read(piece_of(op.a) + i), b = read(piece_of(op.b) + i), d = scratch();
      set_->multiply_64(d, a, b);
      if (adds) vpaddq(vector(d), vector(d), read_anywhere(piece_of(op.c) + i));
      bind({piece_of(op.d), i, 4}, d);
      unpin();
    }
    return true;
  };
  const auto extreme_64 = [&](bool is_signed, bool is_least) {
    binary(op, 4, [&](Register d, Register a, Register b) {
      set_->extreme_64(d, a, b, is_signed, is_least);
    });
    return true;
  };
  // A count of 32 bits for lanes of 64.
  const auto shift_64 = [&](auto shift) {
    for (int part = 0; part < 4 * pieces_of_unit_; ++part) {
      const Vector counts = half_of(piece_of(op.b), part);
      const Register a = read(piece_of(op.a) + part), d = scratch();
      vpmovzxdq(vector(d), counts);
      shift(d, a);
      bind({piece_of(op.d), part, 4}, d);
      unpin();
    }
    return true;
  };
  // The bits of two words, one moved one way, the other the other; a count of 0 to 31.
  const auto funnel = [&](bool to_left) {
    ternary(op, 2, [&](Register d_, Register a_, Register b_, Register c_) {
      const Vector d = vector(d_), a = vector(a_), b = vector(b_);
      const Vector count = vector(scratch()), other = vector(scratch());
      vandps(count, vector(c_), every_32(31));
      to_left ? vpsllvd(d, b, count) : vpsrlvd(d, a, count);
      vxorps(other, other, other);
      vpsubd(count, other, count);
      vpaddd(count, count, every_32(32));
      to_left ? vpsrlvd(other, a, count) : vpsllvd(other, b, count);
      vorps(d, d, other);
    });
    return true;
  };
  switch (op.code) {
    UNARY_FROM_CASE(mov_b32, 2, vmovups(d, a))
    UNARY_FROM_CASE(mov_f32, 2, vmovups(d, a))
    UNARY_FROM_CASE(mov_b16, 1, vmovups(d, a))
    UNARY_FROM_CASE(mov_b64, 4, vmovups(d, a))
    UNARY_FROM_CASE(mov_f64, 4, vmovups(d, a))
    BINARY_FROM_CASE(add_u32, 2, vpaddd(d, a, b))
    BINARY_FROM_CASE(add_u64, 4, vpaddq(d, a, b))
    BINARY_FROM_CASE(add_u16, 1, vpaddw(d, a, b))
    BINARY_FROM_CASE(sub_u32, 2, vpsubd(d, a, b))
    BINARY_FROM_CASE(sub_u64, 4, vpsubq(d, a, b))
    BINARY_FROM_CASE(sub_u16, 1, vpsubw(d, a, b))
    BINARY_FROM_CASE(mul_lo_u16, 1, vpmullw(d, a, b))
    BINARY_FROM_CASE(mul_lo_u32, 2, vpmulld(d, a, b))
    TERNARY_FROM_CASE(mad_lo_u32, 2, vpmulld(d, a, b); vpaddd(d, d, c))
    BINARY_FROM_CASE(and_b16, 1, vandps(d, a, b))
    BINARY_FROM_CASE(and_b32, 2, vandps(d, a, b))
    BINARY_FROM_CASE(and_b64, 4, vandps(d, a, b))
    BINARY_FROM_CASE(or_b16, 1, vorps(d, a, b))
    BINARY_FROM_CASE(or_b32, 2, vorps(d, a, b))
    BINARY_FROM_CASE(or_b64, 4, vorps(d, a, b))
    BINARY_FROM_CASE(xor_b16, 1, vxorps(d, a, b))
    BINARY_FROM_CASE(xor_b32, 2, vxorps(d, a, b))
    BINARY_FROM_CASE(xor_b64, 4, vxorps(d, a, b))
    UNARY_CASE(not_b16, 1, vxorps(d, a, every_32(0xffffffff)))
    UNARY_CASE(not_b32, 2, vxorps(d, a, every_32(0xffffffff)))
    UNARY_CASE(not_b64, 4, vxorps(d, a, every_32(0xffffffff)))
    BINARY_FROM_CASE(shl_b32, 2, vpsllvd(d, a, b))
    BINARY_FROM_CASE(shr_u32, 2, vpsrlvd(d, a, b))
    BINARY_FROM_CASE(shr_s32, 2, vpsravd(d, a, b))
    BINARY_FROM_CASE(min_u32, 2, vpminud(d, a, b))
    BINARY_FROM_CASE(min_s32, 2, vpminsd(d, a, b))
    BINARY_FROM_CASE(max_u32, 2, vpmaxud(d, a, b))
    BINARY_FROM_CASE(max_s32, 2, vpmaxsd(d, a, b))
    UNARY_FROM_CASE(abs_s32, 2, vpabsd(d, a))
    UNARY_FROM_CASE(neg_s32, 2, vxorps(d, d, d); vpsubd(d, d, a))
    UNARY_FROM_CASE(neg_s64, 4, vxorps(d, d, d); vpsubq(d, d, a))
    UNARY_CASE(abs_s64, 4, set_->abs_64(d_, a_))
    case Code::lop3:
      ternary(op, 2, [&](Register d, Register a, Register b, Register c) {
        set_->logic_3(d, a, b, c, static_cast<std::uint8_t>(op.imm));
      });
      return true;
    case Code::mul_lo_u64:
      return multiply_64(false);
    case Code::mad_lo_u64:
      return multiply_64(true);
    case Code::min_u64:
      return extreme_64(false, true);
    case Code::min_s64:
      return extreme_64(true, true);
    case Code::max_u64:
      return extreme_64(false, false);
    case Code::max_s64:
      return extreme_64(true, false);
    case Code::shl_b64:
      return shift_64([&](Register d, Register a) { vpsllvq(vector(d), vector(a), vector(d)); });
    case Code::shr_u64:
      return shift_64([&](Register d, Register a) { vpsrlvq(vector(d), vector(a), vector(d)); });
    case Code::shr_s64:
      return shift_64([&](Register d, Register a) { set_->shift_right_s64(d, a); });
    case Code::shf_l_wrap:
      return funnel(true);
    case Code::shf_r_wrap:
      return funnel(false);
    case Code::mul_wide_u32:
      return multiply_wide(false, false);
    case Code::mul_wide_s32:
      return multiply_wide(true, false);
    case Code::mad_wide_u32:
      return multiply_wide(false, true);
    case Code::mad_wide_s32:
      return multiply_wide(true, true);
    case Code::mul_hi_u32:
      return multiply_high(false);
    case Code::mul_hi_s32:
      return multiply_high(true);
    default:
      return false;
  }
}

bool Emitter::emit_comparison(const Operation& op) {
  Compared type = Compared::u32;
  std::uint8_t how = 0;
  const auto is = [&](Compared its, std::uint8_t its_how) {
    type = its;
    how = its_how;
  };
  switch (op.code) {
#define INTEGERS(name, T) \
  case Code::lt_##name:   \
    is(Compared::T, 1);   \
    break;                \
  case Code::le_##name:   \
    is(Compared::T, 2);   \
    break;
#define EQUALITY(name, T) \
  case Code::eq_##name:   \
    is(Compared::T, 0);   \
    break;                \
  case Code::ne_##name:   \
    is(Compared::T, 4);   \
    break;
#define FLOATS(T)        \
  case Code::eq_##T:     \
    is(Compared::T, 0);  \
    break;               \
  case Code::ne_##T:     \
    is(Compared::T, 12); \
    break;               \
  case Code::lt_##T:     \
    is(Compared::T, 1);  \
    break;               \
  case Code::le_##T:     \
    is(Compared::T, 2);  \
    break;               \
  case Code::equ_##T:    \
    is(Compared::T, 8);  \
    break;               \
  case Code::neu_##T:    \
    is(Compared::T, 4);  \
    break;               \
  case Code::ltu_##T:    \
    is(Compared::T, 9);  \
    break;               \
  case Code::leu_##T:    \
    is(Compared::T, 10); \
    break;               \
  case Code::num_##T:    \
    is(Compared::T, 7);  \
    break;               \
  case Code::nan_##T:    \
    is(Compared::T, 3);  \
    break;
    INTEGERS(u32, u32)
    INTEGERS(s32, s32)
    INTEGERS(u64, u64)
    INTEGERS(s64, s64)
    EQUALITY(u32, u32)
    EQUALITY(u64, u64)
    FLOATS(f32)
    FLOATS(f64)
#undef INTEGERS
#undef EQUALITY
#undef FLOATS
    default:
      return false;
  }
  set_->compare(op, type, how);
  if (op.c == 0 && op.e == no_operand) {
    set_predicate(op.d, eax);
    return true;
  }
  // decide() of execute/arithmetic.h.
  if (op.e != no_operand) {
    mov(edx, eax);
    not_(edx);
  }
  if (static_cast<Combine>(op.c) != Combine::none) {
    load_predicate(ecx, op.f);
    const auto combine = [&](const Xbyak::Reg32& with) {
      switch (static_cast<Combine>(op.c)) {
        case Combine::bit_and:
          and_(with, ecx);
          break;
        case Combine::bit_or:
          or_(with, ecx);
          break;
        case Combine::bit_xor:
          xor_(with, ecx);
          break;
        case Combine::none:
          break;
      }
    };
    combine(eax);
    if (op.e != no_operand) combine(edx);
  }
  set_predicate(op.d, eax);
  if (op.e != no_operand) set_predicate(op.e, edx);
  return true;
}

bool Emitter::emit_predicate(const Operation& op) {
  switch (op.code) {
    case Code::selp_b32:
      set_->select(op, false);
      return true;
    case Code::selp_b64:
      set_->select(op, true);
      return true;
    case Code::mov_pred:
    case Code::and_pred:
    case Code::or_pred:
    case Code::xor_pred:
      load_predicate(eax, op.a);
      if (op.code != Code::mov_pred) load_predicate(ecx, op.b);
      if (op.code == Code::and_pred) and_(eax, ecx);
      if (op.code == Code::or_pred) or_(eax, ecx);
      if (op.code == Code::xor_pred) xor_(eax, ecx);
      set_predicate(op.d, eax);
      return true;
    default:
      return false;
  }
}

}  // namespace warpmeter::model::native
