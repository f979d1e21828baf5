// Writes machine code over a warp's registers. Rows, in pieces of a vector register, are kept in
// vector registers from one operation to the next, and go back to memory before anybody else looks.
#pragma once

#include <xbyak/xbyak.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "collector/model/machine/native/flow.h"
#include "collector/model/machine/program.h"

namespace warpmeter::model::native {

/// A vector register, or none.
using Register = int;
inline constexpr Register none = -1;

class Emitter : public Xbyak::CodeGenerator {
 public:
  Emitter(const Program& program, const Unit& unit, std::size_t most_bytes);

 protected:
  /// One operation; false: there are no instructions for it. arithmetic.cpp, floats.cpp,
  /// access.cpp.
  bool emit_inline(const Operation& op);
  bool emit_integers(const Operation& op);
  bool emit_floats(const Operation& op);
  bool emit_conversion(const Operation& op);
  bool emit_comparison(const Operation& op);
  bool emit_predicate(const Operation& op);
  bool emit_access(const Operation& op);

  /// The interpreter's function for all lanes: rows are in memory before and after it.
  void emit_call(const Operation& op);
  /// The same for the lanes of its guard, if there are any.
  void emit_guarded_call(const Operation& op);
  /// Rows go back to memory, and nothing is kept in registers.
  void flush();
  /// Those pieces need not go back.
  template <class IsDead>
  void forget(IsDead is_dead) {
    for (Kept& kept : state_) {
      if (kept.piece != none && kept.is_dirty && is_dead(kept.piece)) kept.is_dirty = false;
    }
  }
  Effect* effect_ = nullptr;  ///< of the operation that is written: takes what it reads and writes

  /// Code that stands behind all else, made by finish().
  void later(std::function<void()> emit) { later_.push_back(std::move(emit)); }
  void finish();

  // What the code finds in registers.
  const Xbyak::Reg64 warp_ = rbx, rows_ = rbp, predicates_ = r12, sites_ = r13, code_ = r14;
  void emit_prologue();
  void emit_epilogue();
  Xbyak::Label stopped_;   ///< returns null
  Xbyak::Label returned_;  ///< returns what is in rax

  const Program& program_;
  const Unit& unit_;

  std::int32_t place_of(const Operation& op) const {
    return static_cast<std::int32_t>((&op - program_.operations.data()) *
                                     static_cast<std::ptrdiff_t>(sizeof(Operation)));
  }

  // Pieces of rows in registers: a piece is one unit of row_unit_bytes.
  struct Kept {
    std::int32_t piece = none;
    bool is_dirty = false;  ///< memory has not got it yet
    bool is_pinned = false;
    std::uint64_t used = 0;
  };
  using State = std::array<Kept, 31>;  // the last register holds the canonical NaN
  static constexpr Register nan_register = 31;

  Register read(std::int32_t piece);  ///< what the piece holds
  Register scratch();                 ///< one that holds nothing; until unpin()
  Register find(std::int32_t piece) const;
  void bind(std::int32_t piece, Register to);  ///< the piece now is what that register holds
  void unpin();
  void write_back(const State& state);
  void reload(const State& state);
  void call(const Operation& op);  ///< with the mask in edx

  Xbyak::Address at(std::int32_t piece) const {
    return ptr[rows_ + piece * static_cast<std::int32_t>(row_unit_bytes)];
  }
  static Xbyak::Zmm zmm(Register r) { return Xbyak::Zmm(r); }
  static Xbyak::Ymm ymm(Register r) { return Xbyak::Ymm(r); }
  static Xbyak::Xmm xmm(Register r) { return Xbyak::Xmm(r); }
  Xbyak::Address predicate_at(std::uint32_t index) const {
    return dword[predicates_ + static_cast<std::int32_t>(4 * index)];
  }
  /// A predicate operand, which may be negated.
  void load_predicate(const Xbyak::Reg32& to, std::uint16_t operand);

  /// Sixteen lanes of a 32-bit row become eight and eight of 64 bits: part 0 to 3 of the row that
  /// begins with `piece`, as its ymm.
  Xbyak::Ymm half_of(std::int32_t piece, int part);
  /// Two results of eight lanes of 32 bits into one piece.
  void join(std::int32_t piece, Register low, Register high);

  // Shapes of operations. `emit` gets registers: the destination's, which is fresh, and sources.
  template <class Emit>
  void unary(const Operation& op, int pieces, Emit emit) {
    for (int i = 0; i < pieces; ++i) {
      const Register a = read(op.a + i), d = scratch();
      emit(d, a);
      bind(op.d + i, d);
      unpin();
    }
  }
  template <class Emit>
  void binary(const Operation& op, int pieces, Emit emit) {
    for (int i = 0; i < pieces; ++i) {
      const Register a = read(op.a + i), b = read(op.b + i), d = scratch();
      emit(d, a, b);
      bind(op.d + i, d);
      unpin();
    }
  }
  template <class Emit>
  void ternary(const Operation& op, int pieces, Emit emit) {
    for (int i = 0; i < pieces; ++i) {
      const Register a = read(op.a + i), b = read(op.b + i), c = read(op.c + i), d = scratch();
      emit(d, a, b, c);
      bind(op.d + i, d);
      unpin();
    }
  }
  /// From a row of 32 bits to one of 64; `emit` gets the destination and eight lanes.
  template <class Emit>
  void widening(const Operation& op, Emit emit) {
    std::array<Register, 4> d;
    for (int part = 0; part < 4; ++part) {
      const Xbyak::Ymm a = half_of(op.a, part);
      d[static_cast<std::size_t>(part)] = scratch();
      emit(d[static_cast<std::size_t>(part)], a);
    }
    for (int part = 0; part < 4; ++part) bind(op.d + part, d[static_cast<std::size_t>(part)]);
    unpin();
  }
  /// From a row of 64 bits to one of 32; `emit` gets the lower half of a register to fill.
  template <class Emit>
  void narrowing(const Operation& op, Emit emit) {
    std::array<Register, 4> part;
    for (int i = 0; i < 4; ++i) {
      const Register a = read(op.a + i);
      part[static_cast<std::size_t>(i)] = scratch();
      emit(ymm(part[static_cast<std::size_t>(i)]), a);
    }
    join(op.d, part[0], part[1]);
    join(op.d + 1, part[2], part[3]);
    unpin();
  }
  void canonical(Register r);

  /// A number that instructions take from memory, in all lanes (ptr_b).
  Xbyak::Label& constant_32(std::uint32_t bits) { return constant(bits, 4); }
  Xbyak::Label& constant_64(std::uint64_t bits) { return constant(bits, 8); }

 private:
  Xbyak::Label& constant(std::uint64_t bits, int bytes);

  struct Constant {
    std::uint64_t bits = 0;
    int bytes = 4;
    std::unique_ptr<Xbyak::Label> label;
  };
  std::vector<Constant> constants_;
  std::vector<std::function<void()>> later_;

 protected:
  State state_;
  std::uint64_t clock_ = 0;
};

}  // namespace warpmeter::model::native
