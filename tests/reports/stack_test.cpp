// SPDX-License-Identifier: MIT
// Stacked bars: warp states of kernels, waits by line, and the source beside its machine code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reports/plot/stack.h"
#include "reports/render/report.h"
#include "tests/reports/golden_file.h"
#include "tests/reports/runs.h"
#include "tests/reports/stalled_run.h"

namespace warpmeter::reports {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class StackTest : public testing::Test {
 protected:
  StackTest() : store_(database_.path()) {}

  std::string report(const std::string& section, Format format, const std::string& folder = "") {
    ReportOptions options;
    options.format = format;
    options.sections = {{section, ""}};
    options.plot_folder = folder;
    options.width = 80;
    std::string text;
    files_ =
        write_report(schema::Reader(database_.path()), run_, options, [&](std::string_view part) {
          text += part;
          return true;
        });
    return text;
  }

  TemporaryDatabase database_;
  schema::Store store_;
  std::int64_t run_ = 0;
  std::vector<PlotFile> files_;
};

TEST_F(StackTest, DrawsTheStatesOfWarpsLargestFirst) {
  run_ = add_stalled_run(store_);
  EXPECT_THAT(report("warp-states", Format::markdown, "files"), HasSubstr("![Warp states of"));
  ASSERT_EQ(files_.size(), 1U);
  expect_golden("warp_states.svg", files_[0].svg);
}

/// naive: 92 of 100 % are reasons. long_scoreboard is "memory dependency", wait and
/// short_scoreboard "exec dependency". Over the three variants they add up to 142.5 % and 72.5 %.
TEST_F(StackTest, TellsATerminalWithLetters) {
  run_ = add_stalled_run(store_);
  const std::string text = report("warp-states", Format::table);
  EXPECT_THAT(text, AllOf(HasSubstr("naive   " + std::string(38, 'A') + std::string(3, 'B') +
                                    std::string(12, 'C')),
                          HasSubstr("A memory dependency, B exec\ndependency, C memory throttle"),
                          HasSubstr("padded  " + std::string(30, 'A') + std::string(15, 'B') +
                                    std::string(15, 'H'))));
}

TEST_F(StackTest, NamesTheStatesThatWereNotMeasured) {
  run_ = store_.begin_run({});
  schema::Device device;
  device.backend = "cupti";
  const std::int64_t gpu = store_.add_device(run_, device);
  store_.add_launch(run_, gpu, stalled_launch("a", {{"stalled_wait", 40}}, "stalled_tex_throttle"));
  EXPECT_THAT(report("warp-states", Format::html),
              AllOf(HasSubstr("these were not measured: texture."), HasSubstr(">the rest<"),
                    Not(HasSubstr(">issuing<"))));
}

/// 150 + 50 of 100 %: three quarters and one quarter of a bar of 60 letters.
TEST_F(StackTest, ShowsSharesOfTheSumWherePassesDisagree) {
  run_ = store_.begin_run({});
  schema::Device device;
  device.backend = "cupti";
  const std::int64_t gpu = store_.add_device(run_, device);
  store_.add_launch(
      run_, gpu, stalled_launch("a", {{"stalled_long_scoreboard", 150}, {"stalled_barrier", 50}}));
  EXPECT_THAT(report("warp-states", Format::table),
              AllOf(HasSubstr(std::string(45, 'A') + std::string(15, 'B') + "\n"),
                    HasSubstr("that sum: a 200 %.")));
}

TEST_F(StackTest, DrawsTheWaitsOfLines) {
  run_ = add_stalled_run(store_);
  EXPECT_THAT(report("stalls", Format::markdown, "files"), HasSubstr("![Waits by line of"));
  ASSERT_EQ(files_.size(), 1U);
  expect_golden("waits_by_line.svg", files_[0].svg);
}

/// Samples: 500 and 200 of 1,000 at line 31; 150 at line 33.
TEST_F(StackTest, ShowsTheSourceBesideTheCountsOfItsMachineCode) {
  run_ = add_stalled_run(store_);
  const std::string page = report("sources", Format::html);
  EXPECT_THAT(
      page,
      AllOf(HasSubstr("<tr data-line=\"31\" class=\"costly\">"),
            HasSubstr("aria-label=\"global or local memory (long_scoreboard) 50 %, the queue to "
                      "global and local memory (lg_throttle) 20 %\""),
            HasSubstr("<summary>transpose/naive, machine code</summary>\n<p>Counts of the launch "
                      "at size 4,096.</p>"),
            HasSubstr("<tr data-line=\"31\"><td class=\"n\">31</td><td "
                      "class=\"n\">1,000</td><td class=\"waits\">"),
            HasSubstr("<td class=\"code\"><code>        /*0010*/                   LDG.E R2, [R4] "
                      ";</code></td></tr>\n<tr data-line=\"31\"><td class=\"n\"></td>"),
            HasSubstr("<tr><td class=\"n\"></td><td class=\"n\">128</td><td class=\"waits\">"),
            HasSubstr("<details class=\"listing\">\n<summary>transpose/naive, PTX</summary>")));
}

/// An inlined header has all samples of a kernel: the file of its code has no reason of its own.
TEST_F(StackTest, ShowsTheWaitsOfCodeWhoseSamplesAreInAHeader) {
  constexpr const char* file = "kernels/transpose.cu";
  run_ = store_.begin_run({});
  schema::Device device;
  device.backend = "cupti";
  const std::int64_t gpu = store_.add_device(run_, device);
  schema::Completion completion;
  completion.launch_id = store_.add_launch(run_, gpu, stalled_launch("naive", {}));
  completion.lines = {
      {file, 1, "load();", "global load", 10, 40, 40, schema::Grade::measured, 1280}};
  completion.stalls = {{"kernels/inlined.cuh", 5, "return *p;", "wait", 10, 10}};
  completion.instructions = {{0x00, "executed", 128}, {0x00, "wait", 10}};
  store_.complete_launches(std::span(&completion, 1));
  store_.add_sources(run_, std::vector<std::pair<std::string, std::string>>{{file, "load();\n"}});
  store_.add_codes(run_, std::vector<schema::CodeText>{
                             {file, "transpose/naive", "machine code", "  /*0000*/  LDG R1 ;\n"}});
  EXPECT_THAT(report("sources", Format::html),
              AllOf(HasSubstr("aria-label=\"other reasons 100 %\""),
                    HasSubstr("<i class=\"w0\"></i>other reasons</span>")));
}

TEST_F(StackTest, ShowsTimeAgainstEnergyWithTheFront) {
  run_ = add_stalled_run(store_);
  const std::string page = report("best", Format::html);
  EXPECT_THAT(page, AllOf(HasSubstr("Time against energy of transpose, size 4,096"),
                          HasSubstr("<th scope=\"row\">padded</th><td>the front</td>"),
                          HasSubstr("<th scope=\"row\">tiled</th><td>the front</td>"),
                          HasSubstr("<th scope=\"row\">naive</th><td>beaten</td>")));
}

TEST_F(StackTest, DrawsPowerClockAndTemperatureOverTime) {
  run_ = add_stalled_run(store_);
  EXPECT_THAT(report("power", Format::markdown, "files"), HasSubstr("![Power](files/power.svg)"));
  ASSERT_EQ(files_.size(), 3U);
  EXPECT_THAT(files_[0].svg,
              HasSubstr("transpose/tiled at 4,096: 434 at 0.600"));  // 100 + 333.3 + 1
  EXPECT_THAT(files_[1].svg, HasSubstr("1,980 at 0.600"));
  EXPECT_THAT(files_[2].svg, HasSubstr("41.0 at 0.600"));
  EXPECT_THAT(report("power", Format::markdown),
              HasSubstr("| transpose/tiled at 4,096  |       3 |"));
}

TEST(LargestParts, AddUpOverAllBars) {
  EXPECT_THAT(largest_parts({{{"a", 1}, {"b", 2}}, {{"a", 3}, {"c", 0}, {"d", 1}}}, 3),
              ElementsAre("a", "b", "d"));
  EXPECT_THAT(largest_parts({{{"a", 1}, {"b", 2}}}, 1), ElementsAre("b"));
}

}  // namespace
}  // namespace warpmeter::reports
