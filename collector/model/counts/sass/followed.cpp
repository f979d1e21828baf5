// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/followed.h"

#include <algorithm>

namespace warpmeter::model::sass {
namespace {

constexpr std::uint16_t predicates_to_register = 0x803, register_to_predicates = 0x804;
constexpr std::uint16_t exit_number = 0x94d, redux = 0x3c4, plop3 = 0x81c;
constexpr std::uint16_t isetp = 0x00c, iadd3 = 0x010;  // the lower bits

template <typename Visit>
void for_each_result(const Step& step, const Visit& visit) {
  const std::size_t first = step.instruction.result;
  const std::size_t end = std::min<std::size_t>(first + step.count_results(), no_register);
  for (std::size_t result = first; result < end; ++result) visit(result);
}

}  // namespace

bool Followed::decides(const std::function<bool(const Step&)>& is_polled) {
  do {
    has_grown_ = false;
    for (std::size_t i = first_; i <= last_; ++i) {
      const Step& step = steps_[i];
      values_ = before_[i - first_];
      const bool follows = depends(step);
      if (is_polled(step)) {
        set_result(step, true);
      } else if (!follows) {
        forget_result(step);
      }
      if (follows) follow(step);
      if (is_found_) return true;
      hand_on(i);
    }
  } while (has_grown_);
  return parts_ && has_way_out();
}

bool Followed::goes_outside(const Step& step) const {
  const auto target = static_cast<std::uint64_t>(step.instruction.target) / instruction_bytes;
  return step.instruction.target >= 0 && (target < first_ || target > last_);
}

bool Followed::ends_kernel(std::uint64_t at) const {
  for (std::size_t seen = 0; at < steps_.size() && seen < steps_.size(); ++seen) {
    const Step& step = steps_[at++];
    if (step.instruction.is_guarded) continue;
    if (step.instruction.jump == Jump::end) return step.number == exit_number;
    if (step.instruction.jump == Jump::indirect) return false;
    if (step.instruction.jump != Jump::branch) continue;
    if (step.instruction.target < 0) return false;
    at = static_cast<std::uint64_t>(step.instruction.target) / instruction_bytes;
  }
  return false;
}

bool Followed::leads_out(const Step& step) const {
  const std::int64_t target = step.instruction.target;
  switch (step.instruction.jump) {
    case Jump::end:
      return true;
    case Jump::branch:
      return target < 0 || goes_outside(step);
    case Jump::call:
      return goes_outside(step) &&
             ends_kernel(static_cast<std::uint64_t>(target) / instruction_bytes);
    default:
      return false;
  }
}

bool Followed::has_way_out() const {
  for (std::size_t i = first_; i < last_; ++i) {
    if (leads_out(steps_[i]) && !steps_[i].instruction.is_guarded) return true;
  }
  return false;
}

bool Followed::depends(const Step& step) const {
  const Instruction& instruction = step.instruction;
  const Fields& fields = step.fields;
  const std::uint64_t high = step.word.high;
  if (step.is_of_the_warp()) return false;
  if (has_predicate(instruction.guard)) return true;
  if (fields.predicate && has_predicate(high >> 23)) return true;
  if (instruction.elects_lane && step.number != redux) return false;  // reads predicates alone
  const bool is_shared_load =
      instruction.access == AccessKind::load && instruction.space == AddressSpace::shared;
  if (is_shared_load && through_shared_) return true;
  if (instruction.is_local && !instruction.is_local_store && through_local_) return true;
  if (step.number == predicates_to_register && values_.predicates.any()) return true;
  if (fields.number == isetp && has_predicate(high >> 4)) return true;   // ISETP.EX
  if (fields.number == iadd3 && has_predicate(high >> 13)) return true;  // IADD3.X's second carry
  if (step.number == plop3 && (has_predicate(high >> 13) || has_predicate(high >> 4))) return true;
  return (fields.base && has_register(instruction.base)) || has_register(instruction.second) ||
         (fields.third && has_register(instruction.third));
}

void Followed::set_result(const Step& step, bool follows) {
  for_each_result(step, [&](std::size_t result) { values_.registers[result] = follows; });
}

void Followed::set_predicates(const Step& step, bool follow) {
  const std::uint64_t high = step.word.high;
  if (step.fields.predicates >= 1) values_.predicates[high >> 17 & 7] = follow;
  if (step.fields.predicates >= 2) values_.predicates[high >> 20 & 7] = follow;
}

void Followed::forget_result(const Step& step) {
  if (step.instruction.is_guarded) return;
  if (step.fields.overwrites) set_result(step, false);
  set_predicates(step, false);
}

void Followed::follow(const Step& step) {
  const Instruction& instruction = step.instruction;
  if (instruction.jump == Jump::branch || leads_out(step)) {
    const auto at = static_cast<std::size_t>(&step - steps_.data());
    const bool is_decided = has_predicate(instruction.guard) || has_predicate(step.word.high >> 23);
    if (is_decided && (at == last_ || leads_out(step))) is_found_ = true;
    if (is_decided) parts_ = true;
    return;
  }
  if (step.goes_to_the_warp()) is_found_ = true;
  if (step.number == register_to_predicates) values_.predicates.set();
  if (instruction.is_local_store) {
    has_grown_ |= !through_local_;
    through_local_ = true;
    return;
  }
  if (instruction.access == AccessKind::store || instruction.access == AccessKind::reduction) {
    const bool is_new = !through_shared_ && instruction.space == AddressSpace::shared;
    through_shared_ |= is_new;
    has_grown_ |= is_new;
    return;
  }
  set_result(step, true);
  set_predicates(step, true);
}

std::bitset<256> Followed::written_by(std::int64_t function) const {
  const std::bitset<256> all = std::bitset<256>().set();
  std::bitset<256> written;
  std::vector<bool> is_seen(steps_.size());
  std::vector<std::int64_t> begins{function};
  while (!begins.empty()) {
    const std::int64_t begin = begins.back();
    begins.pop_back();
    if (begin < 0) return all;
    for (auto i = static_cast<std::uint64_t>(begin) / instruction_bytes;
         i < steps_.size() && !is_seen[i]; ++i) {
      const Step& step = steps_[i];
      const Instruction& instruction = step.instruction;
      is_seen[i] = true;
      for_each_result(step, [&](std::size_t result) { written.set(result); });
      if (instruction.jump == Jump::indirect) return all;
      if (instruction.jump == Jump::branch || instruction.jump == Jump::call) {
        begins.push_back(instruction.target);
      }
      const bool goes_on = instruction.jump == Jump::none || instruction.jump == Jump::call;
      if (!goes_on && !instruction.is_guarded) break;
    }
  }
  return written;
}

void Followed::hand_on(std::size_t at) {
  const Step& step = steps_[at];
  const Instruction& instruction = step.instruction;
  const bool returns = instruction.jump == Jump::call && goes_outside(step);
  const bool may_go_anywhere =
      (instruction.jump == Jump::call && !returns) || instruction.jump == Jump::indirect;
  for (std::size_t i = first_; may_go_anywhere && i <= last_; ++i) join(i);
  const bool goes_on = instruction.jump == Jump::none || instruction.is_guarded || returns;
  // The results of a function may follow from any value that it can read.
  if (instruction.jump == Jump::call && !leads_out(step) && values_.registers.any()) {
    values_.registers |= written_by(instruction.target);
  }
  if (goes_on && at < last_) join(at + 1);
  if (instruction.jump == Jump::branch && !leads_out(step)) {
    join(static_cast<std::size_t>(instruction.target) / instruction_bytes);
  }
}

void Followed::join(std::size_t to) {
  Values& there = before_[to - first_];
  const Values both{there.registers | values_.registers, there.predicates | values_.predicates};
  has_grown_ |= both.registers != there.registers || both.predicates != there.predicates;
  there = both;
}

}  // namespace warpmeter::model::sass
