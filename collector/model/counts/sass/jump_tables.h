// SPDX-License-Identifier: MIT
// Where indirect jumps of machine code lead. ptxas makes a table of a switch, or of a tree of
// branches on one value: the kernel's constant bank 2 holds the offsets of the targets, one LDC
// loads one of them, and BRX adds it to a constant that takes its own place away.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "collector/model/counts/sass/elf.h"

namespace warpmeter::model::sass {

/// For each indirect jump whose table was found, by its number: the numbers of the instructions
/// that it may go to. `code`: the kernel's; `constants`: its bank 2, empty where it has none.
std::map<std::size_t, std::vector<std::size_t>> jump_tables(Bytes code, Bytes constants);

}  // namespace warpmeter::model::sass
