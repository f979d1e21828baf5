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
  const int pieces = access.row_bytes / 2;  // of 64 bytes, for 32 lanes
  if (parts > 4) return false;

  const auto site = [&](std::uint32_t number, std::size_t offset) {
    return sites_ + static_cast<std::int32_t>(number * sizeof(Site) + offset);
  };
  const auto own = [&](std::size_t offset) { return site(op.extra, offset); };
  const auto& leader = program_.sites[op.extra].leader;

  // All registers first, so that nothing goes back to memory in between.
  const Register t0 = scratch();
  std::array<Register, 32> rows{};
  const auto row_of = [&](int part) -> std::int32_t {
    const std::uint16_t first[] = {op.d, op.b, op.c, op.e};
    return first[part];
  };
  std::size_t used = 0;
  for (int part = 0; part < parts; ++part) {
    for (int i = 0; i < pieces; ++i) {
      rows.at(used++) = access.stores ? read(row_of(part) + i) : scratch();
    }
  }
  const State before = state_;

  const auto skipped = std::make_shared<Xbyak::Label>();
  const auto slow = std::make_shared<Xbyak::Label>();
  const auto done = std::make_shared<Xbyak::Label>();

  for (int i = 0; i < (access.is_wide ? 4 : 2); ++i) effect_->reads.push_back(op.a + i);
  // The first lane's address in rax; the place above the least one in rcx.
  const Register address = find(op.a);
  if (access.is_wide) {
    address != none ? vmovq(rax, xmm(address)) : mov(rax, at(op.a));
    if (op.imm == static_cast<std::int32_t>(op.imm)) {
      lea(rcx, ptr[rax + static_cast<std::int32_t>(op.imm)]);
    } else {
      mov(rcx, static_cast<std::uint64_t>(op.imm));
      add(rcx, rax);
    }
  } else {
    address != none ? vmovd(eax, xmm(address))
                    : mov(eax, dword[rows_ + op.a * static_cast<int>(row_unit_bytes)]);
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
  const bool is_wide = access.is_wide;
  const std::int32_t address_row = op.a;
  const auto compare = [=, this] {
    const auto delta = [&](int i) {
      const std::size_t offset = is_wide ? offsetof(Site, delta) : offsetof(Site, delta_32);
      return ptr[site(op.extra, offset + 64 * static_cast<std::size_t>(i))];
    };
    const int address_pieces = is_wide ? 4 : 2;
    const auto lanes_of = [&](int i) -> Register {
      for (std::size_t r = 0; r < before.size(); ++r) {
        if (before[r].piece == address_row + i) return static_cast<Register>(r);
      }
      return none;
    };
    // In each piece, what differs is added to the mask.
    for (int i = 0; i < address_pieces; ++i) {
      const Register lanes = lanes_of(i);
      is_wide ? vpbroadcastq(zmm(t0), rax) : vpbroadcastd(zmm(t0), eax);
      is_wide ? vpaddq(zmm(t0), zmm(t0), delta(i)) : vpaddd(zmm(t0), zmm(t0), delta(i));
      const Xbyak::Opmask result = i == 0 ? k1 : k2;
      if (lanes != none) {
        is_wide ? vpcmpuq(result, zmm(t0), zmm(lanes), 4) : vpcmpud(result, zmm(t0), zmm(lanes), 4);
      } else {
        is_wide ? vpcmpuq(result, zmm(t0), at(address_row + i), 4)
                : vpcmpud(result, zmm(t0), at(address_row + i), 4);
      }
      if (i != 0) korw(k1, k1, k2);
    }
    kortestw(k1, k1);
  };
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
          access.row_bytes == 8 ? vpbroadcastq(zmm(to), from) : vpbroadcastd(zmm(to), from);
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
        access.row_bytes == 8 ? vpbroadcastq(zmm(to), rax) : vpbroadcastd(zmm(to), eax);
      };
  const auto load_pieces = [=, this](Register to, const Xbyak::Address& from) {
    const bool is_signed = access.extension == Extension::sign;
    if (access.memory_bytes == access.row_bytes) {
      vmovdqu64(zmm(to), from);
    } else if (access.row_bytes == 4) {
      if (access.memory_bytes == 2) {
        is_signed ? vpmovsxwd(zmm(to), from) : vpmovzxwd(zmm(to), from);
      } else {
        is_signed ? vpmovsxbd(zmm(to), from) : vpmovzxbd(zmm(to), from);
      }
    } else if (access.memory_bytes == 4) {
      is_signed ? vpmovsxdq(zmm(to), from) : vpmovzxdq(zmm(to), from);
    } else if (access.memory_bytes == 2) {
      is_signed ? vpmovsxwq(zmm(to), from) : vpmovzxwq(zmm(to), from);
    } else {
      is_signed ? vpmovsxbq(zmm(to), from) : vpmovzxbq(zmm(to), from);
    }
  };
  // Of each half, as many pieces follow each other as it fills.
  const int of_half = pieces / 2, step = half / of_half;
  if (access.stores) {
    cmp(byte[own(offsetof(Site, shape))], static_cast<int>(Shape::contiguous));
    jne(*slow);
    mov(rax, ptr[own(offsetof(Site, half_apart))]);
    const auto store = [&](int i) {
      const auto from = zmm(rows[static_cast<std::size_t>(i)]);
      if (i < of_half) {
        vmovdqu64(ptr[rcx + i * step], from);
      } else {
        vmovdqu64(ptr[rcx + rax + (i - of_half) * step], from);
      }
    };
    // Where the halves overlap, the later turn stays, and within a turn the lower lane.
    const bool is_one_turn = access.memory_bytes <= 4;
    const int first = is_one_turn ? of_half : 0;
    for (int i = 0; i < pieces; ++i) store((first + i) % pieces);
    L(*done);
  } else {
    const auto load_uniform = [=, this] {
      mov(rdx, ptr[site(op.extra, offsetof(Site, half_apart))]);
      for (int i = 0; i < parts * pieces; ++i) {
        const int offset = i / pieces * access.memory_bytes;
        const bool is_upper = i % pieces >= of_half;
        const Register to = rows[static_cast<std::size_t>(i)];
        const bool repeats = i % of_half != 0;
        if (repeats) {
          vmovdqa64(zmm(to), zmm(rows[static_cast<std::size_t>(i - 1)]));
        } else if (is_upper) {
          move_uniform(to, ptr[rcx + rdx + offset], byte[rcx + rdx + offset],
                       word[rcx + rdx + offset], dword[rcx + rdx + offset]);
        } else {
          move_uniform(to, ptr[rcx + offset], byte[rcx + offset], word[rcx + offset],
                       dword[rcx + offset]);
        }
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
        const Register to = rows[static_cast<std::size_t>(i)];
        i < of_half ? load_pieces(to, ptr[rcx + i * step])
                    : load_pieces(to, ptr[rcx + rax + (i - of_half) * step]);
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
    for (int i = 0; i < parts * pieces; ++i) {
      bind(row_of(i / pieces) + i % pieces, rows[static_cast<std::size_t>(i)]);
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
