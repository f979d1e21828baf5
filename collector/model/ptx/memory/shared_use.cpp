// SPDX-License-Identifier: MIT
#include "collector/model/ptx/memory/shared_use.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "collector/model/ptx/driver_functions.h"

namespace warpmeter::model::ptx {
namespace {

bool changes_for_all(const Instruction& instruction) {
  const Memory memory = instruction.row().effects.memory;
  return memory == Memory::atomic || memory == Memory::reduce;
}

/// The most steps of an address, from one that is known to be another's.
constexpr int most_steps = 8;

/// True for memory that others have too.
bool loads_from_others(const Instruction& instruction) {
  return instruction.row().effects.memory == Memory::load && instruction.space != Space::local &&
         instruction.space != Space::param;
}

bool is_plain_load(const Instruction& instruction) {
  return loads_from_others(instruction) && !instruction.is_strong();
}

/// That each lane accesses; 0: of another kind than loads, stores and atomics of registers.
std::uint64_t bytes_of(const Instruction& instruction) {
  const auto& effects = instruction.row().effects;
  if (effects.is_product || effects.is_matrix || effects.is_fragment) return 0;
  if (effects.memory == Memory::copy || effects.memory == Memory::none) return 0;
  return std::uint64_t{info_of(instruction.last_type()).bytes()} * instruction.parts;
}

}  // namespace

SharedUse::SharedUse(const Function& function, const ControlFlow& graph, const DataFlow& data,
                     std::span<const MemoryAccess> accesses, std::span<const MemoryPiece> pieces)
    : function_(function),
      graph_(graph),
      definitions_(function, data),
      accesses_(accesses),
      pieces_(pieces),
      addresses_(relative_addresses(function, graph, data)) {
  note_loaded_places(data);
  before_.resize(graph.blocks.size());
  for (std::size_t number = 0; number < graph.blocks.size(); ++number) {
    for (const std::size_t next : graph.blocks[number].successors) before_[next].push_back(number);
  }
}

std::vector<bool> SharedUse::overtaken_stores() const {
  std::vector<bool> found(accesses_.size(), false);
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    if (!accesses_[i].is_to_one_place || accesses_[i].to.empty()) continue;
    const std::vector<bool> is_before = reached(i, Way::back);
    for (std::size_t load = 0; load < accesses_.size() && !found[i]; ++load) {
      found[i] = is_before[load] && may_meet(load, i);
    }
  }
  return found;
}

std::vector<bool> SharedUse::contested_loads(const std::vector<bool>& waits) const {
  std::vector<bool> found(accesses_.size(), false);
  const std::vector<bool> awaited = awaited_pieces(waits);
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    if (accesses_[i].from.empty() || !loads_from_others(function_.body[i])) continue;
    const bool is_strong = function_.body[i].is_strong();
    if (is_strong && (waits[i] || is_handed_on(i, awaited))) continue;
    std::optional<std::vector<bool>> is_near;
    for (std::size_t store = 0; store < accesses_.size() && !found[i]; ++store) {
      if (!may_meet(i, store) || is_private(store)) continue;
      if (!is_of_block(store)) {
        found[i] = is_contested(i, store);
        continue;
      }
      if (is_strong && !is_one_place(store) && !is_at_loaded_place_[store]) continue;
      if (!is_near) is_near = near(i);
      found[i] = (*is_near)[store] && !(is_of_its_own(i) && is_of_its_own_too(i, store));
    }
  }
  return found;
}

/// By piece: memory that a loop waits for. Where nobody knows which that is, it is no piece that
/// the code names.
std::vector<bool> SharedUse::awaited_pieces(const std::vector<bool>& waits) const {
  std::vector<bool> awaited(pieces_.size(), false);
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    if (!waits[i] || !loads_from_others(function_.body[i])) continue;
    const std::vector<PieceId>& from = accesses_[i].from;
    const auto elsewhere = std::find_if(from.begin(), from.end(), [&](PieceId id) {
      return pieces_[id].kind == MemoryPiece::Kind::elsewhere;
    });
    if (elsewhere != from.end()) {
      awaited[*elsewhere] = true;
      continue;
    }
    for (const PieceId id : from) awaited[id] = true;
  }
  return awaited;
}

bool SharedUse::is_handed_on(std::size_t load, const std::vector<bool>& awaited) const {
  return std::any_of(accesses_[load].from.begin(), accesses_[load].from.end(),
                     [&](PieceId id) { return awaited[id]; });
}

std::vector<bool> SharedUse::near(std::size_t load) const {
  std::vector<bool> found = reached(load, Way::on);
  const std::vector<bool> before = reached(load, Way::back);
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = found[i] || before[i];
  return found;
}

bool SharedUse::may_meet(std::size_t load, std::size_t store) const {
  const MemoryAccess &from = accesses_[load], &to = accesses_[store];
  const bool shares = std::any_of(from.from.begin(), from.from.end(), [&](PieceId id) {
    return std::find(to.to.begin(), to.to.end(), id) != to.to.end();
  });
  // Both name the same variable; of words side by side each is its own.
  const bool is_beside = to.is_to_one_place && from.place.base == to.place.base &&
                         from.place.offset != to.place.offset;
  return shares && !is_beside;
}

bool SharedUse::is_at_the_same_place(std::size_t load, std::size_t store) const {
  const Address &one = accesses_[load].place, &other = accesses_[store].place;
  return one.offset == other.offset && is_same_number(one.base, other.base, most_steps);
}

/// Compilers compute an address again where it is far to the first time.
bool SharedUse::is_same_number(std::string_view one, std::string_view other, int depth) const {
  if (one == other) return true;
  const std::size_t i = definitions_.of(one), k = definitions_.of(other);
  if (i == nowhere || k == nowhere || depth == 0) return false;
  const Instruction &first = function_.body[i], &second = function_.body[k];
  const bool is_arithmetic = first.row().effects.memory == Memory::none && !first.guard;
  if (!is_arithmetic || second.guard || first.opcode != second.opcode ||
      first.operands.size() != second.operands.size()) {
    return false;
  }
  for (std::size_t n = 1; n < first.operands.size(); ++n) {
    const Operand &a = first.operands[n], &b = second.operands[n];
    if (a.kind != b.kind || a.bits != b.bits || a.special != b.special || a.negated != b.negated) {
      return false;
    }
    const bool is_name = a.kind == Operand::Kind::name;
    if (!is_name && a.kind != Operand::Kind::integer) return false;
    if (is_name && !is_same_number(a.name, b.name, depth - 1)) return false;
  }
  return true;
}

/// The stores of a thread where it has loaded are its own, or two would store there at once; save
/// one place, where one thread stores for all.
bool SharedUse::is_of_its_own(std::size_t load) const {
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    const MemoryAccess& access = accesses_[i];
    if (access.to.empty() || is_one_place(i) || changes_for_all(function_.body[i])) continue;
    if (may_meet(load, i) && is_at_the_same_place(load, i)) return true;
  }
  return false;
}

/// True if a store goes where the thread loads itself, there or at another place of its own:
/// threads that exchange pairs have two.
bool SharedUse::is_of_its_own_too(std::size_t load, std::size_t store) const {
  if (is_at_the_same_place(load, store)) return true;
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    const bool is_load = !accesses_[i].from.empty() && is_plain_load(function_.body[i]);
    if (is_load && may_meet(i, store) && is_at_the_same_place(i, store)) return true;
  }
  return false;
}

bool SharedUse::is_one_place(std::size_t access) const {
  const auto& address = addresses_[access];
  return accesses_[access].is_to_one_place || (address && address->step == 0);
}

bool SharedUse::is_private(std::size_t access) const {
  const Space space = function_.body[access].space;
  return space == Space::local || space == Space::param;
}

bool SharedUse::is_of_block(std::size_t store) const {
  return std::all_of(accesses_[store].to.begin(), accesses_[store].to.end(),
                     [&](PieceId id) { return pieces_[id].kind == MemoryPiece::Kind::block; });
}

/// True if no thread's store goes where any thread's load does, because of what both are multiples
/// of something apart from.
bool SharedUse::are_other_members(std::size_t load, std::size_t store) const {
  const auto &one = addresses_[load], &other = addresses_[store];
  if (!one || !other || one->start != other->start) return false;
  const std::uint64_t from_bytes = bytes_of(function_.body[load]),
                      to_bytes = bytes_of(function_.body[store]);
  if (from_bytes == 0 || to_bytes == 0) return false;
  const auto step = static_cast<std::int64_t>(std::gcd(one->step, other->step));
  if (step == 0) return false;
  const std::int64_t apart = (((other->offset - one->offset) % step) + step) % step;
  return static_cast<std::uint64_t>(apart) >= from_bytes &&
         static_cast<std::uint64_t>(step - apart) >= to_bytes;
}

/// In global memory.
bool SharedUse::is_contested(std::size_t load, std::size_t store) const {
  if (are_other_members(load, store)) return false;
  const Instruction& instruction = function_.body[store];
  // A loop around a compare-and-swap begins with what is there.
  if (changes_for_all(instruction)) {
    return !(instruction.has(Word::cas) && is_at_the_same_place(load, store));
  }
  if (is_at_loaded_place_[store] || is_at_loaded_place_[load]) return true;
  // The places beside its own are another thread's.
  return is_one_place(store) || (!is_at_the_same_place(load, store) && !is_of_its_own(load));
}

bool SharedUse::is_barrier(std::size_t i) const {
  switch (function_.body[i].opcode) {
    case Opcode::bar_sync:
    case Opcode::bar_red:
    case Opcode::bar_warp:
    case Opcode::cluster_wait:
    case Opcode::mbarrier_test_wait:
    case Opcode::mbarrier_try_wait:
      return true;
    default:
      return function_.body[i].row().effects.flow == Flow::call && !is_of_driver(i);
  }
}

/// A call of what the driver brings, in which nobody waits for the block; any other may do so.
bool SharedUse::is_of_driver(std::size_t call) const { return calls_driver(function_.body[call]); }

/// By instruction: whether some way leads there from `from`, or from there to it, that passes no
/// barrier.
std::vector<bool> SharedUse::reached(std::size_t from, Way way) const {
  std::vector<bool> found(accesses_.size(), false), is_entered(graph_.blocks.size(), false);
  std::vector<std::size_t> blocks;  // to be gone through
  /// True if control comes to its end.
  const auto goes_through = [&](std::size_t i, std::size_t end) {
    for (; i != end; way == Way::on ? ++i : --i) {
      const std::size_t at = way == Way::on ? i : i - 1;
      if (is_barrier(at)) return false;
      found[at] = true;
    }
    return true;
  };
  const auto enter_next_of = [&](std::size_t number) {
    const auto& next = way == Way::on ? graph_.blocks[number].successors : before_[number];
    for (const std::size_t block : next) {
      if (!is_entered[block]) blocks.push_back(block);
      is_entered[block] = true;
    }
  };
  const std::size_t own = graph_.block_of[from];
  const bool is_through = way == Way::on ? goes_through(from + 1, graph_.blocks[own].end)
                                         : goes_through(from, graph_.blocks[own].first);
  if (is_through) enter_next_of(own);
  while (!blocks.empty()) {
    const std::size_t number = blocks.back();
    blocks.pop_back();
    const Block& block = graph_.blocks[number];
    if (way == Way::on ? goes_through(block.first, block.end)
                       : goes_through(block.end, block.first)) {
      enter_next_of(number);
    }
  }
  return found;
}

void SharedUse::note_loaded_places(const DataFlow& data) {
  std::vector<bool> is_loaded(data.registers().size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      const Instruction& instruction = function_.body[i];
      bool is = (!accesses_[i].from.empty() && instruction.space != Space::param) ||
                changes_for_all(instruction);
      for (const RegisterId id : data.reads(i)) is = is || is_loaded[id];
      if (!is) continue;
      for (const RegisterId id : data.writes(i)) {
        changed = changed || !is_loaded[id];
        is_loaded[id] = true;
      }
    }
  }
  is_at_loaded_place_.resize(accesses_.size(), false);
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    const auto& address = accesses_[i].address;
    is_at_loaded_place_[i] =
        std::any_of(address.begin(), address.end(), [&](RegisterId id) { return is_loaded[id]; });
  }
}

}  // namespace warpmeter::model::ptx
