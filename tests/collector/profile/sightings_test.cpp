// SPDX-License-Identifier: MIT
// Which launch of a later run is which of the first.
#include "collector/profile/sightings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpmeter::profile {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

constexpr auto nothing = std::nullopt;

/// Identity, process, context, stream, occurrence.
using OneRun = std::vector<Sighting>;

TEST(Match, TheSameLaunchesInAnotherOrderAreFoundAgain) {
  const OneRun first = {{0, 1, 1, 7, 0}, {0, 1, 1, 8, 0}, {0, 1, 1, 7, 1}, {1, 1, 1, 7, 0}};
  const OneRun later = {{1, 1, 1, 7, 0}, {0, 1, 1, 8, 0}, {0, 1, 1, 7, 0}, {0, 1, 1, 7, 1}};
  EXPECT_THAT(match(first, later),
              ElementsAre(Optional(3U), Optional(1U), Optional(0U), Optional(2U)));
}

TEST(Match, AStreamOfAnotherNumberIsFoundByTheOrderOfItsLaunches) {
  const OneRun first = {{0, 1, 1, 7, 0}, {0, 1, 1, 7, 1}};
  const OneRun later = {{0, 1, 1, 9, 1}, {0, 1, 1, 9, 0}};
  EXPECT_THAT(match(first, later), ElementsAre(Optional(1U), Optional(0U)));
}

TEST(Match, AProcessThatCannotBeToldIsFoundByItsLaunches) {
  const OneRun first = {{0, 1, 1, 7, 0}, {1, 2, 1, 7, 0}};
  const OneRun later = {{1, 1, 1, 7, 0}, {0, 2, 1, 7, 0}};
  EXPECT_THAT(match(first, later), ElementsAre(Optional(1U), Optional(0U)));
}

TEST(Match, OneMoreOrLessIsLeftOver) {
  const OneRun one = {{0, 1, 1, 7, 0}}, two = {{0, 1, 1, 7, 0}, {0, 1, 1, 7, 1}};
  EXPECT_THAT(match(one, two), ElementsAre(Optional(0U), Eq(nothing)));
  EXPECT_THAT(match(two, one), ElementsAre(Optional(0U)));
  EXPECT_THAT(match({}, one), ElementsAre(Eq(nothing)));
}

TEST(Match, NothingIsGuessedWhereTheNumbersDiffer) {
  const OneRun first = {{0, 1, 1, 7, 0}, {0, 1, 1, 7, 1}};
  const OneRun later = {{0, 1, 1, 8, 0}, {0, 1, 1, 8, 1}, {0, 1, 1, 8, 2}};
  EXPECT_THAT(match(first, later), ElementsAre(Eq(nothing), Eq(nothing), Eq(nothing)));
}

TEST(Match, AnotherKernelIsNeverTaken) {
  EXPECT_THAT(match(OneRun{{0, 1, 1, 7, 0}}, OneRun{{1, 1, 1, 7, 0}}), ElementsAre(Eq(nothing)));
}

TEST(Identities, AreDeviceKernelAndGeometry) {
  Identities identities;
  inject::LaunchShape shape;
  const std::uint32_t number = identities.number_of("reduce", shape);
  shape.stream = 9;
  EXPECT_EQ(identities.number_of("reduce", shape), number);
  EXPECT_NE(identities.number_of("scan", shape), number);
  shape.grid = {2, 1, 1};
  EXPECT_NE(identities.number_of("reduce", shape), number);
  shape.grid = {1, 1, 1};
  shape.device = 1;
  EXPECT_NE(identities.number_of("reduce", shape), number);
  shape.device = 0;
  EXPECT_EQ(identities.number_of("reduce", shape), number);
  EXPECT_NE(identities.number_of("reduce", shape, true), number) << "it has no time by itself";
  EXPECT_EQ(identities.kernel_of(number), "reduce");
}

inject::LaunchShape on_stream(std::uint32_t stream) {
  inject::LaunchShape shape;
  shape.stream = stream;
  return shape;
}

TEST(Sightings, ProcessesAreToldApartByTheOrderOfTheirIds) {
  Sightings first, later;
  for (Sightings* run : {&first, &later}) {
    const int base = run == &first ? 500 : 900;
    run->meet(1, base, "/bin/app");
    // The younger child comes first in the later run.
    run->meet(2, run == &first ? base + 1 : base + 2, "/bin/child");
    run->meet(3, run == &first ? base + 2 : base + 1, "/bin/child");
    for (const int peer : {1, 2, 3}) run->add(peer, on_stream(7), 0, 0);
  }
  EXPECT_THAT(match(first.finish(), later.finish()),
              ElementsAre(Optional(0U), Optional(2U), Optional(1U)));
}

TEST(Sightings, ProcessIdsThatBeganAgainAreYounger) {
  Sightings first, later;
  first.meet(1, 500, "/bin/child");
  first.meet(2, 501, "/bin/child");
  later.meet(1, 32767, "/bin/child");
  later.meet(2, 301, "/bin/child");
  for (Sightings* run : {&first, &later}) {
    for (const int peer : {1, 2}) run->add(peer, on_stream(7), 0, 0);
  }
  EXPECT_THAT(match(first.finish(), later.finish()), ElementsAre(Optional(0U), Optional(1U)));
}

TEST(Sightings, OfATraceAreOrderedByTheirCorrelations) {
  Sightings trace;
  trace.meet(1, 500, "/bin/app");
  trace.add_traced(1, on_stream(7), 0, 30);
  trace.add_traced(1, on_stream(8), 0, 20);
  trace.add_traced(1, on_stream(7), 0, 10);
  const std::span<const Sighting> all = trace.finish();
  EXPECT_EQ(all[0].occurrence, 1U);
  EXPECT_EQ(all[1].occurrence, 0U);
  EXPECT_EQ(all[2].occurrence, 0U);
}

}  // namespace
}  // namespace warpmeter::profile
