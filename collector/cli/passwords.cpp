// SPDX-License-Identifier: MIT
#include "collector/cli/passwords.h"

#include <cstring>
#include <string_view>

namespace warpmeter::cli {
namespace {

/// Takes [begin, end) out of the word; how long it was is not shown either.
void cut(char* word, std::size_t begin, std::size_t end) {
  const std::size_t size = std::strlen(word);
  std::memmove(word + begin, word + end, size - end);
  std::memset(word + size - (end - begin), 0, end - begin);
}

/// postgresql://user:password@host: what lies between the colon and the last @ before the path.
void hide_in_url(char* word) {
  const std::string_view text(word);
  const std::size_t scheme = text.find("://");
  if (!text.starts_with("postgres") || scheme == std::string_view::npos) return;
  const std::size_t begin = scheme + 3;
  // A password that somebody did not encode may hold any of these: as much goes as might be one.
  const std::size_t at = text.rfind('@');
  const std::size_t colon = text.find(':', begin);
  if (at == std::string_view::npos || colon == std::string_view::npos || colon > at) return;
  cut(word, colon + 1, at);
}

void hide_settings(char* word) {
  constexpr std::string_view names[] = {"password", "sslpassword"};
  for (const std::string_view name : names) {
    std::size_t from = 0;
    while (true) {
      const std::string_view text(word);
      const std::size_t found = text.find(name, from);
      if (found == std::string_view::npos) break;
      std::size_t begin = found + name.size();
      while (begin < text.size() && text[begin] == ' ') ++begin;
      from = found + name.size();
      if (begin >= text.size() || text[begin] != '=') continue;
      ++begin;
      while (begin < text.size() && text[begin] == ' ') ++begin;
      std::size_t end = begin;
      if (end < text.size() && text[end] == '\'') {
        for (++end; end < text.size() && text[end] != '\''; ++end) {
          if (text[end] == '\\') ++end;
        }
        end = end < text.size() ? end + 1 : text.size();
      } else {
        while (end < text.size() && text[end] != ' ' && text[end] != '&') {
          end += text[end] == '\\' && end + 1 < text.size() ? 2U : 1U;
        }
      }
      cut(word, begin, end);
    }
  }
}

}  // namespace

void hide_passwords(int argc, char** argv) {
  bool is_meant = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    is_meant |= word == "push" || word == "pull";
    if (!is_meant) continue;
    hide_in_url(argv[i]);
    hide_settings(argv[i]);
  }
}

}  // namespace warpmeter::cli
