// SPDX-License-Identifier: MIT
// Facts about a function that follow from its calls: it may be running already when it is called,
// or it may wait somewhere.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "collector/model/machine/decode/decoder.h"
#include "collector/model/ptx/flow/waiting.h"

namespace warpmeter::model {
namespace {

bool is_call(const ptx::Instruction& instruction) {
  return instruction.opcode == Opcode::call && instruction.operands.size() >= 3;
}

/// Visits the functions whose address the instruction takes.
template <class Visit>
void for_each_address(const ptx::Module& module, const ptx::Instruction& instruction, Visit visit) {
  if (instruction.opcode != Opcode::mov || instruction.operands.size() != 2) return;
  const ptx::Function* function = module.find(instruction.operands[1].name);
  if (function != nullptr && !function->is_entry) visit(function);
}

}  // namespace

/// Functions that a pointer may lead to.
const std::vector<const ptx::Function*>& Decoder::addresses_taken() {
  if (addresses_taken_) return *addresses_taken_;
  std::set<const ptx::Function*> found;
  for (const ptx::Function& function : module_.functions) {
    for (const ptx::Instruction& instruction : function.body) {
      for_each_address(module_, instruction, [&](const ptx::Function* f) { found.insert(f); });
    }
  }
  for (const ptx::Variable& variable : module_.variables) {
    for (const auto& relocation : variable.relocations) {
      const ptx::Function* function = module_.find(relocation.name);
      if (function != nullptr && !function->is_entry) found.insert(function);
    }
  }
  addresses_taken_.emplace(found.begin(), found.end());
  return *addresses_taken_;
}

/// True if the function may be running already when it is called: by what it calls, directly or,
/// once there is a call through a pointer, through any address that the module takes.
bool Decoder::is_recursive(const ptx::Function& function) {
  if (!recursive_.contains(&function)) find_circles(function);
  return recursive_.at(&function);
}

/// Finds which functions that can be reached from this one are in a circle of calls, after Tarjan
/// (1972). It keeps a list rather than call itself, for a chain of calls may be long. Null stands
/// for a call through a pointer.
void Decoder::find_circles(const ptx::Function& first) {
  struct Visit {
    const ptx::Function* function;
    std::vector<const ptx::Function*> callees;
    std::size_t number, lowest;  ///< in the order of visits; the lowest that it leads back to
    std::size_t next = 0;
  };
  std::map<const ptx::Function*, std::size_t> numbers;  // without those whose circle is complete
  std::vector<const ptx::Function*> open;
  std::vector<Visit> visits;
  std::size_t count = 0;
  const auto enter = [&](const ptx::Function* function) {
    numbers[function] = count;
    open.push_back(function);
    visits.push_back({function, callees_of(function), count, count});
    ++count;
  };
  const auto leave = [&](const Visit& visit) {
    if (visit.lowest != visit.number) return;
    const bool calls_itself = std::find(visit.callees.begin(), visit.callees.end(),
                                        visit.function) != visit.callees.end();
    const bool is_circle = open.back() != visit.function || calls_itself;
    while (numbers.contains(visit.function)) {
      recursive_[open.back()] = is_circle;
      numbers.erase(open.back());
      open.pop_back();
    }
  };
  enter(&first);
  while (!visits.empty()) {
    Visit& visit = visits.back();
    if (visit.next < visit.callees.size()) {
      const ptx::Function* callee = visit.callees[visit.next++];
      if (const auto known = numbers.find(callee); known != numbers.end()) {
        visit.lowest = std::min(visit.lowest, known->second);
      } else if (!recursive_.contains(callee)) {
        enter(callee);
      }
      continue;
    }
    leave(visit);
    const std::size_t lowest = visit.lowest;
    visits.pop_back();
    if (!visits.empty()) visits.back().lowest = std::min(visits.back().lowest, lowest);
  }
}

/// The functions that a function calls. Null stands for a pointer: the ones that it may lead to.
std::vector<const ptx::Function*> Decoder::callees_of(const ptx::Function* function) {
  if (function == nullptr) return addresses_taken();
  std::set<const ptx::Function*> callees;
  for (const ptx::Instruction& instruction : function->body) {
    if (is_call(instruction)) callees.insert(module_.find(instruction.operands[1].name));
  }
  return {callees.begin(), callees.end()};
}

/// Null where its body is not known before the caller's: it is of no module, or calls itself.
const Analysis* Decoder::analysis_of_call(const ptx::Instruction& instruction) {
  if (!is_call(instruction)) return nullptr;
  const ptx::Function* callee = module_.find(instruction.operands[1].name);
  if (callee == nullptr || callee->is_declaration || is_recursive(*callee)) return nullptr;
  return &analyses_.at(callee);
}

std::vector<ptx::Unknowns> Decoder::given_by_calls(const ptx::Function& function) {
  std::vector<ptx::Unknowns> given(function.body.size(), 0);
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (const Analysis* callee = analysis_of_call(function.body[i])) given[i] = callee->order.given;
  }
  return given;
}

/// Notes waiting loops and the code behind them, those of functions that are called among them.
void Decoder::note_waiting(const ptx::Function& function, Analysis& analysis) {
  std::vector<bool> waits = analysis.waits;
  const std::vector<bool> yields = ptx::yielding_loops(function, analysis.graph);
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    waits[i] = waits[i] || yields[i];
    const Analysis* callee = analysis_of_call(function.body[i]);
    waits[i] = waits[i] || (callee != nullptr && callee->waits_somewhere);
  }
  analysis.waits_somewhere = std::find(waits.begin(), waits.end(), true) != waits.end();
  analysis.is_behind = ptx::behind_waiting(function, analysis.graph, analysis.data, waits);
}

}  // namespace warpmeter::model
