// SPDX-License-Identifier: MIT
// The part of UnsetRegisters about memory: what loads of global and shared memory find unset in a
// part, and what becomes of it.
#include <algorithm>

#include "base/lanes.h"
#include "collector/model/check/unset/registers.h"

namespace warpmeter::model::check {
namespace {

using ptx::Spread;

/// Up to which source an instruction passes bits on without computing anything of them; those
/// behind it say which bits. None where it computes.
std::size_t sources_passed_on(Spread spread) {
  switch (spread) {
    case Spread::copy:
    case Spread::bit_and:
    case Spread::bit_or:
    case Spread::lop3:
    case Spread::pack:
    case Spread::unpack:
      return most_unset_results;
    case Spread::select:
    case Spread::funnel_left:
    case Spread::funnel_right:
    case Spread::insert:
    case Spread::permute:
      return 2;
    case Spread::shift_left:
    case Spread::shift_right:
    case Spread::extract:
    case Spread::shuffle_up:
    case Spread::shuffle_down:
    case Spread::shuffle_xor:
    case Spread::shuffle_index:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

/// From now on every step is taken. Until here, nothing from memory was unset.
void UnsetRegisters::wake() {
  if (is_awake_) return;
  const std::size_t registers = table_.registers.size() * warps_;
  if (is_empty()) {
    lanes_.assign(registers, 0);
    origins_.assign(registers, no_origin);
    from_memory_.assign(registers, 0);
    computed_.assign(registers, 0);
  }
  bits_.resize(registers * warp_lanes);
  is_awake_ = true;
}

void UnsetRegisters::load(const Warp& warp, std::uint32_t instruction, unsigned lane,
                          const MarkedBytes& written, std::uint64_t offset) {
  wake();
  const UnsetStep& step = *memory_step_[instruction];
  for (std::size_t i = 0; i < step.results.size(); ++i) {
    const UnsetOperand& result = step.results[i];
    std::uint64_t unset = 0;
    for (std::uint32_t byte = 0; byte < step.bytes; ++byte) {
      const bool is_set = written.all(offset + i * step.bytes + byte, 1);
      if (!is_set) unset |= std::uint64_t{0xff} << 8 * byte;
    }
    if (unset == 0 || result.number == always_set) continue;
    give(warp, result, lane, extended({unset, 0}, 8 * step.bytes, step.is_signed));
    const std::size_t index = index_of(warp, result);
    from_memory_[index] |= 1u << lane;
    computed_[index] &= ~(1u << lane);
    origins_[index] = instruction;
  }
}

bool UnsetRegisters::store(const Warp& warp, std::uint32_t instruction, unsigned lane,
                           MarkedBytes& written, std::uint64_t offset) const {
  if (!is_awake_ || !follows(instruction)) return false;
  const UnsetStep& step = *memory_step_[instruction];
  bool any = false;
  for (std::size_t i = 0; i < step.sources.size(); ++i) {
    const UnsetOperand& source = step.sources[i];
    if ((unset_lanes(warp, source) >> lane & 1) == 0) continue;
    if ((from_memory_[index_of(warp, source)] >> lane & 1) == 0) continue;
    const UnsetBits bits = bits_of(warp, source, lane);
    for (std::uint32_t byte = 0; byte < step.bytes; ++byte) {
      if (!is_whole({bits.unset >> 8 * byte, bits.empty >> 8 * byte}, 8)) continue;
      written.unmark(offset + i * step.bytes + byte, 1);
      any = true;
    }
  }
  return any;
}

bool UnsetRegisters::shuffled_from_nobody(const Warp& warp, const Operation* op, Lanes lanes) {
  if (first_step_.empty()) return false;
  const auto operation = static_cast<std::uint32_t>(op - warp.code);
  for (std::size_t i = first_step_[operation];
       i < table_.steps.size() && table_.steps[i].operation == operation; ++i) {
    const UnsetStep& step = table_.steps[i];
    if (!is_shuffle(step.spread) || step.results.empty()) continue;
    const UnsetOperand& result = step.results[0];
    if (result.number == always_set) return false;
    wake();
    for_each_lane(lanes, [&](unsigned lane) {
      give(warp, result, lane, UnsetBits{low_bits(result.bits), 0});
    });
    const std::size_t index = index_of(warp, result);
    from_memory_[index] |= lanes;
    computed_[index] |= lanes;  // not even a copy of it is anything
    origins_[index] = step.instruction;
    return true;
  }
  return false;
}

/// Notes if the results' unset bits come from memory, and from a computation. `doubted`: lanes
/// whose bits are those of the guard.
void UnsetRegisters::note_origins(const Warp& warp, const UnsetStep& step, Lanes touched,
                                  Lanes doubted) {
  const std::size_t passed = sources_passed_on(step.spread);
  Lanes from_memory = touched, computed = doubted;
  const auto add = [&](const UnsetOperand& source, Lanes lanes, bool is_passed) {
    if (source.number == always_set) return;
    const std::size_t index = index_of(warp, source);
    Lanes others = lanes_[index] & lanes & ~from_memory_[index];
    Lanes used = lanes_[index] & lanes & (is_passed ? computed_[index] : ~0u);
    if (is_exchange(step.spread)) {  // the results may come from any lane
      others = others != 0 ? ~0u : 0;
      used = used != 0 ? ~0u : 0;
    }
    from_memory &= ~others;
    computed |= used;
  };
  if (step.spread == Spread::load || step.spread == Spread::lose) from_memory = 0;
  for (std::size_t i = 0; i < step.sources.size(); ++i) {
    add(step.sources[i], is_exchange(step.spread) ? warp.active : touched, i < passed);
  }
  if (doubted != 0) add(step.guard, doubted, false);
  for (const UnsetOperand& result : step.results) {
    if (result.number == always_set) continue;
    const std::size_t index = index_of(warp, result);
    from_memory_[index] = (from_memory_[index] & ~touched) | (from_memory & touched);
    computed_[index] = (computed_[index] & ~touched) | (computed & touched);
  }
}

/// A value computed from unset memory is used where others can see it. An atomic computes with
/// whatever it is given. The last of four numbers that are written together may be padding.
std::optional<UnsetRegisters::Found> UnsetRegisters::use_computed(const Warp& warp,
                                                                  const UnsetStep& step,
                                                                  const UnsetStep::Use& use,
                                                                  Lanes lanes) {
  lanes = seen_by_others(warp, use, lanes);
  Found found;
  found.use = ptx::UnsetUse::value;
  found.is_from_memory = true;
  Lanes of_others = 0;
  for (std::size_t i = 0; i < use.operands.size(); ++i) {
    const UnsetOperand& one = use.operands[i];
    Lanes unset = unset_lanes(warp, one) & lanes;
    if (unset == 0) continue;
    const std::size_t index = index_of(warp, one);
    unset &= from_memory_[index];
    if (step.is_store) unset &= computed_[index];
    Lanes used = 0;
    for_each_lane(unset, [&](unsigned lane) {
      if ((bits_of(warp, one, lane).unset & low_bits(use.bits)) != 0) used |= 1u << lane;
    });
    if (i == 3 && use.operands.size() == 4) used &= of_others;
    of_others |= used;
    if (used == 0) continue;
    found.lanes |= used;
    if (found.name.empty()) {
      found.name = table_.registers[one.number].name;
      if (origins_[index] != no_origin) found.read_by = origins_[index];
    }
    settle(warp, one, used);
  }
  if (found.lanes == 0) return std::nullopt;
  return found;
}

}  // namespace warpmeter::model::check
