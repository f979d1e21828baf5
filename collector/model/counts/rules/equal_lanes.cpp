// SPDX-License-Identifier: MIT
// The functions are written once, with the vectors that compilers know, and compiled for AVX2 and
// for any processor. AVX-512 has an instruction for the first of them. The ones to use are chosen
// when the first access is counted.
#include "collector/model/counts/rules/equal_lanes.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace warpmeter::model {
namespace {

using Words __attribute__((vector_size(32))) = std::uint32_t;
using SignedWords __attribute__((vector_size(32))) = std::int32_t;
using Bytes __attribute__((vector_size(32))) = std::uint8_t;
constexpr unsigned words_lanes = 8, vectors = warp_lanes / words_lanes;

/// The numbers of the warp, behind as many that no lane has: a vector of the numbers of lower lanes
/// begins anywhere.
template <class T>
struct Numbers {
  alignas(32) T all[2 * warp_lanes];

  T* of_lane() { return all + warp_lanes; }
  const T* of_lane() const { return all + warp_lanes; }
};
template <class T>
constexpr T nobody = static_cast<T>(~T{0});

#define INLINED [[gnu::always_inline]] inline

template <class Vector, class T>
INLINED void load(Vector& vector, const T* from) {
  std::memcpy(&vector, from, sizeof vector);
}

/// Lanes that are not in the mask have the number `nobody`.
template <class T>
INLINED void set_numbers(Numbers<T>& numbers, const LaneOffsets& offsets, int shift, T modulo,
                         std::uint32_t mask) {
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const bool is_active = (mask >> lane & 1) != 0;
    const T number = static_cast<T>(offsets.of_lane[lane] >> shift & modulo);
    numbers.all[lane] = nobody<T>;
    numbers.of_lane()[lane] = is_active ? number : nobody<T>;
  }
}

INLINED std::uint32_t or_of(const Words& words) {
  std::uint64_t part[4];
  std::memcpy(part, &words, sizeof part);
  const std::uint64_t all = part[0] | part[1] | part[2] | part[3];
  return static_cast<std::uint32_t>(all | all >> 32);
}

/// For each lane: is a lower one equal? Or, counted: how many are.
template <bool is_counted>
INLINED void compare_with_lower(Words (&equal)[vectors], const Numbers<std::uint32_t>& numbers) {
  for (unsigned i = 0; i < vectors; ++i) {
    const std::uint32_t* const at = numbers.of_lane() + std::size_t{i} * words_lanes;
    Words own, sum{};
    load(own, at);
#pragma GCC unroll 8
    for (unsigned distance = 1; distance < (i + 1) * words_lanes; ++distance) {
      Words lower;
      load(lower, at - distance);
      const Words same = reinterpret_cast<Words>(own == lower);
      if constexpr (is_counted) {
        sum -= same;
      } else {
        sum |= same;
      }
    }
    equal[i] = sum;
  }
}

/// A bit for each lane.
constexpr Words lane_bits[vectors] = {
    Words{1u << 0, 1u << 1, 1u << 2, 1u << 3, 1u << 4, 1u << 5, 1u << 6, 1u << 7},
    Words{1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15},
    Words{1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23},
    Words{1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31}};

/// The lanes whose number is not that of the lane before, where numbers rise from lane to lane or
/// stay, as those of rows and columns do; else 0. They are below 2^31, and `nobody` is below all.
INLINED std::uint32_t steps_of(const Numbers<std::uint32_t>& numbers) {
  Words falls{}, steps{};
  for (unsigned i = 0; i < vectors; ++i) {
    const std::uint32_t* const at = numbers.of_lane() + std::size_t{i} * words_lanes;
    Words own, before;
    load(own, at);
    load(before, at - 1);
    falls |= reinterpret_cast<Words>(reinterpret_cast<SignedWords>(own) <
                                     reinterpret_cast<SignedWords>(before));
    steps |= reinterpret_cast<Words>(own != before) & lane_bits[i];
  }
  return or_of(falls) != 0 ? 0 : or_of(steps);
}

INLINED std::uint32_t first_of_each_of(const LaneOffsets& offsets, int shift, std::uint32_t mask) {
  Numbers<std::uint32_t> numbers;
  set_numbers(numbers, offsets, shift, ~0u, mask);
  if (const std::uint32_t steps = mask == ~0u ? steps_of(numbers) : 0; steps != 0) return steps;
  Words equal[vectors];
  compare_with_lower<false>(equal, numbers);
  Words repeated{};
  for (unsigned i = 0; i < vectors; ++i) repeated |= equal[i] & lane_bits[i];
  return mask & ~or_of(repeated);
}

INLINED unsigned most_equal_of(const LaneOffsets& offsets, int shift, std::uint32_t mask) {
  Numbers<std::uint32_t> numbers;
  set_numbers(numbers, offsets, shift, ~0u, mask);
  Words equal[vectors];
  compare_with_lower<true>(equal, numbers);
  unsigned most = 0;
  for_each_lane(mask, [&](unsigned lane) {
    most = std::max(most, equal[lane / words_lanes][lane % words_lanes] + 1);
  });
  return most;
}

/// Numbers modulo a period of up to 32: a bit for each.
INLINED bool are_all_different(const LaneOffsets& offsets, int shift, unsigned period,
                               std::uint32_t mask) {
  std::uint32_t bits = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const std::uint32_t number = offsets.of_lane[lane] >> shift & (period - 1);
    bits |= (mask >> lane & 1) << number;
  }
  return std::popcount(bits) == std::popcount(mask);
}

INLINED unsigned most_equal_modulo_of(const LaneOffsets& offsets, int shift, unsigned period,
                                      std::uint32_t mask) {
  if (mask == 0) return 0;
  if (period <= warp_lanes && are_all_different(offsets, shift, period, mask)) return 1;
  Numbers<std::uint8_t> numbers;
  set_numbers(numbers, offsets, shift, static_cast<std::uint8_t>(period - 1), mask);
  Bytes own, sum{};
  load(own, numbers.of_lane());
#pragma GCC unroll 8
  for (unsigned distance = 1; distance < warp_lanes; ++distance) {
    Bytes lower;
    load(lower, numbers.of_lane() - distance);
    sum -= reinterpret_cast<Bytes>(own == lower);
  }
  sum &= reinterpret_cast<Bytes>(own != nobody<std::uint8_t>);
  std::uint8_t count[warp_lanes];
  std::memcpy(count, &sum, sizeof count);
  std::uint8_t most = 0;
  for (const std::uint8_t one : count) most = std::max(most, one);
  return most + 1u;
}

INLINED void set_offsets(LaneOffsets& result,
                         const std::array<std::uint64_t, warp_lanes>& addresses,
                         std::uint32_t mask) {
  constexpr std::uint64_t most_before = std::uint64_t{1} << 30;
  if (mask == 0) return;
  const std::uint64_t first = addresses[static_cast<unsigned>(std::countr_zero(mask))];
  const std::uint64_t base = (first & ~std::uint64_t{127}) - most_before;
  std::uint64_t bits = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const std::uint64_t offset = addresses[lane] - base;
    bits |= offset & (0 - std::uint64_t{mask >> lane & 1});
    result.of_lane[lane] = static_cast<std::uint32_t>(offset);
  }
  result.low_bits = static_cast<std::uint32_t>(bits & 127);
  result.is_near = bits < 2 * most_before;
}

struct Functions {
  void (*set_offsets)(LaneOffsets&, const std::array<std::uint64_t, warp_lanes>&, std::uint32_t);
  std::uint32_t (*first_of_each)(const LaneOffsets&, int, std::uint32_t);
  unsigned (*most_equal)(const LaneOffsets&, int, std::uint32_t);
  unsigned (*most_equal_modulo)(const LaneOffsets&, int, unsigned, std::uint32_t);
};

#define FUNCTIONS(name, ...)                                                                  \
  __VA_ARGS__ void name##_set_offsets(LaneOffsets& result,                                    \
                                      const std::array<std::uint64_t, warp_lanes>& addresses, \
                                      std::uint32_t mask) {                                   \
    set_offsets(result, addresses, mask);                                                     \
  }                                                                                           \
  __VA_ARGS__ std::uint32_t name##_first_of_each(const LaneOffsets& offsets, int shift,       \
                                                 std::uint32_t mask) {                        \
    return first_of_each_of(offsets, shift, mask);                                            \
  }                                                                                           \
  __VA_ARGS__ unsigned name##_most_equal(const LaneOffsets& offsets, int shift,               \
                                         std::uint32_t mask) {                                \
    return most_equal_of(offsets, shift, mask);                                               \
  }                                                                                           \
  __VA_ARGS__ unsigned name##_most_equal_modulo(const LaneOffsets& offsets, int shift,        \
                                                unsigned period, std::uint32_t mask) {        \
    return most_equal_modulo_of(offsets, shift, period, mask);                                \
  }                                                                                           \
  constexpr Functions name = {name##_set_offsets, name##_first_of_each, name##_most_equal,    \
                              name##_most_equal_modulo};

FUNCTIONS(anywhere, )
#if defined(__x86_64__)
FUNCTIONS(avx2, [[gnu::target("avx2,bmi,bmi2,popcnt")]])

/// Lanes of a half that a lower lane of it equals are found at once (vpconflictd); those of the
/// upper half are compared with each of the lower.
[[gnu::target("avx512f,avx512cd,bmi2")]] std::uint32_t avx512_first_of_each(
    const LaneOffsets& offsets, int shift, std::uint32_t mask) {
  constexpr unsigned half = warp_lanes / 2;
  constexpr __mmask16 every = 0xffff;  // gcc 12 takes the form without a mask for uninitialised
  alignas(64) std::uint32_t low_numbers[half];
  const auto low_mask = static_cast<__mmask16>(mask),
             high_mask = static_cast<__mmask16>(mask >> half);
  const __m128i by = _mm_cvtsi32_si128(shift);
  const __m512i low = _mm512_maskz_srl_epi32(every, _mm512_loadu_si512(offsets.of_lane.data()), by);
  const __m512i high =
      _mm512_maskz_srl_epi32(every, _mm512_loadu_si512(offsets.of_lane.data() + half), by);
  std::uint32_t repeated =
      _mm512_test_epi32_mask(_mm512_conflict_epi32(low), _mm512_set1_epi32(low_mask));
  if (high_mask == 0) return mask & ~repeated;
  __mmask16 high_repeated =
      _mm512_test_epi32_mask(_mm512_conflict_epi32(high), _mm512_set1_epi32(high_mask));
  // Offsets are below 2^31, `nobody` is not.
  _mm512_store_si512(low_numbers, _mm512_mask_mov_epi32(_mm512_set1_epi32(-1), low_mask, low));
  for (const std::uint32_t number : low_numbers) {
    high_repeated |= _mm512_cmpeq_epi32_mask(high, _mm512_set1_epi32(static_cast<int>(number)));
  }
  repeated |= std::uint32_t{high_repeated} << half;
  return mask & ~repeated;
}

constexpr Functions avx512 = {avx2_set_offsets, avx512_first_of_each, avx2_most_equal,
                              avx2_most_equal_modulo};
#endif

const Functions& functions() {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                               __builtin_cpu_supports("bmi2");
  static const bool has_avx512 =
      has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd");
  if (has_avx512) return avx512;
  if (has_avx2) return avx2;
#endif
  return anywhere;
}

}  // namespace

LaneOffsets offsets_of(const std::array<std::uint64_t, warp_lanes>& addresses, std::uint32_t mask) {
  LaneOffsets result;
  functions().set_offsets(result, addresses, mask);
  return result;
}

std::uint32_t first_of_each(const LaneOffsets& offsets, int shift, std::uint32_t mask) {
  return functions().first_of_each(offsets, shift, mask);
}

unsigned most_equal(const LaneOffsets& offsets, int shift, std::uint32_t mask) {
  return functions().most_equal(offsets, shift, mask);
}

unsigned most_equal_modulo(const LaneOffsets& offsets, int shift, unsigned period,
                           std::uint32_t mask) {
  return functions().most_equal_modulo(offsets, shift, period, mask);
}

}  // namespace warpmeter::model
