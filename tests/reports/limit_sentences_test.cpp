// SPDX-License-Identifier: MIT
// The limit of a family in words: in its section, in short and in brief. An H200 does 4 warp
// instructions, 1 shared wavefront and 4 sectors of L1 a cycle and multiprocessor, and 18.37 bytes
// of device memory (4,800 GB/s over 132 multiprocessors at 1.98 GHz).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/error.h"
#include "tests/reports/explained_launches.h"
#include "tests/reports/limits_fixture.h"

namespace warpmeter::reports {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class LimitSentences : public LimitsFixture {
 protected:
  std::string brief() {
    ReportOptions options;
    options.brief = true;
    return report(options);
  }
  /// Why there is no section.
  std::string refusal() {
    try {
      return section("limits");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::nothing);
      return error.what();
    }
  }
};

TEST_F(LimitSentences, NamesTheLimitItsEvidenceAndTheShareThatIsReached) {
  use_gpu();
  add(measured_launch("tiled",
                      {{"shared_load_wavefronts", 710'000}, {"warp_instructions", 710'000}},
                      1'000'000, {{"dram_utilization", 10}}));
  const char* sentence =
      "- test/tiled at 1,024 is limited by shared memory: 710,000 wavefronts at 1 a cycle, 4.00 "
      "times "
      "the cycles of issue slots; it reaches 71 % of that.";
  EXPECT_THAT(section("limits"), HasSubstr(sentence));
  EXPECT_THAT(section("headline"), HasSubstr(sentence));
  EXPECT_THAT(brief(), HasSubstr(sentence));
}

TEST_F(LimitSentences, ComparesTheVariantThatTakesMostWithTheOneThatTakesLeast) {
  // 1,000 and 200 cycles.
  add("bad", {{"shared_load_wavefronts", 1000}});
  add("middle", {{"shared_load_wavefronts", 500}});
  add("good", {{"warp_instructions", 800}});
  EXPECT_THAT(section("limits"), HasSubstr("'good', limited by issue slots, needs 5.00 times fewer "
                                           "cycles."));
}

/// Transposes: their input and output alone need more than all else. 18,370,000 bytes are 1,000,000
/// cycles; 1,200,000 sectors of L1 are 300,000, 2.5 times those of the others.
TEST_F(LimitSentences, TellsVariantsApartWhereOneResourceLimitsAll) {
  const std::int64_t bytes = 18'370'000;
  add("naive", {{"global_load_sectors", 240'000}, {"global_store_sectors", 960'000}}, bytes);
  add("tiled", {{"global_load_sectors", 480'000}, {"shared_load_wavefronts", 900'000}}, bytes);
  add("padded", {{"global_load_sectors", 480'000}, {"shared_load_wavefronts", 200'000}}, bytes);
  EXPECT_THAT(
      section("limits"),
      AllOf(HasSubstr("All 3 variants of test at 1,024 are limited by device memory: "
                      "18,370,000 bytes of input and output at 18.4 a cycle."),
            HasSubstr("'tiled' needs 4.5 times the shared wavefronts of 'padded', and 'naive' 2.5 "
                      "times the L1 sectors of 'tiled'.")));
}

TEST_F(LimitSentences, SaysHowMuchOfACommonLimitIsReached) {
  use_gpu();
  add(measured_launch("a", {{"shared_load_wavefronts", 1000}}, 4000, {}));
  add(measured_launch("b", {{"shared_load_wavefronts", 1000}}, 1250, {}));
  EXPECT_THAT(section("limits"),
              HasSubstr("Both variants of test at 1,024 are limited by shared memory: 1,000 "
                        "wavefronts at 1 a cycle; they reach 25 % ('a') to 80 % ('b') of that."));
}

TEST_F(LimitSentences, SaysNoShareTwice) {
  use_gpu();
  add(measured_launch("strided", {{"warp_instructions", 400}}, 1000, {{"dram_utilization", 80}}));
  EXPECT_THAT(section("limits"), HasSubstr("is limited by device memory: 80 % of its peak in 1,000 "
                                           "cycles, 8.00 times the cycles of issue slots."));
}

TEST_F(LimitSentences, SaysThatTheLimitIsNotKnown) {
  add("product", {{"shared_wgmma_requests", 8}, {"shared_wgmma_wavefronts", 64}});
  EXPECT_THAT(section("limits"),
              AllOf(HasSubstr("Nobody knows what limits test/product at 1,024: "
                              "no rate of the tensor cores is used here."),
                    HasSubstr("No value (–): limit (no rate of the tensor cores is used "
                              "here).")));
}

/// ldmatrix feeds more than products: the operations of the tensor cores decide where they exist.
TEST_F(LimitSentences, TakeNoMatrixLoadForAProduct) {
  const std::map<std::string, double> loads = {{"shared_wgmma_requests", 0},
                                               {"shared_matrix_load_requests", 8},
                                               {"shared_matrix_load_wavefronts", 64}};
  for (const double operations : {0, 4096}) {
    schema::Launch launch = counted_launch("transpose", loads, 0);
    launch.family = operations > 0 ? "product" : "transpose";
    launch.counters.push_back({"tensor_ops_fp16", operations, schema::Grade::exact, ""});
    add(launch);
  }
  EXPECT_THAT(section("limits"),
              AllOf(HasSubstr("transpose/transpose at 1,024 is limited by shared memory"),
                    HasSubstr("Nobody knows what limits product/transpose at 1,024")));
}

/// A copy has a limit, and the variants beside it have none.
TEST_F(LimitSentences, NamesTheVariantWhoseLimitIsNotKnown) {
  add("copy", {{"shared_load_wavefronts", 9000}});
  add("product", {{"shared_wgmma_requests", 8}, {"shared_wgmma_wavefronts", 64}});
  EXPECT_THAT(section("limits"), HasSubstr("Nobody knows what limits test/product at 1,024: no "
                                           "rate of the tensor cores is used here."));
}

TEST_F(LimitSentences, SpeaksOfAllVariantsOnlyWhereAllLimitsAreKnown) {
  add("a", {{"shared_load_wavefronts", 1000}});
  add("b", {{"shared_load_wavefronts", 990}});
  add("product", {{"shared_wgmma_requests", 8}, {"shared_wgmma_wavefronts", 64}});
  EXPECT_THAT(section("limits"),
              AllOf(HasSubstr("- test/a at 1,024 is limited by shared memory"),
                    Not(HasSubstr("variants of test")), Not(HasSubstr("Nobody knows"))));
}

TEST_F(LimitSentences, HasSharesOnlyWhereAllVariantsHaveTimes) {
  use_gpu();
  add(measured_launch("timed", {{"shared_load_wavefronts", 1000}}, 4000, {}));
  add("untimed", {{"shared_load_wavefronts", 1000}});
  EXPECT_THAT(section("limits"),
              HasSubstr("Both variants of test at 1,024 are limited by shared memory: 1,000 "
                        "wavefronts at 1 a cycle."));
}

TEST_F(LimitSentences, NamesTheVariantOfTheEvidenceWhereVariantsDiffer) {
  add("a", {{"shared_load_wavefronts", 1000}});
  add("b", {{"shared_load_wavefronts", 1020}});
  EXPECT_THAT(
      section("limits"),
      HasSubstr("Both variants of test at 1,024 are limited by shared memory: 1,020 "
                "wavefronts at 1 a cycle for 'b', at most 5 % fewer cycles for the other."));
}

TEST_F(LimitSentences, TakeNoCopyForAVariant) {
  add("copy", {{"shared_load_wavefronts", 9000}});
  add("tiled", {{"shared_load_wavefronts", 1000}});
  EXPECT_THAT(section("limits"), HasSubstr("- test/tiled at 1,024 is limited by shared memory"));
}

TEST_F(LimitSentences, CountTheFiguresThatNeedAGpu) {
  schema::Launch launch = counted_launch("tiled", {{"shared_load_wavefronts", 1000}}, 1024);
  const char* metrics[] = {"dram_read_bytes", "dram_write_bytes", "l2_read_sectors",
                           "l2_write_sectors", "tex_cache_hit_rate"};
  for (const char* metric : metrics) {
    launch.counters.push_back({metric, std::nullopt, schema::Grade::unavailable,
                               "the model counts accesses and instructions only; run on a GPU for "
                               "this"});
  }
  add(launch);
  EXPECT_THAT(section("headline"),
              AllOf(HasSubstr("figures need a GPU"), HasSubstr("the section Unavailable says why."),
                    Not(HasSubstr("dram\\_read"))));
}

/// The best variant, what limits, and what costs the worst one most.
TEST_F(LimitSentences, AreOneOfThreeEntriesOfAFamily) {
  int line = 0;
  for (const char* variant : {"a", "b", "c", "d", "e"}) {
    schema::Launch launch =
        counted_launch(variant, {{"shared_load_wavefronts", 1000.0 + 100 * line}}, 1024);
    for (const char* counter : {"global_atomic_sectors", "global_reduction_sectors"}) {
      launch.counters.push_back({counter, 0, schema::Grade::exact, ""});
    }
    launch.explanation.was_made = true;
    launch.explanation.findings = {tile_conflict()};
    launch.explanation.findings[0].line = ++line;
    add(launch);
  }
  store_.end_run(run_, schema::RunOutcome::done, "");
  const std::string text = section("headline");
  const auto has = [&](const char* begin) { return text.find(begin) != std::string::npos; };
  EXPECT_TRUE(has("- test at 1,024: a has the fewest"));
  EXPECT_TRUE(has("- test/e at 1,024 is limited by shared memory"));
  EXPECT_TRUE(has("- What costs test/"));
  std::size_t entries = 0;
  for (std::size_t at = text.find("\n- "); at != text.npos; at = text.find("\n- ", at + 1))
    ++entries;
  EXPECT_EQ(entries, 4U) << "the fourth: it was not timed\n" << text;
}

TEST_F(LimitSentences, StandInBriefForEachFamily) {
  for (const char* family : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    schema::Launch launch = counted_launch("tiled", {{"shared_load_wavefronts", 1000}}, 1024);
    launch.family = family;
    add(launch);
  }
  const std::string text = brief();
  for (const char* family : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    const std::string sentence =
        std::string("- ") + family + "/tiled at 1,024 is limited by shared memory";
    EXPECT_EQ(text.find(sentence), text.rfind(sentence)) << "once";
    EXPECT_THAT(text, HasSubstr(sentence));
  }
}

TEST_F(LimitSentences, CountTheFamiliesThatBriefLeavesOut) {
  for (int i = 0; i < 30; ++i) {
    schema::Launch launch = counted_launch("tiled", {{"shared_load_wavefronts", 1000}}, 1024);
    launch.family = "family_" + std::to_string(i);
    add(launch);
  }
  EXPECT_THAT(brief(), HasSubstr("more families have limits: leave --brief out."));
}

TEST_F(LimitSentences, SayWhichCountIsMissing) {
  for (const char* variant : {"tiled", "naive"}) {
    add(counted_launch(variant, {{"shared_load_wavefronts", 1000}}, 1024, "local_load_sectors"));
  }
  EXPECT_THAT(
      refusal(),
      AllOf(HasSubstr("has nothing for limits"),
            HasSubstr("Without a limit: test/tiled and test/naive (local_load_sectors was not "
                      "counted). `run -m @limits` counts")));
}

}  // namespace
}  // namespace warpmeter::reports
