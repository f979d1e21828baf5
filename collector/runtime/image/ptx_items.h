// SPDX-License-Identifier: MIT
// The text of a PTX module as the items that it consists of: just enough of its grammar to move
// them into another module, and to rename in them.
#pragma once

#include <string_view>
#include <vector>

namespace warpmeter::runtime {

/// A function, variable or directive at the outermost level of a module.
struct PtxItem {
  enum class Kind {
    version,
    target,
    file,
    function,
    variable,
    section,
    other,  ///< .pragma, .alias: kept as it is
  };
  enum class Linkage { own, visible, weak, external };
  Kind kind = Kind::other;
  Linkage linkage = Linkage::own;
  std::string_view text;  ///< all of it
  std::string_view name;  ///< the name of a function, variable or section; the number of a version
  std::string_view head;  ///< the head of a function: what is before its body, or before the ';'
  bool is_definition = false;
  bool is_entry = false;
  int number = 0;         ///< the number of a file
  std::string_view path;  ///< the path of a file
};

/// A word of an item's text; `is_name`: it may stand for something that has a name.
struct PtxWord {
  enum class Kind { name, directive, number, text, comment, punctuation, space };
  Kind kind = Kind::space;
  std::string_view text;
};

/// The word that begins at an offset, which is inside of the text.
PtxWord word_at(std::string_view text, std::size_t offset);

/// The items in their order; views into `module`. A text that is cut off in the middle ends there.
std::vector<PtxItem> items_of(std::string_view module);

}  // namespace warpmeter::runtime
