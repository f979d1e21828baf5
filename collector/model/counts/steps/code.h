// SPDX-License-Identifier: MIT
// The machine code of a kernel as its control needs it: basic blocks, and in each the operations
// that a branch, an end of threads or a guard depends on (a program slice, Weiser 1981). Only
// those have to be executed to know how often each block is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "collector/model/counts/steps/operation.h"

namespace warpmeter::model::steps {

struct Block {
  std::uint32_t first = 0, end = 0;       ///< operations
  std::vector<std::uint32_t> needed;      ///< those to execute, ascending
  std::vector<std::uint32_t> guarded;     ///< those with a guard, ascending
  std::vector<std::uint32_t> successors;  ///< blocks
  /// Ends with a BSYNC between which and its BSSY there is no loop: a group of lanes comes there
  /// once, on a way of its own.
  bool is_passed_once = false;
};

struct Code {
  int arch = 0;
  std::vector<Operation> operations;
  std::vector<int> lines;  ///< the lines of the PTX, by operation; 0: not known
  std::vector<Block> blocks;
  std::vector<std::uint32_t> block_of;  ///< by operation
  std::vector<std::uint32_t> accesses;  ///< loads and stores of global or shared memory
  std::vector<std::byte> tables;        ///< the constants of bank 2
  std::uint32_t parameter_offset = 0, parameter_bytes = 0;  ///< in bank 0
};

/// Reads the code of `entry`, or says why it is not read: the end of a sentence.
std::variant<Code, std::string> read_code(Bytes cubin, std::string_view entry);

}  // namespace warpmeter::model::steps
