// SPDX-License-Identifier: MIT
// Branches, returns, barriers and calls.
#include <fmt/format.h>

#include <algorithm>

#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {

/// How caches treat an access: nothing that is counted.
void Decoder::decode_policy() {
  const std::uint16_t none = constant(0, 8);
  if (instruction_->operands.empty()) refuse("has no operands");
  move_row(destination(instruction_->operands[0], RowType::u64), none, 8, true);
}

/// Fences between proxies order what other units do, not what threads do.
void Decoder::note_fence() {
  if (has(Word::proxy) || has(Word::mbarrier_init)) return;
  program_.fences.push_back({ordinal_, scope(), has(Word::sys)});
  program_.has_releases = true;
}

/// How far the instruction is seen. Whoever means the blocks of its cluster has clusters, of one
/// block where the launch says nothing of them.
Scope Decoder::scope() {
  program_.has_clusters |= has(Word::cluster);
  program_.names_cluster_scope |= has(Word::cluster);
  return has(Word::cta) || has(Word::cluster) ? Scope::block : Scope::device;
}

std::size_t Decoder::label(std::string_view name) const {
  const auto& labels = instance_->function->labels;
  const auto found = labels.find(name);
  if (found == labels.end()) refuse(fmt::format("goes to {}, which is no label here", name));
  return found->second;
}

/// A branch of the lanes of a predicate operand, or of all. Its guard is that predicate.
void Decoder::add_branch(std::uint16_t predicate, std::size_t target, std::size_t meeting) {
  branches_->push_back({program_.operations.size(), target, meeting});
  emit(predicate == no_guard ? Code::branch : Code::branch_if, {.a = predicate}, false);
}

/// The line of the condition that parts the lanes, where the branch stands at another's.
void Decoder::note_decider() {
  const std::size_t decider = instance_->analysis->deciders[index_];
  const auto& location = instance_->function->body[decider].location;
  if (decider == index_ || !location || location->line <= 0) return;
  Place place = program_.places.back();
  place.file = location->file;
  place.line = location->line;
  place.own_line = location->own_line;
  place.code_file = location->code_file;
  place.code_line = location->code_line;
  program_.decided_at.emplace(ordinal_, place);
}

void Decoder::decode_branch() {
  expect_operands(1, 1);
  const ptx::ControlFlow& graph = instance_->analysis->graph;
  const std::size_t target = label(instruction_->operands[0].name);
  add_branch(guard_, target, graph.reconvergence(index_));
  note_decider();
  const std::size_t exit = graph.blocks[graph.block_of[index_]].exit;
  if (exit == ptx::nowhere || guard_ == no_guard) return;
  Operation& operation = program_.operations.back();
  operation.code = Code::branch_out;
  operation.b = target < graph.block_of.size() && graph.block_of[target] == exit ? 0 : 1;
}

/// A branch for each entry of the table, and a trap for an index beyond it.
void Decoder::decode_indexed_branch() {
  expect_operands(2, 2);
  const auto& lists = instance_->function->target_lists;
  const auto list = lists.find(instruction_->operands[1].name);
  if (list == lists.end()) refuse("names no list of targets");
  if (guard_ != no_guard) refuse("is guarded, which the model does not do");
  const std::uint16_t index = source(instruction_->operands[0], RowType::u32);
  const std::uint16_t chosen = scratch_predicate();
  const std::size_t meeting = instance_->analysis->graph.reconvergence(index_);
  for (std::size_t i = 0; i < list->second.size(); ++i) {
    const std::uint16_t number = constant(i, 4);
    emit(Code::eq_u32, {.d = chosen, .a = index, .b = number}, false);
    add_branch(static_cast<std::uint16_t>(2 * chosen), label(list->second[i]), meeting);
  }
  emit(Code::trap);
}

/// The kernel's end for a thread; of an inlined function, a branch to where its callers go on.
void Decoder::decode_return() {
  if (!instance_->returns()) {
    emit(Code::leave);
  } else {
    add_branch(guard_, instance_->function->body.size(),
               instance_->analysis->graph.reconvergence(index_));
  }
}

void Decoder::decode_barrier() {
  const auto& operands = instruction_->operands;
  const bool reduces = instruction_->is(Opcode::bar_red);
  const bool arrives = instruction_->is(Opcode::bar_arrive);
  BarrierKind kind = arrives ? BarrierKind::arrive : BarrierKind::sync;
  if (reduces) {
    kind = has(Word::popc)   ? BarrierKind::count
           : has(Word::and_) ? BarrierKind::all
                             : BarrierKind::any;
  }
  expect_operands(reduces ? 3 : arrives ? 2 : 1, reduces ? 4 : 2);
  const std::size_t first = reduces ? 1 : 0;
  const std::size_t plain = operands.size() - (reduces ? 2 : 0);  // the barrier and maybe a count
  const std::uint16_t barrier = source(operands[first], RowType::u32);
  program_.has_partial_barriers |= plain > 1;
  const std::uint16_t count =
      plain > 1 ? source(operands[first + 1], RowType::u32) : constant(0, 4);
  const bool is_written = plain == 1 && operands[first].kind == Operand::Kind::integer;
  const std::uint16_t asked = reduces ? predicate_source(operands.back()) : 0;
  const std::uint16_t d = !reduces                     ? std::uint16_t{0}
                          : kind == BarrierKind::count ? destination(operands[0], RowType::u32)
                                                       : predicate_destination(operands[0]);
  program_.barriers.push_back(ordinal_);
  const bool is_aligned = instruction_->text.starts_with("bar.") || has(Word::aligned);
  emit(Code::barrier,
       {.d = d,
        .a = barrier,
        .b = count,
        .c = asked,
        .e = is_written ? static_cast<std::uint16_t>(operands[first].bits % barriers_of_block + 1)
                        : std::uint16_t{0},
        .f = static_cast<std::uint16_t>(kind),
        .imm = std::int64_t{2} * instruction_->line + (is_aligned ? 0 : barrier_is_unaligned)});
}

}  // namespace warpmeter::model
