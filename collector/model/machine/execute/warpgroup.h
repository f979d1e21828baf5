// SPDX-License-Identifier: MIT
// Products of whole warpgroups (wgmma): each warp multiplies its own 16 lines when it comes to the
// instruction, one of the orders that hardware may take, and none goes on behind a wait before the
// others have multiplied as often: what they read may change then. An H200 was asked for 12 types
// of floats (tests/runtime/programs/warpgroup_products.cu); it adds as for mma (matrix_sums.h), all
// k in one sum, but of 8-bit floats it keeps 13 binary places, of the products and of an f32
// result.

constexpr u32 columns_at_once = 16;

/// `words`: 32 bits of a line, by line and which of its eight.
template <class Put>
inline void for_each_word(u32 lines, const std::byte* const* pieces, const Put& put) {
  for (u32 line = 0; line < lines; ++line) {
    for (u32 at = 0; at < 8; ++at) {
      put(line, at, read<u32>(pieces[2 * line + at / 4] + at % 4 * 4));
    }
  }
}
/// The same of A in registers.
template <class Put>
inline void for_each_word(const Warp& w, const WarpgroupProduct& product, const Put& put) {
  for (u32 t = 0; t < 4; ++t) {
    const u32* from = row<u32>(w, product.first_rows[t]);
    for (u32 l = 0; l < lane_count; ++l) put(l / 4 + t % 2 * 8, t / 2 * 4 + l % 4, from[l]);
  }
}

/// Numbers of a kind from the words of lines.
template <class Words>
inline void put_floats(MatrixNumber number, bool negates, const Words& words, MatrixFloats& to) {
  switch (number) {
    case MatrixNumber::tf32: {
      const u32 sign = negates ? 0x80000000 : 0;
      words([&](u32 line, u32 at, u32 bits) { to.bits[at][line] = (bits ^ sign) >> 13; });
      break;
    }
    case MatrixNumber::e4m3:
    case MatrixNumber::e5m2: {
      const u32 sign = negates ? 0x80808080 : 0;
      words([&](u32 line, u32 at, u32 bits) {
        bits ^= sign;
        for (u32 i = 0; i < 4; ++i) to.bits[4 * at + i][line] = bits >> 8 * i & 255;
      });
      break;
    }
    default: {
      const u32 sign = negates ? 0x80008000 : 0;
      words([&](u32 line, u32 at, u32 bits) {
        bits ^= sign;
        to.bits[2 * at][line] = bits & 0xffff;
        to.bits[2 * at + 1][line] = bits >> 16;
      });
      break;
    }
  }
}

inline void split(MatrixNumber number, u32 lines, u32 k, MatrixFloats& of) {
  switch (number) {
    case MatrixNumber::e4m3:
      return split_floats<matrix_e4m3.mantissa_bits, matrix_e4m3.exponent_bits>(lines, k, of);
    case MatrixNumber::e5m2:
      return split_floats<matrix_e5m2.mantissa_bits, matrix_e5m2.exponent_bits>(lines, k, of);
    default:
      return split_floats(number, lines, k, of);
  }
}

/// The numbers of 16 bits of a turned matrix: `lines` of `all`, from the first on.
inline void put_turned(const std::byte* const* pieces, u32 all, u32 from, u32 lines, bool negates,
                       MatrixFloats& to) {
  const u16 sign = negates ? 0x8000 : 0;
  for (u32 k = 0; k < 16; ++k) {
    for (u32 line = 0; line < lines; line += 8) {
      const std::byte* at = pieces[k * (all / 8) + (from + line) / 8];
      for (u32 i = 0; i < 8; ++i) to.bits[k][line + i] = read<u16>(at + 2 * i) ^ sign;
    }
  }
}

/// Visits the registers of a result's columns: each(register, first column among those, of f16 in
/// pairs, half of the 16 lines).
template <class Each>
inline void for_each_sum(const WarpgroupProduct& product, u32 from, u32 columns, const Each& each) {
  const u32 of_tile = product.result == MatrixNumber::f16 ? 2 : 4;
  for (u32 tile = 0; tile < columns / 8; ++tile) {
    for (u32 r = 0; r < of_tile; ++r) {
      const u32 high = of_tile == 2 ? r : r / 2, odd = of_tile == 2 ? 0 : r % 2;
      each(product.sums[(from / 8 + tile) * of_tile + r], tile * 8 + odd, high * 8);
    }
  }
}

inline void read_sums(const Warp& w, const WarpgroupProduct& product, u32 from, u32 columns,
                      MatrixResults& sums) {
  const bool is_half = product.result == MatrixNumber::f16;
  for_each_sum(product, from, columns, [&](u16 register_row, u32 column, u32 line) {
    const u32* bits = row<u32>(w, register_row);
    for (u32 l = 0; l < lane_count; ++l) {
      u32* const to = &sums.bits[column + l % 4 * 2][line + l / 4];
      *to = is_half ? bits[l] & 0xffff : bits[l];
      if (is_half) to[most_lines] = bits[l] >> 16;
    }
  });
}

inline void write_sums(Warp& w, const WarpgroupProduct& product, u32 from, u32 columns, u32 mask,
                       const MatrixResults& sums) {
  const bool is_half = product.result == MatrixNumber::f16;
  for_each_sum(product, from, columns, [&](u16 register_row, u32 column, u32 line) {
    alignas(64) u32 bits[lane_count];
    for (u32 l = 0; l < lane_count; ++l) {
      const u32* const of = &sums.bits[column + l % 4 * 2][line + l / 4];
      bits[l] = is_half ? of[0] | of[most_lines] << 16 : of[0];
    }
    blend(row<u32>(w, register_row), bits, mask);
  });
}

/// Calls each(first column, how many) with the sums of those columns, and gives them back.
template <class Each>
inline void add_by_columns(Warp& w, const WarpgroupProduct& product, bool adds, u32 mask,
                           const Each& each) {
  for (u32 from = 0; from < product.n; from += columns_at_once) {
    const u32 left = product.n - from;
    const u32 columns = left < columns_at_once ? left : columns_at_once;
    MatrixResults sums;
    if (adds) {
      read_sums(w, product, from, columns, sums);
    } else {
      __builtin_memset(&sums, 0, sizeof(sums));
    }
    each(from, columns, sums);
    write_sums(w, product, from, columns, mask, sums);
  }
}

inline void add_floats(Warp& w, const WarpgroupProduct& product, const WarpgroupOperands& operands,
                       bool adds, u32 mask) {
  const bool is_small = product.first == MatrixNumber::e4m3 || product.first == MatrixNumber::e5m2;
  const MatrixPrecision precision = is_small ? short_sums : long_sums;
  const u32 k = product.first == MatrixNumber::tf32 ? 8 : is_small ? 32 : 16;
  const auto words_of = [](u32 lines, const std::byte* const* pieces) {
    return [=](const auto& put) { for_each_word(lines, pieces, put); };
  };
  MatrixFloats first, second;
  if (product.first_in_registers) {
    put_floats(
        product.first, product.negates_first,
        [&](const auto& put) { for_each_word(w, product, put); }, first);
  } else if (product.turns_first) {
    put_turned(operands.first, lines_of_warp, 0, lines_of_warp, product.negates_first, first);
  } else {
    put_floats(product.first, product.negates_first, words_of(lines_of_warp, operands.first),
               first);
  }
  split(product.first, lines_of_warp, k, first);
  const bool is_half = product.result == MatrixNumber::f16;
  add_by_columns(w, product, adds, mask, [&](u32 from, u32 columns, MatrixResults& sums) {
    if (product.turns_second) {
      put_turned(operands.second, product.n, from, columns, product.negates_second, second);
    } else {
      put_floats(product.second, product.negates_second,
                 words_of(columns, operands.second + 2 * from), second);
    }
    split(product.second, columns, k, second);
    fused_sums<lines_of_warp>(first, second, columns, {0, k}, precision, is_half, sums);
  });
}

inline void put_numbers(MatrixNumber number, u32 bits, u32 at, s16* to) {
  for (u32 i = 0; i < 4; ++i) to[4 * at + i] = whole_number(number, bits >> 8 * i);
}
inline void put_numbers(MatrixNumber, u32 bits, u32 at, u32* to) { to[at] = bits; }

/// `Number`: s16, as which bytes are read, or u32 of bits.
template <class Number>
inline void add_numbers(Warp& w, const WarpgroupProduct& product, const WarpgroupOperands& operands,
                        bool adds, u32 mask) {
  const auto put = [](MatrixNumber number, MatrixWholes<Number>& to) {
    return [number, &to](u32 line, u32 at, u32 bits) {
      put_numbers(number, bits, at, to.value[line]);
    };
  };
  MatrixWholes<Number> first, second;
  if (product.first_in_registers) {
    for_each_word(w, product, put(product.first, first));
  } else {
    for_each_word(lines_of_warp, operands.first, put(product.first, first));
  }
  add_by_columns(w, product, adds, mask, [&](u32 from, u32 columns, MatrixResults& sums) {
    for_each_word(columns, operands.second + 2 * from, put(product.second, second));
    if constexpr (sizeof(Number) == 4) {
      bit_sums(first, lines_of_warp, second, columns, 8, product.rule, sums);
    } else {
      whole_sums(first, lines_of_warp, second, columns, bytes_of_warpgroup_k, product.saturates,
                 sums);
    }
  });
}

/// Asks again after the other warps have gone on.
const Operation* do_await_warpgroup(Warp& w, const Operation* op, u32 mask) {
  switch (progress_of_group(w)) {
    case GroupProgress::lacks_warps:
      return raise_trap(w, op, mask, TrapKind::incomplete_warpgroup);
    case GroupProgress::behind:
      account(w, op->instruction);
      return stop(w, WarpStatus::yielded, op);
    case GroupProgress::complete:
      break;
  }
  return op + 1;
}

const Operation* do_multiply_by_warpgroup(Warp& w, const Operation* op, u32 mask) {
  const WarpgroupProduct& product = w.warpgroup_products[op->imm];
  WarpgroupOperands operands;
  if (!reach_operands(w, op, operands)) return nullptr;
  const bool adds = op->c == adds_always ||
                    (op->c != adds_never && (predicate(w, op->c) >> first_lane(mask) & 1) != 0);
  switch (product.rule) {
    case MatrixRule::integer:
      add_numbers<s16>(w, product, operands, adds, mask);
      break;
    case MatrixRule::bits_and:
      add_numbers<u32>(w, product, operands, adds, mask);
      break;
    default:
      add_floats(w, product, operands, adds, mask);
      break;
  }
  return op + 1;
}
