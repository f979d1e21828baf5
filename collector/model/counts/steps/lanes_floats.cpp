// SPDX-License-Identifier: MIT
// Floats of the registers of a warp: single precision.
#include "collector/model/counts/steps/floats.h"
#include "collector/model/counts/steps/lanes.h"

namespace warpmeter::model::steps {
namespace {

/// No number becomes 0.
float saturated(float value) { return value >= 1 ? 1.0F : value > 0 ? value : 0.0F; }

/// A number comes before none, and −0 before +0.
float least(float x, float y) {
  if (std::isnan(x)) return y;
  if (std::isnan(y) || x < y) return x;
  return x == y && std::signbit(x) ? x : y;
}

/// True where a division needs none of the precautions for very large and very small numbers: from
/// a millionth to a million.
bool is_moderate(std::uint32_t bits) {
  const std::uint32_t exponent = bits >> 23 & 255;
  return exponent >= 127 - 20 && exponent <= 127 + 20;
}

std::uint32_t special_function(unsigned number, std::uint32_t bits) {
  switch (number) {
    case 0:
      return of_steps::unit_sine(bits, 1);
    case 1:
      return of_steps::unit_sine(bits, 0);
    case 2:
      return of_steps::unit_ex2(bits);
    case 3:
      return of_steps::unit_lg2(bits);
    case 4:
      return of_steps::unit_rcp(bits);
    case 5:
      return of_steps::unit_rsqrt(bits);
    case 6:
      return of_steps::unit_rcp_64(bits);
    case 7:
      return of_steps::unit_rsqrt_64(bits);
    case 8:
      return of_steps::unit_sqrt(bits);
    default:
      return of_steps::unit_tanh(bits);
  }
}

}  // namespace

void WarpRegisters::execute_floats(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b), c = fetch(operation.c);
  const bool flushes = operation.flushes;
  const Row result = each_lane([&](unsigned lane) {
    if ((active >> lane & 1) == 0) return 0U;
    const float value = computed(operation, float_of(operation.a, a.values[lane], flushes),
                                 float_of(operation.b, b.values[lane], flushes),
                                 float_of(operation.c, c.values[lane], flushes));
    return bits_of(operation.saturates ? saturated(value) : value, flushes);
  });
  write(operation, 0, result, active, a.known & b.known & c.known);
}

/// FSEL takes the first where its predicate holds, FMNMX the least.
void WarpRegisters::execute_choice_of_floats(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b);
  const Split input = lanes_of(operation.input);
  const bool selects = operation.kind == Kind::select_floats;
  const Row result = each_lane([&](unsigned lane) {
    const bool is_first = (input.holds >> lane & 1) != 0;
    const std::uint32_t first = with_sign_of(operation.a, a.values[lane]),
                        second = with_sign_of(operation.b, b.values[lane]);
    if (selects && !operation.flushes) return is_first ? first : second;
    const float x = flushed(std::bit_cast<float>(first), operation.flushes),
                y = flushed(std::bit_cast<float>(second), operation.flushes);
    if (selects) return std::bit_cast<std::uint32_t>(is_first ? x : y);
    return bits_of(is_first ? least(x, y) : -least(-x, -y), false);
  });
  Lanes known = a.known & b.known;
  if (selects) known = (a.known & input.holds) | (b.known & ~input.holds);
  write(operation, 0, result, active, known & ~input.unknown);
}

void WarpRegisters::execute_special_function(const Operation& operation, Lanes active) {
  const Fetched from = fetch(operation.b);
  Row result;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const std::uint32_t bits = from.values[lane];
    // Divisors are alike in all lanes.
    const bool is_alike = lane != 0 && bits == from.values[lane - 1];
    result[lane] = is_alike ? result[lane - 1]
                            : special_function(operation.amount, with_sign_of(operation.b, bits));
  }
  write(operation, 0, result, active, from.known);
}

void WarpRegisters::execute_compare_floats(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b);
  Lanes holds = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const float x = float_of(operation.a, a.values[lane], operation.flushes),
                y = float_of(operation.b, b.values[lane], operation.flushes);
    holds |= static_cast<Lanes>(compared(x, y, operation.amount)) << lane;
  }
  write_joined(operation, holds, a.known & b.known, active);
}

/// FCHK asks if a division needs its slow way. A dividend of 0 does, and numbers in the middle do
/// not (both on an H200); of others the limits were not measured.
void WarpRegisters::execute_check_division(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b);
  Lanes known = 0, holds = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const bool is_zero = (a.values[lane] & ~sign_bit) == 0;
    const bool is_known = (is_zero || is_moderate(a.values[lane])) && is_moderate(b.values[lane]);
    known |= static_cast<Lanes>(is_known) << lane;
    holds |= static_cast<Lanes>(is_zero) << lane;
  }
  write(operation.results[0], holds, active, known & a.known & b.known);
}

}  // namespace warpmeter::model::steps
