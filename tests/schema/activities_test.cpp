// SPDX-License-Identifier: MIT
// Activities and launches that are written in bulk belong to their run: they go with it, and none
// is written to a run that has gone.
#include "tests/schema/fixture.h"

#include "schema/upkeep/maintenance.h"

namespace warpmeter::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Activities : public ::testing::Test {
 protected:
  Activities() : store(path), run(store.begin_run(example_run())) {
    device = store.add_device(run, example_device());
  }

  ActivityBatch batch(std::int64_t first_id) const {
    ActivityShape shape;
    shape.kind = "kernel";
    shape.name = "reduce(float*)";
    shape.device_id = device;
    ActivityBatch batch;
    batch.first_id = first_id;
    if (first_id == 1) batch.shapes.push_back({1, shape});
    for (std::int64_t start_ns : {300, 100}) {
      batch.activities.push_back({1, start_ns, 50, {}, {}, 7, {}});
    }
    return batch;
  }

  Folder folder;
  std::string path = folder / "warpmeter.db";
  Store store;
  std::int64_t run = 0, device = 0;
};

TEST_F(Activities, AreNumberedInTheOrderInWhichTheyCame) {
  store.add_activities(run, batch(1));
  store.add_activities(run, batch(3));
  EXPECT_THAT(
      lines_of(path, "SELECT activity_id, name, start_ns, device_ordinal, shape FROM activities"),
      ElementsAre("1|reduce(float*)|300|0|1", "2|reduce(float*)|100|0|1",
                  "3|reduce(float*)|300|0|1", "4|reduce(float*)|100|0|1"));
}

TEST_F(Activities, GoWithTheirRunAsLaunchesDo) {
  store.add_activities(run, batch(1));
  store.add_launches(run, device, std::vector<Launch>(3, example_launch()));
  EXPECT_THAT(lines_of(path, "PRAGMA foreign_key_check"), IsEmpty());
  store.end_run(run, RunOutcome::done, "");
  remove_runs(path, std::vector<std::int64_t>{run});
  EXPECT_THAT(lines_of(path,
                       "SELECT (SELECT count(*) FROM t_activity), (SELECT count(*) FROM "
                       "t_activity_shape), (SELECT count(*) FROM t_launch), (SELECT count(*) "
                       "FROM t_value)"),
              ElementsAre("0|0|0|0"));
}

TEST_F(Activities, AreNotWrittenToARunThatHasGone) {
  store.end_run(run, RunOutcome::done, "");
  remove_runs(path, std::vector<std::int64_t>{run});
  expect_failure(failure_of([&] { store.add_activities(run, batch(1)); }), ExitCode::file,
                 HasSubstr("was removed while it was written"));
  expect_failure(failure_of([&] {
                   store.add_launches(run, device, std::vector<Launch>(1, example_launch()));
                 }),
                 ExitCode::file, HasSubstr("was removed while it was written"));
  EXPECT_THAT(lines_of(path, "SELECT count(*) FROM t_activity"), ElementsAre("0"));
}

}  // namespace
}  // namespace warpmeter::schema
