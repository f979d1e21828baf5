// SPDX-License-Identifier: MIT
// Floats as machine operations take and give them.
#pragma once

#ifndef WARPMETER_ISA
#define WARPMETER_ISA of_steps
#endif

#include <bit>
#include <cmath>
#include <cstdint>

#include "collector/model/counts/steps/operation.h"
#include "collector/model/machine/execute/special.h"

namespace warpmeter::model::steps {

constexpr std::uint32_t sign_bit = 0x80000000, no_number = 0x7fffffff;

/// The bits of an operand with its sign changed as it says.
inline std::uint32_t with_sign_of(const Operand& operand, std::uint32_t bits) {
  if (operand.is_absolute) bits &= ~sign_bit;
  return operand.is_negated ? bits ^ sign_bit : bits;
}
inline double double_of(const Operand& operand, std::uint64_t bits) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  if (operand.is_absolute) bits &= ~sign;
  return std::bit_cast<double>(operand.is_negated ? bits ^ sign : bits);
}

inline float flushed(float value, bool flushes) {
  return flushes ? of_steps::flushed(value) : value;
}
inline float float_of(const Operand& operand, std::uint32_t bits, bool flushes) {
  return flushed(std::bit_cast<float>(with_sign_of(operand, bits)), flushes);
}
inline std::uint32_t bits_of(float value, bool flushes) {
  return std::isnan(value) ? no_number : std::bit_cast<std::uint32_t>(flushed(value, flushes));
}

/// `how`: less 1, equal 2, greater 4, 8 where one is no number; sums of these.
template <class Float>
bool compared(Float a, Float b, unsigned how) {
  if (std::isnan(a) || std::isnan(b)) return (how & 8) != 0;
  return (how & (a < b ? 1U : a == b ? 2U : 4U)) != 0;
}

constexpr unsigned to_nearest = 0, down = 1, up = 2, towards_zero = 3;

/// How the machine names a directed rounding.
inline Rounding rounding_of(unsigned rounding) {
  return rounding == down ? rm : rounding == up ? rp : rz;
}

/// A sum, a product, or x y + z, which is rounded once; `operation` is one of these.
template <class Float>
Float computed(const Operation& operation, Float x, Float y, Float z) {
  const Rounding rounding = rounding_of(operation.rounding);
  const bool is_nearest = operation.rounding == to_nearest;
  if (operation.kind == Kind::add_floats || operation.kind == Kind::add_doubles) {
    return is_nearest ? x + y : rounded_add(x, y, rounding);
  }
  if (operation.kind == Kind::multiply_floats || operation.kind == Kind::multiply_doubles) {
    return is_nearest ? x * y : rounded_mul(x, y, rounding);
  }
  return is_nearest ? of_steps::fused(x, y, z) : rounded_fma(x, y, z, rounding);
}

}  // namespace warpmeter::model::steps
