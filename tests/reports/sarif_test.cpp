// SPDX-License-Identifier: MIT
// SARIF's parts that its schema does not check: places, addresses, levels. sarif_test.py checks the
// whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "reports/gates/check.h"
#include "reports/gates/places.h"
#include "reports/sarif.h"
#include "tests/reports/runs.h"

namespace warpmeter::reports {
namespace {

using schema::Grade;
using testing::HasSubstr;

TEST(Sarif, NamesFilesFromTheFolderAndOthersByTheirWholeAddress) {
  const struct {
    const char *file, *uri;
    bool is_in_folder;
  } cases[] = {{"a.cu", "a.cu", true},
               {"/no/such/folder/kernels/a b.cu", "kernels/a%20b.cu", true},
               {"./kernels/../a.cu", "a.cu", true},
               {"<cell 1>", "%3Ccell%201%3E", true},
               {"../a.cu", "file:///no/such/a.cu", false},
               {"/no/such/folder2/a.cu", "file:///no/such/folder2/a.cu", false}};
  for (const auto& [file, uri, is_in_folder] : cases) {
    const SarifAddress address = sarif_address(file, "/no/such/folder");
    EXPECT_EQ(address.uri, uri);
    EXPECT_EQ(address.is_in_folder, is_in_folder) << file;
  }
}

TEST(Sarif, LinksToRelatedPlacesAndToNothingElse) {
  SarifLog log;
  log.rules = {{"race", "Accesses are ordered.", "Order them."}};
  log.results = {{"race",
                  SarifLevel::error,
                  "writes a[0](1)",
                  "k",
                  {"a.cu", 4, ""},
                  {{"a.cu", 9, "line 9"}, {"b.h", 2, "line 2"}}}};
  const auto result = nlohmann::json::parse(render_sarif(log))["runs"][0]["results"][0];
  EXPECT_EQ(result["message"]["text"], "writes a[0] (1) (see [line 9](1), [line 2](2))");
  EXPECT_EQ(result["relatedLocations"][1]["id"], 2);
  EXPECT_EQ(result["relatedLocations"][1]["physicalLocation"]["region"]["startLine"], 2);
}

TEST(KernelLine, IsThatOfTheDeclarationsName) {
  const struct {
    const char *source, *name;
    std::int64_t line;
  } cases[] = {
      {"// __global__ void k()\n__global__ void k(float* a) {}\n", "k", 2},
      {"template <class T>\n__global__ __launch_bounds__(256)\nvoid k(T* a) {}\n", "k", 3},
      {"__device__ float f();\n__global__ void other() { f(); }\nint f() {}\n", "f", 0},
      {"/* \" */ const char* s = \"__global__ void k(\";\n__global__ void k ();\n", "k", 2},
      {"__global__ void a() {}\nvoid k() { a<<<1, 1>>>(); }\n", "k", 0},
      {"@triton.jit\ndef add(x):\n  pass\n", "add", 2},
      {"def add_all(x):\n  return add(x)\n", "add", 0},
      {"", "k", 0},
      {"__global__", "__global__", 0}};
  for (const auto& [source, name, line] : cases) {
    EXPECT_EQ(kernel_line(source, name), line) << source;
  }
}

class SarifOfGates : public testing::Test {
 protected:
  SarifOfGates() : store_(database_.path()) {
    run_ = store_.begin_run({});
    schema::Device device;
    device.backend = "model";
    device.name = "model sm_90";
    schema::Launch launch;
    launch.family = "app";
    launch.variant = "turn";
    launch.kernel = "_Z4turnPf";
    launch.counters = {{"shared_load_wavefronts", 64, Grade::exact, ""},
                       {"shared_load_requests", 2, Grade::exact, ""}};
    launch.lines = {{"turn.cu", 5, "…", "shared load", 2, 64, 2, Grade::exact}};
    store_.add_launch(run_, store_.add_device(run_, device), launch);
    store_.add_sources(run_, std::vector<std::pair<std::string, std::string>>{
                                 {"turn.cu", "\n\n__global__ void turn(float* a) {\n"}});
    store_.end_run(run_, schema::RunOutcome::done, "");
  }

  nlohmann::json rendered(const char* gate) const {
    CheckRequest request;
    request.run = run_;
    request.gates.push_back(parse_gate(gate));
    Check result = check(schema::Reader(database_.path()), request);
    result.database = "warpmeter.db";
    const std::string text = render(result, CheckFormat::sarif);
    EXPECT_EQ(text, render(result, CheckFormat::sarif));
    return nlohmann::json::parse(text)["runs"][0];
  }

  TemporaryDatabase database_;
  schema::Store store_;
  std::int64_t run_ = 0;
};

// 64 wavefronts in 2 requests: 32 a request.
TEST_F(SarifOfGates, ABrokenGateIsAnErrorAtTheCostliestLineAndNamesTheKernels) {
  const auto run = rendered("shared_load_transactions_per_request <= 1");
  ASSERT_EQ(run["results"].size(), 1U);
  const auto& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "gate/shared_load_transactions_per_request");
  EXPECT_EQ(result["level"], "error");
  EXPECT_THAT(result["message"]["text"].get<std::string>(), HasSubstr("it is 32, +31 (+3,100 %)"));
  const auto& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "turn.cu");
  EXPECT_EQ(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
  EXPECT_EQ(place["region"]["startLine"], 5);
  EXPECT_EQ(result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], "app/turn");
  EXPECT_EQ(result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 3);
}

/// The kernel is named after the shared loads; the gate is about the global ones, of line 4.
TEST_F(SarifOfGates, ThePlaceIsThatOfTheMetricsAccessWhateverTheSelectorNames) {
  run_ = store_.begin_run({});
  schema::Device device;
  device.backend = "model";
  schema::Launch launch;
  launch.family = "app";
  launch.variant = "shared_load_copy";
  launch.kernel = "_Z16shared_load_copyPf";
  launch.counters = {{"global_load_sectors", 64, Grade::exact, ""},
                     {"global_load_requests", 2, Grade::exact, ""}};
  launch.lines = {{"turn.cu", 4, "…", "global load", 2, 64, 8, Grade::exact},
                  {"turn.cu", 5, "…", "shared load", 2, 64, 2, Grade::exact}};
  store_.add_launch(run_, store_.add_device(run_, device), launch);
  store_.end_run(run_, schema::RunOutcome::done, "");
  const auto result =
      rendered("app/shared_load_copy: gld_transactions_per_request <= 4")["results"][0];
  EXPECT_EQ(result["level"], "error");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"]["startLine"], 4);
}

TEST_F(SarifOfGates, AGateThatHoldsHasARuleAndNoResult) {
  const auto run = rendered("shared_load_transactions_per_request <= 32");
  EXPECT_EQ(run["results"], nlohmann::json::array());
  EXPECT_EQ(run["tool"]["driver"]["rules"].size(), 1U);
  EXPECT_EQ(run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"],
            "1 of 1 check on run 1 on model sm_90 holds.");
}

TEST_F(SarifOfGates, AGateThatCannotBeJudgedIsAWarning) {
  const auto missing = rendered("duration <= 1")["results"][0];
  EXPECT_EQ(missing["ruleId"], "inconclusive");
  EXPECT_EQ(missing["level"], "warning");
  EXPECT_EQ(missing["locations"][0]["physicalLocation"]["region"]["startLine"], 3);
  const auto unmatched = rendered("other/*: duration <= 1")["results"][0];
  EXPECT_EQ(unmatched["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "warpmeter.db");
}

}  // namespace
}  // namespace warpmeter::reports
