// SPDX-License-Identifier: MIT
// Launches of which some blocks are counted: what they store, what they are estimated to cost, and
// how often the bound holds what counting every block gives.
#include "collector/model/counts/sample.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "base/error.h"
#include "collector/model/counts/intervals.h"
#include "collector/model/counts/source_lines.h"
#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {
namespace {

constexpr std::uint32_t grid_blocks = 600, block_threads = 64;
constexpr std::uint32_t threads_of_grid = grid_blocks * block_threads;

/// Each thread adds up as many words as `rounds` says, from the places that `places` has one after
/// the other.
const std::string walk =
    module_with(".param .u64 out, .param .u64 rounds, .param .u64 places, .param .u64 in",
                " .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .pred %p<3>;\n"
                " ld.param.u64 %rd1, [out];\n ld.param.u64 %rd2, [rounds];\n"
                " ld.param.u64 %rd3, [places];\n ld.param.u64 %rd4, [in];\n"
                " mov.u32 %r1, %ctaid.x;\n mov.u32 %r2, %ntid.x;\n mov.u32 %r3, %tid.x;\n"
                " mad.lo.u32 %r4, %r1, %r2, %r3;\n mul.wide.u32 %rd5, %r4, 4;\n"
                " add.u64 %rd6, %rd2, %rd5;\n ld.global.u32 %r5, [%rd6];\n"
                " mov.u32 %r6, 0;\n mov.u32 %r7, %r4;\n mov.u32 %r8, 0;\n"
                "again:\n setp.ge.u32 %p1, %r8, %r5;\n @%p1 bra done;\n"
                " and.b32 %r9, %r7, 65535;\n mul.wide.u32 %rd7, %r9, 4;\n"
                " add.u64 %rd8, %rd3, %rd7;\n ld.global.u32 %r10, [%rd8];\n"
                " mul.wide.u32 %rd9, %r10, 4;\n add.u64 %rd10, %rd4, %rd9;\n"
                " ld.global.u32 %r11, [%rd10];\n add.u32 %r6, %r6, %r11;\n"
                " add.u32 %r7, %r7, 4096;\n add.u32 %r8, %r8, 1;\n bra again;\n"
                "done:\n add.u64 %rd11, %rd1, %rd5;\n st.global.u32 [%rd11], %r6;\n ret;");

constexpr std::uint32_t places = 65536;

struct Work {
  std::string name;
  std::vector<std::uint32_t> rounds, places;
};

/// Uneven in the ways of real kernels: by the block's number, by data of a block or of a thread,
/// and in what the same instructions cost.
std::vector<Work> works() {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t bound) {
    return static_cast<std::uint32_t>(random() % bound);
  };
  std::vector<std::uint32_t> straight(places), scattered(places), some(places);
  for (std::uint32_t i = 0; i < places; ++i) straight[i] = i;
  for (std::uint32_t& place : scattered) place = below(places);
  for (std::uint32_t first = 0; first < places; first += 512) {
    const bool is_straight = below(3) != 0;
    for (std::uint32_t i = first; i < first + 512; ++i) {
      some[i] = is_straight ? i : below(places);
    }
  }
  std::vector<Work> all;
  const auto add = [&](const std::string& name, const std::vector<std::uint32_t>& where,
                       auto&& rounds_of) {
    Work& work = all.emplace_back();
    work.name = name;
    work.places = where;
    for (std::uint32_t block = 0; block < grid_blocks; ++block) {
      const std::uint32_t of_block = rounds_of(block);
      for (std::uint32_t t = 0; t < block_threads; ++t) work.rounds.push_back(of_block);
    }
  };
  add("triangle", straight, [](std::uint32_t block) { return block / 16 + 1; });
  add("triangle of scattered words", scattered, [](std::uint32_t block) { return block / 16 + 1; });
  add("rows of blocks", some, [&](std::uint32_t) { return 1 + below(20); });
  add("few long blocks", straight, [&](std::uint32_t) { return below(20) == 0 ? 60u : 2u; });
  add("the same instructions", some, [](std::uint32_t) { return 4u; });
  add("rows of threads", scattered, [](std::uint32_t) { return 0u; });
  for (std::uint32_t& rounds : all.back().rounds) rounds = below(4) == 0 ? below(24) : below(4);
  return all;
}

struct Counted {
  LaunchOutcome outcome;
  std::vector<std::byte> result;
  std::vector<schema::Counter> values;
  std::vector<schema::Interval> intervals;
};

const std::vector<std::string> counters = {"global_load_requests", "global_load_sectors",
                                           "global_store_requests", "global_store_sectors",
                                           "warp_instructions"};

class Sampled : public testing::Test {
 protected:
  Sampled() {
    auto parsed = ptx::parse(walk);
    auto decoded = decode(*std::get<std::unique_ptr<ptx::Module>>(parsed), "k");
    program_ = std::get<Program>(std::move(decoded));
  }

  /// `seed` 0: all blocks are counted.
  Counted run(const Work& work, std::uint64_t seed, unsigned threads = 1,
              std::uint64_t native_after = default_native_after) {
    std::vector<std::uint32_t> in(places);
    for (std::uint32_t i = 0; i < places; ++i) in[i] = i * 2654435761u;
    TestMemory memory({TestArgument::buffer(std::vector<std::uint32_t>(threads_of_grid)),
                       TestArgument::buffer(work.rounds), TestArgument::buffer(work.places),
                       TestArgument::buffer(in)});
    const Geometry shape = geometry(grid_blocks, block_threads);
    LaunchOptions options;
    options.threads = threads;
    options.native_after = native_after;
    std::optional<Sample> sample;
    if (seed != 0) {
      options.sample = &sample.emplace(
          program_, shape.grid, sample_blocks(shape.grid, sample_share("10%"), seed), counters);
    }
    Counted counted;
    counted.outcome =
        launch(program_, shape, *pack_parameters(program_, memory.values), memory.memory, options);
    EXPECT_FALSE(counted.outcome.trap);
    counted.result = memory.take_buffers().front();
    for (const std::string& name : counters) {
      counted.values.push_back(counter_named(name, program_, counted.outcome));
    }
    counted.intervals = intervals(counted.values, {{&program_, counted.outcome}});
    return counted;
  }

  Program program_;
};

double value_of(const Counted& counted, const std::string& name) {
  for (const schema::Counter& value : counted.values) {
    if (value.name == name) return *value.value;
  }
  // gld_transactions_per_request
  return value_of(counted, "global_load_sectors") / value_of(counted, "global_load_requests");
}

TEST_F(Sampled, LaunchesStoreWhatTheyDoWithoutASample) {
  for (const Work& work : works()) {
    const Counted whole = run(work, 0);
    EXPECT_FALSE(whole.outcome.sampled) << work.name;
    EXPECT_TRUE(whole.intervals.empty()) << work.name;
    for (const std::uint64_t native_after : {std::uint64_t{0}, default_native_after}) {
      const Counted some = run(work, 1, 1, native_after);
      EXPECT_EQ(some.result, whole.result) << work.name;
      ASSERT_TRUE(some.outcome.sampled);
      EXPECT_EQ(some.outcome.sampled->blocks, grid_blocks);
      EXPECT_EQ(some.outcome.sampled->counted, grid_blocks / 10);
      // All blocks tell these.
      EXPECT_EQ(some.outcome.blocks, whole.outcome.blocks);
      EXPECT_EQ(some.outcome.warps, whole.outcome.warps);
      EXPECT_EQ(some.outcome.threads_of_blocks, whole.outcome.threads_of_blocks);
      EXPECT_EQ(some.outcome.warp_instructions, whole.outcome.warp_instructions) << work.name;
      EXPECT_EQ(some.outcome.thread_instructions, whole.outcome.thread_instructions);
    }
  }
}

TEST_F(Sampled, CountsDoNotDependOnTheThreadsOfTheHost) {
  for (const Work& work : works()) {
    const Counted one = run(work, 3, 1), two = run(work, 3, 2);
    EXPECT_EQ(one.outcome.counts, two.outcome.counts) << work.name;
    EXPECT_EQ(one.outcome.sampled->covariance, two.outcome.sampled->covariance) << work.name;
    EXPECT_EQ(one.result, two.result) << work.name;
    EXPECT_EQ(run(work, 3, 2).outcome.counts, two.outcome.counts) << "the same every time";
  }
}

TEST_F(Sampled, BoundsHoldTheCountOfAllBlocksAsOftenAsPromised) {
  constexpr std::uint64_t seeds = 40;
  std::size_t all = 0, held = 0;
  for (const Work& work : works()) {
    const Counted whole = run(work, 0);
    std::size_t of_work = 0, held_of_work = 0;
    std::vector<double> widths;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Counted some = run(work, seed);
      ASSERT_FALSE(some.intervals.empty());
      for (const schema::Interval& interval : some.intervals) {
        const bool is_known = interval.metric == "global_load_requests" ||
                              interval.metric == "global_load_sectors" ||
                              interval.metric == "gld_transactions_per_request";
        if (!is_known) continue;
        const double is = value_of(whole, interval.metric);
        // A count is a whole number.
        const double slack = interval.metric.starts_with("global") ? 0.5 : 1e-9 * is;
        ++of_work;
        held_of_work += interval.low - slack <= is && is <= interval.high + slack ? 1 : 0;
        widths.push_back((interval.high - interval.low) / 2 / is);
      }
    }
    ASSERT_EQ(of_work, 3 * seeds) << work.name;
    // One kind of work alone may miss a little more often by chance.
    EXPECT_GE(held_of_work, of_work * 90 / 100) << work.name;
    // A bound that says nothing would hold too.
    std::sort(widths.begin(), widths.end());
    EXPECT_LT(widths[widths.size() / 2], 0.1) << work.name;
    RecordProperty(work.name,
                   fmt::format("{} of {}, ±{:.2f} % in the median, ±{:.2f} % at most", held_of_work,
                               of_work, 100 * widths[widths.size() / 2], 100 * widths.back()));
    all += of_work;
    held += held_of_work;
  }
  EXPECT_GE(held, all * 95 / 100) << held << " of " << all;
}

TEST_F(Sampled, ValuesSaySo) {
  const Counted some = run(works()[0], 1);
  for (const schema::Counter& value : some.values) {
    const bool is_of_all = value.name == "warp_instructions";
    EXPECT_EQ(value.reason.starts_with("estimated from 60 of 600 blocks (10 %)"), !is_of_all)
        << value.name << ": " << value.reason;
    EXPECT_GE(value.grade, schema::Grade::sampled);
  }
  for (const schema::Interval& interval : some.intervals) {
    EXPECT_NE(interval.metric, "warp_instructions");
  }
  for (const schema::Line& line : source_lines(program_, some.outcome, "", "")) {
    EXPECT_GE(line.grade, schema::Grade::sampled);
  }
}

/// A product whose size is no multiple of the tile: the last blocks of a row store half as much as
/// the others, and so do those of a column, by as many instructions.
TEST_F(Sampled, EachSideOfAGridStandsForItself) {
  constexpr BlockWork work{100, 3200};
  for (const Dim3& grid : {Dim3{13, 13, 1}, Dim3{40, 9, 1}, Dim3{7, 6, 5}}) {
    const auto cost_of = [&](std::uint64_t block) {
      const bool is_last_column = block % grid.x + 1 == grid.x;
      const bool is_last_row = block / grid.x % grid.y + 1 == grid.y;
      return 4u * (is_last_column ? 1u : 2u) * (is_last_row ? 1u : 2u);
    };
    std::uint64_t whole = 0;
    for (std::uint64_t block = 0; block < grid.count(); ++block) whole += cost_of(block);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Sample sample(program_, grid, sample_blocks(grid, sample_share("32"), seed), counters);
      for (std::uint64_t block = 0; block < grid.count(); ++block) {
        if (!sample.holds(block)) {
          sample.pass(block, work);
          continue;
        }
        LaunchOutcome outcome;
        outcome.counts.resize(program_.sites.size());
        outcome.parted.resize(program_.places.size());
        outcome.counts[0].global.transactions = cost_of(block);
        outcome.warp_instructions = work.warp_instructions;
        outcome.thread_instructions = work.thread_instructions;
        sample.add(block, outcome);
      }
      EXPECT_EQ(sample.whole().counts[0].global.transactions, whole) << seed;
    }
  }
}

TEST(SampledBlocks, AreOfEachSide) {
  for (const Dim3& grid : {Dim3{13, 13, 1}, Dim3{6, 7, 8}, Dim3{1, 90, 2}}) {
    std::array<std::uint64_t, grid_places> existing{}, chosen{};
    for (std::uint64_t block = 0; block < grid.count(); ++block) ++existing[place_of(block, grid)];
    for (const std::uint64_t block : sample_blocks(grid, sample_share("32")).blocks) {
      ++chosen[place_of(block, grid)];
    }
    for (std::size_t place = 0; place < grid_places; ++place) {
      EXPECT_EQ(blocks_at(place, grid), existing[place]) << place;
      EXPECT_GE(chosen[place], std::min<std::uint64_t>(existing[place], 3)) << place;
    }
  }
}

TEST(SampledBlocks, AreCornersAndAShareOfEachPart) {
  for (const Dim3& grid : {Dim3{64, 64, 1}, Dim3{10, 10, 10}, Dim3{1000, 1, 1}, Dim3{2, 700, 1},
                           Dim3{3000, 3000, 4}, Dim3{33, 1, 1}}) {
    for (const char* share : {"32", "200", "1%", "10%"}) {
      if (grid.count() > 10'000'000 && std::string_view(share).ends_with('%')) continue;
      const BlockSelection some = sample_blocks(grid, sample_share(share));
      EXPECT_GE(some.blocks.size(), 32u);
      EXPECT_TRUE(std::is_sorted(some.blocks.begin(), some.blocks.end()));
      EXPECT_EQ(std::adjacent_find(some.blocks.begin(), some.blocks.end()), some.blocks.end());
      EXPECT_LT(some.blocks.back(), grid.count());
      EXPECT_EQ(some.blocks.front(), 0u);
      EXPECT_EQ(some.chosen[0], some.existing[0]);
      for (std::size_t part = 0; part < grid_parts; ++part) {
        EXPECT_GE(some.chosen[part], std::min<std::uint64_t>(some.existing[part], 8));
      }
      EXPECT_EQ(some.chosen[0] + some.chosen[1] + some.chosen[2], some.blocks.size());
      EXPECT_EQ(sample_blocks(grid, sample_share(share)).blocks, some.blocks);
      if (some.is_whole(grid)) continue;
      EXPECT_NE(sample_blocks(grid, sample_share(share), 2).blocks, some.blocks);
    }
  }
}

TEST(SampledBlocks, AreAllOfASmallGrid) {
  for (const std::uint32_t blocks : {1u, 2u, 31u, 32u}) {
    const Dim3 grid{blocks, 1, 1};
    EXPECT_TRUE(sample_blocks(grid, sample_share("1%")).is_whole(grid)) << blocks;
  }
  const Dim3 grid{400, 1, 1};
  EXPECT_TRUE(sample_blocks(grid, sample_share("100%")).is_whole(grid));
  EXPECT_TRUE(sample_blocks(grid, sample_share("400")).is_whole(grid));
}

TEST(SampledBlocks, AreEnoughForABound) {
  for (const char* few : {"1", "8", "31"}) EXPECT_THROW(sample_share(few), Error) << few;
  for (const char* wrong : {"", "0%", "x", "101%"}) EXPECT_THROW(sample_share(wrong), Error);
  EXPECT_EQ(sample_share("32").count, 32u);
  EXPECT_EQ(sample_share("2.5%").percent, 2.5);
}

}  // namespace
}  // namespace warpmeter::model
