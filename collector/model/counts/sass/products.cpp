// SPDX-License-Identifier: MIT
// The fields were found by compiling every mma and wgmma of PTX for sm_75, sm_80, sm_89 and sm_90a
// with CUDA 13's ptxas, and reading what nvdisasm says
// (tests/collector/model/data/tensor_products.txt).
#include "collector/model/counts/sass/products.h"

namespace warpmeter::model::sass {
namespace {

constexpr std::uint16_t small_hmma = 0x36, imma = 0x37, hmma = 0x3c, bmma = 0x3d, dmma = 0x3f,
                        hgmma = 0x1f0, igmma = 0x1f1, bgmma = 0x1f2, qgmma = 0x1f3;

/// `count` bits of the upper half from `first` on.
unsigned field(Word word, unsigned first, unsigned count) {
  return static_cast<unsigned>(word.high >> first & ((1u << count) - 1));
}

TensorProduct product(ProductType type, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  return {type, 2 * m * n * k};
}

TensorProduct unknown(ProductType type) { return {type, 0}; }

TensorProduct product_of_halves(Word word) {
  constexpr ProductType types[] = {ProductType::fp16, ProductType::bf16, ProductType::tf32};
  const unsigned type = field(word, 18, 2), shape = field(word, 10, 2);
  if (type == 3) return unknown(ProductType::unknown);
  const bool is_sparse = field(word, 9, 1) != 0, is_short = field(word, 14, 1) != 0;
  const ProductType of = types[type];
  if (is_sparse) return unknown(of);
  if (of == ProductType::tf32) {
    return shape == 0 ? product(of, 16, 8, is_short ? 4 : 8) : unknown(of);
  }
  if (is_short || (shape != 0 && shape != 2)) return unknown(of);
  return product(of, 16, 8, shape == 0 ? 8 : 16);
}

TensorProduct product_of_doubles(Word word) {
  constexpr std::uint32_t rows[] = {8, 16, 16, 16}, depths[] = {4, 4, 8, 16};
  const unsigned shape = field(word, 12, 2);
  return product(ProductType::fp64, rows[shape], 8, depths[shape]);
}

TensorProduct product_of_integers(Word word) {
  const bool is_of_4_bits = field(word, 19, 2) == 3, is_sparse = field(word, 8, 1) != 0;
  const ProductType of = is_of_4_bits ? ProductType::int4 : ProductType::int8;
  if (is_sparse) return unknown(of);
  switch (field(word, 21, 2) << 2 | field(word, 10, 2)) {
    case 0b0001:
      return is_of_4_bits ? unknown(of) : product(of, 8, 8, 16);
    case 0b0101:
      return is_of_4_bits ? product(of, 8, 8, 32) : unknown(of);
    case 0b1001:
      return is_of_4_bits ? unknown(of) : product(of, 16, 8, 16);
    case 0b1011:
      return product(of, 16, 8, 32);
    case 0b1101:
      return is_of_4_bits ? product(of, 16, 8, 64) : unknown(of);
    default:
      return unknown(of);
  }
}

TensorProduct product_of_bits(Word word) {
  switch (field(word, 10, 3)) {
    case 0b001:
      return product(ProductType::int1, 8, 8, 128);
    case 0b011:
      return product(ProductType::int1, 16, 8, 128);
    case 0b101:
      return product(ProductType::int1, 16, 8, 256);
    default:
      return unknown(ProductType::int1);
  }
}

/// A warp's fourth of a warpgroup's product. `columns`: the number of columns by its field.
TensorProduct fourth(ProductType type, std::uint32_t columns, std::uint32_t k) {
  return product(type, 16, columns, k);
}

/// Integers and bits have 8, 16, 24, 32, 48, 64 … columns.
std::uint32_t integer_columns(std::uint32_t index) {
  return index < 3 ? 8 * (index + 1) : 16 * (index - 1);
}

TensorProduct product_of_warpgroup(Word word, std::uint16_t number) {
  const auto columns = static_cast<std::uint32_t>(word.low >> 53 & 31);
  if (number == qgmma) return fourth(ProductType::fp8, 8 * (columns + 1), 32);
  if (number == bgmma) return fourth(ProductType::int1, integer_columns(columns), 256);
  if (number == igmma) {
    const auto thrice = static_cast<std::uint32_t>(word.low >> 53 & 63);
    return thrice % 3 == 0 ? fourth(ProductType::int8, integer_columns(thrice / 3), 32)
                           : unknown(ProductType::int8);
  }
  switch (field(word, 12, 2)) {
    case 0:
      return fourth(ProductType::fp16, 8 * (columns + 1), 16);
    case 1:
      return fourth(ProductType::bf16, 8 * (columns + 1), 16);
    case 2:
      return fourth(ProductType::tf32, 8 * (columns + 1), 8);
    default:
      return unknown(ProductType::unknown);
  }
}

}  // namespace

TensorProduct product_of(Word word, int arch) {
  const auto number = static_cast<std::uint16_t>(word.low & 0x1ff);
  switch (number) {
    case small_hmma:  // sm_90 has another instruction of this number
      return arch < 80 ? unknown(ProductType::fp16) : TensorProduct{};
    case hmma:
      return product_of_halves(word);
    case dmma:
      return product_of_doubles(word);
    case imma:
      return product_of_integers(word);
    case bmma:
      return product_of_bits(word);
    case hgmma:
    case igmma:
    case bgmma:
    case qgmma:
      return product_of_warpgroup(word, number);
    default:
      return {};
  }
}

bool may_multiply_matrices(Word word, int arch) {
  constexpr int last_known = 90;
  return arch > last_known || product_of(word, arch).type != ProductType::none;
}

}  // namespace warpmeter::model::sass
