// SPDX-License-Identifier: MIT
// Launches by kernels that the device's runtime refuses are known until their thread asks.
#include "collector/model/machine/device_runtime.h"

#include <gtest/gtest.h>

namespace warpmeter::model {
namespace {

/// A host whose kernels may have blocks of 1,024 threads.
class Host final : public KernelHost {
 public:
  const Program* kernel(const std::string&) override { return &program_; }
  std::uint32_t most_dynamic_shared_bytes(const std::string&) override { return 49152; }
  std::vector<std::byte> attributes_of(const std::string&) override { return {}; }
  std::optional<int> blocks_of_multiprocessor(const std::string&, int, std::uint64_t) override {
    return std::nullopt;
  }
  std::optional<int> device_attribute(int) override { return std::nullopt; }
  std::optional<std::uint64_t> limit(int) override { return std::nullopt; }
  void set_condition(std::uint64_t, std::uint32_t) override {}
  int launch_graph(std::uint64_t, std::uint64_t) override { return 0; }
  std::uint64_t graph() override { return 0; }
  std::string error_name(int) override { return ""; }
  std::string error_text(int) override { return ""; }

 private:
  Program program_;
};

struct Lane final : DeviceRuntime::Caller {
  bool write(std::uint64_t, const void*, std::size_t) override { return false; }
  bool read(std::uint64_t, void*, std::size_t) override { return false; }
  void freed() override {}
};

class RefusedLaunches : public testing::Test {
 protected:
  RefusedLaunches() {
    caller_.kernels = {"child"};
    lane_.program = &caller_;
  }
  void call(std::string_view function, std::uint64_t thread, std::uint32_t instruction) {
    DeviceCall of;
    of.function = *device_function(function);
    const std::uint64_t arguments[] = {first_kernel, 1, 1, 1, 2048, 1, 1, 0};
    lane_.thread = thread;
    lane_.instruction = instruction;
    runtime_.answer(lane_, of, arguments);
  }
  void launch(std::uint64_t thread, std::uint32_t instruction = 7) {
    call("__cudaCDP2GetParameterBufferV2", thread, instruction);
  }
  void ask(std::uint64_t thread) { call("__cudaCDP2GetLastError", thread, 8); }

  Host host_;
  DeviceMemory memory_;
  DeviceRuntime runtime_{host_, memory_, 2048};
  Program caller_;
  Lane lane_;
};

TEST_F(RefusedLaunches, AreOneForEachThreadAndPlace) {
  for (int i = 0; i < 3; ++i) launch(5);
  launch(5, 9);
  launch(6);
  ASSERT_EQ(runtime_.refused().size(), 3u);
  const auto& [place, first] = *runtime_.refused().begin();
  EXPECT_EQ(place.thread, 5u);
  EXPECT_EQ(place.instruction, 7u);
  EXPECT_EQ(first.times, 3u);
  EXPECT_EQ(*first.kernel, "child");
  EXPECT_EQ(first.geometry.block.x, 2048u);
}

TEST_F(RefusedLaunches, AreForgottenWhereTheirThreadAsks) {
  launch(5);
  launch(5, 9);
  launch(6);
  ask(5);
  ASSERT_EQ(runtime_.refused().size(), 1u);
  EXPECT_EQ(runtime_.refused().begin()->first.thread, 6u);
}

/// Threads that each look through the launches of all others would take minutes.
TEST_F(RefusedLaunches, OfManyThreadsAreForgottenInSeconds) {
  constexpr std::uint64_t threads = 200'000;
  for (std::uint64_t thread = 0; thread < threads; ++thread) launch(thread);
  for (std::uint64_t thread = 0; thread < threads; ++thread) ask(thread);
  EXPECT_TRUE(runtime_.refused().empty());
}

}  // namespace
}  // namespace warpmeter::model
