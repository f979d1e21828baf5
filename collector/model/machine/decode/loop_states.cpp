// SPDX-License-Identifier: MIT
// The rows of a warp's registers that decide in loops that ask for what others bring about: see
// ptx/flow/asking_loops.h.
#include <algorithm>
#include <cstdint>
#include <set>

#include "collector/model/counts/rules/counting.h"
#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {
namespace {

/// Numbers below `end` that are not in `left_out`, as ranges.
std::vector<RowRange> ranges_without(const std::set<std::uint32_t>& left_out, std::uint32_t end) {
  std::vector<RowRange> ranges;
  std::uint32_t begin = 0;
  for (const std::uint32_t unit : left_out) {
    if (unit > begin) ranges.push_back({begin, unit - begin});
    begin = unit + 1;
  }
  if (end > begin) ranges.push_back({begin, end - begin});
  return ranges;
}

}  // namespace

/// Called bodies have callers of which nobody knows here whether they loop; a loop around an
/// inlined function takes the place of the loops in it.
void Decoder::note_asking_loops(const Instance& instance) {
  if (!instance.root->is_entry) return;
  const Analysis& analysis = *instance.analysis;
  for (const ptx::AskingLoop& loop : analysis.asking_loops) {
    IdleRows noted;
    std::set<std::uint32_t> deciding, deciding_predicates;
    const auto note = [&](ptx::RegisterId id) {
      const ptx::Width width = analysis.data.registers()[id].width;
      const std::uint32_t slot = analysis.slots.slot[id];
      if (width == ptx::Width::predicate) {
        (loop.decides[id] ? deciding_predicates : noted.predicates)
            .insert(instance.first_predicate + slot);
        return;
      }
      const std::uint32_t units = width == ptx::Width::word ? 2 : width == ptx::Width::pair ? 4 : 8;
      const std::uint32_t first =
          units * slot + (width == ptx::Width::word   ? instance.first_word
                          : width == ptx::Width::pair ? instance.first_pair
                                                      : instance.first_quad);
      for (std::uint32_t unit = first; unit < first + units; ++unit) {
        (loop.decides[id] ? deciding : noted.rows).insert(unit);
      }
    };
    for (const std::size_t number : loop.blocks) {
      const ptx::Block& block = analysis.graph.blocks[number];
      for (std::size_t i = block.first; i < block.end; ++i) {
        for (const ptx::RegisterId id : analysis.data.reads(i)) note(id);
        for (const ptx::RegisterId id : analysis.data.writes(i)) note(id);
      }
      noted.operations.push_back(
          {instance.operation_of[block.first],
           instance.operation_of[block.end] - instance.operation_of[block.first]});
    }
    for (const std::uint32_t unit : deciding) noted.rows.erase(unit);
    for (const std::uint32_t predicate : deciding_predicates) noted.predicates.erase(predicate);
    noted.only_asks = loop.only_asks;
    idle_rows_.push_back(std::move(noted));
  }
}

/// Values between the operations of one instruction are of no use to the next.
void Decoder::place_loop_states() {
  std::set<std::uint32_t> scratch_rows, scratch_predicates;
  scratch_.for_each([&](const Scratch::Shape& shape, std::uint16_t row) {
    if (shape.first == 0) {
      scratch_predicates.insert(row);
      return;
    }
    const std::uint32_t units = shape.first * warp_lanes / row_unit_bytes * shape.second;
    for (std::uint32_t unit = row; unit < row + units; ++unit) scratch_rows.insert(unit);
  });
  const auto add_state = [&](const IdleRows& idle) {
    LoopState state;
    state.rows = ranges_without(idle.rows, program_.row_units);
    for (std::uint32_t i = 0; i < program_.predicate_count; ++i) {
      if (!idle.predicates.contains(i)) state.predicates.push_back(i);
    }
    state.only_asks = idle.only_asks;
    program_.loop_states.push_back(std::move(state));
  };
  add_state({});
  program_.loop_of.resize(program_.operations.size());
  for (IdleRows& idle : idle_rows_) {
    if (program_.loop_states.size() > 0xfff0) break;
    idle.rows.insert(scratch_rows.begin(), scratch_rows.end());
    idle.predicates.insert(scratch_predicates.begin(), scratch_predicates.end());
    const auto number = static_cast<std::uint16_t>(program_.loop_states.size());
    for (const RowRange& range : idle.operations) {
      std::fill_n(program_.loop_of.begin() + range.first, range.count, number);
    }
    add_state(idle);
  }
}

}  // namespace warpmeter::model
