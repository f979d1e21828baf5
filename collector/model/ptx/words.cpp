// SPDX-License-Identifier: MIT
#include "collector/model/ptx/words.h"

#include "collector/model/ptx/word_table.h"

namespace warpmeter::model::ptx {
std::string_view text_of(Word word) {
  return word == Word::unknown ? std::string_view() : table::texts[static_cast<std::size_t>(word)];
}

Word find_word(std::string_view text) { return table::find_word(text); }

TypeInfo info_of(Type type) {
  return type == Type::none ? TypeInfo{} : table::types[static_cast<std::size_t>(type)];
}

Type type_of(Word word) {
  return static_cast<std::size_t>(word) < type_count ? static_cast<Type>(word) : Type::none;
}

Type type_named(std::string_view text) { return type_of(find_word(text)); }

std::string_view text_of(Type type) {
  return type == Type::none ? std::string_view() : table::texts[static_cast<std::size_t>(type)];
}

bool Words::add(Word word) {
  if (count_ == most) return false;
  words_[count_++] = word;
  const auto bit = static_cast<std::size_t>(word);
  set_[bit / 64] |= std::uint64_t{1} << bit % 64;
  return true;
}

}  // namespace warpmeter::model::ptx
