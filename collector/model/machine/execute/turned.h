// SPDX-License-Identifier: MIT
// Vectors of all 32 lanes that lie anywhere: each lane's is moved as a whole, and turned between
// there and the rows, where a part's lanes follow each other. A lane's parts one by one cost
// several times as much, and vectors of one thread after the other (float4) are what bandwidth is
// made of.
//
// Part of memory.h; of two or four parts of four bytes, and of two of eight.

template <class M, class R>
constexpr bool is_turned(u32 parts) {
#if defined(__SSE2__)
  if (sizeof(M) != sizeof(R)) return false;
  return sizeof(R) == 4 ? parts == 2 || parts == 4 : sizeof(R) == 8 && parts == 2;
#else
  return parts == 0;
#endif
}

#if defined(__SSE2__)
inline __m128i bytes_16(const std::byte* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
inline __m128i bytes_8(const std::byte* from) {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
}
template <class R>
inline __m128i lanes_16(const R* from) {
  return _mm_load_si128(reinterpret_cast<const __m128i*>(from));
}
template <class R>
inline void set_lanes_16(R* to, __m128i lanes) {
  _mm_store_si128(reinterpret_cast<__m128i*>(to), lanes);
}

/// Four by four numbers of four bytes, rows for columns.
struct Square {
  __m128i rows[4];

  void turn() {
    const __m128i low = _mm_unpacklo_epi32(rows[0], rows[1]);
    const __m128i more_low = _mm_unpacklo_epi32(rows[2], rows[3]);
    const __m128i high = _mm_unpackhi_epi32(rows[0], rows[1]);
    const __m128i more_high = _mm_unpackhi_epi32(rows[2], rows[3]);
    rows[0] = _mm_unpacklo_epi64(low, more_low);
    rows[1] = _mm_unpackhi_epi64(low, more_low);
    rows[2] = _mm_unpacklo_epi64(high, more_high);
    rows[3] = _mm_unpackhi_epi64(high, more_high);
  }
};
#endif

/// `where`: a lane's vector on this machine.
template <class R, class Where>
inline void load_turned(const Warp& w, const Operation* op, u32 parts, const Where& where) {
#if defined(__SSE2__)
  R* const first = row<R>(w, part_of<R>(op, 0));
  R* const second = row<R>(w, part_of<R>(op, 1));
  if constexpr (sizeof(R) == 8) {
    for (u32 l = 0; l < lane_count; l += 2) {
      const __m128i one = bytes_16(where(l)), other = bytes_16(where(l + 1));
      set_lanes_16(first + l, _mm_unpacklo_epi64(one, other));
      set_lanes_16(second + l, _mm_unpackhi_epi64(one, other));
    }
  } else if (parts == 2) {
    for (u32 l = 0; l < lane_count; l += 4) {
      const __m128i low = _mm_unpacklo_epi32(bytes_8(where(l)), bytes_8(where(l + 1)));
      const __m128i high = _mm_unpacklo_epi32(bytes_8(where(l + 2)), bytes_8(where(l + 3)));
      set_lanes_16(first + l, _mm_unpacklo_epi64(low, high));
      set_lanes_16(second + l, _mm_unpackhi_epi64(low, high));
    }
  } else {
    R* const to[4] = {first, second, row<R>(w, part_of<R>(op, 2)), row<R>(w, part_of<R>(op, 3))};
    for (u32 l = 0; l < lane_count; l += 4) {
      Square lanes{{bytes_16(where(l)), bytes_16(where(l + 1)), bytes_16(where(l + 2)),
                    bytes_16(where(l + 3))}};
      lanes.turn();
      for (u32 part = 0; part < 4; ++part) set_lanes_16(to[part] + l, lanes.rows[part]);
    }
  }
#else
  (void)w, (void)op, (void)parts, (void)where;
#endif
}

/// In the order that leaves what stays where lanes meet (see for_each_storing_lane).
template <class R, class Where>
inline void store_turned(const Warp& w, const Operation* op, u32 parts, const Where& where) {
#if defined(__SSE2__)
  const R* const first = row<R>(w, part_of<R>(op, 0));
  const R* const second = row<R>(w, part_of<R>(op, 1));
  const u32 bytes = parts * sizeof(R);
  __m128i vectors[lane_count];  // the vectors of two lanes where they are of eight bytes
  if constexpr (sizeof(R) == 8) {
    for (u32 l = 0; l < lane_count; l += 2) {
      const __m128i one = lanes_16(first + l), other = lanes_16(second + l);
      vectors[l] = _mm_unpacklo_epi64(one, other);
      vectors[l + 1] = _mm_unpackhi_epi64(one, other);
    }
  } else if (parts == 2) {
    for (u32 l = 0; l < lane_count; l += 4) {
      const __m128i one = lanes_16(first + l), other = lanes_16(second + l);
      vectors[l / 2] = _mm_unpacklo_epi32(one, other);
      vectors[l / 2 + 1] = _mm_unpackhi_epi32(one, other);
    }
  } else {
    const R* const from[2] = {row<R>(w, part_of<R>(op, 2)), row<R>(w, part_of<R>(op, 3))};
    for (u32 l = 0; l < lane_count; l += 4) {
      Square lanes{{lanes_16(first + l), lanes_16(second + l), lanes_16(from[0] + l),
                    lanes_16(from[1] + l)}};
      lanes.turn();
      for (u32 i = 0; i < 4; ++i) vectors[l + i] = lanes.rows[i];
    }
  }
  const std::byte* const whole = reinterpret_cast<const std::byte*>(vectors);
  for_each_storing_lane(full_mask, bytes, [&](u32 l) {
    if (bytes == 8) {
      __builtin_memcpy(where(l), whole + std::size_t{l} * 8, 8);
    } else {
      __builtin_memcpy(where(l), whole + std::size_t{l} * 16, 16);
    }
  });
#else
  (void)w, (void)op, (void)parts, (void)where;
#endif
}
