// SPDX-License-Identifier: MIT
// Processes take turns with a device's counters; one that cannot give them holds up nobody for
// long.
#include "collector/inject/turn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <string>
#include <thread>

#include "base/temporary.h"

namespace warpmeter::inject {
namespace {

using namespace std::chrono_literals;

// Each object opens its own lock files, as another process would.
class TurnTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  Turn mine_{folder_.path(), "GPU-1", "one"}, other_{folder_.path(), "GPU-1", "one"};
  Turn elsewhere_{folder_.path(), "GPU-1", "another session"};
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

TEST_F(TurnTest, AnotherSessionGetsItWhenItIsGiven) {
  ASSERT_TRUE(mine_.take(1ms));
  auto taken = std::async(std::launch::async, [&] { return elsewhere_.take(10s); });
  while (!mine_.is_wanted()) std::this_thread::sleep_for(1ms);
  mine_.give();
  EXPECT_TRUE(taken.get());
}

TEST_F(TurnTest, AnotherSessionIsNotWaitedForForEver) {
  ASSERT_TRUE(elsewhere_.take(1ms));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(mine_.take(5ms));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 60ms);
  elsewhere_.give();
  EXPECT_TRUE(mine_.take(5ms));
}

TEST(FolderOfTurns, IsForEveryUser) {
  const std::filesystem::path folder = folder_of_turns("/");
  if (folder == "/") GTEST_SKIP() << "/tmp cannot be written";
  EXPECT_EQ(std::filesystem::status(folder).permissions(), std::filesystem::perms(01777));
  const std::string device = "GPU-of-the-test-" + std::to_string(getpid());
  Turn turn(folder, device, "one");
  EXPECT_TRUE(turn.take(1ms));
  const std::filesystem::path file = folder / (device + ".turn");
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0666));
  std::filesystem::remove(file);
  std::filesystem::remove(folder / (device + ".wanted"));
}

TEST_F(TurnTest, WhoeverEndsWithItLeavesIt) {
  ASSERT_TRUE(mine_.take(1ms));
  EXPECT_FALSE(mine_.was_left());
  mine_.give();
  {
    Turn ends(folder_.path(), "GPU-1", "one");
    ASSERT_TRUE(ends.take(1ms));
    EXPECT_FALSE(ends.was_left());
  }
  ASSERT_TRUE(other_.take(1ms));
  EXPECT_TRUE(other_.was_left());
}

// The workers that load data for PyTorch are such children, and may outlive a program that is
// killed.
TEST_F(TurnTest, AChildOfTheProgramDoesNotKeepIt) {
  std::array<int, 2> started{}, over{};
  ASSERT_EQ(pipe(started.data()), 0);
  ASSERT_EQ(pipe(over.data()), 0);
  const pid_t program = fork();
  ASSERT_GE(program, 0);
  if (program == 0) {
    Turn turn(folder_.path(), "GPU-2", "one");
    if (!turn.take(1ms)) _exit(1);
    const pid_t child = fork();
    if (child != 0) _exit(child < 0 ? 1 : 0);
    close(over[1]);
    char word = 1;
    if (write(started[1], &word, 1) != 1) _exit(1);
    while (read(over[0], &word, 1) > 0) {
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(program, &status, 0), program);
  ASSERT_EQ(status, 0);
  char word = 0;
  ASSERT_EQ(read(started[0], &word, 1), 1);  // the child is there, and its parent is not
  Turn other(folder_.path(), "GPU-2", "another session");
  EXPECT_TRUE(other.take(50ms));
  for (const int end : {started[0], started[1], over[0], over[1]}) close(end);
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

// The numbers of our files are files of the program then.
TEST_F(TurnTest, AFileThatTheProgramOpensInsteadOfOursStaysAsItIs) {
  ASSERT_TRUE(mine_.take(1ms));
  const std::string path = folder_.path() / "own";
  for (int file = 3; file < 1024; ++file) close(file);
  std::array<int, 8> own{};
  for (int& file : own) file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(write(own[0], "text", 4), 4);
  mine_.keep();
  mine_.give();
  EXPECT_TRUE(mine_.take(1ms));
  mine_.close();
  std::array<char, 8> text{};
  for (const int file : own) EXPECT_EQ(pread(file, text.data(), text.size(), 0), 4);
  EXPECT_EQ(std::string(text.data()), "text");
  EXPECT_EQ(flock(own[0], LOCK_EX | LOCK_NB), 0);  // nor is it locked
}

}  // namespace
}  // namespace warpmeter::inject
