// Floats and conversions.
#include "collector/model/machine/native/cases.h"
#include "collector/model/machine/native/emitter.h"

namespace warpmeter::model::native {

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

}  // namespace warpmeter::model::native
