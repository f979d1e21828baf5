// SPDX-License-Identifier: MIT
// Whole sessions with a program that speaks the protocol, well or badly.
#include "collector/profile/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "collector/profile/injector.h"
#include "collector/profile/recorder.h"
#include "schema/store.h"

namespace warpmeter::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

class SessionTest : public testing::Test {
 protected:
  Outcome profile_program(std::vector<std::string> acts,
                          inject::Mode mode = inject::Mode::counters) {
    inject::Config config;
    config.mode = mode;
    Pass pass{Pass::Kind::activities, 1, {}};
    if (mode == inject::Mode::counters) {
      pass = {Pass::Kind::counters, 1, {"shared_load_wavefronts", "x__y.sum"}};
    }
    config.counters = pass.counters;
    RecorderOptions recording;
    recording.database = database();
    recording.program = "fake";
    recorder_ = std::make_unique<Recorder>(recording);
    recorder_->begin_pass(pass);
    options_.words = {WARPMETER_FAKE_PROGRAM};
    options_.words.insert(options_.words.end(), acts.begin(), acts.end());
    options_.injector = "/nowhere.so";
    options_.socket = folder_.path() / ("socket" + std::to_string(++sessions_));
    options_.remark = [this](const std::string& remark) { remarks_.push_back(remark); };
    const Outcome outcome = profile(options_, config, *recorder_);
    recorder_->finish(outcome.ending.ok() ? schema::RunOutcome::done : schema::RunOutcome::failed,
                      "");
    return outcome;
  }

  std::string database() const { return (folder_.path() / "test.db").string(); }

  std::int64_t stored(const std::string& sql = "SELECT count(*) FROM launches") const {
    return std::get<std::int64_t>(schema::Reader(database()).query(sql).rows.at(0).at(0));
  }

  PrivateFolder folder_;
  Options options_;
  std::unique_ptr<Recorder> recorder_;
  std::vector<std::string> remarks_;
  int sessions_ = 0;
};

TEST_F(SessionTest, StoresEveryLaunchAndItsCounters) {
  const Outcome outcome = profile_program({"connect", "launch", "launch", "bye"});
  EXPECT_TRUE(outcome.ending.ok());
  EXPECT_EQ(outcome.processes, 1);
  EXPECT_EQ(recorder_->launches(), 2U);
  EXPECT_EQ(stored(), 2);
  EXPECT_EQ(stored("SELECT count(*) FROM results WHERE metric = 'shared_load_wavefronts' "
                   "AND value = 64 AND grade = 'measured'"),
            2);
  EXPECT_EQ(stored("SELECT count(*) FROM launches WHERE family = 'fake' AND variant = 'reduce' "
                   "AND kernel = '_Z6reduceILi4EEvPf' AND size IS NULL AND grid = '4x1x1' "
                   "AND registers = 16 AND local_bytes = 8 AND device = 'fake GPU'"),
            2);
}

TEST_F(SessionTest, SummaryKeepsTheDurationOfEveryLaunch) {
  profile_program({"connect", "launch", "launch", "bye"}, inject::Mode::activity);
  EXPECT_EQ(stored("SELECT count(*) FROM comparison WHERE duration_ns = 1500"), 2);
  const std::vector<Activity> activities = recorder_->activities();
  ASSERT_EQ(activities.size(), 2U);
  EXPECT_EQ(activities[0].name, "_Z6reduceILi4EEvPf");
  EXPECT_EQ(activities[0].total_ns, 3000);
  EXPECT_EQ(activities[1].name, "cudaLaunchKernel");
}

TEST_F(SessionTest, AProgramWithoutCudaLeavesNoRun) {
  const Outcome outcome = profile_program({});
  EXPECT_TRUE(outcome.ending.ok());
  EXPECT_EQ(outcome.processes, 0);
  EXPECT_FALSE(recorder_->run_id());
}

TEST_F(SessionTest, ACrashLosesNoFinishedLaunch) {
  const Outcome outcome = profile_program({"connect", "launch", "launch", "launch", "crash"});
  EXPECT_EQ(outcome.ending.signal, SIGABRT);
  EXPECT_EQ(outcome.ending.status(), 128 + SIGABRT);
  EXPECT_EQ(stored(), 3);
}

TEST_F(SessionTest, AnExitCodeIsPassedOn) {
  EXPECT_EQ(profile_program({"connect", "launch", "exit3"}).ending.exit_code, 3);
  EXPECT_EQ(stored(), 1);
}

TEST_F(SessionTest, ATimeoutEndsAHangingProgramAndKeepsItsLaunches) {
  options_.timeout = 200ms;
  const Outcome outcome = profile_program({"connect", "launch", "hang"});
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_EQ(outcome.ending.signal, SIGTERM);
  EXPECT_EQ(stored(), 1);
}

TEST_F(SessionTest, AProgramThatIgnoresSigtermIsKilled) {
  options_.timeout = 100ms;
  const Outcome outcome = profile_program({"stubborn", "connect", "launch", "hang"});
  EXPECT_EQ(outcome.ending.signal, SIGKILL);
  EXPECT_EQ(stored(), 1);
}

TEST_F(SessionTest, CancellingEndsTheProgram) {
  options_.cancelled = [] { return true; };
  const Outcome outcome = profile_program({"connect", "launch", "hang"});
  EXPECT_TRUE(outcome.cancelled);
  EXPECT_EQ(outcome.ending.signal, SIGTERM);
}

TEST_F(SessionTest, AFloodIsStoredWhole) {
  profile_program({"connect", "flood", "bye"}, inject::Mode::activity);
  EXPECT_EQ(stored(), 20000);
}

TEST_F(SessionTest, PeersThatBreakTheProtocolAreLeftOutAndNamed) {
  const std::pair<const char*, const char*> cases[] = {{"noise", "no frame"},
                                                       {"half", "no frame"},
                                                       {"rude", "did not say hello"},
                                                       {"huge", "no frame"}};
  for (const auto& [act, words] : cases) {
    remarks_.clear();
    const Outcome outcome = profile_program({act, "connect", "launch", "bye"});
    EXPECT_TRUE(outcome.ending.ok()) << act;
    EXPECT_THAT(remarks_, ElementsAre(HasSubstr(words))) << act;
    EXPECT_EQ(recorder_->launches(), 1U) << act;
    EXPECT_EQ(outcome.faulty, 1) << act;
    EXPECT_EQ(outcome.lost, 0) << act;
  }
}

TEST_F(SessionTest, ANumberWithoutANameEndsTheTrustInThatProcessOnly) {
  profile_program({"child", "connect", "launch", "unnamed", "launch"});
  EXPECT_THAT(remarks_, ElementsAre(HasSubstr("makes no sense")));
  EXPECT_EQ(stored(), 3);
}

TEST_F(SessionTest, ChildrenAreMeasuredToo) {
  const Outcome outcome = profile_program({"connect", "launch", "child", "bye"});
  EXPECT_EQ(outcome.processes, 2);
  EXPECT_EQ(stored(), 3);
}

TEST_F(SessionTest, ChildrenAreNotMeasuredWhenOnlyTheApplicationIsWanted) {
  options_.all_processes = false;
  profile_program({"connect", "launch", "child", "bye"});
  EXPECT_EQ(stored(), 1);
}

TEST_F(SessionTest, AProcessThatOutlivesTheProgramIsWaitedFor) {
  profile_program({"connect", "launch", "orphan", "doze"});
  EXPECT_EQ(stored(), 2);
}

TEST_F(SessionTest, WhatWasNotMeasuredIsListedWithItsReason) {
  profile_program({"connect", "launch", "refuse", "refuse", "seen", "problem", "bye"});
  ASSERT_EQ(recorder_->refusals().size(), 1U);
  EXPECT_EQ(recorder_->refusals().begin()->first, "it was a trap");
  EXPECT_EQ(recorder_->refusals().begin()->second.launches, 2U);
  EXPECT_THAT(recorder_->left_out(), ElementsAre("left_out"));
  EXPECT_THAT(recorder_->problems(), ElementsAre("no permission"));
  EXPECT_EQ(stored("SELECT count(*) FROM results WHERE reason = 'it was a trap' "
                   "AND grade = 'unavailable' AND metric = 'x__y.sum'"),
            2);
}

TEST_F(SessionTest, AKernelThatRanWhenItsProcessEndedIsNamed) {
  profile_program({"connect", "run", "ran", "launch", "bye"});
  EXPECT_THAT(recorder_->cut_off(), IsEmpty());
  profile_program({"connect", "launch", "run", "crash"});
  EXPECT_THAT(recorder_->cut_off(), ElementsAre("endless"));
}

/// Files of this process cannot grow beyond this while it lives.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(SessionTest, AFullDiskDoesNotHarmTheProgramAndIsSaidAtTheEnd) {
  schema::Store{database()};
  const SmallDisk disk(1 << 20);
  EXPECT_THROW(profile_program({"connect", "flood", "bye"}, inject::Mode::activity), Error);
  EXPECT_EQ(recorder_->activities().front().durations_ns.size(), 20000U);
}

TEST_F(SessionTest, ADatabaseThatCannotBeOpenedIsSaidBeforeTheProgramStarts) {
  RecorderOptions recording;
  recording.database = (folder_.path() / "no" / "folder.db").string();
  EXPECT_THROW(Recorder{recording}, Error);
}

TEST_F(SessionTest, AProgramWhoseProfilerIsKilledGoesOnToItsEnd) {
  const auto go = folder_.path() / "go", ended = folder_.path() / "ended";
  const auto comes_true = [](const std::function<bool()>& what) {
    for (int i = 0; i < 1000 && !what(); ++i) std::this_thread::sleep_for(10ms);
    return what();
  };
  schema::Store{database()};
  const pid_t profiler = fork();
  if (profiler == 0) {
    profile_program({"connect", "launch", "wait=" + go.string(), "flood", "launch", "bye",
                     "touch=" + ended.string()});
    _exit(0);
  }
  ASSERT_TRUE(comes_true([this] { return stored() == 1; }));
  kill(profiler, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(profiler, &status, 0), profiler);
  ASSERT_TRUE(WIFSIGNALED(status));
  std::ofstream(go) << "go";
  EXPECT_TRUE(comes_true([&] { return std::filesystem::exists(ended); }));
  EXPECT_EQ(stored(), 1);
  EXPECT_EQ(stored("SELECT count(*) FROM runs WHERE outcome = 'interrupted'"), 1);
}

TEST_F(SessionTest, TheProgramsOutputIsItsOwn) {
  testing::internal::CaptureStdout();
  profile_program({"print"});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "the program's own output\n");
  EXPECT_THAT(remarks_, IsEmpty());
}

}  // namespace
}  // namespace warpmeter::profile
