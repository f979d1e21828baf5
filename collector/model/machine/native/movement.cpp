// SPDX-License-Identifier: MIT
// Loads and stores between rows and memory, by how the lanes lie (execute/memory.h has the same in
// plain words). A move that no case fits is for the interpreter's function.
#include "collector/model/machine/native/movement.h"

#include "collector/model/machine/native/emitter.h"

namespace warpmeter::model::native {
namespace {

constexpr std::int32_t field(std::size_t offset) { return static_cast<std::int32_t>(offset); }

}  // namespace

RowPiece Emitter::row_piece(const Movement& m, int i) const {
  return {piece_of(m.row.at(static_cast<std::size_t>(i / m.pieces))), i % m.pieces,
          m.access.row_units()};
}

/// Loads what follows one another; `to` may have a mask.
void Emitter::load_pieces(const Access& access, const Vector& to, const Xbyak::Address& from) {
  const bool is_signed = access.extension == Extension::sign;
  if (access.memory_bytes == access.row_bytes) {
    access.row_bytes == 8 ? vmovupd(to, from) : vmovups(to, from);
  } else if (access.row_bytes == 4) {
    if (access.memory_bytes == 2) {
      is_signed ? vpmovsxwd(to, from) : vpmovzxwd(to, from);
    } else {
      is_signed ? vpmovsxbd(to, from) : vpmovzxbd(to, from);
    }
  } else if (access.memory_bytes == 4) {
    is_signed ? vpmovsxdq(to, from) : vpmovzxdq(to, from);
  } else if (access.memory_bytes == 2) {
    is_signed ? vpmovsxwq(to, from) : vpmovzxwq(to, from);
  } else {
    is_signed ? vpmovsxbq(to, from) : vpmovzxbq(to, from);
  }
}

/// One number into each lane.
void Emitter::load_one(const Access& access, Register to, const Xbyak::RegExp& from) {
  if (access.memory_bytes == access.row_bytes) {
    access.row_bytes == 8 ? vpbroadcastq(vector(to), ptr[from])
                          : vpbroadcastd(vector(to), ptr[from]);
    return;
  }
  const bool is_signed = access.extension == Extension::sign;
  const Xbyak::Reg32e number = access.row_bytes == 8 && is_signed
                                   ? static_cast<const Xbyak::Reg32e&>(rax)
                                   : static_cast<const Xbyak::Reg32e&>(eax);
  if (access.memory_bytes == 4) {
    is_signed ? movsxd(rax, dword[from]) : mov(eax, dword[from]);
  } else if (access.memory_bytes == 2) {
    is_signed ? movsx(number, word[from]) : movzx(eax, word[from]);
  } else {
    is_signed ? movsx(number, byte[from]) : movzx(eax, byte[from]);
  }
  access.row_bytes == 8 ? set_->spread(to, rax) : set_->spread(to, eax);
}

/// Where all lanes of a half read one number; the halves are rdx apart.
void Emitter::load_uniform(const Movement& m) {
  const int of_half = m.pieces / 2;
  for (int i = 0; i < m.total(); ++i) {
    const int piece = i % m.pieces, offset = i / m.pieces * m.access.memory_bytes;
    const Register to = target(m, i);
    if (piece % of_half != 0) {
      const Register last = target(m, i - 1);
      if (to != last) vmovups(vector(to), vector(last));
    } else if (piece >= of_half) {
      load_one(m.access, to, rcx + rdx + offset);
    } else {
      load_one(m.access, to, rcx + offset);
    }
    put_target(m, i);
  }
}

/// In each half, as many pieces follow each other as it fills; the halves are rax apart.
void Emitter::load_contiguous(const Movement& m, std::int32_t offset) {
  const int of_half = m.pieces / 2, step = 16 * m.access.memory_bytes / of_half;
  for (int i = 0; i < m.pieces; ++i) {
    const Vector to = vector(target(m, i));
    i < of_half ? load_pieces(m.access, to, ptr[rcx + (offset + i * step)])
                : load_pieces(m.access, to, ptr[rcx + rax + (offset + (i - of_half) * step)]);
    put_target(m, i);
  }
}

/// The warps of a block take turns, and a loop goes on: the next load of the site is likely as far
/// from this one as this one is from the last. A wrong guess costs a line of the cache.
void Emitter::prefetch_next(const Movement& m) {
  const auto before = m.site + field(offsetof(Site, before));
  lea(rdx, ptr[rcx + rcx]);
  sub(rdx, ptr[before]);
  mov(ptr[before], rcx);
  prefetcht0(ptr[rdx]);
  prefetcht0(ptr[rdx + rax]);
}

/// Lane by lane, where the distances are such as the instruction takes.
void Emitter::gather(const Movement& m) {
  const bool is_plain = m.access.memory_bytes == m.access.row_bytes;
  if (!set_->has_gather() || !is_plain) {
    jmp(*m.slow);
    return;
  }
  test(byte[m.site + field(offsetof(Site, layout))], layout_near);
  jz(*m.slow);
  for (int i = 0; i < m.total(); ++i) {
    set_->gather(target(m, i), row_piece(m, i), rcx + i / m.pieces * m.access.memory_bytes,
                 m.site + field(offsetof(Site, delta_32)), m.spare);
    put_target(m, i);
  }
}

/// The same, where no lane writes what another one does.
void Emitter::scatter(const Movement& m) {
  if (!set_->has_scatter()) {
    jmp(*m.slow);
    return;
  }
  mov(al, byte[m.site + field(offsetof(Site, layout))]);
  and_(al, layout_near | layout_apart);
  cmp(al, layout_near | layout_apart);
  jne(*m.slow);
  for (int i = 0; i < m.total(); ++i) {
    set_->scatter(source(m, i), row_piece(m, i), rcx + i / m.pieces * m.access.memory_bytes,
                  m.site + field(offsetof(Site, delta_32)), m.other);
  }
}

Register Emitter::target(const Movement& m, int i) const {
  const Register r = m.registers.at(static_cast<std::size_t>(i));
  return r != none ? r : m.spare;
}

void Emitter::put_target(const Movement& m, int i) {
  if (m.registers.at(static_cast<std::size_t>(i)) == none) put(row_piece(m, i), m.spare);
}

Register Emitter::source(const Movement& m, int i) {
  const Register r = m.registers.at(static_cast<std::size_t>(i));
  if (r != none) return r;
  vmovups(vector(m.spare), at(row_piece(m, i).piece()));
  return m.spare;
}

void Emitter::emit_load(const Movement& m) {
  const auto shape = m.site + field(offsetof(Site, shape));
  const auto others = [=, this] {
    const auto apart = std::make_shared<Xbyak::Label>();
    cmp(byte[shape], static_cast<int>(Shape::uniform));
    jne(*apart);
    mov(rdx, ptr[m.site + field(offsetof(Site, half_apart))]);
    load_uniform(m);
    jmp(*m.done);
    L(*apart);
    gather(m);
    jmp(*m.done);
  };
  if (m.access.is_vector) {  // one after the other they lie only in vectors of one
    others();
    return;
  }
  const auto other = std::make_shared<Xbyak::Label>();
  cmp(byte[shape], static_cast<int>(Shape::contiguous));
  jne(*other);
  mov(rax, ptr[m.site + field(offsetof(Site, half_apart))]);
  if (m.is_far) prefetch_next(m);
  load_contiguous(m, 0);
  later([=, this] {
    L(*other);
    others();
  });
}

void Emitter::emit_store(const Movement& m) {
  const auto other = std::make_shared<Xbyak::Label>();
  cmp(byte[m.site + field(offsetof(Site, shape))], static_cast<int>(Shape::contiguous));
  jne(*other);
  mov(rax, ptr[m.site + field(offsetof(Site, half_apart))]);
  const int of_half = m.pieces / 2, step = 16 * m.access.memory_bytes / of_half;
  // Where the halves overlap, the later turn stays, and within a turn the lower lane.
  const bool is_one_turn = m.access.memory_bytes <= 4;
  const int first = is_one_turn ? of_half : 0;
  for (int n = 0; n < m.pieces; ++n) {
    const int i = (first + n) % m.pieces;
    const Vector from = vector(source(m, i));
    i < of_half ? vmovups(ptr[rcx + i * step], from)
                : vmovups(ptr[rcx + rax + (i - of_half) * step], from);
  }
  later([=, this] {
    L(*other);
    scatter(m);
    jmp(*m.done);
  });
}

/// r9: where lane 0 is, or would be, if the active lanes are each where its number says.
void Emitter::find_first_place(const Movement& m) {
  tzcnt(r9d, r8d);
  imul(r9, r9, m.access.memory_bytes);
  neg(r9);
  add(r9, rcx);
}

void Emitter::emit_load_of_some(const Movement& m) {
  const auto layout = m.site + field(offsetof(Site, layout));
  const auto others = [=, this] {
    const auto apart = std::make_shared<Xbyak::Label>();
    test(byte[layout], some_uniform);
    jz(*apart);
    xor_(edx, edx);
    load_uniform(m);
    jmp(*m.done);
    L(*apart);
    gather(m);
    jmp(*m.done);
  };
  if (m.access.is_vector) {
    others();
    return;
  }
  const auto other = std::make_shared<Xbyak::Label>();
  test(byte[layout], some_contiguous);
  jz(*other);
  find_first_place(m);
  const int step = 32 * m.access.memory_bytes / m.pieces;
  for (int i = 0; i < m.pieces; ++i) {
    const Xbyak::Opmask k = set_->some(row_piece(m, i));
    load_pieces(m.access, vector(target(m, i)) | k | Xbyak::util::T_z, ptr[r9 + i * step]);
    put_target(m, i);
  }
  later([=, this] {
    L(*other);
    others();
  });
}

void Emitter::emit_store_of_some(const Movement& m) {
  const auto other = std::make_shared<Xbyak::Label>();
  test(byte[m.site + field(offsetof(Site, layout))], some_contiguous);
  jz(*other);
  find_first_place(m);
  const int step = 32 * m.access.memory_bytes / m.pieces;
  for (int i = 0; i < m.pieces; ++i) {
    const Xbyak::Opmask k = set_->some(row_piece(m, i));
    const Vector from = vector(source(m, i));
    m.access.row_bytes == 8 ? vmovupd(ptr[r9 + i * step] | k, from)
                            : vmovups(ptr[r9 + i * step] | k, from);
  }
  later([=, this] {
    L(*other);
    scatter(m);
    jmp(*m.done);
  });
}

}  // namespace warpmeter::model::native
