// SPDX-License-Identifier: MIT
// The operations that the machine executes: PTX instructions turned into fixed-size operations, 32
// bytes each.
//
// A warp's registers are rows of 32 lanes in one block of memory, and predicates, one 32-bit mask
// each. An operand is the number of its row's first 64 bytes (a 32-bit row fills two such units) or
// of its predicate. Immediates, %tid and the like are rows too, filled before the warp starts; so
// an operation never asks what kind its operands are.
//
// Everything here and in warp.h is plain data without a function body: the units of execute/ are
// compiled for different instruction sets, and a function that two of them share could be linked
// from the wrong one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpmeter::model {

inline constexpr std::size_t row_unit_bytes = 64;

/// One operation, by its code in operations.h.
enum class Code : std::uint16_t {
#define UNARY(code, ...) code,
#define BINARY(code, ...) code,
#define TERNARY(code, ...) code,
#define COMPARE(code, ...) code,
#define CLASSIFY(code, ...) code,
#define CONVERT(code, ...) code,
#define CARRY(code, ...) code,
#define LOAD(code, ...) code##_a32, code##_a64, code##_v_a32, code##_v_a64,
#define STORE(code, ...) code##_a32, code##_a64, code##_v_a32, code##_v_a64,
#define OTHER(code, ...) code,
#include "collector/model/machine/warp/operations.h"
  count
};

inline constexpr std::uint16_t no_guard = 0xffff;
inline constexpr std::uint16_t no_operand = 0xffff;

/// Guards and other predicate operands that may be negated are 2 × predicate + negated.
struct Operation {
  Code code;
  std::uint16_t guard;          ///< no_guard: every active lane executes
  std::uint16_t d;              ///< destination: row or predicate
  std::uint16_t a, b, c, e, f;  ///< sources, or further destinations
  std::int64_t imm;             ///< address offset, branch's reconvergence, table, mode
  std::uint32_t extra;          ///< memory site, branch target
  std::uint32_t instruction;    ///< index into Program::instructions
};
static_assert(sizeof(Operation) == 32);

/// How setp combines its comparison with a third predicate.
enum class Combine : std::uint16_t { none, bit_and, bit_or, bit_xor };

inline constexpr std::uint32_t barriers_of_block = 16;

/// The work of a barrier besides waiting. Operation::a is its number, b how many threads take part
/// (0: all), c the predicate that is asked, d where the answer goes, f the kind. Where the number
/// is written and all take part, as in __syncthreads(), e is one more than the number, else 0.
enum class BarrierKind : std::uint16_t { sync, arrive, all, any, count };
/// In Operation::imm of a barrier: lanes of a warp need not come to it together, it is not
/// .aligned. The bits above that one are the same in all copies of an instruction, where functions
/// are inlined.
inline constexpr std::int64_t barrier_is_unaligned = 1;

/// Operation::imm of narrow_f64: the format, the rounding (a Narrowing of execute/narrow.h:
/// nearest, towards zero, down, up, away), whether it never gives an infinity, and whether a NaN
/// keeps its sign and what the format has room for.
enum class NarrowFormat : std::uint8_t { f16, bf16, e4m3, e5m2, tf32 };
inline constexpr int narrow_rounding_shift = 8;
inline constexpr std::int64_t narrow_saturates = 1 << 16, narrow_keeps_nan = 1 << 17;

/// Operation::imm of a video instruction: what it does, and these.
enum class VideoKind : std::uint8_t {
  add,
  sub,
  average,
  distance,
  minimum,
  maximum,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  shift_left,
  shift_right,
  product,  ///< vmad
};
inline constexpr std::uint32_t video_by_four = 1 << 8, video_d_signed = 1 << 9,
                               video_a_signed = 1 << 10, video_b_signed = 1 << 11,
                               video_saturates = 1 << 12, video_adds = 1 << 13,
                               video_wraps = 1 << 14;
/// For two or four numbers at once: where it is said which part of the sources each part of the
/// result is made of, three bits each (the parts of a, then those of b), and which are written.
inline constexpr int video_parts_of_a = 16, video_parts_of_b = 28, video_written = 40;
/// For one number: where its VideoParts are, and what is done with the third source.
enum class VideoPart : std::uint8_t { whole, b0, b1, b2, b3, h0, h1 };
inline constexpr int video_part_of_a = 16, video_part_of_b = 20, video_part_of_d = 24;
enum class VideoSecond : std::uint8_t { none, add, minimum, maximum };
inline constexpr int video_second = 28;
/// For vmad: 1 is added, or the product or the summand is negated; and the shift to the right.
inline constexpr std::uint64_t video_adds_one = std::uint64_t{1} << 32,
                               video_negates_product = std::uint64_t{1} << 33,
                               video_negates_sum = std::uint64_t{1} << 34;
inline constexpr int video_shift = 36;

}  // namespace warpmeter::model
