// Whole numbers, bits, selections and predicates.
#include "collector/model/machine/native/emitter.h"

namespace warpmeter::model::native {

bool Emitter::emit_inline(const Operation& op) {
  if (op.code == Code::nothing) return true;
  return emit_integers(op) || emit_floats(op) || emit_conversion(op) || emit_comparison(op) ||
         emit_predicate(op) || emit_access(op);
}

#define SAME_ROW_PIECES_32 2
#define UNARY_CASE(code, pieces, ...)                 \
  case Code::code:                                    \
    unary(op, pieces, [&](Register d_, Register a_) { \
      const Xbyak::Zmm d = zmm(d_), a = zmm(a_);      \
      __VA_ARGS__;                                    \
    });                                               \
    return true;
#define BINARY_CASE(code, pieces, ...)                              \
  case Code::code:                                                  \
    binary(op, pieces, [&](Register d_, Register a_, Register b_) { \
      const Xbyak::Zmm d = zmm(d_), a = zmm(a_), b = zmm(b_);       \
      __VA_ARGS__;                                                  \
    });                                                             \
    return true;
#define TERNARY_CASE(code, pieces, ...)                                           \
  case Code::code:                                                                \
    ternary(op, pieces, [&](Register d_, Register a_, Register b_, Register c_) { \
      const Xbyak::Zmm d = zmm(d_), a = zmm(a_), b = zmm(b_), c = zmm(c_);        \
      __VA_ARGS__;                                                                \
    });                                                                           \
    return true;

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

bool Emitter::emit_floats(const Operation& op) {
  const auto extreme = [&](bool is_least) {
    // The first, where it is further, or the second is NaN, or both are equal and the zero's sign
    // says so.
    binary(op, 2, [&](Register d, Register a, Register b) {
      vcmpps(k1, zmm(a), zmm(b), is_least ? 1 : 14);  // less, greater
      vcmpps(k2, zmm(b), zmm(b), 3);                  // unordered
      korw(k1, k1, k2);
      vcmpps(k2, zmm(a), zmm(b), 0);  // equal
      vpmovd2m(k3, zmm(is_least ? a : b));
      kandw(k2, k2, k3);
      korw(k1, k1, k2);
      vblendmps(zmm(d) | k1, zmm(b), zmm(a));
      canonical(d);
    });
    return true;
  };
  const auto one_32 = [&](const Xbyak::Zmm& d) {
    vbroadcastss(d, ptr[rip + constant_32(0x3f800000)]);
  };
  const auto one_64 = [&](const Xbyak::Zmm& d) {
    vbroadcastsd(d, ptr[rip + constant_64(0x3ff0000000000000)]);
  };
  // Never a signalling NaN: a NaN added to itself is quiet.
  const auto quiet = [&](const Xbyak::Zmm& d) {
    vcmppd(k1, d, d, 3);
    vaddpd(d | k1, d, d);
  };
  switch (op.code) {
    BINARY_CASE(add_f32, 2, vaddps(d, a, b); canonical(d_))
    BINARY_CASE(sub_f32, 2, vsubps(d, a, b); canonical(d_))
    BINARY_CASE(mul_f32, 2, vmulps(d, a, b); canonical(d_))
    BINARY_CASE(div_f32, 2, vdivps(d, a, b); canonical(d_))
    TERNARY_CASE(fma_f32, 2, vmovaps(d, c); vfmadd231ps(d, a, b); canonical(d_))
    UNARY_CASE(sqrt_f32, 2, vsqrtps(d, a); canonical(d_))
    UNARY_CASE(rcp_f32, 2, one_32(d); vdivps(d, d, a); canonical(d_))
    UNARY_CASE(rsqrt_f32, 2, const Register root = scratch(); vsqrtps(zmm(root), a); one_32(d);
               vdivps(d, d, zmm(root)); canonical(d_))
    UNARY_CASE(abs_f32, 2, vpandd(d, a, ptr_b[rip + constant_32(0x7fffffff)]); canonical(d_))
    UNARY_CASE(neg_f32, 2, vpxord(d, a, ptr_b[rip + constant_32(0x80000000)]); canonical(d_))
    UNARY_CASE(rni_f32, 2, vrndscaleps(d, a, 0); canonical(d_))
    UNARY_CASE(rmi_f32, 2, vrndscaleps(d, a, 1); canonical(d_))
    UNARY_CASE(rpi_f32, 2, vrndscaleps(d, a, 2); canonical(d_))
    UNARY_CASE(rzi_f32, 2, vrndscaleps(d, a, 3); canonical(d_))
    BINARY_CASE(add_f64, 4, vaddpd(d, a, b))
    BINARY_CASE(sub_f64, 4, vsubpd(d, a, b))
    BINARY_CASE(mul_f64, 4, vmulpd(d, a, b))
    BINARY_CASE(div_f64, 4, vdivpd(d, a, b))
    TERNARY_CASE(fma_f64, 4, vmovapd(d, a); vfmadd213pd(d, b, c))
    UNARY_CASE(sqrt_f64, 4, vsqrtpd(d, a))
    UNARY_CASE(rcp_f64, 4, one_64(d); vdivpd(d, d, a))
    UNARY_CASE(abs_f64, 4, vpandq(d, a, ptr_b[rip + constant_64(0x7fffffffffffffff)]); quiet(d))
    UNARY_CASE(neg_f64, 4, vpxorq(d, a, ptr_b[rip + constant_64(0x8000000000000000)]);
               vcmppd(k1, a, a, 3); vaddpd(d | k1, a, a))
    case Code::min_f32:
      return extreme(true);
    case Code::max_f32:
      return extreme(false);
    default:
      return false;
  }
}

bool Emitter::emit_conversion(const Operation& op) {
  const auto from_pieces = [&](auto emit) {
    narrowing(op, emit);
    return true;
  };
  const auto to_pieces = [&](auto emit) {
    widening(op, emit);
    return true;
  };
  switch (op.code) {
    UNARY_CASE(f32_from_s32, 2, vcvtdq2ps(d, a))
    UNARY_CASE(f32_from_u32, 2, vcvtudq2ps(d, a))
    UNARY_CASE(f64_from_s64, 4, vcvtqq2pd(d, a))
    UNARY_CASE(f64_from_u64, 4, vcvtuqq2pd(d, a))
    // What is too great or too small is 0x80000000 of this processor, and NaN is as well.
    UNARY_CASE(s32_from_f32, 2, vcvttps2dq(d, a);
               vcmpps(k1, a, ptr_b[rip + constant_32(0x4f000000)], 13);
               vmovdqa32(d | k1, zmm(nan_register)); vcmpps(k1, a, a, 3); vpxord(d | k1, d, d))
    // Above zero only: what is too great is all ones.
    UNARY_CASE(u32_from_f32, 2, const Register zero = scratch();
               vpxord(zmm(zero), zmm(zero), zmm(zero)); vcmpps(k1, zmm(zero), a, 1);
               vcvttps2udq(d | k1 | T_z, a))
    case Code::u64_from_u32:
      return to_pieces([&](Register d, const Xbyak::Ymm& a) { vpmovzxdq(zmm(d), a); });
    case Code::u64_from_s32:
      return to_pieces([&](Register d, const Xbyak::Ymm& a) { vpmovsxdq(zmm(d), a); });
    case Code::f64_from_s32:
      return to_pieces([&](Register d, const Xbyak::Ymm& a) { vcvtdq2pd(zmm(d), a); });
    case Code::f64_from_u32:
      return to_pieces([&](Register d, const Xbyak::Ymm& a) { vcvtudq2pd(zmm(d), a); });
    case Code::f64_from_f32:
      return to_pieces([&](Register d, const Xbyak::Ymm& a) { vcvtps2pd(zmm(d), a); });
    case Code::u32_from_u64:
      return from_pieces([&](const Xbyak::Ymm& d, Register a) { vpmovqd(d, zmm(a)); });
    case Code::f32_from_f64:
      return from_pieces([&](const Xbyak::Ymm& d, Register a) { vcvtpd2ps(d, zmm(a)); });
    case Code::f32_from_s64:
      return from_pieces([&](const Xbyak::Ymm& d, Register a) { vcvtqq2ps(d, zmm(a)); });
    case Code::f32_from_u64:
      return from_pieces([&](const Xbyak::Ymm& d, Register a) { vcvtuqq2ps(d, zmm(a)); });
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
