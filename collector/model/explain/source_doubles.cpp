// SPDX-License-Identifier: MIT
#include "collector/model/explain/source_doubles.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace warpmeter::model::explain {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_of_number(char c) { return is_of_name(c) || c == '.'; }

std::size_t end_of_digits(std::string_view code, std::size_t at) {
  while (at < code.size() && is_digit(code[at])) ++at;
  return at;
}

/// The end of the exponent that begins there; `at` where there is none.
std::size_t end_of_exponent(std::string_view code, std::size_t at) {
  std::size_t digits = at;
  if (digits == code.size() || (code[digits] != 'e' && code[digits] != 'E')) return at;
  ++digits;
  if (digits < code.size() && (code[digits] == '+' || code[digits] == '-')) ++digits;
  const std::size_t end = end_of_digits(code, digits);
  return end == digits ? at : end;
}

/// M_PI and the like.
bool is_constant_of_math(std::string_view name) {
  return name.size() > 2 && name.starts_with("M_") &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
         });
}

/// True if one of the code's names is one that `is_wanted` says.
template <class IsWanted>
bool has_name(std::string_view code, IsWanted is_wanted) {
  for (std::size_t at = 0; at < code.size(); ++at) {
    const std::size_t begin = at;
    while (at < code.size() && is_of_name(code[at])) ++at;
    if (at > begin && is_wanted(code.substr(begin, at - begin))) return true;
  }
  return false;
}

}  // namespace

bool has_double_literal(std::string_view code) {
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (at > 0 && is_of_number(code[at - 1])) continue;
    const std::size_t whole = end_of_digits(code, at);
    const bool has_point = whole < code.size() && code[whole] == '.';
    const std::size_t mantissa = has_point ? end_of_digits(code, whole + 1) : whole;
    const bool has_digits = mantissa - at > (has_point ? 1U : 0U);
    const std::size_t end = end_of_exponent(code, mantissa);
    const bool is_double = has_digits && (has_point || end > mantissa);
    if (is_double && (end == code.size() || !is_of_number(code[end]))) return true;
  }
  return false;
}

const char* cause_of_doubles(std::string_view line) {
  const std::string_view code = line.substr(0, line.find("//"));
  if (has_double_literal(code)) return "A literal without f makes it so";
  if (has_name(code, is_constant_of_math)) return "A constant of math.h is a double";
  const auto is_type = [](std::string_view name) { return name == "double"; };
  if (has_name(code, is_type)) return "The line asks for double";
  return "The line computes in double";
}

}  // namespace warpmeter::model::explain
