// SPDX-License-Identifier: MIT
// Loads and stores whose lanes lie as they did the last time (see execute/memory.h). Everything
// else is for the interpreter's function, which is called out of the way: the registers are as they
// were when it comes back.
#include <memory>

#include "collector/model/machine/access_counts.h"
#include "collector/model/machine/load_groups.h"
#include "collector/model/machine/native/emitter.h"
#include "collector/model/machine/native/movement.h"

namespace warpmeter::model::native {
namespace {

template <class M, class R>
constexpr Access access_of(bool stores, bool is_wide, bool is_vector) {
  const bool is_signed = static_cast<M>(-1) < M{0};
  const Extension extension = sizeof(M) == sizeof(R) ? Extension::none
                              : is_signed            ? Extension::sign
                                                     : Extension::zeros;
  return {sizeof(M), sizeof(R), extension, stores, is_wide, is_vector};
}

using u8 = std::uint8_t;
using s8 = std::int8_t;
using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;

}  // namespace

Access access_of(Code code) {
  switch (code) {
#define ACCESS(name, stores, M, R)                \
  case Code::name##_a32:                          \
    return access_of<M, R>(stores, false, false); \
  case Code::name##_a64:                          \
    return access_of<M, R>(stores, true, false);  \
  case Code::name##_v_a32:                        \
    return access_of<M, R>(stores, false, true);  \
  case Code::name##_v_a64:                        \
    return access_of<M, R>(stores, true, true);
#define LOAD(name, M, R) ACCESS(name, false, M, R)
#define STORE(name, M, R) ACCESS(name, true, M, R)
#include "collector/model/machine/warp/operations.h"
#undef ACCESS
    default:
      return {};
  }
}

Xbyak::RegExp Emitter::site_at(std::uint32_t number, std::size_t offset) const {
  return sites_ + static_cast<std::int32_t>(number * sizeof(Site) + offset);
}

Xbyak::RegExp Emitter::group_at(std::uint32_t number, std::size_t offset) const {
  return groups_ + static_cast<std::int32_t>(number * sizeof(SiteGroup) + offset);
}

/// The first active lane's number of the address row, in rax.
void Emitter::load_address(const Check& check) {
  const Xbyak::RegExp row = check.lanes.in_memory;
  const Register kept = check.lanes.in_register[0];
  if (lanes_ == Lanes::some) {
    mov(r8d, active());
    tzcnt(ecx, r8d);
    check.is_wide ? mov(rax, ptr[row + rcx * 8]) : mov(eax, dword[row + rcx * 4]);
  } else if (check.is_wide) {
    kept != none ? vmovq(rax, Xbyak::Xmm(kept)) : mov(rax, ptr[row]);
  } else {
    kept != none ? vmovd(eax, Xbyak::Xmm(kept)) : mov(eax, dword[row]);
  }
}

/// The access by what its site remembers, and its count.
void Emitter::emit_remembered(const Operation& op, const Movement& m, const Check& check) {
  const auto own = [&](std::size_t offset) { return site_at(op.extra, offset); };
  const bool is_some = lanes_ == Lanes::some;
  const auto slow = check.slow;
  load_address(check);
  // The place above the least one in rcx.
  if (!check.is_wide) {
    lea(ecx, ptr[rax + static_cast<std::int32_t>(op.imm)]);
  } else if (op.imm == static_cast<std::int32_t>(op.imm)) {
    lea(rcx, ptr[rax + static_cast<std::int32_t>(op.imm)]);
  } else {
    mov(rcx, static_cast<std::uint64_t>(op.imm));
    add(rcx, rax);
  }
  const auto compare_mask = [=, this](const Xbyak::RegExp& mask) {
    is_some ? cmp(dword[mask], r8d) : cmp(dword[mask], -1);
  };
  compare_mask(own(offsetof(Site, mask)));
  jne(*slow);
  test(byte[own(offsetof(Site, misaligned))], cl);
  jnz(*slow);
  sub(rcx, ptr[own(offsetof(Site, least))]);
  cmp(rcx, ptr[own(offsetof(Site, most_above_least))]);
  ja(*slow);

  // The distances from the first lane, unless they are known to be its leader's.
  const auto compare = [=, this] {
    set_->compare_lanes(check.with.data(), check.is_wide, check.lanes);
  };
  const auto& leader = program_.sites[op.extra].leader;
  if (leader) {
    mov(rdx, ptr[site_at(*leader, offsetof(Site, number))]);
    cmp(rdx, ptr[own(offsetof(Site, like_leader))]);
    const auto skipped = std::make_shared<Xbyak::Label>();
    const auto compared = std::make_shared<Xbyak::Label>();
    jne(*compared);
    L(*skipped);
    const std::uint32_t mine = op.extra, number = *leader;
    later([=, this] {
      L(*compared);
      compare();
      jnz(*slow);
      compare_mask(site_at(number, offsetof(Site, mask)));
      jne(*skipped);
      mov(ptr[site_at(mine, offsetof(Site, like_leader))], rdx);
      jmp(*skipped);
    });
  } else {
    compare();
    jnz(*slow);
  }
  if (tells()) {
    // The interpreter's function tells by itself, where the movement would leave it to that.
    const Xbyak::Address shape = byte[own(offsetof(Site, shape))];
    if (m.access.stores && !set_->has_scatter()) {
      cmp(shape, static_cast<int>(Shape::contiguous));
      jne(*slow);
    } else if (!m.access.stores && !set_->has_gather()) {
      cmp(shape, static_cast<int>(m.access.is_vector ? Shape::uniform : Shape::general));
      m.access.is_vector ? jne(*slow) : je(*slow);
    }
    is_late(op) ? note_late(op) : tell_access(op);
  } else {
    cmp(qword[own(offsetof(Site, touched))], 0);
    jne(*slow);
  }
  // The hits that counted() of execute/memory.h adds one to: r10. Nobody else uses r10; the slow
  // way, which the movement may still take, counts by itself.
  mov(rdx, ptr[own(offsetof(Site, least))]);
  add(rdx, rcx);
  and_(edx, dword[own(offsetof(Site, hit_mask))]);
  movzx(r9d, byte[own(offsetof(Site, hit_shift))]);
  shrx(edx, edx, r9d);
  mov(r9, ptr[own(offsetof(Site, hits))]);
  lea(r10, ptr[r9 + rdx * 8]);
  add(rcx, ptr[own(offsetof(Site, host))]);

  if (m.access.stores) {
    is_some ? emit_store_of_some(m) : emit_store(m);
  } else {
    is_some ? emit_load_of_some(m) : emit_load(m);
  }
  L(*m.done);
  inc(qword[r10]);
}

/// Before the first load of a group: whether all of them lie as it is known. Else each looks for
/// itself, and know_group() is asked now and then what their sites remember.
void Emitter::check_group(std::uint32_t group, const Check& check) {
  const auto of_group = [=, this](std::size_t offset) { return group_at(group, offset); };
  const auto refused = std::make_shared<Xbyak::Label>();
  const auto checked = std::make_shared<Xbyak::Label>();
  load_address(check);
  movzx(edx, byte[of_group(offsetof(SiteGroup, shape))]);
  test(edx, edx);
  jz(*refused);
  test(byte[of_group(offsetof(SiteGroup, misaligned))], al);
  jnz(*refused);
  mov(rcx, rax);
  sub(rcx, ptr[of_group(offsetof(SiteGroup, least))]);
  cmp(rcx, ptr[of_group(offsetof(SiteGroup, most_above_least))]);
  ja(*refused);
  set_->compare_lanes(check.with.data(), check.is_wide, check.lanes);
  jnz(*refused);
  add(rcx, ptr[of_group(offsetof(SiteGroup, host))]);
  mov(ptr[of_group(offsetof(SiteGroup, now))], rcx);
  mov(dword[of_group(offsetof(SiteGroup, address_now))], eax);
  inc(qword[of_group(offsetof(SiteGroup, uses))]);
  mov(byte[of_group(offsetof(SiteGroup, shape_now))], dl);
  L(*checked);
  const State before = state_;
  later([=, this] {
    L(*refused);
    mov(byte[of_group(offsetof(SiteGroup, shape_now))], static_cast<int>(Shape::general));
    dec(dword[of_group(offsetof(SiteGroup, wait))]);
    jnz(*checked);
    write_back(before);
    vzeroupper();
    mov(rdi, warp_);
    mov(esi, group);
    mov(rax, reinterpret_cast<std::uintptr_t>(&know_group));
    Xbyak::CodeGenerator::call(rax);
    reload(before);
    jmp(*checked);
  });
}

/// A load of a group that was checked, and its count; else emit_remembered().
void Emitter::emit_of_group(std::uint32_t group, const Operation& op, const Movement& m,
                            const Check& check) {
  const auto of_group = [=, this](std::size_t offset) { return group_at(group, offset); };
  const auto offset = static_cast<std::int32_t>(op.imm);
  const auto other = std::make_shared<Xbyak::Label>(), loaded = std::make_shared<Xbyak::Label>();
  const auto counted = std::make_shared<Xbyak::Label>();
  cmp(byte[of_group(offsetof(SiteGroup, shape_now))], static_cast<int>(Shape::contiguous));
  jne(*other);
  mov(rcx, ptr[of_group(offsetof(SiteGroup, now))]);
  mov(rax, ptr[of_group(offsetof(SiteGroup, half_apart))]);
  load_contiguous(m, offset);
  L(*loaded);
  // The address is a multiple of what its hits are numbered by: no shift.
  const SiteInfo& info = program_.sites[op.extra];
  mov(edx, dword[of_group(offsetof(SiteGroup, address_now))]);
  add(edx, offset);
  and_(edx, dword[site_at(op.extra, offsetof(Site, hit_mask))]);
  mov(r9, ptr[site_at(op.extra, offsetof(Site, hits))]);
  inc(qword[r9 + rdx * (8 >> hit_places(info, info.space).shift)]);
  L(*counted);
  later([=, this, &op] {
    const auto remembered = std::make_shared<Xbyak::Label>();
    L(*other);
    cmp(byte[of_group(offsetof(SiteGroup, shape_now))], static_cast<int>(Shape::uniform));
    jne(*remembered);
    mov(rcx, ptr[of_group(offsetof(SiteGroup, now))]);
    mov(rdx, ptr[of_group(offsetof(SiteGroup, half_apart))]);
    add(rcx, offset);
    load_uniform(m);
    jmp(*loaded);
    L(*remembered);
    emit_remembered(op, m, check);
    jmp(*counted);
  });
}

bool Emitter::emit_access(const Operation& op) {
  const Access access = access_of(op.code);
  if (access.row_bytes < 4) return false;
  if (access.stores && (access.is_vector || access.extension != Extension::none)) return false;
  if (access.stores && access.memory_bytes != access.row_bytes) return false;
  Movement m;
  m.access = access;
  m.parts = access.is_vector ? op.f : 1;
  m.pieces = access.row_units() * pieces_of_unit_;
  m.site = site_at(op.extra, 0);
  m.is_far = program_.sites[op.extra].space == AddressSpace::global;
  m.row = {op.d, op.b, op.c, op.e};
  const auto slow = std::make_shared<Xbyak::Label>();
  m.slow = tells() ? std::make_shared<Xbyak::Label>() : slow;
  m.done = std::make_shared<Xbyak::Label>();
  if (m.parts > 4) return false;
  // Whoever is told changes all registers.
  if (tells() && !is_late(op)) flush_living();

  // All registers first, so that nothing goes back to memory in between. A loaded piece without a
  // register is put where its row is in memory; a store takes from there.
  Check check;
  check.is_wide = access.is_wide;
  check.slow = slow;
  for (int i = 0; i < set_->registers_to_compare(); ++i)
    check.with.at(static_cast<std::size_t>(i)) = scratch();
  m.spare = check.with[0];
  if (access.stores && set_->has_scatter()) m.other = scratch();
  const int most_kept = set_->row_registers / 2 + 1;
  m.registers.fill(none);
  for (int i = 0; i < m.total(); ++i) {
    Register& r = m.registers.at(static_cast<std::size_t>(i));
    if (access.stores) {
      const std::int32_t piece = row_piece(m, i).piece();
      r = find(piece);
      r != none ? static_cast<void>(read(piece)) : note_read(piece);
    } else if (i < most_kept) {
      r = scratch();
    }
  }
  const std::int32_t address_piece = piece_of(op.a);
  const int address_units = access.is_wide ? 4 : 2,
            address_pieces = address_units * pieces_of_unit_;
  for (int i = 0; i < address_pieces; ++i) note_read(address_piece + i);
  if (lanes_ == Lanes::some) put_row(address_piece, address_units);
  const State before = state_;
  check.lanes = {
      {},
      rows_ + address_piece * set_->vector_bytes,
      site_at(op.extra, access.is_wide ? offsetof(Site, delta) : offsetof(Site, delta_32))};
  for (int i = 0; i < address_pieces; ++i) {
    check.lanes.in_register.at(static_cast<std::size_t>(i)) = find(address_piece + i);
  }

  if (const auto place = load_group(op)) {
    if (place->is_first) check_group(place->group, check);
    emit_of_group(place->group, op, m, check);
  } else {
    emit_remembered(op, m, check);
  }
  const auto counted = std::make_shared<Xbyak::Label>();
  L(*counted);
  for (int i = 0; i < m.total() && !access.stores; ++i) {
    const Register r = m.registers.at(static_cast<std::size_t>(i));
    r != none ? bind(row_piece(m, i), r) : bind_in_memory(row_piece(m, i).piece());
  }
  unpin();
  const State after = state_;
  const auto told = m.slow;
  later([=, this, &op] {
    L(*slow);
    write_back(before);
    load_active(edx);
    call(op);
    reload(after);
    jmp(*counted);
    if (told == slow) return;
    L(*told);
    write_back(before);
    load_active(edx);
    call_told(op);
    reload(after);
    jmp(*counted);
  });
  if (tells() && !access.stores && !is_late(op)) leave_if_more_is_watched(op);
  return true;
}

}  // namespace warpmeter::model::native
