// SPDX-License-Identifier: MIT
// The identifiers of a text of C, and of what is written like them: names of variants, of objects
// of SQL.
#pragma once

#include <cctype>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter {

/// A letter, a digit or _.
inline bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Each as often as it stands there, with its place; numbers are among them.
inline void for_each_word(
    std::string_view text,
    const std::function<void(std::size_t begin, std::string_view word)>& visit) {
  for (std::size_t i = 0; i < text.size();) {
    if (!is_of_word(text[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && is_of_word(text[i])) ++i;
    visit(begin, text.substr(begin, i - begin));
  }
}

inline std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for_each_word(text, [&](std::size_t, std::string_view word) { words.emplace_back(word); });
  return words;
}

/// Its letters of ASCII small.
inline std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace warpmeter
