// SPDX-License-Identifier: MIT
// The rows, lanes and gaps of traces that are written out here, with times in ns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/render/report.h"
#include "reports/sections/timeline_svg.h"
#include "reports/trace/gaps.h"
#include "reports/trace/timeline.h"
#include "tests/reports/golden_file.h"
#include "tests/reports/runs.h"
#include "tests/reports/traced_run.h"

namespace warpmeter::reports {
namespace {

using testing::ElementsAre;

class TimelineTest : public testing::Test {
 protected:
  void kernel(const std::string& name, std::int64_t stream, std::int64_t start, std::int64_t end,
              std::int64_t device = 0) {
    TracedShape shape;
    shape.kind = "kernel";
    shape.name = name;
    shape.device = "GPU " + std::to_string(device);
    shape.device_ordinal = device;
    shape.process_id = 10 + device;
    shape.context = 1;
    shape.stream = stream;
    add(shape, start, end);
  }
  void host(const std::string& kind, const std::string& name, std::int64_t start, std::int64_t end,
            std::int64_t process = 10) {
    TracedShape shape;
    shape.kind = kind;
    shape.name = name;
    shape.process_id = process;
    shape.thread_id = process;
    add(shape, start, end);
  }
  void add(const TracedShape& shape, std::int64_t start, std::int64_t end) {
    trace_.shapes.push_back(shape);
    TracedActivity activity;
    activity.shape = trace_.shapes.size() - 1;
    activity.start_ns = start;
    activity.duration_ns = end - start;
    trace_.activities.push_back(activity);
  }
  std::vector<std::string> places() const {
    std::vector<std::string> texts;
    for (const TimelinePlace& place : timeline_of(trace_).places) {
      texts.push_back(trace_.shapes[trace_.activities[place.activity].shape].name + " lane " +
                      std::to_string(place.lane) + " depth " + std::to_string(place.depth));
    }
    return texts;
  }

  Trace trace_;
};

TEST_F(TimelineTest, NestsRangesAndPutsOverlapsIntoLanes) {
  host("range", "inner", 10, 40);
  host("range", "outer", 10, 50);
  host("range", "crossing", 30, 60);
  host("range", "later", 60, 70);
  EXPECT_THAT(places(), ElementsAre("outer lane 0 depth 0", "inner lane 0 depth 1",
                                    "crossing lane 1 depth 0", "later lane 0 depth 0"));
}

TEST_F(TimelineTest, ShowsDevicesBeforeTheHost) {
  host("call", "cudaMalloc", 0, 5);
  host("range", "step", 0, 50);
  kernel("a", 7, 10, 20, 1);
  kernel("b", 9, 10, 20);
  kernel("c", 7, 10, 20);
  std::vector<std::string> names;
  for (const TimelineRow& row : timeline_of(trace_).rows) names.push_back(row.name());
  EXPECT_THAT(
      names,
      ElementsAre("process 10, context 1, stream 7", "process 10, context 1, stream 9",
                  "process 11, context 1, stream 7", "thread 10, ranges", "thread 10, calls"));
}

TEST_F(TimelineTest, LeavesOutWhatHasNoTime) {
  kernel("a", 7, 10, 20);
  trace_.activities.back().start_ns.reset();
  const Timeline timeline = timeline_of(trace_);
  EXPECT_TRUE(timeline.places.empty());
  EXPECT_EQ(timeline.untimed, 1U);
}

TEST_F(TimelineTest, FindsTheGapsOfADeviceOverItsStreams) {
  kernel("a", 7, 0, 100);
  kernel("long", 9, 50, 300);  // covers what stream 7 leaves
  kernel("b", 7, 200, 250);
  kernel("c", 7, 400, 410);
  kernel("d", 9, 420, 430);
  kernel("other", 7, 0, 1, 1);
  kernel("device", 7, 1'000, 1'001, 1);
  host("call", "cudaMalloc", 290, 360);
  host("call", "cudaLaunchKernel", 380, 390);
  host("call", "nested", 381, 385);
  host("call", "cudaFree", 310, 390, 11);
  host("range", "step", 0, 1'000);
  host("range", "forward", 300, 380);
  const std::vector<GapPattern> gaps = longest_gap_patterns(trace_, timeline_of(trace_), 2);
  ASSERT_EQ(gaps.size(), 2U);
  EXPECT_EQ(gaps[0].longest.device, "GPU 1");
  EXPECT_EQ(gaps[0].longest.duration_ns, 999);
  const Gap& gap = gaps[1].longest;
  EXPECT_EQ(gap.start_ns, 300);
  EXPECT_EQ(gap.duration_ns, 100);
  EXPECT_EQ(trace_.shapes[gap.before].name, "long");
  EXPECT_EQ(trace_.shapes[gap.after].name, "c");
  ASSERT_EQ(gap.calls.size(), 2U) << "of its own process, and not within another call";
  EXPECT_EQ(gap.calls[0].name, "cudaMalloc");
  EXPECT_EQ(gap.calls[0].ns, 60);
  EXPECT_EQ(gap.calls[1].ns, 10);
  EXPECT_THAT(gap.ranges, ElementsAre("step", "forward"));
}

/// a→b is idle for 100 and 30 ns on GPU 0 and for 60 ns on GPU 1; b→a once for 50 ns.
TEST_F(TimelineTest, GroupsGapsBetweenTheSameActivities) {
  kernel("a", 7, 0, 100);
  kernel("b", 7, 200, 210);
  kernel("a", 7, 260, 270);
  kernel("b", 7, 300, 310);
  kernel("a", 7, 0, 100, 1);
  kernel("b", 7, 160, 170, 1);
  const std::vector<GapPattern> gaps = longest_gap_patterns(trace_, timeline_of(trace_), 10);
  ASSERT_EQ(gaps.size(), 2U);
  EXPECT_EQ(gaps[0].times, 3U);
  EXPECT_EQ(gaps[0].total_ns, 190);
  EXPECT_EQ(gaps[0].longest.start_ns, 100);
  EXPECT_EQ(gaps[0].longest.duration_ns, 100);
  EXPECT_THAT(gaps[0].devices, ElementsAre("GPU 0", "GPU 1"));
  EXPECT_EQ(gaps[1].times, 1U);
  EXPECT_EQ(gaps[1].total_ns, 50);
}

TEST_F(TimelineTest, CountsTimeOnceThatTwoThreadsSpendInCalls) {
  kernel("a", 7, 0, 100);
  kernel("b", 7, 200, 210);
  host("call", "cudaFree", 100, 150);
  host("call", "cudaMalloc", 110, 160);
  host("call", "cudaMalloc", 120, 170);
  const Gap gap = longest_gap_patterns(trace_, timeline_of(trace_), 1).at(0).longest;
  EXPECT_THAT(gap.calls,
              ElementsAre(testing::Field(&Gap::Call::ns, 60), testing::Field(&Gap::Call::ns, 50)));
  EXPECT_EQ(gap.uncalled_ns, 30);
}

TEST(TimelineSection, SaysInMarkdownHowMuchRanInWhichTime) {
  const TemporaryDatabase database;
  schema::Store store(database.path());
  const std::int64_t run = add_traced_run(store, 100);
  ReportOptions options;
  options.sections = {{"timeline", ""}};
  options.plot_folder = "files";
  std::string text;
  const std::vector<PlotFile> files =
      write_report(schema::Reader(database.path()), run, options, [&](std::string_view part) {
        text += part;
        return true;
      });
  EXPECT_THAT(text, testing::AllOf(testing::HasSubstr("100 activities in "),
                                   testing::HasSubstr("![Timeline of run 1](files/")));
  ASSERT_EQ(files.size(), 1U);
  expect_golden("timeline.svg", files[0].svg);
}

/// 560 pixels of 10 ns: the first has one busy ns, the second 5 ns, those of 3,000 to 4,000 ns all.
TEST_F(TimelineTest, DrawsAPixelAsStrongAsItIsBusy) {
  kernel("a", 7, 0, 1);
  kernel("b", 7, 10, 15);
  kernel("c", 7, 3'000, 4'000);
  kernel("d", 7, 3'500, 3'600);
  kernel("e", 7, 5'590, 5'600);
  const std::string svg = sections::timeline_svg(trace_, timeline_of(trace_), "T", "");
  EXPECT_THAT(svg, testing::HasSubstr(
                       "<rect x=\"224\" y=\"50\" width=\"1\" height=\"13\" class=\"s o1\"/>"));
  EXPECT_THAT(svg, testing::HasSubstr(
                       "<rect x=\"225\" y=\"50\" width=\"1\" height=\"13\" class=\"s o2\"/>"));
  EXPECT_THAT(svg, testing::HasSubstr(
                       "<rect x=\"524\" y=\"50\" width=\"100\" height=\"13\" class=\"s o4\"/>"));
}

}  // namespace
}  // namespace warpmeter::reports
