// SPDX-License-Identifier: MIT
// Products of a sparse first operand (mma.sp): of each four numbers of a line two are there, and
// metadata say which (matrix_product.h). An H200 was asked (tests/golden/matrix): it multiplies
// what is there with the numbers of the second operand at those places, and adds as for a dense
// product of k / 2, whatever the metadata say, both numbers at one place too; `.sp` and
// `.sp::ordered_metadata` are the same.

constexpr u32 most_sparse_k = 64;  ///< numbers of a line that are there

struct SparsePlaces {
  u8 at[16][most_sparse_k];
};

inline void read_places(const Warp& w, const MatrixProduct& product, SparsePlaces& to) {
  const u32* metadata = row<u32>(w, product.metadata);
  const MatrixNumber number = product.first.number;
  const bool is_word = number == MatrixNumber::tf32;
  const bool is_narrow = number != MatrixNumber::f16 && number != MatrixNumber::bf16 && !is_word;
  const bool is_nibble = number == MatrixNumber::u4 || number == MatrixNumber::s4;
  // The four bits of the n-th four of a line.
  const auto four_bits = [&](u32 line, u32 n) {
    const u32 first = line % 8 * 4 + product.metadata_lane, high = line / 8;
    return is_narrow ? metadata[first + high + n / 8 * 2] >> 4 * (n % 8)
                     : metadata[first + n / 4] >> (16 * high + 4 * (n % 4));
  };
  for (u32 line = 0; line < 16; ++line) {
    for (u32 i = 0; i < product.k; ++i) {
      u8& at = to.at[line][i];
      if (is_word) {
        at = static_cast<u8>(2 * i + (four_bits(line, i) >> 1 & 1));
      } else if (is_nibble) {
        const u32 pair = i / 2, place = four_bits(line, pair / 2) >> 2 * (pair % 2) & 3;
        at = static_cast<u8>((pair / 2 * 4 + place) * 2 + i % 2);
      } else {
        at = static_cast<u8>(i / 2 * 4 + (four_bits(line, i / 2) >> 2 * (i % 2) & 3));
      }
    }
  }
}

/// Floats of the second operand by line and k, as bits; those of 8 bits as f16.
struct SparseBits {
  u32 bits[8][2 * most_sparse_k];
};
inline void read_bits(const Warp& w, const MatrixOperand& operand, SparseBits& to) {
  const u32 per = operand.number == MatrixNumber::tf32 ? 1
                  : operand.number == MatrixNumber::e4m3 || operand.number == MatrixNumber::e5m2
                      ? 4
                      : 2;
  for_each_part(operand, per, [&](u32 t, u32 l, u32 line, u32 at) {
    const u32 bits = row<u32>(w, operand.rows[t])[l];
    for (u32 i = 0; i < per; ++i) {
      to.bits[line][at + i] = operand.number == MatrixNumber::tf32   ? bits >> 13
                              : operand.number == MatrixNumber::e4m3 ? half_from_e4m3(bits >> 8 * i)
                              : operand.number == MatrixNumber::e5m2 ? half_from_e5m2(bits >> 8 * i)
                                                                     : bits >> 16 * i & 0xffff;
    }
  });
}

/// Adds the products of `count` numbers of each line, of which the n-th is the number_at(n)-th.
template <class NumberAt>
inline void add_chosen(const MatrixProduct& product, const MatrixFloats& first,
                       const SparseBits& second, const SparsePlaces& places, u32 count,
                       bool is_half, const NumberAt& number_at, MatrixResults& sums) {
  for (u32 j = 0; j < product.second_lines; ++j) {
    MatrixFloats chosen;
    for (u32 n = 0; n < count; ++n) {
      for (u32 i = 0; i < 16; ++i) {
        chosen.bits[n][i] = second.bits[j][places.at[i][number_at(n)]];
      }
    }
    split_floats(product.second.number, 16, count, chosen);
    fused_line<16>(first, OwnLine{chosen}, {0, count}, long_sums, is_half, sums.bits[j]);
  }
}

inline void multiply_sparse_floats(Warp& w, const MatrixProduct& product,
                                   const SparsePlaces& places, MatrixResults& sums) {
  SparseBits second;
  read_bits(w, product.second, second);
  MatrixFloats first;
  const bool is_half = product.result.number == MatrixNumber::f16;
  if (product.rule == MatrixRule::fused) {
    read_floats(w, product.first, 0, 16, product.k, first);
    add_chosen(
        product, first, second, places, product.k, is_half, [](u32 n) { return n; }, sums);
    return;
  }
  MatrixResults halves = {};
  for (u32 half = 0; half < 2; ++half) {
    read_floats(w, product.first, half, 16, product.k / 2u, first);
    add_chosen(
        product, first, second, places, product.k / 2u, is_half,
        [&](u32 n) { return n / 2 * 4 + 2 * half + n % 2; }, halves);
  }
  add_halves(product, halves, is_half, sums);
}

inline void multiply_sparse_wholes(Warp& w, const MatrixProduct& product,
                                   const SparsePlaces& places, MatrixResults& sums) {
  MatrixWholes<s16> first;
  read_wholes(w, product.first, first);
  s16 second[8][2 * most_sparse_k];
  for_each_whole(w, product.second,
                 [&](u32 line, u32 at, s16 number) { second[line][at] = number; });
  for (u32 j = 0; j < product.second_lines; ++j) {
    for (u32 i = 0; i < 16; ++i) {
      s64 all = static_cast<s32>(sums.bits[j][i]);
      for (u32 at = 0; at < product.k; ++at) {
        all += s32{first.value[i][at]} * s32{second[j][places.at[i][at]]};
      }
      if (product.saturates) all = clamp_s64(all, INT32_MIN, INT32_MAX);
      sums.bits[j][i] = static_cast<u32>(all);
    }
  }
}

const Operation* do_multiply_sparse(Warp& w, const Operation* op, u32 mask) {
  const MatrixProduct& product = w.products[op->extra];
  SparsePlaces places;
  read_places(w, product, places);
  MatrixResults sums;
  read_sums(w, product, sums);
  if (product.rule == MatrixRule::integer) {
    multiply_sparse_wholes(w, product, places, sums);
  } else {
    multiply_sparse_floats(w, product, places, sums);
  }
  write_results(w, product, sums, mask);
  return op + 1;
}
