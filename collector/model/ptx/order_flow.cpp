#include "collector/model/ptx/order_flow.h"

#include <algorithm>
#include <utility>

#include "collector/model/ptx/definitions.h"
#include "collector/model/ptx/one_value.h"

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

/// An access as the flow sees it; indices of registers, and pieces.
struct Access {
  std::vector<RegisterId> address, values;
  std::vector<PieceId> to, from;  ///< stored to, loaded from
  bool is_to_one_place = false;   ///< of shared memory, whoever comes there
};

class Finder {
 public:
  Finder(const Function& function, const ControlFlow& graph, const DataFlow& data,
         const Spaces& variables, const std::vector<bool>& is_retried)
      : function_(function),
        graph_(graph),
        data_(data),
        definitions_(function, data),
        memory_(function, data, variables) {
    note_accesses();
    note_retried(is_retried);
    place_of_.resize(graph.blocks.size());
    for (std::size_t i = 0; i < graph.order.size(); ++i) place_of_[graph.order[i]] = i;
    stores_same_ = stores_of_one_value(function, data);
  }

  OrderFlow find() {
    OrderFlow result;
    result.pieces = memory_.pieces();
    result.of_contents.resize(result.pieces.size());
    std::vector<bool> is_loaded(result.pieces.size(), false);
    bool asks = false;
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      for (const PieceId id : accesses_[i].from) is_loaded[id] = true;
      asks |= is_atomic(function_.body[i]);
    }
    result.of_atomics.accesses.resize(accesses_.size());
    if (asks) result.of_atomics = reach(own_atomics);
    for (PieceId id = 0; id < result.pieces.size(); ++id) {
      const bool lasts = result.pieces[id].kind != MemoryPiece::Kind::block;
      if (!lasts || !is_loaded[id]) continue;
      OrderReach found = reach(id);
      const auto& accesses = found.accesses;
      const bool leads = std::find(accesses.begin(), accesses.end(), true) != accesses.end();
      if (leads || !found.memory.empty()) result.of_contents[id] = std::move(found);
    }
    return result;
  }

 private:
  /// In place of a piece, where the order begins: with what the atomics answer.
  static constexpr PieceId own_atomics = ~PieceId{0};

  struct State {
    std::vector<Origin> registers, contents;  ///< contents by piece
  };

  /// What numbers are made of: for certain, and at the most; null: everything that may depend on
  /// the order is taken to.
  struct Origins {
    const State* sure = nullptr;
    const State* most = nullptr;
    bool is_by_registers_alone = false;  ///< what memory hands on is left out
  };

  void note_accesses() {
    accesses_.resize(function_.body.size());
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      const Instruction& instruction = function_.body[i];
      const Effects& effects = instruction.row().effects;
      Access& access = accesses_[i];
      if (effects.flow == Flow::call) note_call(instruction, access);
      if (effects.memory == Memory::none) continue;
      bool is_first = true;
      for (std::size_t k = 0; k < instruction.operands.size(); ++k) {
        const Operand& operand = instruction.operands[k];
        if (operand.kind != Operand::Kind::address) {
          if (k > 0 || !effects.writes_first) note_values(operand, access.values);
          continue;
        }
        note_values(operand, access.address);
        const bool is_copy = effects.memory == Memory::copy;
        auto& side =
            effects.memory == Memory::load || (is_copy && !is_first) ? access.from : access.to;
        if (side.empty())
          side = memory_.reached(operand, is_copy ? Space::none : instruction.space);
        access.is_to_one_place =
            is_first && instruction.space == Space::shared && !data_.find(operand.address.base);
        is_first = false;
      }
    }
  }

  /// What it gives depends on what it is handed.
  void note_call(const Instruction& instruction, Access& access) {
    for (std::size_t k = 0; k < instruction.operands.size(); ++k) {
      auto& side = k == 0 ? access.to : access.from;
      for (const Operand& part : instruction.operands[k].parts) {
        if (data_.find(part.name)) continue;  // of one that PTX defines
        Operand place;
        place.address.base = part.name;
        const auto& reached = memory_.reached(place, Space::param);
        side.insert(side.end(), reached.begin(), reached.end());
      }
    }
  }

  void note_values(const Operand& operand, std::vector<RegisterId>& to) const {
    const bool is_address = operand.kind == Operand::Kind::address;
    if (const auto id = data_.find(is_address ? operand.address.base : operand.name)) {
      to.push_back(*id);
    }
    for (const Operand& part : operand.parts) note_values(part, to);
  }

  /// What a loop leaves behind depends on how often it was tried.
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
    if (operand.kind == Operand::Kind::integer || operand.kind == Operand::Kind::floating) {
      return true;
    }
    const std::size_t at = definitions_.of(operand.name);
    if (at == nowhere) return false;
    const Instruction& definition = function_.body[at];
    return definition.opcode == Opcode::mov && definition.operands.size() == 2 &&
           definition.operands[1].kind == Operand::Kind::integer;
  }

  /// What memory holds after all have come depends on their order: the last one's, or a rounding.
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
    Origins origins;
    origins.is_by_registers_alone = true;
    const State sure = follow(source, origins);
    origins.is_by_registers_alone = false;
    const State all = follow(source, origins);
    origins.sure = &sure;
    origins.most = &all;
    const State found = follow(source, origins);
    OrderReach result;
    result.accesses.resize(accesses_.size());
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      const bool is_access = !accesses_[i].to.empty() || !accesses_[i].from.empty();
      result.accesses[i] = is_access && of(accesses_[i].address, found) != nothing;
    }
    if (source == own_atomics) add_winners(sure, result.accesses);
    for (PieceId id = 0; id < found.contents.size(); ++id) {
      const bool lasts = memory_.pieces()[id].kind != MemoryPiece::Kind::block;
      if (lasts && id != source && found.contents[id] != nothing) result.memory.push_back(id);
    }
    return result;
  }

  /// Whether lanes do something or not by who came first. Of a sum of equal numbers somebody has
  /// each value, whoever that is: the last block, each eighth thread.
  bool tells_winners(std::string_view predicate, const State& sure) const {
    const auto id = data_.find(predicate);
    const Origin origin = id ? sure.registers[*id] : nothing;
    if (origin == nothing || origin == several) return origin == several;
    const Instruction& atomic = function_.body[origin - 1];
    return !adds_a_number(atomic) && !atomic.has(Word::inc) && !atomic.has(Word::dec);
  }

  /// What those do that a branch lets through by an atomic's answer, until they meet the others.
  void add_winners(const State& sure, std::vector<bool>& accesses) const {
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      const Instruction& instruction = function_.body[i];
      if (!instruction.guard || !tells_winners(instruction.guard->predicate, sure)) continue;
      accesses[i] = accesses[i] || !accesses_[i].to.empty() || !accesses_[i].from.empty();
      if (instruction.row().effects.flow == Flow::branch) add_region(i, accesses);
    }
  }

  /// What lies on the one way from a branch and not on the other, without going round a loop.
  void add_region(std::size_t branch, std::vector<bool>& accesses) const {
    const auto& successors = graph_.blocks[graph_.block_of[branch]].successors;
    if (successors.size() < 2) return;
    const std::vector<bool> one = ahead_of(successors[0]), other = ahead_of(successors[1]);
    for (std::size_t number = 0; number < one.size(); ++number) {
      if (one[number] == other[number]) continue;
      for (std::size_t i = graph_.blocks[number].first; i < graph_.blocks[number].end; ++i) {
        accesses[i] = accesses[i] || !accesses_[i].to.empty() || !accesses_[i].from.empty();
      }
    }
  }

  std::vector<bool> ahead_of(std::size_t first) const {
    std::vector<bool> is_reached(graph_.blocks.size(), false);
    is_reached[first] = true;
    for (const std::size_t number : graph_.order) {  // a block comes behind those that lead to it
      if (!is_reached[number]) continue;
      for (const std::size_t next : graph_.blocks[number].successors) {
        is_reached[next] = is_reached[next] || place_of_[next] > place_of_[number];
      }
    }
    return is_reached;
  }

  State follow(PieceId source, const Origins& origins) const {
    State state;
    state.registers.resize(data_.registers().size(), nothing);
    state.contents.resize(memory_.pieces().size(), nothing);
    if (source == own_atomics) {
      for (std::size_t id = 0; id < is_left_.size(); ++id) {
        if (is_left_[id]) state.registers[id] = several;
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < accesses_.size(); ++i) {
        changed |= step(i, source, origins, state);
      }
    }
    return state;
  }

  /// Whether anything has changed.
  bool step(std::size_t i, PieceId source, const Origins& origins, State& state) const {
    const Instruction& instruction = function_.body[i];
    const Access& access = accesses_[i];
    Origin given = nothing;
    for (const RegisterId id : data_.reads(i)) add(given, state.registers[id]);
    for (const PieceId id : access.from) {
      add(given, id == source ? static_cast<Origin>(i + 1) : state.contents[id]);
    }
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
    if (stored == nothing || origins.is_by_registers_alone) return changed;
    const bool is_certain =
        stored != several && origins.most != nullptr && is_same_in_any_order(i, source, origins);
    if (is_certain) return changed;
    for (const PieceId id : access.to) changed |= add(state.contents[id], stored);
    return changed;
  }

  /// Whether what an instruction leaves in memory is the same in the end.
  bool is_same_in_any_order(std::size_t i, PieceId source, const Origins& origins) const {
    const Instruction& instruction = function_.body[i];
    const Access& access = accesses_[i];
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
  std::vector<Access> accesses_;       ///< by instruction
  std::vector<bool> is_left_;          ///< by register: by a loop that was tried again
  std::vector<bool> stores_same_;      ///< by instruction
  std::vector<std::size_t> place_of_;  ///< by block: in the graph's order
};

}  // namespace

OrderFlow order_flow(const Function& function, const ControlFlow& graph, const DataFlow& data,
                     const Spaces& variables, const std::vector<bool>& is_retried) {
  return Finder(function, graph, data, variables, is_retried).find();
}

}  // namespace warpmeter::model::ptx
