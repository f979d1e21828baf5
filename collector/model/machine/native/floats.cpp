// SPDX-License-Identifier: MIT
// Floats and conversions.
#include <optional>
#include <utility>

#include "collector/model/machine/native/cases.h"
#include "collector/model/machine/native/emitter.h"

namespace warpmeter::model::native {
namespace {

Operation swapped(const Operation& op) {
  Operation other = op;
  std::swap(other.a, other.b);
  return other;
}

/// Bits 13 and 14 of MXCSR.
enum class Direction : std::uint64_t { nearest, down, up, to_zero };

struct Directed {
  Code code;  ///< that rounds to the nearest
  Direction direction;
};

std::optional<Directed> directed(Code code) {
  switch (code) {
#define OF_TYPE(name, type)                                \
  case Code::name##_rm_##type:                             \
    return Directed{Code::name##_##type, Direction::down}; \
  case Code::name##_rp_##type:                             \
    return Directed{Code::name##_##type, Direction::up};   \
  case Code::name##_rz_##type:                             \
    return Directed{Code::name##_##type, Direction::to_zero};
#define OF_NAME(name) \
  OF_TYPE(name, f32)  \
  OF_TYPE(name, f64)
    OF_NAME(add)
    OF_NAME(sub)
    OF_NAME(mul)
    OF_NAME(fma)
    OF_NAME(div)
    OF_NAME(rcp)
    OF_NAME(sqrt)
#undef OF_NAME
#undef OF_TYPE
    default:
      return std::nullopt;
  }
}

}  // namespace

bool Emitter::emit_floats(const Operation& op) {
  if (const auto how = directed(op.code)) {
    const auto round = [&](Direction direction) {
      constexpr std::uint64_t no_exceptions = 0x1f80;
      vldmxcsr(
          dword[rip + constant({no_exceptions | static_cast<std::uint64_t>(direction) << 13})]);
    };
    Operation to_nearest = op;
    to_nearest.code = how->code;
    round(how->direction);
    const bool is_emitted = emit_floats(to_nearest);
    round(Direction::nearest);
    return is_emitted;
  }
  const auto extreme = [&](bool is_least) {
    binary(op, 2, [&](Register d, Register a, Register b) {
      set_->extreme_f32(d, a, b, is_least);
      canonical(d);
    });
    return true;
  };
  const auto round = [&](std::uint8_t mode) {
    unary(op, 2, [&](Register d, Register a) {
      set_->round_f32(d, a, mode);
      canonical(d);
    });
    return true;
  };
  constexpr std::uint32_t one_32 = 0x3f800000;
  constexpr std::uint64_t one_64 = 0x3ff0000000000000;
  const auto one_of_32 = [&](const Vector& d) {
    vbroadcastss(d, ptr[rip + constant({std::uint64_t{one_32} << 32 | one_32, 0, 0, 0})]);
  };
  const auto one_of_64 = [&](const Vector& d) {
    vpbroadcastq(d, ptr[rip + constant({one_64, 0, 0, 0})]);
  };
  switch (op.code) {
    BINARY_FROM_CASE(add_f32, 2, vaddps(d, a, b); canonical(d_))
    BINARY_FROM_CASE(sub_f32, 2, vsubps(d, a, b); canonical(d_))
    BINARY_FROM_CASE(mul_f32, 2, vmulps(d, a, b); canonical(d_))
    BINARY_FROM_CASE(div_f32, 2, vdivps(d, a, b); canonical(d_))
    TERNARY_FROM_CASE(fma_f32, 2, vmovups(d, c); vfmadd231ps(d, a, b); canonical(d_))
    UNARY_FROM_CASE(sqrt_f32, 2, vsqrtps(d, a); canonical(d_))
    UNARY_FROM_CASE(rcp_f32, 2, one_of_32(d); vdivps(d, d, a); canonical(d_))
    UNARY_CASE(abs_f32, 2, vandps(d, a, every_32(0x7fffffff)); canonical(d_))
    UNARY_CASE(neg_f32, 2, vxorps(d, a, every_32(0x80000000)); canonical(d_))
    // A processor takes the first operand's NaN of two, a GPU the second's (nan_of of
    // execute/semantics.h); of the operands of an fma the factor's that stands first here.
    case Code::add_f64:
      binary_from(swapped(op), 4, [&](Register d, Register b, const Xbyak::Operand& a) {
        vaddpd(vector(d), vector(b), a);
      });
      return true;
    case Code::mul_f64:
      binary_from(swapped(op), 4, [&](Register d, Register b, const Xbyak::Operand& a) {
        vmulpd(vector(d), vector(b), a);
      });
      return true;
      BINARY_CASE(sub_f64, 4, set_->nan_or_64(d_, a_, b_); vsubpd(d, d, b))
      BINARY_FROM_CASE(div_f64, 4, vdivpd(d, a, b))
      TERNARY_CASE(fma_f64, 4, set_->nan_or_64(d_, a_, c_); vfmadd213pd(d, b, c))
      UNARY_FROM_CASE(sqrt_f64, 4, vsqrtpd(d, a))
      UNARY_FROM_CASE(rcp_f64, 4, one_of_64(d); vdivpd(d, d, a))
      UNARY_CASE(abs_f64, 4, vandpd(d, a, every_64(0x7fffffffffffffff)); set_->quiet_64(d_, d_))
      UNARY_CASE(neg_f64, 4, vxorpd(d, a, every_64(0x8000000000000000)); set_->quiet_64(d_, a_))
    case Code::rni_f32:
      return round(0);
    case Code::rmi_f32:
      return round(1);
    case Code::rpi_f32:
      return round(2);
    case Code::rzi_f32:
      return round(3);
    case Code::min_f32:
      return extreme(true);
    case Code::max_f32:
      return extreme(false);
    default:
      return false;
  }
}

bool Emitter::emit_conversion(const Operation& op) {
  const auto to_wide = [&](auto emit) {
    widening(op, [&](Register d, const Vector& a) { emit(d, a); });
    return true;
  };
  // Each half of a destination by itself.
  const auto by_halves = [&](auto emit) {
    narrowing(op, [&](Register d, Register other, Register low, Register high) {
      emit(half(d), low);
      emit(half(other), high);
      set_->join(d, other);
    });
    return true;
  };
  const auto f64_from_64 = [&](bool is_signed) {
    if (!set_->has_64_to_float()) return false;
    unary(op, 4, [&](Register d, Register a) { set_->f64_from_64(d, a, is_signed); });
    return true;
  };
  const auto f32_from_64 = [&](bool is_signed) {
    return set_->has_64_to_float() &&
           by_halves([&](const Vector& d, Register a) { set_->f32_from_64(d, a, is_signed); });
  };
  switch (op.code) {
    UNARY_FROM_CASE(f32_from_s32, 2, vcvtdq2ps(d, a))
    UNARY_CASE(f32_from_u32, 2, set_->f32_from_u32(d_, a_))
    UNARY_CASE(s32_from_f32, 2, set_->s32_from_f32(d_, a_))
    UNARY_CASE(u32_from_f32, 2, set_->u32_from_f32(d_, a_))
    case Code::f64_from_s64:
      return f64_from_64(true);
    case Code::f64_from_u64:
      return f64_from_64(false);
    case Code::u64_from_u32:
      return to_wide([&](Register d, const Vector& a) { vpmovzxdq(vector(d), a); });
    case Code::u64_from_s32:
      return to_wide([&](Register d, const Vector& a) { vpmovsxdq(vector(d), a); });
    case Code::f64_from_s32:
      return to_wide([&](Register d, const Vector& a) { vcvtdq2pd(vector(d), a); });
    case Code::f64_from_u32:
      return to_wide([&](Register d, const Vector& a) { set_->f64_from_u32(d, a); });
    case Code::f64_from_f32:
      return to_wide([&](Register d, const Vector& a) { vcvtps2pd(vector(d), a); });
    case Code::u32_from_u64:
      narrowing(op, [&](Register d, Register, Register low, Register high) {
        set_->narrow_64(d, low, high);
      });
      return true;
    case Code::f32_from_f64:
      return by_halves([&](const Vector& d, Register a) { vcvtpd2ps(d, vector(a)); });
    case Code::f32_from_s64:
      return f32_from_64(true);
    case Code::f32_from_u64:
      return f32_from_64(false);
    default:
      return false;
  }
}

}  // namespace warpmeter::model::native
