// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>

namespace warpmeter {
namespace {

struct Codepoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

/// The code point at the start of `text`, which is not empty. Overlong forms, surrogates and cut
/// sequences are invalid and one byte long.
Codepoint decode(std::string_view text) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  utf8proc_int32_t value = 0;
  const auto length = static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size(), 4));
  const utf8proc_ssize_t taken = utf8proc_iterate(bytes, length, &value);
  if (taken <= 0) return {bytes[0], 1, false};
  return {static_cast<char32_t>(value), static_cast<std::size_t>(taken), true};
}

bool turns_direction(char32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

std::size_t width_of(const Codepoint& c) {
  if (!c.valid) return 1;
  return static_cast<std::size_t>(utf8proc_charwidth(static_cast<utf8proc_int32_t>(c.value)));
}

/// Bytes of the longest head of `text` that takes at most `width` columns, at least one character.
std::size_t head_of(std::string_view text, std::size_t width) {
  std::size_t bytes = 0, used = 0;
  while (bytes < text.size()) {
    const Codepoint c = decode(text.substr(bytes));
    used += width_of(c);
    if (used > width && bytes > 0) break;
    bytes += c.bytes;
  }
  return bytes;
}

/// True of a character beyond ASCII that a terminal obeys.
bool acts_on_terminal(char32_t value) {
  return (value >= 0x80 && value < 0xA0) || turns_direction(value) || value == 0x2028 ||
         value == 0x2029;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Codepoint point = decode(text);
    if (!point.valid) return false;
    text.remove_prefix(point.bytes);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Codepoint c = decode(text);
    if (!c.valid || c.value < 0x20 || c.value == 0x7F) {
      if (c.value == '\r' && text.substr(0, 2) == "\r\n") {
        // one line end, one space
      } else if (c.valid && (c.value == '\n' || c.value == '\t' || c.value == '\r')) {
        shown += ' ';
      } else {
        shown += fmt::format("\\x{:02x}", static_cast<unsigned>(c.value));
      }
    } else if (acts_on_terminal(c.value)) {
      shown += fmt::format("\\u{:04x}", static_cast<unsigned>(c.value));
    } else {
      shown += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes);
  }
  return shown;
}

std::string printable_lines(std::string_view text) {
  std::string shown;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    shown += printable(text.substr(begin, end - begin));
    if (end < text.size()) shown += '\n';
    begin = end + 1;
  }
  return shown;
}

std::string printable_json(std::string json) {
  const bool is_plain =
      std::all_of(json.begin(), json.end(), [](unsigned char c) { return c < 0x7F; });
  if (is_plain) return json;
  std::string shown;
  shown.reserve(json.size());
  for (std::string_view text = json; !text.empty();) {
    const Codepoint c = decode(text);
    if (c.valid && (c.value == 0x7F || acts_on_terminal(c.value))) {
      shown += fmt::format("\\u{:04x}", static_cast<unsigned>(c.value));
    } else {
      shown += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes);
  }
  return shown;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Codepoint c = decode(text);
    width += width_of(c);
    text.remove_prefix(c.bytes);
  }
  return width;
}

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(decode(text).bytes);
  return count;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return {std::string(text)};
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    for (std::size_t left = display_width(word); left > width;) {
      const std::size_t head = head_of(word, width);
      left -= display_width(word.substr(0, head));
      lines.emplace_back(word.substr(0, head));
      word.remove_prefix(head);
    }
    line += word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace warpmeter
