// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/followed.h"

namespace warpmeter::model::sass {
namespace {

constexpr std::uint16_t predicates_to_register = 0x803, register_to_predicates = 0x804;
constexpr std::uint16_t exit_number = 0x94d, redux = 0x3c4, plop3 = 0x81c;
constexpr std::uint16_t isetp = 0x00c, iadd3 = 0x010;  // the lower bits

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
  const std::size_t count = step.count_results();
  for (std::size_t i = 0; i < count && step.instruction.result + i < no_register; ++i) {
    values_.registers[step.instruction.result + i] = follows;
  }
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

void Followed::hand_on(std::size_t at) {
  const Instruction& instruction = steps_[at].instruction;
  const bool calls = instruction.jump == Jump::call, is_out = leads_out(steps_[at]);
  const bool returns = calls && goes_outside(steps_[at]) && !is_out;
  const bool may_go_anywhere = (calls && !returns && !is_out) || instruction.jump == Jump::indirect;
  for (std::size_t i = first_; may_go_anywhere && i <= last_; ++i) join(i);
  const bool goes_on = instruction.jump == Jump::none || instruction.is_guarded || returns;
  if (goes_on && at < last_) join(at + 1);
  if (instruction.jump == Jump::branch && !is_out) {
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
