// SPDX-License-Identifier: MIT
// The rows of a warp's registers that decide in loops that ask for what others bring about: see
// ptx/flow/asking_loops.h.
#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "collector/model/counts/rules/counting.h"
#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {
namespace {

/// Past so many values to look at, the places of a loop are not told apart.
constexpr std::size_t most_values = 1 << 18;

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

/// The instructions before which a warp of the loop may stand when it lets others go on: where a
/// block begins, behind a wait at a barrier object, and at a wait for the cluster.
std::vector<std::size_t> Decoder::places_in(const Instance& instance, const ptx::AskingLoop& loop) {
  std::vector<std::size_t> places;
  for (const std::size_t number : loop.blocks) {
    const ptx::Block& block = instance.analysis->graph.blocks[number];
    places.push_back(block.first);
    for (std::size_t i = block.first; i < block.end; ++i) {
      const ptx::Instruction& instruction = instance.function->body[i];
      const bool waits =
          instruction.is(Opcode::mbarrier_try_wait) || instruction.is(Opcode::mbarrier_test_wait);
      const bool stands = instruction.row().execution == ptx::Execution::cluster_wait;
      if (waits && i + 1 < block.end) places.push_back(i + 1);
      if (stands && i != block.first && places.back() != i) places.push_back(i);
    }
  }
  return places;
}

/// The rows of registers that are named in a loop, without those of registers that decide.
template <class Decides>
Decoder::IdleRows Decoder::idle_rows_of(const Instance& instance,
                                        const std::set<ptx::RegisterId>& named,
                                        const Decides& decides) {
  const Analysis& analysis = *instance.analysis;
  IdleRows noted;
  std::set<std::uint32_t> deciding, deciding_predicates;
  for (const ptx::RegisterId id : named) {
    const ptx::Width width = analysis.data.registers()[id].width;
    const std::uint32_t slot = analysis.slots.slot[id];
    const bool is_deciding = decides(id);
    if (width == ptx::Width::predicate) {
      (is_deciding ? deciding_predicates : noted.predicates)
          .insert(instance.first_predicate + slot);
      continue;
    }
    const std::uint32_t units = width == ptx::Width::word ? 2 : width == ptx::Width::pair ? 4 : 8;
    const std::uint32_t first = units * slot + (width == ptx::Width::word   ? instance.first_word
                                                : width == ptx::Width::pair ? instance.first_pair
                                                                            : instance.first_quad);
    for (std::uint32_t unit = first; unit < first + units; ++unit) {
      (is_deciding ? deciding : noted.rows).insert(unit);
    }
  }
  for (const std::uint32_t unit : deciding) noted.rows.erase(unit);
  for (const std::uint32_t predicate : deciding_predicates) noted.predicates.erase(predicate);
  return noted;
}

/// Called bodies have callers of which nobody knows here whether they loop; a loop around an
/// inlined function takes the place of the loops in it.
void Decoder::note_asking_loops(const Instance& instance) {
  if (!instance.root->is_entry) return;
  const Analysis& analysis = *instance.analysis;
  if (analysis.asking_loops.empty()) return;
  const std::vector<ptx::Interval> live = ptx::live_intervals(analysis.data, analysis.graph);
  for (const ptx::AskingLoop& loop : analysis.asking_loops) {
    std::set<ptx::RegisterId> named;
    for (const std::size_t number : loop.blocks) {
      const ptx::Block& block = analysis.graph.blocks[number];
      for (std::size_t i = block.first; i < block.end; ++i) {
        named.insert(analysis.data.reads(i).begin(), analysis.data.reads(i).end());
        named.insert(analysis.data.writes(i).begin(), analysis.data.writes(i).end());
      }
    }
    std::vector<std::size_t> places = places_in(instance, loop);
    std::sort(places.begin(), places.end());
    const bool is_each_apart = places.size() * named.size() <= most_values;
    for (const std::size_t place : places) {
      const ptx::Block& block = analysis.graph.blocks[analysis.graph.block_of[place]];
      const auto next = std::upper_bound(places.begin(), places.end(), place);
      const std::size_t end = next == places.end() ? block.end : std::min(*next, block.end);
      const RowRange operations{instance.operation_of[place],
                                instance.operation_of[end] - instance.operation_of[place]};
      const bool is_first = place == places.front();
      if (!is_each_apart && !is_first) {
        idle_rows_.back().operations.push_back(operations);
        continue;
      }
      // Registers share rows: one that decides elsewhere says nothing where it is not live, unless
      // it shows what time or memory had become. Behind the beginning of a block, one that begins
      // there is not live.
      const auto decides = [&](ptx::RegisterId id) {
        const bool has_begun = live[id].first < place + (place == block.first ? 1 : 0);
        const bool is_live = has_begun && place <= live[id].last;
        return loop.decides[id] && (!is_each_apart || is_live || loop.is_input[id]);
      };
      idle_rows_.push_back(idle_rows_of(instance, named, decides));
      idle_rows_.back().operations.push_back(operations);
      idle_rows_.back().stores = loop.stores;
    }
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
    state.stores = idle.stores;
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
