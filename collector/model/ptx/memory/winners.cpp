// SPDX-License-Identifier: MIT
#include "collector/model/ptx/memory/winners.h"

#include <algorithm>

namespace warpmeter::model::ptx {
namespace {

bool is_branch(const Instruction& instruction) {
  return instruction.row().effects.flow == Flow::branch;
}

/// Adds those of a region to a set of instructions.
void add(const std::vector<bool>& region, std::vector<bool>& to) {
  for (std::size_t i = 0; i < region.size(); ++i) to[i] = to[i] || region[i];
}

}  // namespace

bool is_number(const Operand& operand, const Function& function, const Definitions& definitions) {
  if (operand.kind == Operand::Kind::integer || operand.kind == Operand::Kind::floating) {
    return true;
  }
  const std::size_t at = definitions.of(operand.name);
  if (at == nowhere) return false;
  const Instruction& definition = function.body[at];
  return definition.opcode == Opcode::mov && definition.operands.size() == 2 &&
         definition.operands[1].kind == Operand::Kind::integer;
}

Winners::Winners(const Function& function, const ControlFlow& graph, const DataFlow& data,
                 const Definitions& definitions, std::span<const MemoryAccess> accesses,
                 const Identity& identity, BranchRegions& regions, const LiveValues& live)
    : function_(function),
      graph_(graph),
      data_(data),
      definitions_(definitions),
      accesses_(accesses),
      identity_(identity),
      regions_(regions),
      live_(live) {}

Won Winners::won(const std::vector<Origin>& origins) const {
  Won won;
  won.accesses.resize(accesses_.size());
  won.contents.resize(accesses_.size());
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    const auto& guard = function_.body[i].guard;
    const auto id = guard ? data_.find(guard->predicate) : std::nullopt;
    if (id && origins[*id] != 0) note(i, who_comes(i, origins[*id]), won);
  }
  return won;
}

/// The guarded instruction itself, and what it decides.
std::vector<bool> Winners::region_of(std::size_t i) const {
  std::vector<bool> region(accesses_.size(), false);
  region[i] = true;
  if (!is_branch(function_.body[i])) return region;
  for (const std::size_t number : regions_.of(i)) {
    const Block& block = graph_.blocks[number];
    std::fill(region.begin() + static_cast<std::ptrdiff_t>(block.first),
              region.begin() + static_cast<std::ptrdiff_t>(block.end), true);
  }
  return region;
}

/// The registers that threads take along which went another way than others.
std::vector<RegisterId> Winners::left_by(std::size_t i) const {
  if (is_branch(function_.body[i])) return live_.left_by(regions_.of(i));
  const auto written = data_.writes(i);
  return {written.begin(), written.end()};
}

bool Winners::adds_a_number(const Instruction& atomic) const {
  return atomic.has(Word::add) && is_number(atomic.operands.back(), function_, definitions_);
}

Winners::Who Winners::who_comes(std::size_t i, Origin origin) const {
  if (origin == several) return Who::anybody;
  const Instruction& atomic = function_.body[origin - 1];
  const bool counts = adds_a_number(atomic) || atomic.has(Word::inc) || atomic.has(Word::dec);
  const auto bits = identity_.of(*data_.find(function_.body[i].guard->predicate));
  if (!counts || (bits & Identity::block) != 0) return Who::anybody;
  if (bits == 0) return Who::a_block;
  return is_for_one_thread(i, origin - 1) ? Who::one_thread : Who::anybody;
}

/// True if the answer itself is compared with a number that is the same for all, and only the one
/// whose answer equals it comes.
bool Winners::is_for_one_thread(std::size_t i, std::size_t atomic) const {
  const Instruction& counted = function_.body[atomic];
  if (!adds_a_number(counted) || identity_.of(accesses_[atomic].address) != 0) return false;
  const Guard& guard = *function_.body[i].guard;
  const std::size_t at = definitions_.of(guard.predicate);
  if (at == nowhere || !function_.body[at].is(Opcode::setp)) return false;
  const Instruction& comparison = function_.body[at];
  const bool is_equal = comparison.has(Word::eq);
  if ((!is_equal && !comparison.has(Word::ne)) || comparison.operands.size() != 3) return false;
  bool has_answer = false;
  for (std::size_t k = 1; k < 3; ++k) {
    const Operand& operand = comparison.operands[k];
    const auto id = data_.find(operand.name);
    if (definitions_.of(operand.name) == atomic && !has_answer) {
      has_answer = true;
    } else if (id ? identity_.of(*id) != 0 : operand.kind != Operand::Kind::integer) {
      return false;
    }
  }
  const bool comes_if_true = is_equal != guard.negated;
  if (!is_branch(function_.body[i])) return has_answer && comes_if_true;
  // The other way has to lead to where both meet at once.
  const std::size_t next = graph_.block_of[i] + 1;
  const auto& decided = regions_.of(i);
  for (const std::size_t successor : graph_.blocks[graph_.block_of[i]].successors) {
    const bool is_taken = successor != next;
    const bool is_decided = std::find(decided.begin(), decided.end(), successor) != decided.end();
    if (is_decided && is_taken != comes_if_true) return false;
  }
  return has_answer;
}

void Winners::note(std::size_t i, Who who, Won& won) const {
  const std::vector<bool> region = region_of(i);
  const Identity::Bits bits =
      who == Who::a_block ? Identity::block : Identity::thread | Identity::block;
  // A block that went by its ticket alone has what any other would have with that ticket.
  for (const RegisterId id : left_by(i)) {
    if (who == Who::anybody || (identity_.of(id) & bits) != 0) won.registers.push_back(id);
  }
  const std::vector<bool> again = decided_again(region, i, bits);
  for (std::size_t k = 0; k < region.size(); ++k) {
    if (!region[k]) continue;
    const Identity::Bits place = identity_.of(accesses_[k].address) & bits;
    const Identity::Bits value = identity_.of(accesses_[k].values) & bits;
    const bool is_elsewhere = who == Who::a_block && place != 0;
    won.accesses[k] = won.accesses[k] || who == Who::anybody || again[k] || is_elsewhere;
    won.contents[k] = won.contents[k] || place != 0 || value != 0;
  }
}

/// The instructions that branches within the region decide by who has come there.
std::vector<bool> Winners::decided_again(const std::vector<bool>& region, std::size_t outer,
                                         Identity::Bits bits) const {
  std::vector<bool> all(region.size(), false);
  for (std::size_t i = 0; i < region.size(); ++i) {
    if (!region[i] || i == outer || !function_.body[i].guard) continue;
    const auto id = data_.find(function_.body[i].guard->predicate);
    if (id && (identity_.of(*id) & bits) != 0) add(region_of(i), all);
  }
  return all;
}

}  // namespace warpmeter::model::ptx
