// SPDX-License-Identifier: MIT
// Which registers every instruction of a function reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// The width of a register: predicates; up to 32 bits; 64 bits; 128 bits.
enum class Width { predicate, word, pair, quad };
constexpr std::size_t width_count = 4;

using RegisterId = std::uint32_t;

struct Register {
  std::string_view name;
  Type type = Type::none;  ///< as declared
  Width width = Width::word;
};

/// The registers that a function's instructions name, numbered densely from 0 in the order in which
/// they come, and what each instruction does with them. Declared registers that nobody names do not
/// count, nor do special registers (%tid.x), variables and labels.
class DataFlow {
 public:
  const std::vector<Register>& registers() const { return registers_; }

  /// The number of the register, or nothing when no instruction names a register so.
  std::optional<RegisterId> find(std::string_view name) const;

  /// Without repetition. A write under a guard keeps the old value of some lanes, so it reads the
  /// register too, as does one that adds to it.
  std::span<const RegisterId> reads(std::size_t instruction) const;
  std::span<const RegisterId> writes(std::size_t instruction) const;

 private:
  friend class DataFlowBuilder;
  struct Ranges {
    std::size_t reads = 0, writes = 0, end = 0;  ///< into uses_
  };
  std::vector<Register> registers_;
  std::unordered_map<std::string_view, RegisterId> ids_;
  std::vector<RegisterId> uses_;
  std::vector<Ranges> ranges_;
};

/// Never fails: an instruction that PTX does not have reads whatever registers it names.
DataFlow data_flow(const Function& function);

}  // namespace warpmeter::model::ptx
