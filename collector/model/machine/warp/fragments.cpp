// SPDX-License-Identifier: MIT
#include "collector/model/machine/warp/fragments.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace warpmeter::model {
namespace {

using ptx::Word;

struct NamedShape {
  Word word;
  MatrixShape shape;
};
constexpr NamedShape shapes[] = {
    {Word::m8n8k4, {8, 8, 4}},       {Word::m8n8k16, {8, 8, 16}},     {Word::m8n8k32, {8, 8, 32}},
    {Word::m8n8k128, {8, 8, 128}},   {Word::m16n8k4, {16, 8, 4}},     {Word::m16n8k8, {16, 8, 8}},
    {Word::m16n8k16, {16, 8, 16}},   {Word::m16n8k32, {16, 8, 32}},   {Word::m16n8k64, {16, 8, 64}},
    {Word::m16n8k128, {16, 8, 128}}, {Word::m16n8k256, {16, 8, 256}}, {Word::m16n16k8, {16, 16, 8}},
    {Word::m16n16k16, {16, 16, 16}}, {Word::m8n32k16, {8, 32, 16}},   {Word::m32n8k16, {32, 8, 16}},
};

/// Numbers of an operand that a lane has in one register.
unsigned per_lane(unsigned bits) { return bits >= 32 ? 1 : 32 / bits; }

std::uint8_t narrow(unsigned value) { return static_cast<std::uint8_t>(value); }

/// Calls each(lane, where lane % 4 and lane / 4 are) for all lanes of an access.
template <class Line, class Inner>
FragmentAccess access_of(unsigned first_register, unsigned bits, Line line, Inner inner) {
  FragmentAccess access;
  access.first_register = first_register;
  access.reach.stride_bits = bits;
  for (unsigned lane = 0; lane < 32; ++lane) {
    access.reach.line[lane] = line(lane);
    access.reach.inner[lane] = inner(lane);
  }
  return access;
}

/// The words of a row that lanes name for ldmatrix, up to four tiles at a time.
void add_rows(Fragment& fragment, const MatrixOperand& tiles, bool by_k) {
  fragment.is_rows = true;
  fragment.width = 16;
  const unsigned bits = fragment.element_bits;
  fragment.registers_each = std::min(fragment.distinct, bits == 16 ? 4u : 2u);
  for (unsigned first = 0; first < fragment.distinct; first += fragment.registers_each) {
    const auto tile = [&](unsigned lane) { return first + lane / 8 % fragment.registers_each; };
    fragment.accesses.push_back(access_of(
        first, bits,
        [&](unsigned lane) {
          return (by_k ? tiles.from[tile(lane)] : tiles.line[tile(lane)]) + lane % 8;
        },
        [&](unsigned lane) {
          return (by_k ? tiles.line[tile(lane)] : tiles.from[tile(lane)]) * bits / 8;
        }));
  }
}

/// `along_k`: what follows each other in memory has one line.
void add_factor(Fragment& fragment, const MatrixOperand& tiles, bool along_k, bool is_shared) {
  const unsigned bits = fragment.element_bits, per = per_lane(bits);
  const bool in_pairs = bits == 16;
  fragment.transposes = !along_k && in_pairs;
  if (is_shared && bits <= 16 && (along_k || in_pairs)) {
    return add_rows(fragment, tiles, !along_k);
  }
  const bool is_apart = !along_k && bits == 8;
  fragment.width = is_apart ? 1 : std::max(bits / 8, 4u);
  for (unsigned t = 0; t < fragment.distinct; ++t) {
    const unsigned line = tiles.line[t], from = tiles.from[t];
    if (along_k) {
      fragment.accesses.push_back(access_of(
          t, bits, [&](unsigned lane) { return line + lane / 4; },
          [&](unsigned lane) { return (from + lane % 4 * per) * bits / 8; }));
    } else if (in_pairs) {
      fragment.accesses.push_back(access_of(
          t, bits, [&](unsigned lane) { return from + lane / 4; },
          [&](unsigned lane) { return (line + lane % 4 * 2) * bits / 8; }));
    } else {
      for (unsigned s = 0; s < (is_apart ? per : 1); ++s) {
        fragment.accesses.push_back(access_of(
            t, bits, [&](unsigned lane) { return from + lane % 4 * per + s; },
            [&](unsigned lane) { return (line + lane / 4) * bits / 8; }));
        fragment.accesses.back().byte = s;
      }
    }
  }
}

/// `along_columns`: the result's columns follow each other in memory.
void add_sum(Fragment& fragment, const MatrixOperand& sum, bool along_columns) {
  const unsigned bits = fragment.element_bits, bytes = bits / 8;
  const bool in_pairs = bits == 16;
  fragment.transposes = !along_columns && in_pairs;
  fragment.registers_each = along_columns && !in_pairs ? 2 : 1;
  fragment.width = in_pairs ? 4 : bytes * fragment.registers_each;
  for (unsigned r = 0; r < fragment.distinct; r += fragment.registers_each) {
    const unsigned line = sum.line[r], column = sum.from[r];
    if (along_columns) {
      fragment.accesses.push_back(access_of(
          r, bits, [&](unsigned lane) { return line + lane / 4; },
          [&](unsigned lane) { return (column + lane % 4 * 2) * bytes; }));
    } else if (in_pairs) {
      fragment.accesses.push_back(access_of(
          r, bits, [&](unsigned lane) { return column + lane / 4; },
          [&](unsigned lane) { return (line + lane % 4 * 2) * bytes; }));
    } else {
      fragment.accesses.push_back(access_of(
          r, bits, [&](unsigned lane) { return column + lane % 4 * 2; },
          [&](unsigned lane) { return (line + lane / 4) * bytes; }));
    }
  }
}

}  // namespace

MatrixShape matrix_shape(const ptx::Mnemonic& instruction) {
  for (const NamedShape& known : shapes) {
    if (instruction.has(known.word)) return known.shape;
  }
  return {};
}

MatrixShape warpgroup_shape(const ptx::Mnemonic& instruction) {
  constexpr std::string_view lines = ".m64n";
  const std::size_t at = instruction.text.find(lines);
  const auto factor = instruction.types().size() == 3 ? matrix_number(instruction.types()[1])
                                                      : std::optional<MatrixNumber>{};
  if (at == std::string_view::npos || !factor) return {};
  MatrixShape shape{64, 0, 0};
  const char *const begin = instruction.text.data() + at + lines.size(),
                    *const end = instruction.text.data() + instruction.text.size();
  const auto [behind_n, wrong] = std::from_chars(begin, end, shape.n);
  if (wrong != std::errc() || behind_n == end || *behind_n != 'k') return {};
  std::from_chars(behind_n + 1, end, shape.k);
  // Whole numbers and bits have fewer shapes.
  const bool is_float =
      *factor != MatrixNumber::s8 && *factor != MatrixNumber::u8 && *factor != MatrixNumber::b1;
  const bool has_n = shape.n >= 8 && shape.n <= 256 && shape.n % 8 == 0 &&
                     (is_float || shape.n <= 32 || shape.n % 16 == 0);
  const bool has_k = shape.k * bits_of(*factor) == 8 * bytes_of_warpgroup_k;
  return has_n && has_k ? shape : MatrixShape{};
}

std::optional<MatrixNumber> matrix_number(ptx::Type type) {
  switch (type) {
#define SAME(name)      \
  case ptx::Type::name: \
    return MatrixNumber::name
    SAME(f16);
    SAME(bf16);
    SAME(tf32);
    SAME(f32);
    SAME(f64);
    SAME(e4m3);
    SAME(e5m2);
    SAME(u8);
    SAME(s8);
    SAME(u4);
    SAME(s4);
    SAME(b1);
    SAME(s32);
#undef SAME
    default:
      return std::nullopt;
  }
}

unsigned bits_of(MatrixNumber number) {
  switch (number) {
    case MatrixNumber::f64:
      return 64;
    case MatrixNumber::tf32:
    case MatrixNumber::f32:
    case MatrixNumber::s32:
      return 32;
    case MatrixNumber::f16:
    case MatrixNumber::bf16:
      return 16;
    case MatrixNumber::u4:
    case MatrixNumber::s4:
      return 4;
    case MatrixNumber::b1:
      return 1;
    default:
      return 8;
  }
}

bool is_swapped(const MatrixShape& shape) { return shape.m == 8 && shape.n == 32; }

void place_factor(MatrixOperand& operand, unsigned lines, unsigned k, bool is_first) {
  const unsigned stretch = 4 * per_lane(bits_of(operand.number)), stretches = k / stretch;
  const unsigned count = lines / 8 * stretches;
  operand.count = narrow(count);
  const unsigned high = is_first && lines >= 16 ? 2 : 1;  // eights of lines in a block
  for (unsigned t = 0; t < count; ++t) {
    const unsigned block = t / (high * stretches), within = t % (high * stretches);
    operand.line[t] = narrow((block * high + within % high) * 8);
    operand.from[t] = narrow(within / high * stretch);
  }
}

void place_sum(MatrixOperand& sum, unsigned first_lines, unsigned second_lines) {
  const unsigned each = bits_of(sum.number) == 16 ? 1 : 2;  // registers of a tile
  const unsigned columns = second_lines / 8, high = first_lines >= 16 ? 2 : 1;
  sum.count = narrow(first_lines / 8 * columns * each);
  for (unsigned r = 0; r < sum.count; ++r) {
    const unsigned tile = r / each;
    const unsigned block = tile / (high * columns), within = tile % (high * columns);
    sum.line[r] = narrow((block * high + within % high) * 8);
    sum.from[r] = narrow(within / high * 8 + r % each);
  }
}

std::optional<Fragment> fragment_of(const ptx::Mnemonic& instruction) {
  const auto number = matrix_number(instruction.last_type());
  const MatrixShape shape = matrix_shape(instruction);
  if (!number || shape.k == 0) return std::nullopt;
  const bool is_a = instruction.has(Word::a), is_factor = is_a || instruction.has(Word::b);
  const bool swapped = is_swapped(shape), by_row = instruction.has(Word::row);
  Fragment fragment;
  fragment.element_bits = bits_of(*number);
  MatrixOperand operand{};
  operand.number = *number;
  if (is_factor) {
    place_factor(operand, is_a ? shape.m : shape.n, shape.k, is_a != swapped);
    fragment.distinct = operand.count;
    // Those of f16 have as many registers as the first tensor cores needed.
    fragment.registers = *number == MatrixNumber::f16 ? 8u : operand.count;
    add_factor(fragment, operand, is_a == by_row, instruction.space == ptx::Space::shared);
  } else {
    place_sum(operand, swapped ? shape.n : shape.m, swapped ? shape.m : shape.n);
    fragment.registers = fragment.distinct = operand.count;
    add_sum(fragment, operand, by_row != swapped);
  }
  return fragment;
}

}  // namespace warpmeter::model
