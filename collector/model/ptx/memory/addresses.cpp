// SPDX-License-Identifier: MIT
// Every register's value is kept as a sum: a constant, and terms with a factor each. A term is a
// variable's address, or what a register holds that no rule here takes apart.
#include "collector/model/ptx/memory/addresses.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "collector/model/ptx/row.h"

namespace warpmeter::model::ptx {
namespace {

using Term = std::pair<std::uint32_t, std::uint64_t>;  ///< number, factor

struct Sum {
  std::vector<Term> terms;  ///< in the order of numbers, no factor zero
  std::uint64_t constant = 0;
  bool is_lasting = true;
};

/// More terms than an address has; past it a register is a term of its own.
constexpr std::size_t most_terms = 8;

Sum add(const Sum& a, const Sum& b, std::uint64_t factor) {
  Sum sum{{}, a.constant + factor * b.constant, a.is_lasting && b.is_lasting};
  auto left = a.terms.begin(), right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    Term term;
    if (right == b.terms.end() || (left != a.terms.end() && left->first < right->first)) {
      term = *left++;
    } else if (left == a.terms.end() || right->first < left->first) {
      term = {right->first, factor * right->second};
      ++right;
    } else {
      term = {left->first, left->second + factor * right->second};
      ++left;
      ++right;
    }
    if (term.second != 0) sum.terms.push_back(term);
  }
  return sum;
}

class Sums {
 public:
  Sums(const Function& function, const DataFlow& data) : function_(function), data_(data) {
    writes_.resize(data.registers().size());
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      for (const RegisterId id : data.writes(i)) ++writes_[id];
    }
  }

  void start_block() { in_block_.clear(); }

  RelativeAddress relative(const Address& address) {
    const Sum sum = address.base.empty() ? Sum{} : value_of(address.base);
    RelativeAddress result{number(roots_, sum.terms),
                           static_cast<std::int64_t>(sum.constant) + address.offset,
                           sum.is_lasting};
    std::vector<Term> common;
    for (const Term& term : sum.terms) {
      if (common_.contains(term.first)) {
        common.push_back(term);
      } else {
        result.step = std::gcd(result.step, term.second);
      }
    }
    result.start = number(starts_, common);
    return result;
  }

  void execute(std::size_t index) {
    const std::span<const RegisterId> written = data_.writes(index);
    std::optional<Sum> sum;
    const Instruction& instruction = function_.body[index];
    if (written.size() == 1 && !instruction.guard) {
      sum = result(instruction);
      if (!sum && writes_[written[0]] == 1) sum = parameter(instruction);
    }
    for (const RegisterId id : written) {
      const bool is_single = writes_[id] == 1;
      Sum value = sum && sum->terms.size() <= most_terms ? *sum : fresh(is_single);
      (is_single ? everywhere_ : in_block_)[id] = std::move(value);
    }
  }

 private:
  using Numbers = std::map<std::vector<Term>, std::uint32_t>;

  static std::uint32_t number(Numbers& numbers, const std::vector<Term>& terms) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    return numbers.emplace(terms, next).first->second;
  }

  /// The value that all threads of a launch load alike.
  std::optional<Sum> parameter(const Instruction& instruction) {
    const bool is_load = instruction.opcode == Opcode::ld && instruction.space == Space::param;
    if (!function_.is_entry || !is_load || instruction.operands.size() != 2) return std::nullopt;
    const Address& address = instruction.operands[1].address;
    if (data_.find(address.base)) return std::nullopt;
    const auto [term, is_new] =
        parameters_.emplace(std::pair(address.base, address.offset), next_term_);
    if (is_new) common_.insert(next_term_++);
    return Sum{{{term->second, 1}}, 0, true};
  }

  Sum fresh(bool is_lasting) { return {{{next_term_++, 1}}, 0, is_lasting}; }

  Sum value_of(std::string_view name) {
    const auto id = data_.find(name);
    if (!id) {
      const auto [term, is_new] = names_.emplace(name, next_term_);
      if (is_new && !name.starts_with('%')) common_.insert(next_term_);  // no special register
      if (is_new) ++next_term_;
      return {{{term->second, 1}}, 0, true};
    }
    auto& values = writes_[*id] <= 1 ? everywhere_ : in_block_;
    const auto known = values.find(*id);
    if (known != values.end()) return known->second;
    return values.emplace(*id, fresh(writes_[*id] <= 1)).first->second;
  }

  std::optional<Sum> value_of(const Operand& operand) {
    if (operand.kind == Operand::Kind::integer) return Sum{{}, operand.bits, true};
    if (operand.kind == Operand::Kind::name && !operand.negated) {
      if (operand.address.base.empty()) return value_of(operand.name);
      Sum sum = value_of(operand.address.base);
      sum.constant += static_cast<std::uint64_t>(operand.address.offset);
      return sum;
    }
    return std::nullopt;
  }

  static Sum scaled(const Sum& sum, std::uint64_t factor) { return add({}, sum, factor); }

  /// The product, where one side is a constant.
  std::optional<Sum> product(const Operand& a, const Operand& b) {
    if (b.kind == Operand::Kind::integer) {
      const auto value = value_of(a);
      return value ? std::optional(scaled(*value, b.bits)) : std::nullopt;
    }
    if (a.kind == Operand::Kind::integer) return product(b, a);
    return std::nullopt;
  }

  std::optional<Sum> result(const Instruction& instruction) {
    const auto& operands = instruction.operands;
    const Opcode opcode = instruction.opcode;
    const auto has = [&](Word word) { return instruction.has(word); };
    if (operands.size() < 2 || !info_of(instruction.last_type()).is_integer()) return std::nullopt;
    if (opcode == Opcode::mov && operands.size() == 2) return value_of(operands[1]);
    if (opcode == Opcode::cvta && has(Word::global)) return value_of(operands[1]);
    if (opcode == Opcode::cvt && (has(Word::s64) || has(Word::u64)) &&
        (has(Word::s32) || has(Word::u32))) {
      return value_of(operands[1]);
    }
    if (operands.size() == 3) {
      if (opcode == Opcode::add || opcode == Opcode::sub) {
        const auto a = value_of(operands[1]), b = value_of(operands[2]);
        if (!a || !b) return std::nullopt;
        return add(*a, *b, opcode == Opcode::add ? 1 : ~std::uint64_t{0});
      }
      if (opcode == Opcode::shl && operands[2].kind == Operand::Kind::integer &&
          operands[2].bits < 32) {
        const auto a = value_of(operands[1]);
        return a ? std::optional(scaled(*a, std::uint64_t{1} << operands[2].bits)) : std::nullopt;
      }
      if (opcode == Opcode::mul && !has(Word::hi)) return product(operands[1], operands[2]);
    }
    if (operands.size() == 4 && opcode == Opcode::mad && !has(Word::hi)) {
      const auto a = product(operands[1], operands[2]), b = value_of(operands[3]);
      if (a && b) return add(*a, *b, 1);
    }
    return std::nullopt;
  }

  const Function& function_;
  const DataFlow& data_;
  std::vector<std::uint32_t> writes_;  ///< how many instructions write each register
  std::unordered_map<RegisterId, Sum> everywhere_, in_block_;
  std::unordered_map<std::string_view, std::uint32_t> names_;
  std::map<std::pair<std::string_view, std::int64_t>, std::uint32_t> parameters_;
  std::set<std::uint32_t> common_;  ///< terms that all threads of a launch have alike
  Numbers roots_, starts_;
  std::uint32_t next_term_ = 0;
};

}  // namespace

std::vector<std::optional<RelativeAddress>> relative_addresses(const Function& function,
                                                               const ControlFlow& graph,
                                                               const DataFlow& data) {
  std::vector<std::optional<RelativeAddress>> result(function.body.size());
  Sums sums(function, data);
  for (const std::size_t block : graph.order) {
    sums.start_block();
    for (std::size_t i = graph.blocks[block].first; i < graph.blocks[block].end; ++i) {
      const Instruction& instruction = function.body[i];
      const auto position = address_position(instruction);
      if (position && *position < instruction.operands.size()) {
        result[i] = sums.relative(instruction.operands[*position].address);
      }
      sums.execute(i);
    }
  }
  return result;
}

}  // namespace warpmeter::model::ptx
