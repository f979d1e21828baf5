// Products of matrices. What the tensor cores of sm_90 do with floats is told nowhere; this is what
// Xie et al. ("MMA-Sim", arXiv 2511.10909) found on them, and what an H100 answered to the operands
// of tests/golden/matrix:
//   - products are exact, and not normalised: their exponent is the sum of their factors';
//   - all of them and the accumulator are cut, towards zero, below 25 binary places under the
//     greatest exponent among them, and then added exactly;
//   - the sum is cut towards zero to f32, or rounded to nearest to f16. A NaN has one form.
// Such a sum spans all k of an mma; ptxas makes two of wmma's with tf32, one after the other. Of
// 8-bit floats it makes two as well, which it turns into f16, and adds the accumulator afterwards;
// what was for quarter warps (m8n8k4) it does lane by lane in f32.

constexpr u32 most_lines = 32, most_k = 32, most_results = 256;
constexpr int places_kept = 25;
constexpr s32 exponent_of_zero = -100000;

/// Floats of an operand by k and line.
struct MatrixFloats {
  alignas(64) s32 significand[most_k][most_lines];
  alignas(64) s32 exponent[most_k][most_lines];
  u32 strange;                  ///< a bit for each line that has an infinity or a NaN
  u8 what[most_k][most_lines];  ///< of a strange line: 1 an infinity, 2 a NaN
};

/// A number as significand × 2^(exponent − places).
struct MatrixFloat {
  s32 significand, exponent;
  u8 what;
};
inline MatrixFloat matrix_float(u32 bits, u32 mantissa_bits, u32 exponent_bits) {
  const u32 mantissa = bits & ((1u << mantissa_bits) - 1);
  const u32 greatest = (1u << exponent_bits) - 1;
  const u32 code = bits >> mantissa_bits & greatest;
  const bool negative = (bits >> (mantissa_bits + exponent_bits) & 1) != 0;
  const s32 bias = static_cast<s32>(greatest >> 1);
  if (code == greatest) {
    return {negative ? -1 : 1, 0, static_cast<u8>(mantissa == 0 ? 1 : 2)};
  }
  const s32 significand = static_cast<s32>(code == 0 ? mantissa : mantissa | 1u << mantissa_bits);
  const s32 exponent = static_cast<s32>(code == 0 ? 1 : code) - bias;
  return {negative ? -significand : significand, significand == 0 ? exponent_of_zero : exponent, 0};
}

/// An 8-bit float as f16.
inline u16 half_from_e5m2(u32 code) { return static_cast<u16>((code & 255) << 8); }
inline u16 half_from_e4m3(u32 code) {
  const u32 sign = (code & 0x80) << 8, magnitude = code & 0x7f;
  if (magnitude == 0x7f) return static_cast<u16>(sign | 0x7fff);
  if (magnitude >= 8) return static_cast<u16>(sign | ((magnitude << 7) + (8u << 10)));
  return static_cast<u16>(sign | half_from_float(static_cast<f32>(magnitude) * 0x1p-9f));
}

struct MatrixPlaces {
  u32 places, exponent_bits, unit_bits;
};
inline MatrixPlaces places_of(MatrixNumber number) {
  switch (number) {
    case MatrixNumber::bf16:
      return {7, 8, 16};
    case MatrixNumber::tf32:
      return {10, 8, 32};
    default:
      return {10, 5, 16};
  }
}

/// Visits an operand's registers: each(register, lane, line, first k); `per`: numbers of a lane.
template <class Each>
inline void for_each_part(const MatrixOperand& operand, u32 per, const Each& each) {
  for (u32 t = 0; t < operand.count; ++t) {
    for (u32 l = 0; l < lane_count; ++l) {
      each(t, l, operand.line[t] + l / 4, operand.from[t] + l % 4 * per);
    }
  }
}

/// `half`: of 8-bit floats, which two of a register's four.
inline void read_floats(const Warp& w, const MatrixOperand& operand, u32 half, MatrixFloats& to) {
  to.strange = 0;
  const auto put = [&](u32 at, u32 line, const MatrixFloat& value) {
    to.significand[at][line] = value.significand;
    to.exponent[at][line] = value.exponent;
    to.what[at][line] = value.what;
    if (value.what != 0) to.strange |= 1u << line;
  };
  const MatrixPlaces places = places_of(operand.number);
  const bool is_small =
      operand.number == MatrixNumber::e4m3 || operand.number == MatrixNumber::e5m2;
  const u32 per = is_small ? 4 : 32 / places.unit_bits;
  for_each_part(operand, per, [&](u32 t, u32 l, u32 line, u32 at) {
    const u32 bits = row<u32>(w, operand.rows[t])[l];
    if (is_small) {
      for (u32 s = 0; s < 2; ++s) {
        const u32 code = bits >> 8 * (2 * half + s);
        const u16 value =
            operand.number == MatrixNumber::e4m3 ? half_from_e4m3(code) : half_from_e5m2(code);
        put(at / 2 + s, line, matrix_float(value, 10, 5));
      }
    } else if (per == 1) {
      put(at, line, matrix_float(bits >> 13, places.places, places.exponent_bits));
    } else {
      put(at, line, matrix_float(bits & 0xffff, places.places, places.exponent_bits));
      put(at + 1, line, matrix_float(bits >> 16, places.places, places.exponent_bits));
    }
  });
}

/// The numbers of a line that one sum is made of.
struct MatrixSpan {
  u32 begin, end;
};

/// The sum that holds an infinity or a NaN.
inline f32 strange_sum(const MatrixFloats& first, u32 i, const MatrixFloats& second, u32 j,
                       MatrixSpan span, f32 sum) {
  const auto value = [](const MatrixFloats& of, u32 at, u32 line) {
    const f32 sign = of.significand[at][line] < 0 ? -1.0f : 1.0f;
    if (of.what[at][line] == 2) return __builtin_nanf("");
    if (of.what[at][line] == 1) return sign * __builtin_inff();
    return of.significand[at][line] == 0 ? 0.0f : sign;
  };
  f32 total = sum - sum == 0.0f ? 0.0f : sum;  // only what is not finite counts
  for (u32 at = span.begin; at < span.end; ++at) {
    const f32 product = value(first, at, i) * value(second, at, j);
    if (product - product != 0.0f) total += product;
  }
  return canonical(total);
}

/// value × 2^exponent, cut towards zero.
inline f32 cut_to_float(s64 value, s32 exponent) {
  if (value == 0) return 0.0f;
  const u64 scale = static_cast<u64>(exponent + 1023) << 52;
  const f64 whole = static_cast<f64>(value) * bits_as<f64>(scale);
  const f64 magnitude = whole < 0 ? -whole : whole;
  if (magnitude >= 0x1p128) return whole < 0 ? -__builtin_inff() : __builtin_inff();
  if (magnitude >= 0x1p-126) {
    return static_cast<f32>(bits_as<f64>(bits_as<u64>(whole) & ~((u64{1} << 29) - 1)));
  }
  const u32 bits = static_cast<u32>(magnitude * 0x1p149);
  return bits_as<f32>(bits | (whole < 0 ? 0x80000000u : 0u));
}

/// value × 2^exponent, to nearest; what becomes zero has no sign.
inline u16 round_to_half(s64 value, s32 exponent) {
  if (value == 0) return 0;
  const u64 scale = static_cast<u64>(exponent + 1023) << 52;
  const f64 whole = static_cast<f64>(value) * bits_as<f64>(scale);
  const u32 bits = narrow(whole, format_f16, 0x8000, Narrowing::nearest, false);
  return static_cast<u16>((bits & 0x7fff) == 0 ? 0 : bits);
}

/// Results by second line and first line: of f32, or of f16 in 16 bits.
struct MatrixResults {
  alignas(64) u32 bits[16][most_lines];
};

/// One fused sum a result: `sums` are f32, or f16 as its 16 bits.
template <u32 lines>
inline void fused_sums(const MatrixFloats& first, const MatrixFloats& second, u32 second_lines,
                       MatrixSpan span, u32 places, bool is_half, MatrixResults& sums) {
  const u32 up = places_kept - 2 * places;
  for (u32 j = 0; j < second_lines; ++j) {
    alignas(64) s32 greatest[lines];
    alignas(64) s32 of_sum[lines];
    alignas(64) s32 exponent_of_sum[lines];
    alignas(64) s32 total[lines];
    u32 strange = (second.strange >> j & 1) != 0 ? ~0u : first.strange;
    for (u32 i = 0; i < lines; ++i) {
      const MatrixFloat c =
          is_half ? matrix_float(sums.bits[j][i], 10, 5) : matrix_float(sums.bits[j][i], 23, 8);
      of_sum[i] = is_half ? c.significand * (1 << (places_kept - 10))
                          : c.significand * (1 << (places_kept - 23));
      exponent_of_sum[i] = greatest[i] = c.exponent;
      total[i] = 0;
      if (c.what != 0) strange |= 1u << i;
    }
    for (u32 at = span.begin; at < span.end; ++at) {
      const s32 other = second.exponent[at][j];
      for (u32 i = 0; i < lines; ++i) {
        const s32 exponent = first.exponent[at][i] + other;
        greatest[i] = exponent > greatest[i] ? exponent : greatest[i];
      }
    }
    for (u32 at = span.begin; at < span.end; ++at) {
      const s32 other = second.exponent[at][j], factor = second.significand[at][j];
      if (factor == 0) continue;
      for (u32 i = 0; i < lines; ++i) {
        const s32 product = first.significand[at][i] * factor;
        const u32 distance = static_cast<u32>(greatest[i] - first.exponent[at][i] - other);
        const u32 magnitude = static_cast<u32>(product < 0 ? -product : product) << up;
        const s32 kept = static_cast<s32>(magnitude >> (distance < 31 ? distance : 31));
        total[i] += product < 0 ? -kept : kept;
      }
    }
    for (u32 i = 0; i < lines; ++i) {
      const u32 distance = static_cast<u32>(greatest[i] - exponent_of_sum[i]);
      const u32 magnitude = static_cast<u32>(of_sum[i] < 0 ? -of_sum[i] : of_sum[i]);
      const s32 kept = static_cast<s32>(magnitude >> (distance < 31 ? distance : 31));
      const s64 sum = s64{total[i]} + (of_sum[i] < 0 ? -kept : kept);
      const s32 scale = greatest[i] - places_kept;
      if ((strange >> i & 1) != 0) {
        const f32 before = is_half ? float_from_half(static_cast<u16>(sums.bits[j][i]))
                                   : bits_as<f32>(sums.bits[j][i]);
        const f32 value = strange_sum(first, i, second, j, span, before);
        if (value - value != 0.0f) {
          sums.bits[j][i] = is_half ? half_from_float(value) : bits_as<u32>(value);
          continue;
        }
      }
      sums.bits[j][i] =
          is_half ? round_to_half(sum, scale) : bits_as<u32>(cut_to_float(sum, scale));
    }
  }
}

inline void fused_sums(const MatrixProduct& product, const MatrixFloats& first,
                       const MatrixFloats& second, MatrixSpan span, u32 places, bool is_half,
                       MatrixResults& sums) {
  switch (product.first_lines) {
    case 8:
      return fused_sums<8>(first, second, product.second_lines, span, places, is_half, sums);
    case 16:
      return fused_sums<16>(first, second, product.second_lines, span, places, is_half, sums);
    default:
      return fused_sums<32>(first, second, product.second_lines, span, places, is_half, sums);
  }
}

/// Visits the elements of a sum: each(register, lane, half of it, second, first line).
template <class Each>
inline void for_each_result(const MatrixOperand& sum, const Each& each) {
  const u32 halves = sum.number == MatrixNumber::f16 ? 2 : 1;
  for (u32 r = 0; r < sum.count; ++r) {
    for (u32 q = 0; q < halves; ++q) {
      for (u32 l = 0; l < lane_count; ++l) {
        each(r, l, q, sum.from[r] + 2 * (l % 4) + q, sum.line[r] + l / 4);
      }
    }
  }
}

inline void read_sums(const Warp& w, const MatrixProduct& product, MatrixResults& sums) {
  const bool is_half = product.sum.number == MatrixNumber::f16;
  for_each_result(product.sum, [&](u32 r, u32 l, u32 q, u32 j, u32 i) {
    const u32 bits = row<u32>(w, product.sum.rows[r])[l];
    sums.bits[j][i] = is_half ? bits >> 16 * q & 0xffff : bits;
  });
}

inline void write_results(Warp& w, const MatrixProduct& product, const MatrixResults& results,
                          u32 mask) {
  const bool is_half = product.result.number == MatrixNumber::f16;
  alignas(64) u32 rows[most_matrix_rows][lane_count];
  for_each_result(product.result, [&](u32 r, u32 l, u32 q, u32 j, u32 i) {
    if (!is_half) {
      rows[r][l] = results.bits[j][i];
    } else {
      rows[r][l] = (q == 0 ? 0 : rows[r][l]) | results.bits[j][i] << 16 * q;
    }
  });
  for (u32 r = 0; r < product.result.count; ++r) {
    blend(row<u32>(w, product.result.rows[r]), rows[r], mask);
  }
}

/// Numbers of one kind as the other.
inline void convert_sums(const MatrixProduct& product, bool to_half, MatrixResults& sums) {
  for (u32 j = 0; j < product.second_lines; ++j) {
    for (u32 i = 0; i < product.first_lines; ++i) {
      u32& bits = sums.bits[j][i];
      bits = to_half ? half_from_float(bits_as<f32>(bits))
                     : bits_as<u32>(float_from_half(static_cast<u16>(bits)));
    }
  }
}

inline void multiply_floats(Warp& w, const MatrixProduct& product, u32 mask) {
  MatrixFloats first, second;
  MatrixResults sums;
  read_sums(w, product, sums);
  // Where one of both is wide, so is the sum.
  const bool of_half = product.sum.number == MatrixNumber::f16;
  const bool to_half = product.result.number == MatrixNumber::f16;
  const bool is_half = of_half && to_half;
  if (of_half && !to_half) convert_sums(product, false, sums);
  if (product.rule == MatrixRule::fused) {
    read_floats(w, product.first, 0, first);
    read_floats(w, product.second, 0, second);
    for (u32 at = 0; at < product.k; at += product.fused_k) {
      fused_sums(product, first, second, {at, at + product.fused_k},
                 places_of(product.first.number).places, is_half, sums);
    }
    if (to_half && !of_half) convert_sums(product, true, sums);
  } else {
    MatrixResults halves = {};
    for (u32 half = 0; half < 2; ++half) {
      read_floats(w, product.first, half, first);
      read_floats(w, product.second, half, second);
      fused_sums(product, first, second, {0, product.k / 2u}, 10, is_half, halves);
    }
    for (u32 j = 0; j < product.second_lines; ++j) {
      for (u32 i = 0; i < product.first_lines; ++i) {
        u32& bits = sums.bits[j][i];
        bits = is_half
                   ? half_from_float(float_from_half(static_cast<u16>(bits)) +
                                     float_from_half(static_cast<u16>(halves.bits[j][i])))
                   : bits_as<u32>(canonical(bits_as<f32>(bits) + bits_as<f32>(halves.bits[j][i])));
      }
    }
  }
  write_results(w, product, sums, mask);
}
