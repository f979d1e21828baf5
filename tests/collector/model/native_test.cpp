// SPDX-License-Identifier: MIT
// Machine code of programs (collector/model/machine/native) against the interpreter: the same
// memory to the last bit, the same counts of instructions and accesses, the same traps.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "collector/model/machine/native/code.h"
#include "tests/collector/model/native_twins.h"
#include "tests/collector/model/random_program.h"

namespace warpmeter::model {
namespace {

using Words = std::vector<std::uint64_t>;

/// True if there are instructions for an operation by itself.
bool is_inlined(Code code, const Unit& unit) {
  Program program;
  Operation operation{};
  operation.code = code;
  operation.guard = no_guard;
  operation.e = no_operand;
  operation.f = 1;
  program.operations = {operation, {Code::leave, no_guard, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
  program.sites.resize(1);
  program.texture_accesses.resize(
      1);  // the tables beside an operation, which it names the first of
  program.products.resize(1);
  program.row_units = 64;
  const auto native = translate(program, unit);
  return native != nullptr && native->inlined(code) > 0;
}

/// Both sets of instructions, where the processor has them: one with AVX-512 runs those of AVX2
/// too.
TEST(Native, IsMadeWhereTheProcessorHasTheInstructions) {
  if (units().size() < 3 || !units()[1].is_supported) GTEST_SKIP() << "no AVX2";
  EXPECT_EQ(native_units().size(), units()[2].is_supported ? 2u : 1u);
  for (const Unit* unit : native_units()) {
    for (const Code code :
         {Code::fma_f32, Code::add_u64, Code::lt_s32, Code::load_u32_u32_a64,
          Code::store_u64_u64_a64, Code::selp_b32, Code::add_rz_f32, Code::fma_rm_f32,
          Code::sub_rp_f64, Code::fma_rz_f64, Code::sqrt_rm_f64}) {
      EXPECT_TRUE(is_inlined(code, *unit)) << static_cast<int>(code);
    }
  }
  EXPECT_FALSE(is_inlined(Code::fma_f32, units()[0]));
}

/// Every instruction of every form by itself, with operands at which it behaves otherwise.
TEST(Native, EveryInstructionDoesWhatTheInterpreterDoes) {
  for (const Unit* unit : native_units()) {
    std::set<Code> wanted, met;
    for (int code = 0; code < static_cast<int>(Code::count); ++code) {
      if (is_inlined(static_cast<Code>(code), *unit)) wanted.insert(static_cast<Code>(code));
    }
    EXPECT_GT(wanted.size(), 150u);
    for (unsigned seed = 1; seed <= 4; ++seed) {
      Generator generator(seed);
      std::vector<std::string> lines;
      const auto run = [&] {
        Words in, own, common;
        for (std::size_t i = 0; i < lines.size(); ++i) {
          for (unsigned j = 0; j < 32 * registers_of_lane; ++j) {
            in.push_back(generator.bits(register_kinds[j % registers_of_lane / each_kind]));
          }
        }
        for (std::size_t i = 0; i < lines.size() * 32 * lane_bytes / 8; ++i) {
          own.push_back(generator.bits('d'));
        }
        for (std::size_t i = 0; i < lines.size() * common_bytes / 8; ++i) {
          common.push_back(generator.bits('d'));
        }
        std::string all;
        for (const std::string& line : lines) all += line + "\n";
        for (const std::uint32_t threads : {32u, 21u}) {
          if (threads < 32 && seed > 1) continue;
          const Twins twins(
              *unit, kernel_of_each(lines), geometry(1, threads),
              {TestArgument::buffer(Words(lines.size() * words_of_program)),
               TestArgument::buffer(in), TestArgument::buffer(own), TestArgument::buffer(common)});
          twins.expect_equal(fmt::format("{} threads: {}", threads, all));
          for (const Code code : wanted) {
            if (twins.code != nullptr && twins.code->inlined(code) > 0) met.insert(code);
          }
        }
        lines.clear();
      };
      for (const Form& form : every_form()) {
        lines.push_back(generator.line(form));
        if (lines.size() == 50) run();
      }
      lines.push_back("rsqrt.approx.f32 %f1, %f2;");  // which no form has: hardware's is another
      run();
    }
    for (const Code code : wanted) {
      const bool loads_or_stores = code >= Code::load_u8_u16_a32 && code < Code::atomic;
      if (loads_or_stores || code == Code::nothing) continue;  // see below
      EXPECT_TRUE(met.contains(code)) << "operation " << static_cast<int>(code);
    }
  }
}

TEST(Native, RandomProgramsDoWhatTheInterpreterDoes) {
  for (const Unit* unit : native_units()) {
    for (unsigned seed = 5'000'000; seed < 5'000'060; ++seed) {
      Generator generator(seed);
      const reference::Block program = generator.program(60);
      Words in, own(32 * lane_bytes / 8), common(common_bytes / 8);
      for (unsigned i = 0; i < 32 * registers_of_lane; ++i) {
        in.push_back(generator.bits(register_kinds[i % registers_of_lane / each_kind]));
      }
      for (const std::uint32_t threads : {32u, 21u}) {
        const Twins twins(
            *unit, kernel_of(program), geometry(1, threads),
            {TestArgument::buffer(Words(32 * words_of_lane + common.size())),
             TestArgument::buffer(in), TestArgument::buffer(own), TestArgument::buffer(common)});
        const std::string what = fmt::format("seed {}, {} threads", seed, threads);
        seed % 6 == 0 ? twins.expect_equal_checked(what) : twins.expect_equal(what);
      }
    }
  }
}

/// Loads and stores whose lanes lie one after the other, at one place, or anyhow, and change
/// between these from round to round, in 32-bit and 64-bit addresses.
TEST(Native, AccessesOfEveryShapeDoWhatTheInterpreterDoes) {
  struct Width {
    const char *load, *store, *row;
    int bytes;
  };
  const Width widths[] = {
      {"u8", "u8", "r", 1},    {"s8", "u8", "r", 1},    {"u16", "u16", "r", 2},
      {"s16", "u16", "r", 2},  {"u32", "u32", "r", 4},  {"u8", "u8", "rd", 1},
      {"s8", "u8", "rd", 1},   {"u16", "u16", "rd", 2}, {"s16", "u16", "rd", 2},
      {"u32", "u32", "rd", 4}, {"s32", "u32", "rd", 4}, {"u64", "u64", "rd", 8}};
  // The place of a lane in round %r9, in elements: %r3.
  const char* const shapes[] = {
      "mov.u32 %r3, %r1;",
      "mov.u32 %r3, %r9;",
      "and.b32 %r3, %r1, 15;",
      "shr.u32 %r3, %r1, 4;",
      "and.b32 %r2, %r9, 16; shr.u32 %r3, %r2, 3; mul.lo.u32 %r3, %r3, %r1; add.u32 %r3, %r3, %r9;",
      "and.b32 %r3, %r1, 15; shr.u32 %r2, %r1, 4; mad.lo.u32 %r3, %r2, 5, %r3;",
      "xor.b32 %r3, %r1, %r9; and.b32 %r3, %r3, 63;"};
  for (const Unit* unit : native_units()) {
    for (const Width& width : widths) {
      for (const char* const shape : shapes) {
        const std::string row = width.row, add = row == "r" ? "u32" : "u64";
        const std::string value = "%" + row + "30", sum = row == "r" ? "%r8" : "%rd9";
        const std::string body = fmt::format(R"(
    {0} mul.lo.u32 %r4, %r3, {1}; mul.wide.u32 %rd3, %r3, {1};
    add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3; add.u32 %r5, %r7, %r4;
    ld.global.{2} {4}, [%rd4];
    xor.b{6} {5}, {5}, {4};
    ld.global.{2} {4}, [%rd4+64];
    add.{7} {5}, {5}, {4};
    st.global.{3} [%rd5], {5};
    st.shared.{3} [%r5+16], {5};
    bar.sync 0;
    ld.shared.{2} {4}, [%r5+16];
    add.{7} {5}, {5}, {4};
    bar.sync 0;)",
                                             shape, width.bytes, width.load, width.store, value,
                                             sum, row == "r" ? 32 : 64, add);
        expect_equal_loops(*unit, body, geometry(2, 96));
      }
    }
    for (const char* const place : {"%r9", "%r1", "0"}) {
      const std::string body = fmt::format(R"(
    mul.wide.u32 %rd3, {}, 16; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
    ld.global.v4.u32 {{%r30, %r31, %r32, %r33}}, [%rd4];
    ld.global.v2.u64 {{%rd30, %rd31}}, [%rd4+4096];
    add.u64 %rd9, %rd9, %rd30; xor.b64 %rd9, %rd9, %rd31;
    xor.b32 %r8, %r8, %r30; add.u32 %r8, %r8, %r31; sub.u32 %r8, %r8, %r32; xor.b32 %r8, %r8, %r33;
    st.global.v4.u32 [%rd5], {{%r8, %r31, %r32, %r30}};)",
                                           std::string(place) == "0" ? "%r7" : place);
      expect_equal_loops(*unit, body, geometry(1, 32));
    }
  }
}

/// Loads through one address row, which is checked once for all of them: where the lanes lie alike
/// in each round, where the round chooses how they lie, by numbers of several widths, and where the
/// row changes, or memory does, before the last of them.
TEST(Native, LoadsThroughOneAddressDoWhatTheInterpreterDoes) {
  // The place of a lane in round %r9, in elements: %r3.
  const char* const shapes[] = {
      "mov.u32 %r3, %r1;",
      "and.b32 %r3, %r9, 63;",
      "shr.u32 %r3, %r1, 4;",
      "and.b32 %r2, %r1, 15; add.u32 %r3, %r2, %r9;",
      "mul.lo.u32 %r3, %r1, 3;",
      "and.b32 %r2, %r9, 16; shr.u32 %r3, %r2, 4; mul.lo.u32 %r3, %r3, %r1; add.u32 %r3, %r3, %r9;",
      "mul.lo.u32 %r2, %r1, 7; and.b32 %r2, %r2, 31; shr.u32 %r3, %r9, 5; add.u32 %r3, %r3, %r2;"};
  struct Width {
    const char *load, *store, *row;
    int bytes;
  };
  const Width widths[] = {{"u8", "u8", "r", 1},   {"s16", "u16", "r", 2}, {"f32", "f32", "f", 4},
                          {"u32", "u32", "r", 4}, {"s8", "u8", "rd", 1},  {"u64", "u64", "rd", 8}};
  for (const Unit* unit : native_units()) {
    for (const Width& width : widths) {
      for (const char* const shape : shapes) {
        const std::string row = width.row;
        const std::string sum = row == "f"   ? "add.f32 %f1, %f1, {}; mov.b32 %r8, %f1;"
                                : row == "r" ? "mad.lo.u32 %r8, %r8, 3, {};"
                                             : "mad.lo.u64 %rd9, %rd9, 3, {};";
        const auto load = [&](const char* from, int offset) {
          const std::string value = "%" + row + "30";
          return fmt::format("ld.{}.{} {}, [{}+{}]; ",
                             std::string(from) == "%r5" ? "shared" : "global", width.load, value,
                             from, offset * width.bytes) +
                 fmt::format(fmt::runtime(sum), value) + "\n";
        };
        const std::string begin = fmt::format(
            "{0} mul.lo.u32 %r4, %r3, {1}; mul.wide.u32 %rd3, %r3, {1}; add.u64 %rd4, %rd1, %rd3; "
            "add.u32 %r5, %r7, %r4; add.u64 %rd5, %rd2, %rd3; mul.wide.u32 %rd8, %r1, 8; "
            "add.u64 %rd8, %rd2, %rd8;\n",
            shape, width.bytes);
        const std::string stores =
            fmt::format("st.shared.{} [%r5+{}], %{}30;\n", width.store, 16 * width.bytes, row);
        expect_equal_loops(*unit,
                           begin + load("%rd4", 0) + load("%rd4", 1) + load("%rd4", 5) +
                               load("%rd4", 64) + stores + "bar.sync 0;\n" + load("%r5", 0) +
                               load("%r5", 16) + load("%r5", 33) + "bar.sync 0;\n",
                           geometry(2, 96), true);
        // A store between them changes what is loaded; then the row changes.
        expect_equal_loops(*unit,
                           begin + load("%rd4", 2) + load("%r5", 1) + stores + load("%r5", 16) +
                               load("%rd4", 3) + "add.u64 %rd4, %rd4, 64;\n" + load("%rd4", 2) +
                               load("%r5", 16) + load("%rd4", 9) + "bar.sync 0;\n",
                           geometry(2, 32), true);
        // From one buffer in some rounds and from the other in others.
        expect_equal_loops(*unit,
                           begin +
                               "and.b32 %r2, %r9, 4; setp.eq.u32 %p2, %r2, 0; "
                               "selp.b64 %rd4, %rd4, %rd5, %p2;\n" +
                               load("%rd4", 1) + load("%rd4", 2) + load("%rd4", 3) +
                               "st.global.u32 [%rd8], %r9;\n",
                           geometry(1, 64), true);
      }
    }
    // A row that the load itself changes.
    expect_equal_loops(*unit,
                       "mul.wide.u32 %rd3, %r1, 8; add.u64 %rd4, %rd1, %rd3; and.b32 %r5, %r9, 7; "
                       "ld.global.u64 %rd5, [%rd4+8]; ld.global.u64 %rd4, [%rd4]; "
                       "add.u64 %rd9, %rd9, %rd5; xor.b64 %rd9, %rd9, %rd4;",
                       geometry(1, 64), true);
  }
}

/// Loads lie alike for some rounds, each at another place in its sector, and then otherwise: the
/// checker is told of the first by how they lay.
TEST(Native, TellsOfLoadsBeforeTheirSiteForgetsHowTheyLay) {
  const char* const distances_change = R"(
    shr.u32 %r2, %r9, 2; and.b32 %r2, %r2, 1; add.u32 %r2, %r2, 1;
    mad.lo.u32 %r3, %r1, %r2, %r9; mul.wide.u32 %rd3, %r3, 4; add.u64 %rd4, %rd1, %rd3;
    ld.global.u32 %r30, [%rd4]; add.u32 %r8, %r8, %r30;)";
  const char* const lanes_leave = R"(
    shr.u32 %r2, %r9, 2; and.b32 %r2, %r2, %r1; and.b32 %r2, %r2, 1;
    setp.ne.u32 %p2, %r2, 0; add.u32 %r3, %r1, %r9; mul.wide.u32 %rd3, %r3, 4;
    add.u64 %rd4, %rd1, %rd3; @%p2 bra over; ld.global.u32 %r30, [%rd4];
    add.u32 %r8, %r8, %r30; over:)";
  const char* const in_shared_memory = R"(
    shr.u32 %r2, %r9, 2; and.b32 %r2, %r2, 1; add.u32 %r2, %r2, 1;
    mad.lo.u32 %r3, %r1, %r2, %r9; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r7;
    ld.shared.u32 %r30, [%r3]; add.u32 %r8, %r8, %r30;)";
  for (const Unit* unit : native_units()) {
    for (const char* const body : {distances_change, lanes_leave, in_shared_memory}) {
      for (const std::uint32_t threads : {32u, 45u, 77u}) {
        expect_equal_loops(*unit, body, geometry(2, threads), true);
      }
    }
  }
}

TEST(Native, LoadsThroughOneAddressAreOneGroup) {
  for (const Unit* unit : native_units()) {
    const Twins twins = twins_of_loop(
        *unit,
        "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; ld.global.u32 %r30, [%rd4]; "
        "ld.shared.u32 %r31, [%r7]; ld.global.u32 %r32, [%rd4+64]; ld.global.u64 %rd5, [%rd1]; "
        "ld.shared.u32 %r33, [%r7+4]; add.u32 %r8, %r8, %r33; ld.shared.u32 %r34, [%r7+8]; "
        "bar.sync 0; ld.shared.u32 %r35, [%r7+12];",
        geometry(1, 32));
    ASSERT_NE(twins.code, nullptr);
    const std::vector<LoadGroup>& groups = twins.code->groups();
    ASSERT_EQ(groups.size(), 2u);
    std::set<std::vector<std::int32_t>> offsets;
    for (const LoadGroup& group : groups) {
      std::vector<std::int32_t> of_group;
      for (const LoadGroup::Load& load : group.loads) of_group.push_back(load.offset);
      offsets.insert(of_group);
    }
    EXPECT_EQ(offsets, (std::set<std::vector<std::int32_t>>{{0, 64}, {0, 4, 8}}));
    // An observer is told of each load by itself.
    const Program& program = twins.native.program;
    const std::vector<std::uint8_t> watched(program.operations.size());
    EXPECT_TRUE(program.native.get(program, *unit, watched)->groups().empty());
  }
}

/// The same where some lanes have gone another way: others at each access, or always the same ones.
/// Other parts of theirs stay as they are.
TEST(Native, AccessesOfSomeLanesDoWhatTheInterpreterDoes) {
  const char* const conditions[] = {"and.b32 %r2, %r1, 3; setp.ne.u32 %p2, %r2, 0;",
                                    "setp.ge.u32 %p2, %r1, 13;", "setp.lt.u32 %p2, %r1, %r9;",
                                    "and.b32 %r2, %r1, 31; setp.eq.u32 %p2, %r2, 17;"};
  // The place of a lane in elements: %r3. In order, each at its own, at one, apart, backwards, two
  // at one.
  const char* const shapes[] = {"mov.u32 %r3, %r1;",
                                "mov.u32 %r3, %r9;",
                                "mul.lo.u32 %r3, %r1, 3;",
                                "sub.u32 %r3, 300, %r1;",
                                "shr.u32 %r3, %r1, 1;",
                                "xor.b32 %r3, %r1, %r9; and.b32 %r3, %r3, 63;",
                                "mul.lo.u32 %r3, %r1, %r9; and.b32 %r3, %r3, 255;"};
  for (const Unit* unit : native_units()) {
    for (const char* const condition : conditions) {
      for (const char* const shape : shapes) {
        const std::string body = fmt::format(R"(
    {} {} mul.lo.u32 %r4, %r3, 8; mul.wide.u32 %rd3, %r3, 8;
    add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3; add.u32 %r5, %r7, %r4;
    st.shared.u32 [%r5+16], %r9; add.u32 %r30, %r9, %r1; mov.u64 %rd30, %rd4; mov.u32 %r31, 7;
    @!%p2 bra over;
    ld.global.u32 %r30, [%rd4+8]; ld.global.u64 %rd30, [%rd4+16]; ld.global.s8 %r31, [%rd4+3];
    add.u32 %r8, %r8, %r30; xor.b64 %rd9, %rd9, %rd30;
    st.global.u32 [%rd5], %r8; st.global.u64 [%rd5+8192], %rd9; st.shared.u32 [%r5+16], %r31;
    ld.shared.u32 %r32, [%r5+16]; ld.global.v2.u32 {{%r33, %r34}}, [%rd4];
    add.u32 %r8, %r8, %r32; xor.b32 %r8, %r8, %r33; add.u32 %r8, %r8, %r34;
    setp.lt.s32 %p3|%p4, %r8, 0; @%p3 add.u32 %r8, %r8, 3; selp.b32 %r34, %r8, %r9, %p4;
  over: add.u32 %r8, %r8, %r30; xor.b64 %rd9, %rd9, %rd30; add.u32 %r8, %r8, %r31;
    ld.shared.u32 %r30, [%r5+16]; add.u32 %r8, %r8, %r30;
    selp.b32 %r30, %r34, %r33, %p3; xor.b32 %r8, %r8, %r30; bar.sync 0;)",
                                             condition, shape);
        expect_equal_loops(*unit, body, geometry(2, 96));
      }
    }
  }
}

/// Variables in local memory, at one address for all lanes and at computed ones.
TEST(Native, LocalMemoryIsEachLanesOwn) {
  const char* const body = R"(
    .local .align 8 .b8 mine[128];
    and.b32 %r2, %r9, 15; mul.wide.u32 %rd3, %r2, 8; mov.u64 %rd4, mine; add.u64 %rd5, %rd4, %rd3;
    st.local.u32 [%rd5], %r8; cvta.local.u64 %rd6, %rd5; st.u32 [%rd6+4], %r1;
    xor.b32 %r2, %r2, %r1; and.b32 %r2, %r2, 15; mul.wide.u32 %rd3, %r2, 8;
    add.u64 %rd5, %rd4, %rd3; ld.local.u32 %r30, [%rd5]; add.u32 %r8, %r8, %r30;
    add.u32 %r8, %r8, %r9; and.b32 %r2, %r1, 1; setp.eq.u32 %p2, %r2, 0; @%p2 bra over;
    cvta.local.u64 %rd6, %rd5; ld.u64 %rd30, [%rd6]; add.u64 %rd9, %rd9, %rd30;
    st.u8 [%rd6+1], %r9;
  over: ld.local.u64 %rd30, [%rd5]; xor.b64 %rd9, %rd9, %rd30;)";
  for (const Unit* unit : native_units()) {
    for (const std::uint32_t threads : {32u, 77u}) {
      expect_equal_loops(*unit, body, geometry(2, threads));
    }
  }
}

/// More values than the processor has registers.
TEST(Native, ValuesThatFindNoRegisterAreNotLost) {
  for (const Unit* unit : native_units()) {
    std::string body;
    for (int i = 30; i < 90; ++i) {
      body += fmt::format("mad.lo.u32 %r{}, %r{}, {}, %r{};\n", i, i == 30 ? 1 : i - 1, i, 9);
      body += fmt::format("mad.wide.u32 %rd{}, %r{}, {}, %rd9;\n", i, i, i);
    }
    for (int i = 30; i < 90; ++i) {
      body += fmt::format("xor.b32 %r8, %r8, %r{0}; add.u64 %rd9, %rd9, %rd{0};\n", i);
    }
    expect_equal_loops(*unit, body, geometry(3, 64));
  }
}

/// Lanes that part and meet again, guards, a warp that is not full, predicates in pairs.
TEST(Native, LanesPartAndMeetAsInTheInterpreter) {
  const char* const bodies[] = {
      R"(and.b32 %r2, %r1, %r9; setp.eq.u32 %p2, %r2, 0; @%p2 bra other;
    add.u32 %r8, %r8, %r1; bra meet;
  other: sub.u32 %r8, %r8, %r9; @!%p2 xor.b32 %r8, %r8, 5;
  meet: xor.b32 %r8, %r8, %r9;)",
      R"(setp.lt.u32 %p2|%p3, %r1, %r9; setp.gt.and.s32 %p4|%p5, %r8, %r9, %p2;
    setp.le.or.u64 %p6, %rd9, %rd1, !%p3; setp.ne.xor.u32 %p7, %r9, 7, %p4;
    and.pred %p2, %p2, %p6; or.pred %p3, %p5, %p7; xor.pred %p2, %p2, %p3; not.pred %p4, %p2;
    selp.b32 %r2, %r9, 3, %p4; selp.b64 %rd3, %rd1, %rd2, %p7; sub.u64 %rd3, %rd3, %rd1;
    @%p3 add.u32 %r8, %r8, %r2; @!%p4 add.u64 %rd9, %rd9, %rd3; @%p2 mov.u32 %r8, 1;)",
      R"(mov.u32 %r2, 0; @%p1 add.u32 %r8, %r8, 1;
  inner: add.u32 %r2, %r2, 1; mad.lo.u32 %r8, %r8, 5, %r2; setp.lt.u32 %p2, %r2, %r1;
    @%p2 bra inner; setp.gt.u32 %p3, %r9, 20; @%p3 bra out; add.u64 %rd9, %rd9, 3; out:)"};
  for (const Unit* unit : native_units()) {
    for (const std::string body : bodies) {
      for (const std::uint32_t threads : {32u, 45u, 256u}) {
        expect_equal_loops(*unit, body, geometry(3, threads));
      }
    }
  }
}

TEST(Native, TrapsAsInTheInterpreter) {
  const char* const bodies[] = {
      // In the 60th round of the loop, behind a store of the same block.
      R"(mul.wide.u32 %rd3, %r9, 1024; add.u64 %rd4, %rd2, %rd3; st.global.u32 [%rd2], %r9;
    add.u32 %r8, %r8, 1; ld.global.u32 %r2, [%rd4+4096]; st.global.u32 [%rd2+4], %r8;)",
      R"(mul.wide.u32 %rd3, %r9, 1024; add.u64 %rd4, %rd2, %rd3; st.global.u32 [%rd4+3072], %r9;)",
      R"(shr.u32 %r2, %r9, 6; cvt.u64.u32 %rd3, %r2; add.u64 %rd4, %rd1, %rd3;
    ld.global.u32 %r3, [%rd4]; st.global.u32 [%rd2], %r9;)",
      // The third of the loads through one address, in the 62nd round; the store before it happens.
      R"(mul.wide.u32 %rd3, %r9, 1024; add.u64 %rd4, %rd2, %rd3; ld.global.u32 %r2, [%rd4];
    ld.global.u32 %r3, [%rd4+4]; st.global.u32 [%rd2], %r9; ld.global.u32 %r3, [%rd4+2048];)",
      R"(setp.eq.u32 %p2, %r9, 70; @%p2 trap; st.global.u32 [%rd2], %r9;)"};
  for (const Unit* unit : native_units()) {
    for (const std::string body : bodies) {
      const Twins twins = twins_of_loop(*unit, body, geometry(1, 64));
      twins.expect_equal_checked(body);
      EXPECT_TRUE(twins.native.outcome.trap) << body;
    }
    LaunchOptions options;
    options.instruction_budget = 300;
    const Twins endless = twins_of_loop(*unit, "add.u32 %r8, %r8, 1;", geometry(1, 32), options);
    endless.expect_equal("endless");
    ASSERT_TRUE(endless.native.outcome.trap);
    EXPECT_EQ(endless.native.outcome.trap->kind, TrapKind::endless);
  }
}

/// A program is translated once its launches have executed enough, whichever they are: those that
/// count and those that do not.
TEST(Native, IsMadeOnceItIsWorthIt) {
  for (const Unit* unit : native_units()) {
    const Twins twins = twins_of_loop(*unit, "add.u32 %r8, %r8, 1;", geometry(1, 32));
    const Program program = twins.native.program;
    LaunchOptions options;
    options.unit = unit;
    const auto run = [&](bool counts) {
      options.counts = counts;
      DeviceMemory memory;
      const auto buffer = [&] {
        return TestArgument::scalar(memory.allocate(std::vector<std::byte>(65536), "b")).bytes;
      };
      const std::vector<std::vector<std::byte>> arguments = {buffer(), buffer()};
      const LaunchOutcome outcome =
          launch(program, geometry(1, 32), *pack_parameters(program, arguments), memory, options);
      EXPECT_FALSE(outcome.trap);
    };
    run(true);
    const std::uint64_t once = program.native.executed();
    EXPECT_GT(once, 300u);
    EXPECT_FALSE(program.native.is_made());
    bool is_counted = true;
    while (program.native.executed() <= default_native_after * program.operations.size()) {
      EXPECT_FALSE(program.native.is_made());
      run(is_counted = !is_counted);
    }
    run(true);
    EXPECT_TRUE(program.native.is_made());
  }
}

/// The second block stores to memory of which there is no room for a copy: what fails is a function
/// that machine code called. Then the blocks run in order, which needs none.
TEST(Native, ExceptionsOfWhatItCallsComeOutBehindIt) {
  const std::string text = module_with(".param .u64 out, .param .u64 large", R"(
    .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [large]; mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p1, %r1, 0; @%p1 bra done;
    mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; st.global.u32 [%rd4], %r1;
  done: mul.wide.u32 %rd5, %r1, 4; add.u64 %rd6, %rd1, %rd5; st.global.u32 [%rd6], %r1; ret;)");
  for (const Unit* unit : native_units()) {
    const TestRun compiled =
        run_ptx(text, "k", geometry(1, 32),
                {TestArgument::buffer(Words(8)), TestArgument::buffer(Words(8))});
    ASSERT_EQ(compiled.refusal, "");
    std::vector<std::byte> page(4096);
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(std::vector<std::byte>(256), "out");
    const std::uint64_t large = out + (std::uint64_t{1} << 32);
    memory.lend(large, page, "large");
    LaunchOptions options;
    options.unit = unit;
    options.counts = false;
    options.threads = 2;
    options.native_after = 0;
    options.most_kept_bytes = page.size();
    const auto parameters = pack_parameters(
        compiled.program, std::vector<std::vector<std::byte>>{TestArgument::scalar(out).bytes,
                                                              TestArgument::scalar(large).bytes});
    const LaunchOutcome outcome =
        launch(compiled.program, geometry(8, 32), *parameters, memory, options);
    EXPECT_FALSE(outcome.trap) << outcome.trap->message;
    EXPECT_EQ(outcome.threads, 1u);
    const std::vector<std::byte> stored = memory.remove(out);
    for (std::uint32_t block = 0; block < 8; ++block) {
      std::uint32_t in_out = 0, in_large = 0;
      std::memcpy(&in_out, stored.data() + 4 * block, 4);
      std::memcpy(&in_large, page.data() + 4 * block, 4);
      EXPECT_EQ(in_out, block);
      EXPECT_EQ(in_large, block);
    }
  }
}

/// Blocks find what they never wrote at zero, whatever the blocks before left there.
TEST(Native, RegistersThatAreReadFirstBeginAtZero) {
  for (const Unit* unit : native_units()) {
    const std::string body =
        "add.u32 %r30, %r30, %r9; add.u64 %rd30, %rd30, 3; add.u32 %r8, %r30, "
        "%r31; mov.u32 %r31, 7; cvt.u64.u32 %rd9, %r8; add.u64 %rd9, %rd9, %rd30;";
    expect_equal_loops(*unit, body, geometry(5, 64));
  }
}

/// Products and textures have their operands in tables: values that are read there alone are kept,
/// also when there are more of them than registers.
TEST(Native, ValuesThatOnlyTablesNameAreNotLost) {
  std::string many;
  for (int i = 30; i < 90; ++i) {
    many += fmt::format("mad.lo.u32 %r{}, %r{}, {}, %r9;\n", i, i == 30 ? 1 : i - 1, i);
  }
  std::string sums =
      "mov.b32 %r20, %f1; add.u32 %r8, %r8, %r20; mov.b32 %r20, %f4;\n"
      "add.u32 %r8, %r8, %r20;\n";
  for (int i = 40; i < 90; ++i) sums += fmt::format("xor.b32 %r8, %r8, %r{};\n", i);
  std::string halves;
  for (int i = 90; i < 96; ++i) {
    halves += fmt::format("mul.lo.u32 %r{0}, %r1, {0}; and.b32 %r{0}, %r{0}, 0x3fff3fff;\n", i);
  }
  const std::string product =
      halves + many +
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r90, %r91, %r92, "
      "%r93}, {%r94, %r95}, {%f5, %f6, %f7, %f8};\n" +
      sums;
  const std::string sample =
      "cvt.rn.f32.u32 %f5, %r1; cvt.rn.f32.u32 %f6, %r9; mov.u64 %rd30, 7;\n" + many +
      "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd30, {%f5, %f6}];\n" + sums;
  Textures textures;
  Texture& texture = textures.textures[7];
  texture.format.bits = 32;
  texture.format.channels = 1;
  texture.format.kind = ChannelKind::floating;
  Image image;
  image.address = DeviceMemory().allocate(std::vector<std::byte>(65536), "in");
  image.width = image.height = 32;
  image.depth = 1;
  image.row_bytes = 128;
  image.slice_bytes = 4096;
  texture.levels.push_back(image);
  LaunchOptions options;
  options.textures = &textures;
  for (const Unit* unit : native_units()) {
    for (const std::string& body : {product, sample}) {
      twins_of_loop(*unit, body, geometry(2, 64), options).expect_equal(body);
    }
  }
}

/// Accesses of each space and width, which go wrong in a few lanes or
/// rounds: over the end of a buffer and back, before it, not aligned, of lanes that are not there.
TEST(Native, IsCheckedAsTheInterpreterIs) {
  std::vector<std::string> bodies;
  // %rd3: where a lane accesses from %rd1 on. Across sectors, to the end, beyond it, before it.
  const char* const places[] = {
      "mul.wide.u32 %rd3, %r1, {0}; add.u64 %rd3, %rd3, 24;",
      "add.u32 %r2, %r1, %r9; mul.wide.u32 %rd3, %r2, {0}; add.u64 %rd3, %rd3, 64000;",
      "mul.wide.u32 %rd3, %r1, {0}; mul.wide.u32 %rd4, %r9, {0}; sub.u64 %rd3, %rd3, %rd4;",
      R"(mul.wide.u32 %rd3, %r1, {0}; shr.u32 %r2, %r9, 6; cvt.u64.u32 %rd4, %r2;
      add.u64 %rd3, %rd3, %rd4;)",
      "and.b32 %r2, %r1, %r9; mul.wide.u32 %rd3, %r2, {0};"};
  struct Width {
    const char *type, *load, *store;
    int bytes;
  };
  const Width widths[] = {{"u8", "%r30", "%r8", 1},
                          {"u16", "%h3", "%h4", 2},
                          {"u32", "%r30", "%r8", 4},
                          {"u64", "%rd30", "%rd9", 8},
                          {"v2.u32", "{%r30, %r31}", "{%r8, %r9}", 8},
                          {"v4.u32", "{%r30, %r31, %r32, %r33}", "{%r8, %r9, %r1, %r8}", 16},
                          {"v2.u64", "{%rd30, %rd31}", "{%rd9, %rd1}", 16}};
  for (const Width& width : widths) {
    for (const char* const place : places) {
      const std::string where = fmt::format(fmt::runtime(place), width.bytes);
      struct Condition {
        const char *guard, *branch, *meeting;
      };
      for (const Condition& on :
           {Condition{"", "", ""}, {"@%p2 ", "", ""}, {"", "@!%p2 bra over;", "over:"}}) {
        bodies.push_back(fmt::format(R"({0} setp.lt.u32 %p2, %r1, %r9; {5}
    add.u64 %rd5, %rd1, %rd3; add.u64 %rd6, %rd2, %rd3;
    {4}ld.global.{1} {2}, [%rd5]; {4}st.global.{1} [%rd6], {3}; {4}ld.global.{1} {2}, [%rd6];
    {4}ld.{1} {2}, [%rd5]; {4}st.global.{1} [%rd6+4096], {3}; {4}st.{1} [%rd6], {3};
    {6} add.u32 %r8, %r8, %r30; add.u64 %rd9, %rd9, %rd30;)",
                                     where, width.type, width.load, width.store, on.guard,
                                     on.branch, on.meeting));
        bodies.push_back(fmt::format(R"({0} setp.ge.u32 %p2, %r1, %r9; bar.sync 0; {5}
    cvt.u32.u64 %r5, %rd3; add.u32 %r5, %r5, %r7;
    cvt.u64.u32 %rd5, %r5; cvta.shared.u64 %rd5, %rd5;
    {4}ld.shared.{1} {2}, [%r5]; {4}st.shared.{1} [%r5+4], {3}; {4}ld.shared.{1} {2}, [%r5+4];
    {4}ld.{1} {2}, [%rd5]; {4}st.{1} [%rd5+64], {3};
    {6} add.u32 %r8, %r8, %r30; add.u64 %rd9, %rd9, %rd30;)",
                                     where, width.type, width.load, width.store, on.guard,
                                     on.branch, on.meeting));
      }
      bodies.push_back(fmt::format(
          ".local .align 16 .b8 mine[256]; mov.u64 %rd4, mine; {0} and.b64 %rd3, %rd3, 255;\n"
          "add.u64 %rd4, %rd4, %rd3; cvta.local.u64 %rd5, %rd4;\n"
          "ld.local.{1} {2}, [%rd4]; st.local.{1} [%rd4], {3}; ld.{1} {2}, [%rd5];\n"
          "add.u32 %r8, %r8, %r30; add.u64 %rd9, %rd9, %rd30;",
          where, width.type, width.load, width.store));
    }
  }
  for (const char* const atomic :
       {"atom.{0}add.u32 %r30, [{1}], %r9;", "red.{0}max.u32 [{1}], %r9;",
        "atom.{0}cas.b32 %r30, [{1}], %r9, %r8;", "@%p2 atom.{0}add.u64 %rd30, [{1}], %rd9;",
        "@%p2 red.{0}add.f32 [{1}], %f1;", "atom.{0}exch.b32 %r30, [{1}], %r1;"}) {
    for (const char* const place : places) {
      const std::string where = fmt::format(fmt::runtime(place), 8);
      const auto one = [&](const char* space, const char* at) {
        return fmt::format(fmt::runtime(atomic), space, at);
      };
      bodies.push_back(fmt::format(
          "{} setp.lt.u32 %p2, %r1, %r9; cvt.rn.f32.u32 %f1, %r9; add.u64 %rd5, %rd2, %rd3;\n"
          "cvt.u32.u64 %r5, %rd3; add.u32 %r5, %r5, %r7;\n"
          "{} {} {} st.shared.u32 [%r5], %r1; {} ld.global.u32 %r31, [%rd5]; membar.gl;\n"
          "add.u32 %r8, %r8, %r30; add.u64 %rd9, %rd9, %rd30;",
          where, one("global.", "%rd5"), one("", "%rd5"), one("shared.", "%r5"),
          one("cta.shared.", "%r5")));
    }
  }
  // Strong accesses, equal values at one place, exchanges, barriers of some warps, early ends.
  for (const char* const body : {
           R"(st.global.u32 [%rd2], %r9; st.global.u32 [%rd2+4], %r1;
    ld.volatile.global.u32 %r30, [%rd2]; add.u32 %r8, %r8, %r30;)",
           R"(st.relaxed.gpu.global.u32 [%rd2+64], %r9; fence.acq_rel.gpu;
    ld.acquire.gpu.global.u32 %r30, [%rd2+64]; st.release.gpu.global.u32 [%rd2+128], %r30;)",
           R"(shfl.sync.down.b32 %r30|%p2, %r8, 3, 31, -1; vote.sync.ballot.b32 %r31, %p2, -1;
    add.u32 %r8, %r30, %r31; setp.gt.u32 %p3, %r1, 13; @%p3 bra over;
    shfl.sync.idx.b32 %r32, %r8, 20, 31, 0x3fff; add.u32 %r8, %r8, %r32; over:)",
           R"(mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; setp.lt.u32 %p2, %r1, 64;
    @!%p2 bra over; st.global.u32 [%rd4], %r9; bar.sync 1, 64; ld.global.u32 %r30, [%rd4+128];
    over: add.u32 %r8, %r8, %r30;)",
           R"(setp.gt.u32 %p2, %r9, 50; setp.gt.and.u32 %p3, %r1, 40, %p2; @%p3 ret; bar.sync 0;
    add.u32 %r8, %r8, 1;)",
           R"(setp.lt.u32 %p2, %r1, 10; @%p2 mov.u32 %r40, %r9; add.u32 %r8, %r8, %r40;
    and.b32 %r41, %r41, 1; setp.eq.u32 %p3, %r41, 1; @%p3 add.u32 %r8, %r8, 1;)"}) {
    bodies.emplace_back(body);
  }
  for (const Unit* unit : native_units()) {
    for (const std::string& body : bodies) {
      const std::string fewer = body + "\nadd.u32 %r9, %r9, 4;";  // rounds
      const Twins twins = twins_of_loop(*unit, fewer, geometry(2, 77));
      ASSERT_EQ(twins.native.refusal, "") << body;
      expect_equal_checks(*unit, twins.native.program, twins.shape, twins.arguments, body);
    }
  }
}

/// Blocks side by side tell of each access to what is stored to. In their last rounds those of a
/// stride of 120 words meet, which only machine code comes to: then the blocks run in order.
TEST(Native, TellsOfAccessesOnSeveralThreadsAndCountsThemOnce) {
  for (const auto& [stride, threads] : {std::pair{256, 2u}, std::pair{120, 1u}}) {
    const std::string text = loop_of(fmt::format(R"(
    mov.u32 %r20, %ctaid.x; mad.lo.u32 %r20, %r20, {}, %r9; add.u32 %r20, %r20, %r1;
    mul.wide.u32 %rd3, %r20, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
    ld.global.u32 %r30, [%rd4]; ld.global.u32 %r31, [%rd5]; add.u32 %r8, %r30, %r31;
    st.global.u32 [%rd5], %r8;)",
                                                 stride));
    const std::vector<TestArgument> buffers(2, TestArgument::buffer(Words(8192, 5)));
    for (const Unit* unit : native_units()) {
      LaunchOptions options;
      options.unit = unit;
      options.threads = 1;
      options.native_after = ~std::uint64_t{0} >> 32;
      const TestRun one = run_ptx(text, "k", geometry(16, 32), buffers, options);
      options.threads = 2;
      options.native_after = 0;
      const TestRun two = run_ptx(text, "k", geometry(16, 32), buffers, options);
      EXPECT_EQ(one.trap() + two.trap(), "");
      EXPECT_EQ(two.outcome.threads, threads) << stride;
      EXPECT_EQ(two.outcome.counts, one.outcome.counts) << stride;
      EXPECT_EQ(two.outcome.thread_instructions, one.outcome.thread_instructions) << stride;
      EXPECT_TRUE(two.buffers == one.buffers) << stride;
    }
  }
}

/// A copy of a program has code of its own.
TEST(Native, BelongsToItsProgram) {
  for (const Unit* unit : native_units()) {
    const Twins twins = twins_of_loop(*unit, "add.u32 %r8, %r8, 1;", geometry(1, 32));
    const Program copy = twins.native.program;
    EXPECT_EQ(twins.native.program.native.get(twins.native.program, *unit), twins.code);
    EXPECT_NE(copy.native.get(copy, *unit), twins.code);
  }
}

}  // namespace
}  // namespace warpmeter::model
