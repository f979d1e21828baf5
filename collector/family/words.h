// The identifiers of a text of C.
#pragma once

#include <cctype>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter::family {

inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Each as often as it stands there, with its place; numbers are among them.
inline void for_each_word(
    std::string_view text,
    const std::function<void(std::size_t begin, std::string_view word)>& visit) {
  for (std::size_t i = 0; i < text.size();) {
    if (!is_word(text[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && is_word(text[i])) ++i;
    visit(begin, text.substr(begin, i - begin));
  }
}

inline std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for_each_word(text, [&](std::size_t, std::string_view word) { words.emplace_back(word); });
  return words;
}

}  // namespace warpmeter::family
