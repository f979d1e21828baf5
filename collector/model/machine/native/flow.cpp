// SPDX-License-Identifier: MIT
#include "collector/model/machine/native/flow.h"

#include <algorithm>
#include <span>
#include <utility>

namespace warpmeter::model::native {
namespace {

/// A program that would take more is taken to read all.
constexpr std::size_t most_words = std::size_t{1} << 22;

}  // namespace

Flow flow_of(Code code) {
  switch (code) {
    case Code::branch:
      return Flow::branch;
    case Code::branch_if:
      return Flow::branch_if;
    case Code::branch_out:
      return Flow::branch_out;
    case Code::gather:
      return Flow::gather;
    case Code::join:
      return Flow::join;
    case Code::leave:
    case Code::barrier:
    case Code::cluster_arrive:
    case Code::cluster_wait:
    case Code::trap:
    case Code::call:
    case Code::call_indirect:
    case Code::print:
    case Code::assertion:
    case Code::allocate:
    case Code::deallocate:
    case Code::device_call:
    case Code::mbarrier:
    case Code::mbarrier_wait:
    case Code::bulk_copy:
    case Code::multiply_by_warpgroup:
    case Code::await_warpgroup:
      return Flow::interpreted;
    default:
      return Flow::on;
  }
}

std::vector<bool> block_begins(const Program& program) {
  const std::size_t count = program.operations.size();
  std::vector<bool> begins(count + 1);
  begins[0] = true;
  for (std::size_t i = 0; i < count; ++i) {
    const Operation& op = program.operations[i];
    const Flow flow = flow_of(op.code);
    if (flow == Flow::on) continue;
    if (flow == Flow::join) begins[i] = true;
    begins[i + 1] = true;
    const bool branches =
        flow == Flow::branch || flow == Flow::branch_if || flow == Flow::branch_out;
    if (branches) begins.at(op.extra) = true;
    if ((branches || flow == Flow::gather) && op.imm >= 0) {
      begins.at(static_cast<std::size_t>(op.imm)) = true;
    }
  }
  for (const FunctionCode& function : program.functions) {
    if (function.first <= count) begins[function.first] = true;
    if (function.end <= count) begins[function.end] = true;
  }
  return begins;
}

Liveness::Liveness(const Program& program, const std::vector<Effect>& effects, int pieces_of_unit)
    : pieces_of_unit_(static_cast<std::size_t>(pieces_of_unit)),
      words_(program.row_units * pieces_of_unit_ / 64 + 1),
      always_(words_ * 64),
      leads_anywhere_(program.operations.size() + 1) {
  const std::size_t count = program.operations.size();
  if ((count + 1) * words_ > most_words) return;
  is_known_ = true;
  live_.resize((count + 1) * words_);
  for (std::size_t i = 0; i < count; ++i) {
    const Operation& op = program.operations[i];
    const Flow flow = flow_of(op.code);
    const bool is_interpreted =
        flow == Flow::on ? !effects[i].is_inlined : flow == Flow::interpreted;
    if (is_interpreted && op.code != Code::leave) {
      note_interpreted(op);
      note_beside(program, op);
    }
    leads_anywhere_[i] =
        flow == Flow::interpreted && op.code != Code::leave && op.code != Code::barrier;
  }
  leads_anywhere_[count] = true;
  for (const FunctionCode& function : program.functions) {
    if (function.end <= count) leads_anywhere_[function.end] = true;
  }
  for (std::size_t i = 0; i <= count; ++i) {
    if (!leads_anywhere_[i]) continue;
    std::fill_n(live_.begin() + static_cast<std::ptrdiff_t>(i * words_), words_, ~std::uint64_t{0});
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = count; i-- > 0;) changed |= update(program, effects, i);
  }
}

/// Whatever its operands are: rows of numbers of up to 128 bits, or several rows one after another.
void Liveness::note_interpreted(const Operation& op) {
  constexpr std::size_t most_rows = 64;
  const std::size_t rows = op.f >= 1 && op.f <= most_rows ? op.f : 1;
  for (const std::uint16_t first : {op.d, op.a, op.b, op.c, op.e, op.f}) note_rows(first, rows);
}

void Liveness::note_rows(std::uint16_t first, std::size_t rows) {
  constexpr std::size_t widest = 8;
  const std::size_t end = std::min((first + widest * rows) * pieces_of_unit_, always_.size());
  for (std::size_t i = first * pieces_of_unit_; i < end; ++i) always_[i] = true;
}

/// Rows that no operand names: those of textures and of matrix products stand in tables.
void Liveness::note_beside(const Program& program, const Operation& op) {
  if (op.code == Code::texture) {
    const TextureAccess& access = program.texture_accesses[static_cast<std::size_t>(op.imm)];
    for (const std::uint16_t row : {access.handle, access.layer, access.level}) note_rows(row, 1);
    for (const std::uint16_t row : access.at) note_rows(row, 1);
    for (const auto& gradient : access.gradients) {
      for (const std::uint16_t row : gradient) note_rows(row, 1);
    }
    for (const std::uint16_t row : access.data) note_rows(row, 1);
  } else if (op.code == Code::multiply_matrices || op.code == Code::multiply_sparse) {
    const MatrixProduct& product = program.products[op.extra];
    for (const MatrixOperand* operand :
         {&product.first, &product.second, &product.sum, &product.result}) {
      for (const std::uint16_t row : std::span(operand->rows).first(operand->count)) {
        note_rows(row, 1);
      }
    }
    if (product.is_sparse) note_rows(product.metadata, 1);
  }
}

bool Liveness::update(const Program& program, const std::vector<Effect>& effects,
                      std::size_t operation) {
  if (leads_anywhere_[operation]) return false;
  const Operation& op = program.operations[operation];
  const Flow flow = flow_of(op.code);
  const bool branches = flow == Flow::branch || flow == Flow::branch_if || flow == Flow::branch_out;
  std::vector<std::uint64_t> live(words_);
  const auto add = [&](std::size_t successor) {
    for (std::size_t i = 0; i < words_; ++i) live[i] |= word(successor, i);
  };
  const bool ends = op.code == Code::leave && op.guard == no_guard;  // nobody reads a row any more
  if (flow != Flow::branch && !ends) add(operation + 1);
  if (branches) add(op.extra);
  if ((branches || flow == Flow::gather) && op.imm >= 0) add(static_cast<std::size_t>(op.imm));
  const auto bit = [](std::int32_t piece) { return std::uint64_t{1} << piece % 64; };
  for (const std::int32_t piece : effects[operation].writes) {
    live[static_cast<std::size_t>(piece) / 64] &= ~bit(piece);
  }
  for (const std::int32_t piece : effects[operation].reads) {
    live[static_cast<std::size_t>(piece) / 64] |= bit(piece);
  }
  const auto mine = live_.begin() + static_cast<std::ptrdiff_t>(operation * words_);
  if (std::equal(live.begin(), live.end(), mine)) return false;
  std::copy(live.begin(), live.end(), mine);
  return true;
}

Uses::Uses(const Program& program, std::vector<Effect> effects, const Liveness& liveness)
    : effects_(std::move(effects)), liveness_(liveness), block_end_(program.operations.size() + 1) {
  const std::size_t count = program.operations.size();
  const std::vector<bool> begins = block_begins(program);
  for (std::size_t i = count, end = count; i-- > 0;) {
    if (begins[i + 1]) end = i + 1;
    if (flow_of(program.operations[i].code) != Flow::on) end = i;
    block_end_[i] = static_cast<std::uint32_t>(end);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto operation = static_cast<std::uint32_t>(i);
    const auto note = [&](std::int32_t piece, bool is_read) {
      const auto index = static_cast<std::size_t>(piece);
      if (index >= uses_.size()) uses_.resize(index + 1);
      std::vector<Use>& of_piece = uses_[index];
      const bool is_known = !of_piece.empty() && of_piece.back().operation == operation &&
                            of_piece.back().is_read == is_read;
      if (!is_known) of_piece.push_back({operation, is_read});
    };
    for (const std::int32_t piece : effects_[i].reads) note(piece, true);
    for (const std::int32_t piece : effects_[i].writes) note(piece, false);
  }
}

Uses::Next Uses::next(std::int32_t piece, std::size_t operation, bool only_after) const {
  const std::size_t end = block_end_[operation], from = operation + (only_after ? 1 : 0);
  const auto index = static_cast<std::size_t>(piece);
  const bool may_be_dead = !liveness_.is_always_live(piece);
  if (index < uses_.size()) {
    const std::vector<Use>& of_piece = uses_[index];
    const auto use =
        std::lower_bound(of_piece.begin(), of_piece.end(), from,
                         [](const Use& one, std::size_t least) { return one.operation < least; });
    if (use != of_piece.end() && use->operation < end) {
      if (use->is_read) {
        return {true, false, use->operation - static_cast<std::uint32_t>(operation)};
      }
      return {false, may_be_dead, 0};
    }
  }
  return {false, may_be_dead && !liveness_.is_live(piece, end), 0};
}

}  // namespace warpmeter::model::native
