// SPDX-License-Identifier: MIT
// The first Ctrl-C asks, the second one kills.
#include "collector/cli/interrupt.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace warpmeter::cli {
namespace {

using ::testing::ExitedWithCode;
using ::testing::KilledBySignal;

/// Each statement runs in a process of its own.
TEST(Interrupt, IsHeardOnceAndNotBefore) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        const bool before = interrupted();
        std::raise(SIGINT);
        std::exit(!before && interrupted() ? 0 : 1);
      },
      ExitedWithCode(0), "stopping;");
}

TEST(Interrupt, KillsTheSecondTime) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        std::raise(SIGINT);
        std::raise(SIGINT);
        std::exit(0);
      },
      KilledBySignal(SIGINT), "stopping;");
}

TEST(Interrupt, TakesTwoSignalsWithinHalfASecondForOneWish) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        std::raise(SIGINT);
        std::raise(SIGTERM);
        std::exit(interrupted() ? 0 : 1);
      },
      ExitedWithCode(0), "stopping;");
}

TEST(Interrupt, TakesAnotherSignalAfterHalfASecondForASecondWish) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        std::raise(SIGINT);
        std::this_thread::sleep_for(std::chrono::milliseconds(600));
        std::raise(SIGTERM);
        std::exit(0);
      },
      KilledBySignal(SIGTERM), "stopping;");
}

TEST(Interrupt, EndsTheProgramByItsSignal) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        std::raise(SIGTERM);
        end_by_interrupt();
        std::exit(0);
      },
      KilledBySignal(SIGTERM), "");
}

TEST(Interrupt, EndsNothingWhenThereWasNone) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        end_by_interrupt();
        std::exit(7);
      },
      ExitedWithCode(7), "");
}

TEST(Interrupt, StaysIgnoredUnderNohup) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        catch_interrupts();
        std::raise(SIGHUP);
        std::exit(interrupted() ? 1 : 0);
      },
      ExitedWithCode(0), "");
}

}  // namespace
}  // namespace warpmeter::cli
