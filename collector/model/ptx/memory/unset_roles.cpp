// SPDX-License-Identifier: MIT
// The effects of each instruction on unset bits of what it reads. One that is not named here makes
// every bit of its results unset.
#include <algorithm>

#include "collector/model/ptx/memory/unset.h"
#include "collector/model/ptx/row.h"

namespace warpmeter::model::ptx {
namespace {

void flatten(const Operand& operand, std::vector<const Operand*>& all) {
  if (operand.kind == Operand::Kind::name || operand.kind == Operand::Kind::integer ||
      operand.kind == Operand::Kind::floating) {
    all.push_back(&operand);
  }
  for (const Operand& part : operand.parts) flatten(part, all);
}

class RoleFinder {
 public:
  explicit RoleFinder(const Instruction& instruction) : instruction_(instruction) {}

  UnsetRole find() {
    const bool writes = instruction_.row().effects.writes_first;
    role_.bits = type_bits();
    role_.is_signed = info_of(instruction_.last_type()).is_signed();
    for (std::size_t i = 0; i < instruction_.operands.size(); ++i) {
      flatten(instruction_.operands[i], i == 0 && writes ? role_.results : role_.sources);
    }
    if (matrices() || memory() || control() || exchange() || movement() || logic() ||
        comparison()) {
      return role_;
    }
    if (is_whole_sum()) role_.spread = Spread::upwards;
    return role_;
  }

 private:
  bool is(Opcode opcode) const { return instruction_.is(opcode); }
  bool has(Word word) const { return instruction_.has(word); }
  std::uint32_t type_bits() const {
    const Type type = instruction_.last_type();
    return type == Type::none ? 32 : info_of(type).bits;
  }
  /// The bits of a stored register; matrices have two numbers a register.
  std::uint32_t register_bits() const {
    const Effects& effects = instruction_.row().effects;
    return effects.is_matrix || effects.is_fragment ? std::max(type_bits(), 32u) : type_bits();
  }
  const Operand* operand(std::size_t i) const {
    return i < instruction_.operands.size() ? &instruction_.operands[i] : nullptr;
  }
  void use(UnsetUse what, const Operand* operand) {
    if (operand == nullptr) return;
    UnsetRole::Use use;
    use.what = what;
    flatten(*operand, use.operands);
    if (operand->kind == Operand::Kind::address) use.operands.push_back(operand);
    if (!use.operands.empty()) role_.uses.push_back(std::move(use));
  }
  void spread(Spread how) { role_.spread = how; }

  void use_value(const Operand* written, std::uint32_t bits, const Operand* address) {
    use(UnsetUse::value, written);
    if (role_.uses.empty() || role_.uses.back().what != UnsetUse::value) return;
    role_.uses.back().bits = bits;
    if (instruction_.space == Space::none) role_.uses.back().generic_address = address;
  }

  bool memory() {
    const Memory memory = instruction_.row().effects.memory;
    const bool loads = memory == Memory::load, stores = memory == Memory::store;
    const bool changes = memory == Memory::atomic || memory == Memory::reduce;
    const bool is_copy = memory == Memory::copy || is(Opcode::cp_async_mbarrier);
    const Execution execution = instruction_.row().execution;
    const bool is_object =
        execution == Execution::mbarrier || is(Opcode::mbarrier_pending_count) ||
        execution == Execution::bulk_copy || execution == Execution::box_copy ||
        execution == Execution::replace_field || execution == Execution::publish_map ||
        execution == Execution::counted_store || execution == Execution::counted_reduction;
    if (!loads && !stores && !changes && !is_copy && !is_object) return false;
    const Space space = instruction_.space;
    spread(Spread::none);
    role_.has_effect = !loads && space != Space::local && space != Space::param;
    const Operand* address = nullptr;
    for (const Operand& each : instruction_.operands) {
      if (each.kind != Operand::Kind::address) continue;
      use(UnsetUse::address, &each);
      if (address == nullptr) address = &each;
    }
    if (instruction_.row().effects.is_fragment) use(UnsetUse::address, operand(2));
    const std::size_t first = is(Opcode::atom) ? 2 : 1;
    if (stores && space != Space::local && space != Space::param)
      use_value(operand(1), register_bits(), address);
    if (changes) {
      for (std::size_t i = first; i < instruction_.operands.size() && i < first + 2; ++i) {
        if (has(Word::L2_cache_hint) && i + 1 == instruction_.operands.size()) continue;
        use_value(operand(i), type_bits(), address);
      }
    }
    return true;
  }

  bool control() {
    spread(Spread::none);
    role_.has_effect = true;
    switch (instruction_.opcode) {
      case Opcode::brx:
        use(UnsetUse::decision, operand(0));
        return true;
      case Opcode::bar_warp:
        use(UnsetUse::members, operand(0));
        return true;
      case Opcode::bar_sync:
      case Opcode::bar_arrive:
      case Opcode::bar_red:
        for (std::size_t i = is(Opcode::bar_red) ? 1 : 0; i < instruction_.operands.size(); ++i) {
          use(UnsetUse::barrier, operand(i));
        }
        return true;
      case Opcode::call:
        role_.results.clear();
        use(UnsetUse::callee, operand(1));
        return true;
      case Opcode::bra:
      case Opcode::ret:
      case Opcode::exit:
      case Opcode::trap:
        role_.sources.clear();
        return true;
      default:
        break;
    }
    role_.has_effect = false;
    switch (instruction_.opcode) {
      case Opcode::alloca:
        use(UnsetUse::address, operand(1));
        return true;
      case Opcode::stackrestore:
        use(UnsetUse::address, operand(0));
        return true;
      case Opcode::nanosleep:
      case Opcode::prefetch:
      case Opcode::prefetchu:
      case Opcode::createpolicy:
      case Opcode::discard:
      case Opcode::applypriority:
      case Opcode::fence:
      case Opcode::membar:
      case Opcode::activemask:
      case Opcode::stacksave:
        return true;
      default:
        spread(UnsetRole().spread);
        return false;
    }
  }

  bool matrices() {
    const Execution execution = instruction_.row().execution;
    if (execution == Execution::warpgroup_product) {
      spread(Spread::none);  // unset operands may not have been added to
      return true;
    }
    if (execution == Execution::matrix_product) spread(Spread::matrix_product);
    if (execution == Execution::matrix_transpose) spread(Spread::matrix_transpose);
    return execution == Execution::matrix_product || execution == Execution::matrix_transpose;
  }

  bool exchange() {
    const Opcode opcode = instruction_.opcode;
    if (opcode != Opcode::shfl && opcode != Opcode::vote && opcode != Opcode::match &&
        opcode != Opcode::redux && opcode != Opcode::elect) {
      return false;
    }
    const bool names_lanes = has(Word::sync);
    if (names_lanes && !instruction_.operands.empty()) {
      use(UnsetUse::members, &instruction_.operands.back());
    }
    if (opcode == Opcode::shfl) {
      spread(has(Word::up)     ? Spread::shuffle_up
             : has(Word::down) ? Spread::shuffle_down
             : has(Word::bfly) ? Spread::shuffle_xor
                               : Spread::shuffle_index);
    } else if (opcode == Opcode::vote) {
      spread(has(Word::ballot) ? Spread::ballot
             : has(Word::any)  ? Spread::vote_any
             : has(Word::all)  ? Spread::vote_all
                               : Spread::group);
    } else if (opcode == Opcode::elect) {
      spread(Spread::none);
    } else {
      spread(Spread::group);
    }
    return true;
  }

  bool movement() {
    if (is(Opcode::mov)) {
      const bool is_long = type_bits() > 64;
      const Operand *to = operand(0), *from = operand(1);
      if (is_long || to == nullptr || from == nullptr) {
        spread(Spread::none);  // two numbers, of which one may be unset
      } else if (to->kind == Operand::Kind::vector) {
        spread(Spread::unpack);
      } else if (from->kind == Operand::Kind::vector) {
        spread(Spread::pack);
      } else {
        spread(Spread::copy);
        role_.from_bits = role_.bits;
      }
    } else if (is(Opcode::cvta)) {
      spread(Spread::copy);
      role_.from_bits = role_.bits;
    } else if (is(Opcode::cvt) && instruction_.types().size() == 2 &&
               is_integer(instruction_.first_type()) && is_integer(instruction_.last_type()) &&
               !has(Word::sat) && role_.sources.size() == 1) {
      const TypeInfo to = info_of(instruction_.first_type());
      const TypeInfo from = info_of(instruction_.last_type());
      spread(Spread::copy);
      role_.bits = to.bits;
      role_.from_bits = from.bits;
      role_.is_signed = to.is_signed();
      role_.extends_sign = from.is_signed();
    } else if (is(Opcode::selp)) {
      spread(Spread::select);
    } else if (is(Opcode::prmt) && instruction_.words.size() == 1) {
      spread(Spread::permute);
    } else {
      return false;
    }
    return true;
  }

  /// s32, b64, pred; not bf16 or s16x2.
  static bool is_integer(Type type) { return type == Type::pred || info_of(type).is_integer(); }

  bool logic() {
    const Opcode opcode = instruction_.opcode;
    if (opcode == Opcode::and_) {
      spread(Spread::bit_and);
    } else if (opcode == Opcode::or_) {
      spread(Spread::bit_or);
    } else if (opcode == Opcode::xor_) {
      spread(takes_itself() ? Spread::none : Spread::bit_xor);
    } else if (opcode == Opcode::not_) {
      spread(Spread::bit_xor);
    } else if (opcode == Opcode::lop3 && role_.sources.size() == 4) {
      spread(Spread::lop3);
      role_.table = static_cast<std::uint8_t>(role_.sources.back()->bits);
      role_.sources.pop_back();
    } else if (opcode == Opcode::shl) {
      spread(Spread::shift_left);
    } else if (opcode == Opcode::shr) {
      spread(Spread::shift_right);
    } else if (opcode == Opcode::shf) {
      spread(has(Word::l) ? Spread::funnel_left : Spread::funnel_right);
      role_.clamps = has(Word::clamp);
    } else if (opcode == Opcode::bfe) {
      spread(Spread::extract);
    } else if (opcode == Opcode::bfi) {
      spread(Spread::insert);
    } else if (opcode == Opcode::sub && takes_itself()) {
      spread(Spread::none);
    } else {
      return false;
    }
    return true;
  }

  /// xor r, r, r is zero.
  bool takes_itself() const {
    return role_.sources.size() == 2 && role_.sources[0]->kind == Operand::Kind::name &&
           role_.sources[0]->name == role_.sources[1]->name && is_whole();
  }

  bool comparison() {
    if (!is(Opcode::setp)) return false;
    const bool is_equality = (has(Word::eq) || has(Word::ne)) && is_whole();
    spread(is_equality ? Spread::equal : Spread::compare);
    role_.combines_or = has(Word::or_);
    if (has(Word::xor_)) spread(Spread::all);
    return true;
  }

  bool is_whole() const { return is_integer(instruction_.last_type()); }

  bool is_whole_sum() const {
    switch (instruction_.opcode) {
      case Opcode::add:
      case Opcode::addc:
      case Opcode::sub:
      case Opcode::subc:
      case Opcode::neg:
      case Opcode::mul:
      case Opcode::mad:
      case Opcode::madc:
        return is_whole() && !has(Word::hi) && !has(Word::sat);
      default:
        return false;
    }
  }

  const Instruction& instruction_;
  UnsetRole role_;
};

}  // namespace

UnsetRole unset_role(const Instruction& instruction) { return RoleFinder(instruction).find(); }

}  // namespace warpmeter::model::ptx
