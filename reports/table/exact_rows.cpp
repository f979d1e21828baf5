// SPDX-License-Identifier: MIT
#include "reports/table/exact_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <set>

#include "reports/table/json.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

void append_integer(std::string& text, std::int64_t number) {
  const fmt::format_int digits(number);
  text.append(digits.data(), digits.size());
}

/// "-65", "+3,100", "1e-7", "+300 %": what a spreadsheet reads as the number that it is.
bool is_number(std::string_view field) {
  const std::string_view digits = "0123456789";
  if (field.front() == '+' || field.front() == '-') field.remove_prefix(1);
  if (field.ends_with('%')) field.remove_suffix(1);
  if (field.ends_with(' ')) field.remove_suffix(1);
  if (field.empty() || digits.find(field.front()) == std::string_view::npos) return false;
  const std::size_t end = field.find_first_not_of("0123456789,.");
  if (end == std::string_view::npos) return true;
  if (field[end] != 'e' && field[end] != 'E') return false;
  field.remove_prefix(end + 1);
  if (field.starts_with('+') || field.starts_with('-')) field.remove_prefix(1);
  return !field.empty() && field.find_first_not_of(digits) == std::string_view::npos;
}

/// "@default", "@shared, @global": a list of names, which calls nothing.
bool is_names(std::string_view field) {
  return field.starts_with('@') && std::all_of(field.begin(), field.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '@' || c == '_' || c == ',' || c == '.' || c == ' ';
         });
}

/// Would a spreadsheet run it? The beginnings are those that OWASP names for "CSV injection", also
/// in full width, which spreadsheets of some languages take for the same.
bool is_formula(std::string_view field) {
  constexpr std::array<std::string_view, 11> beginnings = {"=",  "+",  "-",  "@",  "\t", "\r",
                                                           "\n", "＝", "＋", "－", "＠"};
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return field.starts_with(beginning); }) &&
         !is_number(field) && !is_names(field);
}

/// A text that a spreadsheet would run gets an apostrophe, which makes it text there.
void append_csv_text(std::string& text, std::string_view field) {
  const bool formula = is_formula(field);
  if (!field.empty() && !formula && field.find_first_of(",\"\r\n") == std::string_view::npos) {
    text += field;
    return;
  }
  text += formula ? "\"'" : "\"";
  for (const char c : field) {
    if (c == '"') text += '"';
    text += c;
  }
  text += '"';
}

void append_json_text(std::string& text, std::string_view string) {
  const bool plain = std::all_of(string.begin(), string.end(), [](char c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
  });
  if (plain) {
    text += '"';
    text += string;
    text += '"';
  } else {
    text += json_text(string);
  }
}

void append_json_number(std::string& text, double number) {
  constexpr double largest_exact_integer = 9007199254740992.0;  // 2^53
  if (!std::isfinite(number)) {
    text += "null";
  } else if (number == std::trunc(number) && std::abs(number) <= largest_exact_integer) {
    append_integer(text, static_cast<std::int64_t>(number));
  } else {
    text += json_text(number);
  }
}

}  // namespace

std::vector<std::string> distinct_names(std::span<const std::string> names) {
  std::vector<std::string> distinct;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    std::string free = name;
    for (int n = 2; !taken.insert(free).second; ++n) free = fmt::format("{}_{}", name, n);
    distinct.push_back(std::move(free));
  }
  return distinct;
}

void append_csv(std::string& text, const schema::Value& value) {
  if (const auto* string = std::get_if<std::string>(&value)) {
    append_csv_text(text, *string);
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    append_integer(text, *whole);
  } else if (const auto* real = std::get_if<double>(&value)) {
    text += exact_number(*real);
  }
}

void append_csv_row(std::string& text, std::span<const schema::Value> row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) text += ',';
    append_csv(text, row[i]);
  }
  text += '\n';
}

void append_json(std::string& text, const schema::Value& value) {
  if (const auto* string = std::get_if<std::string>(&value)) {
    append_json_text(text, *string);
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    append_integer(text, *whole);
  } else if (const auto* real = std::get_if<double>(&value)) {
    append_json_number(text, *real);
  } else {
    text += "null";
  }
}

JsonRows::JsonRows(std::span<const std::string> columns) {
  for (const std::string& name : columns) {
    std::string& key = keys_.emplace_back(keys_.empty() ? "{" : ",");
    append_json_text(key, name);
    key += ':';
  }
}

void JsonRows::append(std::string& text, std::span<const schema::Value> row) const {
  for (std::size_t i = 0; i < row.size(); ++i) {
    text += keys_[i];
    append_json(text, row[i]);
  }
  text += row.empty() ? "{}" : "}";
}

}  // namespace warpmeter::reports
