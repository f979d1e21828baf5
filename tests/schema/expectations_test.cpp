// SPDX-License-Identifier: MIT
// Verdicts: what holds, what is broken, and what cannot be said.
#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

using ::testing::ElementsAre;

class Expectations : public ::testing::Test {
 protected:
  std::string path() const { return folder_ / "warpmeter.db"; }

  /// "measured|grade|verdict|verdict_reason" of each of the launch's.
  std::vector<std::string> expectation(const Launch& launch) const {
    store_run(path(), {launch});
    return lines_of(path(), "SELECT measured, grade, verdict, verdict_reason FROM expectations");
  }

 private:
  Folder folder_;
};

TEST_F(Expectations, CompareByTheirRelation) {
  Launch launch = example_launch();
  launch.expectations = {
      {"gst_efficiency", "==", 25, "a column"}, {"gst_efficiency", "==", 26, "a column"},
      {"gst_efficiency", "<=", 25, "a column"}, {"gst_efficiency", "<=", 24, "a column"},
      {"gst_efficiency", ">=", 25, "a column"}, {"gst_efficiency", ">=", 26, "a column"}};
  store_run(path(), {launch});
  EXPECT_THAT(lines_of(path(), "SELECT * FROM expectations WHERE relation = '=='"),
              ElementsAre("1|1|transpose|naive|1024|gst_efficiency|==|25|25|measured|holds|"
                          "a column|NULL",
                          "1|1|transpose|naive|1024|gst_efficiency|==|26|25|measured|broken|"
                          "a column|NULL"));
  EXPECT_THAT(lines_of(path(), "SELECT verdict FROM expectations"),
              ElementsAre("holds", "broken", "holds", "broken", "holds", "broken"));
}

TEST_F(Expectations, ForgiveTheLastDigitOfAQuotient) {
  Launch launch = example_launch();
  launch.counters = {measured("shared_load_wavefronts", 1), measured("shared_load_requests", 3)};
  launch.expectations = {{"shared_load_transactions_per_request", "==", 0.33333333333, ""},
                         {"shared_load_transactions_per_request", "==", 0.333333, ""}};
  store_run(path(), {launch});
  EXPECT_THAT(lines_of(path(), "SELECT verdict FROM expectations"), ElementsAre("holds", "broken"));
}

TEST_F(Expectations, MayBeOfCountersAndTimes) {
  Launch launch = example_launch();
  launch.expectations = {{"global_load_sectors", "==", 131072, ""},
                         {"duration", "<=", 9000, ""},
                         {"achieved_bandwidth", ">=", 2000, ""}};
  EXPECT_THAT(expectation(launch),
              ElementsAre("131072|measured|holds|NULL", "8192|measured|holds|NULL",
                          "1024|measured|broken|NULL"));
}

TEST_F(Expectations, OfPtxCountsAreInconclusive) {
  Launch launch = example_launch();
  launch.counters = {{"shared_load_wavefronts", 64.0, Grade::ptx, ""}};
  launch.expectations = {{"shared_load_transactions", "==", 64, ""},
                         {"shared_load_transactions", "==", 32, ""}};
  EXPECT_THAT(expectation(launch),
              ElementsAre("64|ptx|inconclusive|it was counted from PTX: the machine code may "
                          "differ",
                          "64|ptx|inconclusive|it was counted from PTX: the machine code may "
                          "differ"));
}

TEST_F(Expectations, OfUnavailableValuesAreInconclusive) {
  Launch launch = example_launch();
  launch.counters = {{"global_load_bytes", std::nullopt, Grade::unavailable, "no permission"},
                     measured("global_load_sectors", 1),
                     measured("shared_load_wavefronts", 0),
                     measured("shared_load_requests", 0)};
  launch.expectations = {{"gld_efficiency", "==", 100, ""},
                         {"shared_load_transactions_per_request", "==", 1, ""},
                         {"gst_efficiency", "==", 100, ""}};
  EXPECT_THAT(expectation(launch),
              ElementsAre("NULL|unavailable|inconclusive|no permission",
                          "NULL|unavailable|inconclusive|no shared load requests",
                          "NULL|unavailable|inconclusive|it was not measured"));
}

TEST_F(Expectations, OfAFailedLaunchAreInconclusive) {
  Launch launch = example_launch();
  launch.outcome = LaunchOutcome::failed;
  launch.reason = "wrong answer at 17";
  launch.expectations = {{"gld_efficiency", "==", 100, ""}};
  EXPECT_THAT(expectation(launch),
              ElementsAre("NULL|unavailable|inconclusive|the launch failed: wrong answer at 17"));
}

}  // namespace
}  // namespace warpmeter::schema
