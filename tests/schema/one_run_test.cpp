// SPDX-License-Identifier: MIT
// The runs of a job's tasks as one run.
#include "schema/merge/one_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "schema/store.h"
#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void store_part(const std::string& path, std::vector<std::string> variants, bool fails = false,
                RunOutcome outcome = RunOutcome::done) {
  Store store(path);
  const std::int64_t run = store.begin_run(example_run("nightly"));
  const std::int64_t device = store.add_device(run, example_device());
  for (const char* phase : {"before", "after"}) {
    DeviceState state;
    state.phase = phase;
    state.disturbances = {{"process", true, variants.front() + " was there", 7, "x", {}, {}, ""},
                          {"MIG", false, "an instance", 0, "", {}, {}, ""}};
    store.add_state(run, device, state);
  }
  for (const std::string& variant : variants) {
    Launch launch = example_launch();
    launch.variant = variant;
    if (fails) launch.outcome = LaunchOutcome::failed;
    store.add_launch(run, device, launch);
  }
  store.end_run(run, fails ? RunOutcome::failed : outcome, "");
}

class OneRun : public ::testing::Test {
 protected:
  Folder folder;
  std::string path = folder / "merged.db";
};

TEST_F(OneRun, HasTheLaunchesOfAllParts) {
  store_part(path, {"a", "b"});
  store_part(path, {"c"});
  const std::int64_t run = make_one_run(path, "warpmeter run tune.yaml", 3);
  EXPECT_THAT(lines_of(path, "SELECT run_id, command, label, launches, outcome FROM runs"),
              ElementsAre(std::to_string(run) + "|warpmeter run tune.yaml|nightly|3|done"));
  EXPECT_THAT(lines_of(path, "SELECT DISTINCT variant FROM results ORDER BY 1"),
              ElementsAre("a", "b", "c"));
  EXPECT_THAT(lines_of(path, "SELECT phase FROM device_states ORDER BY 1"),
              ElementsAre("after", "before"));
  EXPECT_THAT(lines_of(path, "SELECT phase, coalesce(what, '') FROM disturbances ORDER BY 1, 2"),
              ElementsAre("after|a was there", "after|an instance", "after|c was there",
                          "before|a was there", "before|an instance", "before|c was there"));
  EXPECT_TRUE(lines_of(path, "PRAGMA foreign_key_check").empty());
}

TEST_F(OneRun, IsUnfinishedWhilePartsAreMissing) {
  store_part(path, {"a"});
  make_one_run(path, "x", 3);
  EXPECT_THAT(lines_of(path, "SELECT outcome, reason, planned_launches >= 3 FROM runs"),
              ElementsAre("interrupted|1 of 3 launches were measured|1"));
}

TEST_F(OneRun, FailsWhereALaunchFailed) {
  store_part(path, {"a"});
  store_part(path, {"b"}, true);
  make_one_run(path, "x", 2);
  EXPECT_THAT(lines_of(path, "SELECT outcome, reason FROM runs"),
              ElementsAre("failed|1 of 2 launches failed"));
}

TEST_F(OneRun, CountsRepetitionsAsLaunchesAreCountedEverywhere) {
  for (const char* variant : {"a", "b"}) store_part(path, {variant, variant, variant});
  make_one_run(path, "x", 3);
  EXPECT_THAT(lines_of(path, "SELECT outcome, reason, launches, planned_launches FROM runs"),
              ElementsAre("interrupted|6 of 9 launches were measured|6|9"));
}

TEST_F(OneRun, SaysSoWhereAPartDidNotEndAndGaveNoReason) {
  store_part(path, {"a"});
  store_part(path, {"b"}, false, RunOutcome::interrupted);
  make_one_run(path, "x", 2);
  EXPECT_THAT(lines_of(path, "SELECT outcome, reason FROM runs"),
              ElementsAre("interrupted|1 of 2 parts did not come to their end"));
}

TEST_F(OneRun, OfAnEmptyDatabaseIsRefused) {
  { const Store store(path); }
  EXPECT_THROW(make_one_run(path, "x", 0), Error);
}

}  // namespace
}  // namespace warpmeter::schema
