// SPDX-License-Identifier: MIT
// Arithmetic of the registers of a warp.
#include <algorithm>
#include <utility>

#include "collector/model/counts/steps/lanes.h"

namespace warpmeter::model::steps {
namespace {

std::uint32_t shifted(std::uint32_t high, std::uint32_t low, std::uint32_t amount,
                      const Operation& operation) {
  const bool is_long = operation.mode < 2;  // S64 and U64
  const bool is_signed = (operation.mode & 1) == 0;
  const std::uint32_t width = is_long ? 64 : 32;
  amount = operation.is_wrapped ? amount & (width - 1) : std::min(amount, width);
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  std::uint64_t result = 0;
  if (!operation.is_right) {
    result = amount == 64 ? 0 : both << amount;
  } else if (is_signed) {
    result = static_cast<std::uint64_t>(static_cast<std::int64_t>(both) >>
                                        std::min<std::uint32_t>(amount, 63));
  } else {
    result = amount == 64 ? 0 : both >> amount;
  }
  return static_cast<std::uint32_t>(operation.is_high ? result >> 32 : result);
}

std::uint32_t looked_up(std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned table) {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if ((table >> i & 1) == 0) continue;
    result |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  }
  return result;
}

std::uint32_t permuted(std::uint32_t a, std::uint32_t selector, std::uint32_t c) {
  const std::uint64_t bytes = std::uint64_t{c} << 32 | a;
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned choice = selector >> (4 * i) & 15;
    auto byte = static_cast<std::uint32_t>(bytes >> (8 * (choice & 7)) & 255);
    if ((choice & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

bool compared(std::int64_t a, std::int64_t b, unsigned how) {
  switch (how) {
    case 1:
      return a < b;
    case 2:
      return a == b;
    case 3:
      return a <= b;
    case 4:
      return a > b;
    case 5:
      return a != b;
    case 6:
      return a >= b;
    default:
      return how == 7;
  }
}

std::uint32_t reversed(std::uint32_t value) {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 32; ++i) result |= (value >> i & 1) << (31 - i);
  return result;
}

std::uint32_t with_sign(std::uint32_t value, bool is_negated) {
  return is_negated ? 0 - value : value;
}

std::uint64_t product(std::uint32_t x, std::uint32_t y, bool is_signed) {
  if (!is_signed) return std::uint64_t{x} * y;
  return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(x)} *
                                    static_cast<std::int32_t>(y));
}

std::uint32_t least(std::uint32_t x, std::uint32_t y, bool is_signed) {
  const bool is_first =
      is_signed ? static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y) : x < y;
  return is_first ? x : y;
}
std::uint32_t most(std::uint32_t x, std::uint32_t y, bool is_signed) {
  return least(x, y, is_signed) == x ? y : x;
}

}  // namespace

void WarpRegisters::execute_add(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b), c = fetch(operation.c);
  Lanes known = a.known & b.known & c.known;
  Lanes first_carry = 0, second_carry = 0, out = 0;
  if (operation.is_extended) {
    const Split first = lanes_of(operation.input), second = lanes_of(operation.second_input);
    first_carry = first.holds;
    second_carry = second.holds;
    known &= ~first.unknown & ~second.unknown;
  }
  const bool extends = operation.is_extended;
  const auto term = [&](std::uint32_t value, bool is_negated) -> std::uint64_t {
    return extends && is_negated ? ~value : value;
  };
  Row result;
  Lanes second_out = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    // A subtraction adds the complement, and one more.
    std::uint64_t sum = (first_carry >> lane & 1) + (second_carry >> lane & 1);
    for (const auto& [operand, fetched] :
         {std::pair{&operation.a, &a}, {&operation.b, &b}, {&operation.c, &c}}) {
      if (operand->is_negated && !extends) {
        sum += std::uint64_t{static_cast<std::uint32_t>(~fetched->values[lane])} + 1;
      } else {
        sum += term(fetched->values[lane], operand->is_negated) & 0xffffffff;
      }
    }
    result[lane] = static_cast<std::uint32_t>(sum);
    out |= static_cast<Lanes>((sum >> 32) >= 1) << lane;
    second_out |= static_cast<Lanes>((sum >> 32) >= 2) << lane;
  }
  write(operation, 0, result, active, known);
  write(operation.results[0], out, active, known);
  write(operation.results[1], second_out, active, known);
}

void WarpRegisters::execute_shift_add(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b);
  const bool sign_extends = operation.is_high && operation.is_signed;
  const Fetched c = fetch(operation.is_high && !sign_extends ? operation.c : Operand{});
  Lanes known = a.known & b.known & c.known, carry = 0, out = 0;
  if (operation.is_extended) {
    const Split input = lanes_of(operation.input);
    carry = input.holds;
    known &= ~input.unknown;
  }
  const bool extends = operation.is_extended;
  Row result;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const std::uint32_t high =
        sign_extends ? ((a.values[lane] >> 31) != 0 ? ~0U : 0U) : c.values[lane];
    std::uint64_t both = std::uint64_t{high} << 32 | a.values[lane];
    if (operation.a.is_negated) both = 0 - both;
    both <<= operation.amount;
    const auto left = static_cast<std::uint32_t>(operation.is_high ? both >> 32 : both);
    const std::uint32_t right = b.values[lane];
    std::uint64_t sum = std::uint64_t{left} + (carry >> lane & 1);
    if (operation.b.is_negated) {
      sum += std::uint64_t{static_cast<std::uint32_t>(~right)} + (extends ? 0 : 1);
    } else {
      sum += right;
    }
    result[lane] = static_cast<std::uint32_t>(sum);
    out |= static_cast<Lanes>((sum >> 32) != 0) << lane;
  }
  write(operation, 0, result, active, known);
  write(operation.results[0], out, active, known);
}

void WarpRegisters::execute_compare(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b);
  Lanes known = a.known & b.known;
  Split lower;
  if (operation.is_extended) {
    lower = lanes_of(operation.second_input);
    known &= ~lower.unknown;
  }
  Lanes holds = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const std::int64_t x = operation.is_signed ? static_cast<std::int32_t>(a.values[lane])
                                               : std::int64_t{a.values[lane]};
    const std::int64_t y = operation.is_signed ? static_cast<std::int32_t>(b.values[lane])
                                               : std::int64_t{b.values[lane]};
    bool result = compared(x, y, operation.amount);
    if (operation.is_extended && x == y) result = (lower.holds >> lane & 1) != 0;
    holds |= static_cast<Lanes>(result) << lane;
  }
  write_joined(operation, holds, known, active);
}

void WarpRegisters::execute_predicate_logic(const Operation& operation, Lanes active) {
  const Split a = lanes_of(operation.input), b = lanes_of(operation.second_input),
              c = lanes_of(operation.third_input);
  const auto put = [&](const Predicate& result, unsigned table) {
    // The answer is known where no unknown lane could change it.
    Lanes known = 0, holds = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      bool may_hold = false, may_fail = false;
      for (unsigned i = 0; i < 8; ++i) {
        const auto is_possible = [&](const Split& split, bool value) {
          return (split.unknown >> lane & 1) != 0 || ((split.holds >> lane & 1) != 0) == value;
        };
        if (!is_possible(a, (i & 4) != 0) || !is_possible(b, (i & 2) != 0) ||
            !is_possible(c, (i & 1) != 0)) {
          continue;
        }
        ((table >> i & 1) != 0 ? may_hold : may_fail) = true;
      }
      if (may_hold != may_fail) known |= Lanes{1} << lane;
      if (may_hold) holds |= Lanes{1} << lane;
    }
    write(result, holds, active, known);
  };
  const Predicate first = operation.results[0], second = operation.results[1];
  if (first.number == 7 || second.number == 7) {
    put(first, operation.amount);
    put(second, operation.mode);
    return;
  }
  // Both read what was there before.
  put(first, operation.amount);
  write(second, 0, active, 0);
}

void WarpRegisters::execute_multiply_add(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b), c = fetch(operation.c);
  Lanes known = a.known & b.known & c.known;
  const Split input = lanes_of(operation.input);
  Lanes carry = 0;
  if (operation.is_extended) {
    carry = input.holds;
    known &= ~input.unknown;
  }
  const bool negates = operation.c.is_negated;
  write(operation, 0, each_lane([&](unsigned lane) -> std::uint32_t {
          const std::uint32_t added = !negates                ? c.values[lane]
                                      : operation.is_extended ? ~c.values[lane]
                                                              : 0 - c.values[lane];
          return a.values[lane] * b.values[lane] + added + (carry >> lane & 1);
        }),
        active, known);
}

void WarpRegisters::execute_wide(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b), c = fetch(operation.c);
  Lanes known = a.known & b.known & c.known;
  const bool is_signed = operation.is_signed;
  const bool is_wide = operation.kind == Kind::multiply_add_wide;
  const Fetched upper = fetch(operation.c.is_zero() ? Operand{} : operation.c, 1);
  known &= upper.known;
  Row low, high;
  Lanes out = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    std::uint64_t added = std::uint64_t{upper.values[lane]} << 32 | c.values[lane];
    if (operation.c.is_negated) added = 0 - added;
    const std::uint64_t sum = product(a.values[lane], b.values[lane], is_signed) + added;
    out |= static_cast<Lanes>(sum < added) << lane;
    low[lane] = static_cast<std::uint32_t>(sum);
    high[lane] = static_cast<std::uint32_t>(sum >> 32);
  }
  write(operation, 0, is_wide ? low : high, active, known);
  if (is_wide) write(operation, 1, high, active, known);
  write(operation.results[0], out, active, is_signed || operation.c.is_negated ? 0 : known);
}

void WarpRegisters::execute_logic(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b), c = fetch(operation.c);
  const Split input = lanes_of(operation.input);
  const Row result = each_lane([&](unsigned lane) {
    return looked_up(a.values[lane], b.values[lane], c.values[lane], operation.amount);
  });
  // An operand need not be known if no bit of the table depends on it.
  const unsigned table = operation.amount;
  Lanes all = all_lanes;
  if ((table >> 4 & 0xf) != (table & 0xf)) all &= a.known;
  if ((table >> 2 & 0x33) != (table & 0x33)) all &= b.known;
  if ((table >> 1 & 0x55) != (table & 0x55)) all &= c.known;
  write(operation, 0, result, active, all);
  Lanes holds = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    holds |= static_cast<Lanes>(result[lane] != 0) << lane;
  }
  const bool joins_and = operation.mode == 1;
  write(operation.results[0], joins_and ? holds & input.holds : holds | input.holds, active,
        all & ~input.unknown);
}

void WarpRegisters::execute_select(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b);
  const Split input = lanes_of(operation.input);
  const Lanes chosen = (a.known & input.holds) | (b.known & ~input.holds);
  write(operation, 0, each_lane([&](unsigned lane) {
          return (input.holds >> lane & 1) != 0 ? a.values[lane] : b.values[lane];
        }),
        active, chosen & ~input.unknown);
}

void WarpRegisters::execute_minimum(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b), c = fetch(operation.c);
  Lanes known = a.known & b.known & c.known;
  const Split input = lanes_of(operation.input);
  known &= ~input.unknown;
  const bool adds = operation.kind == Kind::add_minimum;
  write(operation, 0, each_lane([&](unsigned lane) {
          const std::uint32_t x =
              adds ? a.values[lane] + with_sign(b.values[lane], operation.b.is_negated)
                   : a.values[lane];
          const std::uint32_t y = adds ? c.values[lane] : b.values[lane];
          return (input.holds >> lane & 1) != 0 ? least(x, y, operation.is_signed)
                                                : most(x, y, operation.is_signed);
        }),
        active, known);
}

void WarpRegisters::execute_arithmetic(const Operation& operation, Lanes active) {
  const Fetched a = fetch(operation.a), b = fetch(operation.b), c = fetch(operation.c);
  const Lanes known = a.known & b.known & c.known;
  const auto put = [&](auto compute) {
    write(operation, 0, each_lane([&](unsigned lane) -> std::uint32_t {
            return compute(a.values[lane], b.values[lane], c.values[lane]);
          }),
          active, known);
  };
  using U = std::uint32_t;
  switch (operation.kind) {
    case Kind::multiply_add:
      return execute_multiply_add(operation, active);
    case Kind::multiply_add_wide:
    case Kind::multiply_add_high:
      return execute_wide(operation, active);
    case Kind::logic:
      return execute_logic(operation, active);
    case Kind::shift:
      return put([&](U x, U y, U z) { return shifted(z, x, y, operation); });
    case Kind::select:
      return execute_select(operation, active);
    case Kind::minimum:
    case Kind::add_minimum:
      return execute_minimum(operation, active);
    case Kind::move:
      return put([](U, U y, U) { return y; });
    case Kind::absolute:
      return put([](U, U y, U) { return static_cast<std::int32_t>(y) < 0 ? 0 - y : y; });
    case Kind::count_bits:
      return put([&](U, U y, U) -> U {
        return static_cast<U>(std::popcount(operation.b.is_negated ? ~y : y));
      });
    case Kind::leading_bit:
      return put([&](U, U y, U) -> U {
        const U bits = operation.b.is_negated ? ~y : y;
        if (bits == 0) return ~U{0};
        const auto from_top = static_cast<U>(std::countl_zero(bits));
        return operation.is_high ? from_top : 31 - from_top;
      });
    case Kind::reverse:
      return put([](U, U y, U) { return reversed(y); });
    case Kind::permute:
      return put([](U x, U y, U z) { return permuted(x, y, z); });
    default:
      forget(operation, active);
  }
}

}  // namespace warpmeter::model::steps
