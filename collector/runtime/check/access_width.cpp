// SPDX-License-Identifier: MIT
#include "collector/runtime/check/access_width.h"

namespace warpmeter::runtime {
namespace {

using Byte = unsigned char;

/// The prefixes before the opcode (Intel's manual, volume 2, chapter 2).
struct Prefixes {
  bool is_66 = false, is_f2 = false, is_f3 = false, is_wide = false;  ///< REX.W, VEX.W
  bool is_vector = false;                                             ///< VEX or EVEX
  std::uint64_t vector_bytes = 16;
  unsigned map = 0;  ///< 0: one byte; 1: 0F; 2: 0F 38; 3: 0F 3A
};

void take_simd_prefix(Prefixes& prefixes, unsigned pp) {
  prefixes.is_66 = pp == 1;
  prefixes.is_f3 = pp == 2;
  prefixes.is_f2 = pp == 3;
}

const Byte* skip_prefixes(const Byte* at, Prefixes& prefixes) {
  for (;; ++at) {
    const Byte byte = *at;
    if (byte == 0x66) {
      prefixes.is_66 = true;
    } else if (byte == 0xf2) {
      prefixes.is_f2 = true;
      prefixes.is_f3 = false;
    } else if (byte == 0xf3) {
      prefixes.is_f3 = true;
      prefixes.is_f2 = false;
    } else if (byte != 0xf0 && byte != 0x2e && byte != 0x36 && byte != 0x3e && byte != 0x26 &&
               byte != 0x64 && byte != 0x65 && byte != 0x67) {
      break;
    }
  }
  if (*at == 0xc5) {
    prefixes.is_vector = true;
    prefixes.map = 1;
    prefixes.vector_bytes = (at[1] & 4) != 0 ? 32 : 16;
    take_simd_prefix(prefixes, at[1] & 3U);
    return at + 2;
  }
  if (*at == 0xc4) {
    prefixes.is_vector = true;
    prefixes.map = at[1] & 0x1fU;
    prefixes.is_wide = (at[2] & 0x80) != 0;
    prefixes.vector_bytes = (at[2] & 4) != 0 ? 32 : 16;
    take_simd_prefix(prefixes, at[2] & 3U);
    return at + 3;
  }
  if (*at == 0x62) {
    prefixes.is_vector = true;
    // With a mask, or one value for all lanes, it is fewer bytes than the register's.
    const bool is_whole = (at[3] & 0x17) == 0;
    prefixes.map = is_whole ? at[1] & 7U : 7U;
    prefixes.is_wide = (at[2] & 0x80) != 0;
    prefixes.vector_bytes = std::uint64_t{16} << ((at[3] >> 5) & 3U);
    take_simd_prefix(prefixes, at[2] & 3U);
    return at + 4;
  }
  if ((*at & 0xf0) == 0x40) prefixes.is_wide = (*at++ & 8) != 0;
  if (*at != 0x0f) return at;
  prefixes.map = at[1] == 0x38 ? 2 : at[1] == 0x3a ? 3 : 1;
  return at + (prefixes.map == 1 ? 1 : 2);
}

/// The bytes of general registers.
std::uint64_t integer_bytes(const Prefixes& prefixes) {
  return prefixes.is_wide ? 8 : prefixes.is_66 ? 2 : 4;
}

std::uint64_t of_one_byte_opcode(Byte opcode, const Prefixes& prefixes) {
  if (opcode < 0x40) return (opcode & 7) < 4 && (opcode & 1) != 0 ? integer_bytes(prefixes) : 1;
  if (opcode == 0x63) return 4;
  switch (opcode) {
    case 0x69:
    case 0x6b:
    case 0x81:
    case 0x83:
    case 0x85:
    case 0x87:
    case 0x89:
    case 0x8b:
    case 0xa5:
    case 0xa7:
    case 0xab:
    case 0xad:
    case 0xaf:
    case 0xc1:
    case 0xc7:
    case 0xd1:
    case 0xd3:
    case 0xf7:
      return integer_bytes(prefixes);
    default:
      return 1;
  }
}

/// Moves, arithmetic and comparisons of one value or of a whole register.
std::uint64_t of_vectors(Byte opcode, const Prefixes& prefixes) {
  const std::uint64_t whole = prefixes.vector_bytes;
  const bool is_one = prefixes.is_f3 || prefixes.is_f2;
  const std::uint64_t one = prefixes.is_f3 ? 4 : 8;
  switch (opcode) {
    case 0x10:  // movups, movupd, movss, movsd
    case 0x11:
      return is_one ? one : whole;
    case 0x12:  // movlps, movhps and their like
    case 0x13:
    case 0x16:
    case 0x17:
      return is_one ? 1 : 8;
    case 0x28:  // movaps, movapd
    case 0x29:
    case 0x2b:
    case 0xe7:  // movntdq
    case 0x6f:  // movdqa, movdqu
    case 0x7f:
      return !prefixes.is_66 && !is_one && !prefixes.is_vector && opcode != 0x28 &&
                     opcode != 0x29 && opcode != 0x2b
                 ? 8  // for MMX
                 : whole;
    case 0x2a:  // cvtsi2ss, cvtsi2sd
      return is_one ? (prefixes.is_wide ? 8 : 4) : 1;
    case 0x2e:  // ucomiss, ucomisd, comiss, comisd
    case 0x2f:
      return prefixes.is_66 ? 8 : 4;
    case 0x51:  // sqrt, and, or, xor, add, mul, sub, min, div, max
    case 0x54:
    case 0x56:
    case 0x57:
    case 0x58:
    case 0x59:
    case 0x5c:
    case 0x5d:
    case 0x5e:
    case 0x5f:
      return is_one ? one : whole;
    case 0x5a:  // between float and double
      return is_one ? one : prefixes.is_66 ? whole : whole / 2;
    case 0x6e:  // movd, movq
      return prefixes.is_wide ? 8 : 4;
    case 0x7e:
      return prefixes.is_f3 || prefixes.is_wide ? 8 : 4;
    case 0xd6:
      return 8;
    case 0x74:  // pcmpeq, padd, pmin and their like
    case 0x75:
    case 0x76:
    case 0xd4:
    case 0xda:
    case 0xef:
    case 0xeb:
    case 0xdb:
    case 0xfa:
    case 0xfe:
      return prefixes.is_66 ? whole : 8;
    case 0xf0:  // lddqu
      return whole;
    default:
      return 1;
  }
}

}  // namespace

std::uint64_t accessed_bytes(const void* instruction) {
  Prefixes prefixes;
  const Byte* at = skip_prefixes(static_cast<const Byte*>(instruction), prefixes);
  if (prefixes.map == 0) return of_one_byte_opcode(*at, prefixes);
  if (prefixes.map != 1) return 1;
  const bool is_vex_only = prefixes.is_vector;
  switch (*at) {
    case 0xb6:  // movzx, movsx
    case 0xbe:
      return 1;
    case 0xb7:
    case 0xbf:
      return is_vex_only ? 1 : 2;
    case 0xaf:  // imul, cmpxchg, xadd
    case 0xb1:
    case 0xc1:
      return is_vex_only ? 1 : integer_bytes(prefixes);
    default:
      break;
  }
  if ((*at & 0xf0) == 0x40) return is_vex_only ? 1 : integer_bytes(prefixes);  // cmov
  return of_vectors(*at, prefixes);
}

}  // namespace warpmeter::runtime
