// SPDX-License-Identifier: MIT
#include "collector/model/machine/native/emitter.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model::native {

namespace {

std::unique_ptr<InstructionSet> instruction_set(Emitter& emitter, const Unit& unit, Lanes lanes) {
  return unit.vector_bytes == 64 ? avx512(emitter, lanes) : avx2(emitter);
}

}  // namespace

void keep_failure(Warp& warp, const Operation* op) {
  warp.memory->failure = std::current_exception();
  warp.status = WarpStatus::yielded;
  warp.pc = op;
}

const Operation* call_safely(Warp& warp, const Operation* op, std::uint32_t mask,
                             ExecuteOperation function) {
  try {
    return function(warp, op, mask);
  } catch (...) {
    keep_failure(warp, op);
    return nullptr;
  }
}

Emitter::Emitter(const Program& program, const Unit& unit, Lanes lanes,
                 std::span<const std::uint8_t> watched, const Uses* uses, const LoadGroups* groups,
                 std::size_t most_bytes)
    : Xbyak::CodeGenerator(most_bytes, Xbyak::DontSetProtectRWE),
      set_(instruction_set(*this, unit, lanes)),
      lanes_(lanes),
      pieces_of_unit_(static_cast<int>(row_unit_bytes) / set_->vector_bytes),
      program_(program),
      unit_(unit),
      watched_(watched),
      uses_(uses),
      load_groups_(groups),
      reads_left_(program.row_units * static_cast<std::size_t>(pieces_of_unit_)),
      state_(static_cast<std::size_t>(set_->row_registers)) {
  setDefaultJmpNEAR(true);
}

void Emitter::emit_prologue() {
  // rax: where to go; rdi: the warp. With the return address, a multiple of 16 bytes.
  push(rbx), push(rbp), push(r12), push(r13), push(r14), push(r15);
  sub(rsp, 8);
  mov(warp_, rdi);
  mov(rows_, ptr[warp_ + offsetof(Warp, registers)]);
  mov(predicates_, ptr[warp_ + offsetof(Warp, predicates)]);
  mov(sites_, ptr[warp_ + offsetof(Warp, sites)]);
  mov(code_, ptr[warp_ + offsetof(Warp, code)]);
  mov(groups_, ptr[warp_ + offsetof(Warp, groups)]);
  set_->begin();
  jmp(rax);
}

void Emitter::emit_epilogue() {
  L(stopped_);
  xor_(eax, eax);
  L(returned_);
  vzeroupper();
  add(rsp, 8);
  pop(r15), pop(r14), pop(r13), pop(r12), pop(rbp), pop(rbx);
  ret();
}

Register Emitter::find(std::int32_t piece) const {
  for (std::size_t r = 0; r < state_.size(); ++r) {
    if (state_[r].piece == piece) return static_cast<Register>(r);
  }
  return none;
}

void Emitter::begin_operation(std::size_t operation, Effect& effect) {
  operation_ = operation;
  effect_ = &effect;
  if (uses_ == nullptr) return;
  const std::vector<std::int32_t>& reads = uses_->reads(operation);
  for (const std::int32_t piece : reads) reads_left_[static_cast<std::size_t>(piece)] = 0;
  for (const std::int32_t piece : reads) ++reads_left_[static_cast<std::size_t>(piece)];
}

void Emitter::note_read(std::int32_t piece) {
  effect_->reads.push_back(piece);
  if (uses_ != nullptr) --reads_left_[static_cast<std::size_t>(piece)];
}

Uses::Next Emitter::next_use(std::int32_t piece) const {
  return uses_->next(piece, operation_, reads_left_[static_cast<std::size_t>(piece)] <= 0);
}

std::uint64_t Emitter::worth(const Kept& kept) const {
  if (uses_ == nullptr) return kept.used;  // the latest
  const Uses::Next next = next_use(kept.piece);
  if (next.is_dead) return 0;
  // Twice the nearness of its next use; one more where it would have to go to memory.
  const std::uint64_t nearness = next.is_read ? ~std::uint32_t{0} - next.distance : 0;
  return 2 * nearness + (kept.is_dirty ? 2 : 1);
}

Register Emitter::scratch() {
  std::size_t best = state_.size();
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t r = 0; r < state_.size(); ++r) {
    if (state_[r].is_pinned) continue;
    if (state_[r].piece == none) {
      best = r;
      break;
    }
    const std::uint64_t its = worth(state_[r]);
    if (best != state_.size() && its >= least) continue;
    best = r;
    least = its;
  }
  Kept& kept = state_.at(best);
  const auto r = static_cast<Register>(best);
  const bool is_lost = kept.piece != none && kept.is_dirty;
  if (is_lost && (uses_ == nullptr || !next_use(kept.piece).is_dead)) {
    put(kept.row, r);
  }
  kept = {none, {}, false, true, ++clock_};
  return r;
}

Register Emitter::read(std::int32_t piece) {
  Register r = find(piece);
  if (r == none) {
    r = scratch();
    vmovups(vector(r), at(piece));
    state_[static_cast<std::size_t>(r)].piece = piece;
  }
  note_read(piece);
  Kept& kept = state_[static_cast<std::size_t>(r)];
  kept.used = ++clock_;
  kept.is_pinned = true;
  return r;
}

const Xbyak::Operand& Emitter::read_anywhere(std::int32_t piece) {
  if (find(piece) == none && uses_ != nullptr) {
    const Uses::Next next = uses_->next(piece, operation_, true);
    const bool has_room = std::any_of(state_.begin(), state_.end(), [&](const Kept& kept) {
      if (kept.is_pinned) return false;
      if (kept.piece == none) return true;
      const Uses::Next its = next_use(kept.piece);
      return its.is_dead || (!kept.is_dirty && (!its.is_read || its.distance > next.distance));
    });
    if (!next.is_read || !has_room) {
      note_read(piece);
      address_ = at(piece);
      return address_;
    }
  }
  register_ = vector(read(piece));
  return register_;
}

void Emitter::bind(const RowPiece& row, Register to) {
  bind_in_memory(row.piece());
  Kept& kept = state_[static_cast<std::size_t>(to)];
  kept.piece = row.piece();
  kept.row = row;
  kept.is_dirty = true;
  kept.used = ++clock_;
}

void Emitter::bind_in_memory(std::int32_t piece) {
  effect_->writes.push_back(piece);
  const Register old = find(piece);
  if (old == none) return;
  Kept& kept = state_[static_cast<std::size_t>(old)];
  kept.piece = none;
  kept.is_dirty = false;
}

void Emitter::unpin() {
  for (Kept& kept : state_) kept.is_pinned = false;
}

void Emitter::put(const RowPiece& row, Register from) {
  if (lanes_ == Lanes::some) set_->keep_others(from, at(row.piece()), row);
  vmovups(at(row.piece()), vector(from));
}

void Emitter::put_row(std::int32_t first, int units) {
  for (int i = 0; i < units * pieces_of_unit_; ++i) {
    const Register r = find(first + i);
    if (r == none) continue;
    Kept& kept = state_[static_cast<std::size_t>(r)];
    if (std::exchange(kept.is_dirty, false)) put(kept.row, r);
  }
}

void Emitter::write_back(const State& state) {
  for (std::size_t r = 0; r < state.size(); ++r) {
    if (state[r].piece != none && state[r].is_dirty) {
      put(state[r].row, static_cast<Register>(r));
    }
  }
}

void Emitter::reload(const State& state) {
  set_->begin();
  for (std::size_t r = 0; r < state.size(); ++r) {
    if (state[r].piece != none) vmovups(vector(static_cast<Register>(r)), at(state[r].piece));
  }
}

void Emitter::flush() {
  write_back(state_);
  std::fill(state_.begin(), state_.end(), Kept{});
}

void Emitter::flush_living() {
  if (uses_ != nullptr) {
    forget([&](std::int32_t piece) { return uses_->next(piece, operation_, false).is_dead; });
  }
  flush();
}

void Emitter::call(const Operation& op) { tells() ? call_observed(op) : call(op, call_safely); }

void Emitter::call(const Operation& op, CallSafely safely) {
  vzeroupper();
  mov(rdi, warp_);
  lea(rsi, ptr[code_ + place_of(op)]);
  const ExecuteOperation function = unit_.operations[static_cast<std::size_t>(op.code)];
  mov(rcx, reinterpret_cast<std::uintptr_t>(function));
  mov(rax, reinterpret_cast<std::uintptr_t>(safely));
  Xbyak::CodeGenerator::call(rax);
  test(rax, rax);
  jz(stopped_);
}

void Emitter::load_active(const Xbyak::Reg32& to) {
  lanes_ == Lanes::all ? mov(to, 0xffffffff) : mov(to, active());
}

void Emitter::emit_call(const Operation& op) {
  flush();
  tell_last();
  load_active(edx);
  call(op);
  reload(state_);
}

void Emitter::emit_guarded_call(const Operation& op) {
  flush();
  tell_last();
  Xbyak::Label over;
  load_predicate(edx, op.guard);
  lanes_ == Lanes::all ? test(edx, edx) : and_(edx, active());
  jz(over);
  call(op);
  reload(state_);
  L(over);
}

void Emitter::load_predicate(const Xbyak::Reg32& to, std::uint16_t operand) {
  mov(to, predicate_at(operand >> 1));
  if ((operand & 1) != 0) not_(to);
}

void Emitter::set_predicate(std::uint16_t index, const Xbyak::Reg32& value) {
  if (lanes_ == Lanes::some) {
    xor_(value, predicate_at(index));
    and_(value, active());
    xor_(value, predicate_at(index));
  }
  mov(predicate_at(index), value);
}

Vector Emitter::half_of(std::int32_t first, int part) {
  const std::int32_t piece = first + part / 2;
  const Register whole = find(piece);
  if (whole != none) {
    read(piece);
    if (part % 2 == 0) return half(whole);
    const Register r = scratch();
    set_->upper_half(r, whole);
    return half(r);
  }
  const Register r = scratch();
  note_read(piece);
  vmovups(half(r), ptr[rows_ + first * set_->vector_bytes + part * set_->vector_bytes / 2]);
  return half(r);
}

Xbyak::Label& Emitter::constant(const Constant& words) {
  const auto known = std::find_if(constants_.begin(), constants_.end(),
                                  [&](const Label& label) { return label.words == words; });
  if (known != constants_.end()) return *known->label;
  constants_.push_back({words, std::make_unique<Xbyak::Label>()});
  return *constants_.back().label;
}

void Emitter::finish() {
  for (std::size_t i = 0; i < later_.size(); ++i) later_[i]();
  later_.clear();
  later_.shrink_to_fit();
  align(32);
  for (const Label& label : constants_) {
    L(*label.label);
    for (const std::uint64_t word : label.words) dq(word);
  }
}

}  // namespace warpmeter::model::native
