// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/waiting.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <string_view>
#include <variant>
#include <vector>

#include "collector/model/counts/sass/elf.h"
#include "collector/model/counts/sass/info.h"
#include "collector/model/counts/sass/instruction.h"
#include "collector/model/counts/sass/products.h"

namespace warpmeter::model::sass {
namespace {

enum class Scope : std::uint8_t { weak, gpu, system };

/// Four bits that hold the order and the scope of an access.
Scope scope_of(Word word, int arch) {
  const unsigned bits = word.high >> 13 & 15;
  const unsigned system = arch >= 80 ? 0xa : 0xb, gpu = arch >= 80 ? 0x7 : 0xa;
  if (bits == gpu) return Scope::gpu;
  return bits >= system ? Scope::system : Scope::weak;
}

/// MEMBAR for the GPU or the system, or a cluster. One for the block orders nothing for others:
/// before each product of a warpgroup Triton fences the block's shared memory.
bool is_fence(Word word) {
  constexpr std::uint64_t membar = 0x992, gpu = 2;
  return (word.low & 0xfff) == membar && (word.high >> 12 & 7) >= gpu;
}

/// R2UR, VOTE, VOTEU: the value goes on as one of the whole warp, which is not followed.
constexpr std::uint16_t to_the_warp[] = {0x2ca, 0x3c2, 0x806, 0x886};
/// ISETP, FSETP, DSETP, PLOP3, IADD3, HSETP2, LOP3, LEA: the lower bits of those that set
/// predicates. All but the last two set two of them.
constexpr std::uint16_t sets_predicates[] = {0x00c, 0x00b, 0x02a, 0x01c,
                                             0x010, 0x034, 0x012, 0x011};
constexpr std::size_t sets_one = 6;  ///< from there on

/// CS2R, S2R and S2UR of CLOCKLO, CLOCKHI, GLOBALTIMERLO and GLOBALTIMERHI.
bool reads_clock(Word word) {
  constexpr std::uint16_t numbers[] = {0x805, 0x919, 0x9c3};
  const std::uint64_t source = word.high >> 8 & 255;
  return source >= 0x50 && source <= 0x53 &&
         is_one_of(static_cast<std::uint16_t>(word.low & 0xfff), numbers);
}

/// True of an atomic, but no compare and swap, that leaves every integer as it is when its operand
/// is 0: ADD, OR, XOR, MAX of unsigned numbers. An exchange for 0 does not: it releases a lock.
bool keeps_with_zero(Word word) {
  constexpr std::uint64_t add = 0, max = 2, bitwise_or = 6, bitwise_xor = 7;
  constexpr std::uint16_t of_floats[] = {0x3a2, 0x9a2, 0x3a3, 0x9a3};
  const std::uint64_t type = word.high >> 9 & 7;
  const std::uint64_t operation = word.high >> 23 & 15;
  const bool is_unsigned = type == 0 || type == 2;  // U32, U64
  // From sm_100 on the fourth bit says something else of floats.
  if (is_one_of(static_cast<std::uint16_t>(word.low & 0xfff), of_floats)) {
    return (operation & 7) == add;
  }
  return operation == add || operation == bitwise_or || operation == bitwise_xor ||
         (operation == max && is_unsigned);
}

struct Step {
  std::uint16_t number = 0;  ///< the opcode
  Word word;
  Instruction instruction;
  Scope scope = Scope::weak;
  /// A load or an atomic of global or generic memory.
  bool reads() const {
    return (instruction.access == AccessKind::load || instruction.access == AccessKind::atomic) &&
           instruction.space != AddressSpace::shared && instruction.carrier == Carrier::registers;
  }
  /// A read of the clock or the timer.
  bool is_clock() const { return reads_clock(word); }
  /// An atomic with the operand 0 that reads and changes nothing.
  bool only_reads() const {
    return instruction.access == AccessKind::atomic && !instruction.is_compare_and_swap &&
           (word.low >> 32 & 255) == no_register && keeps_with_zero(word);
  }
  bool publishes() const {
    if (instruction.space == AddressSpace::shared || !instruction.access) return false;
    if (instruction.access == AccessKind::store) return scope != Scope::weak;
    return instruction.access == AccessKind::reduction ||
           (instruction.access == AccessKind::atomic && !only_reads());
  }
};

constexpr std::uint16_t predicates_to_register = 0x803, register_to_predicates = 0x804;
/// MOV, SEL, FSETP, ISETP, PLOP3, FMUL, FADD, DSETP, VIADD: the lower bits of those that have no
/// third register; the comparisons have a predicate there.
constexpr std::uint16_t has_no_third[] = {0x002, 0x007, 0x00b, 0x00c, 0x01c,
                                          0x020, 0x021, 0x02a, 0x036};
/// IADD3, LEA, LOP3, MOV, SEL, PRMT, IMNMX, SHF, FMUL, FADD, FFMA, IMAD, IMAD.WIDE, IMAD.HI, VIADD,
/// LDG, LDC, LDS: the lower bits of those that write their result and nothing else but predicates.
constexpr std::uint16_t writes_result[] = {0x010, 0x011, 0x012, 0x002, 0x007, 0x016,
                                           0x017, 0x019, 0x020, 0x021, 0x023, 0x024,
                                           0x025, 0x027, 0x036, 0x181, 0x182, 0x184};

/// The values in one loop that follow from what it loads. A register that is written anew from
/// other values follows no more: compilers load into the registers of the address.
class Followed {
 public:
  Followed(const std::vector<Step>& steps, std::size_t first, std::size_t last)
      : steps_(steps), first_(first), last_(last), before_(last - first + 1) {}

  /// True if such a value decides whether the loop goes on. `is_polled` says what it follows from.
  template <class IsPolled>
  bool decides(IsPolled is_polled) {
    do {
      has_grown_ = false;
      for (std::size_t i = first_; i <= last_; ++i) {
        const Step& step = steps_[i];
        values_ = before_[i - first_];
        const bool follows = depends(step);
        if (is_polled(step)) {
          add_result(step);
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

 private:
  struct Values {
    std::bitset<256> registers;
    std::bitset<8> predicates;
  };

  bool has_register(std::uint64_t number) const {
    return number != no_register && values_.registers[number];
  }
  bool has_predicate(std::uint64_t number) const {
    return (number & 7) != 7 && values_.predicates[number & 7];
  }
  static bool leads_out(const Step& step, std::uint64_t first, std::uint64_t last) {
    if (step.instruction.jump == Jump::end) return true;
    if (step.instruction.jump != Jump::branch) return false;
    const auto target = static_cast<std::uint64_t>(step.instruction.target) / instruction_bytes;
    return step.instruction.target < 0 || target < first || target > last;
  }
  /// A way out of the loop without a condition: a branch around it has the condition.
  bool has_way_out() const {
    for (std::size_t i = first_; i < last_; ++i) {
      if (leads_out(steps_[i], first_, last_) && !steps_[i].instruction.is_guarded) return true;
    }
    return false;
  }
  bool depends(const Step& step) const {
    const Word word = step.word;
    if (has_predicate(step.instruction.guard) || has_predicate(word.high >> 23)) return true;
    if (step.instruction.elects_lane && step.number != 0x3c4)
      return false;  // reads predicates alone
    if (step.instruction.access == AccessKind::load &&
        step.instruction.space == AddressSpace::shared && through_shared_) {
      return true;
    }
    if (step.instruction.is_local && !step.instruction.is_local_store && through_local_) {
      return true;
    }
    if (step.number == predicates_to_register && values_.predicates.any()) return true;
    const auto number = static_cast<std::uint16_t>(step.number & 0x1ff);
    const bool has_third = !is_one_of(number, has_no_third);
    return has_register(step.instruction.base) || has_register(step.instruction.second) ||
           (has_third && has_register(step.instruction.third)) ||
           (number == 0x00c && has_predicate(word.high >> 4)) ||   // ISETP.EX
           (number == 0x010 && has_predicate(word.high >> 13)) ||  // the second carry of IADD3.X
           (step.number == 0x81c &&
            (has_predicate(word.high >> 13) || has_predicate(word.high >> 4)));
  }
  void set_result(const Step& step, bool follows) {
    const std::size_t count =
        step.is_clock() ? 2 : std::max<std::size_t>(1, step.instruction.width / 4);
    for (std::size_t i = 0; i < count && step.instruction.result + i < no_register; ++i) {
      values_.registers[step.instruction.result + i] = follows;
    }
  }
  void add_result(const Step& step) { set_result(step, true); }
  void set_predicates(const Step& step, bool follow) {
    const auto number = static_cast<std::uint16_t>(step.number & 0x1ff);
    const auto* const found =
        std::find(std::begin(sets_predicates), std::end(sets_predicates), number);
    if (found == std::end(sets_predicates)) return;
    values_.predicates[step.word.high >> 17 & 7] = follow;
    if (found < sets_predicates + sets_one) values_.predicates[step.word.high >> 20 & 7] = follow;
  }
  void forget_result(const Step& step) {
    if (step.instruction.is_guarded) return;
    if (is_one_of(static_cast<std::uint16_t>(step.number & 0x1ff), writes_result)) {
      set_result(step, false);
    }
    set_predicates(step, false);
  }
  void follow(const Step& step) {
    const Instruction& instruction = step.instruction;
    if (instruction.jump == Jump::branch || instruction.jump == Jump::end) {
      const auto at = static_cast<std::size_t>(&step - steps_.data());
      const bool is_decided =
          has_predicate(instruction.guard) || has_predicate(step.word.high >> 23);
      if (is_decided && (at == last_ || leads_out(step, first_, last_))) is_found_ = true;
      if (is_decided) parts_ = true;
      return;
    }
    if (is_one_of(step.number, to_the_warp)) is_found_ = true;
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
    add_result(step);
    set_predicates(step, true);
  }
  /// Hands what follows behind a step on to the next ones.
  void hand_on(std::size_t at) {
    const Instruction& instruction = steps_[at].instruction;
    const bool may_go_anywhere =
        instruction.jump == Jump::call || instruction.jump == Jump::indirect;
    for (std::size_t i = first_; may_go_anywhere && i <= last_; ++i) join(i);
    const bool goes_on = instruction.jump == Jump::none || instruction.is_guarded;
    if (goes_on && at < last_) join(at + 1);
    if (instruction.jump == Jump::branch && !leads_out(steps_[at], first_, last_)) {
      join(static_cast<std::size_t>(instruction.target) / instruction_bytes);
    }
  }
  void join(std::size_t to) {
    Values& there = before_[to - first_];
    const Values both{there.registers | values_.registers, there.predicates | values_.predicates};
    has_grown_ |= both.registers != there.registers || both.predicates != there.predicates;
    there = both;
  }

  const std::vector<Step>& steps_;
  const std::size_t first_, last_;
  std::vector<Values> before_;   ///< the values in front of each step
  Values values_;                ///< those at the step that is looked at
  bool through_shared_ = false;  ///< one of the values was stored there
  bool through_local_ = false;   ///< likewise
  bool parts_ = false;           ///< lanes or rounds part within the loop
  bool is_found_ = false, has_grown_ = false;
};

Step step_at(Bytes code, std::uint64_t offset, int arch) {
  Step step;
  step.word = *number_at<Word>(code, offset);
  step.number = static_cast<std::uint16_t>(step.word.low & 0xfff);
  step.instruction = decode(step.word, offset, arch);
  step.scope = scope_of(step.word, arch);
  return step;
}

/// By the numbers of operations: those that may read what others write.
const std::bitset<4096>& polling_numbers() {
  static const std::bitset<4096> numbers = [] {
    std::bitset<4096> all;
    for (std::uint64_t number = 0; number < all.size(); ++number) {
      Step step;
      step.instruction = decode({number, 0}, 0, 90);
      all[number] = step.reads();
    }
    return all;
  }();
  return numbers;
}

/// Libraries have a hundred megabytes of code: most of it is left after this look at it.
bool may_wait(Bytes code, int arch) {
  for (std::uint64_t at = 0; at + instruction_bytes <= code.size(); at += instruction_bytes) {
    const Word word = *number_at<Word>(code, at);
    const std::uint64_t number = word.low & 0xfff;
    if (is_fence(word) || reads_clock(word) ||
        (polling_numbers()[number] && scope_of(word, arch) != Scope::weak)) {
      return true;
    }
  }
  return false;
}

/// Calls `visit` with the first and the last step of each loop.
template <class Visit>
void for_each_loop(const std::vector<Step>& steps, Visit visit) {
  for (std::size_t last = 0; last < steps.size(); ++last) {
    const Instruction& branch = steps[last].instruction;
    const auto end = static_cast<std::int64_t>(last * instruction_bytes);
    if (branch.jump != Jump::branch || branch.target < 0 || branch.target >= end) continue;
    visit(static_cast<std::size_t>(branch.target) / instruction_bytes, last);
  }
}

Waiting waits(const std::vector<Step>& steps) {
  const bool publishes =
      std::any_of(steps.begin(), steps.end(), [](const Step& step) { return step.publishes(); });
  Waiting waiting;
  for_each_loop(steps, [&](std::size_t first, std::size_t last) {
    const auto holds_any = [&](const auto& is) {
      return std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(first),
                         steps.begin() + static_cast<std::ptrdiff_t>(last) + 1, is);
    };
    const auto ends_by = [&](const auto& is) {
      return holds_any(is) && Followed(steps, first, last).decides(is);
    };
    const bool has_fence = holds_any([](const Step& step) { return is_fence(step.word); });
    const auto of_system = [](const Step& step) {
      return step.reads() && step.scope == Scope::system;
    };
    const auto of_gpu = [&](const Step& step) {
      return step.reads() && (has_fence || step.scope == Scope::gpu);
    };
    waiting.times_itself |= ends_by([](const Step& step) { return step.is_clock(); });
    waiting.may_wait |= ends_by(of_system) || (!publishes && ends_by(of_gpu));
  });
  waiting.waits = waiting.may_wait && !publishes;
  return waiting;
}

void add_kinds_of_instructions(Bytes code, int arch, Waiting& found) {
  constexpr std::uint16_t generic_load = 0x180, generic_store = 0x185;  // LD, ST
  constexpr std::uint16_t bulk = 0x1b0;  // and up to 0x1bf: UTMALDG, UTMASTG, UBLKCP, UBLKRED, …
  for (std::uint64_t at = 0; at + instruction_bytes <= code.size(); at += instruction_bytes) {
    const auto number = static_cast<std::uint16_t>(*number_at<std::uint16_t>(code, at) & 0x1ff);
    found.loads_generic |= number == generic_load;
    found.stores_generic |= number == generic_store;
    found.copies_in_bulk |= (number & 0x1f0) == bulk;
    found.multiplies_matrices |= may_multiply_matrices(*number_at<Word>(code, at), arch);
  }
}

bool calls_functions(Bytes code) {
  for (std::uint64_t at = 0; at + instruction_bytes <= code.size(); at += instruction_bytes) {
    const auto number = static_cast<std::uint16_t>(*number_at<std::uint16_t>(code, at) & 0x1ff);
    if (number == 0x143 || number == 0x144) return true;  // CALL.ABS, CALL.REL
  }
  return false;
}

Waiting look_at(Bytes code, int arch) {
  if (!may_wait(code, arch)) return {};
  std::vector<Step> steps;
  for (std::uint64_t at = 0; at + instruction_bytes <= code.size(); at += instruction_bytes) {
    steps.push_back(step_at(code, at, arch));
  }
  return waits(steps);
}

/// True if the function's list of outside functions has malloc or free.
bool allocates(const Elf& elf, const std::vector<Symbol>& symbols, std::string_view function) {
  const Section* info = elf.find(".nv.info." + std::string(function));
  bool is_found = false;
  if (info == nullptr) return false;
  for_each_entry(info->contents, [&](std::uint8_t about, Bytes values) {
    if (about != outside_functions) return;
    for (std::uint64_t at = 0; at + sizeof(std::uint32_t) <= values.size(); at += 4) {
      const std::uint32_t symbol = *number_at<std::uint32_t>(values, at);
      if (symbol >= symbols.size()) continue;
      const std::string_view name = symbols[symbol].name;
      is_found |= name == "malloc" || name == "free";
    }
  });
  return is_found;
}

}  // namespace

Waiting& Waiting::operator|=(const Waiting& other) {
  waits |= other.waits;
  may_wait |= other.may_wait;
  times_itself |= other.times_itself;
  allocates |= other.allocates;
  copies_in_bulk |= other.copies_in_bulk;
  loads_generic |= other.loads_generic;
  stores_generic |= other.stores_generic;
  multiplies_matrices |= other.multiplies_matrices;
  return *this;
}

std::map<std::string, Waiting> waiting_kernels(Bytes cubin) {
  constexpr std::string_view text = ".text.";
  const auto read = Elf::read(cubin);
  if (!std::holds_alternative<Elf>(read)) return {};
  const Elf& elf = std::get<Elf>(read);
  const std::vector<Symbol> symbols = elf.symbols();
  std::map<std::string_view, Waiting> kernels;
  std::vector<std::string_view> callers;
  for (const Symbol& symbol : symbols) {
    if (symbol.is_kernel) kernels.emplace(symbol.name, Waiting());
  }
  Waiting functions;
  for (const Section& section : elf.sections()) {
    if (!section.name.starts_with(text)) continue;
    const std::string_view name = section.name.substr(text.size());
    const bool calls = calls_functions(section.contents);
    Waiting waiting = look_at(section.contents, elf.arch());
    add_kinds_of_instructions(section.contents, elf.arch(), waiting);
    waiting.allocates = calls && allocates(elf, symbols, name);
    const auto kernel = kernels.find(name);
    (kernel != kernels.end() ? kernel->second : functions) |= waiting;
    if (calls && kernel != kernels.end()) callers.push_back(name);
  }
  for (const std::string_view caller : callers) kernels[caller] |= functions;
  return {kernels.begin(), kernels.end()};
}

}  // namespace warpmeter::model::sass
