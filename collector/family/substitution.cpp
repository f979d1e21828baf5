// SPDX-License-Identifier: MIT
#include "collector/family/substitution.h"

#include <cctype>
#include <cstddef>

#include "base/words.h"

namespace warpmeter::family {
namespace {

constexpr std::size_t none = std::string_view::npos;

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_one_of(char c, std::string_view all) { return all.find(c) != none; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::size_t skip_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

/// Those that have an = which is no assignment.
bool is_comparison(std::string_view two) {
  return two == "==" || two == "<=" || two == ">=" || two == "!=";
}

/// Behind the number or the word that begins there; the sign of "1e-3" is part of the number.
std::size_t end_of_word(std::string_view text, std::size_t at) {
  const bool is_number = is_digit(text[at]) || text[at] == '.';
  const bool is_hexadecimal = text.substr(at, 2) == "0x" || text.substr(at, 2) == "0X";
  const std::string_view exponents = is_hexadecimal ? "pP" : "eE";
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (is_of_word(c) || (is_number && (c == '.' || c == '\''))) continue;
    const bool is_sign = is_number && (c == '+' || c == '-') && is_one_of(text[at - 1], exponents);
    if (!is_sign) break;
  }
  return at;
}

/// Behind the bracket that closes the one at `open`; none: it stays open.
std::size_t end_of_bracket(std::string_view text, std::size_t open) {
  const char opens = text[open];
  const char closes = opens == '(' ? ')' : opens == '[' ? ']' : opens == '{' ? '}' : '>';
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == opens) ++depth;
    if (text[i] == closes && --depth == 0) return i + 1;
  }
  return none;
}

/// True if a * or & of a type stands there: nothing that it could be applied to follows.
bool is_of_type(std::string_view text, std::size_t at) {
  if (!is_one_of(text[at], "*&")) return false;
  while (at < text.size() && (text[at] == '*' || text[at] == '&' || is_space(text[at]))) ++at;
  if (at == text.size()) return true;
  const std::string_view word = text.substr(at, end_of_word(text, at) - at);
  return word == "const" || word == "volatile" || word == "__restrict__";
}

}  // namespace

std::string_view template_arguments(std::string_view kernel) {
  const std::size_t open = kernel.find('<');
  return open == none ? "" : kernel.substr(open);
}

bool is_operation(std::string_view value) {
  enum class Last { nothing, word, bracket, sign } last = Last::nothing;
  bool has_operator = false;
  for (std::size_t i = skip_spaces(value, 0); i < value.size(); i = skip_spaces(value, i)) {
    const char c = value[i];
    const std::string_view two = value.substr(i, 2);
    const bool is_fraction = c == '.' && two.size() == 2 && is_digit(two[1]);
    if (is_of_word(c) || is_fraction) {
      if (last == Last::word) return false;  // "unsigned int", "return x"
      i = end_of_word(value, i);
      last = Last::word;
    } else if (c == '"' || c == '\'') {
      const std::size_t end = value.find(c, i + 1);
      if (end == none) return false;
      i = end + 1;
      last = Last::word;
    } else if (c == '(' || c == '[' || c == '{') {
      i = end_of_bracket(value, i);
      if (i == none) return false;
      last = Last::bracket;
    } else if (c == '<' && two != "<<" && two != "<=" && last == Last::word &&
               end_of_bracket(value, i) != none) {  // "pair<int, 4>"
      i = end_of_bracket(value, i);
    } else if (two == "::" || c == '.') {
      i += two == "::" ? 2 : 1;
      last = Last::nothing;
    } else if (is_comparison(two) || (is_one_of(c, "+-*/%&|^<>!~?:") && !is_of_type(value, i))) {
      i += is_comparison(two) ? 2 : 1;
      last = Last::sign;
    } else {
      return false;  // a type, an assignment, a list, a statement
    }
    has_operator = has_operator || last == Last::sign;
  }
  return has_operator && (last == Last::word || last == Last::bracket);
}

std::string as_operand(std::string_view value) {
  const std::string text(value);
  return is_operation(value) ? "(" + text + ")" : text;
}

std::string with_values(std::string_view kernel,
                        const std::map<std::string, std::string, std::less<>>& values) {
  const std::string_view arguments = template_arguments(kernel);
  std::string result(kernel.substr(0, kernel.size() - arguments.size()));
  std::size_t copied = 0;
  for_each_word(arguments, [&](std::size_t begin, std::string_view word) {
    const auto found = values.find(word);
    if (found == values.end()) return;
    const std::string& value = found->second;
    result += arguments.substr(copied, begin - copied);
    copied = begin + word.size();
    std::size_t before = begin - 1;  // the < at least
    while (is_space(arguments[before])) --before;
    const std::size_t after = skip_spaces(arguments, copied);
    const bool is_whole = is_one_of(arguments[before], "<,") && after < arguments.size() &&
                          is_one_of(arguments[after], ",>");
    // A > would end the arguments.
    const bool is_plain = is_whole && value.find('>') == none;
    result += is_plain ? value : as_operand(value);
  });
  result += arguments.substr(copied);
  return result;
}

}  // namespace warpmeter::family
