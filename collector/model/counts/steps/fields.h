// SPDX-License-Identifier: MIT
// The fields of a machine instruction, for those who decode it.
#pragma once

#include <cstdint>

#include "collector/model/counts/steps/operation.h"

namespace warpmeter::model::steps {

/// The 128 bits of an instruction.
class Bits {
 public:
  explicit Bits(sass::Word word) : word_(word) {}
  std::uint64_t at(unsigned first, unsigned count) const {
    std::uint64_t value = first < 64 ? word_.low >> first : word_.high >> (first - 64);
    if (first < 64 && first + count > 64) value |= word_.high << (64 - first);
    return count == 64 ? value : value & ((std::uint64_t{1} << count) - 1);
  }
  bool is_set(unsigned bit) const { return at(bit, 1) != 0; }
  std::int64_t signed_at(unsigned first, unsigned count) const {
    const auto value = static_cast<std::int64_t>(at(first, count) << (64 - count));
    return value >> (64 - count);
  }

  sass::Word word() const { return word_; }

 private:
  sass::Word word_;
};

inline Operand general(std::uint64_t number) {
  return {Operand::Form::general, static_cast<std::uint8_t>(number)};
}
inline Operand uniform(std::uint64_t number) {
  return {Operand::Form::uniform, static_cast<std::uint8_t>(number & 63)};
}
inline Operand constant(const Bits& bits) {
  return {Operand::Form::constant, static_cast<std::uint8_t>(bits.at(54, 5)), false,
          static_cast<std::uint32_t>(bits.at(38, 16))};
}

inline Predicate predicate(const Bits& bits, unsigned first, bool is_uniform,
                           bool has_sign = true) {
  return {static_cast<std::uint8_t>(bits.at(first, 3)), has_sign && bits.is_set(first + 3),
          is_uniform};
}

inline void read_result(const Bits& bits, Operation& operation, std::uint8_t registers) {
  operation.result = static_cast<std::uint8_t>(bits.at(16, 8));
  if (operation.is_uniform) operation.result &= 63;
  const bool is_nowhere = operation.result == (operation.is_uniform ? 63 : 255);
  operation.result_registers = is_nowhere ? 0 : registers;
}

inline void read_predicate_results(const Bits& bits, Operation& operation) {
  operation.results[0] = predicate(bits, 81, operation.is_uniform, false);
  operation.results[1] = predicate(bits, 84, operation.is_uniform, false);
}

inline Operation& make(Operation& operation, Kind kind) {
  operation.kind = kind;
  return operation;
}

/// Operands a, b and c of arithmetic. The three bits above the operation's number say which of b
/// and c is a register, an immediate, a constant or uniform.
void read_operands(const Bits& bits, Operation& operation);

/// Integer arithmetic that both datapaths have; `number`: the opcode without its form. False: it is
/// none of it.
bool read_shared_arithmetic(unsigned number, const Bits& bits, Operation& operation);
/// The same of arithmetic that only the general datapath has. The kind is unknown for a form of it
/// that is not executed here.
bool read_general_arithmetic(unsigned number, const Bits& bits, Operation& operation);

/// The same of floats.
bool read_floats(unsigned number, const Bits& bits, Operation& operation);

}  // namespace warpmeter::model::steps
