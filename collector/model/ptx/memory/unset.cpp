// SPDX-License-Identifier: MIT
#include "collector/model/ptx/memory/unset.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace warpmeter::model::ptx {

std::vector<bool> unset_at_entry(const DataFlow& data, const ControlFlow& graph) {
  const std::size_t registers = data.registers().size(), blocks = graph.blocks.size();
  std::vector<bool> found(registers, false);
  if (blocks == 0) return found;
  // For each register, the blocks from those that need its value from before back to the beginning,
  // but not through those that settle it.
  std::vector<std::vector<std::size_t>> needed_in(registers);
  std::vector<std::vector<std::size_t>> settled_in(registers);
  const auto ends_with = [](const std::vector<std::size_t>& list, std::size_t block) {
    return !list.empty() && list.back() == block;
  };
  for (const std::size_t b : graph.order) {
    for (std::size_t i = graph.blocks[b].first; i < graph.blocks[b].end; ++i) {
      const auto reads = data.reads(i);
      for (const RegisterId id : reads) {
        if (ends_with(settled_in[id], b) || ends_with(needed_in[id], b)) continue;
        needed_in[id].push_back(b);
      }
      for (const RegisterId id : data.writes(i)) {
        // A guarded write is among the reads as well.
        const bool keeps_old = std::binary_search(reads.begin(), reads.end(), id);
        if (!keeps_old && !ends_with(settled_in[id], b)) settled_in[id].push_back(b);
      }
    }
  }
  std::vector<RegisterId> visited(blocks, ~RegisterId{0}), settles(blocks, ~RegisterId{0});
  for (RegisterId id = 0; id < registers; ++id) {
    for (const std::size_t block : settled_in[id]) settles[block] = id;
    std::vector<std::size_t> work;
    const auto need = [&](std::size_t block) {
      if (visited[block] == id) return;
      visited[block] = id;
      work.push_back(block);
    };
    for (const std::size_t block : needed_in[id]) need(block);
    while (!work.empty() && !found[id]) {
      const std::size_t block = work.back();
      work.pop_back();
      if (block == 0) found[id] = true;
      for (const std::size_t predecessor : graph.blocks[block].predecessors) {
        if (graph.blocks[predecessor].is_reachable && settles[predecessor] != id) need(predecessor);
      }
    }
  }
  return found;
}

std::vector<bool> spread_unset(const Function& function, const DataFlow& data,
                               std::vector<bool> unset) {
  const auto is_unset = [&](const Operand* operand) {
    const auto id = data.find(operand->name);
    return id && unset[*id];
  };
  struct Step {
    std::size_t instruction;
    UnsetRole role;
  };
  std::vector<Step> steps;
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    if (data.writes(i).empty()) continue;
    UnsetRole role = unset_role(function.body[i]);
    if (role.spread != Spread::none || function.body[i].guard)
      steps.push_back({i, std::move(role)});
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Step& step : steps) {
      const auto& guard = function.body[step.instruction].guard;
      const auto guarding = guard ? data.find(guard->predicate) : std::nullopt;
      const bool gets = (guarding && unset[*guarding]) ||
                        (step.role.spread != Spread::none &&
                         std::any_of(step.role.sources.begin(), step.role.sources.end(), is_unset));
      if (!gets) continue;
      for (const RegisterId id : data.writes(step.instruction)) {
        changed |= !unset[id];
        unset[id] = true;
      }
    }
  }
  return unset;
}

namespace {

struct Store {
  std::size_t instruction = 0;
  std::string_view base;
  std::int64_t begin = 0, end = 0;
};

/// Registers that are others plus a constant, while a block is gone through.
class Sums {
 public:
  void execute(const Instruction& instruction) {
    if (instruction.operands.empty()) return;
    const Operand& to = instruction.operands[0];
    std::optional<Address> sum;
    if (instruction.opcode == Opcode::add && !instruction.guard &&
        instruction.operands.size() == 3 &&
        instruction.operands[2].kind == Operand::Kind::integer) {
      sum = resolve(
          {instruction.operands[1].name, static_cast<std::int64_t>(instruction.operands[2].bits)});
    }
    if (to.kind == Operand::Kind::name) forget(to.name);
    for (const Operand& part : to.parts) forget(part.name);
    if (sum && sum->base != to.name) sums_.emplace(to.name, *sum);
  }
  Address resolve(const Address& address) const {
    const auto sum = sums_.find(address.base);
    if (sum == sums_.end()) return address;
    return {sum->second.base, sum->second.offset + address.offset};
  }

 private:
  void forget(std::string_view name) {
    sums_.erase(name);
    std::erase_if(sums_, [&](const auto& sum) { return sum.second.base == name; });
  }

  std::unordered_map<std::string_view, Address> sums_;
};

/// Bytes that may lie between two members of a structure.
constexpr std::int64_t largest_gap = 8;

std::optional<Store> store_of(const Function& function, std::size_t index, const Sums& sums) {
  const Instruction& instruction = function.body[index];
  if (instruction.opcode != Opcode::st || instruction.operands.size() < 2) return std::nullopt;
  const Operand& address = instruction.operands[0];
  if (address.kind != Operand::Kind::address || address.address.base.empty()) return std::nullopt;
  const std::int64_t bytes = info_of(instruction.first_type()).bytes(), parts = instruction.parts;
  const Address place = sums.resolve(address.address);
  return Store{index, place.base, place.offset, place.offset + bytes * parts};
}

bool same_line(const Instruction& a, const Instruction& b) {
  if (!a.location || !b.location) return !a.location && !b.location;
  return a.location->file == b.location->file && a.location->line == b.location->line;
}

}  // namespace

std::vector<std::vector<std::size_t>> neighbouring_stores(const Function& function,
                                                          const ControlFlow& graph) {
  std::vector<std::vector<std::size_t>> found(function.body.size());
  for (const Block& block : graph.blocks) {
    std::vector<Store> stores;
    Sums sums;
    for (std::size_t i = block.first; i < block.end; ++i) {
      if (const auto store = store_of(function, i, sums)) stores.push_back(*store);
      if (function.body[i].opcode != Opcode::st) sums.execute(function.body[i]);
    }
    for (std::size_t i = 0; i < stores.size(); ++i) {
      // The stores of one line stand together.
      for (std::size_t j = i + 1; j < std::min(stores.size(), i + 16); ++j) {
        const Store &a = stores[i], &b = stores[j];
        const bool is_near = a.begin <= b.end + largest_gap && b.begin <= a.end + largest_gap;
        if (a.base != b.base || !is_near ||
            !same_line(function.body[a.instruction], function.body[b.instruction])) {
          continue;
        }
        found[a.instruction].push_back(b.instruction);
        found[b.instruction].push_back(a.instruction);
      }
    }
  }
  return found;
}

}  // namespace warpmeter::model::ptx
