// SPDX-License-Identifier: MIT
// A traced run: messages of CUPTI's kind, and the rows of the view `activities` that they become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "collector/profile/injector.h"
#include "collector/profile/recorder.h"

namespace warpmeter::profile {
namespace {

using inject::ActivityKind;
using inject::MemoryKind;
using testing::ElementsAre;

class TraceTest : public testing::Test {
 protected:
  static constexpr std::uint64_t clock_ns = 1'764'000'000'000'000'000;

  /// A recorder of a run that stores GPU activities, calls, or both.
  void record(bool gpu, bool calls) {
    RecorderOptions options;
    options.database = database();
    options.program = "app";
    options.traces = gpu;
    options.traces_calls = calls;
    recorder_.emplace(std::move(options));
    recorder_->begin_pass({Pass::Kind::activities, 1, {}});
    recorder_->meet(1, 4242, "/bin/app");
    inject::Device device;
    device.device.name = "NVIDIA H200";
    device.device.uuid = "GPU-1";
    ASSERT_TRUE(recorder_->take(1, device));
    ASSERT_TRUE(recorder_->take(1, inject::TraceBegins{clock_ns}));
    std::uint32_t id = 0;
    for (const char* name : {"_Z6reduceILi4EEvPf", "[CUDA memcpy HtoD]", "[CUDA memcpy PtoP]",
                             "cudaLaunchKernel", "[Unified Memory GPU page faults]"}) {
      ASSERT_TRUE(recorder_->take(1, inject::Name{++id, name}));
    }
  }

  static inject::LaunchShape place(std::uint32_t stream) {
    inject::LaunchShape shape;
    shape.context = 1;
    shape.stream = stream;
    return shape;
  }

  static inject::ActivityShape kernel(std::uint32_t id, std::uint32_t stream) {
    inject::ActivityShape shape;
    shape.id = id;
    shape.kind = ActivityKind::kernel;
    shape.name = 1;
    shape.shape = place(stream);
    shape.shape->kernel = 1;
    shape.shape->grid = {64, 2, 1};
    shape.shape->block = {256, 1, 1};
    shape.shape->registers = 32;
    shape.shape->static_shared_bytes = 4096;
    shape.shape->dynamic_shared_bytes = 128;
    return shape;
  }

  void finish() { recorder_->finish(schema::RunOutcome::done, ""); }

  std::vector<std::string> lines(const std::string& sql) const {
    std::vector<std::string> lines;
    for (const auto& row : schema::Reader(database()).query(sql).rows) {
      std::string line;
      for (const schema::Value& value : row) {
        if (!line.empty()) line += '|';
        if (const auto* text = std::get_if<std::string>(&value)) line += *text;
        if (const auto* number = std::get_if<std::int64_t>(&value)) line += std::to_string(*number);
        if (const auto* real = std::get_if<double>(&value)) line += std::to_string(*real);
        if (std::holds_alternative<std::monostate>(value)) line += "NULL";
      }
      lines.push_back(line);
    }
    return lines;
  }

  std::string database() const { return (folder_.path() / "test.db").string(); }

  PrivateFolder folder_;
  std::optional<Recorder> recorder_;
};

TEST_F(TraceTest, AKernelHasItsTimesGeometryAndPlace) {
  record(true, false);
  EXPECT_TRUE(recorder_->take(1, kernel(1, 7)));
  EXPECT_TRUE(
      recorder_->take(1, inject::Activities{{{1, clock_ns + 250'000, 1480, 0, 77, false, {}},
                                             {1, clock_ns + 200'000, 1500, 0, 76, false, {}}}}));
  finish();
  EXPECT_THAT(lines("SELECT activity_id, process_id, thread_id, kind, name, start_ns, duration_ns, "
                    "device, device_ordinal, context, stream, correlation FROM activities "
                    "ORDER BY start_ns"),
              ElementsAre("2|4242|NULL|kernel|void reduce<4>(float*)|200000|1500|NVIDIA "
                          "H200|0|1|7|76",
                          "1|4242|NULL|kernel|void reduce<4>(float*)|250000|1480|NVIDIA "
                          "H200|0|1|7|77"));
  EXPECT_THAT(lines("SELECT DISTINCT grid_x, grid_y, grid_z, block_x, block_y, block_z, registers, "
                    "static_shared_bytes, dynamic_shared_bytes, bytes, symbol FROM activities"),
              ElementsAre("64|2|1|256|1|1|32|4096|128|NULL|_Z6reduceILi4EEvPf"));
}

TEST_F(TraceTest, LaunchesOfOneKernelAndGeometryAreOneRowWithASampleEach) {
  record(true, false);
  EXPECT_TRUE(recorder_->take(1, kernel(1, 7)));
  EXPECT_TRUE(recorder_->take(1, kernel(2, 13)));
  for (const auto& [shape, duration_ns] : {std::pair{1U, 1000.0}, {2U, 3000.0}, {1U, 2000.0}}) {
    EXPECT_TRUE(recorder_->take(
        1, inject::Activities{{{shape, clock_ns + 5, duration_ns, 0, 7, false, {}}}}));
  }
  finish();
  EXPECT_EQ(recorder_->launches(), 3U);
  EXPECT_EQ(recorder_->traced(), 3U);
  EXPECT_THAT(lines("SELECT l.kernel, l.grid, t.samples, t.median_ns, t.min_ns FROM launches l "
                    "JOIN timings t USING (launch_id)"),
              ElementsAre("_Z6reduceILi4EEvPf|64x2x1|3|2000.000000|1000.000000"));
}

TEST_F(TraceTest, CopiesHaveBytesAndTheMemoryAtBothEnds) {
  record(true, false);
  inject::ActivityShape copy;
  copy.id = 1;
  copy.kind = ActivityKind::copy;
  copy.name = 2;
  copy.shape = place(7);
  copy.source_memory = MemoryKind::pageable;
  copy.target_memory = MemoryKind::device;
  inject::ActivityShape peer = copy;
  peer.id = 2;
  peer.name = 3;
  peer.source_memory = MemoryKind::device;
  peer.source = {0, 1};
  peer.target = {1, 2};
  EXPECT_TRUE(recorder_->take(1, copy));
  EXPECT_TRUE(recorder_->take(1, peer));
  EXPECT_TRUE(recorder_->take(1, inject::Activities{{{1, clock_ns + 1, 10, 4096, 3, false, {}},
                                                     {2, clock_ns + 2, 20, 8192, 4, false, {}}}}));
  finish();
  EXPECT_THAT(
      lines("SELECT name, bytes, source_memory, target_memory, source_device, source_context, "
            "target_device, target_context, grid_x FROM activities"),
      ElementsAre("[CUDA memcpy HtoD]|4096|Pageable|Device|NULL|NULL|NULL|NULL|NULL",
                  "[CUDA memcpy PtoP]|8192|Device|Device|0|1|1|2|NULL"));
  EXPECT_THAT(lines("SELECT count(*) FROM launches"), ElementsAre("0"));
}

TEST_F(TraceTest, FaultsHaveANumberAndAnAddress) {
  record(true, false);
  inject::ActivityShape fault;
  fault.id = 1;
  fault.kind = ActivityKind::page_fault;
  fault.name = 5;
  fault.shape = inject::LaunchShape{};
  EXPECT_TRUE(recorder_->take(1, fault));
  EXPECT_TRUE(recorder_->take(
      1, inject::Activities{{{1, clock_ns + 9, 300, 12, 0, false, 0x7f0000000000}}}));
  finish();
  EXPECT_THAT(lines("SELECT kind, name, start_ns, duration_ns, bytes, faults, address, context, "
                    "stream, correlation FROM activities"),
              ElementsAre("page fault|[Unified Memory GPU page faults]|9|300|NULL|12|"
                          "139637976727552|NULL|NULL|NULL"));
}

TEST_F(TraceTest, OnlyWhatWasAskedForIsStored) {
  inject::ActivityShape call;
  call.id = 2;
  call.name = 4;
  call.thread = 99;
  const auto both = inject::Activities{
      {{1, clock_ns + 5, 100, 0, 7, false, {}}, {2, clock_ns + 1, 50, 0, 7, false, {}}}};
  record(false, true);
  EXPECT_TRUE(recorder_->take(1, kernel(1, 7)));
  EXPECT_TRUE(recorder_->take(1, call));
  EXPECT_TRUE(recorder_->take(1, inject::Activities(both)));
  finish();
  EXPECT_THAT(lines("SELECT kind, thread_id, name, device, context FROM activities"),
              ElementsAre("call|99|cudaLaunchKernel|NULL|NULL"));
  record(false, false);
  EXPECT_TRUE(recorder_->take(1, kernel(1, 7)));
  EXPECT_TRUE(recorder_->take(1, call));
  EXPECT_TRUE(recorder_->take(1, inject::Activities(both)));
  finish();
  EXPECT_THAT(lines("SELECT count(*) FROM activities WHERE run_id = 2"), ElementsAre("0"));
}

TEST_F(TraceTest, WithoutAClockThereAreNoTimes) {
  record(true, true);
  inject::ActivityShape call;
  call.id = 2;
  call.name = 4;
  EXPECT_TRUE(recorder_->take(1, kernel(1, 7)));
  EXPECT_TRUE(recorder_->take(1, call));
  EXPECT_TRUE(recorder_->take(1, inject::Activities{{{1, 0, std::nullopt, 4096, 1, false, {}},
                                                     {2, 0, 5000, 0, 0, false, {}}}}));
  finish();
  EXPECT_THAT(lines("SELECT activity_id, kind, start_ns, duration_ns, bytes FROM activities"),
              ElementsAre("1|kernel|NULL|NULL|NULL", "2|call|NULL|NULL|NULL"));
}

TEST_F(TraceTest, AShapeThatBreaksTheOrderOrHasNoNameIsRefused) {
  record(true, false);
  EXPECT_FALSE(recorder_->take(1, kernel(2, 7)));
  inject::ActivityShape nameless = kernel(1, 7);
  nameless.name = 9;
  EXPECT_FALSE(recorder_->take(1, std::move(nameless)));
  inject::ActivityShape shapeless = kernel(1, 7);
  shapeless.shape.reset();
  EXPECT_FALSE(recorder_->take(1, std::move(shapeless)));
}

TEST_F(TraceTest, AMillionActivitiesTakeLessThanSixtyBytesEach) {
  record(true, false);
  EXPECT_TRUE(recorder_->take(1, kernel(1, 7)));
  constexpr std::uint32_t count = 200'000;
  inject::Activities batch;
  for (std::uint32_t i = 0; i < count; ++i) {
    batch.activities.push_back(
        {1, clock_ns + 3'000'000'000 + i * 2500ULL, 1500, 0, 100 + i, false, {}});
    if (batch.activities.size() < 1000) continue;
    ASSERT_TRUE(recorder_->take(1, std::exchange(batch, {})));
    recorder_->store();
  }
  finish();
  recorder_.reset();
  constexpr std::uintmax_t all_else = 1 << 20, of_sample = 24;
  EXPECT_LT(std::filesystem::file_size(database()), all_else + (60 + of_sample) * count);
}

}  // namespace
}  // namespace warpmeter::profile
