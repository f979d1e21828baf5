// SPDX-License-Identifier: MIT
// The model against what an H200 answered for the kernels of tests/device/model, which
// tests/device/model_check.sh recorded: outputs, and every value that the model calls exact.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "collector/model/session/backend.h"
#include "schema/catalogue.h"
#include "tests/csv.h"
#include "tests/device/model/agreement.h"
#include "tests/paths.h"

namespace warpmeter::agreement {
namespace {

using Row = std::map<std::string, std::string>;

/// By kernel.
const std::map<std::string, Row>& golden() {
  static const std::map<std::string, Row> rows = [] {
    std::ifstream file(source_dir() + "/tests/golden/h200_model_kernels.csv");
    std::map<std::string, Row> all;
    for (const Row& row : csv_rows(file)) all[row.at("kernel")] = row;
    return all;
  }();
  return rows;
}

const Answer& model_answer(const Case& which) {
  static std::map<std::string_view, Answer> answers;
  const auto known = answers.find(which.entry);
  if (known != answers.end()) return known->second;
  static const auto backend = [] {
    auto opened = model::open();
    opened->select(counter_names());
    return opened;
  }();
  return answers[which.entry] = ask(*backend, which);
}

class Agreement : public testing::TestWithParam<Case> {};

TEST_P(Agreement, IsWhatTheHardwareAnswered) {
  const Case& which = GetParam();
  ASSERT_TRUE(golden().contains(std::string(which.entry))) << "run tests/device/model_check.sh";
  const Row& row = golden().at(std::string(which.entry));
  const Answer& answer = model_answer(which);
  ASSERT_EQ(answer.failure, "");
  EXPECT_EQ(checksum(which, answer), std::stoull(row.at("checksum"), nullptr, 16)) << "outputs";
  for (const std::string& name : counter_names()) {
    const schema::Counter& counter = answer.counters.at(name);
    ASSERT_TRUE(counter.value) << name << ": " << counter.reason;
    if (counter.grade != schema::Grade::exact) {
      EXPECT_NE(counter.reason, "") << name;
      continue;
    }
    // The hardware adds the bytes that generic accesses move elsewhere.
    if (which.entry.starts_with("generic_") && name.ends_with("_bytes")) {
      EXPECT_LE(*counter.value, std::stod(row.at(name))) << name;
      continue;
    }
    EXPECT_EQ(*counter.value, std::stod(row.at(name))) << name;
  }
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return std::string(info.param.entry);
}

INSTANTIATE_TEST_SUITE_P(H200, Agreement, testing::ValuesIn(cases().begin(), cases().end()),
                         name_of);

TEST(AgreementAsAWhole, AlmostEveryValueIsExact) {
  EXPECT_GE(cases().size(), 40u);
  EXPECT_EQ(golden().size(), cases().size());
  int values = 0, exact = 0;
  for (const Case& which : cases()) {
    for (const auto& [name, counter] : model_answer(which).counters) {
      if (name.ends_with("_instructions")) continue;  // steps_test.cpp
      ++values;
      exact += counter.grade == schema::Grade::exact;
    }
  }
  EXPECT_GE(exact, 0.95 * values) << exact << " of " << values;
}

}  // namespace
}  // namespace warpmeter::agreement
