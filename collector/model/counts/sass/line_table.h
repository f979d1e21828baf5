// SPDX-License-Identifier: MIT
// `.nv_debug_line_sass`: which line of the PTX each machine instruction came from. ptxas -lineinfo
// writes it as a DWARF line-number program (version 2 of that format, section 6.2 of the DWARF
// standard).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "collector/model/counts/sass/elf.h"

namespace warpmeter::model::sass {

/// PTX lines of one section of machine code.
class LineTable {
 public:
  /// The lines of the section with this number, or why there are none: the rest of a sentence that
  /// starts with the cubin.
  static std::variant<LineTable, std::string> read(const Elf& elf, std::size_t section);

  /// The line, from 1, of the instruction at this offset of the section; 0: not known.
  int line_at(std::uint64_t offset) const;

 private:
  struct Row {
    std::uint64_t offset = 0;
    int line = 0;  ///< 0: nothing is known from here on
  };
  std::vector<Row> rows_;  ///< in ascending order of offset
};

}  // namespace warpmeter::model::sass
