// SPDX-License-Identifier: MIT
// The energy of launches on a card that is made up: its power is known, its counter moves every
// 0.1 s, and to read it takes 4 ms, as on an H200.
#include "collector/cupti/energy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "schema/catalogue.h"

namespace warpmeter::cupti {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;

bool never() { return false; }

/// Time passes when somebody waits or reads the counter.
struct Card {
  double idle_w = 100, busy_w = 300, launch_s = 0.0005;
  bool has_counter = true, moves = true;
  double now_s = 7.03;
  std::vector<std::pair<double, double>> batches = {};  ///< their begins and ends

  double energy_until(double time_s) const {
    double joules = idle_w * time_s;
    for (const auto& [begin_s, end_s] : batches) {
      joules += (busy_w - idle_w) * std::max(0.0, std::min(time_s, end_s) - begin_s);
    }
    return joules;
  }
  double last_end() const {
    double last_s = 0;
    for (const auto& [begin_s, end_s] : batches) {
      if (end_s <= now_s) last_s = end_s;
    }
    return last_s;
  }

  PowerSource source() {
    return {[this] { return now_s; },
            [this]() -> std::optional<double> {
              now_s += 0.004;
              if (!has_counter) return std::nullopt;
              return moves ? energy_until(std::floor(now_s * 10) / 10) : 17;
            },
            [] { return std::optional<double>(1980); }, [] { return std::nullopt; },
            [this](double seconds) { now_s += seconds; }};
  }
  Load load() {
    return {[this](std::size_t launches) {
              const double begin_s =
                  batches.empty() ? now_s : std::max(now_s, batches.back().second);
              batches.emplace_back(begin_s, begin_s + launch_s * static_cast<double>(launches));
            },
            [this] {
              return static_cast<std::size_t>(
                  std::count_if(batches.begin(), batches.end(),
                                [&](const auto& batch) { return batch.second <= now_s; }));
            },
            [this] { return last_end(); }};
  }

  SteadyPower busy() {
    const Load repeated = load();
    return watch_power(source(), &repeated, {}, never);
  }
  SteadyPower idle() { return watch_power(source(), nullptr, {}, never); }
  std::vector<schema::Counter> energy() {
    const SteadyPower first = busy();
    return energy_counters(first, nullptr, idle());
  }
};

const schema::Counter& named(const std::vector<schema::Counter>& all, std::string_view name) {
  return *std::find_if(all.begin(), all.end(),
                       [&](const schema::Counter& counter) { return counter.name == name; });
}

TEST(Energy, IsPowerBeyondIdleTimesTheTimeOfALaunch) {
  Card card;
  const auto all = card.energy();
  EXPECT_NEAR(named(all, "energy").value.value(), (300 - 100) * 0.0005, 0.001);
  EXPECT_THAT(named(all, "energy").reason, HasSubstr("without the card's idle power of "));
  EXPECT_NEAR(named(all, "mean_power").value.value(), 300, 3);
  EXPECT_NEAR(named(all, "idle_power").value.value(), 100, 1);
  EXPECT_EQ(named(all, "busy_sm_clock").value, 1980);
  EXPECT_THAT(named(all, "busy_temperature").reason, HasSubstr("NVML does not tell it"));
}

/// The card takes 300 W while it is busy, and its counter moves every 0.1 s.
TEST(Energy, KeepsPowerAndClockAtEachMove) {
  Card card;
  const SteadyPower busy = card.busy();
  ASSERT_GE(busy.samples.size(), 9U);
  for (const schema::PowerSample& sample : busy.samples) {
    EXPECT_NEAR(sample.power_w, 300, 25);  // a move is seen up to 4 ms late
    EXPECT_EQ(sample.sm_clock_mhz, 1980);
    EXPECT_EQ(sample.temperature_c, std::nullopt);
  }
  for (std::size_t i = 1; i < busy.samples.size(); ++i) {
    EXPECT_NEAR(busy.samples[i].time_s - busy.samples[i - 1].time_s, 0.1, 0.01);
  }
}

TEST(Energy, DoublesWithTheWork) {
  Card once, twice;
  twice.launch_s = 2 * once.launch_s;
  const double one = named(once.energy(), "energy").value.value();
  EXPECT_NEAR(named(twice.energy(), "energy").value.value() / one, 2, 0.02);
}

TEST(Energy, IsKnownForLaunchesOfMicrosecondsAndOfHalfASecond) {
  for (const double launch_s : {0.000002, 0.5}) {
    Card card;
    card.launch_s = launch_s;
    EXPECT_NEAR(named(card.energy(), "energy").value.value() / (200 * launch_s), 1, 0.01);
  }
}

TEST(Energy, LeavesOutWhatRestoringTook) {
  Card both, restore;
  both.launch_s = 0.001;
  restore.busy_w = 200;
  restore.launch_s = 0.0004;
  const SteadyPower restoring = restore.busy();
  const auto all = energy_counters(both.busy(), &restoring, both.idle());
  EXPECT_NEAR(named(all, "energy").value.value(), 200 * 0.001 - 100 * 0.0004, 0.002);
}

TEST(Energy, IsUnavailableWhereRestoringTakesNearlyAllOfIt) {
  Card both, restore;
  const SteadyPower restoring = restore.busy();
  const auto all = energy_counters(both.busy(), &restoring, both.idle());
  EXPECT_EQ(named(all, "energy").value, std::nullopt);
  EXPECT_THAT(named(all, "energy").reason, HasSubstr("restoring its input takes"));
}

TEST(Energy, IsUnavailableWhereTheCardHasNoCounter) {
  Card card;
  card.has_counter = false;
  EXPECT_THAT(
      card.energy(),
      Each(AllOf(Field(&schema::Counter::value, std::nullopt),
                 Field(&schema::Counter::reason, HasSubstr("no energy counter of this card")))));
}

TEST(Energy, IsUnavailableWhereTheCounterStandsStill) {
  Card card;
  card.moves = false;
  EXPECT_THAT(named(card.energy(), "energy").reason, HasSubstr("did not move"));
  EXPECT_LT(card.now_s, 20) << "it gives up";
}

TEST(Energy, IsUnavailableWhereItDoesNotDifferFromIdle) {
  Card card;
  card.busy_w = 100.2;
  const auto all = card.energy();
  EXPECT_EQ(named(all, "energy").value, std::nullopt);
  EXPECT_THAT(named(all, "energy").reason, HasSubstr("the difference is too small"));
  EXPECT_NEAR(named(all, "mean_power").value.value(), 100, 1);
}

TEST(Energy, EndsWhenItsPersonHasHadEnough) {
  Card card;
  const Load load = card.load();
  const SteadyPower stopped = watch_power(card.source(), &load, {}, [] { return true; });
  EXPECT_THAT(stopped.failure, HasSubstr("stopped"));
  EXPECT_EQ(load.batches_done(), card.batches.size()) << "nothing is left on the card";
}

TEST(Energy, CountersAreThoseOfTheCatalogue) {
  const std::vector<std::string> asked =
      schema::Catalogue::get().counters_for(std::vector<std::string>{"energy_per_byte", "@energy"});
  std::size_t energies = 0;
  for (const std::string& name : asked) energies += is_energy_counter(name) ? 1 : 0;
  EXPECT_EQ(energies, 6U);
  EXPECT_FALSE(is_energy_counter("dram_read_bytes"));
  Card card;
  const schema::Counter read{"dram_read_bytes", 32, schema::Grade::measured, ""};
  const auto all = in_order(asked, {read}, card.energy());
  ASSERT_EQ(all.size(), asked.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].name, asked[i]);
    EXPECT_EQ(all[i].value.has_value(),
              asked[i] != "busy_temperature" && asked[i] != "dram_write_bytes")
        << asked[i];
  }
}

}  // namespace
}  // namespace warpmeter::cupti
