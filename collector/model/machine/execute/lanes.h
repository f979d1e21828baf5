// SPDX-License-Identifier: MIT
// Rows of 32 lanes, and what every operation does with them.

constexpr u32 full_mask = ~u32{0};
constexpr u32 lane_count = 32;

// Destination and sources are the same row or do not touch, so lanes are independent.
#if defined(__clang__)
#define EACH_LANE \
  _Pragma("clang loop vectorize(assume_safety)") for (u32 l = 0; l < lane_count; ++l)
#else
#define EACH_LANE _Pragma("GCC ivdep") for (u32 l = 0; l < lane_count; ++l)
#endif

template <class T>
inline T* row(const Warp& w, u16 unit) {
  return static_cast<T*>(
      __builtin_assume_aligned(w.registers + std::size_t{unit} * row_unit_bytes, row_unit_bytes));
}

/// A predicate operand: 2 × predicate + negated.
inline u32 predicate(const Warp& w, u16 operand) {
  const u32 bits = w.predicates[operand >> 1];
  return (operand & 1) != 0 ? ~bits : bits;
}

inline void set_predicate(const Warp& w, u16 index, u32 mask, u32 bits) {
  u32& p = w.predicates[index];
  p = (p & ~mask) | (bits & mask);
}

inline u32 first_lane(u32 mask) { return static_cast<u32>(__builtin_ctz(mask)); }

/// Takes the lanes of `mask` from `from`.
template <class T>
__attribute__((noinline)) void blend(T* to, const T* from, u32 mask) {
  EACH_LANE { to[l] = (mask >> l & 1) != 0 ? from[l] : to[l]; }
}

/// d[l] = value(l) for the lanes of the mask. All lanes are computed: an operation has no effect
/// but its value.
template <class T, class Value>
inline const Operation* assign(Warp& w, const Operation* op, u32 mask, Value value) {
  T* d = row<T>(w, op->d);
  if (mask == full_mask) {
    EACH_LANE { d[l] = value(l); }
  } else {
    alignas(64) T all[lane_count];
    EACH_LANE { all[l] = value(l); }
    blend(d, all, mask);
  }
  return op + 1;
}

/// The sign bits of 32 numbers.
inline u32 signs(const s32* numbers) {
#if defined(__AVX512DQ__)
  const u32 low = _mm512_movepi32_mask(_mm512_load_si512(numbers));
  const u32 high = _mm512_movepi32_mask(_mm512_load_si512(numbers + 16));
  return low | high << 16;
#elif defined(__AVX2__)
  u32 bits = 0;
  for (int i = 0; i < 4; ++i) {
    const __m256 part = _mm256_load_ps(reinterpret_cast<const float*>(numbers + 8 * i));
    bits |= static_cast<u32>(_mm256_movemask_ps(part)) << 8 * i;
  }
  return bits;
#elif defined(__SSE2__)
  u32 bits = 0;
  for (int i = 0; i < 8; ++i) {
    const __m128 part = _mm_load_ps(reinterpret_cast<const float*>(numbers + 4 * i));
    bits |= static_cast<u32>(_mm_movemask_ps(part)) << 4 * i;
  }
  return bits;
#else
  u32 bits = 0;
  for (u32 l = 0; l < lane_count; ++l) bits |= (static_cast<u32>(numbers[l]) >> 31) << l;
  return bits;
#endif
}

/// Bit l is condition(l).
template <class Condition>
inline u32 collect(Condition condition) {
  alignas(64) s32 all[lane_count];
  EACH_LANE { all[l] = condition(l) ? -1 : 0; }
  return signs(all);
}

#if defined(__AVX2__)
template <class T>
inline __m256i lanes_at(const T* from) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
}
#endif

/// The lanes whose address minus the first is not as remembered.
inline u32 moved_lanes(const u64* address, u64 first, const u64* delta) {
#if defined(__AVX512F__)
  const __m512i base = _mm512_set1_epi64(static_cast<s64>(first));
  u32 moved = 0;
  for (int i = 0; i < 4; ++i) {
    const __m512i distance = _mm512_sub_epi64(_mm512_load_si512(address + 8 * i), base);
    const u32 part = _mm512_cmpneq_epi64_mask(distance, _mm512_load_si512(delta + 8 * i));
    moved |= part << 8 * i;
  }
  return moved;
#elif defined(__AVX2__)
  const __m256i base = _mm256_set1_epi64x(static_cast<s64>(first));
  u32 same = 0;
  for (int i = 0; i < 8; ++i) {
    const __m256i distance = _mm256_sub_epi64(lanes_at(address + 4 * i), base);
    const __m256i equal = _mm256_cmpeq_epi64(distance, lanes_at(delta + 4 * i));
    same |= static_cast<u32>(_mm256_movemask_pd(_mm256_castsi256_pd(equal))) << 4 * i;
  }
  return ~same;
#else
  return collect([=](u32 l) { return address[l] - first != delta[l]; });
#endif
}
inline u32 moved_lanes(const u32* address, u32 first, const u32* delta) {
#if defined(__AVX512F__)
  const __m512i base = _mm512_set1_epi32(static_cast<s32>(first));
  const __m512i low = _mm512_sub_epi32(_mm512_load_si512(address), base);
  const __m512i high = _mm512_sub_epi32(_mm512_load_si512(address + 16), base);
  const u32 moved_low = _mm512_cmpneq_epi32_mask(low, _mm512_load_si512(delta));
  const u32 moved_high = _mm512_cmpneq_epi32_mask(high, _mm512_load_si512(delta + 16));
  return moved_low | moved_high << 16;
#elif defined(__AVX2__)
  const __m256i base = _mm256_set1_epi32(static_cast<s32>(first));
  u32 same = 0;
  for (int i = 0; i < 4; ++i) {
    const __m256i distance = _mm256_sub_epi32(lanes_at(address + 8 * i), base);
    const __m256i equal = _mm256_cmpeq_epi32(distance, lanes_at(delta + 8 * i));
    same |= static_cast<u32>(_mm256_movemask_ps(_mm256_castsi256_ps(equal))) << 8 * i;
  }
  return ~same;
#else
  return collect([=](u32 l) { return address[l] - first != delta[l]; });
#endif
}
