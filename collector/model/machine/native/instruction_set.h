// SPDX-License-Identifier: MIT
// The differences between the vector instruction sets of this processor family. Instructions that
// they share under one name (vpaddd of 256 or 512 bits) are written where they are needed;
// everything here is written by a set of its own (avx2.cpp, avx512.cpp).
#pragma once

#include <xbyak/xbyak.h>

#include <array>
#include <cstdint>
#include <memory>

#include "collector/model/machine/warp/operation.h"

namespace warpmeter::model::native {

class Emitter;
struct RowPiece;

/// Which lanes of the warp code is for: some of them, whichever Warp::active says. It computes with
/// all of them, and lets the others' numbers be where they are: in memory.
enum class Lanes : std::uint8_t { all, some };

/// A vector register, by its number, or none.
using Register = int;
inline constexpr Register none = -1;

/// A vector register of the set's width.
using Vector = Xbyak::Xmm;

/// Types that setp compares.
enum class Compared : std::uint8_t { u32, s32, u64, s64, f32, f64 };
constexpr bool is_wide(Compared type) {
  return type == Compared::u64 || type == Compared::s64 || type == Compared::f64;
}
constexpr bool is_float(Compared type) { return type == Compared::f32 || type == Compared::f64; }

/// Instructions of one set. Destinations are registers that hold none of the sources unless it says
/// so; what it needs beside them it takes from the emitter.
class InstructionSet {
 public:
  InstructionSet(int bytes, int registers) : vector_bytes(bytes), row_registers(registers) {}
  virtual ~InstructionSet() = default;

  const int vector_bytes;   ///< the vector bytes of a register
  const int row_registers;  ///< the first so many may hold rows

  virtual Vector vector(Register r) const = 0;
  virtual Vector half(Register r) const = 0;  ///< the lower half

  /// Fills the registers that hold no rows; again after a call.
  virtual void begin() = 0;
  /// A number in each lane, as the last operand of an instruction.
  virtual Xbyak::Address every_32(std::uint32_t bits) = 0;
  virtual Xbyak::Address every_64(std::uint64_t bits) = 0;

  virtual void upper_half(Register d, Register a) = 0;  ///< into the lower one
  virtual void join(Register low, Register high) = 0;   ///< two lower halves into the first

  // Whole numbers. For three inputs a, b and c: bit 4 a + 2 b + c of the table.
  virtual void logic_3(Register d, Register a, Register b, Register c, std::uint8_t table) = 0;
  virtual void multiply_64(Register d, Register a, Register b) = 0;
  virtual void extreme_64(Register d, Register a, Register b, bool is_signed, bool is_least) = 0;
  virtual void shift_right_s64(Register d, Register a) = 0;  ///< by the counts in d
  virtual void abs_64(Register d, Register a) = 0;
  /// The 32-bit lanes with odd numbers.
  virtual void take_odd_lanes(Register d, Register from) = 0;
  /// The lower words of as many 64-bit lanes as two registers hold.
  virtual void narrow_64(Register d, Register low, Register high) = 0;

  // Floats.
  virtual void canonical(Register d) = 0;             ///< a NaN is 0x7fffffff
  virtual void quiet_64(Register d, Register a) = 0;  ///< where a is NaN, the quiet one; may be d
  /// b where it is NaN, else a.
  virtual void nan_or_64(Register d, Register a, Register b) = 0;
  virtual void extreme_f32(Register d, Register a, Register b, bool is_least) = 0;
  virtual void round_f32(Register d, Register a, std::uint8_t mode) = 0;
  virtual void f32_from_u32(Register d, Register a) = 0;
  virtual void s32_from_f32(Register d, Register a) = 0;
  virtual void u32_from_f32(Register d, Register a) = 0;
  virtual void f64_from_u32(Register d, const Vector& a) = 0;  ///< for half a register
  /// From 64-bit whole numbers, which not every set has.
  virtual bool has_64_to_float() const = 0;
  virtual void f64_from_64(Register d, Register a, bool is_signed) = 0;
  virtual void f32_from_64(const Vector& d, Register a, bool is_signed) = 0;

  // Lanes as bits.
  /// eax: where the operation's rows a and b compare; `how` is a predicate of vpcmp or vcmp.
  virtual void compare(const Operation& op, Compared type, std::uint8_t how) = 0;
  /// selp: rows a or b, by the predicate in c.
  virtual void select(const Operation& op, bool is_64) = 0;

  // Code for some lanes, of which not every set has instructions.
  virtual bool has_some_lanes() const { return false; }
  /// The lanes that are not active get what is in memory.
  virtual void keep_others(Register, const Xbyak::Address&, const RowPiece&) {}

  // Accesses.
  /// Registers that compare_lanes() needs.
  virtual int registers_to_compare() const = 0;
  /// Where the lanes of an address row are, piece by piece, and their distances from the first.
  struct Places {
    std::array<Register, 8> in_register;  ///< none: in memory
    Xbyak::RegExp in_memory, distances;
  };
  /// Sets the zero flag where all lanes are rax (eax) + distance.
  virtual void compare_lanes(const Register* with, bool is_64, const Places& lanes) = 0;
  /// Numbers of the active lanes, of as many bytes as those of the row; each is in memory `first`
  /// and its distance (32 bits, signed) away. `index` is a register to take them to.
  virtual bool has_gather() const { return false; }
  virtual void gather(Register, const RowPiece&, const Xbyak::RegExp& /*first*/,
                      const Xbyak::RegExp& /*distances*/, Register /*index*/) {}
  virtual bool has_scatter() const { return false; }
  virtual void scatter(Register, const RowPiece&, const Xbyak::RegExp& /*first*/,
                       const Xbyak::RegExp& /*distances*/, Register /*index*/) {}
  /// The first mask register with the active lanes of a piece: of code for some lanes.
  virtual Xbyak::Opmask some(const RowPiece&) { return Xbyak::Opmask(); }
  /// A number of a general register in each lane.
  virtual void spread(Register d, const Xbyak::Reg64& from) = 0;
  virtual void spread(Register d, const Xbyak::Reg32& from) = 0;
};

std::unique_ptr<InstructionSet> avx2(Emitter& emitter);
std::unique_ptr<InstructionSet> avx512(Emitter& emitter, Lanes lanes);

}  // namespace warpmeter::model::native
