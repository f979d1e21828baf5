// SPDX-License-Identifier: MIT
// The sections of a cubin, which is an ELF file of 64 bits. Only what is needed: sections by name,
// functions and variables, and for a relocated place in a section the section that it points into.
// Cubins come from users: every offset and size is checked before it is followed (base/bytes.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/bytes.h"

namespace warpmeter::model::sass {

struct Section {
  std::string_view name;
  Bytes contents;           ///< empty for a section without contents in the file
  std::uint64_t bytes = 0;  ///< in the GPU's memory, with contents or without
};

/// A function or a variable.
struct Symbol {
  std::string_view name;
  std::size_t section = 0;  ///< its number; 0: it is not in this file
  std::uint64_t bytes = 0;
  bool is_function = false;
  bool is_kernel = false;  ///< a function that hosts launch
};

class Elf {
 public:
  /// The sections, or why there are none: the rest of a sentence that starts with the file.
  static std::variant<Elf, std::string> read(Bytes file);

  const std::vector<Section>& sections() const { return sections_; }
  const Section* find(std::string_view name) const;

  /// For each relocated offset in the section of this name, the number of the section that its
  /// symbol lies in.
  std::unordered_map<std::uint64_t, std::size_t> relocations(std::string_view name) const;

  /// By their numbers; what is neither function nor variable has no name.
  std::vector<Symbol> symbols() const;

  /// 90 is sm_90; 0 where the file does not say.
  int arch() const { return arch_; }

  /// True if it has to be linked before a GPU can run it.
  bool is_relocatable() const { return is_relocatable_; }

 private:
  std::vector<Section> sections_;
  int arch_ = 0;
  bool is_relocatable_ = false;
};

}  // namespace warpmeter::model::sass
