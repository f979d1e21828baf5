// SPDX-License-Identifier: MIT
#include "collector/model/ptx/mnemonic.h"

#include <algorithm>
#include <optional>
#include <string>

namespace warpmeter::model::ptx {
namespace {

std::optional<Space> space_of(Word word) {
  switch (word) {
    case Word::global:
      return Space::global;
    case Word::shared:
    case Word::shared_cta:
    case Word::shared_cluster:
      return Space::shared;
    case Word::local:
      return Space::local;
    case Word::param:
    case Word::param_entry:
    case Word::param_func:
      return Space::param;
    case Word::constant:
      return Space::constant;
    default:
      return std::nullopt;
  }
}

std::optional<Order> order_of(Word word) {
  switch (word) {
    case Word::relaxed:
      return Order::relaxed;
    case Word::acquire:
      return Order::acquire;
    case Word::release:
      return Order::release;
    case Word::acq_rel:
      return Order::acq_rel;
    case Word::volatile_:
      return Order::volatile_;
    case Word::mmio:
      return Order::mmio;
    case Word::sc:
      return Order::sc;
    default:
      return std::nullopt;
  }
}

std::optional<Scope> scope_of(Word word) {
  switch (word) {
    case Word::cta:
      return Scope::cta;
    case Word::cluster:
      return Scope::cluster;
    case Word::gpu:
    case Word::gl:
      return Scope::gpu;
    case Word::sys:
      return Scope::sys;
    default:
      return std::nullopt;
  }
}

std::optional<Rounding> rounding_of(Word word) {
  switch (word) {
    case Word::rn:
      return Rounding::rn;
    case Word::rz:
      return Rounding::rz;
    case Word::rm:
      return Rounding::rm;
    case Word::rp:
      return Rounding::rp;
    case Word::rna:
      return Rounding::rna;
    case Word::rni:
      return Rounding::rni;
    case Word::rzi:
      return Rounding::rzi;
    case Word::rmi:
      return Rounding::rmi;
    case Word::rpi:
      return Rounding::rpi;
    default:
      return std::nullopt;
  }
}

std::uint8_t parts_of(Word word) {
  return word == Word::v2 ? 2 : word == Word::v4 ? 4 : word == Word::v8 ? 8 : 1;
}

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

/// Sets `field` where the word says something of it and none before it did.
template <class T>
void note(T& field, std::optional<T> said) {
  if (said && field == T::none) field = *said;
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
    note(read.space, space_of(word));
    note(read.order, order_of(word));
    note(read.scope, scope_of(word));
    note(read.rounding, rounding_of(word));
    if (read.parts == 1) read.parts = parts_of(word);
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
