// SPDX-License-Identifier: MIT
// Gates: what each says of launches whose figures are known, and how the answer looks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "reports/gates/check.h"
#include "reports/gates/config.h"
#include "tests/reports/compare_runs.h"
#include "tests/reports/runs.h"

namespace warpmeter::reports {
namespace {

using schema::Grade;
using schema::Launch;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// ---- what they say

class CheckTest : public testing::Test {
 protected:
  CheckTest() : store_(database_.path()) {}

  /// tiled has conflicts, copy makes no shared access at all, padded is counted from PTX.
  void add_transposes() {
    Launch tiled = launch("tiled", readings(1, 80000, 100));
    count(tiled, "shared_load_wavefronts", 262144), count(tiled, "shared_load_requests", 32768);
    tiled.lines = {
        {"kernels/transpose.cu", 44, "…", "shared load", 32768, 262144, 32768, Grade::exact},
        {"kernels/transpose.cu", 41, "…", "shared store", 1, 1, 1, Grade::exact}};
    Launch copy = launch("copy", readings(2, 60000, 100));
    count(copy, "shared_load_wavefronts", 0), count(copy, "shared_load_requests", 0);
    Launch padded = launch("padded", readings(3, 70000, 100));
    count(padded, "shared_load_wavefronts", 98304, Grade::ptx);
    count(padded, "shared_load_requests", 32768, Grade::ptx);
    run_ = add_run(store_, {tiled, copy, padded});
  }

  Check checked(const std::vector<std::string>& gates, CheckRequest request = {}) const {
    request.run = run_;
    for (const std::string& gate : gates) request.gates.push_back(parse_gate(gate));
    return check(schema::Reader(database_.path()), request);
  }
  Outcome outcome_of(const std::string& gate) const { return checked({gate}).outcome(); }

  TemporaryDatabase database_;
  schema::Store store_;
  std::int64_t run_ = 0;
};

TEST_F(CheckTest, TellsTwoCardsOfOneNameApart) {
  run_ = store_.begin_run({});
  for (const int ordinal : {0, 1}) {
    schema::Device device;
    device.backend = "cupti";
    device.name = "NVIDIA H200";
    device.ordinal = ordinal;
    device.uuid = ordinal == 0 ? "GPU-1" : "GPU-2";
    store_.add_launch(run_, store_.add_device(run_, device),
                      launch("tiled", readings(1, ordinal == 0 ? 80000 : 90000, 100)));
  }
  store_.end_run(run_, schema::RunOutcome::done, "");
  const Check both = checked({"duration <= 85us"});
  ASSERT_EQ(both.findings.size(), 2U);
  EXPECT_EQ(both.findings[0].outcome, Outcome::broken);
  EXPECT_EQ(both.findings[0].launch, "transpose/tiled at 1,024 on NVIDIA H200 #1");
  EXPECT_EQ(both.findings[1].outcome, Outcome::holds);
  EXPECT_EQ(both.findings[1].launch, "transpose/tiled at 1,024 on NVIDIA H200 #0");
  EXPECT_EQ(outcome_of("*@device=NVIDIA H200 #0: duration <= 85us"), Outcome::holds);
  EXPECT_EQ(outcome_of("*@device=NVIDIA H200 #1: duration <= 85us"), Outcome::broken);
  EXPECT_EQ(outcome_of("*@device=NVIDIA H200: duration <= 85us"), Outcome::broken);
  EXPECT_EQ(outcome_of("*@device=NVIDIA H200: duration <= 95us"), Outcome::holds);
  EXPECT_EQ(outcome_of("*@device=A100: duration <= 95us"), Outcome::inconclusive);
}

TEST_F(CheckTest, HoldsBreaksOrIsInconclusive) {
  add_transposes();
  const std::pair<const char*, Outcome> known[] = {
      {"transpose/tiled: shared_load_transactions_per_request <= 8", Outcome::holds},
      {"transpose/tiled: shared_load_transactions_per_request < 8", Outcome::broken},
      {"transpose/tiled: shared_load_transactions_per_request == 8", Outcome::holds},
      {"transpose/tiled: shared_load_transactions_per_request != 8", Outcome::broken},
      {"transpose/tiled: shared_load_transactions_per_request > 7.9", Outcome::holds},
      {"transpose/tiled: shared_load_wavefronts / shared_load_requests - 2 * 3 == 2",
       Outcome::holds},
      {"transpose/tiled: shared_load_wavefronts >= 8 * shared_load_requests", Outcome::holds},
      {"transpose/tiled: duration <= 81us", Outcome::holds},
      {"transpose/tiled: duration <= 0.079 ms", Outcome::broken},
      {"transpose/padded: shared_load_transactions_per_request <= 2",
       Outcome::inconclusive},  // ptx
      {"transpose/padded: shared_load_transactions_per_request <= 3",
       Outcome::inconclusive},  // ptx
      {"transpose/copy: shared_load_transactions_per_request <= 2", Outcome::inconclusive},
      {"transpose/tiled: gst_efficiency >= 90", Outcome::inconclusive},  // not measured
      {"transpose/missing: duration >= 0", Outcome::inconclusive},
      {"duration >= 1ns", Outcome::holds},
  };
  for (const auto& [gate, outcome] : known) EXPECT_EQ(outcome_of(gate), outcome) << gate;
}

TEST_F(CheckTest, LargeCountsAreComparedToTheLastOne) {
  Launch large = launch("tiled", {});
  count(large, "global_load_sectors", 3'999'999'999), count(large, "global_load_requests", 3);
  run_ = add_run(store_, {large});
  EXPECT_EQ(outcome_of("global_load_sectors < 4000000000"), Outcome::holds);
  EXPECT_EQ(outcome_of("global_load_sectors == 4000000000"), Outcome::broken);
  EXPECT_EQ(outcome_of("global_load_sectors <= 3999999998"), Outcome::broken);
  EXPECT_EQ(outcome_of("global_load_requests / 9 == 0.33333333333"), Outcome::holds);
}

TEST_F(CheckTest, LaunchesWithoutSuchAccessesAreLeftOut) {
  add_transposes();
  const Check result = checked({"transpose/[ct]*: shared_load_transactions_per_request <= 8"});
  EXPECT_EQ(result.outcome(), Outcome::holds);
  EXPECT_EQ(result.findings.size(), 1U);
}

// The blocks that were left out may have the conflicts, or lack them.
TEST_F(CheckTest, AnEstimateFromSomeBlocksIsInconclusive) {
  Launch some = launch("tiled", {});
  for (const auto& [counter, value] :
       {std::pair("shared_load_wavefronts", 4096.0), std::pair("shared_load_requests", 4096.0)}) {
    some.counters.push_back(
        {counter, value, Grade::sampled, "estimated from 41 of 4096 blocks (1 %); more of it"});
  }
  run_ = add_run(store_, {some});
  for (const char* gate :
       {"shared_load_transactions_per_request <= 1", "shared_load_transactions_per_request > 1"}) {
    const Check result = checked({gate});
    EXPECT_EQ(result.outcome(), Outcome::inconclusive) << gate;
    EXPECT_EQ(result.findings.at(0).reason,
              "it is estimated from 41 of 4096 blocks (1 %): run all of them");
  }
}

TEST_F(CheckTest, OneGateThatMatchesNothingSpoilsTheRest) {
  add_transposes();
  const Check result = checked({"duration >= 1ns", "gone/*: duration >= 1ns"});
  EXPECT_EQ(result.outcome(), Outcome::inconclusive);
  EXPECT_THAT(result.findings.front().reason, HasSubstr("matches no launch"));
}

TEST_F(CheckTest, AGateNamesAKernelOfAnyFamily) {
  add_transposes();
  for (const char* gate :
       {"tiled: shared_load_wavefronts <= 262144", "til*: shared_load_wavefronts <= 262144",
        "transpose/tiled: shared_load_wavefronts <= 262144"}) {
    EXPECT_EQ(outcome_of(gate), Outcome::holds) << gate;
  }
  EXPECT_EQ(outcome_of("tiled: shared_load_wavefronts <= 1"), Outcome::broken);
  const Check none = checked({"tield: shared_load_wavefronts <= 1"});
  ASSERT_EQ(none.findings.size(), 1U);
  EXPECT_EQ(none.findings[0].outcome, Outcome::inconclusive);
  EXPECT_THAT(none.findings[0].reason, HasSubstr("did you mean tiled?"));
}

TEST_F(CheckTest, AGateNamesAKernelWithAllItsParameters) {
  Launch narrow = launch("tiled[TILE=16]", readings(1, 80000, 100));
  count(narrow, "shared_load_wavefronts", 8);
  Launch wide = launch("tiled[TILE=32]", readings(1, 80000, 100));
  count(wide, "shared_load_wavefronts", 4);
  run_ = add_run(store_, {narrow, wide});
  EXPECT_EQ(checked({"tiled: shared_load_wavefronts <= 8"}).findings.size(), 2U);
  EXPECT_EQ(outcome_of("tiled: shared_load_wavefronts <= 8"), Outcome::holds);
  EXPECT_EQ(outcome_of("transpose/tiled: shared_load_wavefronts <= 4"), Outcome::broken);
  EXPECT_EQ(outcome_of("tile: shared_load_wavefronts <= 8"), Outcome::inconclusive);
}

TEST_F(CheckTest, TellsByHowMuchAndWhere) {
  add_transposes();
  const Check result = checked({"transpose/tiled: shared_load_transactions_per_request <= 2"});
  const Finding& finding = result.findings.front();
  EXPECT_EQ(finding.by_how_much(), "+6 (+300 %)");
  EXPECT_EQ(finding.file, "kernels/transpose.cu");
  EXPECT_EQ(finding.line, 44);
}

/// cp.async has one line for its reads and one for its writes; memory of other blocks has none.
TEST_F(CheckTest, NamesTheLineOfTheSideThatAGateOfCopiesIsAbout) {
  Launch copying = launch("copying", {});
  for (const char* counter : {"async_copy_wavefronts", "async_copy_sectors",
                              "distributed_shared_load_requests", "shared_load_wavefronts"}) {
    count(copying, counter, 64);
  }
  int number = 0;
  for (const char* access : {"shared async copy", "global load", "shared load"}) {
    schema::Line line;
    line.file = "kernel.cu";
    line.line = ++number;
    line.access = access;
    line.requests = 2;
    line.transactions = 64;
    line.ideal = 2;
    copying.lines.push_back(line);
  }
  run_ = add_run(store_, {copying});
  const auto line_of = [&](const char* counter) {
    return checked({std::string(counter) + " <= 2"}).findings.front().line;
  };
  EXPECT_EQ(line_of("async_copy_wavefronts"), 1);
  EXPECT_EQ(line_of("async_copy_sectors"), 2);
  EXPECT_EQ(line_of("shared_load_wavefronts"), 3);
  EXPECT_EQ(line_of("distributed_shared_load_requests"), 0);
}

TEST_F(CheckTest, AFailedLaunchIsInconclusiveAndSaysWhy) {
  Launch failed = launch("tiled", {});
  failed.outcome = schema::LaunchOutcome::failed;
  failed.reason = "illegal address";
  run_ = add_run(store_, {failed});
  const Check result = checked({"duration <= 1s"});
  EXPECT_EQ(result.outcome(), Outcome::inconclusive);
  EXPECT_EQ(result.findings.front().reason, "the launch failed: illegal address");
}

TEST_F(CheckTest, ExpectationsAreGatesToo) {
  Launch tiled = launch("tiled", {});
  count(tiled, "shared_load_wavefronts", 8), count(tiled, "shared_load_requests", 1);
  tiled.expectations = {{"shared_load_transactions_per_request", "==", 16, "by design"},
                        {"gld_efficiency", "==", 100, "neighbours load neighbours"}};
  run_ = add_run(store_, {tiled});
  const Check result = checked({});
  EXPECT_EQ(result.outcome(), Outcome::broken);
  EXPECT_EQ(result.count(Outcome::inconclusive), 1U);
  CheckRequest without;
  without.expectations = false;
  EXPECT_EQ(checked({}, std::move(without)).outcome(),
            Outcome::inconclusive);  // nothing was checked
}

TEST_F(CheckTest, AnOpenExpectationDoesNotSpoilAGateThatHolds) {
  Launch tiled = launch("tiled", readings(1, 1000, 1));
  tiled.expectations = {{"gld_efficiency", "==", 100, "neighbours load neighbours"}};
  run_ = add_run(store_, {tiled});
  EXPECT_EQ(checked({}).outcome(), Outcome::inconclusive);
  EXPECT_EQ(checked({"duration > 0"}).outcome(), Outcome::holds);
}

TEST_F(CheckTest, OfRepeatedLaunchesTheWorstCounts) {
  std::vector<Launch> launches(3, launch("tiled", {}));
  for (int i = 0; i < 3; ++i)
    count(launches[static_cast<std::size_t>(i)], "global_load_sectors", i);
  run_ = add_run(store_, launches);
  const Check result = checked({"global_load_sectors <= 1"});
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].measured, 2);
}

TEST_F(CheckTest, ASelectorThatMatchesNoLaunchIsAMistake) {
  add_transposes();
  CheckRequest request;
  request.selectors = {parse_selector("transpose/tild")};
  try {
    checked({}, std::move(request));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("did you mean transpose/tiled"));
  }
}

TEST_F(CheckTest, AVariantWithoutItsNamedSizesIsToldThem) {
  run_ = add_run(store_, {launch("tiled[T=4](m=1)", {}), launch("tiled[T=4](m=2)", {})});
  const auto reason = [this](const std::string& gate) {
    return checked({gate + ": duration <= 1s"}).findings.front().reason;
  };
  EXPECT_THAT(reason("transpose/tiled[T=4]"),
              HasSubstr("it is measured at named sizes: transpose/tiled[T=4](m=1), "
                        "transpose/tiled[T=4](m=2), or all of them, 'transpose/tiled[T=4](*)'"));
  EXPECT_THAT(reason("transpose/tiled[T=4]@1024"), HasSubstr("'transpose/tiled[T=4](*)@1024'"));
  EXPECT_THAT(reason("transpose/tiled[T=4](*)"), Not(HasSubstr("matches no launch")));
  EXPECT_THAT(reason("transpose/tield[T=4]"), HasSubstr("did you mean transpose/tiled[T=4]"));
  EXPECT_THAT(reason("transpose/tiled[T=4](m=3)"), Not(HasSubstr("named sizes")));
}

TEST_F(CheckTest, OneVariantInTwoGeometriesIsTwoLaunches) {
  Launch small = launch("tiled", {}), large = small;
  large.block[1] = 32;
  count(small, "global_load_sectors", 1), count(large, "global_load_sectors", 2);
  run_ = add_run(store_, {small, large});
  const Check result = checked({"global_load_sectors <= 1"});
  ASSERT_EQ(result.findings.size(), 2U);
  EXPECT_EQ(result.findings[0].launch, "transpose/tiled at 1,024 (64x64x1 of 16x32x1)");
  EXPECT_EQ(result.findings[0].outcome, Outcome::broken);
  EXPECT_EQ(outcome_of("*@block=16x16: global_load_sectors <= 1"), Outcome::holds);
  EXPECT_EQ(outcome_of("transpose/tiled@1024: global_load_sectors <= 1"), Outcome::broken);
  EXPECT_THAT(checked({"transpose/tiled@1023: global_load_sectors <= 1"}).findings.front().reason,
              HasSubstr("matches no launch of the run; did you mean transpose/tiled@1024?"));
  CheckRequest request;
  request.selectors = {parse_selector("*@block=16x32")};
  EXPECT_EQ(checked({"global_load_sectors == 2"}, std::move(request)).findings.size(), 1U);
}

// ---- against a baseline

class BaselineTest : public CheckTest {
 protected:
  Check against(std::vector<double> before, std::vector<double> now, double max_slowdown = 0.03,
                double significance = 0.001) {
    const std::int64_t base =
        add_run(store_, {launch("naive", std::move(before)), launch("old", {})});
    run_ = add_run(store_, {launch("naive", std::move(now)), launch("new", {})});
    const schema::Reader reader(database_.path());
    CheckRequest request;
    request.run = run_;
    request.baseline = Baseline{&reader, base, "the baseline", max_slowdown, significance};
    return check(reader, request);
  }
};

TEST_F(BaselineTest, BreaksWhenSlowerByMore) {
  const Check result = against(readings(1, 20000, 60), readings(2, 21000, 60));
  EXPECT_EQ(result.outcome(), Outcome::broken);
  EXPECT_NEAR(*result.findings.front().measured, 5, 0.2);  // per cent
  EXPECT_EQ(result.findings.front().limit, 3);
  EXPECT_THAT(result.findings.front().by_how_much(), testing::StartsWith("+2"));
  EXPECT_THAT(result.findings.front().reason, HasSubstr("µs against 20.0 µs"));
  EXPECT_THAT(result.remarks, testing::ElementsAre(HasSubstr("transpose/new at 1,024 is not in")));
}

TEST_F(BaselineTest, HoldsWhenSlowerByLess) {
  EXPECT_EQ(against(readings(1, 20000, 60), readings(2, 20400, 60)).outcome(), Outcome::holds);
}

TEST_F(BaselineTest, BreaksWithAsMuchDoubtAsIsAllowed) {
  const std::vector<double> before = readings(1, 20000, 700, 12), now = readings(2, 21500, 700, 12);
  EXPECT_EQ(against(before, now, 0.03, 1e-6).outcome(), Outcome::inconclusive);
  EXPECT_EQ(against(before, now, 0.03, 0.2).outcome(), Outcome::broken);
}

TEST_F(BaselineTest, ALimitBelowOnePerCentIsHeldToo) {
  const std::vector<double> before = readings(1, 1e6, 100, 400),
                            now = readings(2, 1.008e6, 100, 400);
  EXPECT_EQ(against(before, now, 0.005, 0.2).outcome(), Outcome::broken);
  EXPECT_EQ(against(before, now, 0.01, 0.2).outcome(), Outcome::holds);
}

TEST_F(BaselineTest, IsInconclusiveWhenItCannotTell) {
  const Check result = against(readings(1, 20000, 2000, 8), readings(2, 20600, 2000, 8));
  EXPECT_EQ(result.outcome(), Outcome::inconclusive);
  EXPECT_THAT(result.findings.front().reason, HasSubstr("samples"));
}

TEST_F(BaselineTest, SaysThatItIsOfAnotherGpu) {
  const std::int64_t base = add_run(store_, {launch("naive", readings(1, 20000, 60))});
  run_ = add_run(store_, {launch("naive", readings(2, 20100, 60))}, {.uuid = "GPU-2"});
  const schema::Reader reader(database_.path());
  CheckRequest request;
  request.run = run_;
  request.baseline = Baseline{&reader, base, "the baseline", 0.03};
  EXPECT_THAT(check(reader, request).remarks, testing::ElementsAre(HasSubstr("another GPU")));
}

TEST_F(BaselineTest, WithoutTimesThereIsNothingToSay) {
  EXPECT_EQ(against({}, {}).outcome(), Outcome::inconclusive);
}

// ---- warpmeter.toml

class ConfigTest : public testing::Test {
 protected:
  Config read(const std::string& text) const {
    const std::string path = database_.path() + ".toml";
    std::ofstream(path) << text;
    return read_config(path);
  }
  void expect_error(const std::string& text, const std::string& message) const {
    try {
      read(text);
      ADD_FAILURE() << text << " was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  }
  TemporaryDatabase database_;
};

TEST_F(ConfigTest, HoldsGatesAndABaseline) {
  const Config config = read(R"([check]
gates = ["gst_efficiency >= 90", { gate = "ipc > 1", because = "it is busy" }]
expectations = false
baseline = "main.db"
max_slowdown = "2.5 %"
significance = "1%"
)");
  ASSERT_EQ(config.gates.size(), 2U);
  EXPECT_EQ(config.gates[1].because, "it is busy");
  EXPECT_EQ(config.expectations, false);
  EXPECT_EQ(config.baseline, "main.db");
  EXPECT_DOUBLE_EQ(*config.max_slowdown, 0.025);
  EXPECT_DOUBLE_EQ(*config.significance, 0.01);
}

TEST_F(ConfigTest, SaysWhereAMistakeIs) {
  expect_error("[check]\n gates = [\n", "line 2, column 12: 'gates = [' is not valid TOML: ");
  expect_error(
      "[check\n",
      "line 1, column 7: '[check' is not valid TOML: expected ']', found the end of the line");
  expect_error("[chek]\n", "line 1, column 2: there is no 'chek'; did you mean check?");
  expect_error("[check]\ngate = []\n", "did you mean gates?");
  expect_error("[check]\ngates = [\n  \"gst_efficiency > \",\n]\n",
               "line 3, column 3: the gate 'gst_efficiency > '");
  expect_error("[check]\ngates = [\"a@x: ipc > 1\"]\n",
               "line 2, column 10: the gate 'a@x: ipc > 1' cannot be read: at column 3 a size");
  expect_error("[check]\ngates = [7]\n", "line 2, column 10: a gate is a text or a table");
  expect_error("[check]\nmax_slowdown = 3\n", "is a text");
  expect_error("[check]\nmax_slowdown = \"fast\"\n",
               "line 2, column 16: max_slowdown 'fast' is no percentage");
  expect_error("[check]\nsignificance = \"100%\"\n",
               "line 2, column 16: significance '100%' is not between 0% and 100%");
  expect_error("[check]\nsignificanse = \"1%\"\n", "did you mean significance?");
  EXPECT_THROW(read_config("/nowhere/warpmeter.toml"), Error);
}

// ---- formats

class CheckFormatTest : public CheckTest {
 protected:
  std::string rendered(CheckFormat format) {
    add_transposes();
    return render(
        checked({"transpose/tiled: shared_load_transactions_per_request <= 2",
                 "transpose/padded: shared_load_transactions_per_request <= 2", "duration > 0"}),
        format);
  }
};

TEST_F(CheckFormatTest, TableShowsWhatBroke) {
  const std::string text = rendered(CheckFormat::table);
  EXPECT_THAT(
      text,
      HasSubstr("3 of 5 checks on run 1 on NVIDIA H200 hold, 1 is broken, 1 is inconclusive."));
  EXPECT_THAT(text, HasSubstr("+6 (+300 %)"));
  EXPECT_THAT(text, HasSubstr("kernels/transpose.cu:44"));
}

TEST_F(CheckFormatTest, GithubAnnotatesTheLine) {
  const std::string text = rendered(CheckFormat::github);
  EXPECT_THAT(text, HasSubstr("::error file=kernels/transpose.cu,line=44,title=warpmeter check::"
                              "transpose/tiled at 1,024: "));
  EXPECT_THAT(text, HasSubstr("it is 8, +6 (+300 %25)"));
  EXPECT_THAT(text, HasSubstr("\n::warning title=warpmeter check::transpose/padded"));
  EXPECT_THAT(text, HasSubstr("\n::notice "));
}

TEST_F(CheckFormatTest, JunitCountsFailuresAndErrors) {
  const std::string text = rendered(CheckFormat::junit);
  EXPECT_THAT(text, HasSubstr(R"(<?xml version="1.0" encoding="UTF-8"?>)"));
  EXPECT_THAT(text, HasSubstr(R"(tests="5" failures="1" errors="1" skipped="0")"));
  EXPECT_THAT(text, HasSubstr(R"(classname="transpose/tiled at 1,024")"));
  EXPECT_THAT(text, HasSubstr("&lt;= 2"));
}

TEST_F(CheckFormatTest, JsonAndCsvHoldEveryFinding) {
  const auto json = nlohmann::json::parse(rendered(CheckFormat::json));
  EXPECT_EQ(json["outcome"], "broken");
  EXPECT_EQ(json["findings"].size(), 5U);
  EXPECT_EQ(json["findings"][0]["measured"], 8);
  EXPECT_EQ(json["findings"][0]["line"], 44);
  EXPECT_THAT(render(checked({"duration > 0"}), CheckFormat::csv),
              HasSubstr("\nholds,gate,duration > 0,transpose,"));
}

// 255,999 of 256,000 lanes: 99.9996 %, which three digits would show as the limit itself.
TEST_F(CheckTest, AValueNearItsLimitHasDigitsThatTellThemApart) {
  Launch near = launch("tiled", readings(1, 5, 1));
  count(near, "gst_efficiency", 99.999609375);
  run_ = add_run(store_, {near});
  const Check result = checked({"transpose/tiled: gst_efficiency >= 100"});
  EXPECT_THAT(render(result, CheckFormat::table), HasSubstr(" 99.9996  -0.000391 "));
  EXPECT_THAT(
      render(result, CheckFormat::github),
      HasSubstr("transpose/tiled at 1,024: gst_efficiency >= 100 is broken: it is 99.9996,"));
  EXPECT_THAT(render(result, CheckFormat::junit), HasSubstr("it is 99.9996, -0.000391"));
  EXPECT_EQ(nlohmann::json::parse(render(result, CheckFormat::json))["findings"][0]["measured"],
            99.999609375);
}

TEST_F(CheckTest, HostileNamesStayTextInEveryFormat) {
  run_ = add_run(store_, {launch("k\n::error::owned<b>&\x1b[2J", readings(1, 5, 1), "pro|gram")});
  const Check result = checked({"duration > 1s"});
  EXPECT_THAT(render(result, CheckFormat::github), Not(HasSubstr("\n::error::owned")));
  EXPECT_THAT(render(result, CheckFormat::junit),
              AllOf(HasSubstr("&lt;b>&amp;"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(render(result, CheckFormat::table), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace warpmeter::reports
