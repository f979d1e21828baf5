// SPDX-License-Identifier: MIT
// The C interface where nothing can be measured: no GPU is used, and no model. Its counts are
// tested from Python (python/tests), where a process can choose the model before CUDA is loaded.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/temporary.h"
#include "collector/library/warpmeter.hpp"
#include "schema/records.h"
#include "schema/store.h"

namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Library : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(warpmeter_open(database().c_str(), "program", &meter_), 0) << warpmeter_message();
  }
  void TearDown() override { warpmeter_close(meter_); }
  std::string database() const { return (folder_.path() / "a.db").string(); }

  /// A run of launches with these counts.
  std::int64_t add_run(const std::vector<std::map<std::string, double>>& launches) const {
    namespace schema = warpmeter::schema;
    schema::Store store(database());
    const std::int64_t run = store.begin_run({});
    const std::int64_t device = store.add_device(run, {});
    for (const auto& counts : launches) {
      schema::Launch launch;
      launch.family = "app";
      launch.variant = launch.kernel = "kernel";
      for (const auto& [counter, value] : counts) {
        launch.counters.push_back({counter, value, schema::Grade::measured, ""});
      }
      store.add_launch(run, device, launch);
    }
    store.end_run(run, schema::RunOutcome::done, "");
    return run;
  }

  double cost(std::int64_t run, const char* metric) const {
    double cost = 0;
    EXPECT_EQ(warpmeter_cost(meter_, run, metric, &cost), 0) << warpmeter_message();
    return cost;
  }

  const warpmeter::TemporaryFolder folder_;
  warpmeter_meter* meter_ = nullptr;
};

TEST_F(Library, SaysWhichVersionItIs) {
  EXPECT_THAT(warpmeter_version(), StartsWith("warpmeter "));
}

TEST_F(Library, CreatesTheDatabase) { EXPECT_TRUE(std::filesystem::exists(database())); }

TEST_F(Library, AnUnknownMetricIsWrongUsageWithTheNearestName) {
  const char* const metrics[] = {"gld_eficiency"};
  EXPECT_EQ(warpmeter_begin(meter_, metrics, 1, nullptr), 2);
  EXPECT_THAT(warpmeter_message(), HasSubstr("gld_efficiency"));
}

TEST_F(Library, ARangeThatWasNotBegunCannotEnd) {
  std::int64_t run = 7;
  EXPECT_EQ(warpmeter_end(meter_, &run), 2);
  EXPECT_EQ(run, 0);
}

TEST_F(Library, NullPointersAreWrongUsage) {
  char* text = nullptr;
  EXPECT_EQ(warpmeter_begin(nullptr, nullptr, 0, nullptr), 2);
  EXPECT_EQ(warpmeter_begin(meter_, nullptr, 1, nullptr), 2);
  EXPECT_EQ(warpmeter_query(meter_, nullptr, &text), 2);
  EXPECT_EQ(warpmeter_query(meter_, "runs", nullptr), 2);
  EXPECT_EQ(warpmeter_open(nullptr, nullptr, nullptr), 2);
  warpmeter_close(nullptr);
  warpmeter_free(nullptr);
}

/// 8 and 24 wavefronts in 4 requests each: 32 in 8. 32 bytes a sector: 100 of 4 sectors, of 128,
/// are 78.125 %.
TEST_F(Library, TheCostOfAQuotientIsThatOfTheSumsWithItsScale) {
  const std::int64_t run = add_run({{{"shared_load_wavefronts", 8},
                                     {"shared_load_requests", 4},
                                     {"global_store_bytes", 100},
                                     {"global_store_sectors", 4},
                                     {"energy", 2},
                                     {"dram_read_bytes", 1e12},
                                     {"dram_write_bytes", 0}},
                                    {{"shared_load_wavefronts", 24},
                                     {"shared_load_requests", 4},
                                     {"global_store_bytes", 100},
                                     {"global_store_sectors", 4},
                                     {"energy", 4},
                                     {"dram_read_bytes", 1e12},
                                     {"dram_write_bytes", 1e12}}});
  EXPECT_DOUBLE_EQ(cost(run, "shared_load_transactions_per_request"), 4);
  EXPECT_DOUBLE_EQ(cost(run, "gst_efficiency"), -78.125) << "more of it is better";
  EXPECT_DOUBLE_EQ(cost(run, "energy"), 6);
  EXPECT_DOUBLE_EQ(cost(run, "energy_per_byte"), 2) << "6 J of 3 TB, in pJ";
}

TEST_F(Library, AQuotientThatDividesByZeroHasNoCost) {
  const std::int64_t run = add_run({{{"shared_load_wavefronts", 8},
                                     {"shared_load_requests", 0},
                                     {"energy", 2},
                                     {"dram_read_bytes", 0},
                                     {"dram_write_bytes", 0}}});
  EXPECT_TRUE(std::isnan(cost(run, "shared_load_transactions_per_request")));
  EXPECT_TRUE(std::isnan(cost(run, "energy_per_byte")));
}

/// Two launches of 300 W and 500 W draw no 800 W.
TEST_F(Library, TheGreatestPowerClockOrTemperatureStandsForAllLaunches) {
  const std::int64_t run = add_run({{{"mean_power", 300},
                                     {"peak_power", 650},
                                     {"busy_sm_clock", 1980},
                                     {"busy_temperature", 40}},
                                    {{"mean_power", 500},
                                     {"peak_power", 600},
                                     {"busy_sm_clock", 1700},
                                     {"busy_temperature", 50}}});
  EXPECT_EQ(cost(run, "mean_power"), 500);
  EXPECT_EQ(cost(run, "peak_power"), 650);
  EXPECT_EQ(cost(run, "busy_sm_clock"), 1980);
  EXPECT_EQ(cost(run, "busy_temperature"), 50);
  EXPECT_TRUE(std::isnan(cost(add_run({{{"mean_power", 300}}, {}}), "mean_power")));
}

TEST_F(Library, ADatabaseThatCannotBeMadeIsAFileThatFailed) {
  warpmeter_meter* meter = nullptr;
  EXPECT_EQ(warpmeter_open("/no/such/folder/a.db", nullptr, &meter), 5);
  EXPECT_EQ(meter, nullptr);
}

TEST_F(Library, AQuestionThatWritesIsWrongUsage) {
  char* text = nullptr;
  EXPECT_EQ(warpmeter_query(meter_, "DELETE FROM t_run", &text), 2);
  EXPECT_EQ(warpmeter_query(meter_, "SELECT 1 + 1 AS two", &text), 0);
  EXPECT_THAT(text, HasSubstr("\"two\""));
  warpmeter_free(text);
}

TEST_F(Library, AFormatOrArchitectureThatIsNoneIsNamed) {
  char* text = nullptr;
  EXPECT_EQ(warpmeter_report(meter_, 1, "pdf", &text), 2);
  EXPECT_THAT(warpmeter_message(), HasSubstr("'pdf'"));
  EXPECT_EQ(warpmeter_use_model("sm_nine"), 2);
}

TEST_F(Library, ARunThatThereIsNotHasNoFiguresAndNoVerdict) {
  double cost = 0;
  size_t count = 0;
  char* text = nullptr;
  EXPECT_EQ(warpmeter_values(meter_, 7, "gst_transactions", nullptr, 0, &count), 2);
  EXPECT_EQ(warpmeter_cost(meter_, 7, "gst_transactions", &cost), 2);
  EXPECT_EQ(warpmeter_check(meter_, 7, "gst_transactions <= 1", &text), 2);
  EXPECT_THAT(warpmeter_message(), HasSubstr("there is no run 7"));
}

TEST_F(Library, ASetOfMetricsHasNoValues) {
  size_t count = 0;
  const std::int64_t run = add_run({{{"mean_power", 300}}});
  EXPECT_EQ(warpmeter_values(meter_, run, "@shared", nullptr, 0, &count), 2);
  EXPECT_THAT(warpmeter_message(), HasSubstr("@shared is a set of metrics"));
}

/// A second SQLite of this process, as Python has one, removes the write-ahead log of a database
/// that it can lock whole, and drops our locks when it closes the file.
TEST_F(Library, AnotherSqliteOfThisProcessTakesNoneOfOurLocks) {
  add_run({{{"mean_power", 300}}});
  constexpr off_t first_shared = 0x40000002, shared_bytes = 510;  // SQLite's "File Format"
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_start = first_shared;
  lock.l_len = shared_bytes;
  for (int time = 0; time < 2; ++time) {
    const int file = open(database().c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(file, 0);
    EXPECT_EQ(fcntl(file, F_SETLK, &lock), -1) << "time " << time;
    close(file);
  }
  warpmeter_close(meter_);
  meter_ = nullptr;
  const int file = open(database().c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(fcntl(file, F_SETLK, &lock), 0) << "the lock outlives its connection";
  close(file);
}

TEST_F(Library, EachThreadHasItsOwnSentence) {
  EXPECT_EQ(warpmeter_report(meter_, 1, "pdf", nullptr), 2);
  std::string other = "unset";
  std::thread([&] { other = warpmeter_message(); }).join();
  EXPECT_EQ(other, "");
  EXPECT_THAT(warpmeter_message(), HasSubstr("pdf"));
}

TEST_F(Library, TheHeaderOfCppThrowsWithTheExitCode) {
  warpmeter::Meter meter(database());
  try {
    meter.begin({"no_such_metric"});
    FAIL() << "it is measured";
  } catch (const warpmeter::Failure& failure) {
    EXPECT_EQ(failure.exit_code(), 2);
    EXPECT_THAT(failure.what(), HasSubstr("no_such_metric"));
  }
}

}  // namespace
