// SPDX-License-Identifier: MIT
// Loads and stores whose lanes lie as they did the last time (see execute/memory.h). Everything
// else is for the interpreter's function, which is called out of the way: the registers are as they
// were when it comes back.
#include <memory>

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

}  // namespace

bool Emitter::emit_access(const Operation& op) {
  const Access access = access_of(op.code);
  if (access.row_bytes < 4) return false;
  if (access.stores && (access.is_vector || access.extension != Extension::none)) return false;
  if (access.stores && access.memory_bytes != access.row_bytes) return false;
  const auto site = [&](std::uint32_t number, std::size_t offset) {
    return sites_ + static_cast<std::int32_t>(number * sizeof(Site) + offset);
  };
  const auto own = [&](std::size_t offset) { return site(op.extra, offset); };
  Movement m;
  m.access = access;
  m.parts = access.is_vector ? op.f : 1;
  m.pieces = access.row_units() * pieces_of_unit_;
  m.site = own(0);
  m.row = {op.d, op.b, op.c, op.e};
  m.slow = std::make_shared<Xbyak::Label>();
  m.done = std::make_shared<Xbyak::Label>();
  if (m.parts > 4) return false;
  const auto& leader = program_.sites[op.extra].leader;
  const bool is_some = lanes_ == Lanes::some;

  // All registers first, so that nothing goes back to memory in between. A loaded piece without a
  // register is put where its row is in memory; a store takes from there.
  std::array<Register, 3> to_compare{};
  for (int i = 0; i < set_->registers_to_compare(); ++i)
    to_compare.at(static_cast<std::size_t>(i)) = scratch();
  m.spare = to_compare[0];
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
  if (is_some) put_row(address_piece, address_units);
  const State before = state_;

  // The first active lane's address in rax; the place above the least one in rcx.
  const Register address = find(address_piece);
  if (is_some) {
    mov(r8d, active());
    tzcnt(ecx, r8d);
    const Xbyak::RegExp row = rows_ + address_piece * set_->vector_bytes;
    access.is_wide ? mov(rax, ptr[row + rcx * 8]) : mov(eax, dword[row + rcx * 4]);
  } else if (access.is_wide) {
    address != none ? vmovq(rax, Xbyak::Xmm(address)) : mov(rax, at(address_piece));
  } else {
    address != none ? vmovd(eax, Xbyak::Xmm(address))
                    : mov(eax, dword[rows_ + address_piece * set_->vector_bytes]);
  }
  if (!access.is_wide) {
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
  jne(*m.slow);
  test(byte[own(offsetof(Site, misaligned))], cl);
  jnz(*m.slow);
  sub(rcx, ptr[own(offsetof(Site, least))]);
  cmp(rcx, ptr[own(offsetof(Site, most_above_least))]);
  ja(*m.slow);

  // The distances from the first lane, unless they are known to be its leader's.
  InstructionSet::Places lanes{
      {},
      rows_ + address_piece * set_->vector_bytes,
      site(op.extra, access.is_wide ? offsetof(Site, delta) : offsetof(Site, delta_32))};
  for (int i = 0; i < address_pieces; ++i) {
    lanes.in_register.at(static_cast<std::size_t>(i)) = find(address_piece + i);
  }
  const bool is_wide = access.is_wide;
  const auto slow = m.slow;
  const auto compare = [=, this] { set_->compare_lanes(to_compare.data(), is_wide, lanes); };
  if (leader) {
    mov(rdx, ptr[site(*leader, offsetof(Site, number))]);
    cmp(rdx, ptr[own(offsetof(Site, like_leader))]);
    const auto skipped = std::make_shared<Xbyak::Label>();
    const auto compared = std::make_shared<Xbyak::Label>();
    jne(*compared);
    L(*skipped);
    const std::uint32_t number = *leader;
    later([=, this] {
      L(*compared);
      compare();
      jnz(*slow);
      compare_mask(site(number, offsetof(Site, mask)));
      jne(*skipped);
      mov(ptr[site(op.extra, offsetof(Site, like_leader))], rdx);
      jmp(*skipped);
    });
  } else {
    compare();
    jnz(*slow);
  }
  cmp(qword[own(offsetof(Site, touched))], 0);
  jne(*slow);
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

  if (access.stores) {
    is_some ? emit_store_of_some(m) : emit_store(m);
  } else {
    is_some ? emit_load_of_some(m) : emit_load(m);
  }
  L(*m.done);
  inc(qword[r10]);
  const auto counted = std::make_shared<Xbyak::Label>();
  L(*counted);
  for (int i = 0; i < m.total() && !access.stores; ++i) {
    const Register r = m.registers.at(static_cast<std::size_t>(i));
    r != none ? bind(row_piece(m, i), r) : bind_in_memory(row_piece(m, i).piece());
  }
  unpin();
  const State after = state_;
  later([=, this, &op] {
    L(*slow);
    write_back(before);
    load_active(edx);
    call(op);
    reload(after);
    jmp(*counted);
  });
  return true;
}

}  // namespace warpmeter::model::native
