// SPDX-License-Identifier: MIT
#include "collector/model/ptx/mnemonic.h"

#include <algorithm>
#include <array>
#include <string>

namespace warpmeter::model::ptx {
namespace {

/// A word says one thing of an access or a number.
struct Meaning {
  Space space = Space::none;
  Order order = Order::none;
  Scope scope = Scope::none;
  Rounding rounding = Rounding::none;
  std::uint8_t parts = 1;
};

constexpr auto meanings = [] {
  std::array<Meaning, word_count + 1> of_words{};
  const auto of = [&](Word word) -> Meaning& { return of_words[static_cast<std::size_t>(word)]; };
  of(Word::global).space = Space::global;
  for (const Word word : {Word::shared, Word::shared_cta, Word::shared_cluster}) {
    of(word).space = Space::shared;
  }
  of(Word::local).space = Space::local;
  for (const Word word : {Word::param, Word::param_entry, Word::param_func}) {
    of(word).space = Space::param;
  }
  of(Word::constant).space = Space::constant;
  of(Word::relaxed).order = Order::relaxed;
  of(Word::acquire).order = Order::acquire;
  of(Word::release).order = Order::release;
  of(Word::acq_rel).order = Order::acq_rel;
  of(Word::volatile_).order = Order::volatile_;
  of(Word::mmio).order = Order::mmio;
  of(Word::sc).order = Order::sc;
  of(Word::cta).scope = Scope::cta;
  of(Word::cluster).scope = Scope::cluster;
  of(Word::gpu).scope = of(Word::gl).scope = Scope::gpu;
  of(Word::sys).scope = Scope::sys;
  of(Word::rn).rounding = Rounding::rn;
  of(Word::rz).rounding = Rounding::rz;
  of(Word::rm).rounding = Rounding::rm;
  of(Word::rp).rounding = Rounding::rp;
  of(Word::rna).rounding = Rounding::rna;
  of(Word::rni).rounding = Rounding::rni;
  of(Word::rzi).rounding = Rounding::rzi;
  of(Word::rmi).rounding = Rounding::rmi;
  of(Word::rpi).rounding = Rounding::rpi;
  of(Word::v2).parts = 2;
  of(Word::v4).parts = 4;
  of(Word::v8).parts = 8;
  return of_words;
}();

constexpr std::string_view shape_of_warpgroups = "m64n";

/// "m64n256k16" is one word, whatever its numbers are.
Word word_of(std::string_view text) {
  return text.starts_with(shape_of_warpgroups) ? Word::m64nk : find_word(text);
}

/// True if the words behind a name are a form of its row.
bool is_form(const Row& row, std::string_view modifiers) {
  const std::size_t shape = modifiers.find(shape_of_warpgroups);
  if (shape == std::string_view::npos) return has_form(row, modifiers);
  std::string general(modifiers);
  general.replace(shape, std::min(general.find('.', shape), general.size()) - shape,
                  text_of(Word::m64nk));
  return has_form(row, general);
}

/// Sets `field` where no word before has said something of it.
template <class T>
void note(T& field, T said) {
  if (field == T::none) field = said;
}

}  // namespace

Mnemonic read_mnemonic(std::string_view text) {
  Mnemonic read;
  read.text = text;
  const Named named = find_opcode(text);
  read.opcode = named.opcode;
  std::size_t dot = named.opcode == Opcode::unknown ? text.find('.') : named.end;
  const std::string_view modifiers = text.substr(std::min(dot, text.size()));
  bool fits = true;
  while (dot < text.size()) {
    const std::size_t next = std::min(text.find('.', dot + 1), text.size());
    const Word word = word_of(text.substr(dot + 1, next - dot - 1));
    fits &= read.words.add(word);
    const Meaning& meaning = meanings[static_cast<std::size_t>(word)];
    note(read.space, meaning.space);
    note(read.order, meaning.order);
    note(read.scope, meaning.scope);
    note(read.rounding, meaning.rounding);
    if (read.parts == 1) read.parts = meaning.parts;
    const Type type = type_of(word);
    if (type != Type::none && read.type_count_ < read.types_.size()) {
      read.types_[read.type_count_++] = type;
    }
    dot = next;
  }
  read.is_form = fits && read.opcode != Opcode::unknown && is_form(read.row(), modifiers);
  return read;
}

}  // namespace warpmeter::model::ptx
