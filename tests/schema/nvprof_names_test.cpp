// SPDX-License-Identifier: MIT
#include "schema/nvprof_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "schema/catalogue.h"

namespace warpmeter::schema {
namespace {

bool is_in_catalogue(std::string_view name) {
  return Catalogue::get().find_metric(name) != nullptr ||
         Catalogue::get().find_counter(name) != nullptr;
}

std::ptrdiff_t count(bool is_event, bool is_answered) {
  const auto names = nvprof_names();
  return std::count_if(names.begin(), names.end(), [&](const NvprofName& name) {
    return name.is_event == is_event && name.answer.empty() != is_answered;
  });
}

/// NVIDIA's guide has 181 metrics and 82 events; seven more metrics are in nvprof_names.h.
TEST(NvprofNames, HoldsNvidiasTables) {
  EXPECT_EQ(count(false, true) + count(false, false), 181 + 7);
  EXPECT_EQ(count(true, true) + count(true, false), 82);
  for (const char* name : {"achieved_occupancy", "warp_nonpred_execution_efficiency",
                           "tensor_precision_int_utilization", "ecc_throughput"}) {
    EXPECT_NE(find_nvprof_name(name, false), nullptr) << name;
  }
  EXPECT_NE(find_nvprof_name("inst_executed", true), nullptr);
  EXPECT_EQ(find_nvprof_name("active_cycles", false), nullptr);
}

TEST(NvprofNames, RefusesFifteenMetricsAndTenEvents) {
  EXPECT_EQ(count(false, false), 15);
  EXPECT_EQ(count(true, false), 10);
}

TEST(NvprofNames, NamesEachOnce) {
  std::set<std::pair<bool, std::string>> seen;
  for (const NvprofName& name : nvprof_names()) {
    EXPECT_TRUE(seen.insert({name.is_event, name.name}).second) << name.name;
  }
}

TEST(NvprofNames, LeadsToTheCatalogueOrSaysWhyNot) {
  for (const NvprofName& name : nvprof_names()) {
    EXPECT_FALSE(name.description.empty()) << name.name;
    EXPECT_EQ(name.answer.empty(), !name.reason.empty()) << name.name;
    EXPECT_TRUE(is_in_catalogue(name.answer.empty() ? name.instead : name.answer)) << name.name;
    const bool is_own = is_in_catalogue(name.name) && !name.is_event;
    if (is_own) EXPECT_EQ(name.answer, name.name);
  }
}

TEST(NvprofNames, CanBeAskedForByName) {
  for (const NvprofName& name : nvprof_names()) {
    const std::vector<std::string> request = {name.name};
    // A name may be a metric's that is refused and an event's that is not.
    const NvprofName* other = find_nvprof_name(name.name, !name.is_event);
    if (!name.answer.empty() || (other != nullptr && !other->answer.empty())) {
      EXPECT_FALSE(Catalogue::get().counters_for(request).empty()) << name.name;
      continue;
    }
    try {
      Catalogue::get().counters_for(request);
      ADD_FAILURE() << name.name << " is not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("ask for " + name.instead + " instead"));
    }
  }
}

TEST(NvprofNames, ScalesToNvprofsUnits) {
  for (const NvprofName& name : nvprof_names()) {
    if (name.answer.empty()) continue;
    const MetricInfo* metric = Catalogue::get().find_metric(name.answer);
    const std::string unit =
        metric != nullptr ? metric->unit : Catalogue::get().find_counter(name.answer)->unit;
    if (name.form == NvprofForm::bytes_per_second) {
      EXPECT_EQ(unit, "GB/s") << name.name;
      EXPECT_EQ(name.scale, 1e9) << name.name;
    } else if (name.form == NvprofForm::percent || name.form == NvprofForm::level) {
      EXPECT_EQ(unit, "%") << name.name;
      EXPECT_EQ(name.scale, 1) << name.name;
    } else if (name.name != "achieved_occupancy") {  // nvprof: 0 to 1
      EXPECT_NE(unit, "%") << name.name;
      EXPECT_EQ(name.scale, 1) << name.name;
    }
  }
}

/// A flag in the catalogue, for nobody to have to look in two places.
TEST(NvprofNames, AreMarkedInTheCatalogue) {
  const auto is_known = [](std::string_view name) {
    return find_nvprof_name(name, false) != nullptr || find_nvprof_name(name, true) != nullptr;
  };
  for (const CounterInfo& counter : Catalogue::get().counters()) {
    if (counter.nvprof) EXPECT_TRUE(is_known(counter.name)) << counter.name;
    if (find_nvprof_name(counter.name, false) != nullptr) EXPECT_TRUE(counter.nvprof);
  }
  for (const MetricInfo& metric : Catalogue::get().metrics()) {
    EXPECT_EQ(metric.nvprof, is_known(metric.name)) << metric.name;
  }
}

TEST(NvprofNames, AreSets) {
  const SetInfo* metrics = Catalogue::get().find_set("nvprof");
  const SetInfo* events = Catalogue::get().find_set("nvprof_events");
  ASSERT_NE(metrics, nullptr);
  ASSERT_NE(events, nullptr);
  for (const NvprofName& name : nvprof_names()) {
    if (name.answer.empty()) continue;
    EXPECT_THAT((name.is_event ? events : metrics)->metrics, ::testing::Contains(name.answer));
  }
}

}  // namespace
}  // namespace warpmeter::schema
