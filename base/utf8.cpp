#include "base/utf8.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

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
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {lead, 1, false};
  char32_t value = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {lead, 1, false};
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  constexpr std::array<char32_t, 5> smallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest[length] || surrogate || value > 0x10FFFF) return {lead, 1, false};
  return {value, length, true};
}

bool turns_direction(char32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

struct Interval {
  char32_t first, last;
};

// Blocks rather than the full tables of Unicode: enough for names, comments and emoji to line up.
constexpr std::array<Interval, 9> zero_width = {{{0x0300, 0x036F},
                                                 {0x0483, 0x0489},
                                                 {0x0591, 0x05BD},
                                                 {0x064B, 0x065F},
                                                 {0x1AB0, 0x1AFF},
                                                 {0x1DC0, 0x1DFF},
                                                 {0x200B, 0x200D},
                                                 {0x20D0, 0x20FF},
                                                 {0xFE00, 0xFE0F}}};
constexpr std::array<Interval, 9> double_width = {{{0x1100, 0x115F},
                                                   {0x2E80, 0x303E},
                                                   {0x3041, 0xA4CF},
                                                   {0xAC00, 0xD7A3},
                                                   {0xF900, 0xFAFF},
                                                   {0xFE30, 0xFE6F},
                                                   {0xFF00, 0xFF60},
                                                   {0x1F300, 0x1FAFF},
                                                   {0x20000, 0x3FFFD}}};

template <std::size_t n>
bool within(const std::array<Interval, n>& intervals, char32_t c) {
  for (const Interval& interval : intervals) {
    if (c >= interval.first && c <= interval.last) return true;
  }
  return false;
}

std::size_t width_of(char32_t c) {
  if (within(zero_width, c)) return 0;
  return within(double_width, c) ? 2 : 1;
}

/// Bytes of the longest head of `text` that takes at most `width` columns, at least one character.
std::size_t head_of(std::string_view text, std::size_t width) {
  std::size_t bytes = 0, used = 0;
  while (bytes < text.size()) {
    const Codepoint c = decode(text.substr(bytes));
    used += width_of(c.value);
    if (used > width && bytes > 0) break;
    bytes += c.bytes;
  }
  return bytes;
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
    } else if ((c.value >= 0x80 && c.value < 0xA0) || turns_direction(c.value) ||
               c.value == 0x2028 || c.value == 0x2029) {
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
    width += width_of(c.value);
    text.remove_prefix(c.bytes);
  }
  return width;
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
    while (display_width(word) > width) {
      const std::size_t head = head_of(word, width);
      lines.emplace_back(word.substr(0, head));
      word.remove_prefix(head);
    }
    line += word;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace warpmeter
