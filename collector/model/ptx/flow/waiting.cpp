// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/waiting.h"

#include <algorithm>

#include "collector/model/ptx/flow/loops.h"

namespace warpmeter::model::ptx {
namespace {

/// True if an instruction gives a value that other threads may change at any time.
bool asks_others(const Instruction& instruction) {
  const Memory memory = instruction.row().effects.memory;
  return memory == Memory::atomic || (memory == Memory::load && instruction.is_strong());
}

bool is_atomic(const Instruction& instruction) {
  return instruction.row().effects.memory == Memory::atomic;
}

bool is_ordered_atomic(const Instruction& instruction) {
  return is_atomic(instruction) &&
         (instruction.has(Word::acquire) || instruction.has(Word::acq_rel));
}

bool is_out_of_memory(const Instruction& instruction) {
  const Memory memory = instruction.row().effects.memory;
  return memory == Memory::atomic || (memory == Memory::load && !instruction.has(Word::constant));
}

bool may_look_outside(const Instruction& instruction) {
  if (instruction.opcode == Opcode::call) return true;
  return is_out_of_memory(instruction) && !instruction.has(Word::shared) &&
         !instruction.has(Word::local) && !instruction.has(Word::param);
}

/// One loop after the other, and what in it depends on others.
class Search {
 public:
  using Asks = bool (*)(const Instruction&);

  /// `asks`: whether an instruction gives what others may have changed.
  Search(const Function& function, const ControlFlow& graph, const DataFlow& data, Asks asks)
      : function_(function),
        graph_(graph),
        data_(data),
        asks_(asks),
        inside_(graph.blocks.size(), false) {}

  /// True if one of the loop's exits depends on what others do. `waiting`: what is known to be in
  /// such a loop, as one is that takes a lock.
  bool waits(const Loop& loop, const std::vector<bool>& waiting) {
    for (const std::size_t block : loop.members) inside_[block] = true;
    guards_ = takes_lock(loop, waiting);
    const bool found = asks(loop) && leaves_by_answer(loop, waiting);
    for (const std::size_t block : loop.members) inside_[block] = false;
    return found;
  }

 private:
  template <class Predicate>
  bool any_instruction(const Loop& loop, Predicate predicate) const {
    return std::any_of(loop.members.begin(), loop.members.end(), [&](std::size_t number) {
      const Block& block = graph_.blocks[number];
      for (std::size_t i = block.first; i < block.end; ++i) {
        if (predicate(i)) return true;
      }
      return false;
    });
  }

  /// An atomic that is retried and orders what comes behind it, or with a fence in the loop.
  bool takes_lock(const Loop& loop, const std::vector<bool>& waiting) const {
    const bool fences = any_instruction(loop, [&](std::size_t i) {
      const Opcode opcode = function_.body[i].opcode;
      return opcode == Opcode::fence || opcode == Opcode::membar;
    });
    return any_instruction(loop, [&](std::size_t i) {
      const Instruction& instruction = function_.body[i];
      return waiting[i] && is_atomic(instruction) && (fences || is_ordered_atomic(instruction));
    });
  }

  bool asks(const Loop& loop) const {
    return any_instruction(loop, [&](std::size_t i) { return is_answered(i); });
  }

  /// True if others may have changed what the instruction gives.
  bool is_answered(std::size_t i) const {
    const Instruction& instruction = function_.body[i];
    const bool is_load = instruction.row().effects.memory == Memory::load;
    return asks_(instruction) ||
           (guards_ && is_load && !instruction.has(Word::param) && !instruction.has(Word::local));
  }

  /// Follows the answers from register to register until nothing new depends on them.
  bool leaves_by_answer(const Loop& loop, const std::vector<bool>& waiting) {
    std::vector<bool> depends(data_.registers().size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      any_instruction(loop, [&](std::size_t i) {
        if (!is_answered(i) && !reads_one_of(i, depends)) return false;
        for (const RegisterId written : data_.writes(i)) {
          changed |= !depends[written];
          depends[written] = true;
        }
        return false;
      });
    }
    return std::any_of(loop.members.begin(), loop.members.end(), [&](std::size_t number) {
      const Block& block = graph_.blocks[number];
      if (block.end == block.first) return false;
      // Under a lock a branch on what it guards may set the predicate that another branch leaves
      // by.
      const bool decides = guards_ && !waiting[block.end - 1];
      // A loop at the beginning of another has the same first block: going back there, or not, is
      // leaving it, or not.
      const bool may_leave =
          block.leaves ||
          std::any_of(block.successors.begin(), block.successors.end(),
                      [&](std::size_t to) { return !inside_[to] || to == loop.header; });
      return (may_leave || decides) && reads_one_of(block.end - 1, depends);
    });
  }

  bool reads_one_of(std::size_t instruction, const std::vector<bool>& registers) const {
    const auto reads = data_.reads(instruction);
    return std::any_of(reads.begin(), reads.end(), [&](RegisterId id) { return registers[id]; });
  }

  const Function& function_;
  const ControlFlow& graph_;
  const DataFlow& data_;
  const Asks asks_;
  std::vector<bool> inside_;
  bool guards_ = false;  ///< true if the loop takes a lock
};

void mark(const Loop& loop, const ControlFlow& graph, std::vector<bool>& marks) {
  for (const std::size_t number : loop.members) {
    const Block& block = graph.blocks[number];
    std::fill(marks.begin() + static_cast<std::ptrdiff_t>(block.first),
              marks.begin() + static_cast<std::ptrdiff_t>(block.end), true);
  }
}

/// True if the machine code may have a call: what is not approximated has a way for rare numbers.
bool becomes_a_call(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::call:
      return true;
    case Opcode::div:
    case Opcode::rem:
    case Opcode::rcp:
    case Opcode::sqrt:
      return !instruction.has(Word::approx) && !instruction.has(Word::full);
    default:
      return false;
  }
}

bool is_minus_one(const Operand& operand) {
  return operand.kind == Operand::Kind::integer &&
         static_cast<std::uint32_t>(operand.bits) == ~std::uint32_t{0};
}

/// For each register, true if it names all lanes: nothing but -1 is ever in it.
std::vector<bool> names_of_all_lanes(const Function& function, const DataFlow& data) {
  std::vector<bool> is_set(data.registers().size(), false), is_other = is_set;
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const Instruction& instruction = function.body[i];
    const bool is_all = instruction.opcode == Opcode::mov && instruction.operands.size() == 2 &&
                        is_minus_one(instruction.operands[1]);
    for (const RegisterId written : data.writes(i)) (is_all ? is_set : is_other)[written] = true;
  }
  for (std::size_t i = 0; i < is_set.size(); ++i) is_set[i] = is_set[i] && !is_other[i];
  return is_set;
}

}  // namespace

std::vector<bool> waiting_loops(const Function& function, const ControlFlow& graph,
                                const DataFlow& data) {
  std::vector<bool> waiting(function.body.size(), false);
  if (std::none_of(function.body.begin(), function.body.end(), asks_others)) return waiting;
  Search search(function, graph, data, asks_others);
  const auto loops = loops_of(graph);
  for (const bool inner_are_known : {false, true}) {  // a loop that takes a lock encloses one
    const std::vector<bool> inner =
        inner_are_known ? waiting : std::vector<bool>(waiting.size(), false);
    for (const Loop& loop : loops) {
      if (search.waits(loop, inner)) mark(loop, graph, waiting);
    }
  }
  return waiting;
}

bool polls(const Function& function, const ControlFlow& graph, const DataFlow& data) {
  Search search(function, graph, data, is_out_of_memory);
  const std::vector<bool> no_locks(function.body.size(), false);
  const auto looks_outside = [&](const Loop& loop) {
    return std::any_of(loop.members.begin(), loop.members.end(), [&](std::size_t number) {
      const Block& block = graph.blocks[number];
      return std::any_of(function.body.begin() + static_cast<std::ptrdiff_t>(block.first),
                         function.body.begin() + static_cast<std::ptrdiff_t>(block.end),
                         may_look_outside);
    });
  };
  const auto loops = loops_of(graph);
  return std::any_of(loops.begin(), loops.end(), [&](const Loop& loop) {
    return looks_outside(loop) && search.waits(loop, no_locks);
  });
}

std::vector<bool> retried_loops(const Function& function, const ControlFlow& graph,
                                const DataFlow& data) {
  std::vector<bool> retried(function.body.size(), false);
  if (std::none_of(function.body.begin(), function.body.end(), is_atomic)) return retried;
  Search search(function, graph, data, is_atomic);
  const std::vector<bool> no_locks(retried.size(), false);
  for (const Loop& loop : loops_of(graph)) {
    if (search.waits(loop, no_locks)) mark(loop, graph, retried);
  }
  return retried;
}

std::vector<bool> yielding_loops(const Function& function, const ControlFlow& graph) {
  std::vector<bool> yielding(function.body.size(), false);
  const auto changes = [](const Instruction& instruction) {
    const Memory memory = instruction.row().effects.memory;
    return memory == Memory::atomic || memory == Memory::reduce ||
           instruction.opcode == Opcode::call;  // the called function may do so
  };
  if (std::none_of(function.body.begin(), function.body.end(), changes)) return yielding;
  for (const Loop& loop : loops_of(graph)) {
    bool has_atomic = false, has_call = false;
    for (const std::size_t number : loop.members) {
      const Block& block = graph.blocks[number];
      for (std::size_t i = block.first; i < block.end; ++i) {
        has_atomic |= changes(function.body[i]);
        has_call |= becomes_a_call(function.body[i]);
      }
    }
    if (has_atomic && has_call) mark(loop, graph, yielding);
  }
  return yielding;
}

std::vector<bool> behind_waiting(const Function& function, const ControlFlow& graph,
                                 const DataFlow& data, const std::vector<bool>& waiting) {
  const std::vector<bool> names_all = names_of_all_lanes(function, data);
  // True if all lanes of a warp are together behind an instruction.
  const auto gathers = [&](const Instruction& instruction) {
    const Effects& effects = instruction.row().effects;
    if (instruction.guard) return false;
    if (effects.waits_for_block) return true;
    if (!effects.names_lanes || !instruction.has(Word::sync) || instruction.operands.empty()) {
      return false;
    }
    const Operand& lanes = instruction.operands.back();
    if (lanes.kind != Operand::Kind::name) return is_minus_one(lanes);
    const auto id = data.find(lanes.name);
    return id && names_all[*id];
  };
  std::vector<bool> behind(function.body.size(), false);
  std::vector<bool> enters(graph.blocks.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::size_t number : graph.order) {
      const Block& block = graph.blocks[number];
      bool is_apart = enters[number];
      for (std::size_t i = block.first; i < block.end; ++i) {
        behind[i] = is_apart;
        is_apart = waiting[i] || (is_apart && !gathers(function.body[i]));
      }
      if (!is_apart) continue;
      for (const std::size_t next : block.successors) {
        changed |= !enters[next];
        enters[next] = true;
      }
    }
  }
  return behind;
}

}  // namespace warpmeter::model::ptx
