// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <sstream>

#include "collector/model/ptx/row.h"
#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

struct Allocated {
  explicit Allocated(const std::string& text)
      : module(parsed(text)),
        function(module->functions[0]),
        graph(graph_of(function)),
        data(data_flow(function)),
        slots(allocate(data, graph)) {}

  std::uint32_t slot(std::string_view name) const { return slots.slot[data.find(name).value()]; }
  std::uint32_t count(Width width) const { return slots.count[static_cast<std::size_t>(width)]; }

  std::unique_ptr<Module> module;
  const Function& function;
  ControlFlow graph;
  DataFlow data;
  Slots slots;
};

TEST(PtxSlots, RegistersThatFollowEachOtherShare) {
  const Allocated k(
      entry("mov.u32 %r1, 1;\nst.global.u32 [%d1], %r1;\n"
            "mov.u32 %r2, 2;\nst.global.u32 [%d1], %r2;\nret;"));
  EXPECT_EQ(k.slot("%r1"), k.slot("%r2"));
  EXPECT_EQ(k.count(Width::word), 1u);
  EXPECT_EQ(k.count(Width::pair), 1u);
  EXPECT_EQ(k.count(Width::predicate), 0u);
}

TEST(PtxSlots, AResultNeverSharesWithAnOperand) {
  const Allocated k(
      entry("mov.u32 %r1, 1;\nadd.u32 %r2, %r1, 1;\nst.global.u32 [%d1], %r2;\nret;"));
  EXPECT_NE(k.slot("%r1"), k.slot("%r2"));
}

TEST(PtxSlots, AResultThatNobodyReadsTakesASlotAllTheSame) {
  const Allocated k(entry("mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nst.global.u32 [%d1], %r1;\nret;"));
  EXPECT_NE(k.slot("%r1"), k.slot("%r2"));
}

TEST(PtxSlots, AValueOfTheNextIterationLivesThroughTheWholeLoop) {
  const Allocated k(entry(
      "mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nst.global.u32 [%d1], %r1;\n"
      "mov.u32 %r2, 7;\nst.global.u32 [%d1], %r2;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\nret;"));
  EXPECT_NE(k.slot("%r1"), k.slot("%r2"));
}

TEST(PtxSlots, AValueReadOnlyBeforeTheLoopEndsIsKeptAcrossTheBackEdge) {
  // %r1 is read at the loop's head only, but by every iteration.
  const Allocated k(
      entry("mov.u32 %r1, 5;\nL: st.global.u32 [%d1], %r1;\nmov.u32 %r2, 7;\n"
            "st.global.u32 [%d1], %r2;\n@%p1 bra L;\nret;"));
  EXPECT_NE(k.slot("%r1"), k.slot("%r2"));
}

TEST(PtxSlots, AGuardedWriteDoesNotEndTheOldValue) {
  const Allocated k(
      entry("mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nst.global.u32 [%d1], %r2;\n@%p1 mov.u32 %r1, 3;\n"
            "st.global.u32 [%d1], %r1;\nret;"));
  EXPECT_NE(k.slot("%r1"), k.slot("%r2"));
}

TEST(PtxSlots, WidthsHaveSlotsOfTheirOwn) {
  const Allocated k(entry("mov.u32 %r1, 1;\nmov.u64 %d1, 1;\nsetp.eq.u32 %p1, %r1, 1;\nret;"));
  EXPECT_EQ(k.slot("%r1"), 0u);
  EXPECT_EQ(k.slot("%d1"), 0u);
  EXPECT_EQ(k.slot("%p1"), 0u);
}

/// Random functions of ifs and loops in which every register is written before it is read, their
/// blocks in random order.
class RandomFunction {
 public:
  explicit RandomFunction(unsigned seed) : random_(seed) {}

  std::string text() {
    for (int i = 0; i < 3; ++i) line("mov.u32 " + fresh() + ", " + std::to_string(i) + ";");
    statements(3);
    line("st.global.u32 [" + known() + "], " + known() + ";\nret;");
    shuffle();
    return with_header(".entry k() {\n.reg .pred %p<" + std::to_string(predicates_ + 1) +
                       ">;\n.reg .b32 %r<" + std::to_string(registers_ + 1) + ">;\n" + text_ +
                       "}\n");
  }

 private:
  /// Puts the blocks into any order, each with an explicit branch to the one that followed it.
  void shuffle() {
    std::vector<std::string> blocks = {""};
    std::istringstream lines(text_);
    for (std::string at; std::getline(lines, at);) {
      const bool is_label = at.back() == ':';
      const bool ends_block = at.find("bra ") != std::string::npos;
      if (is_label) next_block(blocks);
      blocks.back() += at + "\n";
      if (ends_block) next_block(blocks);
    }
    std::shuffle(blocks.begin() + 1, blocks.end(), random_);
    text_.clear();
    for (const std::string& block : blocks) text_ += block;
  }
  static void next_block(std::vector<std::string>& blocks) {
    const std::string label = "B" + std::to_string(blocks.size());
    blocks.back() += "bra " + label + ";\n";
    blocks.push_back(label + ":\n");
  }

  unsigned below(unsigned limit) { return random_() % limit; }
  void line(const std::string& line) { text_ += line + "\n"; }
  std::string name(unsigned id) const { return "%r" + std::to_string(id); }
  std::string known() { return name(written_[below(static_cast<unsigned>(written_.size()))]); }
  std::string fresh() {
    written_.push_back(registers_);
    return name(registers_++);
  }
  std::string predicate() {
    const std::string p = "%p" + std::to_string(predicates_++);
    line("setp.lt.u32 " + p + ", " + known() + ", " + known() + ";");
    return p;
  }

  void statements(int depth) {
    for (unsigned n = 2 + below(5); n > 0; --n) statement(depth);
  }

  void statement(int depth) {
    const unsigned kind = below(depth > 0 ? 8 : 5);
    if (kind == 0) {
      line("st.global.u32 [" + known() + "], " + known() + ";");
    } else if (kind == 1) {
      const std::string guard = predicate();
      line("@" + guard + " add.u32 " + known() + ", " + known() + ", 1;");
    } else if (kind == 2) {
      line("add.u32 " + known() + ", " + known() + ", 3;");  // not SSA: a variable of a loop
    } else if (kind < 5) {
      const std::string a = known(), b = known();
      line("add.u32 " + fresh() + ", " + a + ", " + b + ";");
    } else if (kind == 5) {
      const std::string label = "L" + std::to_string(labels_++);
      const std::vector<unsigned> before = written_;
      line(label + ":");
      statements(depth - 1);
      line("@" + predicate() + " bra " + label + ";");
      if (below(2) == 0) written_ = before;
    } else {
      const std::string other = "E" + std::to_string(labels_),
                        after = "A" + std::to_string(labels_++);
      const std::vector<unsigned> before = written_;
      line("@!" + predicate() + " bra " + other + ";");
      statements(depth - 1);
      line("bra " + after + ";\n" + other + ":");
      written_ = before;
      if (kind == 6) statements(depth - 1);
      line(after + ":");
      written_ = before;
    }
  }

  std::mt19937 random_;
  std::string text_;
  std::vector<unsigned> written_;
  unsigned registers_ = 0, predicates_ = 0;
  int labels_ = 0;
};

/// Runs one thread with made-up semantics: what an instruction writes is a hash of what it reads.
/// Returns everything that it stored, in order.
std::vector<std::uint64_t> trace(const Allocated& k, bool shares_slots, std::size_t most_steps) {
  std::map<std::pair<int, std::uint32_t>, std::uint64_t> storage;
  const auto cell = [&](RegisterId id) -> std::uint64_t& {
    if (!shares_slots) return storage[{-1, id}];
    return storage[{static_cast<int>(k.data.registers()[id].width), k.slots.slot[id]}];
  };
  std::vector<std::uint64_t> stored;
  for (std::size_t at = 0, steps = 0; at < k.function.body.size() && steps < most_steps; ++steps) {
    const Instruction& instruction = k.function.body[at];
    const bool runs =
        !instruction.guard || ((cell(*k.data.find(instruction.guard->predicate)) >> 7 & 1) != 0) !=
                                  instruction.guard->negated;
    std::uint64_t hash = 0x9e3779b97f4a7c15u * (at + 1);
    for (const RegisterId id : k.data.reads(at)) hash = (hash ^ cell(id)) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 33;
    const std::size_t here = at++;
    if (!runs) continue;
    for (const RegisterId id : k.data.writes(here)) cell(id) = hash++;
    if (instruction.opcode == Opcode::ret) break;
    if (instruction.opcode == Opcode::st) stored.push_back(hash);
    if (instruction.opcode == Opcode::bra) at = k.function.labels.at(instruction.operands[0].name);
  }
  return stored;
}

TEST(PtxSlots, RandomFunctionsComputeTheSameInSharedSlots) {
  std::size_t registers = 0, slots = 0, stores = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Allocated k(RandomFunction(seed).text());
    const auto apart = trace(k, false, 2000);
    ASSERT_EQ(apart, trace(k, true, 2000)) << "seed " << seed << "\n" << k.module->text;
    registers += k.data.registers().size();
    slots += k.count(Width::word) + k.count(Width::predicate);
    stores += apart.size();
  }
  EXPECT_GT(stores, 1000u);
  EXPECT_LT(slots, registers / 2);
}

}  // namespace
}  // namespace warpmeter::model::ptx
