// SPDX-License-Identifier: MIT
// Random programs, by the machine and by the reference (reference/warp.h): whatever stands next to
// what, guarded or not, in branches and loops of some lanes, with registers used again and again,
// every lane ends with the same registers and memory.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "collector/model/machine/execute/units.h"
#include "tests/collector/model/random_program.h"
#include "tests/collector/model/reference/floats.h"
#include "tests/collector/model/reference/warp.h"
#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {
namespace {

using reference::Block;
using reference::Node;

/// True if two words of a kind ('M': of memory) are the same number; which NaN it is is not
/// compared.
bool are_same(char kind, std::uint64_t a, std::uint64_t b) {
  if (a == b) return true;
  const auto are_nans = [&](const char* type, int shift) {
    const reference::Type of = reference::type_of(type);
    const auto nan = [&](std::uint64_t bits) {
      return reference::is_nan(reference::low(bits >> shift, of.bits), of);
    };
    return nan(a) && nan(b);
  };
  const auto part = [&](const char* type, int bits, int shift) {
    return reference::low(a >> shift, bits) == reference::low(b >> shift, bits) ||
           are_nans(type, shift);
  };
  switch (kind) {
    case 'f':
      return are_nans("f32", 0);
    case 'g':
      return are_nans("f64", 0);
    case 'x':
      return are_nans("f16", 0);
    case 'y':
      return are_nans("bf16", 0);
    case 'v':
      return part("f16", 16, 0) && part("f16", 16, 16);
    case 'w':
      return part("bf16", 16, 0) && part("bf16", 16, 16);
    default:
      return false;
  }
}

/// In a word of memory that an instruction alone has written.
bool is_same_float(std::uint64_t a, std::uint64_t b) {
  if (are_same('g', a, b)) return true;
  for (const int shift : {0, 32}) {
    const std::uint64_t x = reference::low(a >> shift, 32), y = reference::low(b >> shift, 32);
    if (!are_same('f', x, y) && !are_same('v', x, y) && !are_same('w', x, y)) return false;
  }
  return true;
}

/// The program and the lanes it starts from, and what both make of it.
class Trial {
 public:
  explicit Trial(Generator& generator) : own_(32 * lane_bytes / 8), common_(common_bytes / 8) {
    for (unsigned i = 0; i < 32 * registers_of_lane; ++i) {
      in_.push_back(generator.bits(register_kinds[i % registers_of_lane / each_kind]));
    }
    for (std::uint64_t& word : own_) word = generator.bits('d');
    for (std::uint64_t& word : common_) word = generator.bits('d');
  }

  /// The difference, in words; empty: nothing.
  std::string difference(const Block& program, const Unit& unit, bool is_alone = false,
                         bool as_machine_code = false) {
    LaunchOptions options;
    options.unit = &unit;
    options.counts = !as_machine_code;
    options.native_after = 0;
    const TestRun run = run_ptx(
        kernel_of(program), "k", geometry(1, 32),
        {TestArgument::buffer(std::vector<std::uint64_t>(32 * words_of_lane + common_.size())),
         TestArgument::buffer(in_), TestArgument::buffer(own_), TestArgument::buffer(common_)},
        options);
    if (!run.refusal.empty()) return run.refusal;
    if (run.outcome.trap) return run.trap();
    const std::vector<std::uint64_t> out = run.buffer<std::uint64_t>(0);
    const std::vector<std::uint64_t> global = run.buffer<std::uint64_t>(2);
    const std::vector<std::uint64_t> common = run.buffer<std::uint64_t>(3);
    return difference(program, {out.data(), global.data(), common.data()}, is_alone);
  }

  /// The memory that a kernel of this program left: its words of what it stored, and of global
  /// memory.
  struct Left {
    const std::uint64_t *out, *global, *common;
  };
  std::string difference(const Block& program, const Left& left, bool is_alone) {
    execute(program);
    const std::uint64_t* const out = left.out;
    const auto same = [&](char kind, std::uint64_t a, std::uint64_t b) {
      return are_same(kind, a, b) || (is_alone && kind == 'M' && is_same_float(a, b));
    };
    for (unsigned l = 0; l < 32; ++l) {
      for (unsigned i = 0; i < words_of_lane; ++i) {
        const char kind = i < registers_of_lane ? register_kinds[i / each_kind] : 'M';
        const std::uint64_t got = out[l * words_of_lane + i], wanted = word_of(l, i);
        if (!same(kind, got, wanted)) return told(l, name_of(i), got, wanted);
      }
    }
    const auto compare = [&](const std::string& name, const std::uint64_t* got,
                             const std::vector<std::uint64_t>& wanted) -> std::string {
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (same('M', got[i], wanted[i])) continue;
        return told(0, fmt::format("{} at {}", name, 8 * i), got[i], wanted[i]);
      }
      return "";
    };
    std::string wrong = compare("global memory", left.global, global_);
    if (wrong.empty()) wrong = compare("common global memory", left.common, common_global_);
    if (wrong.empty())
      wrong = compare("common shared memory", out + 32 * words_of_lane, common_shared_);
    return wrong;
  }

  const std::vector<std::uint64_t>& in() const { return in_; }
  const std::vector<std::uint64_t>& own() const { return own_; }
  const std::vector<std::uint64_t>& common() const { return common_; }

 private:
  /// Each word of each lane asks for it, so it is made once.
  static const std::string& name_of(unsigned word) {
    static const std::vector<std::string> names = [] {
      std::vector<std::string> made;
      for (unsigned i = 0; i < registers_of_lane; ++i) {
        made.push_back(fmt::format("%{}{}", register_kinds[i / each_kind], i % each_kind));
      }
      for (unsigned byte = 0; byte < 2 * lane_bytes; byte += 8) {
        made.push_back(fmt::format("{} memory at {}", byte < lane_bytes ? "shared" : "local",
                                   byte % lane_bytes));
      }
      return made;
    }();
    return names.at(word);
  }
  static std::string told(unsigned lane, const std::string& where, std::uint64_t got,
                          std::uint64_t wanted) {
    return fmt::format("lane {}, {}: machine {:#x}, reference {:#x}", lane, where, got, wanted);
  }
  std::uint64_t word_of(unsigned lane, unsigned word) const {
    if (word < registers_of_lane) return warp_.lanes[lane].registers.at(name_of(word));
    const unsigned index = word - registers_of_lane, words = lane_bytes / 8;
    return index < words ? shared_[lane * words + index] : local_[lane * words + index - words];
  }

  void execute(const Block& program) {
    global_ = own_;
    common_global_ = common_;
    shared_.assign(own_.size(), 0);
    local_.assign(own_.size(), 0);
    common_shared_.assign(common_.size(), 0);
    warp_ = {};
    const auto bytes = [](std::vector<std::uint64_t>& words, unsigned offset) {
      return reinterpret_cast<std::uint8_t*>(words.data()) + offset;
    };
    for (unsigned l = 0; l < 32; ++l) {
      reference::Lane& lane = warp_.lanes[l];
      for (unsigned i = 0; i < registers_of_lane; ++i) {
        lane.registers[name_of(i)] = in_[l * registers_of_lane + i];
      }
      for (const char* mask : {"%k0", "%k1", "%k2", "%k3", "%k4"}) {
        lane.registers[mask] = 0xffffffff;
      }
      for (const char* number : {"0", "1", "2", "3"}) {
        lane.registers[std::string("%n") + number] = 0;
        lane.registers[std::string("%q") + number] = 0;
      }
      const unsigned own = l * lane_bytes;
      lane.memory = {{"%ms", bytes(shared_, own)},      {"%as", bytes(shared_, own)},
                     {"%mg", bytes(global_, own)},      {"%ag", bytes(global_, own)},
                     {"%ml", bytes(local_, own)},       {"%al", bytes(local_, own)},
                     {"%cs", bytes(common_shared_, 0)}, {"%ds", bytes(common_shared_, 0)},
                     {"%cg", bytes(common_global_, 0)}, {"%dg", bytes(common_global_, 0)}};
    }
    warp_.run(program, ~0u);
  }

  std::vector<std::uint64_t> in_, own_, common_;
  std::vector<std::uint64_t> global_, shared_, local_, common_global_, common_shared_;
  reference::Warp warp_;
};

/// A line, and the lanes it starts from.
struct Alone {
  explicit Alone(Generator& generator, const Form& form)
      : line(generator.line(form)), trial(generator) {}
  Block program() const { return {{Node::Kind::line, line, {}, {}}}; }

  std::string line;
  Trial trial;
};

void expect_each_to_agree(std::vector<Alone>& all) {
  std::vector<std::string> lines;
  std::vector<std::uint64_t> in, own, common;
  const auto append = [](std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const Alone& one : all) {
    lines.push_back(one.line);
    append(in, one.trial.in()), append(own, one.trial.own());
    append(common, one.trial.common());
  }
  LaunchOptions options;
  options.unit = &best_unit();
  const TestRun run =
      run_ptx(kernel_of_each(lines), "k", geometry(1, 32),
              {TestArgument::buffer(std::vector<std::uint64_t>(lines.size() * words_of_program)),
               TestArgument::buffer(in), TestArgument::buffer(own), TestArgument::buffer(common)},
              options);
  if (!run.refusal.empty() || run.outcome.trap) {  // which of them it is, it says alone
    ADD_FAILURE() << run.refusal + run.trap();
    for (Alone& one : all) {
      EXPECT_EQ(one.trial.difference(one.program(), best_unit(), true), "") << one.line;
    }
    return;
  }
  const auto out = run.buffer<std::uint64_t>(0), global = run.buffer<std::uint64_t>(2),
             shared_by_all = run.buffer<std::uint64_t>(3);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Trial::Left left = {&out[i * words_of_program], &global[i * 32 * lane_bytes / 8],
                              &shared_by_all[i * common_bytes / 8]};
    EXPECT_EQ(all[i].trial.difference(all[i].program(), left, true), "") << all[i].line;
  }
}

/// Every instruction by itself, so that a difference names it; a hundred in a kernel.
TEST(Differential, EveryInstructionAgreesAlone) {
  Generator generator(1);
  std::vector<Alone> some;
  for (const Form& form : every_form()) {
    some.emplace_back(generator, form);
    if (some.size() < 100) continue;
    expect_each_to_agree(some);
    some.clear();
  }
  if (!some.empty()) expect_each_to_agree(some);
}

/// Leaves out whatever a program does not need to differ.
template <class Differs>
void shrink(Block& block, const Differs& differs) {
  for (std::size_t i = block.size(); i-- > 0;) {
    const Node node = block[i];
    block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
    if (differs()) continue;
    block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), node);
    // A loop's end and the lanes that are in it are told by its own lines.
    if (node.kind != Node::Kind::loop) shrink(block[i].first, differs);
    if (node.kind != Node::Kind::loop) shrink(block[i].second, differs);
  }
}

/// How often more than usual programs are tried.
unsigned effort() {
  const char* const asked = std::getenv("WARPMETER_RANDOM_PROGRAMS");
  return asked == nullptr ? 1 : static_cast<unsigned>(std::max(1, std::atoi(asked)));
}

void expect_programs_to_agree(unsigned first_seed, const Unit& unit, bool as_machine_code = false) {
  if (!unit.is_supported) GTEST_SKIP() << "this processor has no " << unit.name;
  for (unsigned seed = first_seed; seed < first_seed + 150 * effort(); ++seed) {
    Generator generator(seed);
    Block program = generator.program(60);
    Trial trial(generator);
    const auto difference = [&] { return trial.difference(program, unit, false, as_machine_code); };
    if (difference().empty()) continue;
    shrink(program, [&] { return !difference().empty(); });
    int label = 0;
    ADD_FAILURE() << "seed " << seed << ": " << difference() << "\n" << ptx_of(program, label);
    return;
  }
}

TEST(Differential, RandomProgramsAgreeOnPlainProcessors) {
  expect_programs_to_agree(1'000'000, units()[0]);
}

TEST(Differential, RandomProgramsAgreeAsMachineCode) {
  if (best_unit().vector_bytes == 0) GTEST_SKIP() << "no machine code for " << best_unit().name;
  expect_programs_to_agree(3'000'000, best_unit(), true);
}

TEST(Differential, RandomProgramsAgreeOnTheBestUnit) {
  expect_programs_to_agree(2'000'000, best_unit());
}

}  // namespace
}  // namespace warpmeter::model
