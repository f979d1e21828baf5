// SPDX-License-Identifier: MIT
#include "collector/cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

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

/// Parts of paths on the command line that hold line ends: a sentence that names one stays a line.
std::vector<std::string>& words_of_lines() {
  static std::vector<std::string> words;
  return words;
}

std::string on_their_lines(std::string text) {
  for (const std::string& word : words_of_lines()) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at)) {
      text.replace(at, word.size(), printable(word));
    }
  }
  return with_short_words(printable_lines(text));
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

void know_words(std::span<const std::string> words) {
  for (const std::string& word : words) {
    for (std::size_t begin = 0; begin < word.size();) {
      const std::size_t end = std::min(word.find('/', begin), word.size());
      const std::string part = word.substr(begin, end - begin);
      const bool has_text = part.find_first_not_of("\n\r\t ") != part.npos;
      if (has_text && part.find_first_of("\n\r") != part.npos) words_of_lines().push_back(part);
      begin = end + 1;
    }
  }
}

void say(std::string_view text) { write_error(on_their_lines(std::string(text))); }

void say(Colour colour, std::string_view word, std::string_view text) {
  write_error(coloured(STDERR_FILENO, colour, word) + on_their_lines(std::string(text)));
}

void say_in_place(std::string_view line) {
  write_error(fmt::format("\r{}\x1b[K", printable(line)));
}

}  // namespace warpmeter::cli
