// SPDX-License-Identifier: MIT
#include "collector/model/ptx/memory/order_flow.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "collector/model/ptx/flow/branch_regions.h"
#include "collector/model/ptx/flow/definitions.h"
#include "collector/model/ptx/flow/one_value.h"
#include "collector/model/ptx/memory/memory_accesses.h"
#include "collector/model/ptx/memory/shared_use.h"
#include "collector/model/ptx/memory/winners.h"

namespace warpmeter::model::ptx {
namespace {

/// On what a number depends: on no order, on what one instruction gave (its index and 1), or on
/// several.
using Origin = std::uint32_t;
constexpr Origin nothing = 0, several = ~Origin{0};

bool add(Origin& to, Origin from) {
  if (from == nothing || to == from || to == several) return false;
  to = to == nothing ? from : several;
  return true;
}

bool is_atomic(const Instruction& instruction) {
  const Memory memory = instruction.row().effects.memory;
  return memory == Memory::atomic || memory == Memory::reduce;
}

class OrderFinder {
 public:
  OrderFinder(const Function& function, const ControlFlow& graph, const DataFlow& data,
              const Spaces& variables, const KnownOfLoops& loops)
      : function_(function),
        graph_(graph),
        data_(data),
        definitions_(function, data),
        memory_(function, data, variables),
        accesses_(memory_accesses(function, data, memory_)),
        waits_(loops.waits),
        regions_(graph) {
    note_retried(loops.is_retried);
    stores_same_ = stores_of_one_value(function, data);
  }

  OrderFlow find(std::span<const Unknowns> given_by_calls) {
    OrderFlow result;
    result.pieces = memory_.pieces();
    const SharedUse use(function_, graph_, data_, accesses_, result.pieces);
    is_overtaken_ = use.overtaken_stores();
    is_contested_ = use.contested_loads(waits_);
    result.stored = stored_pieces();
    result.of_contents.resize(result.pieces.size());
    std::vector<bool> is_loaded(result.pieces.size(), false);
    bool asks = false;
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      for (const PieceId id : accesses_[i].from) is_loaded[id] = true;
      asks |= is_atomic(function_.body[i]);
    }
    result.of_atomics.accesses.resize(accesses_.size());
    if (asks) {
      live_.emplace(graph_, data_);
      identity_.emplace(function_, data_, accesses_, memory_.pieces(), regions_, *live_);
      winners_.emplace(function_, graph_, data_, definitions_, accesses_, *identity_, regions_,
                       *live_);
    }
    if (asks) result.of_atomics = reach_of_answers();
    const bool races =
        std::find(is_contested_.begin(), is_contested_.end(), true) != is_contested_.end();
    if (races) result.of_races = reach_of_values(is_contested_, Way::block).accesses;
    const UnknownValues values =
        unknown_values(function_, data_, accesses_, result.pieces, given_by_calls);
    result.given = all_of(values);
    for (std::size_t k = 0; k < unknown_count; ++k) {
      if (!values[k].empty()) result.of_unknown[k] = reach_of_values(values[k], Way::all);
    }
    for (PieceId id = 0; id < result.pieces.size(); ++id) {
      const bool lasts = result.pieces[id].kind != MemoryPiece::Kind::block;
      if (!lasts || !is_loaded[id]) continue;
      OrderReach found = reach(id);
      const auto& accesses = found.accesses;
      const bool leads = std::find(accesses.begin(), accesses.end(), true) != accesses.end();
      if (leads || !found.memory.empty()) result.of_contents[id] = std::move(found);
    }
    add_contents(result, result.of_atomics);
    for (OrderReach& reach : result.of_unknown) add_contents(result, reach);
    return result;
  }

 private:
  std::vector<PieceId> stored_pieces() const {
    std::vector<PieceId> stored;
    for (const Instruction& instruction : function_.body) {
      const Memory memory = instruction.row().effects.memory;
      const bool is_global = instruction.space == Space::global || instruction.space == Space::none;
      if (memory == Memory::none || memory == Memory::load || !is_global) continue;
      for (const Operand& operand : instruction.operands) {
        if (operand.kind == Operand::Kind::address) memory_.add_all_reached(operand, stored);
      }
    }
    std::erase_if(
        stored, [&](PieceId id) { return memory_.pieces()[id].kind == MemoryPiece::Kind::block; });
    return stored;
  }

  /// In place of a piece, where the order begins: with what the atomics answer.
  static constexpr PieceId own_atomics = ~PieceId{0};
  /// The same: with what some instructions give.
  static constexpr PieceId some_values = own_atomics - 1;

  struct State {
    std::vector<Origin> registers, contents;  ///< contents by piece
  };

  /// The carriers of numbers: memory that lasts is left out, or all memory.
  enum class Way { registers, block, all };
  /// The blocks that a branch decides: those of its region, or of the loops that it leaves, too.
  enum class Reach { ahead, loops };
  /// By instruction: what decides whether a thread comes to it.
  using Deciders = std::vector<Origin>;
  /// The origins of numbers: for certain, and at the most; null: everything that may depend on the
  /// order is taken to.
  struct Origins {
    const State* sure = nullptr;
    const State* most = nullptr;
    Way way = Way::all;
    const Deciders* deciders = nullptr;        ///< null: what branches decide is not followed
    const std::vector<bool>* given = nullptr;  ///< for `some_values`: by instruction
  };

  /// The function itself may load what it left.
  static void add_contents(const OrderFlow& flow, OrderReach& own) {
    for (std::size_t k = 0; k < own.memory.size(); ++k) {  // it grows
      const OrderReach& more = flow.of_contents[own.memory[k]];
      for (std::size_t i = 0; i < more.accesses.size(); ++i) {
        if (more.accesses[i]) own.accesses[i] = true;
      }
      for (const PieceId id : more.memory) {
        const bool is_known =
            std::find(own.memory.begin(), own.memory.end(), id) != own.memory.end();
        if (!is_known) own.memory.push_back(id);
      }
    }
  }

  /// The result of a loop depends on how often it was tried.
  void note_retried(const std::vector<bool>& is_retried) {
    is_left_.resize(data_.registers().size(), false);
    std::vector<bool> is_written(is_left_.size(), false);
    for (std::size_t i = 0; i < is_retried.size(); ++i) {
      if (!is_retried[i]) continue;
      for (const RegisterId id : data_.writes(i)) is_written[id] = true;
    }
    for (std::size_t i = 0; i < is_retried.size(); ++i) {
      if (is_retried[i]) continue;
      for (const RegisterId id : data_.reads(i)) is_left_[id] = is_left_[id] || is_written[id];
    }
  }

  bool is_number(const Operand& operand) const {
    return ptx::is_number(operand, function_, definitions_);
  }

  /// True if memory after all have come depends on their order: the last one's, or a rounding.
  bool leaves_by_order(const Instruction& instruction) const {
    if (instruction.has(Word::exch) || instruction.has(Word::cas)) {
      return !is_number(instruction.operands.back());
    }
    return instruction.has(Word::add) && info_of(instruction.first_type()).kind == Kind::f;
  }

  bool adds_a_number(const Instruction& instruction) const {
    return instruction.has(Word::add) && is_number(instruction.operands.back());
  }

  Origin of(const std::vector<RegisterId>& registers, const State& state) const {
    Origin result = nothing;
    for (const RegisterId id : registers) add(result, state.registers[id]);
    return result;
  }

  OrderReach reach(PieceId source) const {
    Deciders deciders(accesses_.size(), nothing);
    std::vector<Origin> known(data_.registers().size(), nothing);  // by branches: what they decide
    for (;;) {
      const State found = follow_certain(source, deciders, known);
      if (decide(found, Reach::ahead, deciders, known)) continue;
      return reach_of(source, found, deciders);
    }
  }

  /// The same of what the function's own atomics answer.
  OrderReach reach_of_answers() const {
    Deciders deciders(accesses_.size(), nothing);
    std::vector<Origin> known(data_.registers().size(), nothing);
    Origins origins;
    origins.way = Way::block;
    origins.deciders = &deciders;
    for (;;) {
      const Won won = winners_->won(follow(own_atomics, origins, known).registers);
      bool changed = false;
      for (const RegisterId id : won.registers) changed |= add(known[id], several);
      for (std::size_t i = 0; i < deciders.size(); ++i) {
        if (won.contents[i]) changed |= add(deciders[i], several);
      }
      if (changed) continue;
      OrderReach result = reach_of(own_atomics, follow_certain(own_atomics, deciders, known), {});
      for (std::size_t i = 0; i < deciders.size(); ++i) {
        result.accesses[i] = result.accesses[i] || (won.accesses[i] && is_access(i));
      }
      return result;
    }
  }

  State follow_certain(PieceId source, const Deciders& deciders,
                       const std::vector<Origin>& known) const {
    Origins origins;
    origins.deciders = &deciders;
    origins.way = Way::registers;
    const State sure = follow(source, origins, known);
    origins.way = Way::all;
    const State all = follow(source, origins, known);
    origins.sure = &sure;
    origins.most = &all;
    return follow(source, origins, known);
  }

  OrderReach reach_of(PieceId source, const State& found, const Deciders& deciders) const {
    OrderReach result;
    result.accesses.resize(accesses_.size());
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      const bool is_decided = !deciders.empty() && deciders[i] != nothing;
      result.accesses[i] =
          is_access(i) && (is_decided || of(accesses_[i].address, found) != nothing);
    }
    for (PieceId id = 0; id < found.contents.size(); ++id) {
      const bool lasts = memory_.pieces()[id].kind != MemoryPiece::Kind::block;
      if (lasts && id != source && found.contents[id] != nothing) result.memory.push_back(id);
    }
    return result;
  }

  /// Notes what the branches decide whose predicates depend on the order: who comes to an
  /// instruction, and so what it writes. True if there is more than before.
  bool decide(const State& found, Reach reach, Deciders& deciders,
              std::vector<Origin>& known) const {
    bool changed = false;
    const auto note = [&](std::size_t i, Origin by) {
      if (!add(deciders[i], by)) return;
      changed = true;
      for (const RegisterId id : data_.writes(i)) add(known[id], by);
    };
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      const Instruction& instruction = function_.body[i];
      if (!instruction.guard) continue;
      const auto id = data_.find(instruction.guard->predicate);
      const Origin by = id ? found.registers[*id] : nothing;
      if (by == nothing) continue;
      note(i, by);
      if (instruction.row().effects.flow != Flow::branch) continue;
      for (const std::size_t number :
           reach == Reach::loops ? regions_.with_loops_of(i, function_) : regions_.of(i)) {
        const Block& block = graph_.blocks[number];
        for (std::size_t k = block.first; k < block.end; ++k) note(k, by);
      }
    }
    return changed;
  }

  /// Values written behind a branch that such a value decides depend on it too: how often a loop
  /// went round is what it counts.
  OrderReach reach_of_values(const std::vector<bool>& given, Way way) const {
    Deciders deciders(accesses_.size(), nothing);
    std::vector<Origin> known(data_.registers().size(), nothing);
    const bool lasts = way == Way::all;
    const Origins origins = {.way = way, .deciders = lasts ? &deciders : nullptr, .given = &given};
    for (;;) {
      const State found = follow(some_values, origins, known);
      if (decide(found, lasts ? Reach::loops : Reach::ahead, deciders, known)) continue;
      return reach_of(some_values, found, deciders);
    }
  }

  bool is_access(std::size_t i) const {
    return !accesses_[i].to.empty() || !accesses_[i].from.empty();
  }

  /// `known`: on what registers depend from the start; empty: on nothing.
  State follow(PieceId source, const Origins& origins, const std::vector<Origin>& known) const {
    State state;
    state.registers.resize(data_.registers().size(), nothing);
    state.contents.resize(memory_.pieces().size(), nothing);
    std::copy(known.begin(), known.end(), state.registers.begin());
    for (std::size_t id = 0; source == own_atomics && id < is_left_.size(); ++id) {
      if (is_left_[id]) state.registers[id] = several;
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < accesses_.size(); ++i) {
        changed |= step(i, source, origins, state);
      }
    }
    return state;
  }

  /// True if anything has changed.
  bool step(std::size_t i, PieceId source, const Origins& origins, State& state) const {
    const Instruction& instruction = function_.body[i];
    const MemoryAccess& access = accesses_[i];
    Origin given = nothing;
    for (const RegisterId id : data_.reads(i)) add(given, state.registers[id]);
    for (const PieceId id : access.from) {
      add(given, id == source ? static_cast<Origin>(i + 1) : state.contents[id]);
    }
    if (origins.given != nullptr && (*origins.given)[i]) add(given, several);
    Origin stored = access.to.empty() ? nothing : given;
    if (is_atomic(instruction)) {
      for (const PieceId id : access.to) add(given, state.contents[id]);
    }
    if (source == own_atomics && is_atomic(instruction)) {
      add(given, static_cast<Origin>(i + 1));
      if (leaves_by_order(instruction)) stored = several;
    }
    bool changed = false;
    for (const RegisterId id : data_.writes(i)) changed |= add(state.registers[id], given);
    const bool is_decided = origins.deciders != nullptr && (*origins.deciders)[i] != nothing &&
                            is_left_by_decision(i, state);
    if (is_decided) add(stored, (*origins.deciders)[i]);
    if (stored == nothing || origins.way == Way::registers) return changed;
    if (is_overtaken_[i] || is_shuffled(i, state)) stored = several;
    const bool is_certain = !is_decided && stored != several && origins.most != nullptr &&
                            is_same_in_any_order(i, source, origins);
    if (is_certain) return changed;
    for (const PieceId id : access.to) {
      const bool lasts = memory_.pieces()[id].kind != MemoryPiece::Kind::block;
      if (lasts && origins.way == Way::block) continue;
      changed |= add(state.contents[id], stored);
    }
    return changed;
  }

  /// True if a place keeps its value where no thread comes to a store. Places that depend on the
  /// order themselves, and of sums, the same ones come in another order.
  bool is_left_by_decision(std::size_t i, const State& state) const {
    return !accesses_[i].to.empty() && of(accesses_[i].address, state) == nothing &&
           (!is_atomic(function_.body[i]) || leaves_by_order(function_.body[i]));
  }

  /// True if an answer says where another value goes: who loads it there has anybody's.
  bool is_shuffled(std::size_t i, const State& state) const {
    const Origin place = of(accesses_[i].address, state);
    return place != nothing && place != of(accesses_[i].values, state) && !stores_same_[i] &&
           !is_atomic(function_.body[i]);
  }

  /// True if what an instruction leaves in memory is the same in the end.
  bool is_same_in_any_order(std::size_t i, PieceId source, const Origins& origins) const {
    const Instruction& instruction = function_.body[i];
    const MemoryAccess& access = accesses_[i];
    const Origin place = of(access.address, *origins.most);
    const Origin value = of(access.values, *origins.most);
    if (place == several || value == several) return false;
    if (place == value) return value == of(access.values, *origins.sure);
    if (place != nothing) {
      return value == nothing && (stores_same_[i] || (is_atomic(instruction) &&
                                                      is_number(instruction.operands.back())));
    }
    return source == own_atomics && access.is_to_one_place &&
           adds_a_number(function_.body[value - 1]);
  }

  const Function& function_;
  const ControlFlow& graph_;
  const DataFlow& data_;
  const Definitions definitions_;
  PointedMemory memory_;
  std::vector<MemoryAccess> accesses_;  ///< by instruction
  std::vector<bool> is_left_;           ///< by register: by a loop that was tried again
  std::vector<bool> stores_same_;       ///< by instruction
  std::vector<bool> is_overtaken_;      ///< by instruction: see SharedUse
  std::vector<bool> is_contested_;
  const std::vector<bool>& waits_;  ///< by instruction: see waiting_loops()
  mutable BranchRegions regions_;
  std::optional<LiveValues> live_;
  std::optional<Identity> identity_;
  std::optional<Winners> winners_;
};

}  // namespace

OrderFlow order_flow(const Function& function, const ControlFlow& graph, const DataFlow& data,
                     const Spaces& variables, const KnownOfLoops& loops,
                     std::span<const Unknowns> given_by_calls) {
  return OrderFinder(function, graph, data, variables, loops).find(given_by_calls);
}

}  // namespace warpmeter::model::ptx
