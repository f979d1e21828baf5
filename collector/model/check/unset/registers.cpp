// SPDX-License-Identifier: MIT
#include "collector/model/check/unset/registers.h"

#include "base/lanes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "collector/model/check/unset/bits.h"
#include "collector/model/check/unset/matrices.h"
#include "collector/model/check/unset/source_lane.h"
#include "collector/model/counts/rules/counting.h"
#include "collector/model/machine/memory/memory.h"

namespace warpmeter::model::check {
namespace {

using ptx::Spread;
using ptx::UnsetUse;

constexpr std::uint32_t not_watched = ~std::uint32_t{0};

/// The lanes of a predicate operand.
std::uint32_t holding(const Warp& warp, const UnsetOperand& predicate) {
  const std::uint32_t bits = warp.predicates[predicate.row];
  return predicate.is_negated ? ~bits : bits;
}

Value value_of(const Warp& warp, const UnsetOperand& operand, unsigned lane) {
  if (operand.is_constant) return {operand.value, ~std::uint64_t{0}};
  if (operand.is_predicate) return {holding(warp, operand) >> lane & 1, ~std::uint64_t{0}};
  if (operand.row == no_operand || operand.bits > 64) return {};
  const std::size_t bytes = operand.bits <= 16 ? 2 : operand.bits / 8;
  std::uint64_t bits = 0;
  std::memcpy(&bits, warp.registers + operand.row * row_unit_bytes + lane * bytes, bytes);
  return {bits, ~std::uint64_t{0}};
}

std::uint64_t address_of(const Warp& warp, const UnsetStep::Place& place, unsigned lane) {
  return value_of(warp, place.base, lane).bits + static_cast<std::uint64_t>(place.offset);
}

bool is_local(std::uint64_t generic) {
  return generic - window_of(AddressSpace::local) < window_bytes;
}

}  // namespace

std::string_view to_string(UnsetUse use) {
  switch (use) {
    case UnsetUse::address:
      return "as an address";
    case UnsetUse::value:
      return "as the value that it writes";
    case UnsetUse::decision:
      return "to decide what to do next";
    case UnsetUse::barrier:
      return "at a barrier";
    case UnsetUse::members:
      return "as the mask of the lanes that take part";
    case UnsetUse::callee:
      break;
  }
  return "as the function to call";
}

UnsetRegisters::UnsetRegisters(const Program& program) : table_(program.unset) {
  if (table_.steps.empty()) return;
  const auto first = std::find_if(table_.registers.begin(), table_.registers.end(),
                                  [](const UnsetRegister& one) { return one.from_memory; });
  always_watched_ = static_cast<std::size_t>(first - table_.registers.begin());
  if (always_watched_ > 0) local_ = LocalMemory(program.local_bytes);
  is_followed_.assign(program.places.size() + 1, false);
  memory_step_.assign(program.places.size() + 1, nullptr);
  for (const UnsetStep& step : table_.steps) {
    if (!step.is_dormant && (step.access.stores || step.copy))
      is_followed_[step.instruction] = true;
    if (step.is_load || step.is_store) memory_step_[step.instruction] = &step;
  }
  first_step_.assign(program.operations.size(), not_watched);
  for (std::size_t i = table_.steps.size(); i-- > 0;) {
    first_step_[table_.steps[i].operation] = static_cast<std::uint32_t>(i);
  }
}

void UnsetRegisters::start_block(std::uint32_t warps) {
  warps_ = warps;
  if (is_empty()) return;
  const std::size_t registers = table_.registers.size() * warps;
  const std::size_t used = is_awake_ ? registers : always_watched_ * warps;
  lanes_.assign(registers, 0);
  bits_.resize(used * warp_lanes);
  origins_.assign(registers, no_origin);
  from_memory_.assign(registers, 0);
  computed_.assign(registers, 0);
  local_.start_block(std::size_t{warps} * warp_lanes);
  for (std::size_t i = 0; i < used; ++i) {
    const UnsetRegister& known = table_.registers[i / warps];
    if (!known.at_start) continue;
    lanes_[i] = ~0u;
    std::fill_n(bits_.begin() + static_cast<std::ptrdiff_t>(i * warp_lanes), warp_lanes,
                UnsetBits{low_bits(known.bits), 0});
  }
}

std::optional<UnsetRegisters::Found> UnsetRegisters::step(const Warp& warp, const Operation* op) {
  if (is_empty()) return std::nullopt;
  const auto operation = static_cast<std::uint32_t>(op - warp.code);
  std::optional<Found> found;
  for (std::size_t i = first_step_[operation];
       i < table_.steps.size() && table_.steps[i].operation == operation; ++i) {
    if (table_.steps[i].is_dormant && !is_awake_) continue;
    const auto now = follow(warp, table_.steps[i]);
    if (!found) found = now;
  }
  return found;
}

std::optional<UnsetRegisters::Found> UnsetRegisters::follow(const Warp& warp,
                                                            const UnsetStep& step) {
  std::uint32_t lanes = warp.active;
  const bool is_guarded = step.has_guard && !step.is_branch;
  if (is_guarded) lanes &= holding(warp, step.guard);
  std::optional<Found> found;
  for (const UnsetStep::Use& each : step.uses) {
    const bool decides = each.what == UnsetUse::decision;
    const auto now = use(warp, each, decides ? warp.active : lanes);
    if (!found) found = now;
  }
  for (const UnsetStep::Use& each : step.written) {
    if (!is_awake_) break;
    const auto now = use_computed(warp, step, each, lanes);
    if (!found) found = now;
  }
  if (!step.forgotten.empty()) forget(warp, step);
  if (step.access.stores) store(warp, step, lanes);
  if (step.copy) pass(warp, *step.copy);
  if (step.results.empty()) return found;
  const std::uint32_t doubted = is_guarded ? unset_lanes(warp, step.guard) & lanes : 0;
  const std::uint32_t touched = touched_lanes(warp, step, lanes) | doubted;
  if (touched == 0) {
    for (const UnsetOperand& result : step.results) settle(warp, result, lanes);
  } else {
    change(warp, step, lanes, touched, doubted);
  }
  return found;
}

/// The lanes to whose results unset bits may come.
std::uint32_t UnsetRegisters::touched_lanes(const Warp& warp, const UnsetStep& step,
                                            std::uint32_t lanes) const {
  if (step.spread == Spread::lose) return lanes;
  std::uint32_t touched = 0;
  if (step.spread == Spread::load) {
    for_each_lane(lanes, [&](unsigned lane) {
      const auto offset = local_offset(warp, step, lane);
      for (std::size_t i = 0; offset && i < step.results.size(); ++i) {
        const std::uint64_t unset = local_.unset_bits(
            warp.index * warp_lanes + lane, *offset + i * step.access.bytes, step.access.bytes);
        if (unset != 0) touched |= 1u << lane;
      }
    });
    return touched;
  }
  for (const UnsetOperand& source : step.sources) touched |= unset_lanes(warp, source) & lanes;
  return touched != 0 && is_exchange(step.spread) ? lanes : touched;
}

/// Gives the results their bits. `doubted` are lanes of which it is not known whether they execute
/// this.
void UnsetRegisters::change(const Warp& warp, const UnsetStep& step, std::uint32_t lanes,
                            std::uint32_t touched, std::uint32_t doubted) {
  const std::uint32_t origin = origin_of(warp, step);
  std::array<UnsetResults, warp_lanes> given;
  for_each_lane(touched, [&](unsigned lane) {
    given[lane] = results_of(warp, step, lanes, lane);
    if ((doubted >> lane & 1) != 0) given[lane].fill({~std::uint64_t{0}, 0});
  });
  for (std::size_t i = 0; i < step.results.size(); ++i) {
    const UnsetOperand& result = step.results[i];
    settle(warp, result, lanes);
    if (i >= most_unset_results || result.number == always_set) continue;
    origins_[index_of(warp, result)] = origin;
    for_each_lane(touched, [&](unsigned lane) { give(warp, result, lane, given[lane][i]); });
  }
  if (is_awake_) note_origins(warp, step, touched, doubted);
}

std::optional<UnsetRegisters::Found> UnsetRegisters::use(const Warp& warp,
                                                         const UnsetStep::Use& use,
                                                         std::uint32_t lanes) {
  Found found;
  found.use = use.what;
  if (use.what == UnsetUse::value) {
    for_each_lane(lanes, [&](unsigned lane) {
      const auto is_unset = [&](const UnsetOperand& one) {
        return (unset_lanes(warp, one) >> lane & 1) != 0;
      };
      for (const UnsetOperand& one : use.operands) {
        if (!is_unset(one) || !is_whole(bits_of(warp, one, lane), use.bits)) return;
        // A copy, or it is found as what was computed.
        if ((from_memory_[index_of(warp, one)] >> lane & 1) != 0) return;
      }
      for (const UnsetOperand& beside : use.neighbours) {
        if (!is_whole(bits_of(warp, beside, lane), beside.bits)) return;
      }
      found.lanes |= 1u << lane;
    });
    found.lanes = seen_by_others(warp, use, found.lanes);
  } else {
    for (const UnsetOperand& one : use.operands) found.lanes |= unset_lanes(warp, one) & lanes;
  }
  if (found.lanes == 0) return std::nullopt;
  for (const UnsetOperand& one : use.operands) {
    if ((unset_lanes(warp, one) & found.lanes) == 0) continue;
    if (found.name.empty()) {
      found.name = table_.registers[one.number].name;
      const std::uint32_t origin = origins_[index_of(warp, one)];
      if (origin != no_origin) found.read_by = origin;
      found.is_from_memory =
          (from_memory_[index_of(warp, one)] & unset_lanes(warp, one) & found.lanes) != 0;
    }
    settle(warp, one, found.lanes);
  }
  return found;
}

UnsetRegisters::Lanes UnsetRegisters::seen_by_others(const Warp& warp, const UnsetStep::Use& use,
                                                     Lanes lanes) const {
  if (!use.is_generic) return lanes;
  Lanes seen = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    if (!is_local(address_of(warp, use.place, lane))) seen |= 1u << lane;
  });
  return seen;
}

/// Where a lane's access lies in local memory, if it does.
std::optional<std::uint64_t> UnsetRegisters::local_offset(const Warp& warp, const UnsetStep& step,
                                                          unsigned lane) const {
  const std::uint64_t address = address_of(warp, step.access.place, lane);
  if (!step.access.is_generic) return address;
  if (!is_local(address)) return std::nullopt;
  return address - window_of(AddressSpace::local);
}

void UnsetRegisters::forget(const Warp& warp, const UnsetStep& step) {
  for (const UnsetStep::Stretch& stretch : step.forgotten) {
    for_each_lane(warp.active, [&](unsigned lane) {
      local_.forget(warp.index * warp_lanes + lane, address_of(warp, stretch.begin, lane),
                    stretch.bytes);
    });
  }
}

void UnsetRegisters::pass(const Warp& warp, const UnsetStep::Copy& copy) {
  for_each_lane(warp.active, [&](unsigned lane) {
    const std::uint32_t thread = warp.index * warp_lanes + lane;
    local_.write(thread, address_of(warp, copy.to, lane), copy.bytes,
                 local_.unset_bits(thread, address_of(warp, copy.from, lane), copy.bytes));
  });
}

void UnsetRegisters::store(const Warp& warp, const UnsetStep& step, std::uint32_t lanes) {
  for_each_lane(lanes, [&](unsigned lane) {
    const auto offset = local_offset(warp, step, lane);
    if (!offset) return;
    for (std::size_t i = 0; i < step.sources.size(); ++i) {
      const UnsetOperand& source = step.sources[i];
      // Values from global or shared memory are not followed through local memory.
      const bool is_known = !source.is_constant && source.number != always_set &&
                            (from_memory_[index_of(warp, source)] >> lane & 1) == 0;
      const std::uint64_t unset = is_known ? bits_of(warp, source, lane).unset : 0;
      local_.write(warp.index * warp_lanes + lane, *offset + i * step.access.bytes,
                   step.access.bytes, unset);
    }
  });
}

void UnsetRegisters::wrote_local(std::uint32_t thread, std::uint32_t instruction,
                                 std::uint64_t offset, std::uint32_t width) {
  if (is_empty() || is_followed_[instruction]) return;
  local_.write(thread, offset, width);
}

/// The load that an unset result is there for.
std::uint32_t UnsetRegisters::origin_of(const Warp& warp, const UnsetStep& step) const {
  if (step.access.loads && !step.access.is_parameter) return step.instruction;
  for (const UnsetOperand& source : step.sources) {
    if ((unset_lanes(warp, source) & warp.active) != 0) return origins_[index_of(warp, source)];
  }
  return no_origin;
}

std::size_t UnsetRegisters::index_of(const Warp& warp, const UnsetOperand& operand) const {
  return std::size_t{operand.number} * warps_ + warp.index;
}

std::uint32_t UnsetRegisters::unset_lanes(const Warp& warp, const UnsetOperand& operand) const {
  return operand.number == always_set ? 0 : lanes_[index_of(warp, operand)];
}

UnsetBits UnsetRegisters::bits_of(const Warp& warp, const UnsetOperand& operand,
                                  unsigned lane) const {
  if (operand.is_constant) return {0, ~operand.value};
  if ((unset_lanes(warp, operand) >> lane & 1) == 0) return {};
  return bits_[index_of(warp, operand) * warp_lanes + lane];
}

void UnsetRegisters::give(const Warp& warp, const UnsetOperand& result, unsigned lane,
                          UnsetBits bits) {
  if (result.number == always_set) return;
  const std::uint64_t mask = low_bits(result.bits);
  if ((bits.unset & mask) == 0) return;
  lanes_[index_of(warp, result)] |= 1u << lane;
  from_memory_[index_of(warp, result)] &= ~(1u << lane);
  bits_[index_of(warp, result) * warp_lanes + lane] = {bits.unset & mask,
                                                       bits.empty & ~bits.unset & mask};
}

void UnsetRegisters::settle(const Warp& warp, const UnsetOperand& operand, std::uint32_t lanes) {
  if (operand.number != always_set) lanes_[index_of(warp, operand)] &= ~lanes;
}

/// The unset bits that a lane gets from others.
UnsetBits UnsetRegisters::exchanged(const Warp& warp, const UnsetStep& step, std::uint32_t lanes,
                                    unsigned lane) const {
  constexpr UnsetBits everything{~std::uint64_t{0}, 0};
  const UnsetOperand& value = step.sources[0];
  if (is_shuffle(step.spread)) {
    if (step.sources.size() < 3) return {};
    const UnsetOperand &b = step.sources[1], &c = step.sources[2];
    if (((unset_lanes(warp, b) | unset_lanes(warp, c)) >> lane & 1) != 0) return everything;
    const Value by = value_of(warp, b, lane), bounds = value_of(warp, c, lane);
    if (by.known == 0 || bounds.known == 0) return {};
    const unsigned from = source_lane(step.spread, lane, static_cast<std::uint32_t>(by.bits),
                                      static_cast<std::uint32_t>(bounds.bits));
    return (lanes >> from & 1) != 0 ? bits_of(warp, value, from) : UnsetBits{};
  }
  const bool names_lanes = step.sources.size() > 1;
  const Value members = names_lanes ? value_of(warp, step.sources.back(), lane) : Value{};
  const std::uint32_t group =
      members.known != 0 ? lanes & static_cast<std::uint32_t>(members.bits) : lanes;
  const std::uint32_t unset = unset_lanes(warp, value) & group;
  if (step.spread == Spread::ballot) return {unset, 0};
  if (value.is_predicate && unset != 0 && step.spread != Spread::group) {
    const std::uint32_t yes = holding(warp, value);
    const std::uint32_t settles = step.spread == Spread::vote_any ? yes : ~yes;
    if ((settles & group & ~unset) != 0) return {};
  }
  return unset != 0 ? everything : UnsetBits{};
}

UnsetResults UnsetRegisters::results_of(const Warp& warp, const UnsetStep& step,
                                        std::uint32_t lanes, unsigned lane) const {
  UnsetResults results{};
  if (step.spread == Spread::load) {
    const auto offset = local_offset(warp, step, lane);
    for (std::size_t i = 0; offset && i < std::min(step.results.size(), results.size()); ++i) {
      const std::uint64_t unset = local_.unset_bits(
          warp.index * warp_lanes + lane, *offset + i * step.access.bytes, step.access.bytes);
      results[i] = extended({unset, 0}, 8 * step.access.bytes, step.is_signed);
    }
    return results;
  }
  const auto unset = [&](std::uint16_t row, unsigned other) {
    for (const UnsetOperand& source : step.sources) {
      if (source.row == row && (unset_lanes(warp, source) >> other & 1) != 0) {
        return bits_of(warp, source, other).unset;
      }
    }
    return std::uint64_t{0};
  };
  if (step.product) return through_product(*step.product, lane, unset);
  if (step.spread == Spread::matrix_transpose) {
    results[0] = through_transpose(step.sources[0].row, lane, unset);
    return results;
  }
  if (is_exchange(step.spread)) {
    results[0] = exchanged(warp, step, lanes, lane);
    // The second result of a shuffle, whether there is such a lane, does not depend on the value.
    const bool knows_lane =
        is_shuffle(step.spread) && step.sources.size() > 2 &&
        ((unset_lanes(warp, step.sources[1]) | unset_lanes(warp, step.sources[2])) >> lane & 1) ==
            0;
    if (!knows_lane) results[1] = results[0];
    return results;
  }
  std::array<UnsetSource, most_unset_results> sources;
  const std::size_t count = std::min(step.sources.size(), sources.size());
  for (std::size_t i = 0; i < count; ++i) {
    const UnsetOperand& source = step.sources[i];
    sources[i] = {bits_of(warp, source, lane), value_of(warp, source, lane)};
  }
  return spread_bits(step, std::span(sources).first(count));
}

}  // namespace warpmeter::model::check
