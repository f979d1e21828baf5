// SPDX-License-Identifier: MIT
// A line of PTX taken apart, and the numbers that registers hold, for the reference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpmeter::model::reference {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;
using Words = std::vector<std::string>;

struct Type {
  char kind = 'u';  ///< u, s, b, f, h for bf16, t for tf32, e for e4m3, m for e5m2, or p
  int bits = 32;    ///< the bits of one number
  int parts = 1;    ///< numbers

  bool is_float() const {
    return kind == 'f' || kind == 'h' || kind == 't' || kind == 'e' || kind == 'm';
  }
  Type part() const { return {kind, bits, 1}; }
};
bool is_type(const std::string& word);
Type type_of(const std::string& word);

/// "@!%p1 mad.lo.u32 %r1, {%r2, %r3}, [%ms+4];"
struct Line {
  std::string guard;            ///< "!%p1"; empty: none
  Words words;                  ///< "mad", "lo", "u32"
  std::vector<Words> operands;  ///< each with its parts: of a vector or a pair more than one

  bool has(const char* word) const;
  Type type() const { return type_of(words.back()); }
};
/// The same text is taken apart once.
const Line& parse_line(const std::string& text);

/// The low bits of a number.
inline UnsignedWide cut(UnsignedWide value, int bits) {
  return bits >= 128 ? value : value & ((UnsignedWide{1} << bits) - 1);
}
inline std::uint64_t low(UnsignedWide value, int bits = 64) {
  return static_cast<std::uint64_t>(cut(value, bits));
}
/// An integer register's number, as its type says.
Wide number(std::uint64_t bits, Type type);
/// The clamped number; in a wider register, extended as the type says.
std::uint64_t clamped(Wide value, Type type);

/// The bits that a register of a name holds.
int register_bits(const std::string& name);

}  // namespace warpmeter::model::reference
