// SPDX-License-Identifier: MIT
// --best: which variants nothing beats, for each device by itself.
#include "reports/best.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "base/temporary.h"
#include "schema/catalogue.h"

namespace warpmeter::reports {
namespace {

/// A variant and what was counted of it.
struct Counted {
  std::string variant;
  double wavefronts, requests;
};

class Best : public testing::Test {
 protected:
  Best() : store_(path()), run_(store_.begin_run({.backend = "cupti"})) {}

  std::string path() const { return (folder_.path() / "a.db").string(); }

  void measure(int ordinal, const std::vector<Counted>& all, const std::string& ceiling = "") {
    schema::Device device;
    device.backend = "cupti";
    device.name = "NVIDIA H200";
    device.ordinal = ordinal;
    device.uuid = "GPU-" + std::to_string(ordinal);
    std::vector<schema::Launch> launches;
    for (const Counted& counted : all) {
      schema::Launch& launch = launches.emplace_back();
      launch.family = "mine";
      launch.variant = counted.variant;
      launch.is_ceiling = counted.variant == ceiling;
      launch.size = 64;
      launch.counters = {
          {"shared_load_wavefronts", counted.wavefronts, schema::Grade::measured, ""},
          {"shared_load_requests", counted.requests, schema::Grade::measured, ""}};
    }
    store_.add_launches(run_, store_.add_device(run_, device), launches);
  }

  struct Timed {
    std::string variant;
    double median_ns;
  };

  void time(const std::vector<Timed>& all) {
    schema::Device device;
    device.backend = "cupti";
    std::vector<schema::Launch> launches;
    for (const Timed& timed : all) {
      schema::Launch& made = launches.emplace_back();
      made.family = "mine";
      made.variant = timed.variant;
      made.size = 64;
      made.useful_bytes_read = 4096;
      made.useful_bytes_written = 4096;
      std::vector<double> samples;
      for (int i = -200; i <= 200; ++i) samples.push_back(timed.median_ns + 2 * i);
      made.timing = {std::move(samples), schema::CacheState::cold, 0.003, "confidence"};
    }
    store_.add_launches(run_, store_.add_device(run_, device), launches);
  }

  std::string best(const std::vector<std::string>& metrics) const {
    return render_csv(best_table(schema::Reader(path()), run_, metrics));
  }

  const TemporaryFolder folder_;
  schema::Store store_;
  const std::int64_t run_;
};

TEST_F(Best, OfOneDeviceAreNamedWithoutIt) {
  measure(0, {{"slow", 64, 2}, {"fast", 2, 2}});
  EXPECT_EQ(best({"shared_load_wavefronts"}),
            "family,size,variant,shared_load_wavefronts\nmine,64,fast,2\nmine,64,slow,64\n");
}

TEST_F(Best, LeaveTheCeilingOut) {
  measure(0, {{"copy", 1, 2}, {"slow", 64, 2}, {"fast", 2, 2}}, "copy");
  EXPECT_EQ(best({"shared_load_wavefronts"}),
            "family,size,variant,shared_load_wavefronts\nmine,64,fast,2\nmine,64,slow,64\n");
  EXPECT_EQ(best({"shared_load_wavefronts", "shared_load_requests"}),
            "family,size,variant,shared_load_wavefronts,shared_load_requests\nmine,64,fast,2,2\n");
}

TEST_F(Best, OfSeveralDevicesAreNamedWithThem) {
  measure(0, {{"slow", 64, 2}, {"fast", 2, 2}});
  measure(1, {{"slow", 8, 2}, {"fast", 4, 2}});
  EXPECT_EQ(best({"shared_load_wavefronts"}),
            "device,family,size,variant,shared_load_wavefronts\n"
            "NVIDIA H200 #0,mine,64,fast,2\n"
            "NVIDIA H200 #0,mine,64,slow,64\n"
            "NVIDIA H200 #1,mine,64,fast,4\n"
            "NVIDIA H200 #1,mine,64,slow,8\n");
}

TEST_F(Best, AtSeveralNamedSizesHaveAColumnForEach) {
  measure(0, {{"v[T=1](m=16,k=8)", 4, 1}, {"w(m=16,k=8)", 8, 1}, {"v[T=1](m=8,k=16)", 2, 1}});
  EXPECT_EQ(best({"shared_load_wavefronts"}),
            "family,size,m,k,variant,shared_load_wavefronts\n"
            "mine,64,8,16,\"v[T=1](m=8,k=16)\",2\n"
            "mine,64,16,8,\"v[T=1](m=16,k=8)\",4\n"
            "mine,64,16,8,\"w(m=16,k=8)\",8\n");
}

TEST_F(Best, BySeveralMetricsAreThoseThatNoOtherBeats) {
  measure(0, {{"a", 2, 4}, {"b", 4, 2}, {"beaten", 4, 4}});
  EXPECT_EQ(best({"shared_load_wavefronts", "shared_load_requests"}),
            "family,size,variant,shared_load_wavefronts,shared_load_requests\n"
            "mine,64,a,2,4\nmine,64,b,4,2\n");
}

TEST_F(Best, ByOneMetricAreFiveAndThoseEqualToTheFifth) {
  measure(
      0,
      {{"a", 1, 1}, {"b", 2, 1}, {"c", 3, 1}, {"d", 4, 1}, {"e", 5, 1}, {"f", 5, 1}, {"g", 6, 1}});
  const std::string table = best({"shared_load_wavefronts"});
  EXPECT_THAT(table, testing::HasSubstr("mine,64,f,5\n"));
  EXPECT_THAT(table, testing::Not(testing::HasSubstr("mine,64,g,6\n")));
}

TEST_F(Best, OfEqualValuesTheOneThatMovesLeastByAtomicsTooStandsFirst) {
  schema::Device device;
  device.backend = "model";
  std::vector<schema::Launch> launches;
  for (const auto& [variant, stores, reductions] :
       {std::tuple("atomics", 0, 669'014), std::tuple("stores", 1'536, 2'048)}) {
    schema::Launch& launch = launches.emplace_back();
    launch.family = "mine";
    launch.variant = variant;
    launch.size = 64;
    for (const schema::CounterInfo& counter : schema::Catalogue::get().counters()) {
      launch.counters.push_back({counter.name, 0, schema::Grade::exact, ""});
      if (counter.name == "global_store_sectors") launch.counters.back().value = stores;
      if (counter.name == "global_reduction_sectors") launch.counters.back().value = reductions;
    }
  }
  store_.add_launches(run_, store_.add_device(run_, device), launches);
  EXPECT_EQ(best({"global_load_sectors"}),
            "family,size,variant,global_load_sectors\nmine,64,stores,0\nmine,64,atomics,0\n");
}

TEST_F(Best, OfTimesAreAllThatOneRunCannotTellFromTheFirst) {
  // Samples fix each median to 0.3 %; from process to process it moves by some 50 ns.
  time({{"a", 5800}, {"b", 5850}, {"c", 5900}, {"d", 5890}, {"e", 5860}, {"f", 5880}, {"g", 6300}});
  const Table table = best_table(schema::Reader(path()), run_, {"duration"});
  EXPECT_TRUE(has_as_good(table));
  const std::string text = render_text(table);
  EXPECT_THAT(text, testing::ContainsRegex("64 +a +.*★"));
  for (const char* variant : {"b", "c", "d", "e", "f"}) {
    EXPECT_THAT(text, testing::ContainsRegex(std::string("64 +") + variant + " +.*≈")) << text;
  }
  EXPECT_THAT(text, testing::Not(testing::HasSubstr(" g ")));
  // A figure of a time is known no better than the time.
  EXPECT_TRUE(has_as_good(best_table(schema::Reader(path()), run_, {"achieved_bandwidth"})));
}

TEST_F(Best, OfTimesFarApartNobodyIsAsGood) {
  time({{"a", 5800}, {"g", 6300}});
  EXPECT_FALSE(has_as_good(best_table(schema::Reader(path()), run_, {"duration"})));
  measure(1, {{"slow", 64, 2}, {"fast", 2, 2}});
  EXPECT_FALSE(has_as_good(best_table(schema::Reader(path()), run_, {"shared_load_wavefronts"})));
}

TEST_F(Best, WhatHasNoValueIsLeftOut) {
  measure(0, {{"a", 1, 1}});
  EXPECT_EQ(best({"duration"}), "family,size,variant,duration\n");
}

}  // namespace
}  // namespace warpmeter::reports
