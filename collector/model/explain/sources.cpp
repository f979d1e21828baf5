// SPDX-License-Identifier: MIT
#include "collector/model/explain/sources.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "base/expression.h"
#include "base/words.h"

namespace warpmeter::model::explain {
namespace {

/// Where the word stands alone in the text, from a place on; npos: nowhere.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  for (std::size_t at = text.find(word, from); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_of_word(text[at - 1])) && (end == text.size() || !is_of_word(text[end]))) {
      return at;
    }
  }
  return std::string_view::npos;
}

constexpr int deepest_constant = 4;
constexpr std::int64_t largest_extent = std::int64_t{1} << 20;

std::optional<std::int64_t> value_of(std::string_view source, std::string_view expression,
                                     int depth);

/// The value of a name by `#define NAME 16` or `constexpr int NAME = 2 * OTHER;`.
std::optional<std::int64_t> constant_of(std::string_view source, std::string_view name, int depth) {
  if (depth > deepest_constant) return std::nullopt;
  for (std::size_t at = find_word(source, name, 0); at != std::string_view::npos;
       at = find_word(source, name, at + 1)) {
    const std::size_t before = source.rfind('\n', at);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view head = source.substr(begin, at - begin);
    const std::string_view rest = source.substr(at + name.size());
    const std::string_view line = rest.substr(0, rest.find('\n'));
    std::string_view value;
    if (head.find("#define") != std::string_view::npos) {
      value = line.substr(0, line.find("//"));
    } else if (head.find("const") != std::string_view::npos) {
      const std::size_t equals = line.find_first_not_of(" \t");
      if (equals == std::string_view::npos || line[equals] != '=') continue;
      value = line.substr(equals + 1, line.find_first_of(";,") - equals - 1);
    }
    if (value.empty()) continue;
    if (const auto number = value_of(source, value, depth + 1)) return number;
  }
  return std::nullopt;
}

std::optional<std::int64_t> value_of(std::string_view source, std::string_view expression,
                                     int depth) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t begin = expression.find_first_not_of(blank);
  if (begin == std::string_view::npos) return std::nullopt;  // for a dynamic array
  expression = expression.substr(begin, expression.find_last_not_of(blank) + 1 - begin);
  std::int64_t number = 0;  // mostly it is one
  const auto [end, fault] =
      std::from_chars(expression.data(), expression.data() + expression.size(), number);
  if (fault == std::errc() && end == expression.data() + expression.size()) {
    return number > 0 && number <= largest_extent ? std::optional(number) : std::nullopt;
  }
  const bool is_number = expression.front() >= '0' && expression.front() <= '9';
  if (!is_number && std::all_of(expression.begin(), expression.end(), is_of_word)) {  // or a name
    return constant_of(source, expression, depth);
  }
  Symbols symbols;
  for (const std::string& name : names_in(expression)) {
    const auto known = constant_of(source, name, depth);
    if (!known) return std::nullopt;
    symbols[name] = *known;
  }
  try {
    return evaluate_whole(expression, symbols, 1, largest_extent);
  } catch (const ExpressionFault&) {
    return std::nullopt;
  }
}

/// Bytes of a type by its name; 0: not known, as of a template's parameter.
std::uint32_t bytes_of_type(std::string_view declaration) {
  struct Named {
    std::string_view name;
    std::uint32_t bytes;
  };
  static constexpr Named types[] = {
      {"char", 1},     {"uchar", 1},    {"bool", 1},     {"int8_t", 1},  {"uint8_t", 1},
      {"short", 2},    {"ushort", 2},   {"half", 2},     {"__half", 2},  {"int16_t", 2},
      {"uint16_t", 2}, {"double", 8},   {"size_t", 8},   {"float2", 8},  {"int2", 8},
      {"uint2", 8},    {"int64_t", 8},  {"uint64_t", 8}, {"float4", 16}, {"int4", 16},
      {"uint4", 16},   {"double2", 16}, {"uchar4", 4},   {"char4", 4},   {"half2", 4},
      {"__half2", 4},  {"int32_t", 4},  {"uint32_t", 4}, {"float", 4},   {"int", 4},
      {"unsigned", 4},
  };
  for (const Named& type : types) {
    if (find_word(declaration, type.name, 0) != std::string_view::npos) return type.bytes;
  }
  return 0;
}

/// The expressions in brackets from a place on: [a][b].
std::vector<std::string_view> bracketed(std::string_view text) {
  std::vector<std::string_view> all;
  std::size_t at = text.find_first_not_of(" \t\n");
  while (at != std::string_view::npos && text[at] == '[') {
    const std::size_t end = text.find(']', at);
    if (end == std::string_view::npos) break;
    all.push_back(text.substr(at + 1, end - at - 1));
    at = text.find_first_not_of(" \t\n", end + 1);
  }
  return all;
}

/// Where a line ends, from 1; of 0, and where there is none, where the text ends.
std::size_t end_of_line(std::string_view text, int line) {
  std::size_t end = text.size();
  for (std::size_t at = 0; line > 0 && end != std::string_view::npos; --line, at = end + 1) {
    end = text.find('\n', at);
  }
  return std::min(end, text.size());
}

std::vector<std::uint32_t> declared_extents(std::string_view source, const Sources::Array& array) {
  constexpr std::string_view keyword = "__shared__";
  for (std::size_t at = source.rfind(keyword, end_of_line(source, array.last_line));
       at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : source.rfind(keyword, at - 1)) {
    const std::string_view statement = source.substr(at, source.find(';', at) - at);
    const std::size_t found = find_word(statement, array.name, keyword.size());
    if (found == std::string_view::npos) continue;
    std::vector<std::uint32_t> extents;
    std::uint64_t elements = 1;
    for (const std::string_view expression :
         bracketed(statement.substr(found + array.name.size()))) {
      const auto extent = value_of(source, expression, 0);
      extents.push_back(static_cast<std::uint32_t>(extent.value_or(0)));
      elements *= extents.back();
    }
    if (elements == 0 || array.bytes % elements != 0) continue;
    const auto element = static_cast<std::uint32_t>(array.bytes / elements);
    const std::uint32_t known = bytes_of_type(statement.substr(0, found));
    // A type that is not known is a template's parameter, or a structure.
    const bool may_be = extents.size() == 1 ? element % 4 == 0 || element <= 2
                                            : std::has_single_bit(element) && element <= 16;
    if (known != 0 ? element == known : may_be) return extents;
  }
  return {};
}

}  // namespace

Sources::File& Sources::of(const std::string& file) {
  const auto known = files_.find(file);
  return known != files_.end() ? known->second
                               : files_.try_emplace(file, read_(file)).first->second;
}

std::string_view Sources::from_line(const std::string& file, int line) {
  File& source = of(file);
  if (source.lines.empty()) {
    source.lines.push_back(0);
    for (std::size_t end = 0; (end = source.text.find('\n', end)) != std::string::npos;) {
      source.lines.push_back(++end);
    }
  }
  const auto number = static_cast<std::size_t>(line) - 1;
  if (line < 1 || number >= source.lines.size()) return {};
  return std::string_view(source.text).substr(source.lines[number]);
}

const std::vector<std::uint32_t>& Sources::extents(const std::string& file, const Array& array) {
  File& source = of(file);
  const auto known = source.extents.find(array);
  if (known != source.extents.end()) return known->second;
  return source.extents.emplace(array, declared_extents(source.text, array)).first->second;
}

}  // namespace warpmeter::model::explain
