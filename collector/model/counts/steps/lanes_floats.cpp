// SPDX-License-Identifier: MIT
// Floats of the registers of a warp: single precision, rounded to the nearest.
#define WARPMETER_ISA of_steps
#include <bit>
#include <cmath>

#include "collector/model/counts/steps/lanes.h"
#include "collector/model/machine/execute/semantics.h"

namespace warpmeter::model::steps {
namespace {

constexpr std::uint32_t sign_bit = 0x80000000, no_number = 0x7fffffff;

float flushed(float value, bool flushes) { return flushes ? of_steps::flushed(value) : value; }

float number(std::uint32_t bits, const Operand& operand, bool flushes) {
  if (operand.is_absolute) bits &= ~sign_bit;
  if (operand.is_negated) bits ^= sign_bit;
  return flushed(std::bit_cast<float>(bits), flushes);
}

std::uint32_t bits_of(float value, bool flushes) {
  return std::isnan(value) ? no_number : std::bit_cast<std::uint32_t>(flushed(value, flushes));
}

/// `how`: less 1, equal 2, greater 4, 8 where one is no number; sums of these.
bool compared(float a, float b, unsigned how) {
  if (std::isnan(a) || std::isnan(b)) return (how & 8) != 0;
  return (how & (a < b ? 1U : a == b ? 2U : 4U)) != 0;
}

/// True where a division needs none of the precautions for very large and very small numbers: from
/// a millionth to a million.
bool is_moderate(std::uint32_t bits) {
  const std::uint32_t exponent = bits >> 23 & 255;
  return exponent >= 127 - 20 && exponent <= 127 + 20;
}

}  // namespace

void WarpRegisters::execute_floats(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b), c = fetch(operation.c);
  const bool flushes = operation.flushes;
  const Row result = each_lane([&](unsigned lane) {
    const float x = number(a.values[lane], operation.a, flushes),
                y = number(b.values[lane], operation.b, flushes),
                z = number(c.values[lane], operation.c, flushes);
    const float value = operation.kind == Kind::add_floats        ? x + y
                        : operation.kind == Kind::multiply_floats ? x * y
                                                                  : of_steps::fused(x, y, z);
    return bits_of(value, flushes);
  });
  write(operation, 0, result, active, a.known & b.known & c.known);
}

void WarpRegisters::execute_compare_floats(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b);
  Lanes holds = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const float x = number(a.values[lane], operation.a, operation.flushes),
                y = number(b.values[lane], operation.b, operation.flushes);
    holds |= static_cast<Lanes>(compared(x, y, operation.amount)) << lane;
  }
  write_joined(operation, holds, a.known & b.known, active);
}

/// FCHK asks if a division needs its slow way. Numbers in the middle do not; of others the limits
/// were not measured.
void WarpRegisters::execute_check_division(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b);
  Lanes known = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const bool is_known = is_moderate(a.values[lane]) && is_moderate(b.values[lane]);
    known |= static_cast<Lanes>(is_known) << lane;
  }
  write(operation.results[0], 0, active, known & a.known & b.known);
}

}  // namespace warpmeter::model::steps
