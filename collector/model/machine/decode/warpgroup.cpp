// SPDX-License-Identifier: MIT
// wgmma.mma_async: products of whole warpgroups, with matrices in shared memory.
#include <algorithm>

#include "collector/model/machine/decode/decoder.h"
#include "collector/model/machine/warp/fragments.h"

namespace warpmeter::model {

/// d, a, b, whether it adds {, sign of a, sign of b {, a is turned, b is turned}}; a may be four
/// registers, and then says nothing of being turned.
void Decoder::decode_warpgroup_product() {
  const MatrixShape shape = warpgroup_shape(*instruction_);
  if (shape.k == 0) refuse_form();
  const auto types = instruction_->types();
  const auto& operands = instruction_->operands;
  WarpgroupProduct product{};
  product.result = *matrix_number(types[0]);
  product.first = *matrix_number(types[1]);
  product.second = *matrix_number(types[2]);
  product.n = static_cast<std::uint16_t>(shape.n);
  product.saturates = has(Word::satfinite);
  product.rule = product.first == MatrixNumber::b1     ? MatrixRule::bits_and
                 : product.result == MatrixNumber::s32 ? MatrixRule::integer
                                                       : MatrixRule::fused;
  product.first_in_registers = operands.size() > 1 && operands[1].kind == Operand::Kind::vector;
  const bool is_float = product.rule == MatrixRule::fused, is_half = bits_of(product.first) == 16;
  const std::size_t signs = is_float ? 2 : 0;
  const std::size_t turns = !is_half ? 0 : product.first_in_registers ? 1 : 2;
  expect_operands(4 + signs + turns, 4 + signs + turns);
  const auto number = [&](std::size_t i) {
    if (operands[i].kind != Operand::Kind::integer) refuse("has a register where a number stands");
    return static_cast<std::int64_t>(operands[i].bits);
  };
  if (is_float) {
    product.negates_first = number(4) < 0;
    product.negates_second = number(5) < 0;
  }
  if (turns == 2) product.turns_first = number(6) != 0;
  if (turns > 0) product.turns_second = number(5 + turns) != 0;

  const unsigned sums = product.result == MatrixNumber::f16 ? shape.n / 4 : shape.n / 2;
  const auto rows = matrix_rows(operands[0], sums, RowType::u32, true);
  std::copy(rows.begin(), rows.end(), product.sums);
  product.sum_count = static_cast<std::uint16_t>(sums);
  std::uint16_t first = no_operand;
  if (product.first_in_registers) {
    const auto parts = matrix_rows(operands[1], 4, RowType::u32, false);
    std::copy(parts.begin(), parts.end(), product.first_rows);
  } else {
    first = source(operands[1], RowType::u64);
  }
  const std::uint16_t second = source(operands[2], RowType::u64);
  std::uint16_t adds = adds_always;
  if (operands[3].kind == Operand::Kind::name) {
    adds = predicate_source(operands[3]);
  } else if (number(3) == 0) {
    adds = adds_never;
  }
  SiteInfo info;
  info.space = AddressSpace::shared;
  info.width = info.alignment = 16;
  info.carrier = Carrier::product;
  const std::uint32_t site = add_site(info);
  emit(Code::multiply_by_warpgroup,
       {.a = first,
        .b = second,
        .c = adds,
        .imm = static_cast<std::int64_t>(program_.warpgroup_products.size()),
        .extra = site});
  program_.warpgroup_products.push_back(product);
}

}  // namespace warpmeter::model
