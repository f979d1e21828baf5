// SPDX-License-Identifier: MIT
// Which of two launches on the model moves less of what limits them. An H200 does 4 warp
// instructions, 1 shared wavefront and 4 sectors of L1 a cycle and multiprocessor, and 18.37 bytes
// of device memory (4,800 GB/s over 132 multiprocessors at 1.98 GHz).
//
// A transpose through tiles of 32 × 32 floats stores a row and loads a column, a warp each. Shared
// memory has 32 banks of 4 bytes, so a column meets one bank (32 wavefronts), and in rows of 33
// floats all banks (1 wavefront). Sixteen tiles have 512 warps: 512 × (1 + 32) = 16,896 wavefronts
// against 512 × (1 + 1) = 1,024.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/compare/compare.h"
#include "tests/reports/limits_fixture.h"

namespace warpmeter::reports {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ComparedLimits : public LimitsFixture {
 protected:
  Comparison compared(const std::string& base, const std::string& contender) {
    return compare(schema::Reader(database_.path()),
                   {Key::variant, {base, contender}, std::to_string(run_)});
  }
  std::string text(const std::string& base, const std::string& contender) {
    return render(compared(base, contender), Format::markdown);
  }
  void add_tiles() {
    add("tiled", {{"shared_store_wavefronts", 512}, {"shared_load_wavefronts", 16'384}});
    add("padded", {{"shared_store_wavefronts", 512}, {"shared_load_wavefronts", 512}});
  }
};

TEST_F(ComparedLimits, SayWhoMovesLessOfWhatLimitsBoth) {
  add_tiles();
  EXPECT_THAT(text("tiled", "padded"),
              AllOf(HasSubstr("## Limits"),
                    HasSubstr("- test/padded at 1,024 against tiled: padded moves less of what "
                              "limits both, shared memory: 1,024 wavefronts against 16,896 (1 a "
                              "cycle)."),
                    HasSubstr("may need more: special functions")));
  EXPECT_THAT(text("padded", "tiled"),
              HasSubstr("tiled at 1,024 against padded: padded moves less of what limits both"));
}

TEST_F(ComparedLimits, SayEachLimitWhereTheyDiffer) {
  // 8,000 warp instructions are 2,000 cycles.
  add("tiled", {{"warp_instructions", 4'000},
                {"shared_store_wavefronts", 512},
                {"shared_load_wavefronts", 16'384}});
  add("padded", {{"warp_instructions", 8'000},
                 {"shared_store_wavefronts", 512},
                 {"shared_load_wavefronts", 512}});
  EXPECT_THAT(text("tiled", "padded"),
              HasSubstr("tiled is limited by shared memory, padded by issue slots. padded needs "
                        "fewer cycles of shared memory: 1,024 wavefronts against 16,896 (1 a "
                        "cycle). tiled needs fewer cycles of issue slots: 4,000 warp instructions "
                        "against 8,000 (4 a cycle)."));
}

TEST_F(ComparedLimits, SayWhatElseDiffersWhereBothMoveTheSame) {
  // 183,700 bytes are 10,003 cycles; the stores of a column are 32 sectors a warp, of a row 4.
  const std::int64_t bytes = 183'700;
  add("naive", {{"global_load_sectors", 2'048}, {"global_store_sectors", 16'384}}, bytes);
  add("tiled",
      {{"global_load_sectors", 2'048}, {"global_store_sectors", 2'048}, {"warp_instructions", 8}},
      bytes);
  EXPECT_THAT(text("naive", "tiled"),
              HasSubstr("both move the same of what limits them, device memory: 183,700 bytes of "
                        "input and output (18.4 a cycle). The rest differs most in L1: tiled moves "
                        "less of it, 4,096 sectors against 18,432 (4 a cycle)."));
}

TEST_F(ComparedLimits, AreOneSentenceWhereNothingDiffers) {
  add_tiles();
  const std::int64_t second = store_.begin_run({});
  const std::int64_t device = add_model_device(store_, second);
  for (const double loads : {16'384, 512}) {
    store_.add_launch(
        second, device,
        counted_launch(loads > 512 ? "tiled" : "padded",
                       {{"shared_store_wavefronts", 512}, {"shared_load_wavefronts", loads}},
                       1024));
  }
  store_.end_run(run_, schema::RunOutcome::done, "");
  store_.end_run(second, schema::RunOutcome::done, "");
  const Comparison comparison = compare(schema::Reader(database_.path()), {});
  const std::string page = render(comparison, Format::markdown);
  EXPECT_THAT(page, HasSubstr("- 2 pairs need the same on both sides of each resource that has a "
                              "count."));
  EXPECT_THAT(page, Not(HasSubstr("what limits them")));
  ASSERT_EQ(comparison.limits.size(), 2U);
  EXPECT_EQ(comparison.limits[0].sentence,
            "both move the same of what limits them, shared memory: 16,896 wavefronts (1 a cycle). "
            "No other resource with a count differs.");
}

TEST_F(ComparedLimits, CallTheSidesOfTwoRunsBaseAndContender) {
  add("tiled", {{"shared_load_wavefronts", 16'896}});
  const std::int64_t second = store_.begin_run({});
  store_.add_launch(second, add_model_device(store_, second),
                    counted_launch("tiled", {{"shared_load_wavefronts", 1'024}}, 1024));
  store_.end_run(run_, schema::RunOutcome::done, "");
  store_.end_run(second, schema::RunOutcome::done, "");
  EXPECT_THAT(render(compare(schema::Reader(database_.path()), {}), Format::table),
              HasSubstr("test/tiled at 1,024: the contender moves less of what limits both"));
}

TEST_F(ComparedLimits, AreFortySentencesAndSayHowManyMoreThereAre) {
  const std::int64_t second = store_.begin_run({});
  const std::int64_t device = add_model_device(store_, second);
  for (int i = 0; i < 42; ++i) {
    const std::string variant = "v" + std::to_string(i);
    add(variant, {{"shared_load_wavefronts", 16'896}});
    store_.add_launch(second, device,
                      counted_launch(variant, {{"shared_load_wavefronts", 1'024}}, 1024));
  }
  store_.end_run(run_, schema::RunOutcome::done, "");
  store_.end_run(second, schema::RunOutcome::done, "");
  EXPECT_THAT(render(compare(schema::Reader(database_.path()), {}), Format::markdown),
              AllOf(HasSubstr("- test/v39 at 1,024: the contender moves less"),
                    Not(HasSubstr("- test/v40 at 1,024: the contender")),
                    HasSubstr("- 2 more pairs have a sentence: `compare --format json` has all.")));
}

TEST_F(ComparedLimits, AreUnknownWithoutACount) {
  add("tiled", {{"shared_load_wavefronts", 16'896}});
  add(counted_launch("padded", {{"shared_load_wavefronts", 1'024}}, 1024, "flop_dp_fma"));
  EXPECT_THAT(text("tiled", "padded"),
              AllOf(HasSubstr("- Nobody knows what limits test/padded at 1,024 against tiled: "
                              "in the contender, flop_dp_fma was not counted (`run -m @limits` "
                              "counts all that it needs)."),
                    Not(HasSubstr("moves less"))));
}

TEST_F(ComparedLimits, AreUnknownWhereACountIsNotExact) {
  add("tiled", {{"shared_load_wavefronts", 16'896}});
  schema::Launch padded = counted_launch("padded", {{"shared_load_wavefronts", 1'024}}, 1024);
  for (schema::Counter& counter : padded.counters) {
    if (counter.name != "shared_load_wavefronts") continue;
    counter.grade = schema::Grade::ptx;
    counter.reason = "its machine code was not read";
  }
  add(padded);
  EXPECT_THAT(text("tiled", "padded"),
              HasSubstr("what limits test/padded at 1,024 against tiled: in the contender, "
                        "shared_load_wavefronts is "
                        "`ptx`, not `exact`: its machine code was not read."));
}

TEST_F(ComparedLimits, AreUnknownWhereLaunchesDiffer) {
  add("tiled", {{"shared_load_wavefronts", 16'896}});
  add("tiled", {{"shared_load_wavefronts", 8'448}});
  add("padded", {{"shared_load_wavefronts", 1'024}});
  EXPECT_THAT(text("tiled", "padded"),
              HasSubstr("in the base, its launches differ: shared_load_wavefronts is 8,448 to "
                        "16,896."));
}

TEST_F(ComparedLimits, SayThatDeviceMemoryHasNoCount) {
  for (const auto& [variant, loads] :
       {std::pair("tiled", 16'896.0), std::pair("padded", 1'024.0)}) {
    schema::Launch launch = counted_launch(variant, {{"shared_load_wavefronts", loads}}, 1024);
    launch.useful_bytes_read = launch.useful_bytes_written = std::nullopt;
    add(launch);
  }
  EXPECT_THAT(
      text("tiled", "padded"),
      HasSubstr("1,024 wavefronts against 16,896 (1 a cycle). Device memory may limit more: "
                "its bytes are not known ("));
}

TEST_F(ComparedLimits, AreNotSaidOfAGpu) {
  use_gpu();
  add(measured_launch("tiled", {{"shared_load_wavefronts", 16'896}}, 20'000, {}));
  add(measured_launch("padded", {{"shared_load_wavefronts", 1'024}}, 2'000, {}));
  EXPECT_THAT(text("tiled", "padded"), Not(HasSubstr("## Limits")));
}

TEST_F(ComparedLimits, AreInJsonCsvAndHtml) {
  add_tiles();
  const Comparison comparison = compared("tiled", "padded");
  const auto json = nlohmann::json::parse(render(comparison, Format::json));
  ASSERT_EQ(json["limits"].size(), 1U);
  const auto& limit = json["limits"][0];
  EXPECT_EQ(limit["metric"], "shared memory");
  EXPECT_EQ(limit["unit"], "wavefronts");
  EXPECT_EQ(limit["base"], 16'896);
  EXPECT_EQ(limit["contender"], 1'024);
  EXPECT_EQ(limit["verdict"], "less");
  EXPECT_EQ(limit["note"],
            "padded moves less of what limits both, shared memory: 1,024 wavefronts against 16,896 "
            "(1 a cycle).");
  EXPECT_THAT(render(comparison, Format::csv), HasSubstr("limit,test,padded,1024,"));
  EXPECT_THAT(render(comparison, Format::html), HasSubstr("moves less of what limits both"));
}

}  // namespace
}  // namespace warpmeter::reports
