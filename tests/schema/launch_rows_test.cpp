// SPDX-License-Identifier: MIT
// Rows are written many by a statement: each launch has to have its own, and its own counters.
#include "schema/rows/launch_rows.h"

#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

class LaunchesOfABatch : public ::testing::Test {
 protected:
  /// Launches with a size, a grid and a counter each.
  static Launch launch(int number, std::uint32_t blocks) {
    Launch launch = example_launch();
    launch.grid[0] = blocks;
    launch.counters = {measured("shared_load_requests", number),
                       measured("global_load_sectors", 2 * number)};
    return launch;
  }

  std::vector<std::string> stored(std::span<const Launch> launches) {
    const std::string path = folder_ / "warpmeter.db";
    {
      Store store(path);
      const std::int64_t run = store.begin_run(example_run());
      ids_ = store.add_launches(run, store.add_device(run, example_device()), launches);
    }
    std::vector<std::string> rows;
    Reader(path).each(
        "SELECT l.launch_id, l.grid_x, a.value, b.value FROM t_launch l "
        "JOIN t_value a ON a.launch_id = l.launch_id AND a.counter_id = (SELECT counter_id FROM "
        "t_counter WHERE name = 'shared_load_requests') "
        "JOIN t_value b ON b.launch_id = l.launch_id AND b.counter_id = (SELECT counter_id FROM "
        "t_counter WHERE name = 'global_load_sectors') ORDER BY l.launch_id",
        {}, [&](std::span<const Value> row) {
          rows.push_back(fmt::format("{}: {} {} {}", std::get<std::int64_t>(row[0]),
                                     std::get<std::int64_t>(row[1]), std::get<double>(row[2]),
                                     std::get<double>(row[3])));
        });
    return rows;
  }

  Folder folder_;
  std::vector<std::int64_t> ids_;
};

TEST_F(LaunchesOfABatch, HaveTheirOwnRowsAndCounters) {
  // More alike ones than a statement writes, then one, then some of each.
  std::vector<Launch> launches;
  std::vector<std::string> expected;
  for (int i = 1; i <= 200; ++i) {
    const std::uint32_t blocks = i <= 150 ? 7 : i == 151 ? 8 : 9 + i % 2;
    launches.push_back(launch(i, blocks));
    expected.push_back(fmt::format("{}: {} {} {}", i, blocks, i, 2 * i));
  }
  EXPECT_EQ(stored(launches), expected);
  ASSERT_EQ(ids_.size(), launches.size());
  EXPECT_EQ(ids_.front(), 1);
  EXPECT_EQ(ids_.back(), 200);
}

TEST_F(LaunchesOfABatch, MayBeOneOrNone) {
  EXPECT_EQ(stored(std::vector<Launch>{launch(5, 3)}), std::vector<std::string>{"1: 3 5 10"});
  EXPECT_TRUE(stored(std::vector<Launch>{}).size() == 1 && ids_.empty());
}

}  // namespace
}  // namespace warpmeter::schema
