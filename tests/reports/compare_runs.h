// SPDX-License-Identifier: MIT
// Runs for the tests of comparisons and gates: a few words make a run with times and counters.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "reports/compare/compare.h"
#include "schema/records.h"
#include "schema/store.h"
#include "tests/reports/runs.h"

namespace warpmeter::reports {

/// `count` readings around `median_ns`, different for each seed.
inline std::vector<double> readings(unsigned seed, double median_ns, double deviation_ns,
                                    std::size_t count = 40) {
  std::mt19937 random(seed);
  std::normal_distribution<double> distribution(median_ns, deviation_ns);
  std::vector<double> values(count);
  for (double& value : values) value = distribution(random);
  return values;
}

inline schema::Launch launch(const std::string& variant, std::vector<double> samples_ns,
                             const std::string& family = "transpose") {
  schema::Launch made;
  made.family = family;
  made.variant = variant;
  made.size = 1024;
  made.kernel = family + "_" + variant;
  made.grid[0] = made.grid[1] = 64;
  made.block[0] = made.block[1] = 16;
  made.verified = true;
  if (samples_ns.empty()) {
    made.timing_reason = "timing was not asked for";
  } else {
    made.timing =
        schema::Timing{std::move(samples_ns), schema::CacheState::cold, 0.004, "confidence"};
  }
  return made;
}

inline void count(schema::Launch& launch, const std::string& counter, double value,
                  schema::Grade grade = schema::Grade::measured) {
  launch.counters.push_back({counter, value, grade, ""});
}

struct Circumstances {
  std::string label = "", backend = "cupti", device = "NVIDIA H200", throttled = "";
  std::string uuid = "GPU-1", driver = "580.65.06";
  double sm_clock_mhz = 1980;
  std::vector<schema::Disturbance> disturbances = {};
};

/// Another process that computed on the card.
inline schema::Disturbance neighbour(const std::string& name = "python3") {
  return {"process", true, name + " (process 490) computed on the card (88 % busy)", 490, name, 774,
          88,        ""};
}

inline std::int64_t add_run(schema::Store& store, const std::vector<schema::Launch>& launches,
                            const Circumstances& where = {}) {
  schema::Run run;
  run.backend = where.backend;
  run.label = where.label;
  run.host = "lab3";
  const std::int64_t id = store.begin_run(run);
  schema::Device device;
  device.backend = where.backend;
  device.name = where.device;
  device.uuid = where.uuid;
  device.driver = where.driver;
  const std::int64_t device_id = store.add_device(id, device);
  schema::DeviceState state;
  state.phase = "after";
  state.sm_clock_mhz = where.sm_clock_mhz;
  state.throttle_reasons = where.throttled;
  state.disturbances = where.disturbances;
  store.add_state(id, device_id, state);
  store.add_launches(id, device_id, launches);
  store.end_run(id, schema::RunOutcome::done, "");
  return id;
}

class CompareTest : public testing::Test {
 protected:
  CompareTest() : store_(database_.path()) {}

  Comparison compared(const CompareRequest& request = {}) const {
    return compare(schema::Reader(database_.path()), request);
  }
  /// Two runs of one launch each.
  Comparison times(std::vector<double> base, std::vector<double> contender,
                   const Circumstances& before = {}, const Circumstances& after = {}) {
    add_run(store_, {launch("naive", std::move(base))}, before);
    add_run(store_, {launch("naive", std::move(contender))}, after);
    return compared();
  }
  void expect_error(const CompareRequest& request, ExitCode code, const std::string& text) const {
    try {
      compared(request);
      FAIL() << "no error says: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_THAT(error.what(), testing::HasSubstr(text));
    }
  }

  TemporaryDatabase database_;
  schema::Store store_;
};

}  // namespace warpmeter::reports
