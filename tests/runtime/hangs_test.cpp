// SPDX-License-Identifier: MIT
// A kernel that waits for what never comes is reported within seconds, with --check and without;
// one that only takes long comes to its end.
#include <chrono>

#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::seconds longest(5);

class Hangs : public RuntimeProgram, public testing::WithParamInterface<const char*> {
 protected:
  template <class Run>
  static Outcome timed(Run run) {
    const auto begin = std::chrono::steady_clock::now();
    Outcome outcome = run();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, longest);
    return outcome;
  }
};

TEST_P(Hangs, AreReportedWithinSeconds) {
  const auto says_so = AnyOf(HasSubstr("no progress: kernel"), HasSubstr("barrier not reached"));
  const Outcome found = timed([&] { return checked("hangs", {GetParam()}); });
  EXPECT_EQ(found.exit_code, 6);
  EXPECT_THAT(found.error, says_so);
  const Outcome counted = timed([&] { return profile("hangs", {}, {GetParam()}); });
  EXPECT_THAT(counted.error, says_so);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Hangs,
    testing::Values("unequal_grid", "one_round_more", "flag_nobody_sets", "counts_its_tries",
                    "sleeps_longer_and_longer", "lock_never_released", "lock_of_each_thread",
                    "object_for_too_many", "cluster_without_one", "two_named_barriers",
                    "object_asked_again", "object_asked_in_rounds", "object_asked_for_a_time",
                    "pipeline_without_release", "atomic_asked_again", "flag_asked_again"),
    [](const auto& test) { return std::string(test.param); });

class Ends : public Hangs {};

TEST_P(Ends, ThoughTheyTakeLong) {
  for (const Outcome& outcome :
       {checked("hangs", {GetParam()}), profile("hangs", {}, {GetParam()})}) {
    EXPECT_THAT(outcome.output, HasSubstr("cudaSuccess"));
    EXPECT_THAT(outcome.error, Not(HasSubstr("no progress")));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Ends,
                         testing::Values("gives_up_by_itself", "waits_for_a_time",
                                         "waits_for_a_long_count", "gives_up_after_some_waits",
                                         "gives_up_after_some_atomics", "waits_for_a_late_arrival",
                                         "counts_in_memory"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace warpmeter::cli
