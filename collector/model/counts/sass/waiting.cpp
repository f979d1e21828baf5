// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/waiting.h"

#include <algorithm>
#include <bitset>
#include <string_view>
#include <variant>
#include <vector>

#include "collector/model/counts/sass/elf.h"
#include "collector/model/counts/sass/followed.h"
#include "collector/model/counts/sass/info.h"
#include "collector/model/counts/sass/products.h"
#include "collector/model/counts/sass/step.h"

namespace warpmeter::model::sass {
namespace {

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
