#include "collector/model/ptx/uniformity.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "collector/model/ptx/opcodes.h"

namespace warpmeter::model::ptx {
namespace {

/// Special registers that are the same in all threads of a warp.
bool is_uniform_special(std::string_view name) {
  static constexpr std::array<std::string_view, 12> prefixes = {
      "%ctaid", "%nctaid", "%ntid",    "%warpid", "%nwarpid", "%smid",
      "%nsmid", "%gridid", "%dynamic", "%total",  "%cluster", "%ncluster"};
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

class Uniformity {
 public:
  Uniformity(const Function& function, const ControlFlow& graph, const DataFlow& data)
      : function_(function),
        graph_(graph),
        data_(data),
        divergent_(data.registers().size()),
        writes_(data.registers().size()),
        parted_(graph.blocks.size()),
        branches_(graph.blocks.size()) {
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      for (const RegisterId id : data.writes(i)) ++writes_[id];
    }
    // A function's arguments are whatever it is called with.
    is_device_function_ = !function.is_entry;
  }

  std::vector<bool> solve() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::size_t block : graph_.order) {
        for (std::size_t i = graph_.blocks[block].first; i < graph_.blocks[block].end; ++i) {
          changed |= visit(i, block);
        }
        changed |= leave(block);
      }
    }
    return std::move(branches_);
  }

 private:
  bool operand_diverges(const Operand& operand) const {
    if (operand.kind == Operand::Kind::address) return name_diverges(operand.address.base);
    if (operand.kind == Operand::Kind::name) return name_diverges(operand.name);
    return std::any_of(operand.parts.begin(), operand.parts.end(),
                       [&](const Operand& part) { return operand_diverges(part); });
  }

  bool name_diverges(std::string_view name) const {
    if (const auto id = data_.find(name)) return divergent_[*id];
    return name.starts_with('%') && !is_uniform_special(name);
  }

  bool result_diverges(const Instruction& instruction) const {
    const Opcode* opcode = find_opcode(instruction);
    if (opcode == nullptr || opcode->flow == Flow::call) return true;
    if (instruction.opcode == "vote" || instruction.opcode == "redux") return false;
    if (opcode->memory == Memory::atomic || instruction.opcode == "shfl" ||
        instruction.opcode == "match" || instruction.opcode == "activemask" ||
        instruction.opcode == "elect") {
      return true;
    }
    const Space space = access_space(instruction);
    if (opcode->memory == Memory::load) {
      if (space == Space::local) return true;
      if (space == Space::param && is_device_function_) return true;
    }
    if (instruction.guard && name_diverges(instruction.guard->predicate)) return true;
    for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
      if (operand_diverges(instruction.operands[i])) return true;
    }
    return false;
  }

  bool visit(std::size_t index, std::size_t block) {
    bool changed = false;
    bool known = false, diverges = false;
    for (const RegisterId id : data_.writes(index)) {
      if (divergent_[id]) continue;
      if (!known) {
        diverges = result_diverges(function_.body[index]);
        known = true;
      }
      // Where threads have parted, some of them keep what another instruction wrote.
      if (!diverges && !(parted_[block] && writes_[id] > 1)) continue;
      divergent_[id] = true;
      changed = true;
    }
    return changed;
  }

  /// Looks at the branch that ends the block; marks what its sides reach before they meet.
  bool leave(std::size_t number) {
    const Block& block = graph_.blocks[number];
    if (branches_[number] || block.successors.size() + (block.leaves ? 1 : 0) < 2) return false;
    const Instruction& last = function_.body[block.end - 1];
    bool diverges = last.guard && name_diverges(last.guard->predicate);
    for (const Operand& operand : last.operands) diverges |= operand_diverges(operand);
    if (!diverges) return false;
    branches_[number] = true;
    std::vector<std::size_t> open = block.successors;
    std::vector<bool> seen(graph_.blocks.size(), false);
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (at == block.meeting || seen[at]) continue;
      seen[at] = true;
      parted_[at] = true;
      for (const std::size_t successor : graph_.blocks[at].successors) open.push_back(successor);
    }
    return true;
  }

  const Function& function_;
  const ControlFlow& graph_;
  const DataFlow& data_;
  std::vector<bool> divergent_;        ///< of each register
  std::vector<std::uint32_t> writes_;  ///< instructions that write it
  std::vector<bool> parted_, branches_;
  bool is_device_function_ = false;
};

}  // namespace

std::vector<bool> divergent_blocks(const Function& function, const ControlFlow& graph,
                                   const DataFlow& data) {
  return Uniformity(function, graph, data).solve();
}

}  // namespace warpmeter::model::ptx
