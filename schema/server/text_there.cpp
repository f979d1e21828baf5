// SPDX-License-Identifier: MIT
#include "schema/server/text_there.h"

#include <algorithm>
#include <cstddef>

#include "base/utf8.h"

namespace warpmeter::schema::server {
namespace {

constexpr std::string_view ours = "\xf4\x8f";  // U+10F000 to U+10FFFF begin so

bool is_kept_byte(std::string_view text) {
  return text.size() >= 4 && text.starts_with(ours) &&
         static_cast<unsigned char>(text[2]) >= 0xbc && is_utf8(text.substr(0, 4));
}

/// How many bytes the first character has; 0 when it is none that PostgreSQL takes, or one of ours.
std::size_t plain_character(std::string_view text) {
  if (text.front() == '\0' || is_kept_byte(text)) return 0;
  for (std::size_t bytes = 1; bytes <= std::min<std::size_t>(4, text.size()); ++bytes) {
    if (is_utf8(text.substr(0, bytes))) return bytes;
  }
  return 0;
}

}  // namespace

bool is_same_there(std::string_view text) {
  return is_utf8(text) && text.find('\0') == std::string_view::npos &&
         text.find(ours) == std::string_view::npos;
}

std::string text_there(std::string_view text) {
  if (is_same_there(text)) return std::string(text);
  std::string there;
  while (!text.empty()) {
    const std::size_t bytes = plain_character(text);
    if (bytes > 0) {
      there += text.substr(0, bytes);
    } else {
      const auto byte = static_cast<unsigned char>(text.front());
      there += ours;
      there += static_cast<char>(0xbc | byte >> 6);
      there += static_cast<char>(0x80 | (byte & 0x3f));
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return there;
}

std::string text_here(std::string_view text) {
  if (text.find(ours) == std::string_view::npos) return std::string(text);
  std::string here;
  while (!text.empty()) {
    if (is_kept_byte(text)) {
      here += static_cast<char>((text[2] & 3) << 6 | (text[3] & 0x3f));
      text.remove_prefix(4);
    } else {
      here += text.front();
      text.remove_prefix(1);
    }
  }
  return here;
}

}  // namespace warpmeter::schema::server
