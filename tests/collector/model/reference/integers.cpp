// SPDX-License-Identifier: MIT
#include "tests/collector/model/reference/integers.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "tests/collector/model/reference/video.h"

namespace warpmeter::model::reference {
namespace {

using Sources = std::array<std::uint64_t, 4>;

std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint64_t low_of(Wide value) { return low(static_cast<UnsignedWide>(value)); }

int leading_zeros(std::uint64_t bits, int width) { return std::countl_zero(bits) - (64 - width); }

std::uint64_t highest_one(const Line& line, Type type, std::uint64_t a) {
  const Wide value = number(a, type);
  const std::uint64_t searched =
      low(static_cast<UnsignedWide>(value < 0 ? ~value : value), type.bits);
  if (searched == 0) return 0xffffffff;
  const int zeros = leading_zeros(searched, type.bits);
  return static_cast<std::uint64_t>(line.has("shiftamt") ? zeros : type.bits - 1 - zeros);
}

std::uint64_t field(Type type, std::uint64_t a, int position, int length) {
  const int sign_at = std::min(position + length - 1, type.bits - 1);
  const bool sign = type.kind == 's' && length != 0 && (a >> sign_at & 1) != 0;
  std::uint64_t result = 0;
  for (int i = 0; i < type.bits; ++i) {
    const bool bit = i < length && position + i < type.bits ? (a >> (position + i) & 1) != 0 : sign;
    result |= std::uint64_t{bit} << i;
  }
  return result;
}

/// The four bytes that prmt chooses, a nibble each: 8 more for the byte's sign.
std::uint64_t selector(const Line& line, std::uint64_t c) {
  const std::string& mode = line.words.back();
  const std::uint64_t by = c & 3;
  std::uint64_t result = 0;
  for (std::uint64_t i = 0; i < 4; ++i) {
    std::uint64_t chosen = c >> 4 * i & 15;
    if (mode == "f4e") chosen = by + i;
    if (mode == "b4e") chosen = (8 + by - i) & 7;
    if (mode == "rc8") chosen = by;
    if (mode == "ecl") chosen = std::max(i, by);
    if (mode == "ecr") chosen = std::min(i, by);
    if (mode == "rc16") chosen = (by & 1) * 2 + (i & 1);
    result |= chosen << 4 * i;
  }
  return result;
}
std::uint64_t permuted(const Line& line, const Sources& in) {
  const std::uint64_t bytes = std::uint64_t{word(in[1])} << 32 | word(in[0]);
  const std::uint64_t choice = selector(line, in[2]);
  std::uint64_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t chosen = choice >> 4 * i & 15;
    std::uint64_t byte = bytes >> 8 * (chosen & 7) & 255;
    if ((chosen & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}

/// The position of the n-th one, from a base up or down.
std::uint64_t nth_one(std::uint64_t bits, std::uint32_t base, std::int32_t n) {
  constexpr std::uint64_t none = 0xffffffff;
  if (base > 31) return none;
  if (n == 0) return (bits >> base & 1) != 0 ? base : none;
  const int step = n > 0 ? 1 : -1;
  std::int64_t left = n > 0 ? n : -std::int64_t{n};
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step) {
    if ((bits >> at & 1) != 0 && --left == 0) return static_cast<std::uint64_t>(at);
  }
  return none;
}

/// dp4a: bytes by bytes; dp2a: halves by the low or high two bytes.
std::uint64_t dot(const Line& line, const Sources& in) {
  const bool by_four = line.words[0] == "dp4a";
  const char a_kind = line.words[line.words.size() - 2][0], b_kind = line.words.back()[0];
  const int a_bits = by_four ? 8 : 16, first_byte = line.has("hi") ? 2 : 0;
  Wide sum = number(in[2], {'u', 32});
  for (int i = 0; i < 32 / a_bits; ++i) {
    sum += number(in[0] >> i * a_bits, {a_kind, a_bits}) *
           number(in[1] >> 8 * (first_byte + i), {b_kind, 8});
  }
  return low_of(sum);
}

bool bit_value(const Line& line, Type type, const Sources& in, std::uint64_t& result) {
  const std::string& name = line.words[0];
  const std::uint64_t a = low(in[0], type.bits), b = in[1], c = in[2];
  // An H200 takes the low 8 bits of a position in 32 bits, and no more than 255 in 64.
  const auto place = [&](std::uint64_t value) {
    return static_cast<int>(type.bits == 32 ? value & 255
                                            : std::min<std::uint64_t>(word(value), 255));
  };
  result = 0;
  if (name == "and") {
    result = a & b;
  } else if (name == "or") {
    result = a | b;
  } else if (name == "xor") {
    result = a ^ b;
  } else if (name == "not") {
    result = ~a;
  } else if (name == "cnot") {
    result = a == 0 ? 1 : 0;
  } else if (name == "popc") {
    result = static_cast<std::uint64_t>(std::popcount(a));
  } else if (name == "clz") {
    result = static_cast<std::uint64_t>(leading_zeros(a, type.bits));
  } else if (name == "brev") {
    for (int i = 0; i < type.bits; ++i) result |= (a >> i & 1) << (type.bits - 1 - i);
  } else if (name == "bfind") {
    result = highest_one(line, type, a);
  } else if (name == "shl") {
    result = word(b) >= 64 ? 0 : low(UnsignedWide{a} << word(b));
  } else if (name == "shr") {
    result = low_of(number(a, type) >> std::min(word(b), std::uint32_t{64}));
  } else if (name == "shf") {
    const std::uint32_t amount = line.has("wrap") ? word(c) & 31 : std::min(word(c), 32u);
    const std::uint64_t both = std::uint64_t{word(b)} << 32 | word(a);
    result = line.has("l") ? both << amount >> 32 : both >> amount;
  } else if (name == "bfe") {
    result = field(type, a, place(b), place(c));
  } else if (name == "szext") {
    result =
        field(type, a, 0, static_cast<int>(line.has("wrap") ? b & 31 : std::min(word(b), 32u)));
  } else if (name == "bmsk") {
    const std::uint32_t from = line.has("wrap") ? word(a) & 31 : word(a);
    const std::uint32_t count = line.has("wrap") ? word(b) & 31 : std::min(word(b), 32u);
    for (std::uint64_t i = from; i < std::min<std::uint64_t>(std::uint64_t{from} + count, 32); ++i)
      result |= std::uint64_t{1} << i;
  } else if (name == "bfi") {
    result = b;
    for (int i = 0; i < place(in[3]) && place(c) + i < type.bits; ++i) {
      const std::uint64_t at = std::uint64_t{1} << (place(c) + i);
      result = (a >> i & 1) != 0 ? result | at : result & ~at;
    }
  } else if (name == "prmt") {
    result = permuted(line, in);
  } else if (name == "lop3") {
    for (int i = 0; i < 32; ++i) {
      const std::uint64_t index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
      result |= (in[3] >> index & 1) << i;
    }
  } else if (name == "fns") {
    result = nth_one(a, word(b), static_cast<std::int32_t>(word(c)));
  } else {
    return false;
  }
  return true;
}

/// add.cc, madc.hi, …: with the carry out of a sum, or into one.
std::uint64_t with_carry(const Line& line, Type type, const Sources& in, bool& carry) {
  const std::string& name = line.words[0];
  const bool subtracts = name.starts_with("sub"), reads = name.back() == 'c';
  UnsignedWide x = cut(in[0], type.bits), y = cut(subtracts ? ~in[1] : in[1], type.bits);
  if (name.starts_with("mad")) {
    const UnsignedWide product = static_cast<UnsignedWide>(number(in[0], type)) *
                                 static_cast<UnsignedWide>(number(in[1], type));
    x = cut(line.has("hi") ? product >> type.bits : product, type.bits);
    y = cut(in[2], type.bits);
  }
  const UnsignedWide sum = x + y + (reads ? UnsignedWide{carry} : UnsignedWide{subtracts});
  if (line.has("cc")) carry = (sum >> type.bits) != 0;
  return low(sum);
}

}  // namespace

bool compares(const std::string& how, Wide a, Wide b) {
  if (how == "eq") return a == b;
  if (how == "ne") return a != b;
  if (how == "lt" || how == "lo") return a < b;
  if (how == "le" || how == "ls") return a <= b;
  if (how == "gt" || how == "hi") return a > b;
  return a >= b;
}

std::uint64_t integer_value(const Line& line, Type type, const Sources& in, bool& carry) {
  const std::string& name = line.words[0];
  if (name.starts_with("dp")) return dot(line, in);
  if (name[0] == 'v') return video_value(line, in);
  if (line.has("cc") || name == "addc" || name == "subc" || name == "madc") {
    return with_carry(line, type, in, carry);
  }
  std::uint64_t bits = 0;
  if (bit_value(line, type, in, bits)) return bits;
  const Wide a = number(in[0], type), b = number(in[1], type), c = number(in[2], type);
  Wide result = 0;
  if (name == "add") {
    result = a + b;
  } else if (name == "sub") {
    result = a - b;
  } else if (name == "mul" || name == "mad") {
    const auto product = static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b);
    const bool is_high = line.has("hi");
    result = static_cast<Wide>(product);
    if (is_high && type.kind == 's') result >>= type.bits;
    if (is_high && type.kind == 'u') result = static_cast<Wide>(product >> type.bits);
    const bool is_wide = line.has("wide");
    if (name == "mad") result += is_wide ? static_cast<Wide>(in[2]) : c;
  } else if (name == "mul24" || name == "mad24") {
    const Type narrow{type.kind, 24};
    const Wide whole = number(in[0], narrow) * number(in[1], narrow);
    result = line.has("hi") ? whole >> 16 : whole;
    // 32 bits of a product of 48 are added.
    if (name == "mad24") result = number(low_of(result), type) + c;
  } else if (name == "div") {
    result = b == 0 ? -1 : a / b;
  } else if (name == "rem") {
    result = b == 0 ? -1 : a % b;
  } else if (name == "min") {
    result = std::min(a, b);
  } else if (name == "max") {
    result = std::max(a, b);
  } else if (name == "abs") {
    result = a < 0 ? -a : a;
  } else if (name == "neg") {
    result = -a;
  } else if (name == "sad") {
    result = c + (a < b ? b - a : a - b);
  } else {
    throw std::invalid_argument("no instruction " + name);
  }
  if (line.has("relu")) result = std::max<Wide>(result, 0);
  return line.has("sat") ? clamped(result, type) : low_of(result);
}

}  // namespace warpmeter::model::reference
