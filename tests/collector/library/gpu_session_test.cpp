// SPDX-License-Identifier: MIT
// Ranges on a GPU, with this test in the part of the library that counts there.
#include "collector/library/gpu_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "base/temporary.h"
#include "collector/inject/channel.h"

namespace warpmeter::library {
namespace {

using testing::ElementsAre;

/// It sends a launch of the kernel with one value.
class Counter {
 public:
  GpuFunctions functions() {
    return {
        [this] {
          channel_ = std::make_unique<inject::Channel>(std::getenv(inject::socket_variable));
          config_ = channel_->receive_config();
          channel_->send(inject::Device{{.backend = "cupti", .name = "a GPU", .uuid = "GPU-1"}});
        },
        [this] { is_on_ = true; }, [this] { is_on_ = false; }};
  }
  void launch(const std::string& kernel, double value) {
    if (!is_on_) return channel_->send(inject::Seen{channel_->name(kernel)});
    inject::Launch launch;
    launch.shape.kernel = channel_->name(kernel);
    launch.values.push_back({value});
    channel_->send(launch);
  }
  const std::optional<inject::Config>& config() const { return config_; }

 private:
  std::unique_ptr<inject::Channel> channel_;
  std::optional<inject::Config> config_;
  bool is_on_ = false;
};

class GpuSessionTest : public testing::Test {
 protected:
  static inject::Config config() {
    inject::Config config;
    config.mode = inject::Mode::counters;
    config.counters = {"shared_load_requests"};
    return config;
  }
  std::string database() const { return (folder_.path() / "a.db").string(); }
  profile::RecorderOptions options() const {
    profile::RecorderOptions options;
    options.database = database();
    options.run.backend = "cupti";
    options.program = "program";
    return options;
  }
  /// "kernel value" of each launch of the run.
  std::vector<std::string> launches(std::int64_t run) const {
    std::vector<std::string> all;
    const schema::Reader reader(database());
    reader.each(
        "SELECT variant || ' ' || CAST(value AS INTEGER) FROM results WHERE run_id = :run AND "
        "metric = 'shared_load_requests' ORDER BY launch_id",
        {{":run", run}}, [&](const auto& row) { all.push_back(std::get<std::string>(row[0])); });
    return all;
  }

  const TemporaryFolder folder_;
  Counter counter_;
};

TEST_F(GpuSessionTest, EachRangeHasItsLaunches) {
  GpuSession session(counter_.functions(), config());
  ASSERT_TRUE(counter_.config());
  counter_.launch("before", 1);
  GpuRange first(session, options());
  for (int i = 0; i < 200; ++i) counter_.launch("one", 2);  // more than are read at once
  const Ended of_first = first.end();
  counter_.launch("between", 3);
  GpuRange second(session, options());
  counter_.launch("one", 4);
  counter_.launch("two", 5);
  const Ended of_second = second.end();
  EXPECT_EQ(launches(of_first.run.value()).size(), 200U);
  EXPECT_THAT(launches(of_second.run.value()), ElementsAre("one 4", "two 5"));
}

TEST_F(GpuSessionTest, ARangeWithoutALaunchHasNoRun) {
  GpuSession session(counter_.functions(), config());
  GpuRange range(session, options());
  EXPECT_FALSE(range.end().run);
}

TEST_F(GpuSessionTest, NoAnswerIsNoHardware) {
  GpuSession session({[] {}, [] {}, [] {}}, config());
  EXPECT_THROW(GpuRange(session, options()), Error);
}

TEST_F(GpuSessionTest, TheVariableIsNotLeftToChildren) {
  const GpuSession session(counter_.functions(), config());
  EXPECT_EQ(std::getenv(inject::socket_variable), nullptr);
}

}  // namespace
}  // namespace warpmeter::library
