#include "collector/model/machine/native/emitter.h"

#include <algorithm>
#include <memory>

namespace warpmeter::model::native {

Emitter::Emitter(const Program& program, const Unit& unit, std::size_t most_bytes)
    : Xbyak::CodeGenerator(most_bytes, Xbyak::DontSetProtectRWE), program_(program), unit_(unit) {
  setDefaultJmpNEAR(true);
}

void Emitter::emit_prologue() {
  // rax: where to go; rdi: the warp. With the return address, a multiple of 16 bytes.
  push(rbx), push(rbp), push(r12), push(r13), push(r14);
  mov(warp_, rdi);
  mov(rows_, ptr[warp_ + offsetof(Warp, registers)]);
  mov(predicates_, ptr[warp_ + offsetof(Warp, predicates)]);
  mov(sites_, ptr[warp_ + offsetof(Warp, sites)]);
  mov(code_, ptr[warp_ + offsetof(Warp, code)]);
  vpbroadcastd(zmm(nan_register), ptr[rip + constant_32(0x7fffffff)]);
  jmp(rax);
}

void Emitter::emit_epilogue() {
  L(stopped_);
  xor_(eax, eax);
  L(returned_);
  vzeroupper();
  pop(r14), pop(r13), pop(r12), pop(rbp), pop(rbx);
  ret();
}

Register Emitter::find(std::int32_t piece) const {
  for (std::size_t r = 0; r < state_.size(); ++r) {
    if (state_[r].piece == piece) return static_cast<Register>(r);
  }
  return none;
}

Register Emitter::scratch() {
  std::size_t best = state_.size();
  for (std::size_t r = 0; r < state_.size(); ++r) {
    if (state_[r].is_pinned) continue;
    if (state_[r].piece == none) {
      best = r;
      break;
    }
    if (best == state_.size() || state_[r].used < state_[best].used) best = r;
  }
  Kept& kept = state_.at(best);
  const auto r = static_cast<Register>(best);
  if (kept.piece != none && kept.is_dirty) vmovdqa64(at(kept.piece), zmm(r));
  kept = {none, false, true, ++clock_};
  return r;
}

Register Emitter::read(std::int32_t piece) {
  effect_->reads.push_back(piece);
  Register r = find(piece);
  if (r == none) {
    r = scratch();
    vmovdqa64(zmm(r), at(piece));
    state_[static_cast<std::size_t>(r)].piece = piece;
  }
  Kept& kept = state_[static_cast<std::size_t>(r)];
  kept.used = ++clock_;
  kept.is_pinned = true;
  return r;
}

void Emitter::bind(std::int32_t piece, Register to) {
  effect_->writes.push_back(piece);
  const Register old = find(piece);
  if (old != none) {
    Kept& kept = state_[static_cast<std::size_t>(old)];
    kept.piece = none;
    kept.is_dirty = false;
  }
  Kept& kept = state_[static_cast<std::size_t>(to)];
  kept.piece = piece;
  kept.is_dirty = true;
  kept.used = ++clock_;
}

void Emitter::unpin() {
  for (Kept& kept : state_) kept.is_pinned = false;
}

void Emitter::write_back(const State& state) {
  for (std::size_t r = 0; r < state.size(); ++r) {
    if (state[r].piece != none && state[r].is_dirty) {
      vmovdqa64(at(state[r].piece), zmm(static_cast<Register>(r)));
    }
  }
}

void Emitter::reload(const State& state) {
  vpbroadcastd(zmm(nan_register), ptr[rip + constant_32(0x7fffffff)]);
  for (std::size_t r = 0; r < state.size(); ++r) {
    if (state[r].piece != none) vmovdqa64(zmm(static_cast<Register>(r)), at(state[r].piece));
  }
}

void Emitter::flush() {
  write_back(state_);
  state_.fill({});
}

void Emitter::call(const Operation& op) {
  vzeroupper();
  mov(rdi, warp_);
  lea(rsi, ptr[code_ + place_of(op)]);
  const ExecuteOperation function = unit_.operations[static_cast<std::size_t>(op.code)];
  mov(rax, reinterpret_cast<std::uintptr_t>(function));
  Xbyak::CodeGenerator::call(rax);
  test(rax, rax);
  jz(stopped_);
}

void Emitter::emit_call(const Operation& op) {
  flush();
  mov(edx, 0xffffffff);
  call(op);
  reload(state_);
}

void Emitter::emit_guarded_call(const Operation& op) {
  flush();
  Xbyak::Label over;
  load_predicate(edx, op.guard);
  test(edx, edx);
  jz(over);
  call(op);
  reload(state_);
  L(over);
}

void Emitter::load_predicate(const Xbyak::Reg32& to, std::uint16_t operand) {
  mov(to, predicate_at(operand >> 1));
  if ((operand & 1) != 0) not_(to);
}

Xbyak::Ymm Emitter::half_of(std::int32_t piece, int part) {
  const Register whole = find(piece + part / 2);
  if (whole != none && part % 2 == 0) return ymm(read(piece + part / 2));
  const Register r = scratch();
  effect_->reads.push_back(piece + part / 2);
  if (whole != none) {
    vextracti64x4(ymm(r), zmm(read(piece + part / 2)), 1);
  } else {
    vmovdqa32(Xbyak::Ymm(r), ptr[rows_ + piece * static_cast<int>(row_unit_bytes) + 32 * part]);
  }
  return ymm(r);
}

void Emitter::join(std::int32_t piece, Register low, Register high) {
  vinserti64x4(zmm(low), zmm(low), ymm(high), 1);
  bind(piece, low);
}

void Emitter::canonical(Register r) {
  vcmpps(k1, zmm(r), zmm(r), 3);
  vmovdqa32(zmm(r) | k1, zmm(nan_register));
}

Xbyak::Label& Emitter::constant(std::uint64_t bits, int bytes) {
  const auto known = std::find_if(constants_.begin(), constants_.end(), [&](const Constant& c) {
    return c.bits == bits && c.bytes == bytes;
  });
  if (known != constants_.end()) return *known->label;
  constants_.push_back({bits, bytes, std::make_unique<Xbyak::Label>()});
  return *constants_.back().label;
}

void Emitter::finish() {
  for (std::size_t i = 0; i < later_.size(); ++i) later_[i]();
  later_.clear();
  later_.shrink_to_fit();
  align(8);
  for (const Constant& c : constants_) {
    L(*c.label);
    dq(c.bits);
  }
}

}  // namespace warpmeter::model::native
