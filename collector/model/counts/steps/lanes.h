// SPDX-License-Identifier: MIT
// The registers of a warp, as far as they are known, and the operations on them. A lane's register
// is unknown once an operation has written it that is not executed here.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/geometry.h"
#include "collector/model/counts/steps/code.h"

namespace warpmeter::model::steps {

using Lanes = std::uint32_t;  ///< a bit a lane
inline constexpr Lanes all_lanes = ~Lanes{0};
using Row = std::array<std::uint32_t, 32>;

template <class Compute>
Row each_lane(Compute compute) {
  Row result;
  for (unsigned lane = 0; lane < 32; ++lane) result[lane] = compute(lane);
  return result;
}

/// The launch as a warp finds it.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  /// The four bytes of a constant; nothing where they are not known.
  virtual std::optional<std::uint32_t> constant(unsigned bank, std::uint32_t offset) = 0;
  /// `bytes` of global memory as they were before the launch, at most 16, into `words`; false where
  /// there is none, or it is not to be looked at.
  virtual bool load(std::uint64_t address, unsigned bytes, std::uint32_t* words) = 0;
  /// True where an allocation of global memory has the address.
  virtual bool is_global(std::uint64_t address) const = 0;
};

class WarpRegisters {
 public:
  explicit WarpRegisters(Surroundings& surroundings) : surroundings_(surroundings) {}

  /// Begins as warp `number` of a block.
  void begin(const Dim3& block_size, const Dim3& block, unsigned number);

  /// Lanes of `active` for which the predicate holds, and those of which nobody knows.
  struct Split {
    Lanes holds = 0, unknown = 0;
  };
  Split split(const Predicate& predicate, Lanes active) const;
  /// The same for the guard and the other conditions of a branch or an end.
  Split split(const Operation& operation, Lanes active) const;

  void execute(const Operation& operation, Lanes active);

  /// The register of a lane; nothing where it is not known.
  std::optional<std::uint32_t> value(unsigned number, unsigned lane) const;

 private:
  struct Fetched {
    Row values;
    Lanes known = 0;
  };
  /// Doubles, and integers of 64 bits.
  struct FetchedPairs {
    std::array<std::uint64_t, 32> values;
    Lanes known = 0;
  };
  static constexpr unsigned first_uniform = 256;

  Fetched fetch(const Operand& operand, unsigned next = 0) const;
  FetchedPairs fetch_pairs(const Operand& operand, bool is_double) const;
  void write_pairs(const Operation& operation, const std::array<std::uint64_t, 32>& values,
                   Lanes active, Lanes known);
  static unsigned place(bool is_uniform, unsigned number) {
    return (is_uniform ? first_uniform : 0) + number;
  }
  void write(const Operation& operation, unsigned next, const Row& values, Lanes active,
             Lanes known);
  void write(const Predicate& predicate, Lanes values, Lanes active, Lanes known);
  void forget(const Operation& operation, Lanes active);
  Split lanes_of(const Predicate& predicate) const;

  void execute_arithmetic(const Operation& operation, Lanes active);
  void execute_multiply_add(const Operation& operation, Lanes active);
  void execute_wide(const Operation& operation, Lanes active);
  void execute_logic(const Operation& operation, Lanes active);
  void execute_select(const Operation& operation, Lanes active);
  void execute_minimum(const Operation& operation, Lanes active);
  void execute_add(const Operation& operation, Lanes active);
  void execute_shift_add(const Operation& operation, Lanes active);
  void execute_compare(const Operation& operation, Lanes active);
  void execute_predicate_logic(const Operation& operation, Lanes active);
  void execute_special(const Operation& operation, Lanes active);
  void execute_constant(const Operation& operation, Lanes active);
  void execute_load(const Operation& operation, Lanes active);
  void execute_local_load(const Operation& operation, Lanes active);
  void execute_local_store(const Operation& operation, Lanes active);
  void execute_vote(const Operation& operation, Lanes active);
  void execute_match(const Operation& operation, Lanes active);
  void execute_reduce(const Operation& operation, Lanes active);
  void execute_floats(const Operation& operation, Lanes active);
  void execute_choice_of_floats(const Operation& operation, Lanes active);
  void execute_special_function(const Operation& operation, Lanes active);
  void execute_doubles(const Operation& operation, Lanes active);
  void execute_compare_doubles(const Operation& operation, Lanes active);
  void execute_conversion(const Operation& operation, Lanes active);
  void execute_compare_floats(const Operation& operation, Lanes active);
  void execute_check_division(const Operation& operation, Lanes active);
  void execute_ask_space(const Operation& operation, Lanes active);
  void execute_register_to_predicates(const Operation& operation, Lanes active);
  void execute_predicates_to_register(const Operation& operation, Lanes active);

  void write_joined(const Operation& operation, Lanes holds, Lanes known, Lanes active);

  /// Four bytes of local memory, of each lane its own.
  struct LocalWord {
    Row values = {};
    std::array<Lanes, 4> known = {};  ///< by byte
  };
  void forget_local(Lanes lanes);

  Surroundings& surroundings_;
  std::array<Row, first_uniform + 64> rows_;
  std::array<Lanes, first_uniform + 64> known_ = {};
  std::array<Lanes, 16> predicates_ = {}, known_predicates_ = {};
  std::unordered_map<std::uint32_t, LocalWord> local_;  ///< by address / 4
  Dim3 block_size_, block_;
  unsigned first_thread_ = 0;
};

}  // namespace warpmeter::model::steps
