// SPDX-License-Identifier: MIT
// Doubles of the registers of a warp, two registers each, and conversions between numbers.
#include "collector/model/counts/steps/floats.h"
#include "collector/model/counts/steps/lanes.h"

namespace warpmeter::model::steps {
namespace {

template <class Float>
Float whole(Float value, unsigned rounding) {
  switch (rounding) {
    case down:
      return std::floor(value);
    case up:
      return std::ceil(value);
    case towards_zero:
      return std::trunc(value);
    default:
      return of_steps::nearest_whole(value);
  }
}

/// To an integer of 32 or 64 bits.
template <class Float>
std::uint64_t integer_of(const Operation& operation, Float value) {
  const Float all = whole(value, operation.rounding);
  if (operation.result_registers == 2) {
    return operation.is_signed ? static_cast<std::uint64_t>(of_steps::truncated_s64(all))
                               : of_steps::truncated_u64(all);
  }
  return operation.is_signed ? static_cast<std::uint32_t>(of_steps::truncated_s32(all))
                             : of_steps::truncated_u32(all);
}

template <class Integer>
std::uint64_t float_of_integer(const Operation& operation, Integer value) {
  const bool is_nearest = operation.rounding == to_nearest;
  const Rounding rounding = rounding_of(operation.rounding);
  if (operation.result_registers == 2) {
    return std::bit_cast<std::uint64_t>(is_nearest ? static_cast<double>(value)
                                                   : rounded_to_f64(value, rounding));
  }
  return std::bit_cast<std::uint32_t>(is_nearest ? static_cast<float>(value)
                                                 : rounded_to_f32(value, rounding));
}

/// A float of 32 or 64 bits; no number is not given: whose bits it keeps is not known.
std::optional<std::uint64_t> float_of_float(const Operation& operation, double value) {
  if (std::isnan(value)) return std::nullopt;
  if (operation.result_registers == 2) return std::bit_cast<std::uint64_t>(value);
  const float result = operation.rounding == to_nearest
                           ? static_cast<float>(value)
                           : rounded_to_f32(value, rounding_of(operation.rounding));
  return bits_of(result, operation.flushes);
}

std::optional<std::uint64_t> converted(const Operation& operation, std::uint64_t bits) {
  if (operation.kind == Kind::integer_to_float) {
    if (!operation.is_signed) return float_of_integer(operation, bits);
    const auto value = static_cast<std::int64_t>(bits);
    return float_of_integer(
        operation,
        operation.is_high ? value : static_cast<std::int32_t>(static_cast<std::uint32_t>(bits)));
  }
  if (operation.is_high) {
    const double value = double_of(operation.b, bits);
    if (operation.kind == Kind::float_to_integer) return integer_of(operation, value);
    const bool is_whole = operation.kind == Kind::float_to_whole;
    return float_of_float(operation, is_whole ? whole(value, operation.rounding) : value);
  }
  const float value = float_of(operation.b, static_cast<std::uint32_t>(bits), operation.flushes);
  if (operation.kind == Kind::float_to_integer) return integer_of(operation, value);
  const bool is_whole = operation.kind == Kind::float_to_whole;
  return float_of_float(operation, double{is_whole ? whole(value, operation.rounding) : value});
}

}  // namespace

/// An immediate double has its upper half in the instruction.
WarpRegisters::FetchedPairs WarpRegisters::fetch_pairs(const Operand& operand,
                                                       bool is_double) const {
  Fetched low = fetch(operand), high = fetch(operand, 1);
  if (operand.form == Operand::Form::immediate) {
    (is_double ? low : high).values.fill(0);
  }
  FetchedPairs result;
  result.known = low.known & high.known;
  for (unsigned lane = 0; lane < 32; ++lane) {
    result.values[lane] = std::uint64_t{high.values[lane]} << 32 | low.values[lane];
  }
  return result;
}

void WarpRegisters::write_pairs(const Operation& operation,
                                const std::array<std::uint64_t, 32>& values, Lanes active,
                                Lanes known) {
  for (unsigned i = 0; i < operation.result_registers; ++i) {
    write(operation, i, each_lane([&](unsigned lane) {
            return static_cast<std::uint32_t>(values[lane] >> (32 * i));
          }),
          active, known);
  }
}

/// Which of two that are no numbers stays is not known.
void WarpRegisters::execute_doubles(const Operation& operation, Lanes active) {
  const FetchedPairs a = fetch_pairs(operation.a, true), b = fetch_pairs(operation.b, true),
                     c = fetch_pairs(operation.c, true);
  std::array<std::uint64_t, 32> results = {};
  Lanes known = a.known & b.known & c.known & active;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((known >> lane & 1) == 0) continue;
    const double value =
        computed(operation, double_of(operation.a, a.values[lane]),
                 double_of(operation.b, b.values[lane]), double_of(operation.c, c.values[lane]));
    if (std::isnan(value)) known &= ~(Lanes{1} << lane);
    results[lane] = std::bit_cast<std::uint64_t>(value);
  }
  write_pairs(operation, results, active, known);
}

void WarpRegisters::execute_compare_doubles(const Operation& operation, Lanes active) {
  const FetchedPairs a = fetch_pairs(operation.a, true), b = fetch_pairs(operation.b, true);
  Lanes holds = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const double x = double_of(operation.a, a.values[lane]),
                 y = double_of(operation.b, b.values[lane]);
    holds |= static_cast<Lanes>(compared(x, y, operation.amount)) << lane;
  }
  write_joined(operation, holds, a.known & b.known, active);
}

void WarpRegisters::execute_conversion(const Operation& operation, Lanes active) {
  const bool is_of_integers = operation.kind == Kind::integer_to_float;
  FetchedPairs from;
  if (operation.is_high) {
    from = fetch_pairs(operation.b, !is_of_integers);
  } else {
    const Fetched low = fetch(operation.b);
    from.known = low.known;
    for (unsigned lane = 0; lane < 32; ++lane) from.values[lane] = low.values[lane];
  }
  std::array<std::uint64_t, 32> results = {};
  Lanes known = from.known & active;
  std::optional<std::uint64_t> value;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const bool is_alike = lane != 0 && from.values[lane] == from.values[lane - 1];
    if (!is_alike) value = converted(operation, from.values[lane]);
    if (!value) known &= ~(Lanes{1} << lane);
    results[lane] = value.value_or(0);
  }
  write_pairs(operation, results, active, known);
}

}  // namespace warpmeter::model::steps
