// SPDX-License-Identifier: MIT
// The invariants of invariants.h over every corpus of kernels that the tests have: the catalogue's
// families, the kernels that an H200 ran beside the model, and the access patterns measured there.
// run_ptx.h holds each kernel of the other tests to them, and corpus_test.cpp those of --check.
#include "tests/collector/model/invariants.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "collector/family/catalogue.h"
#include "collector/model/counts/rules/measured_access.h"
#include "collector/model/session/backend.h"
#include "tests/device/model/agreement.h"
#include "tests/paths.h"

namespace warpmeter::model {
namespace {

struct Counted {
  std::string name;
  CountedValues values;
  std::vector<schema::Line> lines;
};

Counted count(run::Backend& backend, const std::string& name, const kernels::Problem& problem,
              const run::Launch& launch) {
  const auto workload = backend.load(problem);
  const run::Execution execution = workload->execute(launch);
  EXPECT_EQ(execution.failure, "") << name;
  Counted counted{name, {}, {}};
  if (!execution.failure.empty()) return counted;
  const auto counters = workload->count({&launch, 1});
  for (const schema::Counter& counter : counters.at(0)) {
    if (counter.value) counted.values[counter.name] = *counter.value;
  }
  counted.lines = workload->lines(launch);
  return counted;
}

/// Each variant of each family at its smallest size, and each kernel of the agreement.
const std::vector<Counted>& corpus() {
  static const std::vector<Counted> all = [] {
    const auto backend = open();
    std::vector<std::string> names;
    for (const std::string_view name : counter_list()) names.emplace_back(name);
    backend->select(names);
    std::vector<Counted> counted;
    for (const kernels::Family* family : family::catalogue()) {
      const std::int64_t size = family->sizes.empty() ? 0 : family->sizes.front();
      const kernels::Problem problem = family->prepare(size);
      for (const kernels::Variant& variant : family->variants) {
        if (!variant.library.empty()) continue;  // cuBLAS, which the model does not execute
        counted.push_back(
            count(*backend, std::string(variant.entry), problem,
                  {variant.image, std::string(variant.entry), variant.geometry(size)}));
      }
    }
    for (const agreement::Case& which : agreement::cases()) {
      counted.push_back(count(*backend, std::string(which.entry), which.problem(),
                              {which.image, std::string(which.entry), which.geometry}));
    }
    return counted;
  }();
  return all;
}

TEST(Invariants, NoEfficiencyIsAboveAHundred) {
  ASSERT_GT(corpus().size(), 80u);
  for (const Counted& kernel : corpus()) {
    SCOPED_TRACE(kernel.name);
    expect_bytes_fit(kernel.values);
  }
}

TEST(Invariants, RequestsAreNotMoreThanTheirTransactions) {
  for (const Counted& kernel : corpus()) {
    SCOPED_TRACE(kernel.name);
    expect_requests_fit(kernel.values);
  }
}

TEST(Invariants, LinesAddUpToTheirLaunch) {
  for (const Counted& kernel : corpus()) {
    SCOPED_TRACE(kernel.name);
    expect_lines_add_up(kernel.values, kernel.lines);
  }
}

TEST(Invariants, HoldForEveryMeasuredAccess) {
  std::ifstream file(source_dir() + "/tests/golden/access_patterns/sm_90.csv");
  const std::vector<MeasuredAccess> rows = read_measured(file);
  ASSERT_GT(rows.size(), 1000u);
  for (const MeasuredAccess& row : rows) {
    SCOPED_TRACE(row.name);
    const Cost cost = cost_of(row);
    EXPECT_GE(cost.transactions, 1u);
    EXPECT_LE(cost.ideal, cost.transactions);
    EXPECT_LE(cost.bytes, sector_bytes * cost.transactions);
  }
}

}  // namespace
}  // namespace warpmeter::model
