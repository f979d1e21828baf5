// SPDX-License-Identifier: MIT
#include "collector/model/counts/steps/lanes.h"

#include <algorithm>

namespace warpmeter::model::steps {
void WarpRegisters::begin(const Dim3& block_size, const Dim3& block, unsigned number) {
  known_.fill(0);
  known_predicates_.fill(0);
  local_.clear();
  block_size_ = block_size;
  block_ = block;
  first_thread_ = number * 32;
}

std::optional<std::uint32_t> WarpRegisters::value(unsigned number, unsigned lane) const {
  if (number == 255) return 0;
  if ((known_[number] >> lane & 1) == 0) return std::nullopt;
  return rows_[number][lane];
}

WarpRegisters::Split WarpRegisters::lanes_of(const Predicate& predicate) const {
  Split result{all_lanes, 0};
  if (predicate.number < 7) {
    const unsigned at = (predicate.is_uniform ? 8U : 0U) + predicate.number;
    result = {predicates_[at] & known_predicates_[at], ~known_predicates_[at]};
  }
  if (predicate.is_negated) result.holds = ~result.holds & ~result.unknown;
  return result;
}

WarpRegisters::Split WarpRegisters::split(const Predicate& predicate, Lanes active) const {
  const Split lanes = lanes_of(predicate);
  return {lanes.holds & active, lanes.unknown & active};
}

WarpRegisters::Split WarpRegisters::split(const Operation& operation, Lanes active) const {
  Split result{active, 0};
  for (const Predicate* predicate : {&operation.guard, &operation.input, &operation.second_input}) {
    const Split one = lanes_of(*predicate);
    const Lanes fails = ~one.holds & ~one.unknown;
    result.unknown = (result.unknown | (one.unknown & result.holds)) & ~fails;
    result.holds &= one.holds;
  }
  return result;
}

WarpRegisters::Fetched WarpRegisters::fetch(const Operand& operand, unsigned next) const {
  Fetched result;
  if (operand.form == Operand::Form::none || operand.is_zero()) {
    result.values.fill(0);
    result.known = all_lanes;
    return result;
  }
  if (operand.is_register()) {
    const unsigned at = place(operand.form == Operand::Form::uniform, operand.number + next);
    result.values = rows_[at];
    result.known = known_[at];
    return result;
  }
  std::optional<std::uint32_t> value = operand.value;
  if (operand.form == Operand::Form::constant) {
    value = surroundings_.constant(operand.number, operand.value + 4 * next);
  }
  result.values.fill(value.value_or(0));
  result.known = value ? all_lanes : 0;
  return result;
}

void WarpRegisters::write(const Operation& operation, unsigned next, const Row& values,
                          Lanes active, Lanes known) {
  if (!operation.writes_registers()) return;
  const unsigned limit = operation.is_uniform ? 63 : 255;
  if (operation.result + next >= limit) return;
  const unsigned at = place(operation.is_uniform, operation.result + next);
  if (operation.is_uniform) {
    if (active == 0) return;
    const auto lane = static_cast<unsigned>(std::countr_zero(active));
    rows_[at].fill(values[lane]);
    known_[at] = (known >> lane & 1) != 0 ? all_lanes : 0;
    return;
  }
  Row& row = rows_[at];
  for (unsigned lane = 0; lane < 32; ++lane) {
    row[lane] = (active >> lane & 1) != 0 ? values[lane] : row[lane];
  }
  known_[at] = (known_[at] & ~active) | (active & known);
}

void WarpRegisters::write(const Predicate& predicate, Lanes values, Lanes active, Lanes known) {
  if (predicate.number == 7) return;
  const unsigned at = (predicate.is_uniform ? 8U : 0U) + predicate.number;
  if (predicate.is_uniform && active != 0) {
    const auto lane = static_cast<unsigned>(std::countr_zero(active));
    values = (values >> lane & 1) != 0 ? all_lanes : 0;
    known = (known >> lane & 1) != 0 ? all_lanes : 0;
    active = all_lanes;
  }
  predicates_[at] = (predicates_[at] & ~active) | (values & active);
  known_predicates_[at] = (known_predicates_[at] & ~active) | (active & known);
}

/// The result of a comparison and its opposite, joined with the predicate that is its input.
void WarpRegisters::write_joined(const Operation& operation, Lanes holds, Lanes known,
                                 Lanes active) {
  const Split input = lanes_of(operation.input);
  known &= ~input.unknown;
  const auto join = [&](Lanes values) {
    return operation.mode == 0   ? values & input.holds
           : operation.mode == 1 ? values | input.holds
                                 : values ^ input.holds;
  };
  // One that decides by itself needs no other.
  Lanes decided = known;
  if (operation.mode == 0) decided |= ~input.holds & ~input.unknown;
  if (operation.mode == 1) decided |= input.holds;
  write(operation.results[0], join(holds), active, decided);
  write(operation.results[1], join(~holds), active, decided);
}

void WarpRegisters::forget(const Operation& operation, Lanes active) {
  if (active == 0) return;
  if (operation.writes_local || operation.writes_anything) forget_local(active);
  if (operation.writes_anything) {
    for (unsigned i = 0; i < known_.size(); ++i) known_[i] &= i < first_uniform ? ~active : 0;
    for (unsigned i = 0; i < known_predicates_.size(); ++i) {
      known_predicates_[i] &= i < 8 ? ~active : 0;
    }
    return;
  }
  const Row nothing = {};
  for (unsigned i = 0; i < operation.result_registers; ++i) {
    write(operation, i, nothing, active, 0);
  }
  for (const Predicate& predicate : operation.results) write(predicate, 0, active, 0);
  if (operation.kind == Kind::register_to_predicates) {
    for (std::uint8_t i = 0; i < 7; ++i) write(Predicate{i}, 0, active, 0);
  }
}

void WarpRegisters::execute(const Operation& operation, Lanes active) {
  const Split guard = split(operation.guard, active);
  // One lane more or less of these changes what all get.
  const bool exchanges = operation.kind == Kind::vote || operation.kind == Kind::match_any ||
                         operation.kind == Kind::reduce;
  if (exchanges && guard.unknown != 0) return forget(operation, guard.holds | guard.unknown);
  if (guard.holds != 0) {
    switch (operation.kind) {
      case Kind::unknown:
        forget(operation, guard.holds);
        break;
      case Kind::add3:
        execute_add(operation, guard.holds);
        break;
      case Kind::shift_add:
        execute_shift_add(operation, guard.holds);
        break;
      case Kind::compare:
        execute_compare(operation, guard.holds);
        break;
      case Kind::predicate_logic:
        execute_predicate_logic(operation, guard.holds);
        break;
      case Kind::special:
        execute_special(operation, guard.holds);
        break;
      case Kind::constant:
        execute_constant(operation, guard.holds);
        break;
      case Kind::load:
        execute_load(operation, guard.holds);
        break;
      case Kind::local_load:
        execute_local_load(operation, guard.holds);
        break;
      case Kind::local_store:
        execute_local_store(operation, guard.holds);
        break;
      case Kind::vote:
        execute_vote(operation, guard.holds);
        break;
      case Kind::match_any:
        execute_match(operation, guard.holds);
        break;
      case Kind::reduce:
        execute_reduce(operation, guard.holds);
        break;
      case Kind::add_floats:
      case Kind::multiply_floats:
      case Kind::multiply_add_floats:
        execute_floats(operation, guard.holds);
        break;
      case Kind::select_floats:
      case Kind::minimum_floats:
        execute_choice_of_floats(operation, guard.holds);
        break;
      case Kind::special_function:
        execute_special_function(operation, guard.holds);
        break;
      case Kind::add_doubles:
      case Kind::multiply_doubles:
      case Kind::multiply_add_doubles:
        execute_doubles(operation, guard.holds);
        break;
      case Kind::compare_doubles:
        execute_compare_doubles(operation, guard.holds);
        break;
      case Kind::integer_to_float:
      case Kind::float_to_integer:
      case Kind::float_to_float:
      case Kind::float_to_whole:
        execute_conversion(operation, guard.holds);
        break;
      case Kind::compare_floats:
        execute_compare_floats(operation, guard.holds);
        break;
      case Kind::check_division:
        execute_check_division(operation, guard.holds);
        break;
      case Kind::ask_space:
        execute_ask_space(operation, guard.holds);
        break;
      case Kind::register_to_predicates:
        execute_register_to_predicates(operation, guard.holds);
        break;
      case Kind::predicates_to_register:
        execute_predicates_to_register(operation, guard.holds);
        break;
      default:
        execute_arithmetic(operation, guard.holds);
    }
  }
  forget(operation, guard.unknown);
}

void WarpRegisters::execute_special(const Operation& operation, Lanes active) {
  const std::uint64_t x = block_size_.x, y = block_size_.y;
  Lanes known = all_lanes;
  const Row result = each_lane([&](unsigned lane) -> std::uint32_t {
    const std::uint64_t thread = first_thread_ + lane;
    switch (operation.amount) {
      case 0x00:
        return lane;
      case 0x21:
        return static_cast<std::uint32_t>(thread % x);
      case 0x22:
        return static_cast<std::uint32_t>(thread / x % y);
      case 0x23:
        return static_cast<std::uint32_t>(thread / x / y);
      case 0x25:
        return block_.x;
      case 0x26:
        return block_.y;
      case 0x27:
        return block_.z;
      case 0x38:
        return Lanes{1} << lane;
      case 0x39:
        return (Lanes{1} << lane) - 1;
      case 0x3a:
        return all_lanes >> (31 - lane);
      case 0x3b:
        return ~(all_lanes >> (31 - lane));
      case 0x3c:
        return all_lanes << lane;
      case 0xff:
        return 0;
      default:
        known = 0;
        return 0;
    }
  });
  for (unsigned i = 0; i < operation.result_registers; ++i) {
    write(operation, i, result, active, known);
  }
}

void WarpRegisters::execute_constant(const Operation& operation, Lanes active) {
  const Fetched index = fetch(operation.a);
  if (operation.amount < 4) return forget(operation, active);
  for (unsigned i = 0; i < operation.result_registers; ++i) {
    Lanes known = 0;
    std::optional<std::uint32_t> last;
    std::optional<std::uint32_t> last_offset;
    const Row result = each_lane([&](unsigned lane) -> std::uint32_t {
      if ((index.known & active & Lanes{1} << lane) == 0) return 0;
      const std::uint32_t offset = operation.b.value + index.values[lane] + 4 * i;
      if (last_offset != offset) last = surroundings_.constant(operation.b.number, offset);
      last_offset = offset;
      if (last) known |= Lanes{1} << lane;
      return last.value_or(0);
    });
    write(operation, i, result, active, known);
  }
}

void WarpRegisters::execute_load(const Operation& operation, Lanes active) {
  const Fetched low = fetch(operation.a), high = fetch(operation.a, 1);
  std::array<Row, 4> results = {};
  Lanes known = 0;
  const unsigned bytes = sass::access_bytes[operation.amount];
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((low.known & high.known & active & Lanes{1} << lane) == 0) continue;
    const std::uint64_t address = (std::uint64_t{high.values[lane]} << 32 | low.values[lane]) +
                                  static_cast<std::uint64_t>(operation.target);
    std::uint32_t words[4] = {};
    if (!surroundings_.load(address, bytes, words)) continue;
    // A signed byte or half fills the register with its sign.
    if (operation.amount == 1 && (words[0] & 0x80) != 0) words[0] |= 0xffffff00u;
    if (operation.amount == 3 && (words[0] & 0x8000) != 0) words[0] |= 0xffff0000u;
    known |= Lanes{1} << lane;
    for (unsigned i = 0; i < 4; ++i) results[i][lane] = words[i];
  }
  for (unsigned i = 0; i < operation.result_registers; ++i) {
    write(operation, i, results[i], active, known);
  }
}

void WarpRegisters::execute_ask_space(const Operation& operation, Lanes active) {
  const Fetched low = fetch(operation.a), high = fetch(operation.a, 1);
  Lanes known = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const Lanes bit = Lanes{1} << lane;
    if ((low.known & high.known & active & bit) == 0) continue;
    const std::uint64_t address = (std::uint64_t{high.values[lane]} << 32 | low.values[lane]) +
                                  static_cast<std::uint64_t>(operation.target);
    if (surroundings_.is_global(address)) known |= bit;
  }
  forget(operation, active);
  write(operation.results[0], operation.is_high ? all_lanes : 0, active, known);
}

void WarpRegisters::execute_register_to_predicates(const Operation& operation, Lanes active) {
  const Fetched from = fetch(operation.a);
  for (std::uint8_t i = 0; i < 7; ++i) {
    if ((operation.b.value >> i & 1) == 0) continue;
    Lanes holds = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      holds |= (from.values[lane] >> (8 * operation.amount + i) & 1) << lane;
    }
    write(Predicate{i}, holds, active, from.known);
  }
}

void WarpRegisters::execute_predicates_to_register(const Operation& operation, Lanes active) {
  const Fetched from = fetch(operation.a);
  Lanes known = from.known;
  for (std::uint8_t i = 0; i < 7; ++i) {
    if ((operation.b.value >> i & 1) != 0) known &= known_predicates_[i];
  }
  const Row result = each_lane([&](unsigned lane) {
    std::uint32_t bits = 0;
    for (unsigned i = 0; i < 7; ++i) bits |= (predicates_[i] >> lane & 1) << i;
    return (from.values[lane] & ~operation.b.value) | (bits & operation.b.value);
  });
  write(operation, 0, result, active, known);
}

}  // namespace warpmeter::model::steps
