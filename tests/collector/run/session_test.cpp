// SPDX-License-Identifier: MIT
#include "collector/run/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "tests/collector/run/fake_backend.h"

namespace warpmeter::run {
namespace {

using schema::Value;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::byte> one_int(std::int32_t value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

Geometry geometry(std::int64_t n) { return {{static_cast<std::uint32_t>(n)}, {32}, 128}; }
std::vector<kernels::Expected> all_seven(std::int64_t, const kernels::Problem&) {
  return {{0, one_int(7)}};
}

/// A family of two variants whose buffer holds 7 from the beginning: a kernel that does nothing is
/// right.
const kernels::Family& family() {
  static const kernels::Image image{"fake", "kernels/fake.cu", "", {}};
  static const kernels::Family fake = [] {
    kernels::Family made;
    made.name = "fake";
    made.summary = "does nothing";
    made.size_meaning = "elements";
    made.sizes = {8};
    made.largest_size = 100;
    made.footprint = [](std::int64_t n) { return static_cast<std::uint64_t>(n) * 4; };
    made.prepare = [](std::int64_t) {
      kernels::Problem problem;
      problem.buffers.push_back({"out", Element::i32, one_int(7)});
      problem.arguments.push_back(kernels::BufferArgument{0});
      return problem;
    };
    made.ceilings = {"first"};
    made.variants = {
        {"first",
         "fake_first",
         geometry,
         all_seven,
         {{"shared_load_transactions_per_request", kernels::Relation::equal, 1, "always", {}},
          {"gld_efficiency", kernels::Relation::equal, 100, "only at 16", {16}}}},
        {"second", "fake_second", geometry, all_seven}};
    for (kernels::Variant& variant : made.variants) {
      variant.image = &image;
      variant.work = [](std::int64_t n) {
        return kernels::Work{static_cast<std::uint64_t>(n) * 3, static_cast<std::uint64_t>(n), 5};
      };
    }
    return made;
  }();
  return fake;
}

class SessionTest : public testing::Test {
 protected:
  SessionTest()
      : path_(std::filesystem::temp_directory_path() /
              ("warpmeter_session_" + std::to_string(getpid()) + ".db")) {
    remove();
    selections_ = {{&family(), {&family().variants[0], &family().variants[1]}, {8}}};
    options_.metrics = {"shared_load_transactions_per_request"};
  }
  ~SessionTest() override { remove(); }

  void remove() const {
    for (const char* suffix : {"", "-wal", "-shm"})
      std::filesystem::remove(path_.string() + suffix);
  }

  Summary run() {
    schema::Store store(path_.string());
    Backend* backends[] = {&backend_};
    schema::Run record;
    record.backend = "cupti";
    return measure(record, selections_, options_, backends, store, hooks_);
  }

  schema::Rows query(std::string_view sql) const {
    return schema::Reader(path_.string()).query(sql);
  }
  Value value(std::string_view sql) const { return query(sql).rows.at(0).at(0); }

  std::filesystem::path path_;
  FakeBackend backend_;
  std::vector<Selection> selections_;
  Options options_;
  Hooks hooks_;
};

TEST_F(SessionTest, StoresEveryVariantWithCountersTimesAndExpectations) {
  const Summary summary = run();
  EXPECT_EQ(summary.launches, 2U);
  EXPECT_EQ(summary.failed, 0U);
  EXPECT_EQ(value("SELECT outcome FROM runs"), Value("done"));
  EXPECT_EQ(value("SELECT count(*) FROM launches WHERE verified AND outcome = 'done'"),
            Value(std::int64_t{2}));
  EXPECT_EQ(value("SELECT value FROM results WHERE variant = 'first' AND "
                  "metric = 'shared_load_transactions_per_request'"),
            Value(1.0));
  EXPECT_EQ(value("SELECT median_ns FROM timings LIMIT 1"), Value(1000.0));
  EXPECT_EQ(value("SELECT verdict FROM expectations"), Value("holds"));
}

TEST_F(SessionTest, KeepsOnlyTheExpectationsOfTheSizeMeasured) {
  run();
  EXPECT_EQ(value("SELECT count(*) FROM expectations"), Value(std::int64_t{1}));
}

TEST_F(SessionTest, ALibraryThatIsNotThereIsARowWithItsReasonAndNoFailure) {
  kernels::Family with_library = family();
  with_library.variants.push_back({.name = "library",
                                   .entry = "its_function",
                                   .geometry = geometry,
                                   .expected = all_seven,
                                   .library = "a library"});
  selections_ = {{&with_library, {&with_library.variants[0], &with_library.variants[2]}, {8}}};
  backend_.no_library = "it is not installed";
  const Summary summary = run();
  EXPECT_EQ(summary.launches, 2U);
  EXPECT_EQ(summary.failed, 0U);
  EXPECT_EQ(value("SELECT outcome FROM runs"), Value("done"));
  EXPECT_EQ(value("SELECT outcome || ' ' || verified || ' ' || reason FROM launches "
                  "WHERE variant = 'library'"),
            Value("done 0 it is not installed"));
  EXPECT_EQ(value("SELECT reason FROM results WHERE variant = 'library' AND "
                  "metric = 'shared_load_transactions_per_request' AND value IS NULL"),
            Value("it is not installed"));
  EXPECT_EQ(value("SELECT reason FROM results WHERE variant = 'library' AND metric = 'duration'"),
            Value("it is not installed"));

  backend_.no_library = "";
  run();
  EXPECT_EQ(value("SELECT verified FROM launches WHERE variant = 'library' AND run_id = 2"),
            Value(std::int64_t{1}));
}

TEST_F(SessionTest, AReferenceOfALibraryThatIsNotThereLeavesTheOthersUnverified) {
  kernels::Family compared = family();
  compared.variants[0].expected = {};
  compared.variants[0].reference = "library";
  compared.variants.push_back(
      {.name = "library", .entry = "its_function", .geometry = geometry, .library = "a library"});
  selections_ = {{&compared, {&compared.variants[0]}, {8}}};
  backend_.no_library = "it is not installed";
  EXPECT_EQ(run().failed, 0U);
  EXPECT_EQ(value("SELECT outcome || ' ' || verified FROM launches"), Value("done 0"));
}

TEST_F(SessionTest, AWrongAnswerStoresNoMeasurementAndTheOthersStillRun) {
  backend_.answer = [](const Launch& launch, const kernels::Problem&) {
    Execution execution;
    execution.buffers = {one_int(launch.entry == "fake_first" ? 8 : 7)};
    return execution;
  };
  std::vector<std::string> failures;
  hooks_.failed = [&](const schema::Launch& launch) { failures.push_back(launch.reason); };
  const Summary summary = run();
  EXPECT_EQ(summary.failed, 1U);
  EXPECT_EQ(summary.launches, 2U);
  EXPECT_THAT(failures, ElementsAre(HasSubstr("out[0] is 8, expected 7")));
  EXPECT_EQ(value("SELECT count(*) FROM results WHERE variant = 'first' AND value IS NOT NULL"),
            Value(std::int64_t{0}));
  EXPECT_EQ(value("SELECT count(*) FROM samples s JOIN launches l USING (launch_id) "
                  "WHERE l.variant = 'first'"),
            Value(std::int64_t{0}));
  EXPECT_EQ(value("SELECT outcome FROM launches WHERE variant = 'second'"), Value("done"));
  EXPECT_EQ(value("SELECT outcome FROM runs"), Value("failed"));
}

TEST_F(SessionTest, ACrashingKernelIsAFailedLaunchWithItsReason) {
  backend_.answer = [](const Launch&, const kernels::Problem&) {
    Execution execution;
    execution.failure = "illegal address";
    return execution;
  };
  EXPECT_EQ(run().failed, 2U);
  EXPECT_EQ(value("SELECT DISTINCT reason FROM launches"), Value("illegal address"));
}

/// The family whose second variant is compared with what the first one leaves.
kernels::Family referring() {
  kernels::Family made = family();
  for (kernels::Variant& variant : made.variants) variant.expected = {};
  made.variants[1].reference = "first";
  return made;
}

/// Both variants leave a number of their own.
std::function<Execution(const Launch&, const kernels::Problem&)> leaving(int first, int second) {
  return [=](const Launch& launch, const kernels::Problem&) {
    Execution execution;
    execution.buffers = {one_int(launch.entry == "fake_first" ? first : second)};
    return execution;
  };
}

TEST_F(SessionTest, AVariantIsComparedWithItsReferenceWhichIsNotVerifiedItself) {
  const kernels::Family made = referring();
  selections_ = {{&made, {&made.variants[1], &made.variants[0]}, {8}}};
  backend_.answer = leaving(3, 3);
  EXPECT_EQ(run().failed, 0U);
  EXPECT_EQ(value("SELECT group_concat(variant) FROM launches WHERE verified"), Value("second"));
}

TEST_F(SessionTest, AReferenceThatWasNotChosenIsRunAndNotStored) {
  const kernels::Family made = referring();
  selections_ = {{&made, {&made.variants[1]}, {8}}};
  backend_.answer = leaving(3, 4);
  EXPECT_EQ(run().failed, 1U);
  EXPECT_EQ(value("SELECT variant || ': ' || reason FROM launches"),
            Value("second: wrong answer: out[0] is 4, expected 3 (1 of 1 element differs)"));
}

TEST_F(SessionTest, AFailedReferenceLeavesNothingToCompareWith) {
  const kernels::Family made = referring();
  selections_ = {{&made, {&made.variants[1]}, {8}}};
  backend_.answer = [](const Launch& launch, const kernels::Problem&) {
    Execution execution;
    execution.buffers = {one_int(3)};
    if (launch.entry == "fake_first") execution.failure = "illegal address";
    return execution;
  };
  EXPECT_EQ(run().failed, 1U);
  EXPECT_EQ(value("SELECT reason FROM launches"),
            Value("its result has nothing to be compared with: the reference first failed: illegal "
                  "address"));
}

TEST_F(SessionTest, AVariantWithoutTheReferencesBuffersCannotPassAsCompared) {
  kernels::Family made = referring();
  made.variants[1].prepare = [](std::int64_t) {
    kernels::Problem problem;
    problem.buffers.push_back({"other", Element::i32, one_int(7)});
    return problem;
  };
  selections_ = {{&made, {&made.variants[0], &made.variants[1]}, {8}}};
  backend_.answer = leaving(3, 3);
  EXPECT_EQ(run().failed, 1U);
  EXPECT_EQ(value("SELECT reason FROM launches WHERE variant = 'second'"),
            Value("it lacks a buffer that its reference first leaves a result in, so it cannot be "
                  "compared; give it 'reference: none'"));
}

TEST_F(SessionTest, AVariantThatDoesNotCompileFailsWithTheCompilersWords) {
  kernels::Family made = family();
  made.variants[0].failure = "fake.cu does not compile:\nline 3: no";
  selections_ = {{&made, {&made.variants[0], &made.variants[1]}, {8}}};
  EXPECT_EQ(run().failed, 1U);
  EXPECT_EQ(value("SELECT reason FROM launches WHERE variant = 'first'"),
            Value("fake.cu does not compile:\nline 3: no"));
}

TEST_F(SessionTest, AnotherBackendCountsWhereThisOneMayNot) {
  FakeBackend counting;
  backend_.no_counters = "no permission";
  options_.counting = {&counting};
  const Summary summary = run();
  EXPECT_EQ(summary.failed, 0U);
  EXPECT_EQ(value("SELECT count(*) FROM launches l JOIN timings t USING (launch_id) "
                  "WHERE t.median_ns = 1000"),
            Value(std::int64_t{2}));
  EXPECT_EQ(value("SELECT DISTINCT value FROM results "
                  "WHERE metric = 'shared_load_transactions_per_request'"),
            Value(1.0));
  EXPECT_TRUE(backend_.batches.empty());
}

TEST_F(SessionTest, WhatTheCountingBackendCannotRunIsTimedAndHasTheReason) {
  FakeBackend counting;
  counting.description.name = "model sm_90";
  counting.answer = [](const Launch&, const kernels::Problem&) {
    Execution execution;
    execution.failure = "reads a texture";
    return execution;
  };
  options_.counting = {&counting};
  EXPECT_EQ(run().failed, 0U);
  EXPECT_EQ(value("SELECT DISTINCT reason FROM results WHERE value IS NULL"),
            Value("model sm_90 cannot count it: reads a texture"));
  EXPECT_EQ(value("SELECT count(*) FROM timings WHERE median_ns = 1000"), Value(std::int64_t{2}));
}

TEST_F(SessionTest, ABrokenContextLeavesTheRestToAnotherProcessThatTakesTheRunOver) {
  backend_.answer = [&](const Launch&, const kernels::Problem&) {
    Execution execution;
    execution.failure = "illegal address";
    backend_.broken_by = "the context is lost";
    return execution;
  };
  std::string lost;
  hooks_.lost = [&](std::int64_t run_id, const std::string& reason) {
    // The fresh process finds this: the failed launch is stored by then.
    EXPECT_EQ(value("SELECT count(*) FROM launches WHERE outcome = 'failed'"),
              Value(std::int64_t{1}));
    lost = std::to_string(run_id) + ": " + reason;
  };
  const Summary first = run();
  EXPECT_EQ(lost, "1: the context is lost");
  EXPECT_EQ(first.unfinished, "the context is lost");
  EXPECT_EQ(value("SELECT outcome FROM runs"), Value("running"));
  EXPECT_EQ(value("SELECT count(*) FROM launches"), Value(std::int64_t{1}));

  backend_.broken_by.clear();
  backend_.answer = FakeBackend().answer;
  options_.continued_run = first.run_id;
  options_.finished = {
      {std::get<std::int64_t>(value("SELECT device_id FROM devices")), "fake", "first", 8}};
  options_.stored_before = 1;
  options_.failed_before = 1;
  const Summary second = run();
  EXPECT_EQ(second.run_id, first.run_id);
  EXPECT_EQ(second.launches, 2U);
  EXPECT_EQ(second.failed, 1U);
  EXPECT_EQ(value("SELECT group_concat(variant || ' ' || outcome) FROM launches"),
            Value("first failed,second done"));
}

TEST_F(SessionTest, StopsSamplingWhenTheMedianIsKnown) {
  run();
  EXPECT_THAT(backend_.sample_calls, ElementsAre(20, 20));  // one call a variant
  EXPECT_EQ(value("SELECT stopped_by FROM timings LIMIT 1"), Value("confidence"));
}

TEST_F(SessionTest, KeepsSamplingWhileTheMedianIsUncertainUntilTheBudgetEnds) {
  double next = 1000;
  backend_.sample = [&] { return next = next < 5000 ? next * 1.5 : 1000; };
  options_.stopping.max_samples = 100;
  options_.stopping.relative_confidence = 1e-9;
  selections_[0].variants.pop_back();
  run();
  EXPECT_EQ(value("SELECT stopped_by FROM timings"), Value("samples"));
  EXPECT_EQ(value("SELECT count(*) FROM samples"), Value(std::int64_t{100}));
}

TEST_F(SessionTest, InterleavedVariantsAreTimedInTurns) {
  backend_.together = 64;
  options_.interleave = true;
  run();
  EXPECT_THAT(backend_.sample_calls, ElementsAre(10, 10, 10, 10));  // A B A B
  EXPECT_EQ(value("SELECT min(samples) FROM timings"), Value(std::int64_t{20}));
  EXPECT_EQ(value("SELECT max(stopped_by) FROM timings"), Value("confidence"));
}

TEST_F(SessionTest, InterleavedVariantsAreSampledUntilEachIsKnown) {
  backend_.together = 64;
  options_.interleave = true;
  options_.stopping.max_samples = 35;
  options_.stopping.relative_confidence = 1e-9;
  double next = 1000;
  backend_.sample = [&] { return next = next < 5000 ? next * 1.5 : 1000; };
  run();
  EXPECT_EQ(value("SELECT count(*) FROM samples"), Value(std::int64_t{70}));
  EXPECT_EQ(value("SELECT max(stopped_by) FROM timings"), Value("samples"));
}

TEST_F(SessionTest, WithoutATimerTheReasonIsStored) {
  backend_.no_timing = "the model has no clock";
  run();
  EXPECT_EQ(value("SELECT reason FROM results WHERE metric = 'duration' LIMIT 1"),
            Value("the model has no clock"));
  EXPECT_TRUE(backend_.sample_calls.empty());
}

TEST_F(SessionTest, WithoutPermissionTimesAreKeptAndCountersSayWhy) {
  backend_.no_counters = "no permission for counters";
  EXPECT_EQ(run().failed, 0U);
  EXPECT_EQ(value("SELECT DISTINCT reason FROM results WHERE metric = 'shared_load_wavefronts'"),
            Value("no permission for counters"));
  EXPECT_EQ(value("SELECT count(*) FROM timings"), Value(std::int64_t{2}));
  EXPECT_TRUE(backend_.batches.empty());
}

TEST_F(SessionTest, RepeatsCountersInOneBatchOfAllVariants) {
  backend_.together = 64;
  options_.repeat = 5;
  const Summary summary = run();
  EXPECT_EQ(summary.launches, 10U);
  EXPECT_THAT(backend_.batches, ElementsAre(10U));
  EXPECT_EQ(value("SELECT count(*) FROM timings"), Value(std::int64_t{2}));
}

TEST_F(SessionTest, CancellingKeepsWhatIsFinishedAndEndsTheRun) {
  int asked = 0;
  hooks_.cancelled = [&] {
    return value("SELECT count(*) FROM launches") == Value(std::int64_t{1}) && ++asked > 0;
  };
  const Summary summary = run();
  EXPECT_TRUE(summary.cancelled);
  EXPECT_EQ(summary.launches, 1U);
  EXPECT_EQ(value("SELECT outcome FROM runs"), Value("interrupted"));
}

TEST_F(SessionTest, AnErrorEndsTheRunAsFailedAndKeepsWhatIsFinished) {
  backend_.answer = [](const Launch& launch, const kernels::Problem& problem) {
    if (launch.entry == "fake_second") throw Error(ExitCode::no_hardware, "the device went away");
    Execution execution;
    execution.buffers = {problem.buffers[0].initial};
    return execution;
  };
  EXPECT_THROW(run(), Error);
  EXPECT_EQ(value("SELECT outcome FROM runs"), Value("failed"));
  EXPECT_EQ(value("SELECT reason FROM runs"), Value("the device went away"));
  EXPECT_EQ(value("SELECT count(*) FROM launches"), Value(std::int64_t{1}));
}

TEST_F(SessionTest, AnUnknownMetricRecordsNoRun) {
  options_.metrics = {"shared_lod_transactions"};
  EXPECT_THROW(run(), Error);
  EXPECT_EQ(value("SELECT count(*) FROM runs"), Value(std::int64_t{0}));
}

TEST(CheckFits, RefusesWhatTheDeviceCannotHold) {
  FakeBackend backend;
  backend.capacity = 100;
  const std::vector<Selection> selections = {{&family(), {&family().variants[0]}, {50}}};
  try {
    check_fits(selections, backend);
    FAIL() << "200 bytes do not fit into 100";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("fake at size 50"));
    EXPECT_THAT(error.what(), HasSubstr("Fake 9000"));
  }
}

TEST(CheckFits, RefusesSizesPastTheIndexArithmetic) {
  FakeBackend backend;
  const std::vector<Selection> selections = {{&family(), {&family().variants[0]}, {101}}};
  EXPECT_THROW(check_fits(selections, backend), Error);
}

}  // namespace
}  // namespace warpmeter::run
