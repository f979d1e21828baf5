// SPDX-License-Identifier: MIT
// Pages and events that processes share, while both are there and when one is not any more.
#include "collector/runtime/memory/shared_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "collector/runtime/memory/event_page.h"

namespace warpmeter::runtime {
namespace {

constexpr std::uint64_t bytes = 8192;

/// The child's exit code when it does this.
int in_child(const std::function<int()>& body) {
  const pid_t id = fork();
  if (id == 0) _exit(body());
  int status = 0;
  waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(SharedPagesTest, AreTheSameInAnotherProcess) {
  SharedPages pages = SharedPages::make(bytes);
  ASSERT_EQ(pages.process, getpid());
  auto* own = static_cast<int*>(map_pages(pages));
  ASSERT_NE(own, nullptr);
  own[0] = 41;
  EXPECT_EQ(in_child([&] {
              auto* theirs = static_cast<int*>(map_pages(pages));
              if (theirs == nullptr || theirs == own) return 1;
              ++theirs[0];
              return 0;
            }),
            0);
  EXPECT_EQ(own[0], 42);
  pages.drop();
  EXPECT_EQ(own[0], 42);  // it is still mapped
  munmap(own, bytes);
}

TEST(SharedPagesTest, TakeThePlaceOfWhatWasThere) {
  void* before = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  SharedPages pages = SharedPages::make(bytes);
  EXPECT_EQ(map_pages(pages, before), before);
  static_cast<int*>(before)[0] = 1;
  munmap(before, bytes);
  pages.drop();
}

TEST(SharedPagesTest, AreGoneWhenTheyAreTakenBack) {
  SharedPages pages = SharedPages::make(bytes);
  const SharedPages handle = pages;
  pages.drop();
  SharedPages next = SharedPages::make(bytes);  // which may have the same descriptor
  const auto is_gone = [&] { return map_pages(handle) == nullptr ? 0 : 1; };
  EXPECT_EQ(is_gone(), 0);
  EXPECT_EQ(in_child(is_gone), 0);
  next.drop();
}

TEST(SharedPagesTest, AProcessHasEndedBeforeItsParentAsks) {
  EXPECT_FALSE(has_ended(getpid()));
  const pid_t id = fork();
  if (id == 0) _exit(0);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(id), &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(has_ended(id));
  waitpid(id, nullptr, 0);
  EXPECT_TRUE(has_ended(id));
}

TEST(EventPageTest, IsDoneAsOftenAsItWasGiven) {
  const auto page = EventPage::make();
  ASSERT_NE(page, nullptr);
  EXPECT_TRUE(page->is_done());
  const std::uint64_t first = page->give(), second = page->give();
  EXPECT_FALSE(page->is_done());
  page->done(first);
  EXPECT_TRUE(page->is_done(first));
  EXPECT_FALSE(page->is_done());
  page->done(second);
  page->done(first);
  EXPECT_TRUE(page->is_done());
}

TEST(EventPageTest, NobodyWaitsForWhatAnEndedProcessRecorded) {
  const auto page = EventPage::make();
  EXPECT_EQ(in_child([&] {
              const auto theirs = EventPage::open(page->pages());
              return theirs == nullptr ? 0 : static_cast<int>(theirs->give());
            }),
            1);
  EXPECT_FALSE(page->is_done());
  page->wait_for(page->given());  // returns
}

}  // namespace
}  // namespace warpmeter::runtime
