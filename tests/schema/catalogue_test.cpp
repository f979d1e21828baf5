// SPDX-License-Identifier: MIT
#include "schema/catalogue.h"
#include "base/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace warpmeter::schema {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Catalogue& catalogue() { return Catalogue::get(); }

std::vector<std::string> counters_for(const std::vector<std::string>& names) {
  return catalogue().counters_for(names);
}

std::string usage_error_of(const std::vector<std::string>& names) {
  try {
    counters_for(names);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(Catalogue, NamesEachCounterMetricAndSetOnce) {
  std::set<std::string> names;
  for (const CounterInfo& counter : catalogue().counters()) {
    EXPECT_TRUE(names.insert(counter.name).second) << counter.name;
  }
  for (const MetricInfo& metric : catalogue().metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
  }
  for (const SetInfo& set : catalogue().sets()) {
    EXPECT_TRUE(names.insert("@" + set.name).second) << set.name;
  }
}

TEST(Catalogue, SaysInASentenceWhatEachEntryIs) {
  for (const CounterInfo& counter : catalogue().counters()) {
    EXPECT_FALSE(counter.unit.empty()) << counter.name;
    EXPECT_EQ(counter.description.back(), '.') << counter.name;
  }
  for (const MetricInfo& metric : catalogue().metrics()) {
    EXPECT_FALSE(metric.unit.empty()) << metric.name;
    EXPECT_FALSE(metric.heading.empty()) << metric.name;
    EXPECT_EQ(metric.description.back(), '.') << metric.name;
    EXPECT_EQ(metric.denominator.empty(), metric.undefined.empty()) << metric.name;
  }
}

TEST(Catalogue, WritesPerfWorksNamesInFull) {
  std::set<std::string> names;
  for (const CounterInfo& counter : catalogue().counters()) {
    EXPECT_NE(counter.is_on_hardware(), !counter.lacking.empty()) << counter.name;
    std::vector<std::string> all = counter.perfworks_else;
    if (!counter.perfworks.empty()) all.push_back(counter.perfworks);
    for (const std::string& name : all) {
      EXPECT_THAT(name, AllOf(HasSubstr("__"), HasSubstr("."))) << counter.name;
      EXPECT_TRUE(names.insert(name).second) << name;
    }
  }
}

TEST(Catalogue, NeedsTenCountersThoseOfAtomicsMatricesAndCopiesAndADurationByDefault) {
  EXPECT_THAT(
      counters_for({"@default"}),
      ElementsAre(
          "shared_load_wavefronts", "shared_load_requests", "shared_store_wavefronts",
          "shared_store_requests", "shared_matrix_load_wavefronts", "shared_matrix_load_requests",
          "shared_matrix_store_wavefronts", "shared_matrix_store_requests",
          "shared_wgmma_wavefronts", "shared_wgmma_requests", "global_load_sectors",
          "global_load_requests", "global_load_bytes", "global_store_sectors",
          "global_store_requests", "global_store_bytes", "shared_atomic_wavefronts",
          "shared_atomic_requests", "global_atomic_sectors", "global_atomic_requests",
          "global_reduction_sectors", "global_reduction_requests", "duration_profiled",
          "async_copy_requests", "async_copy_sectors", "async_copy_wavefronts",
          "bulk_load_requests", "bulk_store_requests", "bulk_reduction_requests", "bulk_load_bytes",
          "bulk_store_bytes", "bulk_reduction_bytes", "distributed_shared_load_requests",
          "distributed_shared_store_requests", "distributed_shared_atomic_requests",
          "distributed_shared_async_store_requests", "distributed_shared_async_reduction_requests",
          "distributed_shared_bulk_store_requests", "distributed_shared_bulk_reduction_requests"));
}

TEST(Catalogue, GivesCountersOnceInItsOwnOrder) {
  EXPECT_THAT(counters_for({"gld_efficiency", "shared_load_requests", "gld_transactions",
                            "shared_load_transactions_per_request"}),
              ElementsAre("shared_load_wavefronts", "shared_load_requests", "global_load_sectors",
                          "global_load_bytes"));
}

TEST(Catalogue, PassesPerfWorksNamesThroughAfterItsOwn) {
  EXPECT_THAT(counters_for({"l1tex__t_bytes.sum", "gld_transactions", "l1tex__t_bytes.sum"}),
              ElementsAre("global_load_sectors", "l1tex__t_bytes.sum"));
}

TEST(Catalogue, NeedsNoCounterForWhatTheTimingSays) {
  EXPECT_THAT(counters_for({"duration", "achieved_bandwidth"}), IsEmpty());
}

TEST(Catalogue, HasEverythingInAll) {
  std::vector<std::string> all;
  for (const CounterInfo& counter : catalogue().counters()) all.push_back(counter.name);
  EXPECT_EQ(counters_for({"@all"}), all);
}

TEST(Catalogue, ContainsTheSmallerSetsInMemory) {
  const std::vector<std::string> memory = counters_for({"@memory"});
  for (const std::string& counter : counters_for({"@shared", "@global"})) {
    EXPECT_THAT(memory, ::testing::Contains(counter));
  }
}

TEST(Catalogue, SuggestsTheNearestMetric) {
  EXPECT_THAT(usage_error_of({"gld_eficiency"}),
              AllOf(HasSubstr("there is no metric 'gld_eficiency'"),
                    HasSubstr("did you mean gld_efficiency")));
}

/// Spelling alone leads from L2 to global loads, and from a full word to none.
TEST(Catalogue, SuggestsByMeaningBeforeSpelling) {
  const std::pair<const char*, const char*> cases[] = {
      {"l2_read_througput", "; did you mean l2_read_throughput"},
      {"l2_load_throughput", "; did you mean l2_read_throughput"},
      {"global_load_efficiency", "; did you mean gld_efficiency"},
      {"smem_ld_throughput", "; did you mean shared_load_throughput"},
      {"dram_read_bandwidth", "; did you mean dram_read_throughput"},
  };
  for (const auto& [name, suggestion] : cases) {
    EXPECT_THAT(catalogue().suggestion(name), ::testing::StartsWith(suggestion)) << name;
  }
  EXPECT_EQ(catalogue().suggestion("l2_load_throughput").find("gld"), std::string::npos);
}

TEST(Catalogue, TranslatesNvprofsNames) {
  EXPECT_EQ(catalogue().own_name("warps_launched"), "unique_warps_launched");
  EXPECT_EQ(catalogue().own_name("gld_transactions"), "gld_transactions");
  EXPECT_EQ(catalogue().own_name("cf_issued"), "cf_issued");
  EXPECT_THAT(counters_for({"warps_launched"}), ElementsAre("unique_warps_launched"));
}

TEST(Catalogue, RefusesANameThatNoCounterHoldsWithWhatToAskInstead) {
  EXPECT_EQ(usage_error_of({"cf_issued"}),
            "nvprof's cf_issued is not measured: since Volta an instruction is issued once, and no "
            "counter holds the issued ones by kind; ask for cf_executed instead");
  EXPECT_THAT(usage_error_of({"prof_trigger_03"}), HasSubstr("__prof_trigger"));
}

TEST(Catalogue, SuggestsTheNearestSet) {
  EXPECT_THAT(usage_error_of({"@defualt"}),
              AllOf(HasSubstr("'@defualt'"), HasSubstr("did you mean @default?")));
}

TEST(Catalogue, SuggestsTheSetWhoseSignIsMissing) {
  EXPECT_THAT(usage_error_of({"default"}),
              HasSubstr("no metric 'default'; did you mean @default?"));
}

TEST(Catalogue, RefusesAnEmptyName) {
  EXPECT_THAT(usage_error_of({""}), HasSubstr("there is no metric ''"));
}

TEST(Catalogue, CountsAFusedMultiplyAddTwice) {
  const MetricInfo* metric = catalogue().find_metric("flop_count_sp");
  ASSERT_NE(metric, nullptr);
  for (const Term& term : metric->numerator) {
    EXPECT_EQ(term.factor, term.name == "flop_sp_fma" ? 2 : 1);
  }
}

TEST(Catalogue, KeepsNvprofsNames) {
  for (const char* name : {"shared_load_transactions_per_request", "gld_efficiency",
                           "inst_executed", "flop_count_dp", "stall_sync"}) {
    ASSERT_NE(catalogue().find_metric(name), nullptr) << name;
    EXPECT_TRUE(catalogue().find_metric(name)->nvprof) << name;
  }
  EXPECT_TRUE(catalogue().find_counter("achieved_occupancy")->nvprof);
  EXPECT_FALSE(catalogue().find_metric("duration")->nvprof);
}

const std::vector<std::string> fruit = {"apple", "apricot", "banana", "blood orange", "orange"};

TEST(Nearest, FindsNamesAFewEditsAway) {
  EXPECT_THAT(nearest("aple", fruit), ElementsAre("apple"));
  EXPECT_THAT(nearest("banaan", fruit), ElementsAre("banana"));
}

TEST(Nearest, FindsNamesThatContainIt) {
  EXPECT_THAT(nearest("oran", fruit), ElementsAre("orange", "blood orange"));
}

TEST(Nearest, IgnoresCase) { EXPECT_THAT(nearest("APPLE", fruit), ElementsAre("apple")); }

TEST(Nearest, FindsNothingInStrangeNames) {
  EXPECT_THAT(nearest("xyzzy", fruit), IsEmpty());
  EXPECT_THAT(nearest("", fruit), IsEmpty());
  EXPECT_THAT(nearest("apple", {}), IsEmpty());
}

TEST(Nearest, GivesThreeAtMost) {
  const std::vector<std::string> many = {"aa1", "aa2", "aa3", "aa4"};
  EXPECT_THAT(nearest("aa5", many), ElementsAre("aa1", "aa2", "aa3"));
}

TEST(DidYouMean, JoinsNamesAsAPersonWould) {
  EXPECT_EQ(did_you_mean("xyzzy", fruit), "");
  EXPECT_EQ(did_you_mean("aple", fruit), "; did you mean apple?");
  EXPECT_EQ(did_you_mean("oran", fruit), "; did you mean orange or blood orange?");
  const std::vector<std::string> many = {"aa1", "aa2", "aa3"};
  EXPECT_EQ(did_you_mean("aa4", many), "; did you mean aa1, aa2 or aa3?");
}

}  // namespace
}  // namespace warpmeter::schema
