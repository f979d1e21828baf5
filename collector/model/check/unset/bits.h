// SPDX-License-Identifier: MIT
// The unset bits' way through one instruction of one lane.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "collector/model/machine/warp/unset_steps.h"

namespace warpmeter::model::check {

/// The unset bits of one register in one lane: bits that are unset, and bits that are zero because
/// of the instruction that moved the others there, and so tell nothing.
struct UnsetBits {
  std::uint64_t unset = 0, empty = 0;

  bool operator==(const UnsetBits&) const = default;
};

/// A number, and which of its bits are known.
struct Value {
  std::uint64_t bits = 0, known = 0;
};

struct UnsetSource {
  UnsetBits bits;
  Value value;
};

inline constexpr std::size_t most_unset_results = 8;
using UnsetResults = std::array<UnsetBits, most_unset_results>;

constexpr std::uint64_t low_bits(std::uint32_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

constexpr bool is_shuffle(ptx::Spread spread) {
  return spread >= ptx::Spread::shuffle_up && spread <= ptx::Spread::shuffle_index;
}

/// True if lanes give each other what they have.
constexpr bool is_exchange(ptx::Spread spread) {
  return spread >= ptx::Spread::shuffle_up && spread <= ptx::Spread::matrix_transpose;
}

/// True if all of the low bits that carry something are unset, and there are some.
constexpr bool is_whole(const UnsetBits& bits, std::uint32_t count) {
  const std::uint64_t mask = low_bits(count);
  return (bits.unset & mask) != 0 && ((bits.unset | bits.empty) & mask) == mask;
}

/// Cut to `count` bits; what is above them repeats the sign, or is zero.
UnsetBits extended(UnsetBits from, std::uint32_t count, bool is_signed);

/// The unset bits of each result of an instruction that is no exchange between lanes. Bits above a
/// register's width are of no meaning.
UnsetResults spread_bits(const UnsetStep& step, std::span<const UnsetSource> sources);

}  // namespace warpmeter::model::check
