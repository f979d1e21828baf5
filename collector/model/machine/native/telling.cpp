// SPDX-License-Identifier: MIT
// Code for launches that somebody observes: it tells of each access before the data moves, and of
// the operations that are watched.
#include <memory>
#include <utility>

#include "collector/model/machine/access.h"
#include "collector/model/machine/native/emitter.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model::native {
namespace {

/// An operation that may be watched.
const Operation* observe_and_call(Warp& warp, const Operation* op, std::uint32_t mask,
                                  ExecuteOperation function) {
  try {
    const std::uint8_t watched = warp.watched[op - warp.code];
    if ((watched & watch_noted) != 0) warp.last = op;
    if ((watched & watch_observed) != 0) observe(warp, op, mask);
    return function(warp, op, mask);
  } catch (...) {
    keep_failure(warp, op);
    return nullptr;
  }
}

/// A load or store, as it is remembered, that has been told of.
const Operation* move_only(Warp& warp, const Operation* op, std::uint32_t mask,
                           ExecuteOperation function) {
  Site& site = warp.sites[op->extra];
  const TouchedWords* const touched = std::exchange(site.touched, nullptr);
  const Operation* const next = call_safely(warp, op, mask, function);
  site.touched = touched;
  return next;
}

/// False where the warp has to stop.
bool tell_safely(Warp& warp, const Operation* op, std::uint64_t above_least) {
  const Site& site = warp.sites[op->extra];
  try {
    tell_observer(warp, op, site.mask, site.least + above_least);
    return true;
  } catch (...) {
    keep_failure(warp, op);
    return false;
  }
}

/// The same.
bool take_late_safely(Warp& warp, const Operation* op) {
  try {
    warp.memory->observer->take_late_loads();
    return true;
  } catch (...) {
    keep_failure(warp, op);
    return false;
  }
}

}  // namespace

void Emitter::call_observed(const Operation& op) {
  call(op, observe_and_call);
  mov(rcx, ptr[warp_ + offsetof(Warp, watches_more)]);
  cmp(byte[rcx], 0);
  jne(returned_);
}

void Emitter::call_told(const Operation& op) { call(op, move_only); }

void Emitter::tell_last() {
  if (last_ == nullptr) return;
  lea(rax, ptr[code_ + place_of(*last_)]);
  mov(ptr[warp_ + offsetof(Warp, last)], rax);
  last_ = nullptr;
}

void Emitter::leave_if_more_is_watched(const Operation& op) {
  const auto more = std::make_shared<Xbyak::Label>();
  mov(rax, ptr[warp_ + offsetof(Warp, watches_more)]);
  cmp(byte[rax], 0);
  jne(*more);
  const State state = state_;
  const bool is_noted = watches(op, watch_noted);
  later([=, this, &op] {
    L(*more);
    write_back(state);
    lea(rax, ptr[code_ + place_of(op)]);
    if (is_noted) mov(ptr[warp_ + offsetof(Warp, last)], rax);
    add(rax, static_cast<int>(sizeof(Operation)));
    jmp(returned_);
  });
}

void Emitter::note_late(const Operation& op) {
  const auto full = std::make_shared<Xbyak::Label>(), noted = std::make_shared<Xbyak::Label>();
  cmp(qword[site_at(op.extra, offsetof(Site, touched))], 0);
  je(*noted);
  mov(r9, ptr[warp_ + offsetof(Warp, late)]);
  mov(rdx, ptr[r9 + offsetof(LateLoads, next)]);
  lea(rax, ptr[code_ + place_of(op)]);
  mov(ptr[rdx + offsetof(LateLoad, op)], rax);
  mov(ptr[rdx + offsetof(LateLoad, warp)], warp_);
  mov(rax, ptr[site_at(op.extra, offsetof(Site, least))]);
  add(rax, rcx);
  mov(ptr[rdx + offsetof(LateLoad, address)], rax);
  add(rdx, static_cast<int>(sizeof(LateLoad)));
  mov(ptr[r9 + offsetof(LateLoads, next)], rdx);
  cmp(rdx, ptr[r9 + offsetof(LateLoads, end)]);
  je(*full);
  L(*noted);
  const State before = state_;
  later([=, this, &op] {
    L(*full);
    mov(r15, rcx);
    write_back(before);
    vzeroupper();
    mov(rdi, warp_);
    lea(rsi, ptr[code_ + place_of(op)]);
    mov(rax, reinterpret_cast<std::uintptr_t>(&take_late_safely));
    Xbyak::CodeGenerator::call(rax);
    test(al, al);
    jz(stopped_);
    reload(before);
    mov(rcx, r15);
    if (lanes_ == Lanes::some) mov(r8d, active());
    jmp(*noted);
  });
}

void Emitter::tell_access(const Operation& op) {
  mov(r15, rcx);
  vzeroupper();
  mov(rdi, warp_);
  lea(rsi, ptr[code_ + place_of(op)]);
  mov(rdx, rcx);
  mov(rax, reinterpret_cast<std::uintptr_t>(&tell_safely));
  Xbyak::CodeGenerator::call(rax);
  test(al, al);
  jz(stopped_);
  set_->begin();
  mov(rcx, r15);
  if (lanes_ == Lanes::some) mov(r8d, active());
}

}  // namespace warpmeter::model::native
