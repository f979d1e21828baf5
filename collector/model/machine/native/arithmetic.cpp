// Whole numbers, bits, selections and predicates.
#include "collector/model/machine/native/cases.h"
#include "collector/model/machine/native/emitter.h"

namespace warpmeter::model::native {

bool Emitter::emit_inline(const Operation& op) {
  if (op.code == Code::nothing) return true;
  return emit_integers(op) || emit_floats(op) || emit_conversion(op) || emit_comparison(op) ||
         emit_predicate(op) || emit_access(op);
}

bool Emitter::emit_integers(const Operation& op) {
  // The product of eight lanes.
  const auto multiply_wide = [&](bool is_signed, bool adds) {
    std::array<Register, 4> d;
    for (int part = 0; part < 4; ++part) {
      const Register to = scratch(), other = scratch();
      const Xbyak::Ymm a = half_of(op.a, part), b = half_of(op.b, part);
      is_signed ? vpmovsxdq(zmm(to), a) : vpmovzxdq(zmm(to), a);
      is_signed ? vpmovsxdq(zmm(other), b) : vpmovzxdq(zmm(other), b);
      is_signed ? vpmuldq(zmm(to), zmm(to), zmm(other)) : vpmuludq(zmm(to), zmm(to), zmm(other));
      if (adds) vpaddq(zmm(to), zmm(to), zmm(read(op.c + part)));
      d[static_cast<std::size_t>(part)] = to;
    }
    for (int part = 0; part < 4; ++part) bind(op.d + part, d[static_cast<std::size_t>(part)]);
    unpin();
    return true;
  };
  const auto multiply_high = [&](bool is_signed) {
    mov(eax, 0xaaaa);
    kmovw(k1, eax);
    binary(op, 2, [&](Register d, Register a, Register b) {
      const Register even = scratch(), other = scratch();
      is_signed ? vpmuldq(zmm(even), zmm(a), zmm(b)) : vpmuludq(zmm(even), zmm(a), zmm(b));
      vpsrlq(zmm(d), zmm(a), 32);
      vpsrlq(zmm(other), zmm(b), 32);
      is_signed ? vpmuldq(zmm(d), zmm(d), zmm(other)) : vpmuludq(zmm(d), zmm(d), zmm(other));
      vpsrlq(zmm(even), zmm(even), 32);
      vmovdqa32(zmm(even) | k1, zmm(d));
      vmovdqa64(zmm(d), zmm(even));
    });
    return true;
  };
  // A count of 32 bits for lanes of 64.
  const auto shift_64 = [&](auto shift) {
    for (int part = 0; part < 4; ++part) {
      const Register a = read(op.a + part), d = scratch();
      vpmovzxdq(zmm(d), half_of(op.b, part));
      shift(zmm(d), zmm(a));
      bind(op.d + part, d);
      unpin();
    }
    return true;
  };
  // The bits of two words, one moved one way, the other the other; a count of 0 to 31.
  const auto funnel = [&](bool to_left) {
    for (int i = 0; i < 2; ++i) {
      const Register a = read(op.a + i), b = read(op.b + i), c = read(op.c + i);
      const Register d = scratch(), count = scratch(), other = scratch();
      vpandd(zmm(count), zmm(c), ptr_b[rip + constant_32(31)]);
      to_left ? vpsllvd(zmm(d), zmm(b), zmm(count)) : vpsrlvd(zmm(d), zmm(a), zmm(count));
      vpbroadcastd(zmm(other), ptr[rip + constant_32(32)]);
      vpsubd(zmm(count), zmm(other), zmm(count));
      to_left ? vpsrlvd(zmm(other), zmm(a), zmm(count)) : vpsllvd(zmm(other), zmm(b), zmm(count));
      vpord(zmm(d), zmm(d), zmm(other));
      bind(op.d + i, d);
      unpin();
    }
    return true;
  };
  switch (op.code) {
    UNARY_CASE(mov_b32, 2, vmovdqa64(d, a))
    UNARY_CASE(mov_f32, 2, vmovdqa64(d, a))
    UNARY_CASE(mov_b16, 1, vmovdqa64(d, a))
    UNARY_CASE(mov_b64, 4, vmovdqa64(d, a))
    UNARY_CASE(mov_f64, 4, vmovdqa64(d, a))
    BINARY_CASE(add_u32, 2, vpaddd(d, a, b))
    BINARY_CASE(add_u64, 4, vpaddq(d, a, b))
    BINARY_CASE(add_u16, 1, vpaddw(d, a, b))
    BINARY_CASE(sub_u32, 2, vpsubd(d, a, b))
    BINARY_CASE(sub_u64, 4, vpsubq(d, a, b))
    BINARY_CASE(sub_u16, 1, vpsubw(d, a, b))
    BINARY_CASE(mul_lo_u16, 1, vpmullw(d, a, b))
    BINARY_CASE(mul_lo_u32, 2, vpmulld(d, a, b))
    BINARY_CASE(mul_lo_u64, 4, vpmullq(d, a, b))
    TERNARY_CASE(mad_lo_u32, 2, vpmulld(d, a, b); vpaddd(d, d, c))
    TERNARY_CASE(mad_lo_u64, 4, vpmullq(d, a, b); vpaddq(d, d, c))
    BINARY_CASE(and_b16, 1, vpandd(d, a, b))
    BINARY_CASE(and_b32, 2, vpandd(d, a, b))
    BINARY_CASE(and_b64, 4, vpandd(d, a, b))
    BINARY_CASE(or_b16, 1, vpord(d, a, b))
    BINARY_CASE(or_b32, 2, vpord(d, a, b))
    BINARY_CASE(or_b64, 4, vpord(d, a, b))
    BINARY_CASE(xor_b16, 1, vpxord(d, a, b))
    BINARY_CASE(xor_b32, 2, vpxord(d, a, b))
    BINARY_CASE(xor_b64, 4, vpxord(d, a, b))
    // Of three inputs a, b and c, bit 4 a + 2 b + c of the table: 0x0f is ~a.
    UNARY_CASE(not_b16, 1, vmovdqa64(d, a); vpternlogd(d, a, a, 0x0f))
    UNARY_CASE(not_b32, 2, vmovdqa64(d, a); vpternlogd(d, a, a, 0x0f))
    UNARY_CASE(not_b64, 4, vmovdqa64(d, a); vpternlogd(d, a, a, 0x0f))
    TERNARY_CASE(lop3, 2, vmovdqa64(d, a); vpternlogd(d, b, c, static_cast<std::uint8_t>(op.imm)))
    BINARY_CASE(shl_b32, 2, vpsllvd(d, a, b))
    BINARY_CASE(shr_u32, 2, vpsrlvd(d, a, b))
    BINARY_CASE(shr_s32, 2, vpsravd(d, a, b))
    BINARY_CASE(min_u32, 2, vpminud(d, a, b))
    BINARY_CASE(min_s32, 2, vpminsd(d, a, b))
    BINARY_CASE(min_u64, 4, vpminuq(d, a, b))
    BINARY_CASE(min_s64, 4, vpminsq(d, a, b))
    BINARY_CASE(max_u32, 2, vpmaxud(d, a, b))
    BINARY_CASE(max_s32, 2, vpmaxsd(d, a, b))
    BINARY_CASE(max_u64, 4, vpmaxuq(d, a, b))
    BINARY_CASE(max_s64, 4, vpmaxsq(d, a, b))
    UNARY_CASE(abs_s32, 2, vpabsd(d, a))
    UNARY_CASE(abs_s64, 4, vpabsq(d, a))
    UNARY_CASE(neg_s32, 2, vpxord(d, d, d); vpsubd(d, d, a))
    UNARY_CASE(neg_s64, 4, vpxord(d, d, d); vpsubq(d, d, a))
    case Code::shl_b64:
      return shift_64([&](auto d, auto a) { vpsllvq(d, a, d); });
    case Code::shr_u64:
      return shift_64([&](auto d, auto a) { vpsrlvq(d, a, d); });
    case Code::shr_s64:
      return shift_64([&](auto d, auto a) { vpsravq(d, a, d); });
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
  enum class Type { u32, s32, u64, s64, f32, f64 };
  Type type = Type::u32;
  std::uint8_t how = 0;
  const auto is = [&](Type its, std::uint8_t its_how) {
    type = its;
    how = its_how;
  };
  switch (op.code) {
#define INTEGERS(name, T) \
  case Code::lt_##name:   \
    is(Type::T, 1);       \
    break;                \
  case Code::le_##name:   \
    is(Type::T, 2);       \
    break;
#define EQUALITY(name, T) \
  case Code::eq_##name:   \
    is(Type::T, 0);       \
    break;                \
  case Code::ne_##name:   \
    is(Type::T, 4);       \
    break;
#define FLOATS(T)     \
  case Code::eq_##T:  \
    is(Type::T, 0);   \
    break;            \
  case Code::ne_##T:  \
    is(Type::T, 12);  \
    break;            \
  case Code::lt_##T:  \
    is(Type::T, 1);   \
    break;            \
  case Code::le_##T:  \
    is(Type::T, 2);   \
    break;            \
  case Code::equ_##T: \
    is(Type::T, 8);   \
    break;            \
  case Code::neu_##T: \
    is(Type::T, 4);   \
    break;            \
  case Code::ltu_##T: \
    is(Type::T, 9);   \
    break;            \
  case Code::leu_##T: \
    is(Type::T, 10);  \
    break;            \
  case Code::num_##T: \
    is(Type::T, 7);   \
    break;            \
  case Code::nan_##T: \
    is(Type::T, 3);   \
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
  const bool is_wide = type == Type::u64 || type == Type::s64 || type == Type::f64;
  for (int i = 0; i < (is_wide ? 4 : 2); ++i) {
    const Xbyak::Zmm a = zmm(read(op.a + i)), b = zmm(read(op.b + i));
    const Xbyak::Opmask k(i + 1);
    switch (type) {
      case Type::u32:
        vpcmpud(k, a, b, how);
        break;
      case Type::s32:
        vpcmpd(k, a, b, how);
        break;
      case Type::u64:
        vpcmpuq(k, a, b, how);
        break;
      case Type::s64:
        vpcmpq(k, a, b, how);
        break;
      case Type::f32:
        vcmpps(k, a, b, how);
        break;
      case Type::f64:
        vcmppd(k, a, b, how);
        break;
    }
    unpin();
  }
  if (is_wide) {
    kunpckbw(k1, k2, k1);
    kunpckbw(k2, k4, k3);
  }
  kunpckwd(k1, k2, k1);
  if (op.c == 0 && op.e == no_operand) {
    kmovd(predicate_at(op.d), k1);
    return true;
  }
  // decide() of execute/arithmetic.h.
  kmovd(eax, k1);
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
  mov(predicate_at(op.d), eax);
  if (op.e != no_operand) mov(predicate_at(op.e), edx);
  return true;
}

bool Emitter::emit_predicate(const Operation& op) {
  const auto select = [&](int pieces) {
    const int lanes = 32 / pieces;
    load_predicate(eax, op.c);
    for (int i = 0; i < pieces; ++i) {
      kmovd(k1, eax);
      if (i + 1 < pieces) shr(eax, static_cast<std::uint8_t>(lanes));
      const Register a = read(op.a + i), b = read(op.b + i), d = scratch();
      pieces == 2 ? vpblendmd(zmm(d) | k1, zmm(b), zmm(a)) : vpblendmq(zmm(d) | k1, zmm(b), zmm(a));
      bind(op.d + i, d);
      unpin();
    }
  };
  switch (op.code) {
    case Code::selp_b32:
      select(2);
      return true;
    case Code::selp_b64:
      select(4);
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
      mov(predicate_at(op.d), eax);
      return true;
    default:
      return false;
  }
}

}  // namespace warpmeter::model::native
