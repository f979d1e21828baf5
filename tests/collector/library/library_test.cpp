// SPDX-License-Identifier: MIT
// The C interface where nothing can be measured: no GPU is used, and no model. Its counts are
// tested from Python (python/tests), where a process can choose the model before CUDA is loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/temporary.h"
#include "collector/library/warpmeter.hpp"

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
