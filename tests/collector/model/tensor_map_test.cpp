// SPDX-License-Identifier: MIT
// Descriptors of tensors that a kernel makes of zeros, field by field. The meaning of each field
// and the numbers of its values are those of the PTX ISA (tensormap.replace, Table "Tensormap
// new_val validity"; tensormap.cp_fenceproxy).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/collector/model/on_units.h"
#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t first_number = 1000, count = 1024, beside_zero = 0, beside_nan = 0x7ff77ff7;

/// The tensor: 16 columns and 32 rows of 32-bit numbers that lie one behind the other in `in`.
struct Fields {
  std::string space = ".shared::cta", map = "%r5";
  std::string address = "%rd1", rank = "1", columns = "16", rows = "32", stride = "64";
  std::string box_columns = "8", box_rows = "8", step = "1";
  std::string type = "2", swizzle = "0", fill = "0";
};

std::string replace(const Fields& f) {
  const auto one = [&](const std::string& field, const std::string& type, const std::string& what) {
    return "@%p1 tensormap.replace.tile." + field + f.space + ".b1024." + type + " [" + f.map +
           "], " + what + ";\n";
  };
  return one("global_address", "b64", f.address) + one("rank", "b32", f.rank) +
         one("box_dim", "b32", "0, " + f.box_columns) + one("box_dim", "b32", "1, " + f.box_rows) +
         one("global_dim", "b32", "0, " + f.columns) + one("global_dim", "b32", "1, " + f.rows) +
         "mov.u64 %rd5, " + f.stride + ";\n" + one("global_stride", "b64", "0, %rd5") +
         one("element_stride", "b32", "0, 1") + one("element_stride", "b32", "1, " + f.step) +
         one("elemtype", "b32", f.type) + one("interleave_layout", "b32", "0") +
         one("swizzle_mode", "b32", f.swizzle) + one("fill_mode", "b32", f.fill);
}

// %rd1 in, %rd2 out, %rd3 the map in global memory, %r1 thread, %r2 tile, %r3 the barrier object,
// %r5 the map in shared memory, of zeros; %p1: the first thread.
constexpr std::string_view tensor_map_begin = R"(
  .reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .pred %p<4>;
  .shared .align 1024 .b8 tile[4096]; .shared .align 8 .b8 object[8]; .shared .align 128 .b8 made[128];
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [map];
  mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r3, object; mov.u32 %r5, made;
  setp.eq.u32 %p1, %r1, 0; mov.u32 %r6, 0;
  shl.b32 %r7, %r1, 2; add.s32 %r8, %r5, %r7; st.shared.b32 [%r8], %r6;
  @%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
  bar.sync 0;
)";
constexpr std::string_view publish = R"(
  bar.warp.sync -1;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd3], [%r5], 128;
)";

/// Loads a box at column and row, and stores the words of the tile.
std::string load(const std::string& corner, unsigned bytes, const std::string& rank = "2d") {
  return "  fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;\n"
         "  @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], " +
         std::to_string(bytes) + ";\n  @%p1 cp.async.bulk.tensor." + rank +
         ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd3, {" + corner +
         "}], [%r3];\n" + R"(
again: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0; @!%p2 bra again;
next: add.s32 %r9, %r2, %r7; ld.shared.b32 %r10, [%r9]; cvt.u64.u32 %rd6, %r7; add.s64 %rd7, %rd2, %rd6;
  st.global.b32 [%rd7], %r10; add.s32 %r7, %r7, 128; setp.lt.u32 %p3, %r7, )" +
         std::to_string(bytes) + "; @%p3 bra next; ret;";
}

TestRun run(const std::string& body, const LaunchOptions& options = {},
            const std::string& target = "sm_90a") {
  Words in(count);
  std::iota(in.begin(), in.end(), first_number);
  return run_ptx(".version 8.6\n.target " + target +
                     "\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out, "
                     ".param .u64 map)\n{\n" +
                     std::string(tensor_map_begin) + body + "\n}\n",
                 "k", geometry(1, 32),
                 {TestArgument::buffer(in), TestArgument::buffer(Words(count)),
                  TestArgument::buffer(Words(32))},
                 options);
}

TestRun run_box(const Fields& fields, const std::string& corner, unsigned bytes) {
  return run(replace(fields) + std::string(publish) + load(corner, bytes));
}

/// The words of a box of 8 columns, `step` rows apart; those beside the tensor are `beside`.
Words box(std::int32_t column, std::int32_t row, unsigned rows, std::int32_t step = 1,
          std::uint32_t beside = beside_zero, std::int32_t columns = 16, std::int32_t pitch = 16) {
  Words words;
  for (unsigned r = 0; r < rows; ++r, row += step) {
    for (std::int32_t c = column; c < column + 8; ++c) {
      const bool is_inside = c < columns && row < 32;
      words.push_back(is_inside ? first_number + static_cast<std::uint32_t>(row * pitch + c)
                                : beside);
    }
  }
  return words;
}

void expect_words(const TestRun& ran, Words words) {
  ASSERT_EQ(ran.refusal + ran.trap(), "");
  words.resize(count);
  EXPECT_EQ(ran.buffer<std::uint32_t>(1), words);
}

TEST(TensorMap, MadeInSharedMemoryAndPublishedLeadsABox) {
  const std::string body = replace({}) + std::string(publish) + load("4, 2", 256);
  for (const Unit& unit : units()) {
    for (const bool as_machine_code : {false, true}) {
      if (!lacks(unit, as_machine_code).empty()) continue;
      expect_words(run(body, options_of(unit, as_machine_code)), box(4, 2, 8));
    }
  }
}

TEST(TensorMap, MadeInGlobalMemoryWithOrWithoutItsSpaceLeadsABox) {
  for (const std::string space : {".global", ""}) {
    Fields fields;
    fields.space = space;
    fields.map = "%rd3";
    expect_words(run(replace(fields) + "bar.sync 0;" + load("4, 2", 256)), box(4, 2, 8));
  }
}

TEST(TensorMap, ValuesMayStandInRegisters) {
  Fields fields;
  fields.rank = "%r11";
  fields.rows = "%r12";
  fields.box_rows = "%r13";
  fields.step = "%r11";
  const std::string set = "mov.u32 %r11, 1; mov.u32 %r12, 32; mov.u32 %r13, 4;\n";
  expect_words(run(set + replace(fields) + std::string(publish) + load("8, 30", 128)),
               box(8, 30, 4));
}

TEST(TensorMap, AFieldIsReplacedOnceMore) {
  Fields moved;
  moved.address = "%rd4";
  const std::string again = replace({}) + "add.s64 %rd4, %rd1, 64;\n" + replace(moved);
  Words words = box(0, 0, 8);
  for (std::uint32_t& word : words) word += 16;
  expect_words(run(again + std::string(publish) + load("0, 0", 256)), words);
}

TEST(TensorMap, StridesBeyondFourGigabytesKeepTheirHighestBits) {
  Fields fields;
  fields.stride = "0x1000000040";  // the second row lies beside the memory
  fields.box_rows = "2";
  EXPECT_THAT(run_box(fields, "0, 0", 64).trap(), HasSubstr("loads 16 bytes of global memory"));
  fields.box_rows = "1";
  expect_words(run_box(fields, "0, 0", 32), box(0, 0, 1));
}

TEST(TensorMap, ExtentsStridesAndStepsAreThoseReplaced) {
  Fields fields;
  fields.columns = "10";
  expect_words(run_box(fields, "4, 28", 256), box(4, 28, 8, 1, beside_zero, 10));
  fields = {};
  fields.stride = "128";
  expect_words(run_box(fields, "4, 2", 256), box(4, 2, 8, 1, beside_zero, 16, 32));
  fields = {};
  fields.step = "2";  // four of the eight rows
  expect_words(run_box(fields, "0, 3", 128), box(0, 3, 4, 2));
}

TEST(TensorMap, FillIsNaNWhereTheFieldSaysSo) {
  Fields fields;
  fields.type = "7";
  expect_words(run_box(fields, "8, 28", 256), box(8, 28, 8));
  fields.fill = "1";
  expect_words(run_box(fields, "8, 28", 256), box(8, 28, 8, 1, beside_nan));
}

TEST(TensorMap, ASwizzleOf32BytesSwapsHalvesOfEverySecondLine) {
  Fields fields;
  fields.swizzle = "1";
  Words words = box(0, 0, 8);
  for (std::size_t row = 4; row < 8; ++row) {  // 128 bytes: four rows
    std::swap_ranges(words.begin() + row * 8, words.begin() + row * 8 + 4,
                     words.begin() + row * 8 + 4);
  }
  expect_words(run_box(fields, "0, 0", 256), words);
}

/// Eight elements of every type: rows of 8, 16, 32 and 64 bytes; a row has 16 at least.
TEST(TensorMap, ElementsAreAsWideAsTheTableSays) {
  const unsigned bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
  for (unsigned type = 0; type < std::size(bytes); ++type) {
    Fields fields;
    fields.type = std::to_string(type);
    fields.box_columns = "16";
    fields.box_rows = "1";
    const TestRun ran = run_box(fields, "0, 0", 16 * bytes[type]);
    EXPECT_EQ(ran.refusal + ran.trap(), "") << type;
  }
}

TEST(TensorMap, ATf32IsRoundedAndAnF32IsNot) {
  Fields fields;
  fields.box_rows = "1";
  fields.type = "11";
  const TestRun ran = run_box(fields, "0, 0", 32);
  EXPECT_EQ(ran.buffer<std::uint32_t>(1)[0], 0u);  // 1000 is less than half of the 13 bits dropped
  fields.type = "8";
  expect_words(run_box(fields, "0, 0", 32), box(0, 0, 1));
}

TEST(TensorMap, ACopyNamesAsManyAxesAsTheFieldRank) {
  Fields fields;
  fields.rank = "0";
  Words words = box(4, 0, 1);
  const std::string made = replace(fields) + std::string(publish);
  expect_words(run(made + load("4", 32, "1d")), words);
  EXPECT_THAT(run(made + load("4, 0", 32)).trap(), HasSubstr("another number of dimensions"));
  EXPECT_THAT(run(std::string(publish) + load("4", 32, "1d")).trap(),
              HasSubstr("no descriptor of a tensor"));
}

/// By the machine code of ptxas 13.0 for sm_90a: an address is one store of 64 bits, the rank a
/// load and a store, an extent one store, a stride a store, a load and a store. A box counts as any
/// other.
TEST(TensorMap, AccessesAreCountedAsTheMachineCodeHasThem) {
  const auto requests = [](const std::string& body) {
    const TestRun ran = run(body + " ret;");
    EXPECT_EQ(ran.refusal + ran.trap(), "");
    std::uint64_t loads = 0, stores = 0;
    for (std::size_t i = 0; i < ran.program.sites.size(); ++i) {
      const SiteInfo& site = ran.program.sites[i];
      if (site.space != AddressSpace::shared || site.kind == AccessKind::atomic) continue;
      const bool is_initial = site.kind == AccessKind::store &&
                              ran.outcome.counts[i].shared.requests == 1 &&
                              site.instruction == ran.program.sites[0].instruction;
      if (is_initial) continue;
      (site.kind == AccessKind::load ? loads : stores) += ran.outcome.counts[i].shared.requests;
    }
    return std::pair(loads, stores);
  };
  const auto one = [](const std::string& field, const std::string& what) {
    return "@%p1 tensormap.replace.tile." + field + " [%r5], " + what + ";";
  };
  const auto initial = requests("");
  const auto more = [&](const std::string& body) {
    const auto [all_loads, all_stores] = requests(body);
    return std::pair(all_loads - initial.first, all_stores - initial.second);
  };
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(more(one("global_address.shared::cta.b1024.b64", "%rd1")), Pair(0, 1));
  EXPECT_EQ(more(one("rank.shared::cta.b1024.b32", "1")), Pair(1, 1));
  EXPECT_EQ(more(one("global_dim.shared::cta.b1024.b32", "4, 16")), Pair(0, 1));
  EXPECT_EQ(more(one("global_stride.shared::cta.b1024.b64", "3, %rd1")), Pair(1, 2));
  EXPECT_EQ(more(std::string(publish)), Pair(1, 0));
}

TEST(TensorMap, WhatTheModelHasNotIsRefusedByName) {
  const auto refusal = [](const std::string& form, const std::string& operands) {
    return run("tensormap." + form + " " + operands + "; ret;").refusal;
  };
  const auto of = [&](const std::string& field, const std::string& what) {
    return refusal("replace.tile." + field + ".shared::cta.b1024.b32", "[%r5], " + what);
  };
  EXPECT_THAT(of("elemtype", "13"), HasSubstr("none of 0 to 12"));
  EXPECT_THAT(of("elemtype", "%r1"), HasSubstr("none of 0 to 12"));
  EXPECT_THAT(of("interleave_layout", "1"), HasSubstr("none of 0 to 0"));
  EXPECT_THAT(of("swizzle_mode", "4"), HasSubstr("none of 0 to 3"));
  EXPECT_THAT(of("swizzle_atomicity", "0"), HasSubstr("PTX 8.6 for sm_100"));
  const auto atomicity = [](const std::string& number) {
    return run("tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32 [%r5], " + number +
                   "; ret;",
               {}, "sm_100a")
        .refusal;
  };
  EXPECT_EQ(atomicity("0"), "");
  EXPECT_THAT(atomicity("1"), HasSubstr("none of 0 to 0"));
  EXPECT_THAT(of("fill_mode", "2"), HasSubstr("none of 0 to 1"));
  EXPECT_THAT(of("box_dim", "5, 8"), HasSubstr("none of 0 to 4"));
  EXPECT_THAT(of("box_dim", "%r1, 8"), HasSubstr("none of 0 to 4"));
  EXPECT_NE(refusal("replace.tile.rank.shared::cta.b1024.b64", "[%r5], %rd1"), "");
  EXPECT_THAT(
      refusal("cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned",
              "[%rd3], [%r5], 64"),
      HasSubstr("another number of bytes than 128"));
}

}  // namespace
}  // namespace warpmeter::model
