// SPDX-License-Identifier: MIT
// Processes take turns with a device's counters; one that cannot give them holds up nobody for
// long.
#include "collector/inject/turn.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <thread>

#include "base/temporary.h"

namespace warpmeter::inject {
namespace {

using namespace std::chrono_literals;

// Each object opens its own lock files, as another process would.
class TurnTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  Turn mine_{folder_.path(), "GPU-1"}, other_{folder_.path(), "GPU-1"};
};

TEST_F(TurnTest, OneThatWaitsGetsItWhenItIsGiven) {
  ASSERT_TRUE(mine_.take(1ms));
  EXPECT_FALSE(mine_.is_wanted());
  auto taken = std::async(std::launch::async, [&] { return other_.take(1ms); });
  while (!mine_.is_wanted()) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(taken.wait_for(20ms),
            std::future_status::timeout);  // patience is for those who keep it
  mine_.give();
  EXPECT_TRUE(taken.get());
}

TEST_F(TurnTest, OneThatIsKeptIsNotWaitedForLongerThanThePatience) {
  ASSERT_TRUE(mine_.take(1ms));
  mine_.keep();
  EXPECT_FALSE(other_.take(20ms));
  EXPECT_FALSE(mine_.is_wanted());
  mine_.give();
  EXPECT_TRUE(other_.take(20ms));
  other_.give();
  EXPECT_TRUE(mine_.take(20ms));
}

// As daemons do. The alarm ends a child that waits for ever.
TEST_F(TurnTest, AProgramThatClosesTheFilesIsNotHeld) {
  ASSERT_TRUE(other_.take(1ms));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(10);
    for (int file = 3; file < 1024; ++file) close(file);
    const bool is_free = mine_.take(1ms) && !mine_.is_wanted();
    mine_.give();
    _exit(is_free ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace warpmeter::inject
