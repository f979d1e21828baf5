// SPDX-License-Identifier: MIT
// Floats of the operands of a product of matrices, as significands and exponents.

constexpr u32 most_lines = 32, most_k = 32, most_results = 256;
constexpr s32 exponent_of_zero = -100000;

/// How a number is written in its bits.
struct MatrixFormat {
  u32 mantissa_bits, exponent_bits;
};
constexpr MatrixFormat matrix_f16 = {10, 5}, matrix_bf16 = {7, 8}, matrix_tf32 = {10, 8},
                       matrix_f32 = {23, 8}, matrix_e4m3 = {3, 4}, matrix_e5m2 = {2, 5};

/// A number as significand × 2^(exponent − mantissa_bits); of no meaning if it is an infinity or a
/// NaN.
struct MatrixFloat {
  s32 significand, exponent;
  bool is_strange;
};
inline MatrixFloat matrix_float(u32 bits, MatrixFormat format) {
  const u32 mantissa = bits & ((1u << format.mantissa_bits) - 1);
  const u32 greatest = (1u << format.exponent_bits) - 1;
  const u32 code = bits >> format.mantissa_bits & greatest;
  const bool negative = (bits >> (format.mantissa_bits + format.exponent_bits) & 1) != 0;
  // e4m3 has no infinities, and one NaN of each sign.
  const bool has_more = format.mantissa_bits == matrix_e4m3.mantissa_bits && mantissa != 7;
  const s32 significand =
      static_cast<s32>(code == 0 ? mantissa : mantissa | 1u << format.mantissa_bits);
  const s32 exponent = static_cast<s32>(code == 0 ? 1 : code) - static_cast<s32>(greatest >> 1);
  return {negative ? -significand : significand, significand == 0 ? exponent_of_zero : exponent,
          code == greatest && !has_more};
}

/// Floats of an operand by k and line: their bits, and what matrix_float makes of these.
struct MatrixFloats {
  MatrixFormat format;
  u32 strange;  ///< a bit for each line that has an infinity or a NaN
  alignas(64) u32 bits[most_k][most_lines];
  alignas(64) f32 significand[most_k][most_lines];  ///< whole numbers below 2^11
  alignas(64) s32 exponent[most_k][most_lines];
};

/// From their bits on.
template <u32 mantissa_bits, u32 exponent_bits>
inline void split_floats(u32 lines, u32 k, MatrixFloats& of) {
  constexpr MatrixFormat format = {mantissa_bits, exponent_bits};
  of.format = format;
  alignas(64) u32 strange[most_lines] = {};
  for (u32 at = 0; at < k; ++at) {
    for (u32 line = 0; line < lines; ++line) {
      const MatrixFloat value = matrix_float(of.bits[at][line], format);
      of.significand[at][line] = static_cast<f32>(value.significand);
      of.exponent[at][line] = value.exponent;
      strange[line] |= value.is_strange ? 1u : 0u;
    }
  }
  of.strange = 0;
  for (u32 line = 0; line < lines; ++line) of.strange |= strange[line] << line;
}
inline void split_floats(MatrixNumber number, u32 lines, u32 k, MatrixFloats& of) {
  switch (number) {
    case MatrixNumber::bf16:
      return split_floats<matrix_bf16.mantissa_bits, matrix_bf16.exponent_bits>(lines, k, of);
    case MatrixNumber::tf32:
      return split_floats<matrix_tf32.mantissa_bits, matrix_tf32.exponent_bits>(lines, k, of);
    default:
      return split_floats<matrix_f16.mantissa_bits, matrix_f16.exponent_bits>(lines, k, of);
  }
}

/// 8-bit floats as f16.
struct HalvesOfBytes {
  u16 e4m3[256];
};
constexpr HalvesOfBytes halves_of_bytes() {
  HalvesOfBytes halves = {};
  for (u32 code = 0; code < 256; ++code) {
    const u32 sign = (code & 0x80) << 8, magnitude = code & 0x7f;
    u32 half = (magnitude << 7) + (8u << 10);
    if (magnitude == 0x7f) {
      half = 0x7fff;
    } else if (magnitude < 8) {  // × 2^-9
      half = 0;
      for (u32 top = 0; top < 3; ++top) {
        if (magnitude >> top == 1) half = (top + 6) << 10 | (magnitude - (1u << top)) << (10 - top);
      }
    }
    halves.e4m3[code] = static_cast<u16>(sign | half);
  }
  return halves;
}
inline u32 half_from_e5m2(u32 code) { return (code & 255) << 8; }
inline u32 half_from_e4m3(u32 code) {
  static constexpr HalvesOfBytes halves = halves_of_bytes();
  return halves.e4m3[code & 255];
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

/// Reads 8-bit floats of one `half`: two of a register's four. `k`: how many a line then has.
inline void read_floats(const Warp& w, const MatrixOperand& operand, u32 half, u32 lines, u32 k,
                        MatrixFloats& to) {
  const auto read = [&](u32 per, const auto& put) {
    for_each_part(operand, per, [&](u32 t, u32 l, u32 line, u32 at) {
      put(row<u32>(w, operand.rows[t])[l], line, at);
    });
  };
  const auto put_pair = [&](u32 line, u32 at, u32 one, u32 other) {
    to.bits[at][line] = one;
    to.bits[at + 1][line] = other;
  };
  switch (operand.number) {
    case MatrixNumber::e4m3:
      read(4, [&](u32 bits, u32 line, u32 at) {
        bits >>= 16 * half;
        put_pair(line, at / 2, half_from_e4m3(bits), half_from_e4m3(bits >> 8));
      });
      break;
    case MatrixNumber::e5m2:
      read(4, [&](u32 bits, u32 line, u32 at) {
        bits >>= 16 * half;
        put_pair(line, at / 2, half_from_e5m2(bits), half_from_e5m2(bits >> 8));
      });
      break;
    case MatrixNumber::tf32:
      read(1, [&](u32 bits, u32 line, u32 at) { to.bits[at][line] = bits >> 13; });
      break;
    default:
      read(2, [&](u32 bits, u32 line, u32 at) { put_pair(line, at, bits & 0xffff, bits >> 16); });
      break;
  }
  split_floats(operand.number, lines, k, to);
}
