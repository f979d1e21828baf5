#include "collector/model/ptx/sites.h"

#include <cstddef>
#include <string_view>
#include <unordered_map>

#include "collector/model/ptx/opcodes.h"

namespace warpmeter::model::ptx {
namespace {

/// The base of an access that may be to shared memory; null for any other instruction.
const std::string_view* shared_base(const Instruction& instruction, Memory kind) {
  const Opcode* opcode = find_opcode(instruction);
  if (opcode == nullptr || opcode->memory != kind) return nullptr;
  const Space space = access_space(instruction);
  const auto position = address_position(instruction);
  if (!position || (space != Space::shared && space != Space::none)) return nullptr;
  return &instruction.operands[*position].address.base;
}

}  // namespace

std::vector<bool> mergeable_accesses(const Function& function, const ControlFlow& graph) {
  std::vector<bool> mergeable(function.body.size(), false);
  for (const Block& block : graph.blocks) {
    for (const Memory kind : {Memory::load, Memory::store}) {
      std::unordered_map<std::string_view, std::size_t> first_of;
      for (std::size_t i = block.first; i < block.end; ++i) {
        const std::string_view* base = shared_base(function.body[i], kind);
        if (base == nullptr) continue;
        const auto [first, is_new] = first_of.emplace(*base, i);
        if (is_new) continue;
        mergeable[first->second] = true;
        mergeable[i] = true;
      }
    }
  }
  return mergeable;
}

}  // namespace warpmeter::model::ptx
