// SPDX-License-Identifier: MIT
// Products of matrices: of whole numbers, bits and doubles, which are exact or go by IEEE 754, and
// of quarter warps; those of smaller floats are in matrix_sums.h. The rest of the work on matrices
// in registers, and the addresses of fragments.

/// Whole numbers by line and k, as the bytes or bits that they are.
template <class Number>
struct MatrixWholes {
  alignas(64) Number value[most_lines][64];
};

inline s16 whole_number(MatrixNumber number, u32 bits) {
  switch (number) {
    case MatrixNumber::u8:
      return static_cast<s16>(bits & 255);
    case MatrixNumber::s8:
      return static_cast<s8>(bits);
    case MatrixNumber::u4:
      return static_cast<s16>(bits & 15);
    default:
      return static_cast<s16>(static_cast<s16>(bits << 12) >> 12);
  }
}

/// each(line, k, number)
template <class Each>
inline void for_each_whole(const Warp& w, const MatrixOperand& operand, const Each& each) {
  const bool is_byte = operand.number == MatrixNumber::u8 || operand.number == MatrixNumber::s8;
  const u32 bits = is_byte ? 8 : 4;
  for_each_part(operand, 32 / bits, [&](u32 t, u32 l, u32 line, u32 at) {
    const u32 value = row<u32>(w, operand.rows[t])[l];
    for (u32 s = 0; s < 32 / bits; ++s) {
      each(line, at + s, whole_number(operand.number, value >> bits * s));
    }
  });
}
inline void read_wholes(const Warp& w, const MatrixOperand& operand, MatrixWholes<s16>& to) {
  for_each_whole(w, operand, [&](u32 line, u32 at, s16 number) { to.value[line][at] = number; });
}

inline void whole_sums(const MatrixWholes<s16>& first, u32 first_lines,
                       const MatrixWholes<s16>& second, u32 second_lines, u32 k, bool saturates,
                       MatrixResults& sums) {
  for (u32 j = 0; j < second_lines; ++j) {
    for (u32 i = 0; i < first_lines; ++i) {
      s32 sum = 0;
      for (u32 at = 0; at < k; ++at) {
        sum += s32{first.value[i][at]} * s32{second.value[j][at]};
      }
      s64 all = s64{static_cast<s32>(sums.bits[j][i])} + sum;
      if (saturates) all = clamp_s64(all, INT32_MIN, INT32_MAX);
      sums.bits[j][i] = static_cast<u32>(all);
    }
  }
}

inline void multiply_wholes(Warp& w, const MatrixProduct& product, u32 mask) {
  MatrixWholes<s16> first, second;
  MatrixResults sums;
  read_sums(w, product, sums);
  read_wholes(w, product.first, first);
  read_wholes(w, product.second, second);
  whole_sums(first, product.first_lines, second, product.second_lines, product.k, product.saturates,
             sums);
  write_results(w, product, sums, mask);
}

/// `k`: words of a line.
inline void bit_sums(const MatrixWholes<u32>& first, u32 first_lines,
                     const MatrixWholes<u32>& second, u32 second_lines, u32 k, MatrixRule rule,
                     MatrixResults& sums) {
  for (u32 j = 0; j < second_lines; ++j) {
    for (u32 i = 0; i < first_lines; ++i) {
      for (u32 at = 0; at < k; ++at) {
        const u32 a = first.value[i][at], b = second.value[j][at];
        const u32 both = rule == MatrixRule::bits_and ? a & b : a ^ b;
        sums.bits[j][i] += static_cast<u32>(__builtin_popcount(both));
      }
    }
  }
}

inline void multiply_bits(Warp& w, const MatrixProduct& product, u32 mask) {
  MatrixWholes<u32> first, second;
  MatrixResults sums;
  read_sums(w, product, sums);
  const auto read_lines = [&](const MatrixOperand& operand, MatrixWholes<u32>& to) {
    for_each_part(operand, 32, [&](u32 t, u32 l, u32 line, u32 at) {
      to.value[line][at / 32] = row<u32>(w, operand.rows[t])[l];
    });
  };
  read_lines(product.first, first);
  read_lines(product.second, second);
  bit_sums(first, product.first_lines, second, product.second_lines, product.k / 32, product.rule,
           sums);
  write_results(w, product, sums, mask);
}

/// One after the other. The hardware keeps the second factor's NaN before the sum's.
inline f64 add_product(f64 a, f64 b, f64 sum) {
  if (b != b) return quiet(b);
  if (sum != sum) return quiet(sum);
  return a != a ? quiet(a) : fused(a, b, sum);
}

inline void multiply_doubles(Warp& w, const MatrixProduct& product, u32 mask) {
  f64 first[16][16], second[8][16];
  alignas(64) f64 results[4][lane_count];
  const auto read_lines = [&](const MatrixOperand& operand, f64(*to)[16]) {
    for_each_part(operand, 1, [&](u32 t, u32 l, u32 line, u32 at) {
      to[line][at] = row<f64>(w, operand.rows[t])[l];
    });
  };
  read_lines(product.first, first);
  read_lines(product.second, second);
  for_each_result(product.result, [&](u32 r, u32 l, u32, u32 j, u32 i) {
    f64 sum = row<f64>(w, product.sum.rows[r])[l];
    for (u32 at = 0; at < product.k; ++at) sum = add_product(first[i][at], second[j][at], sum);
    results[r][l] = sum;
  });
  for (u32 r = 0; r < product.result.count; ++r) {
    blend(row<f64>(w, product.result.rows[r]), results[r], mask);
  }
}

/// m8n8k4 of f16: lanes 4 q to 4 q + 3 and those 16 above multiply two matrices of their own.
inline void multiply_quads(Warp& w, const MatrixProduct& product, u32 mask) {
  const bool wide_sum = product.sum.number == MatrixNumber::f32;
  const bool wide_result = product.result.number == MatrixNumber::f32;
  const auto half_at = [&](const MatrixOperand& operand, u32 lane, u32 i) {
    const u32 bits = row<u32>(w, operand.rows[i / 2])[lane];
    return float_from_half(static_cast<u16>(bits >> 16 * (i % 2)));
  };
  const auto lane_of = [](u32 quarter, u32 line) {
    return quarter * 4 + line % 4 + (line >= 4 ? 16 : 0);
  };
  // The place of a number that a lane holds as one of eight: its row and column in the result.
  const auto place_of_sum = [](bool is_wide, u32 lane, u32 i, u32& line, u32& column) {
    const u32 low = lane >= 16 ? 4 : 0;
    line = low + (is_wide ? (lane & 1) + (i & 2) : lane % 4);
    column = is_wide ? (i & 4) + (lane & 2) + (i & 1) : i;
  };
  f32 sums[4][8][8];
  for (u32 l = 0; l < lane_count; ++l) {
    for (u32 i = 0; i < 8; ++i) {
      u32 line = 0, column = 0;
      place_of_sum(wide_sum, l, i, line, column);
      sums[l % 16 / 4][line][column] =
          wide_sum ? row<f32>(w, product.sum.rows[i])[l] : half_at(product.sum, l, i);
    }
  }
  for (u32 quarter = 0; quarter < 4; ++quarter) {
    f32 a[8][4], b[4][8];
    for (u32 line = 0; line < 8; ++line) {
      for (u32 at = 0; at < 4; ++at) {
        const u32 across = lane_of(quarter, at + line / 4 * 4);
        a[line][at] = product.first_by_column ? half_at(product.first, across, line % 4)
                                              : half_at(product.first, lane_of(quarter, line), at);
        b[at][line] = product.second_by_column ? half_at(product.second, lane_of(quarter, line), at)
                                               : half_at(product.second, across, line % 4);
      }
    }
    for (u32 line = 0; line < 8; ++line) {
      for (u32 column = 0; column < 8; ++column) {
        const auto times = [&](u32 at, f32 to) {
          return canonical(fused(a[line][at], b[at][column], to));
        };
        f32& sum = sums[quarter][line][column];
        if (wide_result) {
          sum = canonical(sum + times(3, times(2, times(1, times(0, 0.0f)))));
        } else {
          const auto pair = [&](u32 at) {
            return times(at + 1, canonical(a[line][at] * b[at][column]));
          };
          sum = canonical(canonical(sum + pair(0)) + pair(2));
        }
      }
    }
  }
  alignas(64) u32 rows[most_matrix_rows][lane_count] = {};
  for (u32 l = 0; l < lane_count; ++l) {
    for (u32 i = 0; i < 8; ++i) {
      u32 line = 0, column = 0;
      place_of_sum(wide_result, l, i, line, column);
      const f32 sum = sums[l % 16 / 4][line][column];
      if (wide_result) {
        rows[i][l] = bits_as<u32>(sum);
      } else {
        rows[i / 2][l] |= u32{half_from_float(sum)} << 16 * (i % 2);
      }
    }
  }
  for (u32 r = 0; r < product.result.count; ++r) {
    blend(row<u32>(w, product.result.rows[r]), rows[r], mask);
  }
}

const Operation* do_multiply_matrices(Warp& w, const Operation* op, u32 mask) {
  const MatrixProduct& product = w.products[op->extra];
  switch (product.rule) {
    case MatrixRule::fused:
    case MatrixRule::halves:
      multiply_floats(w, product, mask);
      break;
    case MatrixRule::quads:
      multiply_quads(w, product, mask);
      break;
    case MatrixRule::chain:
      multiply_doubles(w, product, mask);
      break;
    case MatrixRule::integer:
      multiply_wholes(w, product, mask);
      break;
    case MatrixRule::bits_and:
    case MatrixRule::bits_xor:
      multiply_bits(w, product, mask);
      break;
  }
  return op + 1;
}

/// movmatrix: eight lines of eight 16-bit numbers, two a lane, with lines and columns exchanged.
const Operation* do_transpose_matrix(Warp& w, const Operation* op, u32 mask) {
  alignas(64) u32 from[lane_count], to[lane_count];
  __builtin_memcpy(from, row<u32>(w, op->a), sizeof(from));
  for (u32 l = 0; l < lane_count; ++l) {
    const u32 line = l / 4, column = 2 * (l % 4);
    const u32 shift = 16 * (line % 2);
    to[l] = (from[column * 4 + line / 2] >> shift & 0xffff) |
            (from[(column + 1) * 4 + line / 2] >> shift) << 16;
  }
  blend(row<u32>(w, op->d), to, mask);
  return op + 1;
}

/// The addresses of one access of wmma.load or wmma.store; f: whether the operand's are wide.
const Operation* do_matrix_addresses(Warp& w, const Operation* op, u32 mask) {
  const MatrixReach& reach = w.reaches[op->extra];
  const u32* stride = row<u32>(w, op->b);
  const auto at = [&](u32 l) {
    return u64{reach.line[l]} * stride[l] * reach.stride_bits / 8 + reach.inner[l];
  };
  if (op->f != 0) {
    const u64* base = row<u64>(w, op->a);
    return assign<u64>(w, op, mask, [&](u32 l) { return base[l] + at(l); });
  }
  const u32* base = row<u32>(w, op->a);
  return assign<u32>(w, op, mask, [&](u32 l) { return base[l] + static_cast<u32>(at(l)); });
}
