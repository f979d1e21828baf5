// Loads and stores whose lanes lie as they did the last time (see execute/memory.h). Everything
// else is for the interpreter's function, which is called out of the way: the registers are as they
// were when it comes back.
#include <memory>

#include "collector/model/machine/native/emitter.h"

namespace warpmeter::model::native {
namespace {

enum class Extension { none, zeros, sign };

/// What a load or store moves: of a lane in memory, and in a row.
struct Access {
  int memory_bytes = 0, row_bytes = 0;
  Extension extension = Extension::none;
  bool stores = false, is_wide = false, is_vector = false;
};

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
#include "collector/model/machine/operations.h"
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
  const int parts = access.is_vector ? op.f : 1;
  const int pieces = access.row_bytes / 2 * pieces_of_unit_;  // for 32 lanes
  if (parts > 4) return false;

  const auto site = [&](std::uint32_t number, std::size_t offset) {
    return sites_ + static_cast<std::int32_t>(number * sizeof(Site) + offset);
  };
  const auto own = [&](std::size_t offset) { return site(op.extra, offset); };
  const auto& leader = program_.sites[op.extra].leader;

  // All registers first, so that nothing goes back to memory in between. What a load finds no
  // register for is put where its row is in memory; a store takes from there.
  std::array<Register, 3> to_compare{};
  for (int i = 0; i < set_->registers_to_compare(); ++i)
    to_compare.at(static_cast<std::size_t>(i)) = scratch();
  const Register t0 = to_compare[0];
  const std::size_t total = static_cast<std::size_t>(parts) * static_cast<std::size_t>(pieces);
  const std::size_t most_kept = static_cast<std::size_t>(set_->row_registers) / 2 + 1;
  std::array<Register, 32> rows{};
  rows.fill(none);
  const auto piece_at = [&](std::size_t i) -> std::int32_t {
    const std::uint16_t first[] = {op.d, op.b, op.c, op.e};
    return piece_of(first[i / static_cast<std::size_t>(pieces)]) +
           static_cast<std::int32_t>(i) % pieces;
  };
  for (std::size_t i = 0; i < total; ++i) {
    if (access.stores) {
      rows.at(i) = find(piece_at(i));
      if (rows.at(i) != none) {
        read(piece_at(i));
      } else {
        note_read(piece_at(i));
      }
    } else if (i < most_kept) {
      rows.at(i) = scratch();
    }
  }
  const State before = state_;

  const auto skipped = std::make_shared<Xbyak::Label>();
  const auto slow = std::make_shared<Xbyak::Label>();
  const auto done = std::make_shared<Xbyak::Label>();

  const std::int32_t address_piece = piece_of(op.a);
  const int address_pieces = (access.is_wide ? 4 : 2) * pieces_of_unit_;
  for (int i = 0; i < address_pieces; ++i) note_read(address_piece + i);
  // The first lane's address in rax; the place above the least one in rcx.
  const Register address = find(address_piece);
  if (access.is_wide) {
    address != none ? vmovq(rax, Xbyak::Xmm(address)) : mov(rax, at(address_piece));
    if (op.imm == static_cast<std::int32_t>(op.imm)) {
      lea(rcx, ptr[rax + static_cast<std::int32_t>(op.imm)]);
    } else {
      mov(rcx, static_cast<std::uint64_t>(op.imm));
      add(rcx, rax);
    }
  } else {
    address != none ? vmovd(eax, Xbyak::Xmm(address))
                    : mov(eax, dword[rows_ + address_piece * set_->vector_bytes]);
    lea(ecx, ptr[rax + static_cast<std::int32_t>(op.imm)]);
  }
  cmp(dword[own(offsetof(Site, mask))], -1);
  jne(*slow);
  test(byte[own(offsetof(Site, misaligned))], cl);
  jnz(*slow);
  sub(rcx, ptr[own(offsetof(Site, least))]);
  cmp(rcx, ptr[own(offsetof(Site, most_above_least))]);
  ja(*slow);

  // The distances from the first lane, unless they are known to be its leader's.
  InstructionSet::Lanes lanes{
      {},
      rows_ + address_piece * set_->vector_bytes,
      site(op.extra, access.is_wide ? offsetof(Site, delta) : offsetof(Site, delta_32))};
  for (int i = 0; i < address_pieces; ++i) {
    lanes.in_register.at(static_cast<std::size_t>(i)) = find(address_piece + i);
  }
  const bool is_wide = access.is_wide;
  const auto compare = [=, this] { set_->compare_lanes(to_compare.data(), is_wide, lanes); };
  if (leader) {
    mov(rdx, ptr[site(*leader, offsetof(Site, number))]);
    cmp(rdx, ptr[own(offsetof(Site, like_leader))]);
    const auto compared = std::make_shared<Xbyak::Label>();
    jne(*compared);
    L(*skipped);
    const std::uint32_t number = *leader;
    later([=, this] {
      L(*compared);
      compare();
      jnz(*slow);
      cmp(dword[site(number, offsetof(Site, mask))], -1);
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
  inc(qword[own(offsetof(Site, own_hits))]);
  add(rcx, ptr[own(offsetof(Site, host))]);

  const int half = 16 * access.memory_bytes;  // bytes of sixteen lanes
  const auto move_uniform =
      [=, this](Register to, const Xbyak::Address& from, const Xbyak::Address& from_byte,
                const Xbyak::Address& from_word, const Xbyak::Address& from_dword) {
        if (access.memory_bytes == access.row_bytes) {
          access.row_bytes == 8 ? vpbroadcastq(vector(to), from) : vpbroadcastd(vector(to), from);
          return;
        }
        const bool is_signed = access.extension == Extension::sign;
        const Xbyak::Reg32e number = access.row_bytes == 8 && is_signed
                                         ? static_cast<const Xbyak::Reg32e&>(rax)
                                         : static_cast<const Xbyak::Reg32e&>(eax);
        if (access.memory_bytes == 4) {
          is_signed ? movsxd(rax, from_dword) : mov(eax, from_dword);
        } else if (access.memory_bytes == 2) {
          is_signed ? movsx(number, from_word) : movzx(eax, from_word);
        } else {
          is_signed ? movsx(number, from_byte) : movzx(eax, from_byte);
        }
        access.row_bytes == 8 ? set_->spread(to, rax) : set_->spread(to, eax);
      };
  const auto load_pieces = [=, this](Register to, const Xbyak::Address& from) {
    const bool is_signed = access.extension == Extension::sign;
    if (access.memory_bytes == access.row_bytes) {
      vmovups(vector(to), from);
    } else if (access.row_bytes == 4) {
      if (access.memory_bytes == 2) {
        is_signed ? vpmovsxwd(vector(to), from) : vpmovzxwd(vector(to), from);
      } else {
        is_signed ? vpmovsxbd(vector(to), from) : vpmovzxbd(vector(to), from);
      }
    } else if (access.memory_bytes == 4) {
      is_signed ? vpmovsxdq(vector(to), from) : vpmovzxdq(vector(to), from);
    } else if (access.memory_bytes == 2) {
      is_signed ? vpmovsxwq(vector(to), from) : vpmovzxwq(vector(to), from);
    } else {
      is_signed ? vpmovsxbq(vector(to), from) : vpmovzxbq(vector(to), from);
    }
  };
  // Of each half, as many pieces follow each other as it fills.
  const int of_half = pieces / 2, step = half / of_half;
  if (access.stores) {
    cmp(byte[own(offsetof(Site, shape))], static_cast<int>(Shape::contiguous));
    jne(*slow);
    mov(rax, ptr[own(offsetof(Site, half_apart))]);
    const auto store = [&](int i) {
      Register from = rows.at(static_cast<std::size_t>(i));
      if (from == none) {
        from = t0;
        vmovups(vector(t0), at(piece_at(static_cast<std::size_t>(i))));
      }
      if (i < of_half) {
        vmovups(ptr[rcx + i * step], vector(from));
      } else {
        vmovups(ptr[rcx + rax + (i - of_half) * step], vector(from));
      }
    };
    // Where the halves overlap, the later turn stays, and within a turn the lower lane.
    const bool is_one_turn = access.memory_bytes <= 4;
    const int first = is_one_turn ? of_half : 0;
    for (int i = 0; i < pieces; ++i) store((first + i) % pieces);
    L(*done);
  } else {
    std::array<std::int32_t, 32> places{};
    for (std::size_t i = 0; i < total; ++i) places.at(i) = piece_at(i);
    // Where there is no register, by another one and into the row.
    const auto target = [=](std::size_t i) { return rows.at(i) != none ? rows.at(i) : t0; };
    const auto put = [=, this](std::size_t i) {
      if (rows.at(i) == none) vmovups(at(places.at(i)), vector(t0));
    };
    const auto load_uniform = [=, this] {
      mov(rdx, ptr[site(op.extra, offsetof(Site, half_apart))]);
      for (std::size_t i = 0; i < total; ++i) {
        const int piece = static_cast<int>(i) % pieces;
        const int offset = static_cast<int>(i) / pieces * access.memory_bytes;
        const bool is_upper = piece >= of_half;
        const Register to = target(i);
        const bool repeats = piece % of_half != 0;
        if (repeats) {
          const Register last = target(i - 1);
          if (to != last) vmovups(vector(to), vector(last));
        } else if (is_upper) {
          move_uniform(to, ptr[rcx + rdx + offset], byte[rcx + rdx + offset],
                       word[rcx + rdx + offset], dword[rcx + rdx + offset]);
        } else {
          move_uniform(to, ptr[rcx + offset], byte[rcx + offset], word[rcx + offset],
                       dword[rcx + offset]);
        }
        put(i);
      }
    };
    if (access.is_vector) {  // one after the other they lie only in vectors of one
      cmp(byte[own(offsetof(Site, shape))], static_cast<int>(Shape::uniform));
      jne(*slow);
      load_uniform();
    } else {
      const auto other = std::make_shared<Xbyak::Label>();
      cmp(byte[own(offsetof(Site, shape))], static_cast<int>(Shape::contiguous));
      jne(*other);
      mov(rax, ptr[own(offsetof(Site, half_apart))]);
      for (int i = 0; i < pieces; ++i) {
        const Register to = target(static_cast<std::size_t>(i));
        i < of_half ? load_pieces(to, ptr[rcx + i * step])
                    : load_pieces(to, ptr[rcx + rax + (i - of_half) * step]);
        put(static_cast<std::size_t>(i));
      }
      later([=, this] {
        L(*other);
        cmp(byte[site(op.extra, offsetof(Site, shape))], static_cast<int>(Shape::uniform));
        jne(*slow);
        load_uniform();
        jmp(*done);
      });
    }
    L(*done);
    for (std::size_t i = 0; i < total; ++i) {
      rows.at(i) != none ? bind(places.at(i), rows.at(i)) : bind_in_memory(places.at(i));
    }
  }
  unpin();
  const State after = state_;
  later([=, this, &op] {
    L(*slow);
    write_back(before);
    mov(edx, 0xffffffff);
    call(op);
    reload(after);
    jmp(*done);
  });
  return true;
}

}  // namespace warpmeter::model::native
