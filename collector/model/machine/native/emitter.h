// SPDX-License-Identifier: MIT
// Writes machine code over a warp's registers. Rows, in pieces of a vector register, are kept in
// vector registers from one operation to the next, and go back to memory before anybody else looks.
// Where all registers are taken, that one is given up whose piece is read again last.
#pragma once

#include <xbyak/xbyak.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "collector/model/machine/native/flow.h"
#include "collector/model/machine/native/groups.h"
#include "collector/model/machine/native/instruction_set.h"
#include "collector/model/machine/program.h"

namespace warpmeter::model::native {

struct Access;
struct Check;
struct Movement;

/// Piece `index` of a row whose first piece is `first` and that has so many units (row_unit_bytes).
struct RowPiece {
  std::int32_t first = 0;
  int index = 0, units = 2;

  std::int32_t piece() const { return first + index; }
};

/// Calls the interpreter's function. No exception comes out of it: machine code has no frames that
/// it could unwind. It is thrown again behind the machine code (Worker::go_on).
using CallSafely = const Operation* (*)(Warp& warp, const Operation* op, std::uint32_t mask,
                                        ExecuteOperation function);
const Operation* call_safely(Warp& warp, const Operation* op, std::uint32_t mask,
                             ExecuteOperation function);
/// Keeps the exception that was caught, and stops the warp.
void keep_failure(Warp& warp, const Operation* op);

class Emitter : public Xbyak::CodeGenerator {
 public:
  /// `uses` may be null: then it is not known which pieces are read again. `groups` may be null:
  /// then each access looks for itself. `watched`: see translate().
  Emitter(const Program& program, const Unit& unit, Lanes lanes,
          std::span<const std::uint8_t> watched, const Uses* uses, const LoadGroups* groups,
          std::size_t most_bytes);

  // For the instruction set.
  Register read(std::int32_t piece);            ///< the register with the piece
  Register scratch();                           ///< one that holds nothing; until unpin()
  void bind(const RowPiece& row, Register to);  ///< the piece now is what that register holds
  void unpin();
  void pin(Register r) { state_[static_cast<std::size_t>(r)].is_pinned = true; }
  /// The first of a row's pieces.
  std::int32_t piece_of(std::uint16_t unit) const { return unit * pieces_of_unit_; }
  Xbyak::Address predicate_at(std::uint32_t index) const {
    return dword[predicates_ + static_cast<std::int32_t>(4 * index)];
  }
  /// The mask of the warp, in memory.
  Xbyak::Address active() const {
    return dword[warp_ + static_cast<std::int32_t>(offsetof(Warp, active))];
  }
  /// A predicate operand, which may be negated.
  void load_predicate(const Xbyak::Reg32& to, std::uint16_t operand);
  /// Bytes that instructions take from memory, by a label: four words, of which those that follow
  /// the last are zero.
  using Constant = std::array<std::uint64_t, 4>;
  Xbyak::Label& constant(const Constant& words);

 protected:
  std::unique_ptr<InstructionSet> set_;
  const Lanes lanes_;         ///< that are active
  const int pieces_of_unit_;  ///< the pieces of unit of row_unit_bytes

  /// One operation; false: there are no instructions for it. arithmetic.cpp, floats.cpp,
  /// access.cpp.
  bool emit_inline(const Operation& op);
  bool emit_integers(const Operation& op);
  bool emit_floats(const Operation& op);
  bool emit_conversion(const Operation& op);
  bool emit_comparison(const Operation& op);
  bool emit_predicate(const Operation& op);
  bool emit_access(const Operation& op);
  Xbyak::RegExp site_at(std::uint32_t number, std::size_t offset) const;
  Xbyak::RegExp group_at(std::uint32_t number, std::size_t offset) const;
  void load_address(const Check& check);
  void emit_remembered(const Operation& op, const Movement& m, const Check& check);
  void check_group(std::uint32_t group, const Check& check);
  void emit_of_group(std::uint32_t group, const Operation& op, const Movement& m,
                     const Check& check);
  /// The group of the load; nullopt: it is in none.
  std::optional<LoadGroups::Place> load_group(const Operation& op) const {
    if (load_groups_ == nullptr) return std::nullopt;
    return load_groups_->place(index_of(op));
  }
  void emit_load(const Movement& m);
  void emit_store(const Movement& m);
  void emit_load_of_some(const Movement& m);
  void emit_store_of_some(const Movement& m);
  /// A predicate is what a register says; changes the register.
  void set_predicate(std::uint16_t index, const Xbyak::Reg32& value);

  /// The interpreter's function for all lanes: rows are in memory before and after it.
  void emit_call(const Operation& op);
  /// The same for the lanes of its guard, if there are any.
  void emit_guarded_call(const Operation& op);
  /// Rows go back to memory, and nothing is kept in registers.
  void flush();
  /// The same without what nobody reads any more.
  void flush_living();
  /// Those pieces need not go back.
  template <class IsDead>
  void forget(IsDead is_dead) {
    for (Kept& kept : state_) {
      if (kept.piece != none && kept.is_dirty && is_dead(kept.piece)) kept.is_dirty = false;
    }
  }
  /// An operation begins; its effect takes what it reads and writes.
  void begin_operation(std::size_t operation, Effect& effect);
  void note_read(std::int32_t piece);

  /// Code that stands behind all else, made by finish().
  void later(std::function<void()> emit) { later_.push_back(std::move(emit)); }
  void finish();

  // The values that the code finds in registers.
  const Xbyak::Reg64 warp_ = rbx, rows_ = rbp, predicates_ = r12, sites_ = r13, code_ = r14,
                     groups_ = r15;
  void emit_prologue();
  void emit_epilogue();
  Xbyak::Label stopped_;   ///< returns null
  Xbyak::Label returned_;  ///< returns what is in rax

  const Program& program_;
  const Unit& unit_;

  // For code that tells an observer what happens: telling.cpp.
  const std::span<const std::uint8_t> watched_;  ///< by operation; empty: nobody observes
  bool tells() const { return !watched_.empty(); }
  bool is_observed(const Operation& op) const { return watches(op, watch_observed); }
  /// Warp::last is this operation, once tell_last() has said so.
  void note(const Operation& op) {
    if (watches(op, watch_noted)) last_ = &op;
  }
  void tell_last();
  /// Where more is watched from this operation on, which has been executed: the interpreter goes
  /// on.
  void leave_if_more_is_watched(const Operation& op);
  /// The observer is told of this load later.
  bool is_late(const Operation& op) const { return watches(op, watch_late); }
  void note_late(const Operation& op);
  /// The access whose first lane is rcx above its site's least place is made; rcx is as before.
  void tell_access(const Operation& op);

  std::size_t index_of(const Operation& op) const {
    return static_cast<std::size_t>(&op - program_.operations.data());
  }
  std::int32_t place_of(const Operation& op) const {
    return static_cast<std::int32_t>(index_of(op) * sizeof(Operation));
  }

  // Pieces of rows in registers: a piece is as much of a row as a vector register holds.
  struct Kept {
    std::int32_t piece = none;
    RowPiece row;           ///< while it is dirty
    bool is_dirty = false;  ///< memory has not got it yet
    bool is_pinned = false;
    std::uint64_t used = 0;
  };
  using State = std::vector<Kept>;

  Register find(std::int32_t piece) const;
  /// The piece, as the last operand of an instruction: from memory where no register would gain by
  /// it.
  const Xbyak::Operand& read_anywhere(std::int32_t piece);
  /// The piece is written to memory.
  void bind_in_memory(std::int32_t piece);
  /// Writes a register back to its row in memory: of the active lanes.
  void put(const RowPiece& row, Register from);
  void write_back(const State& state);
  /// Writes the part of a row that memory lacks.
  void put_row(std::int32_t first, int units);
  void reload(const State& state);
  void call(const Operation& op);  ///< with the mask in edx
  void call(const Operation& op, CallSafely safely);
  /// The same, of an operation that may be watched. telling.cpp.
  void call_observed(const Operation& op);
  /// The same, of an access that the observer has been told of.
  void call_told(const Operation& op);
  void load_active(const Xbyak::Reg32& to);

  Xbyak::Address at(std::int32_t piece) const { return ptr[rows_ + piece * set_->vector_bytes]; }
  Vector vector(Register r) const { return set_->vector(r); }
  Vector half(Register r) const { return set_->half(r); }
  Xbyak::Address every_32(std::uint32_t bits) { return set_->every_32(bits); }
  Xbyak::Address every_64(std::uint64_t bits) { return set_->every_64(bits); }

  /// The half of a piece of 32-bit lanes that is a piece of 64-bit ones: part i of a row.
  Vector half_of(std::int32_t first, int part);

  // Parts of emit_load() and emit_store(): movement.cpp.
  RowPiece row_piece(const Movement& m, int i) const;
  Register target(const Movement& m, int i) const;
  void put_target(const Movement& m, int i);
  Register source(const Movement& m, int i);
  void load_pieces(const Access& access, const Vector& to, const Xbyak::Address& from);
  void load_one(const Access& access, Register to, const Xbyak::RegExp& from);
  void load_uniform(const Movement& m);
  void load_contiguous(const Movement& m, std::int32_t offset);
  void prefetch_next(const Movement& m);
  void gather(const Movement& m);
  void scatter(const Movement& m);
  void find_first_place(const Movement& m);

  // Shapes of operations. `emit` gets registers: the destination's, which is fresh, and sources;
  // the last source may be in memory where it says "from".
  template <class Emit>
  void unary(const Operation& op, int units, Emit emit) {
    for (int i = 0; i < units * pieces_of_unit_; ++i) {
      const Register a = read(piece_of(op.a) + i), d = scratch();
      emit(d, a);
      bind({piece_of(op.d), i, units}, d);
      unpin();
    }
  }
  template <class Emit>
  void unary_from(const Operation& op, int units, Emit emit) {
    for (int i = 0; i < units * pieces_of_unit_; ++i) {
      const Xbyak::Operand& a = read_anywhere(piece_of(op.a) + i);
      const Register d = scratch();
      emit(d, a);
      bind({piece_of(op.d), i, units}, d);
      unpin();
    }
  }
  template <class Emit>
  void binary(const Operation& op, int units, Emit emit) {
    for (int i = 0; i < units * pieces_of_unit_; ++i) {
      const Register a = read(piece_of(op.a) + i), b = read(piece_of(op.b) + i), d = scratch();
      emit(d, a, b);
      bind({piece_of(op.d), i, units}, d);
      unpin();
    }
  }
  template <class Emit>
  void binary_from(const Operation& op, int units, Emit emit) {
    for (int i = 0; i < units * pieces_of_unit_; ++i) {
      const Register a = read(piece_of(op.a) + i);
      const Xbyak::Operand& b = read_anywhere(piece_of(op.b) + i);
      const Register d = scratch();
      emit(d, a, b);
      bind({piece_of(op.d), i, units}, d);
      unpin();
    }
  }
  template <class Emit>
  void ternary(const Operation& op, int units, Emit emit) {
    for (int i = 0; i < units * pieces_of_unit_; ++i) {
      const Register a = read(piece_of(op.a) + i), b = read(piece_of(op.b) + i);
      const Register c = read(piece_of(op.c) + i), d = scratch();
      emit(d, a, b, c);
      bind({piece_of(op.d), i, units}, d);
      unpin();
    }
  }
  template <class Emit>
  void ternary_from(const Operation& op, int units, Emit emit) {
    for (int i = 0; i < units * pieces_of_unit_; ++i) {
      const Register a = read(piece_of(op.a) + i), b = read(piece_of(op.b) + i);
      const Xbyak::Operand& c = read_anywhere(piece_of(op.c) + i);
      const Register d = scratch();
      emit(d, a, b, c);
      bind({piece_of(op.d), i, units}, d);
      unpin();
    }
  }
  // Rows of 32 and of 64 bits are never the same, so that each piece is written as soon as it is
  // known.
  /// From a row of 32 bits to one of 64; `emit` gets the destination and half a register.
  template <class Emit>
  void widening(const Operation& op, Emit emit) {
    for (int part = 0; part < 4 * pieces_of_unit_; ++part) {
      const Vector a = half_of(piece_of(op.a), part);
      const Register d = scratch();
      emit(d, a);
      bind({piece_of(op.d), part, 4}, d);
      unpin();
    }
  }
  /// From a row of 64 bits to one of 32; `emit` gets a destination, another register, and two
  /// pieces.
  template <class Emit>
  void narrowing(const Operation& op, Emit emit) {
    for (int i = 0; i < 2 * pieces_of_unit_; ++i) {
      const Register low = read(piece_of(op.a) + 2 * i), high = read(piece_of(op.a) + 2 * i + 1);
      const Register d = scratch(), other = scratch();
      emit(d, other, low, high);
      bind({piece_of(op.d), i, 2}, d);
      unpin();
    }
  }
  void canonical(Register r) { set_->canonical(r); }

 private:
  bool watches(const Operation& op, std::uint8_t what) const {
    return tells() && (watched_[index_of(op)] & what) != 0;
  }
  /// How much is lost with the piece in a register: the least first.
  std::uint64_t worth(const Kept& kept) const;
  /// Who reads it next; this operation itself, while it has not read it as often as it will.
  Uses::Next next_use(std::int32_t piece) const;

  struct Label {
    Constant words;
    std::unique_ptr<Xbyak::Label> label;
  };
  std::vector<Label> constants_;
  std::vector<std::function<void()>> later_;
  const Uses* uses_;
  const LoadGroups* load_groups_;
  std::size_t operation_ = 0;             ///< that is written
  Effect* effect_ = nullptr;              ///< the effect of it
  const Operation* last_ = nullptr;       ///< see note()
  std::vector<std::int16_t> reads_left_;  ///< for each piece, in this operation
  Xbyak::Address address_{0};             ///< that read_anywhere() last gave
  Vector register_;                       ///< the same

 protected:
  State state_;
  std::uint64_t clock_ = 0;
};

}  // namespace warpmeter::model::native
