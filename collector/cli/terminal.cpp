// SPDX-License-Identifier: MIT
#include "collector/cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/utf8.h"

namespace warpmeter::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// A word that nobody reads to its end, such as a kernel's name of 60,000 letters, is cut.
std::string with_short_words(const std::string& text) {
  constexpr std::size_t longest = 1000, kept = 300;
  std::string shown;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size() - 1) + 1;
    std::size_t size = end - begin;
    const bool is_cut = size > longest;
    if (is_cut) size = kept;
    while (is_cut && (text[begin + size] & 0xC0) == 0x80) --size;  // a character stays whole
    shown += text.substr(begin, size);
    if (is_cut) shown += "…";
    if (is_cut && (text[end - 1] == ' ' || text[end - 1] == '\n')) shown += text[end - 1];
    begin = end;
  }
  return shown;
}

void write_error(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

bool is_terminal(int descriptor) {
  return isatty(descriptor) == 1 && environment("TERM") != "dumb";
}

int terminal_width(int descriptor) {
  struct winsize size {};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string coloured(int descriptor, Colour colour, std::string_view text) {
  if (!is_terminal(descriptor) || !environment("NO_COLOR").empty()) return std::string(text);
  const int code = colour == Colour::red ? 31 : colour == Colour::green ? 32 : 33;
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void say(std::string_view text) { write_error(with_short_words(printable_lines(text))); }

void say(Colour colour, std::string_view word, std::string_view text) {
  write_error(coloured(STDERR_FILENO, colour, word) + with_short_words(printable_lines(text)));
}

void say_in_place(std::string_view line) {
  write_error(fmt::format("\r{}\x1b[K", printable(line)));
}

}  // namespace warpmeter::cli
