// SPDX-License-Identifier: MIT
#include "collector/model/ptx/parse/contraction.h"

#include <algorithm>
#include <optional>

#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/flow/registers.h"

namespace warpmeter::model::ptx {
namespace {

constexpr std::size_t none = nowhere;

/// Nothing is known of f32x2.
bool is_float(Type type) {
  const Kind kind = info_of(type).kind;
  return (kind == Kind::f || kind == Kind::bf) && type != Type::f32x2;
}
/// A float instruction of two sources whose words beside the type are among these.
bool has_only(const Instruction& instruction, std::initializer_list<Word> allowed) {
  for (const Word word : instruction.words) {
    const bool is_type = type_of(word) != Type::none;
    if (!is_type && std::find(allowed.begin(), allowed.end(), word) == allowed.end()) return false;
  }
  return instruction.is_form && instruction.operands.size() == 3 &&
         is_float(instruction.last_type());
}
bool is_product(const Instruction& instruction) {
  if (instruction.guard) return false;
  if (instruction.is(Opcode::mul)) return has_only(instruction, {Word::ftz});
  return instruction.is(Opcode::div) &&
         has_only(instruction, {Word::ftz, Word::approx, Word::full});
}
bool is_sum(const Instruction& instruction) {
  return (instruction.is(Opcode::add) || instruction.is(Opcode::sub)) &&
         has_only(instruction, {Word::ftz, Word::sat});
}

/// True if ptxas has several blocks of machine code in its place, or none that crosses it.
bool ends_block(const Instruction& instruction) {
  // Under a guard these become predicated instructions, all others a branch.
  if (instruction.guard && !computes(instruction.row())) return true;
  const Type type = instruction.last_type();
  const TypeInfo& info = info_of(type);
  switch (instruction.opcode) {
    case Opcode::call:
    case Opcode::pmevent:
    case Opcode::brkpt:
      return true;
    case Opcode::membar:
      return !instruction.has(Word::proxy);
    case Opcode::fence:
      return instruction.has(Word::sc) || instruction.has(Word::acq_rel);
    case Opcode::griddepcontrol:
      return instruction.has(Word::launch_dependents);
    case Opcode::div:
    case Opcode::rem:
      // Among integers only u32 has no branch.
      return info.is_float() ? !instruction.has(Word::approx) && !instruction.has(Word::full)
                             : type != Type::u32;
    case Opcode::rcp:
    case Opcode::sqrt:
      return !instruction.has(Word::approx);
    case Opcode::rsqrt:
      return type == Type::f64 && !instruction.has(Word::ftz);
    case Opcode::bfind:
      return info.bits == 64;
    default:
      return false;
  }
}

class Contractor {
 public:
  Contractor(Function& function, const ControlFlow& graph)
      : body_(function.body),
        graph_(graph),
        data_(data_flow(function)),
        is_entry_(function.is_entry),
        taken_(body_.size(), none),
        group_(body_.size()),
        crosses_(body_.size(), false) {
    find_groups();
    find_accesses();
    for (std::size_t i = 0; i < body_.size(); ++i) crosses_[i] = can_cross(i);
  }

  void contract() {
    for (const bool alone : {true, false}) {
      for (std::size_t sum = 0; sum < body_.size(); ++sum) {
        if (is_sum(body_[sum]) && taken_[sum] == none) take_in(sum, alone);
      }
    }
    for (std::size_t i = 0; i < body_.size(); ++i) {
      if (taken_[i] != none) rewrite(i);
    }
  }

 private:
  /// Instructions that ptxas sees in one block: blocks that follow each other without a way in or
  /// out between them are one, and what becomes several blocks of machine code ends it.
  void find_groups() {
    std::size_t groups = 0;
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
      const Block& block = graph_.blocks[b];
      const bool goes_on =
          b > 0 && block.predecessors.size() == 1 && block.predecessors[0] == b - 1 &&
          graph_.blocks[b - 1].successors.size() == 1 && !graph_.blocks[b - 1].leaves;
      if (!goes_on) ++groups;
      for (std::size_t i = block.first; i < block.end; ++i) {
        group_[i] = groups;
        if (ends_block(body_[i])) ++groups;
      }
    }
  }
  std::size_t group(std::size_t instruction) const { return group_[instruction]; }

  void find_accesses() {
    reads_.resize(data_.registers().size());
    writes_.resize(data_.registers().size());
    for (std::size_t i = 0; i < body_.size(); ++i) {
      for (const RegisterId id : data_.reads(i)) reads_[id].push_back(i);
      for (const RegisterId id : data_.writes(i)) writes_[id].push_back(i);
    }
  }
  std::optional<RegisterId> register_of(const Operand& operand) const {
    if (operand.kind != Operand::Kind::name || operand.negated) return std::nullopt;
    return data_.find(operand.name);
  }
  /// The last of the accesses before an instruction, in its group; none: there is none.
  std::size_t last_before(const std::vector<std::size_t>& accesses, std::size_t instruction) const {
    const auto after = std::lower_bound(accesses.begin(), accesses.end(), instruction);
    if (after == accesses.begin()) return none;
    const std::size_t found = *(after - 1);
    return group(found) == group(instruction) ? found : none;
  }

  /// The only instruction that writes a register; none: there are several, or none.
  std::size_t only_write(const Operand& operand) const {
    const auto id = register_of(operand);
    return id && writes_[*id].size() == 1 ? writes_[*id][0] : none;
  }
  bool is_number(const Operand& operand) const {
    if (operand.kind == Operand::Kind::floating) return true;
    const std::size_t at = only_write(operand);
    if (at == none || body_[at].guard || !body_[at].is(Opcode::mov)) return false;
    return body_[at].operands[1].kind == Operand::Kind::floating;
  }
  /// A number of the code or a parameter of the kernel, also negated or without its sign: machine
  /// code has it as an operand wherever it is needed.
  bool is_constant(const Operand& operand, int depth = 4) const {
    if (is_number(operand)) return true;
    const std::size_t at = only_write(operand);
    if (at == none || body_[at].guard || depth == 0) return false;
    const Instruction& write = body_[at];
    if (write.is(Opcode::ld)) return is_entry_ && write.space == Space::param;
    const bool passes_on = write.is(Opcode::mov) || write.is(Opcode::neg) || write.is(Opcode::abs);
    return passes_on && is_constant(write.operands[1], depth - 1);
  }
  /// Numbers are multiplied when the code is compiled.
  bool is_of_numbers(std::size_t product) const {
    return is_number(body_[product].operands[1]) && is_number(body_[product].operands[2]);
  }
  /// True if ptxas makes the product where it is needed, in whichever block that is.
  bool can_cross(std::size_t product) const {
    const Instruction& instruction = body_[product];
    if (!is_product(instruction) || only_write(instruction.operands[0]) != product) return false;
    const bool is_cheap = instruction.is(Opcode::mul) ? is_constant(instruction.operands[1]) ||
                                                            is_constant(instruction.operands[2])
                                                      : is_number(instruction.operands[2]);
    const auto factors = data_.reads(product);
    return is_cheap && std::all_of(factors.begin(), factors.end(),
                                   [&](RegisterId factor) { return writes_[factor].size() <= 1; });
  }
  /// True if every way to the second instruction leads over the first.
  bool comes_always_before(std::size_t first, std::size_t second) {
    const std::size_t from = graph_.block_of[first], to = graph_.block_of[second];
    if (from == to) return first < second;
    if (from == 0) return true;
    if (passed_by_ != from) {
      passed_by_ = from;
      is_passed_.assign(graph_.blocks.size(), false);
      std::vector<std::size_t> open = {0};
      is_passed_[0] = true;
      while (!open.empty()) {
        const std::size_t number = open.back();
        open.pop_back();
        for (const std::size_t next : graph_.blocks[number].successors) {
          if (next == from || is_passed_[next]) continue;
          is_passed_[next] = true;
          open.push_back(next);
        }
      }
    }
    return !is_passed_[to];
  }

  /// The product that operand 1 or 2 of a sum is.
  std::size_t product_of(std::size_t sum, std::size_t operand) {
    const auto id = register_of(body_[sum].operands[operand]);
    if (!id || register_of(body_[sum].operands[3 - operand]) == id) return none;
    // Under a guard some lanes keep the product itself.
    if (body_[sum].guard && register_of(body_[sum].operands[0]) == id) return none;
    std::size_t product = last_before(writes_[*id], sum);
    if (product == none && writes_[*id].size() == 1 && crosses_[writes_[*id][0]] &&
        comes_always_before(writes_[*id][0], sum)) {
      product = writes_[*id][0];
    }
    if (product == none || !is_product(body_[product]) || is_of_numbers(product)) return none;
    if (register_of(body_[product].operands[0]) != id) return none;
    const Instruction &a = body_[product], &b = body_[sum];
    const bool agree = a.last_type() == b.last_type() && a.has(Word::ftz) == b.has(Word::ftz);
    return agree && keeps_factors(product, sum) ? product : none;
  }
  bool keeps_factors(std::size_t product, std::size_t sum) const {
    for (const RegisterId factor : data_.reads(product)) {
      const std::size_t written = last_before(writes_[factor], sum);
      if (written != none && written >= product) return false;
    }
    return true;
  }
  /// The readers of a product; nothing where something outside of its group may.
  std::optional<std::vector<std::size_t>> readers(std::size_t product) const {
    const RegisterId id = *register_of(body_[product].operands[0]);
    if (crosses_[product]) return reads_[id];
    const auto& writes = writes_[id];
    const auto next = std::upper_bound(writes.begin(), writes.end(), product);
    const bool is_overwritten =
        next != writes.end() && group(*next) == group(product) && !body_[*next].guard;
    std::vector<std::size_t> found;
    for (const std::size_t reader : reads_[id]) {
      const bool is_within = reader > product && group(reader) == group(product);
      if (is_overwritten && (!is_within || reader > *next)) continue;
      if (!is_within) return std::nullopt;
      found.push_back(reader);
    }
    return found;
  }
  /// True if all that reads the product are sums that take it in, or can.
  bool can_be_taken_in(std::size_t product, bool alone) {
    const auto found = readers(product);
    if (!found || (alone && found->size() != 1)) return false;
    return std::all_of(found->begin(), found->end(), [&](std::size_t reader) {
      if (taken_[reader] != none) return taken_[reader] == product;
      return is_sum(body_[reader]) &&
             (product_of(reader, 1) == product || product_of(reader, 2) == product);
    });
  }
  void take_in(std::size_t sum, bool alone) {
    for (const std::size_t operand : {1u, 2u}) {
      const std::size_t product = product_of(sum, operand);
      if (product == none || !can_be_taken_in(product, alone)) continue;
      taken_[sum] = product;
      return;
    }
  }

  /// All that reads it takes it in.
  bool is_read_no_more(std::size_t product) const {
    const auto found = readers(product);
    return found && std::all_of(found->begin(), found->end(),
                                [&](std::size_t reader) { return taken_[reader] == product; });
  }
  void rewrite(std::size_t index) {
    Instruction& sum = body_[index];
    Instruction& product = body_[taken_[index]];
    const bool is_first = product_of(index, 1) == taken_[index];
    const Operand other = sum.operands[is_first ? 2 : 1];
    sum.contraction = sum.is(Opcode::add) ? Contraction::adds
                      : is_first          ? Contraction::subtracts
                                          : Contraction::is_subtracted;
    sum.product = product.is(Opcode::mul)     ? Product::mul
                  : product.has(Word::approx) ? Product::div_approx
                                              : Product::div_full;
    sum.operands = {sum.operands[0], product.operands[1], product.operands[2], other};
    product.is_taken_in = is_read_no_more(taken_[index]);
  }

  std::vector<Instruction>& body_;
  const ControlFlow& graph_;
  const DataFlow data_;
  const bool is_entry_;
  std::vector<std::size_t> taken_;  ///< by each sum: the product
  std::vector<std::size_t> group_;  ///< the group of each instruction
  std::vector<bool>
      crosses_;  ///< the crosses of each instruction: a product that other groups take in
  std::size_t passed_by_ = none;  ///< a block, around which there are ways to others:
  std::vector<bool> is_passed_;
  std::vector<std::vector<std::size_t>> reads_,
      writes_;  ///< the writes of each register: instructions, ascending
};

}  // namespace

void contract(Function& function) {
  const bool may_contract = std::any_of(function.body.begin(), function.body.end(), is_product) &&
                            std::any_of(function.body.begin(), function.body.end(), is_sum);
  if (!may_contract) return;
  const auto graph = control_flow(function);
  if (const auto* known = std::get_if<ControlFlow>(&graph)) Contractor(function, *known).contract();
}

}  // namespace warpmeter::model::ptx
