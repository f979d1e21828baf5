// What each instruction does with unset bits of what it reads. One that is not named here makes
// every bit of its results unset.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "collector/model/ptx/opcodes.h"
#include "collector/model/ptx/types.h"
#include "collector/model/ptx/unset.h"

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
    const Opcode* opcode = find_opcode(instruction_);
    const bool writes = opcode != nullptr && opcode->writes_first;
    for (const std::string_view modifier : instruction_.modifiers) {
      if (bits_of_type(modifier)) types_.push_back(modifier);
    }
    role_.bits = type_bits();
    role_.is_signed = !types_.empty() && types_.back().starts_with('s');
    for (std::size_t i = 0; i < instruction_.operands.size(); ++i) {
      flatten(instruction_.operands[i], i == 0 && writes ? role_.results : role_.sources);
    }
    if (memory() || control() || exchange() || movement() || logic() || comparison()) return role_;
    if (is_whole_sum()) role_.spread = Spread::upwards;
    return role_;
  }

 private:
  bool is(std::string_view opcode) const { return instruction_.opcode == opcode; }
  bool has(std::string_view modifier) const {
    const auto& all = instruction_.modifiers;
    return std::find(all.begin(), all.end(), modifier) != all.end();
  }
  std::uint32_t type_bits() const {
    return types_.empty() ? 32 : bits_of_type(types_.back()).value_or(32);
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
    if (access_space(instruction_) == Space::none) role_.uses.back().generic_address = address;
  }

  bool memory() {
    const bool loads = is("ld") || is("ldu") || is("ldmatrix");
    const bool stores = is("st");
    const bool changes = is("atom") || is("red");
    const bool is_copy = instruction_.text.starts_with("cp.async.") && operand(0) != nullptr &&
                         operand(0)->kind == Operand::Kind::address;
    if (!loads && !stores && !changes && !is_copy && !is("mbarrier")) return false;
    const Space space = access_space(instruction_);
    spread(Spread::none);
    role_.has_effect = !loads && space != Space::local && space != Space::param;
    const Operand* address = nullptr;
    for (const Operand& each : instruction_.operands) {
      if (each.kind != Operand::Kind::address) continue;
      use(UnsetUse::address, &each);
      if (address == nullptr) address = &each;
    }
    const std::size_t first = is("atom") ? 2 : 1;
    if (stores && space != Space::local && space != Space::param)
      use_value(operand(1), type_bits(), address);
    if (changes) {
      for (std::size_t i = first; i < instruction_.operands.size() && i < first + 2; ++i) {
        if (has("L2::cache_hint") && i + 1 == instruction_.operands.size()) continue;
        use_value(operand(i), type_bits(), address);
      }
    }
    return true;
  }

  bool control() {
    const std::string_view opcode = instruction_.opcode;
    if (opcode == "brx") {
      use(UnsetUse::decision, operand(0));
    } else if (opcode == "bar" || opcode == "barrier") {
      if (has("warp")) {
        use(UnsetUse::members, operand(0));
      } else {
        for (std::size_t i = has("red") ? 1 : 0; i < instruction_.operands.size(); ++i) {
          use(UnsetUse::barrier, operand(i));
        }
      }
    } else if (opcode == "call") {
      role_.results.clear();
      use(UnsetUse::callee, operand(1));
    } else if (opcode == "alloca" || opcode == "stackrestore") {
      use(UnsetUse::address, operand(opcode == "alloca" ? 1 : 0));
    } else if (opcode == "bra" || opcode == "ret" || opcode == "exit" || opcode == "trap") {
      role_.sources.clear();
    } else if (opcode != "nanosleep" && opcode != "prefetch" && opcode != "prefetchu" &&
               opcode != "createpolicy" && opcode != "discard" && opcode != "applypriority" &&
               opcode != "fence" && opcode != "membar" && opcode != "activemask" &&
               opcode != "stacksave") {
      return false;
    }
    role_.has_effect = opcode == "bra" || opcode == "brx" || opcode == "bar" ||
                       opcode == "barrier" || opcode == "call" || opcode == "ret" ||
                       opcode == "exit" || opcode == "trap";
    spread(Spread::none);
    return true;
  }

  bool exchange() {
    const std::string_view opcode = instruction_.opcode;
    if (opcode != "shfl" && opcode != "vote" && opcode != "match" && opcode != "redux" &&
        opcode != "elect") {
      return false;
    }
    const bool names_lanes = has("sync");
    if (names_lanes && !instruction_.operands.empty()) {
      use(UnsetUse::members, &instruction_.operands.back());
    }
    if (opcode == "shfl") {
      spread(has("up")     ? Spread::shuffle_up
             : has("down") ? Spread::shuffle_down
             : has("bfly") ? Spread::shuffle_xor
                           : Spread::shuffle_index);
    } else if (opcode == "vote") {
      spread(has("ballot") ? Spread::ballot
             : has("any")  ? Spread::vote_any
             : has("all")  ? Spread::vote_all
                           : Spread::group);
    } else if (opcode == "elect") {
      spread(Spread::none);
    } else {
      spread(Spread::group);
    }
    return true;
  }

  bool movement() {
    if (is("mov")) {
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
    } else if (is("cvta")) {
      spread(Spread::copy);
      role_.from_bits = role_.bits;
    } else if (is("cvt") && types_.size() == 2 && is_integer(types_[0]) && is_integer(types_[1]) &&
               !has("sat") && role_.sources.size() == 1) {
      spread(Spread::copy);
      role_.bits = bits_of_type(types_[0]).value_or(32);
      role_.from_bits = bits_of_type(types_[1]).value_or(32);
      role_.is_signed = types_[0].starts_with('s');
      role_.extends_sign = types_[1].starts_with('s');
    } else if (is("selp")) {
      spread(Spread::select);
    } else if (is("prmt") && instruction_.modifiers.size() == 1) {
      spread(Spread::permute);
    } else {
      return false;
    }
    return true;
  }

  /// "s32", "b64", "pred"; not "bf16" or "s16x2".
  static bool is_integer(std::string_view type) {
    if (type == "pred") return true;
    const bool is_kind = type.starts_with('u') || type.starts_with('s') || type.starts_with('b');
    return is_kind && type.size() <= 4 && type[1] >= '0' && type[1] <= '9' &&
           type.find('x') == std::string_view::npos;
  }

  bool logic() {
    const std::string_view opcode = instruction_.opcode;
    if (opcode == "and") {
      spread(Spread::bit_and);
    } else if (opcode == "or") {
      spread(Spread::bit_or);
    } else if (opcode == "xor") {
      spread(takes_itself() ? Spread::none : Spread::bit_xor);
    } else if (opcode == "not") {
      spread(Spread::bit_xor);
    } else if (opcode == "lop3" && role_.sources.size() == 4) {
      spread(Spread::lop3);
      role_.table = static_cast<std::uint8_t>(role_.sources.back()->bits);
      role_.sources.pop_back();
    } else if (opcode == "shl") {
      spread(Spread::shift_left);
    } else if (opcode == "shr") {
      spread(Spread::shift_right);
    } else if (opcode == "shf") {
      spread(has("l") ? Spread::funnel_left : Spread::funnel_right);
      role_.clamps = has("clamp");
    } else if (opcode == "bfe") {
      spread(Spread::extract);
    } else if (opcode == "bfi") {
      spread(Spread::insert);
    } else if (opcode == "sub" && takes_itself()) {
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
    if (!is("setp")) return false;
    const bool is_equality = (has("eq") || has("ne")) && is_whole();
    spread(is_equality ? Spread::equal : Spread::compare);
    role_.combines_or = has("or");
    if (has("xor")) spread(Spread::all);
    return true;
  }

  bool is_whole() const { return !types_.empty() && is_integer(types_.back()); }

  bool is_whole_sum() const {
    static constexpr std::array<std::string_view, 8> names = {"add", "addc", "sub", "subc",
                                                              "neg", "mul",  "mad", "madc"};
    return std::find(names.begin(), names.end(), instruction_.opcode) != names.end() &&
           is_whole() && !has("hi") && !has("sat");
  }

  const Instruction& instruction_;
  UnsetRole role_;
  std::vector<std::string_view> types_;
};

}  // namespace

UnsetRole unset_role(const Instruction& instruction) { return RoleFinder(instruction).find(); }

}  // namespace warpmeter::model::ptx
