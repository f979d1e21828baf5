// SPDX-License-Identifier: MIT
// The output of explain, against the files in golden/: every kind of finding, in every format.
#include "reports/explain/explain.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "reports/explain/sentences.h"
#include "reports/explain/warp_picture.h"
#include "reports/page.h"
#include "reports/render/report.h"
#include "reports/table/json.h"
#include "tests/reports/explained_launches.h"
#include "tests/reports/golden_file.h"
#include "tests/reports/runs.h"

namespace warpmeter::reports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Explain : public ::testing::Test {
 protected:
  Explain() : store(database.path()), run(add_explained_run(store)) {}

  ExplainOptions options_of(const std::string& selector = "", Format format = Format::table) const {
    ExplainOptions options;
    options.run = run;
    options.format = format;
    if (!selector.empty()) options.selectors = {parse_selector(selector)};
    return options;
  }
  std::string told(const ExplainOptions& options) const {
    return explain(schema::Reader(database.path()), options).text;
  }
  std::string told(const std::string& selector = "", Format format = Format::table) const {
    return told(options_of(selector, format));
  }
  std::pair<ExitCode, std::string> failure_of(const ExplainOptions& options) const {
    try {
      told(options);
    } catch (const Error& error) {
      return {error.code(), error.what()};
    }
    return {ExitCode::done, ""};
  }

  /// A run on the model.
  std::int64_t add(const std::vector<schema::Launch>& launches) {
    schema::Run record;
    record.backend = "model";
    schema::Device device;
    device.backend = "model";
    const std::int64_t id = store.begin_run(record);
    store.add_launches(id, store.add_device(id, device), launches);
    store.end_run(id, schema::RunOutcome::done, "");
    return id;
  }

  std::string report_section(const schema::Reader& reader, Format format,
                             const char* section = "findings") const {
    ReportOptions options;
    options.format = format;
    options.sections = {{section, ""}};
    std::string text;
    write_report(reader, run, options, [&](std::string_view piece) {
      text += piece;
      return true;
    });
    return text;
  }

  TemporaryDatabase database;
  schema::Store store;
  std::int64_t run;
};

TEST_F(Explain, TheReportTellsTheWorstOfSeveralLaunches) {
  std::vector<schema::Launch> launches;
  for (const int line : {11, 12, 13}) {
    schema::Launch& launch = launches.emplace_back();
    launch.family = launch.variant = "search";
    launch.kernel = "search";
    launch.explanation.was_made = true;
    schema::Finding& finding = launch.explanation.findings.emplace_back(tile_conflict());
    finding.line = line;
    finding.share = line == 12 ? 0.9 : 0.2;
    // The most requests are not where the most transactions are.
    launch.lines = {
        {"search.cu", 5, "x", "global load", line == 11 ? 90u : 10u, line == 12 ? 80u : 70u, 10}};
  }
  run = add(launches);
  const schema::Reader reader(database.path());
  const std::string text = report_section(reader, Format::markdown);
  EXPECT_THAT(text, HasSubstr("kernels/transpose.cu:12"));
  EXPECT_THAT(text, Not(HasSubstr("kernels/transpose.cu:11")));
  EXPECT_THAT(report_section(reader, Format::markdown, "costly-lines"),
              HasSubstr("|       10 |           80 |"));
}

TEST_F(Explain, SaysEveryKindInEveryFormat) {
  ExplainOptions options = options_of();
  options.top = 20;
  expect_golden("explain.txt", told(options));
  options.format = Format::markdown;
  options.picture_folder = "explain_files";
  const ExplainedText markdown = explain(schema::Reader(database.path()), options);
  expect_golden("explain.md", markdown.text);
  ASSERT_GE(markdown.files.size(), 2U);
  expect_golden("explain_warp.svg", markdown.files[0].svg);
  options.format = Format::json;
  expect_golden("explain.json", told(options));
  options.format = Format::html;
  if (!html_page().empty()) expect_golden("explain.html", page_contents(told(options)));
}

TEST_F(Explain, ListsTheBestOfEachKindThatWasTried) {
  ExplainOptions options = options_of("transpose/tiled");
  options.what_if = true;
  expect_golden("explain_what_if.txt", told(options));
}

TEST_F(Explain, DrawsTheWarpOfALine) {
  ExplainOptions options = options_of();
  options.show = parse_shown_line("transpose.cu:44");
  expect_golden("explain_show.txt", told(options));
  options.width = 80;
  expect_golden("explain_show_80.txt", told(options));
  options.width = 0;
  options.show = parse_shown_line("app/kernels.cu:12");
  expect_golden("explain_show_sectors.txt", told(options));
  options.show = parse_shown_line("kernels.cu:14");
  EXPECT_THAT(told(options), HasSubstr("There is no picture of it"));
}

TEST_F(Explain, IsInAReportWithTheFirstFindingOfEachVariant) {
  const schema::Reader reader(database.path());
  expect_golden("explained_report.md", report_section(reader, Format::markdown));
  expect_golden("explained_report.txt", report_section(reader, Format::table));
  EXPECT_THAT(report_section(reader, Format::json),
              HasSubstr("kernels/transpose.cu:44: transpose/"));
}

TEST(ExplainInShort, SaysWhatTheShareOfNarrowAccessesIsOf) {
  ExplainedFinding finding;
  finding.kind = "narrow_access";
  finding.share = 42;
  finding.share_of = "the launch's global sectors";
  EXPECT_EQ(finding_in_short(finding),
            "narrow accesses: 42 % of the launch's global sectors too many");
  finding.kind = "divergence";
  EXPECT_EQ(finding_in_short(finding),
            "lanes that wait for others: they cost 42 % of the launch's global sectors");
}

TEST_F(Explain, RefusesALineWithoutAFinding) {
  ExplainOptions options = options_of("transpose");
  options.show = parse_shown_line("kernels/transpose.cu:45");
  EXPECT_EQ(failure_of(options),
            std::pair(ExitCode::usage, std::string("nothing was found at "
                                                   "kernels/transpose.cu:45: there is "
                                                   "kernels/transpose.cu:44")));
  options.show = ShownLine{"ranspose.cu", 44};
  EXPECT_EQ(failure_of(options).first, ExitCode::usage) << "the end of a path begins at a slash";
  options = options_of("app/whole");
  options.show = ShownLine{"a.cu", 1};
  EXPECT_THAT(failure_of(options).second, HasSubstr("no finding of these launches has a line"));
  for (const char* text : {"", "a.cu", "a.cu:", ":4", "a.cu:0", "a.cu:x"}) {
    EXPECT_THROW(parse_shown_line(text), Error) << text;
  }
}

TEST_F(Explain, RefusesWhatThereIsNot) {
  EXPECT_THAT(failure_of(options_of("transpose/tield")),
              ::testing::Pair(ExitCode::usage, HasSubstr("did you mean transpose/tiled")));
  EXPECT_THAT(failure_of(options_of("a.db")).second,
              HasSubstr("matches 'a.db'; a database is named with --db a.db (the launches: "));
  ExplainOptions options;
  options.run = add_empty_run(store);
  EXPECT_EQ(failure_of(options).first, ExitCode::nothing);
  options.run = 99;
  EXPECT_EQ(failure_of(options).first, ExitCode::usage);
}

TEST_F(Explain, ShowsTheWorstOfALaunchAndSaysHowManyMore) {
  EXPECT_THAT(told("app/global"), AllOf(HasSubstr("  5  "), Not(HasSubstr("  6  ")),
                                        HasSubstr("8 more with --top 13.")));
}

// A large share of little comes behind a smaller one of much.
TEST_F(Explain, TellsWhatCostsMostFirstAndTakesAKernelsOwnName) {
  std::vector<schema::Launch> launches(2, explained_launches()[1]);
  launches[0].variant = "small";
  launches[0].counters = {{"global_load_sectors", 128, schema::Grade::exact, ""}};
  launches[1].variant = "large";
  launches[1].counters = {{"global_load_sectors", 1'000'000, schema::Grade::exact, ""}};
  launches[1].explanation.findings[0].share /= 2;
  ExplainOptions options;
  options.run = add(launches);
  const std::string all = told(options);
  ASSERT_THAT(all, HasSubstr("transpose/small"));
  EXPECT_LT(all.find("transpose/large"), all.find("transpose/small"));
  options.selectors = {parse_selector("small")};
  EXPECT_THAT(told(options),
              AllOf(HasSubstr("transpose/small"), Not(HasSubstr("transpose/large"))));
  options.selectors = {parse_selector("kernels/transpose.cu:44")};
  EXPECT_THAT(failure_of(options).second, HasSubstr("; a line is named with --show kernels/"));
}

TEST_F(Explain, SaysWhyALaunchOfAnOlderDatabaseOrOfAGpuIsNotExplained) {
  ExplainOptions options;
  options.run = add_timing_run(store);
  EXPECT_THAT(told(options), AllOf(::testing::StartsWith("Of run "),
                                   HasSubstr("; --run names another.\n\nNot explained: "
                                             "vector_add/block_128 at 1,000 and "
                                             "vector_add/block_256 at 1,000: hardware counters"),
                                   HasSubstr("run --counts model, or profile -b model.\n")));
  options.run = add_model_run(store);
  EXPECT_THAT(told(options),
              HasSubstr("counted without explaining, as --check and an older warpmeter do.\n"));
  std::vector<schema::Launch> bare(1, explained_launches()[1]);  // as `profile` without -m
  bare[0].explanation = {};
  bare[0].counters.clear();
  options.run = add(bare);
  EXPECT_THAT(told(options),
              HasSubstr("no access was counted: the metrics of @default count and\nexplain them."));
}

TEST_F(Explain, GivesNoAdviceThatWasNotCounted) {
  using namespace schema;
  Launch launch = explained_launches()[1];
  for (Remedy& remedy : launch.explanation.findings[0].remedies) remedy.is_advised = false;
  ExplainOptions options;
  options.run = add({launch});
  EXPECT_THAT(told(options), AllOf(HasSubstr("meet in 2 banks."), Not(HasSubstr("Change"))));
}

TEST_F(Explain, LeavesHostileTextNoWayOut) {
  const std::string text = told("*/void*");
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  if (!html_page().empty()) {
    EXPECT_THAT(page_contents(told("*/void*", Format::html)), Not(HasSubstr("<img")));
  }
  const std::string markdown = told("*/void*", Format::markdown);
  EXPECT_THAT(markdown, AllOf(Not(HasSubstr("<img")), HasSubstr("data:image/svg+xml,")));
}

/// As a profiled program's; tests/bench/limits.py has them as a process, and each with findings of
/// its own.
TEST_F(Explain, TakesLessThanASecondForTenThousandLaunches) {
  using namespace schema;
  Launch launch = explained_launches()[1];
  Finding second = tile_conflict(), third = tile_conflict();
  second.line = 45;
  third.line = 46;
  launch.explanation.findings = {tile_conflict(), second, third};
  ExplainOptions options;
  options.run = add(std::vector<Launch>(10'000, launch));
  const std::clock_t begin = std::clock();  // the begin of this process: other tests run beside it
  const std::string text = told(options);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("10,000 launches: explained in %.2f s\n", seconds);
  EXPECT_THAT(text, HasSubstr("transpose/tiled at 4,096, 10,000 launches"));
  EXPECT_LT(seconds, 3.0) << "with sanitizers; 1 s without";
}

TEST_F(Explain, TellsLaunchesThatDifferInCountsAloneOnceWithTheWorst) {
  using namespace schema;
  std::vector<Launch> launches(3, explained_launches()[1]);
  launches[1].explanation.findings[0].share = 0.95;
  launches[2].explanation.findings[0].line = 99;
  ExplainOptions options;
  options.run = add(launches);
  EXPECT_THAT(told(options), AllOf(HasSubstr("transpose/tiled at 4,096, 2 launches, the worst of "
                                             "them\n"),
                                   HasSubstr("95 %"), HasSubstr("transpose.cu:99")));
}

TEST(ReadLanes, ReadsWhatTheStoreWrites) {
  EXPECT_FALSE(read_lanes(""));
  const auto lanes = read_lanes(R"({"width":4,"lanes":[{"lane":31,"address":128,"pass":2}]})");
  ASSERT_TRUE(lanes);
  EXPECT_EQ(lanes->width, 4u);
  EXPECT_EQ(lanes->lanes.at(0).address, 128u);
}

/// The texts of columns that hold JSON, in a database that somebody has changed.
class ChangedJson : public ::testing::TestWithParam<const char*> {};

TEST_P(ChangedJson, IsRefusedAsAFileThatCannotBeRead) {
  try {
    read_lanes(GetParam());
    ADD_FAILURE() << "read " << GetParam();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::file) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(ReadLanes, ChangedJson,
                         ::testing::Values("{", "7", "[]", "\xff\xfe", R"({"width":4})",
                                           R"({"lanes":7})", R"({"width":"x","lanes":[]})",
                                           R"({"width":4294967295,"lanes":[]})",
                                           R"({"width":4,"lanes":[7]})",
                                           R"({"width":4,"lanes":[{"lane":-1}]})",
                                           R"({"width":4,"lanes":[{"address":"x"}]})",
                                           R"({"width":4,"lanes":[{"pass":99999999}]})"));

TEST(StoredJson, ThatIsNestedTooDeepIsRefused) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_THROW(stored_json(deep, "a text"), Error);
  EXPECT_EQ(stored_json("[[1]]", "a text")[0][0], 1);
}

}  // namespace
}  // namespace warpmeter::reports
