// SPDX-License-Identifier: MIT
// Machine code for AVX2 (with FMA): registers of 32 bytes, lanes that are chosen as vectors of all
// ones. Some instructions of AVX-512 are made of several here.
#include <memory>

#include "collector/model/machine/native/emitter.h"
#include "collector/model/machine/native/instruction_set.h"

namespace warpmeter::model::native {
namespace {

class Avx2 : public InstructionSet {
 public:
  explicit Avx2(Emitter& emitter) : InstructionSet(32, 16), c(emitter) {}

  Vector vector(Register r) const override { return Xbyak::Ymm(r); }
  Vector half(Register r) const override { return Xbyak::Xmm(r); }

  void begin() override {}
  Xbyak::Address every_32(std::uint32_t bits) override {
    return every_64(std::uint64_t{bits} << 32 | bits);
  }
  Xbyak::Address every_64(std::uint64_t bits) override {
    return c.ptr[c.rip + c.constant({bits, bits, bits, bits})];
  }

  void upper_half(Register d, Register a) override { c.vextracti128(Xbyak::Xmm(d), ymm(a), 1); }
  void join(Register low, Register high) override {
    c.vinserti128(ymm(low), ymm(low), Xbyak::Xmm(high), 1);
  }

  void logic_3(Register d, Register a, Register b, Register third, std::uint8_t table) override {
    // The table for b and c alone: what it is where a is zero, and where a changes that.
    const std::uint8_t plain = table & 15, changes = (table >> 4 ^ table) & 15;
    if (changes == 0) return logic_2(d, b, third, plain);
    logic_2(d, b, third, changes);
    c.vandps(ymm(d), ymm(d), ymm(a));
    if (plain == 0) return;
    const Register other = c.scratch();
    logic_2(other, b, third, plain);
    c.vxorps(ymm(d), ymm(d), ymm(other));
  }
  void multiply_64(Register d, Register a, Register b) override {
    const Ymm t = fresh();
    c.vpsrlq(t, ymm(a), 32);
    c.vpmuludq(t, t, ymm(b));
    c.vpsrlq(ymm(d), ymm(b), 32);
    c.vpmuludq(ymm(d), ymm(d), ymm(a));
    c.vpaddq(t, t, ymm(d));
    c.vpsllq(t, t, 32);
    c.vpmuludq(ymm(d), ymm(a), ymm(b));
    c.vpaddq(ymm(d), ymm(d), t);
  }
  void extreme_64(Register d, Register a, Register b, bool is_signed, bool is_least) override {
    const Ymm is_greater = fresh();
    greater_64(is_greater, a, b, is_signed);
    const Register first = is_least ? a : b, second = is_least ? b : a;
    c.vblendvpd(ymm(d), ymm(first), ymm(second), is_greater);
  }
  void shift_right_s64(Register d, Register a) override {
    // A zero's sign moved along is taken away from what came in its place.
    const Ymm sign = fresh();
    c.vpminud(ymm(d), ymm(d), every_32(63));
    c.vmovups(sign, every_64(sign_64));
    c.vpsrlvq(sign, sign, ymm(d));
    c.vpsrlvq(ymm(d), ymm(a), ymm(d));
    c.vpxor(ymm(d), ymm(d), sign);
    c.vpsubq(ymm(d), ymm(d), sign);
  }
  void abs_64(Register d, Register a) override {
    const Ymm sign = fresh();
    c.vpxor(sign, sign, sign);
    c.vpcmpgtq(sign, sign, ymm(a));
    c.vpxor(ymm(d), ymm(a), sign);
    c.vpsubq(ymm(d), ymm(d), sign);
  }
  void take_odd_lanes(Register d, Register from) override {
    c.vpblendd(ymm(d), ymm(d), ymm(from), 0xaa);
  }
  void narrow_64(Register d, Register low, Register high) override {
    c.vshufps(ymm(d), ymm(low), ymm(high), 0x88);
    c.vpermq(ymm(d), ymm(d), in_order);
  }

  void canonical(Register d) override {
    const Ymm is_nan = fresh();
    c.vcmpps(is_nan, ymm(d), ymm(d), 3);
    c.vblendvps(ymm(d), ymm(d), every_32(0x7fffffff), is_nan);
  }
  void quiet_64(Register d, Register a) override {
    const Ymm is_nan = fresh(), sum = fresh();
    c.vcmppd(is_nan, ymm(a), ymm(a), 3);
    c.vaddpd(sum, ymm(a), ymm(a));
    c.vblendvpd(ymm(d), ymm(d), sum, is_nan);
  }
  void nan_or_64(Register d, Register a, Register b) override {
    const Ymm is_nan = fresh();
    c.vcmppd(is_nan, ymm(b), ymm(b), 3);
    c.vblendvpd(ymm(d), ymm(a), ymm(b), is_nan);
  }
  void extreme_f32(Register d, Register a, Register b, bool is_least) override {
    // The first, where it is further, or the second is NaN, or both are equal and the zero's sign
    // says so: of a lane that is chosen, the sign is set.
    const Ymm first = fresh();
    c.vcmpps(ymm(d), ymm(a), ymm(b), 0);  // equal
    c.vandps(ymm(d), ymm(d), ymm(is_least ? a : b));
    c.vcmpps(first, ymm(a), ymm(b), is_least ? 1 : 14);  // less, greater
    c.vorps(first, first, ymm(d));
    c.vcmpps(ymm(d), ymm(b), ymm(b), 3);  // unordered
    c.vorps(first, first, ymm(d));
    c.vblendvps(ymm(d), ymm(b), ymm(a), first);
  }
  void round_f32(Register d, Register a, std::uint8_t mode) override {
    c.vroundps(ymm(d), ymm(a), mode);
  }
  void f32_from_u32(Register d, Register a) override {
    // Both halves are exact, and their sum is rounded once.
    const Ymm low = fresh();
    c.vpsrld(ymm(d), ymm(a), 16);
    c.vpblendw(low, ymm(a), every_32(0), 0xaa);
    c.vcvtdq2ps(ymm(d), ymm(d));
    c.vcvtdq2ps(low, low);
    c.vfmadd132ps(ymm(d), low, every_32(0x47800000));  // 65536
  }
  void s32_from_f32(Register d, Register a) override {
    // A number out of range is 0x80000000 of this processor, and NaN is as well.
    const Ymm t = fresh();
    c.vcvttps2dq(ymm(d), ymm(a));
    c.vcmpps(t, ymm(a), every_32(two_to_31), 13);
    c.vxorps(ymm(d), ymm(d), t);
    c.vcmpps(t, ymm(a), ymm(a), 7);
    c.vandps(ymm(d), ymm(d), t);
  }
  void u32_from_f32(Register d, Register a) override {
    // From 2^31 on, of what is above that. Above zero only; what is too great is all ones.
    const Ymm is_high = fresh(), t = fresh();
    c.vcmpps(is_high, ymm(a), every_32(two_to_31), 13);
    c.vandps(t, is_high, every_32(two_to_31));
    c.vsubps(t, ymm(a), t);
    c.vcvttps2dq(ymm(d), t);
    c.vandps(is_high, is_high, every_32(0x80000000));
    c.vxorps(ymm(d), ymm(d), is_high);
    c.vcmpps(t, ymm(a), every_32(0x4f800000), 13);
    c.vorps(ymm(d), ymm(d), t);
    c.vcmpps(t, ymm(a), every_32(0), 14);
    c.vandps(ymm(d), ymm(d), t);
  }
  void f64_from_u32(Register d, const Vector& a) override {
    const Register moved = c.scratch();
    c.vxorps(Xbyak::Xmm(moved), a, every_32(0x80000000));
    c.vcvtdq2pd(ymm(d), Xbyak::Xmm(moved));
    c.vaddpd(ymm(d), ymm(d), every_64(0x41e0000000000000));
  }
  bool has_64_to_float() const override { return false; }
  void f64_from_64(Register, Register, bool) override {}
  void f32_from_64(const Vector&, Register, bool) override {}

  void compare(const Operation& op, Compared type, std::uint8_t how) override {
    // Four registers of 32-bit lanes become one of bytes.
    std::array<Register, 4> lanes{};
    bool is_contrary = false;
    const auto one = [&](int piece) {
      const Register a = c.read(c.piece_of(op.a) + piece), b = c.read(c.piece_of(op.b) + piece);
      const Register d = c.scratch();
      is_contrary = compare(d, a, b, type, how);
      c.unpin();
      return d;
    };
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < i; ++j) c.pin(lanes.at(static_cast<std::size_t>(j)));
      if (!is_wide(type)) {
        lanes.at(static_cast<std::size_t>(i)) = one(i);
        continue;
      }
      const Register low = one(2 * i);
      for (int j = 0; j < i; ++j) c.pin(lanes.at(static_cast<std::size_t>(j)));
      c.pin(low);
      const Register high = one(2 * i + 1);
      c.vshufps(ymm(low), ymm(low), ymm(high), 0x88);
      c.vpermq(ymm(low), ymm(low), in_order);
      lanes.at(static_cast<std::size_t>(i)) = low;
    }
    const Ymm all = ymm(lanes[0]), upper = ymm(lanes[2]);
    c.vpackssdw(all, all, ymm(lanes[1]));
    c.vpackssdw(upper, upper, ymm(lanes[3]));
    c.vpacksswb(all, all, upper);
    // Their quarters are those of both halves in turn.
    const std::uint64_t one_4 = 1 | std::uint64_t{5} << 32;
    c.vmovups(upper,
              c.ptr[c.rip + c.constant({std::uint64_t{4} << 32, one_4, 2 | std::uint64_t{6} << 32,
                                        3 | std::uint64_t{7} << 32})]);
    c.vpermd(all, upper, all);
    c.vpmovmskb(c.eax, all);
    if (is_contrary) c.not_(c.eax);
    c.unpin();
  }
  void select(const Operation& op, bool is_64) override {
    // The bit of each lane moves to where the sign is.
    const int pieces = is_64 ? 8 : 4, lanes = 32 / pieces;
    const bool is_negated = (op.c & 1) != 0;
    const Register bits = c.scratch();
    c.vpbroadcastd(ymm(bits), c.predicate_at(op.c >> 1));
    for (int i = 0; i < pieces; ++i) {
      c.pin(bits);
      const Register a = c.read(c.piece_of(op.a) + i), b = c.read(c.piece_of(op.b) + i);
      const Register d = c.scratch();
      const auto distance = [&](int lane) { return std::uint64_t(31 - i * lanes - lane); };
      if (is_64) {
        c.vpsllvq(ymm(d), ymm(bits),
                  c.ptr[c.rip + c.constant({distance(0), distance(1), distance(2), distance(3)})]);
      } else {
        const auto two = [&](int lane) { return distance(lane) | distance(lane + 1) << 32; };
        c.vpsllvd(ymm(d), ymm(bits), c.ptr[c.rip + c.constant({two(0), two(2), two(4), two(6)})]);
      }
      const Ymm chosen = ymm(is_negated ? b : a), other = ymm(is_negated ? a : b);
      is_64 ? c.vblendvpd(ymm(d), other, chosen, ymm(d))
            : c.vblendvps(ymm(d), other, chosen, ymm(d));
      c.bind({c.piece_of(op.d), i, is_64 ? 4 : 2}, d);
      c.unpin();
    }
  }

  int registers_to_compare() const override { return 3; }
  void compare_lanes(const Register* with, bool is_64, const Places& lanes) override {
    const Ymm base = ymm(with[0]), t = ymm(with[1]), all = ymm(with[2]);
    is_64 ? spread(with[0], c.rax) : spread(with[0], c.eax);
    for (int i = 0; i < (is_64 ? 8 : 4); ++i) {
      const Ymm& differs = i == 0 ? all : t;
      const Register kept = lanes.in_register.at(static_cast<std::size_t>(i));
      const Xbyak::Address distance = c.ptr[lanes.distances + 32 * i];
      is_64 ? c.vpaddq(differs, base, distance) : c.vpaddd(differs, base, distance);
      if (kept != none) {
        c.vpxor(differs, differs, ymm(kept));
      } else {
        c.vpxor(differs, differs, c.ptr[lanes.in_memory + 32 * i]);
      }
      if (i != 0) c.vpor(all, all, t);
    }
    c.vptest(all, all);
  }
  void spread(Register d, const Xbyak::Reg64& from) override {
    c.vmovq(Xbyak::Xmm(d), from);
    c.vpbroadcastq(ymm(d), Xbyak::Xmm(d));
  }
  void spread(Register d, const Xbyak::Reg32& from) override {
    c.vmovd(Xbyak::Xmm(d), from);
    c.vpbroadcastd(ymm(d), Xbyak::Xmm(d));
  }

 private:
  using Ymm = Xbyak::Ymm;
  static constexpr std::uint64_t sign_64 = std::uint64_t{1} << 63;
  static constexpr std::uint32_t two_to_31 = 0x4f000000;
  /// The order of vpermq: what two registers gave in turn, first the one's and then the other's.
  static constexpr std::uint8_t in_order = 0xd8;
  static Ymm ymm(Register r) { return Ymm(r); }
  Ymm fresh() { return ymm(c.scratch()); }

  /// The table of two inputs: a and b, bit 2 a + b of the table.
  void logic_2(Register d, Register a, Register b, std::uint8_t table) {
    const auto contrary = [&] { c.vxorps(ymm(d), ymm(d), every_32(0xffffffff)); };
    switch (table) {
      case 0:
        return c.vxorps(ymm(d), ymm(d), ymm(d));
      case 2:
        return c.vandnps(ymm(d), ymm(a), ymm(b));
      case 4:
        return c.vandnps(ymm(d), ymm(b), ymm(a));
      case 6:
        return c.vxorps(ymm(d), ymm(a), ymm(b));
      case 8:
        return c.vandps(ymm(d), ymm(a), ymm(b));
      case 10:
        return c.vmovups(ymm(d), ymm(b));
      case 12:
        return c.vmovups(ymm(d), ymm(a));
      case 14:
        return c.vorps(ymm(d), ymm(a), ymm(b));
      default:  // odd ones are the contrary of an even one
        logic_2(d, a, b, ~table & 15);
        return contrary();
    }
  }

  void greater_64(const Ymm& d, Register a, Register b, bool is_signed) {
    if (is_signed) return c.vpcmpgtq(d, ymm(a), ymm(b));
    const Ymm other = fresh();
    c.vpxor(d, ymm(a), every_64(sign_64));
    c.vpxor(other, ymm(b), every_64(sign_64));
    c.vpcmpgtq(d, d, other);
  }

  /// All ones where it is so, or, if it says true, where it is not.
  bool compare(Register d, Register a, Register b, Compared type, std::uint8_t how) {
    constexpr std::uint8_t is_equal = 0, is_less = 1, is_not_equal = 4;
    const bool is_equality = how == is_equal || how == is_not_equal;
    switch (type) {
      case Compared::f32:
        c.vcmpps(ymm(d), ymm(a), ymm(b), how);
        return false;
      case Compared::f64:
        c.vcmppd(ymm(d), ymm(a), ymm(b), how);
        return false;
      case Compared::u32:
      case Compared::s32:
        if (is_equality) {
          c.vpcmpeqd(ymm(d), ymm(a), ymm(b));
          return how == is_not_equal;
        }
        if (type == Compared::s32) {
          how == is_less ? c.vpcmpgtd(ymm(d), ymm(b), ymm(a)) : c.vpcmpgtd(ymm(d), ymm(a), ymm(b));
          return how != is_less;
        }
        c.vpmaxud(ymm(d), ymm(a), ymm(b));
        c.vpcmpeqd(ymm(d), ymm(d), ymm(how == is_less ? a : b));
        return how == is_less;
      case Compared::u64:
      case Compared::s64:
        if (is_equality) {
          c.vpcmpeqq(ymm(d), ymm(a), ymm(b));
          return how == is_not_equal;
        }
        how == is_less ? greater_64(ymm(d), b, a, type == Compared::s64)
                       : greater_64(ymm(d), a, b, type == Compared::s64);
        return how != is_less;
    }
    return false;
  }

  Emitter& c;
};

}  // namespace

std::unique_ptr<InstructionSet> avx2(Emitter& emitter) { return std::make_unique<Avx2>(emitter); }

}  // namespace warpmeter::model::native
