// SPDX-License-Identifier: MIT
// Products of matrices. No document tells how the tensor cores of sm_90 add floats; this is what
// Xie et al. ("MMA-Sim", arXiv 2511.10909) found on them, and what an H100 answered to the operands
// of tests/golden/matrix:
//   - products are exact, and not normalised: their exponent is the sum of their factors';
//   - all of them and the accumulator are cut, towards zero, below 25 binary places under the
//     greatest exponent among them, and then added exactly;
//   - the greatest exponent is taken to be -133 at least;
//   - the sum is cut towards zero to f32, or rounded to nearest to f16. A NaN has one form. The sum
// of an mma spans all k of an mma; ptxas makes two of wmma's with tf32, one after the other. It
// makes two of 8-bit floats as well, which it turns into f16, and adds the accumulator afterwards;
// what was for quarter warps (m8n8k4) it does lane by lane in f32.

/// Binary places kept below the greatest exponent, and those of the fraction of an f32 result.
struct MatrixPrecision {
  s32 places;
  u32 of_result;
};
/// Below it places are counted from there (an H200's wgmma was asked).
constexpr s32 least_exponent = -133;
constexpr MatrixPrecision long_sums = {25, 23}, short_sums = {13, 13};

/// The numbers of a line that one sum is made of.
struct MatrixSpan {
  u32 begin, end;
};

/// Numbers of as many lines as the processor adds at once, at most `lines`.
template <u32 lines>
struct MatrixLines {
#if defined(__AVX512F__)
  static constexpr u32 at_once = 16;
#elif defined(__AVX2__)
  static constexpr u32 at_once = 8;
#else
  static constexpr u32 at_once = 4;
#endif
  static constexpr u32 count = lines < at_once ? lines : at_once;
  typedef s32 Wholes __attribute__((vector_size(count * 4)));
  typedef f32 Floats __attribute__((vector_size(count * 4)));
};
template <class To, class From>
inline To lines_at(const From* from) {
  To to;
  __builtin_memcpy(&to, from, sizeof(to));
  return to;
}

/// The lines that multiply those of the first operand: all by one line of the second,
struct SameLine {
  const MatrixFloats& of;
  u32 line;

  u32 line_for(u32) const { return line; }
  u32 strange() const { return (of.strange >> line & 1) != 0 ? ~0u : 0; }
  template <class Floats>
  f32 significand(u32 at, u32) const {
    return of.significand[at][line];
  }
  template <class Wholes>
  s32 exponent(u32 at, u32) const {
    return of.exponent[at][line];
  }
};
/// or, of a sparse product, each by what it has chosen of that line.
struct OwnLine {
  const MatrixFloats& of;

  u32 line_for(u32 i) const { return i; }
  u32 strange() const { return of.strange; }
  template <class Floats>
  Floats significand(u32 at, u32 i) const {
    return lines_at<Floats>(&of.significand[at][i]);
  }
  template <class Wholes>
  Wholes exponent(u32 at, u32 i) const {
    return lines_at<Wholes>(&of.exponent[at][i]);
  }
};

/// The sum that holds an infinity or a NaN.
inline f32 strange_sum(const MatrixFloats& first, u32 i, const MatrixFloats& second, u32 j,
                       MatrixSpan span, f32 sum) {
  const auto value = [](const MatrixFloats& of, u32 at, u32 line) {
    const MatrixFloat number = matrix_float(of.bits[at][line], of.format);
    const bool is_whole = (of.bits[at][line] & ((1u << of.format.mantissa_bits) - 1)) == 0;
    const f32 sign = number.significand < 0 ? -1.0f : 1.0f;
    if (number.is_strange) return is_whole ? sign * __builtin_inff() : __builtin_nanf("");
    return number.significand == 0 ? 0.0f : sign;
  };
  f32 total = sum - sum == 0.0f ? 0.0f : sum;  // only what is not finite counts
  for (u32 at = span.begin; at < span.end; ++at) {
    const f32 product = value(first, at, i) * value(second, at, j);
    if (product - product != 0.0f) total += product;
  }
  return canonical(total);
}

/// The value of 2^exponent; all that is not zero lies far above the least.
inline f64 scale_of(s32 exponent) {
  const s32 at_least = exponent > -1000 ? exponent : -1000;
  return bits_as<f64>(static_cast<u64>(at_least + 1023) << 52);
}

/// Cut towards zero to so many places of fraction; what becomes zero has no sign.
inline f32 cut_to_float(f64 value, u32 places) {
  const f64 magnitude = value < 0 ? -value : value;
  if (magnitude >= 0x1p128) return value < 0 ? -__builtin_inff() : __builtin_inff();
  if (magnitude >= 0x1p-126) {
    return static_cast<f32>(bits_as<f64>(bits_as<u64>(value) & ~((u64{1} << (52 - places)) - 1)));
  }
  const u32 bits = static_cast<u32>(magnitude * 0x1p149) & ~((1u << (23 - places)) - 1);
  return bits_as<f32>(bits | (value < 0 && bits != 0 ? 0x80000000u : 0u));
}

/// To nearest, by way of an f32 whose last bit says whether there was more; what becomes zero has
/// no sign.
inline u16 round_to_half(f64 value) {
  const u64 bits = bits_as<u64>(value), last = u64{1} << 29;
  const u64 more = (bits & (last - 1)) != 0 ? last : 0;
  const u16 half = half_from_float(static_cast<f32>(bits_as<f64>((bits & ~(last - 1)) | more)));
  return static_cast<u16>((half & 0x7fff) == 0 ? 0 : half);
}

/// Results by second line and first line: of f32, or of f16 in 16 bits.
struct MatrixResults {
  alignas(64) u32 bits[16][most_lines];
};

/// Sums of products with a line of the second operand, whole numbers of the last place kept below
/// the greatest exponent. `greatest`: before, the exponents of what the sums are added to.
template <u32 lines, class Second>
inline void add_products(const MatrixFloats& first, const Second& second, MatrixSpan span,
                         s32 places, s32* greatest, s32* totals) {
  using Wholes = typename MatrixLines<lines>::Wholes;
  using Floats = typename MatrixLines<lines>::Floats;
  const s32 up =
      places - static_cast<s32>(first.format.mantissa_bits + second.of.format.mantissa_bits);
  for (u32 i = 0; i < lines; i += MatrixLines<lines>::count) {
    Wholes most = lines_at<Wholes>(greatest + i);
    for (u32 at = span.begin; at < span.end; ++at) {
      const Wholes exponent =
          lines_at<Wholes>(&first.exponent[at][i]) + second.template exponent<Wholes>(at, i);
      most = exponent > most ? exponent : most;
    }
    // A product of significands is exact in an f32, and so it is when its places are moved; what is
    // below the last one kept goes as it becomes a whole number.
    const Wholes last_place = 127 + up - most;
    Wholes total = {};
    for (u32 at = span.begin; at < span.end; ++at) {
      const Wholes place = lines_at<Wholes>(&first.exponent[at][i]) +
                           second.template exponent<Wholes>(at, i) + last_place;
      const Wholes scale = (place > 0 ? place : Wholes{}) << 23;
      const Floats product =
          lines_at<Floats>(&first.significand[at][i]) * second.template significand<Floats>(at, i);
      total += __builtin_convertvector(product * reinterpret_cast<const Floats&>(scale), Wholes);
    }
    __builtin_memcpy(greatest + i, &most, sizeof(most));
    __builtin_memcpy(totals + i, &total, sizeof(total));
  }
}

/// Numbers of one line of the result, which products are added to.
template <u32 lines>
struct MatrixAddends {
  alignas(64) s32 places[lines], exponent[lines];  ///< places: of those of long_sums
  u32 strange;
};
template <u32 lines>
inline void split_addends(const u32* bits, MatrixFormat format, MatrixAddends<lines>& to) {
  alignas(64) u32 strange[lines];
  for (u32 i = 0; i < lines; ++i) {
    const MatrixFloat c = matrix_float(bits[i], format);
    to.places[i] =
        c.significand * (1 << (long_sums.places - static_cast<s32>(format.mantissa_bits)));
    to.exponent[i] = c.exponent;
    strange[i] = c.is_strange ? 1u << i : 0u;
  }
  to.strange = 0;
  for (u32 i = 0; i < lines; ++i) to.strange |= strange[i];
}

/// One fused sum a result, of one line of the second operand: `sums` are f32, or f16 as its 16
/// bits.
template <u32 lines, class Second>
inline void fused_line(const MatrixFloats& first, const Second& second, MatrixSpan span,
                       MatrixPrecision precision, bool is_half, u32* sums) {
  MatrixAddends<lines> addends;
  if (is_half) {
    split_addends<lines>(sums, matrix_f16, addends);
  } else {
    split_addends<lines>(sums, matrix_f32, addends);
  }
  alignas(64) s32 totals[lines], greatest[lines];
  for (u32 i = 0; i < lines; ++i) {
    const s32 exponent = addends.exponent[i];
    greatest[i] = exponent > least_exponent ? exponent : least_exponent;
  }
  add_products<lines>(first, second, span, precision.places, greatest, totals);
  alignas(64) f64 values[lines];
  for (u32 i = 0; i < lines; ++i) {
    const u32 distance = static_cast<u32>(greatest[i] - addends.exponent[i]) +
                         static_cast<u32>(long_sums.places - precision.places);
    const s32 places = addends.places[i];
    const u32 magnitude = static_cast<u32>(places < 0 ? -places : places);
    const s32 kept = static_cast<s32>(magnitude >> (distance < 31 ? distance : 31));
    values[i] = (static_cast<f64>(totals[i]) + static_cast<f64>(places < 0 ? -kept : kept)) *
                scale_of(greatest[i] - precision.places);
  }
  alignas(64) u32 results[lines];
  if (is_half) {
    for (u32 i = 0; i < lines; ++i) results[i] = round_to_half(values[i]);
  } else {
    for (u32 i = 0; i < lines; ++i) {
      results[i] = bits_as<u32>(cut_to_float(values[i], precision.of_result));
    }
  }
  u32 strange = addends.strange | second.strange() | first.strange;
  if (lines < 32) strange &= (u32{1} << lines % 32) - 1;
  for (; strange != 0; strange &= strange - 1) {
    const u32 i = first_lane(strange);
    const f32 before = is_half ? float_from_half(static_cast<u16>(sums[i])) : bits_as<f32>(sums[i]);
    const f32 value = strange_sum(first, i, second.of, second.line_for(i), span, before);
    if (value - value == 0.0f) continue;
    results[i] = is_half ? half_from_float(value) : bits_as<u32>(value);
  }
  __builtin_memcpy(sums, results, sizeof(results));
}

template <u32 lines>
inline void fused_sums(const MatrixFloats& first, const MatrixFloats& second, u32 second_lines,
                       MatrixSpan span, MatrixPrecision precision, bool is_half,
                       MatrixResults& sums) {
  for (u32 j = 0; j < second_lines; ++j) {
    fused_line<lines>(first, SameLine{second, j}, span, precision, is_half, sums.bits[j]);
  }
}

inline void fused_sums(const MatrixProduct& product, const MatrixFloats& first,
                       const MatrixFloats& second, MatrixSpan span, bool is_half,
                       MatrixResults& sums) {
  switch (product.first_lines) {
    case 8:
      return fused_sums<8>(first, second, product.second_lines, span, long_sums, is_half, sums);
    case 16:
      return fused_sums<16>(first, second, product.second_lines, span, long_sums, is_half, sums);
    default:
      return fused_sums<32>(first, second, product.second_lines, span, long_sums, is_half, sums);
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

/// Adds the sums of 8-bit floats to the accumulators.
inline void add_halves(const MatrixProduct& product, const MatrixResults& halves, bool is_half,
                       MatrixResults& sums) {
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
    read_floats(w, product.first, 0, product.first_lines, product.k, first);
    read_floats(w, product.second, 0, product.second_lines, product.k, second);
    for (u32 at = 0; at < product.k; at += product.fused_k) {
      fused_sums(product, first, second, {at, at + product.fused_k}, is_half, sums);
    }
    if (to_half && !of_half) convert_sums(product, true, sums);
  } else {
    MatrixResults halves = {};
    for (u32 half = 0; half < 2; ++half) {
      read_floats(w, product.first, half, product.first_lines, product.k / 2u, first);
      read_floats(w, product.second, half, product.second_lines, product.k / 2u, second);
      fused_sums(product, first, second, {0, product.k / 2u}, is_half, halves);
    }
    add_halves(product, halves, is_half, sums);
  }
  write_results(w, product, sums, mask);
}
