// SPDX-License-Identifier: MIT
// The meaning of video instructions by PTX; of those on single numbers also what else an H200
// answers (ptxas has to write them with other instructions).
#include "tests/collector/model/reference/video.h"

#include <algorithm>

#include "tests/collector/model/reference/integers.h"

namespace warpmeter::model::reference {
namespace {

using Sources = std::array<std::uint64_t, 4>;

/// "h31" of "%r1.h31".
std::string parts_named(const Line& line, std::size_t operand) {
  if (operand >= line.operands.size()) return "";
  const std::string& text = line.operands[operand][0];
  const std::size_t dot = text.find('.');
  return dot == std::string::npos ? "" : text.substr(dot + 1);
}
bool is_negated(const Line& line, std::size_t operand) {
  return line.operands[operand][0].starts_with("-%");
}

Words types_in(const Line& line) {
  Words types;
  for (const std::string& word : line.words) {
    if (is_type(word)) types.push_back(word);
  }
  return types;
}

Wide basic(const Line& line, const std::string& kind, Wide a, Wide b) {
  if (kind == "add") return a + b;
  if (kind == "sub") return a - b;
  if (kind == "avrg") return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;  // away from zero
  if (kind == "absdiff") return a < b ? b - a : a - b;
  if (kind == "min") return std::min(a, b);
  if (kind == "max") return std::max(a, b);
  return compares(line.words[3], a, b) ? 1 : 0;
}

/// Each part in full width, then cut or clamped, or all added to the third source.
std::uint64_t by_parts(const Line& line, const Sources& in) {
  const std::string kind = line.words[0].substr(1, line.words[0].size() - 2);
  const int count = line.words[0].back() - '0', bits = 32 / count;
  Words types = types_in(line);
  if (kind == "set") types.insert(types.begin(), "u32");
  const Type to{types[0][0], bits};
  const std::uint64_t both = in[1] << 32 | low(in[0], 32);
  const auto place = [&](std::size_t operand, int i, int otherwise) {
    const std::string named = parts_named(line, operand);
    return named.empty() ? otherwise : named[static_cast<std::size_t>(count - i)] - '0';
  };
  const std::string written = parts_named(line, 0);
  std::uint64_t parts = 0;
  Wide sum = number(in[2], {'u', 32});
  for (int i = 0; i < count; ++i) {
    const Wide a = number(both >> place(1, i, i) * bits, {types[1][0], bits});
    const Wide b = number(both >> place(2, i, count + i) * bits, {types[2][0], bits});
    Wide value = basic(line, kind, a, b);
    if (line.has("sat")) value = number(clamped(value, to), to);
    const bool is_written =
        written.empty() || written.find(static_cast<char>('0' + i), 1) != std::string::npos;
    parts |= is_written ? low(static_cast<UnsignedWide>(value), bits) << i * bits
                        : low(in[2] >> i * bits, bits) << i * bits;
    if (is_written) sum += value;
  }
  return line.words.back() == "add" ? low(static_cast<UnsignedWide>(sum)) : parts;
}

/// A register, or the part that is named.
Wide taken(std::uint64_t bits, const std::string& part, char kind) {
  if (part.empty()) return number(bits, {kind, 32});
  const int width = part[0] == 'b' ? 8 : 16;
  return number(bits >> (part[1] - '0') * width, {kind, width});
}

std::uint64_t multiplied(const Line& line, const Sources& in) {
  const Words types = types_in(line);
  const auto factor = [&](std::size_t i) {
    const std::string part = parts_named(line, i + 1);
    return taken(in[i], part, part.empty() ? 's' : types[i + 1][0]);
  };
  const bool negates = is_negated(line, 1) != is_negated(line, 2),
             negates_sum = is_negated(line, 3);
  const bool is_signed = types[1] == "s32" || types[2] == "s32" || negates || negates_sum;
  const Wide product = factor(0) * factor(1), summand = number(in[2], {'s', 32});
  Wide sum = (negates ? -product : product) + (negates_sum ? -summand : summand);
  if (line.has("po")) sum += 1;
  if (!is_signed) sum = static_cast<Wide>(low(static_cast<UnsignedWide>(sum)));
  sum >>= line.has("shr7") ? 7 : line.has("shr15") ? 15 : 0;
  const auto bits = low(static_cast<UnsignedWide>(sum));
  if (!line.has("sat")) return bits;
  return clamped(is_signed ? sum : number(bits, {'s', 64}), {is_signed ? 's' : 'u', 32});
}

Wide saturated(Wide value, char kind, int bits, bool is_shift) {
  if (is_shift) {
    const Type as{kind, 32};
    return number(clamped(number(low(static_cast<UnsignedWide>(value)), {'s', 34}), as), as);
  }
  if (bits < 32) {
    const Wide most = (Wide{1} << (kind == 's' ? bits - 1 : bits)) - 1;
    return value < 0 ? most : std::min(value, most);
  }
  if (kind == 's') return number(clamped(value, {'s', 32}), {'s', 32});
  return std::max<Wide>(value, 0);
}

std::uint64_t of_one(const Line& line, const Sources& in) {
  const std::string kind = line.words[0].substr(1);
  Words types = types_in(line);
  if (kind == "set") types.insert(types.begin(), types[0]);
  const bool is_shift = kind == "shl" || kind == "shr";
  const std::string to = parts_named(line, 0);
  const int bits = to.empty() ? 32 : to[0] == 'b' ? 8 : 16;
  const Wide a = taken(in[0], parts_named(line, 1), types[1][0]);
  const Wide b = taken(in[1], parts_named(line, 2), types[2][0]);
  const int by = static_cast<int>(line.has("wrap") ? b & 31 : std::min<Wide>(b, 32));
  Wide value = kind == "shl" ? a << by : kind == "shr" ? a >> by : basic(line, kind, a, b);
  value = number(low(static_cast<UnsignedWide>(value)), {'s', 64});
  if (line.has("sat")) value = saturated(value, types[0][0], bits, is_shift);
  if (!to.empty()) {
    const int at = (to[1] - '0') * bits;
    const std::uint64_t mask = low(~UnsignedWide{0}, bits) << at;
    const auto result = low(static_cast<UnsignedWide>(value));
    return ((to == "h1" ? result : result << at) & mask) | (in[2] & ~mask);
  }
  const std::string second = line.words.back();
  if (second == "add") return low(static_cast<UnsignedWide>(value)) + in[2];
  if (second != "min" && second != "max") return low(static_cast<UnsignedWide>(value));
  const auto compared = [&](Wide x) {
    return types[0] == "s32" ? x : static_cast<Wide>(low(static_cast<UnsignedWide>(x)));
  };
  if (kind == "add" || kind == "sub" || (is_shift && line.has("sat"))) {
    value = number(low(static_cast<UnsignedWide>(value)), {'s', 32});
  }
  const Wide x = compared(value), c = number(in[2], {types[0][0], 32});
  return low(static_cast<UnsignedWide>(second == "min" ? std::min(x, c) : std::max(x, c)));
}

}  // namespace

std::uint64_t video_value(const Line& line, const std::array<std::uint64_t, 4>& in) {
  const std::string& name = line.words[0];
  if (name == "vmad") return multiplied(line, in);
  return name.back() == '2' || name.back() == '4' ? by_parts(line, in) : of_one(line, in);
}

}  // namespace warpmeter::model::reference
