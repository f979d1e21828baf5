// SPDX-License-Identifier: MIT
// The name of an instruction with all that is written behind it, "ld.acquire.gpu.global.v4.f32",
// understood once: the row of the instruction, its words, and what they say of types, memory, order
// and rounding.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "collector/model/ptx/row.h"
#include "collector/model/ptx/words.h"

namespace warpmeter::model::ptx {

enum class Space : std::uint8_t { none, reg, param, local, shared, global, constant };
/// The promise of an access to other threads.
enum class Order : std::uint8_t { none, relaxed, acquire, release, acq_rel, volatile_, mmio, sc };
enum class Scope : std::uint8_t { none, cta, cluster, gpu, sys };
enum class Rounding : std::uint8_t { none, rn, rz, rm, rp, rna, rni, rzi, rmi, rpi };

struct Mnemonic {
  std::string_view text;  ///< "ld.shared.f32", for messages
  Opcode opcode = Opcode::unknown;
  Words words;           ///< the words behind the name of the row: "shared", "f32"
  bool is_form = false;  ///< the words are a form of the row's; see has_form()
  Space space = Space::none;
  Order order = Order::none;
  Scope scope = Scope::none;
  Rounding rounding = Rounding::none;
  std::uint8_t parts = 1;  ///< registers of a vector: 4 of .v4

  const Row& row() const { return row_of(opcode); }
  bool is(Opcode wanted) const { return opcode == wanted; }
  bool has(Word word) const { return words.has(word); }
  /// The types among the words, in order: of cvt.f32.s32 two.
  std::span<const Type> types() const { return {types_.data(), type_count_}; }
  Type first_type() const { return type_count_ == 0 ? Type::none : types_[0]; }
  Type last_type() const { return type_count_ == 0 ? Type::none : types_[type_count_ - 1u]; }
  /// volatile, ordered or atomic by its words: other threads are meant to see it.
  bool is_strong() const { return order != Order::none && order != Order::sc; }

 private:
  friend Mnemonic read_mnemonic(std::string_view text);
  std::array<Type, 4> types_{};
  std::uint8_t type_count_ = 0;
};

/// Never fails: Opcode::unknown where PTX has no such instruction, Word::unknown among the words
/// where it has no such word.
Mnemonic read_mnemonic(std::string_view text);

}  // namespace warpmeter::model::ptx
