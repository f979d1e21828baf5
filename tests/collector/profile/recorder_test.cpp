// SPDX-License-Identifier: MIT
// The refusals of the recorder, and how it names devices.
#include "collector/profile/recorder.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "collector/profile/injector.h"

namespace warpmeter::profile {
namespace {

class RecorderTest : public testing::Test {
 protected:
  RecorderTest() : recorder_(options()) {
    recorder_.begin_pass({Pass::Kind::counters, 1, {"shared_load_wavefronts"}});
  }

  RecorderOptions options() {
    RecorderOptions options;
    options.database = (folder_.path() / "test.db").string();
    options.program = "app";
    options.complete = [](schema::Device& device) {
      if (device.uuid == "GPU-1") device.chip = "GH100";
    };
    options.states = [](const schema::Device& device) {
      schema::DeviceState before, after;
      before.phase = "before";
      before.sm_clock_mhz = 1980;
      before.disturbances = {{"process", true, "on " + device.uuid, 7, "x", {}, {}, ""}};
      after.phase = "after";
      return std::vector{before, after};
    };
    return options;
  }

  inject::Launch launch(std::uint32_t kernel, std::uint32_t device = 0) {
    inject::Launch message;
    message.shape.kernel = kernel;
    message.shape.device = device;
    message.values = {{32, 0}};
    return message;
  }

  schema::Rows query(const std::string& sql) {
    return schema::Reader((folder_.path() / "test.db").string()).query(sql);
  }

  PrivateFolder folder_;
  Recorder recorder_;
};

TEST_F(RecorderTest, ALaunchOfAnUnknownNameIsRefused) {
  EXPECT_FALSE(recorder_.take(1, launch(5)));
}

TEST_F(RecorderTest, NamesBelongToTheirConnection) {
  EXPECT_TRUE(recorder_.take(1, inject::Name{5, "reduce"}));
  EXPECT_TRUE(recorder_.take(1, launch(5)));
  EXPECT_FALSE(recorder_.take(2, launch(5)));
}

TEST_F(RecorderTest, AGraphHasNoRegistersAndSaysWhy) {
  EXPECT_TRUE(recorder_.take(1, inject::Name{5, "graph(fill, 2 × scale)"}));
  EXPECT_TRUE(recorder_.take(1, launch(5)));
  recorder_.finish(schema::RunOutcome::done, "");
  const schema::Rows rows = query("SELECT registers IS NULL, resources_reason FROM launches");
  EXPECT_EQ(std::get<std::int64_t>(rows.rows.at(0).at(0)), 1);
  EXPECT_EQ(std::get<std::string>(rows.rows.at(0).at(1)),
            "a graph is launched as a whole, and has several kernels");
}

TEST_F(RecorderTest, KernelsOfOneNameAreSeveralVariants) {
  const std::vector<std::string> kernels = {"_Z1tILi1EEvPf", "_Z1tILi8EEvPf", "_ZN1A1kEPf",
                                            "_ZN1B1kEPf", "_ZN2ns4onlyILi3EEEvPf"};
  for (std::uint32_t i = 0; i < kernels.size(); ++i) {
    EXPECT_TRUE(recorder_.take(1, inject::Name{i + 1, kernels[i]}));
    EXPECT_TRUE(recorder_.take(1, launch(i + 1)));
    EXPECT_TRUE(recorder_.take(1, launch(i + 1)));
  }
  recorder_.finish(schema::RunOutcome::done, "");
  std::vector<std::string> found;
  for (const auto& row : query("SELECT variant || ' ' || count(*) FROM launches GROUP BY variant "
                               "ORDER BY min(launch_id)")
                             .rows) {
    found.push_back(std::get<std::string>(row.at(0)));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"t<1> 2", "t<8> 2", "A::k 2", "B::k 2", "only 2"}));
}

TEST_F(RecorderTest, StoresTheStatesOfTheDevicesThatHaveLaunches) {
  EXPECT_TRUE(recorder_.take(1, inject::Name{5, "reduce"}));
  for (const int ordinal : {0, 1}) {
    schema::Device device;
    device.backend = "cupti";
    device.ordinal = ordinal;
    device.name = "NVIDIA H200";
    device.uuid = "GPU-" + std::to_string(ordinal);
    EXPECT_TRUE(recorder_.take(1, inject::Device{device}));
  }
  EXPECT_TRUE(recorder_.take(1, launch(5, 1)));
  recorder_.finish(schema::RunOutcome::done, "");
  EXPECT_EQ(query("SELECT 1 FROM device_states").rows.size(), 2U);
  const schema::Rows rows = query("SELECT what, phase FROM disturbances");
  ASSERT_EQ(rows.rows.size(), 1U);
  EXPECT_EQ(std::get<std::string>(rows.rows[0][0]), "on GPU-1");
}

TEST_F(RecorderTest, ANameIsGivenOnceAndNeverZero) {
  EXPECT_TRUE(recorder_.take(1, inject::Name{5, "reduce"}));
  EXPECT_FALSE(recorder_.take(1, inject::Name{5, "scan"}));
  EXPECT_FALSE(recorder_.take(1, inject::Name{0, "scan"}));
}

TEST_F(RecorderTest, ALaunchHasOneValueACounter) {
  recorder_.take(1, inject::Name{5, "reduce"});
  inject::Launch message = launch(5);
  message.values.push_back({1, 0});
  EXPECT_FALSE(recorder_.take(1, std::move(message)));
}

TEST_F(RecorderTest, ADurationThatIsNoneIsRefused) {
  recorder_.take(1, inject::Name{5, "cudaMalloc"});
  inject::ActivityShape call;
  call.id = 1;
  call.name = 5;
  EXPECT_TRUE(recorder_.take(1, call));
  for (const double duration :
       {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(recorder_.take(1, inject::Activities{{{1, 0, duration, 0, 0, false, {}}}}));
  }
  EXPECT_TRUE(recorder_.take(1, inject::Activities{{{1, 0, 0.0, 0, 0, false, {}}}}));
  EXPECT_FALSE(recorder_.take(1, inject::Activities{{{2, 0, 0.0, 0, 0, false, {}}}}));
}

TEST_F(RecorderTest, ANumberThatIsNoneIsUnavailable) {
  recorder_.take(1, inject::Name{5, "reduce"});
  inject::Launch message = launch(5);
  message.values[0].value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(recorder_.take(1, std::move(message)));
  recorder_.finish(schema::RunOutcome::done, "");
  EXPECT_EQ(query("SELECT 1 FROM results WHERE metric = 'shared_load_wavefronts' AND grade = "
                  "'unavailable' AND reason = 'CUPTI gave no number'")
                .rows.size(),
            1U);
}

TEST_F(RecorderTest, DevicesAreTheMachinesWhateverTheProcessCallsThem) {
  inject::Device first, second;
  first.device.name = second.device.name = "GPU";
  first.device.uuid = "GPU-1";
  second.device.uuid = "GPU-2";
  second.device.ordinal = 1;
  for (const int peer : {1, 2}) {
    recorder_.take(peer, inject::Name{5, "reduce"});
    recorder_.take(peer, first);
  }
  recorder_.take(1, second);
  recorder_.take(1, launch(5, 0));
  recorder_.take(1, launch(5, 1));
  recorder_.take(2, launch(5, 0));
  recorder_.finish(schema::RunOutcome::done, "");
  EXPECT_EQ(
      query(
          "SELECT coalesce(d.chip, ''), count(*) FROM launches l JOIN devices d USING (device_id) "
          "WHERE d.run_id = l.run_id GROUP BY d.uuid ORDER BY d.uuid")
          .rows,
      (std::vector<std::vector<schema::Value>>{{"GH100", std::int64_t{2}}, {"", std::int64_t{1}}}));
}

TEST_F(RecorderTest, TheLabelOfALaunchIsItsInnermostRange) {
  recorder_.take(1, inject::Name{5, "_Z6reducePf"});
  recorder_.take(1, inject::Name{6, "solve"});
  inject::Launch message = launch(5);
  message.shape.range = 6;
  recorder_.take(1, std::move(message));
  recorder_.finish(schema::RunOutcome::done, "");
  EXPECT_EQ(query("SELECT variant, nvtx_range FROM launches").rows,
            (std::vector<std::vector<schema::Value>>{{"reduce", "solve"}}));
}

TEST_F(RecorderTest, AFindingOfSeveralProcessesIsOneWithTheirTimes) {
  const inject::Finding leak{"leak", "app.cu:12", "4 bytes of 'a' are never freed",
                             2,      false,       "app.cu:9"};
  for (const int peer : {1, 2, 3}) EXPECT_TRUE(recorder_.take(peer, inject::Finding(leak)));
  ASSERT_EQ(recorder_.findings().size(), 1u);
  EXPECT_EQ(recorder_.findings().front().times, 6u);
  EXPECT_EQ(recorder_.findings().front().other, "app.cu:9");
}

TEST_F(RecorderTest, FindingsComeInTheOrderOfTheirPlacesWhateverCameFirst) {
  const auto add = [&](const char* kind, const char* where) {
    recorder_.take(1, inject::Finding{kind, where, "message", 1, false});
  };
  add("leak", "");
  add("leak", "b.cu:3");
  add("race", "a.cu:104");
  add("leak", "a.cu:12");
  add("double free", "a.cu:104");
  std::vector<std::string> order;
  for (const inject::Finding& finding : recorder_.findings()) {
    order.push_back(finding.kind + " " + finding.where);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"leak a.cu:12", "double free a.cu:104",
                                             "race a.cu:104", "leak b.cu:3", "leak "}));
}

TEST_F(RecorderTest, ARemarkAndAMistakeInTheSameWordsAreTwo) {
  recorder_.take(1, inject::Finding{"race", "a.cu:1", "message", 1, false});
  recorder_.take(1, inject::Finding{"race", "a.cu:1", "message", 1, true});
  EXPECT_EQ(recorder_.findings().size(), 2u);
}

TEST_F(RecorderTest, WhatWasLookedAtIsAddedUpAndAProcessWithoutByeIsCounted) {
  for (const int peer : {1, 2}) recorder_.meet(peer, peer, "app");
  EXPECT_TRUE(recorder_.take(9, inject::Unobserved{"./app", "it is static"}));
  EXPECT_EQ(recorder_.unobserved().at("./app"), "it is static");
  EXPECT_TRUE(recorder_.take(1, inject::Checked{5, 1, 2, 3, 5}));
  EXPECT_TRUE(recorder_.take(1, inject::Bye{0}));
  EXPECT_TRUE(recorder_.take(2, inject::Checked{1, 0, 0, 0, 4}));
  recorder_.forget(2);
  const Recorder::Coverage checked = recorder_.checked();
  EXPECT_EQ(checked.launches, 6u);
  EXPECT_EQ(checked.stopped, 1u);
  EXPECT_EQ(checked.refused, 2u);
  EXPECT_EQ(checked.partial, 3u);
  EXPECT_EQ(checked.gaps, 5u) << "bits, which both may have";
  EXPECT_EQ(checked.unended, 1u);
}

}  // namespace
}  // namespace warpmeter::profile
