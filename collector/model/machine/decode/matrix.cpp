// SPDX-License-Identifier: MIT
// Matrices: ldmatrix and stmatrix, products, and the fragments that wmma loads and stores.
//
// A fragment is moved by the accesses that ptxas makes of it (fragments.h), each an operation of
// its own with a site of its own, so that it is counted and checked like any other.
#include <algorithm>
#include <array>

#include "collector/model/machine/decode/decoder.h"
#include "collector/model/machine/warp/fragments.h"

namespace warpmeter::model {

/// ldmatrix.sync.aligned.m8n8.x4{.trans}.shared.b16 {…}, [row]; stmatrix … [row], {…}.
void Decoder::decode_matrix() {
  expect_operands(2, 2);
  const bool is_load = instruction_->row().effects.memory == ptx::Memory::load;
  const unsigned count = has(Word::x4) ? 4 : has(Word::x2) ? 2 : 1;
  const Operand& numbers = instruction_->operands[is_load ? 0 : 1];
  if (numbers.kind != Operand::Kind::vector || numbers.parts.size() != count) {
    refuse("has another number of registers than it says");
  }
  const Target target = address(instruction_->operands[is_load ? 1 : 0], access_space());
  std::array<std::uint16_t, 4> rows{};
  for (unsigned i = 0; i < count; ++i) {
    const Operand& part = numbers.parts[i];
    rows[i] = is_load ? destination(part, RowType::u32) : source(part, RowType::u32);
  }
  SiteInfo info;
  info.kind = is_load ? AccessKind::load : AccessKind::store;
  info.space = target.space;
  info.width = info.alignment = 16;
  info.carrier = Carrier::matrix;
  const std::uint32_t site = add_site(info);
  const unsigned how = count | (has(Word::trans) ? 8u : 0u) | (target.is_wide ? 16u : 0u);
  emit(is_load ? Code::load_matrix : Code::store_matrix, {.d = rows[0],
                                                          .a = target.row,
                                                          .b = rows[1],
                                                          .c = rows[2],
                                                          .e = rows[3],
                                                          .f = static_cast<std::uint16_t>(how),
                                                          .imm = target.offset,
                                                          .extra = site});
}

/// The rows of the `count` registers of a list, or of the one that stands alone.
std::vector<std::uint16_t> Decoder::matrix_rows(const Operand& operand, unsigned count,
                                                RowType type, bool is_written) {
  const bool is_list = operand.kind == Operand::Kind::vector;
  if ((is_list ? operand.parts.size() : 1) != count) {
    refuse("has another number of registers than it says");
  }
  std::vector<std::uint16_t> rows;
  for (unsigned i = 0; i < count; ++i) {
    const Operand& part = is_list ? operand.parts[i] : operand;
    rows.push_back(is_written ? destination(part, type) : source(part, type));
  }
  return rows;
}

void Decoder::transpose_rows(const std::vector<std::uint16_t>& from,
                             const std::vector<std::uint16_t>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    emit(Code::transpose_matrix, {.d = to[i], .a = from[i]});
  }
}

/// movmatrix.sync.aligned.m8n8.trans.b16 to, from.
void Decoder::decode_matrix_transpose() {
  expect_operands(2, 2);
  const std::uint16_t from = source(instruction_->operands[1], RowType::u32);
  transpose_rows({from}, {destination(instruction_->operands[0], RowType::u32)});
}

/// wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {…}, [address], stride; wmma.store.d …
/// [address], {…}, stride. Without a stride lines follow each other.
void Decoder::decode_fragment() {
  expect_operands(2, 3);
  const bool is_load = instruction_->row().effects.memory == ptx::Memory::load;
  const auto fragment = fragment_of(*instruction_);
  if (!fragment) refuse_form();
  const unsigned row_bytes = fragment->element_bits == 64 ? 8 : 4;
  const RowType type = row_bytes == 8 ? RowType::u64 : RowType::u32;
  const auto& operands = instruction_->operands;
  const std::vector<std::uint16_t> registers =
      matrix_rows(operands[is_load ? 0 : 1], fragment->registers, type, is_load);
  const Target target = address(operands[is_load ? 1 : 0], access_space());
  if (operands.size() < 3) refuse("has no stride, which the model wants written");
  const std::uint16_t stride = source(operands[2], RowType::u32);

  std::vector<std::uint16_t> rows = registers;
  const bool by_itself = fragment->transposes && !fragment->is_rows;
  if (by_itself && !is_load) {
    for (std::uint16_t& row : rows) row = scratch(4);
    transpose_rows(registers, rows);
  }
  SiteInfo info;
  info.kind = is_load ? AccessKind::load : AccessKind::store;
  info.space = target.space;
  info.width = info.alignment = static_cast<std::uint8_t>(fragment->width);
  info.has_stride = true;
  if (fragment->is_rows) info.carrier = Carrier::matrix;
  info.parts = static_cast<std::uint8_t>(fragment->is_rows ? 1 : fragment->registers_each);
  if (!fragment->is_rows) info.row_bytes = static_cast<std::uint8_t>(row_bytes);
  const std::uint16_t place = scratch(target.is_wide ? 8 : 4);
  const std::uint16_t byte_row = fragment->width == 1 ? scratch(4) : no_operand;
  for (const FragmentAccess& access : fragment->accesses) {
    emit(Code::matrix_addresses,
         {.d = place,
          .a = target.row,
          .b = stride,
          .f = target.is_wide,
          .extra = static_cast<std::uint32_t>(program_.reaches.size())},
         false);
    program_.reaches.push_back(access.reach);
    std::array<std::uint16_t, 4> part{};
    for (unsigned i = 0; i < fragment->registers_each; ++i)
      part[i] = rows[access.first_register + i];
    const bool is_added = access.byte > 0;
    if (is_added) part[0] = byte_row;
    const bool is_vector = fragment->registers_each > 1;
    const unsigned bytes = std::min(fragment->width, row_bytes);
    const Code code = fragment->is_rows ? Code::load_matrix
                      : is_load ? find_load(bytes, false, row_bytes)->of(target.is_wide, is_vector)
                                : find_store(bytes, row_bytes)->of(target.is_wide, is_vector);
    const std::uint32_t site = add_site(info);
    const unsigned how = (fragment->transposes ? 8u : 0u) | (target.is_wide ? 16u : 0u);
    emit(code, {.d = part[0],
                .a = place,
                .b = part[1],
                .c = part[2],
                .e = part[3],
                .f = static_cast<std::uint16_t>(fragment->registers_each |
                                                (fragment->is_rows ? how : 0u)),
                .imm = target.offset,
                .extra = site});
    if (!is_added) continue;
    // Numbers of 8 bits that come one by one are put beside those that are there.
    const std::uint16_t sum = rows[access.first_register];
    const std::uint16_t place_of_byte = constant(std::uint64_t{1} << 8 * access.byte, 4);
    emit(Code::mad_lo_u32, {.d = sum, .a = byte_row, .b = place_of_byte, .c = sum});
  }
  if (!is_load) return;
  rows.resize(fragment->distinct);
  if (by_itself) transpose_rows(rows, rows);
  for (unsigned i = fragment->distinct; i < fragment->registers; ++i) {
    move_row(registers[i], registers[i % fragment->distinct], row_bytes, true);
  }
}

/// Four bits say where two numbers stand among four; of tf32, where one stands among two, and of 4
/// bits where two pairs stand among four.
void Decoder::take_metadata(MatrixProduct& product) {
  const unsigned bits = bits_of(product.first.number);
  const unsigned fours = product.k / (bits == 32 ? 1u : bits == 4 ? 4u : 2u);
  product.is_sparse = true;
  product.metadata_lanes = static_cast<std::uint8_t>(fours / 4);
  const auto& operands = instruction_->operands;
  product.metadata = source(operands[4], RowType::u32);
  const Operand& lanes = operands[5];
  if (lanes.kind != Operand::Kind::integer || lanes.bits >= 4u / product.metadata_lanes) {
    refuse("names lanes that have no metadata");
  }
  product.metadata_lane = static_cast<std::uint8_t>(lanes.bits * product.metadata_lanes);
}

/// mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c; wmma.mma alike; behind those of
/// mma.sp the metadata and which lanes have it.
void Decoder::decode_matrix_product() {
  const bool is_sparse = instruction_->is(Opcode::mma_sparse);
  expect_operands(is_sparse ? 6 : 4, is_sparse ? 6 : 4);
  const auto types = instruction_->types();
  const MatrixShape shape = matrix_shape(*instruction_);
  // wmma.mma of f16 names the result's type and the accumulator's alone.
  const bool is_short = types.size() == 2;
  const auto number = [&](std::size_t i) {
    const auto found = i < types.size() ? matrix_number(types[i]) : std::nullopt;
    if (!found) refuse_form();
    return *found;
  };
  const MatrixNumber a = is_short ? MatrixNumber::f16 : number(1);
  const MatrixNumber b = is_short ? MatrixNumber::f16 : number(2);
  MatrixProduct product{};
  product.result.number = number(0);
  product.sum.number = number(is_short ? 1 : 3);
  const bool swapped = is_swapped(shape), is_wmma = instruction_->is(Opcode::wmma_mma);
  product.first.number = swapped ? b : a;
  product.second.number = swapped ? a : b;
  product.first_lines = static_cast<std::uint16_t>(swapped ? shape.n : shape.m);
  product.second_lines = static_cast<std::uint16_t>(swapped ? shape.m : shape.n);
  product.k = static_cast<std::uint16_t>(is_sparse ? shape.k / 2 : shape.k);
  product.fused_k = is_wmma && a == MatrixNumber::tf32 ? 4 : product.k;
  product.saturates = has(Word::satfinite);
  const bool is_whole = product.result.number == MatrixNumber::s32;
  const bool is_quads = a == MatrixNumber::f16 && shape.k == 4;
  product.rule = is_quads                 ? MatrixRule::quads
                 : a == MatrixNumber::f64 ? MatrixRule::chain
                 : a == MatrixNumber::b1
                     ? has(Word::and_) ? MatrixRule::bits_and : MatrixRule::bits_xor
                 : is_whole        ? MatrixRule::integer
                 : bits_of(a) == 8 ? MatrixRule::halves
                                   : MatrixRule::fused;
  if (is_quads) {
    for (MatrixOperand* operand : {&product.first, &product.second}) operand->count = 2;
    for (MatrixOperand* operand : {&product.sum, &product.result}) {
      operand->count = operand->number == MatrixNumber::f16 ? 4 : 8;
    }
    const auto* layout =
        std::find_if(instruction_->words.begin(), instruction_->words.end(),
                     [](Word word) { return word == Word::row || word == Word::col; });
    product.first_by_column = *layout == Word::col;
    product.second_by_column = *(layout + 1) == Word::col;
  } else {
    place_factor(product.first, product.first_lines, product.k, true);
    place_factor(product.second, product.second_lines, shape.k, false);
    place_sum(product.sum, product.first_lines, product.second_lines);
    place_sum(product.result, product.first_lines, product.second_lines);
  }
  const RowType type = a == MatrixNumber::f64 ? RowType::u64 : RowType::u32;
  const auto take = [&](std::size_t i, MatrixOperand& operand, bool is_factor) {
    const bool is_doubled = is_wmma && is_factor && operand.number == MatrixNumber::f16;
    const auto rows =
        matrix_rows(instruction_->operands[i], is_doubled ? 8u : operand.count, type, i == 0);
    std::copy_n(rows.begin(), operand.count, operand.rows);
  };
  take(0, product.result, false);
  take(swapped ? 2 : 1, product.first, true);
  take(swapped ? 1 : 2, product.second, true);
  take(3, product.sum, false);
  if (is_sparse) take_metadata(product);
  emit(is_sparse ? Code::multiply_sparse : Code::multiply_matrices,
       {.extra = static_cast<std::uint32_t>(program_.products.size())});
  program_.products.push_back(product);
}

}  // namespace warpmeter::model
