// SPDX-License-Identifier: MIT
// The words of words.h as a table that the compiler can read, for what is checked at compile time.
#pragma once

#include <algorithm>
#include <utility>

#include "collector/model/ptx/words.h"

namespace warpmeter::model::ptx::table {

inline constexpr std::array<std::string_view, word_count> texts = {
#define TYPE(name, ...) #name,
    WARPMETER_PTX_TYPES(TYPE)
#undef TYPE
#define WORD(name, text) text,
        WARPMETER_PTX_WORDS(WORD)
#undef WORD
};

inline constexpr std::array<TypeInfo, type_count> types = {
#define TYPE(name, kind, bits, elements) TypeInfo{Kind::kind, bits, elements},
    WARPMETER_PTX_TYPES(TYPE)
#undef TYPE
};

using Entry = std::pair<std::string_view, Word>;

constexpr std::array<Entry, word_count> sorted_words() {
  std::array<Entry, word_count> entries{};
  for (std::size_t i = 0; i < word_count; ++i) entries[i] = {texts[i], static_cast<Word>(i)};
  std::sort(entries.begin(), entries.end());
  return entries;
}
inline constexpr auto by_text = sorted_words();

/// As ptx::find_word().
constexpr Word find_word(std::string_view text) {
  const auto found = std::lower_bound(
      by_text.begin(), by_text.end(), text,
      [](const Entry& entry, std::string_view wanted) { return entry.first < wanted; });
  return found != by_text.end() && found->first == text ? found->second : Word::unknown;
}

}  // namespace warpmeter::model::ptx::table
