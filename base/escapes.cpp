// SPDX-License-Identifier: MIT
#include "base/escapes.h"

#include <fmt/format.h>

#include <cctype>

namespace warpmeter {
namespace {

std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return "";
  }
}

}  // namespace

std::string percent_encoded(std::string_view text, const std::function<bool(char)>& is_special) {
  std::string encoded;
  for (const char c : text) {
    encoded +=
        is_special(c) ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return encoded;
}

std::string percent_encoded_but(std::string_view text, std::string_view safe) {
  return percent_encoded(text, [safe](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) == 0 && safe.find(c) == safe.npos;
  });
}

std::string escaped_markup(std::string_view text, std::string_view special) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    const bool is_special = special.find(c) != special.npos && !entity_of(c).empty();
    if (is_special) {
      escaped += entity_of(c);
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace warpmeter
