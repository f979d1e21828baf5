// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/function_accesses.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "collector/model/machine/warp/fragments.h"
#include "collector/model/ptx/memory/addresses.h"
#include "collector/model/ptx/row.h"

namespace warpmeter::model::sass {
namespace {

std::optional<AddressSpace> counted_space(ptx::Space space) {
  switch (space) {
    case ptx::Space::shared:
      return AddressSpace::shared;
    case ptx::Space::global:
      return AddressSpace::global;
    case ptx::Space::none:
      return AddressSpace::generic;
    default:
      return std::nullopt;
  }
}

std::optional<AccessKind> kind_of(ptx::Memory memory) {
  switch (memory) {
    case ptx::Memory::load:
    case ptx::Memory::copy:
      return AccessKind::load;
    case ptx::Memory::store:
      return AccessKind::store;
    case ptx::Memory::atomic:
      return AccessKind::atomic;
    case ptx::Memory::reduce:
      return AccessKind::reduction;
    case ptx::Memory::none:
      break;
  }
  return std::nullopt;
}

bool is_bulk(const ptx::Instruction& instruction) {
  const ptx::Execution execution = instruction.row().execution;
  return execution == ptx::Execution::bulk_copy || execution == ptx::Execution::box_copy;
}

/// Nothing for what only fetches early. Copies to other blocks are stores and reductions too.
std::optional<AccessKind> kind_of_bulk(const ptx::Instruction& instruction) {
  using ptx::Opcode, ptx::Word;
  if (instruction.is(Opcode::cp_async_bulk_prefetch) ||
      instruction.is(Opcode::cp_async_bulk_prefetch_tensor)) {
    return std::nullopt;
  }
  if (instruction.is(Opcode::cp_reduce_async_bulk) ||
      instruction.is(Opcode::cp_reduce_async_bulk_tensor)) {
    return AccessKind::reduction;
  }
  const bool loads = instruction.has(Word::global) && !instruction.has(Word::bulk_group);
  return loads ? AccessKind::load : AccessKind::store;
}

/// True if one side of the branch only ends the thread.
bool ends_soon(const ptx::ControlFlow& flow, const ptx::Block& block) {
  return std::any_of(block.successors.begin(), block.successors.end(), [&](std::size_t s) {
    return flow.blocks[s].successors.empty() && flow.blocks[s].end - flow.blocks[s].first == 1;
  });
}

}  // namespace

std::optional<FunctionAccesses> FunctionAccesses::of(const ptx::Function& function) {
  auto flow = ptx::control_flow(function);
  if (std::holds_alternative<ptx::Diagnostic>(flow)) return std::nullopt;
  FunctionAccesses result;
  result.function_ = &function;
  result.flow_ = std::move(std::get<ptx::ControlFlow>(flow));
  const std::size_t count = result.flow_.blocks.size();
  std::vector<std::vector<Node>> successors(count);
  for (std::size_t b = 0; b < count; ++b) {
    for (const std::size_t successor : result.flow_.blocks[b].successors) {
      successors[b].push_back(static_cast<Node>(successor));
    }
  }
  std::vector<Node> entries;
  if (count > 0) entries.push_back(0);
  result.graph_ = std::make_unique<FlowGraph>(std::move(successors), entries);

  result.data_ = ptx::data_flow(function);
  const auto addresses = ptx::relative_addresses(function, result.flow_, result.data_);
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    if (!result.flow_.blocks[result.flow_.block_of[i]].is_reachable) continue;
    const std::size_t before = result.accesses_.size();
    result.add(i);
    if (result.accesses_.size() == before || !addresses[i]) continue;
    PtxAccess& access = result.accesses_.back();
    if (access.pieces > 0) continue;
    access.root = addresses[i]->root;
    access.offset = addresses[i]->offset;
    access.is_lasting = addresses[i]->is_lasting;
  }
  result.find_uses();
  result.find_repeated_addresses();
  return result;
}

void FunctionAccesses::add(std::size_t index) {
  const ptx::Instruction& instruction = function_->body[index];
  const ptx::Memory memory = instruction.row().effects.memory;
  const ptx::Execution execution = instruction.row().execution;
  const auto kind = is_bulk(instruction)                             ? kind_of_bulk(instruction)
                    : execution == ptx::Execution::counted_store     ? AccessKind::store
                    : execution == ptx::Execution::counted_reduction ? AccessKind::reduction
                                                                     : kind_of(memory);
  const auto space = counted_space(instruction.space);
  // ptxas makes one instruction of each wgmma, which only moves (HGMMA, IGMMA, BGMMA, QGMMA).
  if (!kind || !space || instruction.row().effects.is_product) return;
  PtxAccess access;
  access.instruction = index;
  access.line = instruction.line;
  access.kind = *kind;
  access.space = *space;
  access.is_compare_and_swap = instruction.has(ptx::Word::cas);
  if (is_bulk(instruction)) {
    access.carrier = Carrier::bulk;
    access.space = AddressSpace::global;
    accesses_.push_back(access);
    return;
  }
  if (memory == ptx::Memory::copy) {
    access.carrier = Carrier::copy;
    access.space = AddressSpace::global;
    const bool has_size = instruction.operands.size() > 2;
    access.width = static_cast<std::uint8_t>(has_size ? instruction.operands[2].bits : 0);
    accesses_.push_back(access);
    return;
  }
  if (execution == ptx::Execution::counted_store ||
      execution == ptx::Execution::counted_reduction) {
    access.carrier = Carrier::counted;
    access.space = AddressSpace::shared;
    access.width = static_cast<std::uint8_t>(ptx::info_of(instruction.last_type()).bytes() *
                                             instruction.parts);
    accesses_.push_back(access);
    return;
  }
  if (instruction.row().effects.is_matrix) access.carrier = Carrier::matrix;
  if (access.carrier != Carrier::registers) {  // rows; what registers get has its own shape
    access.width = 16;
    accesses_.push_back(access);
    return;
  }
  if (instruction.row().effects.is_fragment) {
    const auto fragment = fragment_of(instruction);
    if (!fragment) return;
    access.width = static_cast<std::uint8_t>(fragment->width);
    if (fragment->is_rows) access.carrier = Carrier::matrix;
    access.pieces = fragment->accesses.size();
    accesses_.push_back(access);
    return;
  }
  access.parts = instruction.parts;
  access.width =
      static_cast<std::uint8_t>(ptx::info_of(instruction.last_type()).bytes() * access.parts);
  accesses_.push_back(access);
}

/// Which registers of loads are read anywhere, and which lines hold several accesses.
void FunctionAccesses::find_uses() {
  std::unordered_set<std::string_view> read;
  const auto note = [&](const auto& self, const ptx::Operand& operand) -> void {
    if (!operand.name.empty()) read.insert(operand.name);
    if (!operand.address.base.empty()) read.insert(operand.address.base);
    for (const ptx::Operand& part : operand.parts) self(self, part);
  };
  for (const ptx::Instruction& instruction : function_->body) {
    const bool writes = instruction.row().effects.writes_first;
    if (instruction.guard) read.insert(instruction.guard->predicate);
    for (std::size_t i = writes ? 1 : 0; i < instruction.operands.size(); ++i) {
      note(note, instruction.operands[i]);
    }
  }
  std::map<int, std::size_t> on_line;
  for (const PtxAccess& access : accesses_) ++on_line[access.line];
  for (PtxAccess& access : accesses_) {
    access.shares_line = on_line[access.line] > 1;
    const auto& operands = function_->body[access.instruction].operands;
    if (access.kind != AccessKind::load || operands.empty() ||
        (access.carrier != Carrier::registers && access.pieces == 0)) {
      continue;
    }
    const ptx::Operand& to = operands[0];
    if (to.kind == ptx::Operand::Kind::vector) {
      access.live_parts = 0;
      for (std::size_t i = 0; i < to.parts.size() && i < 32; ++i) {
        if (read.contains(to.parts[i].name)) access.live_parts |= 1u << i;
      }
      access.is_used = access.live_parts != 0;
    } else {
      access.is_used = read.contains(to.name);
    }
  }
}

Node FunctionAccesses::block_of(std::size_t access) const {
  return static_cast<Node>(flow_.block_of[accesses_[access].instruction]);
}

GroupKey FunctionAccesses::group_of(std::size_t index) const {
  const PtxAccess& access = accesses_[index];
  const auto& guard = function_->body[access.instruction].guard;
  return {block_of(index),
          access.kind,
          access.space,
          access.width,
          guard ? guard->predicate : std::string_view{},
          guard && guard->negated,
          access.root,
          access.carrier};
}

bool FunctionAccesses::has_value_already(std::size_t index) const {
  const PtxAccess& access = accesses_[index];
  if (access.kind != AccessKind::load && access.kind != AccessKind::store) return false;
  if (access.pieces > 0 || access.carrier == Carrier::copy || access.carrier == Carrier::bulk) {
    return false;
  }
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    const PtxAccess& other = accesses_[i];
    if (i == index || other.pieces > 0 || other.carrier != access.carrier ||
        other.root != access.root || other.offset != access.offset || other.width != access.width ||
        other.space != access.space) {
      continue;
    }
    const bool is_earlier = other.instruction < access.instruction;
    if (block_of(i) == block_of(index)) {
      if (access.kind == AccessKind::load && is_earlier) return true;
      if (access.kind == AccessKind::store && other.kind == AccessKind::store && !is_earlier) {
        return true;
      }
    } else if (access.kind == AccessKind::load && access.is_lasting &&
               graph_->dominates(block_of(i), block_of(index))) {
      return true;
    }
  }
  return false;
}

std::vector<std::size_t> FunctionAccesses::loop_around(std::size_t access) const {
  std::vector<std::size_t> instructions;
  for (const Node block : graph_->loop_around(block_of(access))) {
    for (std::size_t i = flow_.blocks[block].first; i < flow_.blocks[block].end; ++i) {
      instructions.push_back(i);
    }
  }
  return instructions;
}

std::vector<bool> FunctionAccesses::varying_in(const std::vector<std::size_t>& loop) const {
  std::vector<bool> varies(data_.registers().size());
  for (const std::size_t i : loop) {
    for (const ptx::RegisterId id : data_.writes(i)) varies[id] = true;
  }
  // One after the other turns out to be written from others that do not vary; those that depend on
  // themselves never do.
  std::vector<std::size_t> open_writes(varies.size()), open_reads(function_->body.size());
  std::vector<std::vector<std::size_t>> readers(varies.size());
  std::vector<ptx::RegisterId> settled;
  const auto settle_writes = [&](std::size_t i) {
    for (const ptx::RegisterId id : data_.writes(i)) {
      if (--open_writes[id] > 0) continue;
      varies[id] = false;
      settled.push_back(id);
    }
  };
  for (const std::size_t i : loop) {
    for (const ptx::RegisterId id : data_.writes(i)) ++open_writes[id];
    if (!ptx::computes(function_->body[i].row())) continue;
    for (const ptx::RegisterId id : data_.reads(i)) {
      if (!varies[id]) continue;
      ++open_reads[i];
      readers[id].push_back(i);
    }
  }
  for (const std::size_t i : loop) {
    if (ptx::computes(function_->body[i].row()) && open_reads[i] == 0) settle_writes(i);
  }
  while (!settled.empty()) {
    const ptx::RegisterId id = settled.back();
    settled.pop_back();
    for (const std::size_t i : readers[id]) {
      if (--open_reads[i] == 0) settle_writes(i);
    }
  }
  return varies;
}

void FunctionAccesses::find_repeated_addresses() {
  std::map<std::vector<Node>, std::vector<bool>> varying_in_loops;
  for (std::size_t a = 0; a < accesses_.size(); ++a) {
    const auto [place, is_new] = varying_in_loops.try_emplace(graph_->loop_around(block_of(a)));
    if (place->first.empty()) continue;
    if (is_new) place->second = varying_in(loop_around(a));
    const std::vector<bool>& varies = place->second;
    const auto& operands = function_->body[accesses_[a].instruction].operands;
    accesses_[a].repeats_address =
        std::all_of(operands.begin(), operands.end(), [&](const auto& operand) {
          const auto base = data_.find(operand.address.base);
          return !base || !varies[*base];
        });
  }
}

bool FunctionAccesses::is_seen_each_round(std::size_t access) const {
  const ptx::Instruction& store = function_->body[accesses_[access].instruction];
  for (const ptx::Word word :
       {ptx::Word::volatile_, ptx::Word::relaxed, ptx::Word::release, ptx::Word::mmio}) {
    if (store.has(word)) return true;
  }
  const std::vector<std::size_t> loop = loop_around(access);
  return std::any_of(loop.begin(), loop.end(), [&](std::size_t i) {
    const ptx::Instruction& instruction = function_->body[i];
    const ptx::Effects& effects = instruction.row().effects;
    if (effects.waits_for_block || effects.orders || effects.flow == ptx::Flow::call) return true;
    const bool reads = effects.memory != ptx::Memory::none && effects.memory != ptx::Memory::store;
    return reads && !instruction.has(ptx::Word::nc) &&
           (instruction.space == store.space || instruction.space == ptx::Space::none ||
            store.space == ptx::Space::none);
  });
}

int FunctionAccesses::last_line(std::size_t block) const {
  return function_->body[flow_.blocks[block].end - 1].line;
}

std::vector<int> FunctionAccesses::exits_around(std::size_t access) const {
  std::vector<int> lines;
  for (const Node block : graph_->exits_around(block_of(access))) {
    lines.push_back(last_line(block));
  }
  return lines;
}

std::vector<int> FunctionAccesses::branches_before(std::size_t access) const {
  std::vector<int> lines;
  for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
    const ptx::Block& block = flow_.blocks[b];
    if (block.successors.size() > 1 && !ends_soon(flow_, block) &&
        graph_->leads_to(static_cast<Node>(b), block_of(access))) {
      lines.push_back(last_line(b));
    }
  }
  return lines;
}

std::vector<int> FunctionAccesses::deciders_of(std::size_t access) const {
  const std::size_t own = flow_.block_of[accesses_[access].instruction];
  std::vector<int> lines;
  if (function_->body[accesses_[access].instruction].guard) lines.push_back(accesses_[access].line);
  for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
    const ptx::Block& block = flow_.blocks[b];
    const bool decides =
        block.successors.size() > 1 || function_->body[block.end - 1].guard.has_value();
    if (b != own && decides && graph_->leads_to(static_cast<Node>(b), block_of(access))) {
      lines.push_back(last_line(b));
    }
  }
  return lines;
}

std::map<int, bool> FunctionAccesses::branches_behind(std::size_t access) const {
  const Node own = block_of(access);
  const std::vector<int> exits = exits_around(access);
  std::map<int, bool> lines;
  for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
    const auto block = static_cast<Node>(b);
    const bool is_behind =
        block == own || (graph_->leads_to(own, block) && !graph_->leads_to(block, own));
    if (!is_behind) continue;
    const std::size_t begin =
        block == own ? accesses_[access].instruction + 1 : flow_.blocks[b].first;
    for (std::size_t i = begin; i < flow_.blocks[b].end; ++i) {
      if (function_->body[i].guard) lines.emplace(function_->body[i].line, false);
    }
    if (flow_.blocks[b].successors.size() < 2) continue;
    const int line = last_line(b);
    lines[line] = std::find(exits.begin(), exits.end(), line) != exits.end();
  }
  return lines;
}

}  // namespace warpmeter::model::sass
