// SPDX-License-Identifier: MIT
// Runs that did not come to their end: what is said of them, and by whom.
#include "reports/unfinished.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "reports/compare/compare.h"
#include "reports/gates/check.h"
#include "reports/render/report.h"
#include "tests/reports/compare_runs.h"
#include "tests/reports/runs.h"

namespace warpmeter::reports {
namespace {

using schema::Launch;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Unfinished : public testing::Test {
 protected:
  Unfinished() : store_(database_.path()) {}

  static Launch good(const std::string& variant, unsigned seed = 1) {
    Launch made = launch(variant, readings(seed, 20000, 60));
    reports::count(made, "global_load_sectors", 8);
    return made;
  }
  static Launch failed(const std::string& variant) {
    Launch made = launch(variant, {});
    made.outcome = schema::LaunchOutcome::failed;
    made.reason = "illegal address";
    return made;
  }

  /// A run that was going to store `planned` launches and ended so; none: it has not ended.
  std::int64_t add(const std::vector<Launch>& launches,
                   std::optional<schema::RunOutcome> outcome = schema::RunOutcome::done,
                   const std::string& reason = "", std::optional<std::int64_t> planned = 4) {
    schema::Run run;
    run.backend = "cupti";
    run.host = "lab3";
    run.planned_launches = planned;
    const std::int64_t id = store_.begin_run(run);
    schema::Device device;
    device.backend = "cupti";
    device.name = "NVIDIA H200";
    store_.add_launches(id, store_.add_device(id, device), launches);
    if (outcome) store_.end_run(id, *outcome, reason);
    return id;
  }

  std::string why(std::int64_t run) const {
    return why_unfinished(schema::Reader(database_.path()), run);
  }

  Check checked(std::int64_t run, CheckRequest request = {},
                std::optional<std::int64_t> baseline = std::nullopt) const {
    const schema::Reader reader(database_.path());
    request.run = run;
    if (baseline) {
      request.baseline = Baseline{&reader, *baseline, fmt_run(*baseline), 0.03};
    } else {
      request.gates.push_back(parse_gate("global_load_sectors == 8"));
    }
    return check(reader, request);
  }
  static std::string fmt_run(std::int64_t run) { return "run " + std::to_string(run); }
  static CheckRequest allowing() {
    CheckRequest request;
    request.allow_unfinished = true;
    return request;
  }

  TemporaryDatabase database_;
  schema::Store store_;
};

constexpr auto interrupted = schema::RunOutcome::interrupted;
constexpr auto ended_badly = schema::RunOutcome::failed;

// In CI a line that begins with two colons may be a command.
TEST_F(Unfinished, TextOfADatabaseBeginsNoLine) {
  const std::int64_t run = add({good("naive")}, schema::RunOutcome::interrupted, "signal\n::set 1");
  schema::Run labelled;
  labelled.label = "mine\n::set 2";
  const std::int64_t other = store_.begin_run(labelled);
  const schema::Reader reader(database_.path());
  EXPECT_THAT(unfinished(reader, std::vector{run, other}, {}),
              ElementsAre(AllOf(HasSubstr("::set 1"), Not(HasSubstr("\n"))),
                          AllOf(HasSubstr("::set 2"), Not(HasSubstr("\n")))));
}

TEST_F(Unfinished, SaysHowFarTheRunCame) {
  EXPECT_EQ(why(add({good("a")})), "");
  EXPECT_EQ(why(add({good("a")}, interrupted, "stopped by its user")),
            "run 2 was interrupted after 1 of 4 launches: stopped by its user");
  EXPECT_EQ(why_unfinished(schema::Reader(database_.path()), 2, {{2, "main.db, run 7"}}),
            "main.db, run 7 was interrupted after 1 of 4 launches: stopped by its user");
  EXPECT_EQ(why(add({}, interrupted, "stopped", std::nullopt)),
            "run 3 was interrupted before its first launch: stopped");
  EXPECT_EQ(why(add({good("a"), good("b")}, ended_badly, "the GPU fell off the bus")),
            "run 4 was ended by an error after 2 of 4 launches: the GPU fell off the bus");
  EXPECT_THAT(
      why(add({good("a")}, std::nullopt)),
      HasSubstr("run 5 has not ended, after 1 of 4 launches: it is being measured on lab3"));
}

TEST_F(Unfinished, IsNoRunWhoseLaunchesWereAllTried) {
  EXPECT_EQ(why(add({good("a"), failed("b")}, ended_badly, "1 of 2 launches failed", 2)), "");
  EXPECT_EQ(why(add({good("a"), failed("b")}, ended_badly, "1 of 2 launches failed", {})), "");
  EXPECT_NE(why(add({good("a"), failed("b")}, ended_badly, "1 of 2 launches failed", 3)), "");
}

TEST_F(Unfinished, RunsAreInconclusiveThoughAllThatIsThereHolds) {
  const std::vector<std::int64_t> runs = {add({good("a")}, interrupted, "stopped by its user"),
                                          add({good("a")}, ended_badly, "no more memory"),
                                          add({good("a")}, std::nullopt)};
  for (const std::int64_t run : runs) {
    const Check result = checked(run);
    EXPECT_EQ(result.outcome(), Outcome::inconclusive);
    EXPECT_EQ(result.count(Outcome::holds), 1U);
    EXPECT_EQ(result.findings.front().kind, GateKind::run);
    EXPECT_THAT(result.findings.front().reason, HasSubstr("after 1 of 4 launches"));
    const Check allowed = checked(run, allowing());
    EXPECT_EQ(allowed.outcome(), Outcome::holds);
    EXPECT_THAT(allowed.remarks, ElementsAre(HasSubstr("after 1 of 4 launches")));
  }
}

TEST_F(Unfinished, RunsBreakWhatIsBrokenAllTheSame) {
  Launch bad = good("a");
  bad.counters[0].value = 9;
  EXPECT_EQ(checked(add({bad}, interrupted, "stopped")).outcome(), Outcome::broken);
}

TEST_F(Unfinished, RunsWithoutALaunchHoldNothing) {
  const std::int64_t run = add({}, interrupted, "stopped by its user");
  EXPECT_EQ(checked(run).outcome(), Outcome::inconclusive);
  EXPECT_EQ(checked(run, allowing()).outcome(), Outcome::inconclusive);
  CheckRequest request;
  request.selectors = {parse_selector("transpose/a")};
  try {
    checked(run, std::move(request));
    ADD_FAILURE() << "a launch was found";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::nothing);
    EXPECT_THAT(error.what(), HasSubstr("after 0 of 4 launches"));
  }
}

TEST_F(Unfinished, LaunchesThatFailedAreInconclusiveUnlessNobodyAsksForThem) {
  const std::int64_t run = add({good("a"), failed("b")}, ended_badly, "1 of 2 launches failed", 2);
  CheckRequest request;
  request.selectors = {parse_selector("transpose/a")};
  EXPECT_EQ(checked(run, std::move(request)).outcome(), Outcome::holds);
  EXPECT_EQ(checked(run).outcome(), Outcome::inconclusive);
  // Also where no gate is about it.
  CheckRequest others;
  others.gates.push_back(parse_gate("transpose/a: global_load_sectors == 8"));
  others.run = run;
  const schema::Reader reader(database_.path());
  const Check result = check(reader, others);
  EXPECT_EQ(result.outcome(), Outcome::inconclusive);
  EXPECT_THAT(result.findings.front().reason, HasSubstr("the launch failed: illegal address"));
  others.allow_unfinished = true;
  EXPECT_EQ(check(reader, others).outcome(), Outcome::holds);
  // A gate that is about it has no value, whatever is allowed.
  EXPECT_EQ(checked(run, allowing()).outcome(), Outcome::inconclusive);
}

TEST_F(Unfinished, BaselinesLetNothingPass) {
  const std::int64_t base = add({good("a", 1)}, interrupted, "stopped by its user");
  const std::int64_t whole = add({good("a", 2)}, schema::RunOutcome::done, "", 1);
  EXPECT_EQ(checked(whole, {}, base).outcome(), Outcome::inconclusive);
  EXPECT_EQ(checked(whole, allowing(), base).outcome(), Outcome::holds);
  EXPECT_EQ(checked(base, {}, whole).outcome(), Outcome::inconclusive);
  EXPECT_THAT(checked(whole, {}, base).findings.front().reason,
              HasSubstr("of the baseline, run 1 was interrupted after 1 of 4 launches"));
}

TEST_F(Unfinished, ALaunchThatFailedInTheBaselineIsNamed) {
  const std::int64_t base = add({good("a", 1), failed("b")}, ended_badly, "1 of 2 failed", 2);
  const std::int64_t now = add({good("a", 2), good("b", 3)}, schema::RunOutcome::done, "", 2);
  EXPECT_THAT(checked(now, {}, base).remarks,
              ElementsAre(HasSubstr("transpose/b at 1,024 failed in run 1")));
}

TEST_F(Unfinished, EveryFormatOfACheckSaysSo) {
  const std::int64_t run = add({good("a")}, interrupted, "stopped by its user");
  const Check result = checked(run), allowed = checked(run, allowing());
  for (const CheckFormat format :
       {CheckFormat::table, CheckFormat::markdown, CheckFormat::csv, CheckFormat::json,
        CheckFormat::github, CheckFormat::junit, CheckFormat::sarif}) {
    EXPECT_THAT(render(result, format), HasSubstr("run 1 was interrupted after 1 of 4 launches"));
    if (format == CheckFormat::csv) continue;
    EXPECT_THAT(render(allowed, format), HasSubstr("run 1 was interrupted after 1 of 4 launches"));
  }
  EXPECT_THAT(render(result, CheckFormat::junit), HasSubstr(R"(errors="1")"));
  EXPECT_THAT(render(result, CheckFormat::github), HasSubstr("::warning "));
  EXPECT_EQ(nlohmann::json::parse(render(result, CheckFormat::json))["outcome"], "inconclusive");
  EXPECT_THAT(render(result, CheckFormat::table), HasSubstr("1 of 2 checks on run 1"));
}

TEST_F(Unfinished, RunsAreNotCalledFineByAReport) {
  Launch made = good("a");
  made.expectations = {{"global_load_sectors", "==", 8, "by design"}};
  const std::int64_t run = add({made}, interrupted, "stopped by its user");
  std::string text;
  write_report(schema::Reader(database_.path()), run, {}, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  EXPECT_THAT(text, AllOf(HasSubstr("interrupted: stopped by its user; 1 of 4 launches"),
                          HasSubstr("1 of 1 expectation holds. Not all was measured: run 1")));
}

TEST_F(Unfinished, RunsAreRemarkedOnByAComparison) {
  add({good("a", 1)});
  add({good("a", 2)}, interrupted, "stopped by its user");
  const Comparison comparison = compare(schema::Reader(database_.path()), {});
  EXPECT_THAT(comparison.unfinished, ElementsAre(HasSubstr("run 2 was interrupted")));
  EXPECT_THAT(comparison.remarks,
              ElementsAre(AllOf(HasSubstr("Not all was measured"), HasSubstr("1 of 4 launches"))));
  EXPECT_THAT(render(comparison, Format::json), HasSubstr("run 2 was interrupted"));
  add({good("a", 3)});
  add({good("a", 4)});
  EXPECT_THAT(compare(schema::Reader(database_.path()), {}).unfinished, IsEmpty());
}

}  // namespace
}  // namespace warpmeter::reports
