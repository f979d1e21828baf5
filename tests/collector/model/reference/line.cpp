// SPDX-License-Identifier: MIT
#include "tests/collector/model/reference/line.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace warpmeter::model::reference {
namespace {

const std::unordered_map<std::string, Type>& types() {
  static const std::unordered_map<std::string, Type> all = [] {
    std::unordered_map<std::string, Type> known = {
        {"pred", {'p', 1}},      {"f16", {'f', 16}},       {"f32", {'f', 32}},
        {"f64", {'f', 64}},      {"bf16", {'h', 16}},      {"tf32", {'t', 32}},
        {"f16x2", {'f', 16, 2}}, {"bf16x2", {'h', 16, 2}}, {"f32x2", {'f', 32, 2}},
        {"e4m3x2", {'e', 8, 2}}, {"e5m2x2", {'m', 8, 2}},  {"u16x2", {'u', 16, 2}},
        {"s16x2", {'s', 16, 2}}, {"b128", {'b', 128}},
    };
    for (const char kind : {'u', 's', 'b'}) {
      for (const int bits : {8, 16, 32, 64}) {
        known[kind + std::to_string(bits)] = {kind, bits};
      }
    }
    return known;
  }();
  return all;
}

Words split(const std::string& text, char separator) {
  Words words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    const std::size_t first = text.find_first_not_of(" {}[]", at);
    const std::size_t last = text.find_last_not_of(" {}[]", end - 1);
    if (first < end) words.push_back(text.substr(first, last - first + 1));
    at = end + 1;
  }
  return words;
}

Line taken_apart(std::string text) {
  Line line;
  text.erase(text.find(';'));
  if (text[0] == '@') {
    line.guard = text.substr(1, text.find(' ') - 1);
    text.erase(0, text.find(' ') + 1);
  }
  const std::size_t space = std::min(text.find(' '), text.size());
  line.words = split(text.substr(0, space), '.');
  // Commas within braces part the numbers of a vector, others operands.
  std::string operand;
  bool is_vector = false;
  for (const char c : text.substr(space) + ",") {
    if (c == '{') is_vector = true;
    if (c == '}') is_vector = false;
    if (c != ',' || is_vector) {
      operand += c;
      continue;
    }
    const char separator = operand.find('|') != std::string::npos ? '|' : ',';
    Words parts = split(std::exchange(operand, ""), separator);
    if (!parts.empty()) line.operands.push_back(std::move(parts));
  }
  return line;
}

}  // namespace

bool is_type(const std::string& word) { return types().contains(word); }
Type type_of(const std::string& word) {
  const auto found = types().find(word);
  if (found == types().end()) throw std::invalid_argument("no type " + word);
  return found->second;
}

bool Line::has(const char* word) const {
  return std::find(words.begin(), words.end(), word) != words.end();
}

const Line& parse_line(const std::string& text) {
  static std::unordered_map<std::string, Line> known;
  const auto found = known.find(text);
  return found != known.end() ? found->second
                              : known.emplace(text, taken_apart(text)).first->second;
}

Wide number(std::uint64_t bits, Type type) {
  const auto value = static_cast<Wide>(cut(bits, type.bits));
  const bool is_negative = type.kind == 's' && (bits >> (type.bits - 1) & 1) != 0;
  return is_negative ? value - (Wide{1} << type.bits) : value;
}

std::uint64_t clamped(Wide value, Type type) {
  const Wide least = type.kind == 's' ? -(Wide{1} << (type.bits - 1)) : 0;
  const Wide most = (Wide{1} << (type.kind == 's' ? type.bits - 1 : type.bits)) - 1;
  return low(static_cast<UnsignedWide>(std::clamp(value, least, most)));
}

int register_bits(const std::string& name) {
  switch (name[1]) {
    case 'h':
    case 'x':
    case 'y':
      return 16;
    case 'p':
    case 'q':
      return 1;
    case 'd':
    case 'g':
      return 64;
    default:
      return 32;
  }
}

}  // namespace warpmeter::model::reference
