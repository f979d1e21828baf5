// SPDX-License-Identifier: MIT
#include "base/host_cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace warpmeter {
namespace {

TEST(HostCores, AreThoseThatTheThreadMayUse) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(usable_cores(), static_cast<unsigned>(CPU_COUNT(&all)));
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  unsigned of_pinned = 0;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    of_pinned = usable_cores();
  }).join();
  EXPECT_EQ(of_pinned, 1U);
}

}  // namespace
}  // namespace warpmeter
