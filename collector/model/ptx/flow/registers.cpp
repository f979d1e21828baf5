// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/registers.h"

#include <algorithm>

#include "collector/model/ptx/scopes.h"

namespace warpmeter::model::ptx {
namespace {

Width width_of(Type type) {
  const unsigned bits = info_of(type).bits;
  if (bits == 1) return Width::predicate;
  if (bits <= 32) return Width::word;
  return bits <= 64 ? Width::pair : Width::quad;
}

}  // namespace

class DataFlowBuilder {
 public:
  DataFlowBuilder(const Function& function, DataFlow& data) : data_(data) {
    for (const RegisterDeclaration& declaration : function.registers) {
      (declaration.count == 0 ? singles_ : ranges_).emplace(declaration.name, &declaration);
    }
    data.ranges_.reserve(function.body.size());
    for (const Instruction& instruction : function.body) add(instruction);
  }

 private:
  void add(const Instruction& instruction) {
    reads_.clear();
    writes_.clear();
    if (instruction.guard) note(instruction.guard->predicate, reads_);
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      const bool is_written = i == 0 && instruction.row().effects.writes_first;
      note(instruction.operands[i], is_written ? writes_ : reads_);
    }
    const bool keeps = instruction.guard || instruction.row().effects.reads_first;
    if (keeps) reads_.insert(reads_.end(), writes_.begin(), writes_.end());
    DataFlow::Ranges ranges;
    ranges.reads = append(reads_);
    ranges.writes = append(writes_);
    ranges.end = data_.uses_.size();
    data_.ranges_.push_back(ranges);
  }

  void note(const Operand& operand, std::vector<RegisterId>& uses) {
    // An address is read even where it stands first, and so is what it adds to.
    if (operand.kind == Operand::Kind::address) {
      for (const Operand& coordinate : operand.parts) note(coordinate, reads_);
      return note(operand.address.base, reads_);
    }
    if (operand.kind == Operand::Kind::name) return note(operand.name, uses);
    for (const Operand& part : operand.parts) note(part, uses);
  }

  void note(std::string_view name, std::vector<RegisterId>& uses) {
    const auto known = data_.ids_.find(name);
    if (known != data_.ids_.end()) {
      uses.push_back(known->second);
      return;
    }
    const Type type = type_of(name);
    if (type == Type::none) return;
    const auto id = static_cast<RegisterId>(data_.registers_.size());
    data_.ids_.emplace(name, id);
    data_.registers_.push_back({name, type, width_of(type)});
    uses.push_back(id);
  }

  /// Type::none for what is no register.
  Type type_of(std::string_view name) const {
    const auto single = singles_.find(name);
    if (single != singles_.end()) return single->second->type;
    for (std::size_t i = first_split(name); i < name.size(); ++i) {
      const auto range = ranges_.find(name.substr(0, i));
      if (range != ranges_.end() && is_member(name.substr(i), range->second->count)) {
        return range->second->type;
      }
    }
    return Type::none;
  }

  std::size_t append(std::vector<RegisterId>& uses) {
    std::sort(uses.begin(), uses.end());
    uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
    const std::size_t begin = data_.uses_.size();
    data_.uses_.insert(data_.uses_.end(), uses.begin(), uses.end());
    return begin;
  }

  DataFlow& data_;
  std::unordered_map<std::string_view, const RegisterDeclaration*> singles_, ranges_;
  std::vector<RegisterId> reads_, writes_;
};

std::optional<RegisterId> DataFlow::find(std::string_view name) const {
  const auto found = ids_.find(name);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::span<const RegisterId> DataFlow::reads(std::size_t instruction) const {
  const Ranges& at = ranges_[instruction];
  return std::span(uses_).subspan(at.reads, at.writes - at.reads);
}

std::span<const RegisterId> DataFlow::writes(std::size_t instruction) const {
  const Ranges& at = ranges_[instruction];
  return std::span(uses_).subspan(at.writes, at.end - at.writes);
}

DataFlow data_flow(const Function& function) {
  DataFlow data;
  const DataFlowBuilder filled(function, data);
  return data;
}

}  // namespace warpmeter::model::ptx
