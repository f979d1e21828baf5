// SPDX-License-Identifier: MIT
// Machine code for AVX-512 (F, BW, DQ, VL): registers of 64 bytes, lanes as bits in mask registers.
#include <memory>

#include "collector/model/machine/native/emitter.h"
#include "collector/model/machine/native/instruction_set.h"

namespace warpmeter::model::native {
namespace {

class Avx512 : public InstructionSet {
 public:
  Avx512(Emitter& emitter, Lanes lanes)
      : InstructionSet(64, 31), c(emitter), some_lanes_(lanes == Lanes::some) {}

  Vector vector(Register r) const override { return Xbyak::Zmm(r); }
  Vector half(Register r) const override { return Xbyak::Ymm(r); }

  void begin() override {
    c.vpbroadcastd(zmm(nan_register), number(0x7fffffff, false));
    if (!some_lanes_) return;
    // Each with the lanes that are not active, from 0, 8, 16 and 24 on.
    c.mov(c.ecx, c.active());
    c.not_(c.ecx);
    for (int i = 0; i < 4; ++i) {
      c.kmovd(others_from(8 * i), c.ecx);
      if (i < 3) c.shr(c.ecx, 8);
    }
  }
  Xbyak::Address every_32(std::uint32_t bits) override { return number(bits, true); }
  Xbyak::Address every_64(std::uint64_t bits) override {
    return c.ptr_b[c.rip + c.constant({bits, 0, 0, 0})];
  }

  void upper_half(Register d, Register a) override { c.vextracti64x4(Xbyak::Ymm(d), zmm(a), 1); }
  void join(Register low, Register high) override {
    c.vinserti64x4(zmm(low), zmm(low), Xbyak::Ymm(high), 1);
  }

  void logic_3(Register d, Register a, Register b, Register third, std::uint8_t table) override {
    c.vmovdqa64(zmm(d), zmm(a));
    c.vpternlogd(zmm(d), zmm(b), zmm(third), table);
  }
  void multiply_64(Register d, Register a, Register b) override {
    c.vpmullq(zmm(d), zmm(a), zmm(b));
  }
  void extreme_64(Register d, Register a, Register b, bool is_signed, bool is_least) override {
    if (is_signed) {
      is_least ? c.vpminsq(zmm(d), zmm(a), zmm(b)) : c.vpmaxsq(zmm(d), zmm(a), zmm(b));
    } else {
      is_least ? c.vpminuq(zmm(d), zmm(a), zmm(b)) : c.vpmaxuq(zmm(d), zmm(a), zmm(b));
    }
  }
  void shift_right_s64(Register d, Register a) override { c.vpsravq(zmm(d), zmm(a), zmm(d)); }
  void abs_64(Register d, Register a) override { c.vpabsq(zmm(d), zmm(a)); }
  void take_odd_lanes(Register d, Register from) override {
    c.mov(c.eax, 0xaaaa);
    c.kmovw(c.k1, c.eax);
    c.vmovdqa32(zmm(d) | c.k1, zmm(from));
  }
  void narrow_64(Register d, Register low, Register high) override {
    const Register other = c.scratch();
    c.vpmovqd(Xbyak::Ymm(d), zmm(low));
    c.vpmovqd(Xbyak::Ymm(other), zmm(high));
    join(d, other);
  }

  void canonical(Register d) override {
    c.vcmpps(c.k1, zmm(d), zmm(d), 3);
    c.vmovdqa32(zmm(d) | c.k1, zmm(nan_register));
  }
  void quiet_64(Register d, Register a) override {
    c.vcmppd(c.k1, zmm(a), zmm(a), 3);
    c.vaddpd(zmm(d) | c.k1, zmm(a), zmm(a));
  }
  void nan_or_64(Register d, Register a, Register b) override {
    c.vcmppd(c.k1, zmm(b), zmm(b), 3);
    c.vblendmpd(zmm(d) | c.k1, zmm(a), zmm(b));
  }
  void extreme_f32(Register d, Register a, Register b, bool is_least) override {
    // The first, where it is further, or the second is NaN, or both are equal and the zero's sign
    // says so.
    c.vcmpps(c.k1, zmm(a), zmm(b), is_least ? 1 : 14);  // less, greater
    c.vcmpps(c.k2, zmm(b), zmm(b), 3);                  // unordered
    c.korw(c.k1, c.k1, c.k2);
    c.vcmpps(c.k2, zmm(a), zmm(b), 0);  // equal
    c.vpmovd2m(c.k3, zmm(is_least ? a : b));
    c.kandw(c.k2, c.k2, c.k3);
    c.korw(c.k1, c.k1, c.k2);
    c.vblendmps(zmm(d) | c.k1, zmm(b), zmm(a));
  }
  void round_f32(Register d, Register a, std::uint8_t mode) override {
    c.vrndscaleps(zmm(d), zmm(a), mode);
  }
  void f32_from_u32(Register d, Register a) override { c.vcvtudq2ps(zmm(d), zmm(a)); }
  void s32_from_f32(Register d, Register a) override {
    // A number out of range is 0x80000000 of this processor, and NaN is as well.
    c.vcvttps2dq(zmm(d), zmm(a));
    c.vcmpps(c.k1, zmm(a), every_32(0x4f000000), 13);
    c.vmovdqa32(zmm(d) | c.k1, zmm(nan_register));
    c.vcmpps(c.k1, zmm(a), zmm(a), 3);
    c.vpxord(zmm(d) | c.k1, zmm(d), zmm(d));
  }
  void u32_from_f32(Register d, Register a) override {
    // Above zero only: what is too great is all ones.
    const Register zero = c.scratch();
    c.vpxord(zmm(zero), zmm(zero), zmm(zero));
    c.vcmpps(c.k1, zmm(zero), zmm(a), 1);
    c.vcvttps2udq(zmm(d) | c.k1 | Xbyak::util::T_z, zmm(a));
  }
  void f64_from_u32(Register d, const Vector& a) override { c.vcvtudq2pd(zmm(d), a); }
  bool has_64_to_float() const override { return true; }
  void f64_from_64(Register d, Register a, bool is_signed) override {
    is_signed ? c.vcvtqq2pd(zmm(d), zmm(a)) : c.vcvtuqq2pd(zmm(d), zmm(a));
  }
  void f32_from_64(const Vector& d, Register a, bool is_signed) override {
    is_signed ? c.vcvtqq2ps(d, zmm(a)) : c.vcvtuqq2ps(d, zmm(a));
  }

  void compare(const Operation& op, Compared type, std::uint8_t how) override {
    for (int i = 0; i < (is_wide(type) ? 4 : 2); ++i) {
      const Xbyak::Zmm a = zmm(c.read(c.piece_of(op.a) + i)), b = zmm(c.read(c.piece_of(op.b) + i));
      compare(Xbyak::Opmask(i), a, b, type, how);
      c.unpin();
    }
    if (is_wide(type)) {
      c.kunpckbw(c.k0, c.k1, c.k0);
      c.kunpckbw(c.k1, c.k3, c.k2);
    }
    c.kunpckwd(c.k0, c.k1, c.k0);
    c.kmovd(c.eax, c.k0);
  }
  void select(const Operation& op, bool is_64) override {
    const int pieces = is_64 ? 4 : 2;
    c.load_predicate(c.eax, op.c);
    for (int i = 0; i < pieces; ++i) {
      c.kmovd(c.k1, c.eax);
      if (i + 1 < pieces) c.shr(c.eax, static_cast<std::uint8_t>(32 / pieces));
      const Register a = c.read(c.piece_of(op.a) + i), b = c.read(c.piece_of(op.b) + i);
      const Register d = c.scratch();
      is_64 ? c.vpblendmq(zmm(d) | c.k1, zmm(b), zmm(a))
            : c.vpblendmd(zmm(d) | c.k1, zmm(b), zmm(a));
      c.bind({c.piece_of(op.d), i, is_64 ? 4 : 2}, d);
      c.unpin();
    }
  }

  int registers_to_compare() const override { return 1; }
  void compare_lanes(const Register* with, bool is_64, const Places& lanes) override {
    const Xbyak::Zmm t = zmm(with[0]);
    for (int i = 0; i < (is_64 ? 4 : 2); ++i) {
      const Xbyak::Address distance = c.ptr[lanes.distances + 64 * i];
      const Xbyak::Address row = c.ptr[lanes.in_memory + 64 * i];
      const Register lane = lanes.in_register.at(static_cast<std::size_t>(i));
      const Xbyak::Zmm kept = zmm(lane);
      const Xbyak::Operand& other = lane != none ? static_cast<const Xbyak::Operand&>(kept)
                                                 : static_cast<const Xbyak::Operand&>(row);
      const Xbyak::Opmask result = i == 0 ? c.k1 : c.k2;
      if (is_64) {
        c.vpbroadcastq(t, c.rax);
        c.vpaddq(t, t, distance);
        c.vpcmpuq(result, t, other, 4);
      } else {
        c.vpbroadcastd(t, c.eax);
        c.vpaddd(t, t, distance);
        c.vpcmpud(result, t, other, 4);
      }
      if (some_lanes_) c.kandnw(result, others_from(i * (is_64 ? 8 : 16)), result);
      if (i != 0) c.korw(c.k1, c.k1, c.k2);
    }
    c.kortestw(c.k1, c.k1);
  }

  bool has_some_lanes() const override { return true; }
  void keep_others(Register r, const Xbyak::Address& memory, const RowPiece& row) override {
    const Xbyak::Opmask others = others_from(first_lane(row));
    if (row.units == 1) {
      c.vmovdqu16(zmm(r) | others, memory);
    } else {
      row.units == 2 ? c.vmovdqa32(zmm(r) | others, memory) : c.vmovdqa64(zmm(r) | others, memory);
    }
  }
  Xbyak::Opmask some(const RowPiece& row) override {
    if (some_lanes_) {
      c.knotd(c.k1, others_from(first_lane(row)));
    } else {
      c.kxnord(c.k1, c.k1, c.k1);
    }
    return c.k1;
  }
  bool has_gather() const override { return true; }
  void gather(Register d, const RowPiece& row, const Xbyak::RegExp& first,
              const Xbyak::RegExp& distances, Register index) override {
    const Xbyak::Opmask k = some(row);
    c.vpxord(zmm(d), zmm(d), zmm(d));
    if (row.units == 2) {
      c.vmovups(zmm(index), c.ptr[distances + 64 * row.index]);
      c.vpgatherdd(zmm(d) | k, c.ptr[first + zmm(index)]);
    } else {
      c.vmovups(Xbyak::Ymm(index), c.ptr[distances + 32 * row.index]);
      c.vpgatherdq(zmm(d) | k, c.ptr[first + Xbyak::Ymm(index)]);
    }
  }
  bool has_scatter() const override { return true; }
  void scatter(Register from, const RowPiece& row, const Xbyak::RegExp& first,
               const Xbyak::RegExp& distances, Register index) override {
    const Xbyak::Opmask k = some(row);
    if (row.units == 2) {
      c.vmovups(zmm(index), c.ptr[distances + 64 * row.index]);
      c.vpscatterdd(c.ptr[first + zmm(index)] | k, zmm(from));
    } else {
      c.vmovups(Xbyak::Ymm(index), c.ptr[distances + 32 * row.index]);
      c.vpscatterdq(c.ptr[first + Xbyak::Ymm(index)] | k, zmm(from));
    }
  }
  void spread(Register d, const Xbyak::Reg64& from) override { c.vpbroadcastq(zmm(d), from); }
  void spread(Register d, const Xbyak::Reg32& from) override { c.vpbroadcastd(zmm(d), from); }

 private:
  static constexpr Register nan_register = 31;
  static Xbyak::Zmm zmm(Register r) { return Xbyak::Zmm(r); }
  static Xbyak::Opmask others_from(int lane) { return Xbyak::Opmask(4 + lane / 8); }
  static int first_lane(const RowPiece& row) { return row.index * 32 / row.units; }

  Xbyak::Address number(std::uint32_t bits, bool is_spread) {
    Xbyak::Label& label = c.constant({std::uint64_t{bits} << 32 | bits, 0, 0, 0});
    return is_spread ? c.ptr_b[c.rip + label] : c.ptr[c.rip + label];
  }
  void compare(const Xbyak::Opmask& k, const Xbyak::Zmm& a, const Xbyak::Zmm& b, Compared type,
               std::uint8_t how) {
    switch (type) {
      case Compared::u32:
        return c.vpcmpud(k, a, b, how);
      case Compared::s32:
        return c.vpcmpd(k, a, b, how);
      case Compared::u64:
        return c.vpcmpuq(k, a, b, how);
      case Compared::s64:
        return c.vpcmpq(k, a, b, how);
      case Compared::f32:
        return c.vcmpps(k, a, b, how);
      case Compared::f64:
        return c.vcmppd(k, a, b, how);
    }
  }

  Emitter& c;
  const bool some_lanes_;
};

}  // namespace

std::unique_ptr<InstructionSet> avx512(Emitter& emitter, Lanes lanes) {
  return std::make_unique<Avx512>(emitter, lanes);
}

}  // namespace warpmeter::model::native
