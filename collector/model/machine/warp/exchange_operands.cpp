// SPDX-License-Identifier: MIT
#include "collector/model/machine/warp/exchange_operands.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/lanes.h"
#include "collector/model/machine/warp/lane_rows.h"

namespace warpmeter::model {
namespace {

bool is_vote(Code code) { return code >= Code::vote_all && code <= Code::vote_ballot; }

using Operand = std::uint16_t Operation::*;
constexpr std::array<Operand, 4> operands = {&Operation::a, &Operation::b, &Operation::c,
                                             &Operation::f};

/// Which of `operands` an exchange reads as rows, a bit each.
unsigned rows_of(Code code) {
  if (code == Code::meet) return 0;
  return is_shuffle(code) ? 0b1111 : is_vote(code) ? 0b0010 : 0b0011;
}

void copy(std::uint32_t* to, const std::uint32_t* from, std::uint32_t lanes) {
  for_each_lane(lanes, [&](unsigned lane) { to[lane] = from[lane]; });
}

}  // namespace

std::uint32_t named_at(const Warp& warp, const Operation* op, std::uint32_t lanes) {
  const std::uint32_t* names = row_of<std::uint32_t>(warp, is_shuffle(op->code) ? op->f : op->b);
  std::uint32_t named = 0;
  for_each_lane(lanes, [&](unsigned lane) { named |= names[lane]; });
  return named;
}

bool can_meet_apart(Code code) {
  return code == Code::meet || is_shuffle(code) || is_vote(code) || code == Code::match_any_b32 ||
         code == Code::match_all_b32 || (code >= Code::redux_add && code <= Code::redux_xor);
}

void ExchangeOperands::gather(const Warp& warp, const Operation& op, std::uint32_t lanes) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if ((rows_of(op.code) >> i & 1) != 0) {
      copy(rows_[i].data(), row_of<std::uint32_t>(warp, op.*operands[i]), lanes);
    }
  }
  if (!is_vote(op.code)) return;
  const std::uint32_t bits = warp.predicates[op.a >> 1];
  asked_ |= ((op.a & 1) != 0 ? ~bits : bits) & lanes;
}

void ExchangeOperands::execute(Warp& warp, const Operation& op, std::uint32_t own,
                               std::uint32_t all, const ExecuteOperation* operations) const {
  if (op.code == Code::meet) return;
  // The others have values of their own in these registers, which they get back.
  const std::uint32_t others = all & ~own;
  const bool gives_row = op.code < Code::vote_all || op.code > Code::vote_uni;
  std::vector<std::pair<std::uint16_t, Row>> kept;
  const auto keep = [&](std::uint16_t unit) {
    std::copy_n(row_of<std::uint32_t>(warp, unit), lanes,
                kept.emplace_back(unit, Row{}).second.begin());
  };
  std::vector<std::pair<std::uint16_t, std::uint32_t>> kept_predicates;
  const auto keep_predicate = [&](unsigned number) {
    kept_predicates.emplace_back(static_cast<std::uint16_t>(number), warp.predicates[number]);
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if ((rows_of(op.code) >> i & 1) != 0) keep(op.*operands[i]);
  }
  gives_row ? keep(op.d) : keep_predicate(op.d);
  if (is_shuffle(op.code) || op.code == Code::match_all_b32) {
    if (op.e != no_operand) keep_predicate(op.e);
  }
  if (is_vote(op.code)) keep_predicate(op.a >> 1);

  for (std::size_t i = 0; i < operands.size(); ++i) {
    if ((rows_of(op.code) >> i & 1) != 0)
      copy(row_of<std::uint32_t>(warp, op.*operands[i]), rows_[i].data(), others);
  }
  if (is_vote(op.code)) {
    std::uint32_t& bits = warp.predicates[op.a >> 1];
    bits = (bits & own) | (((op.a & 1) != 0 ? ~asked_ : asked_) & others) | (bits & ~all);
  }
  warp.active = all;
  operations[static_cast<std::size_t>(op.code)](warp, &op, all);
  for (const auto& [unit, values] : kept)
    copy(row_of<std::uint32_t>(warp, unit), values.data(), others);
  for (const auto& [number, bits] : kept_predicates) {
    warp.predicates[number] = (warp.predicates[number] & ~others) | (bits & others);
  }
}

}  // namespace warpmeter::model
