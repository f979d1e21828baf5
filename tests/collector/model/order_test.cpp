// SPDX-License-Identifier: MIT
// Counts are not called exact where the order of threads at an atomic decides which places a warp
// accesses together: in one launch, or in one that goes by what an earlier one left.
#include "collector/model/machine/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

#include "collector/model/counts/grades.h"
#include "tests/collector/model/run_ptx.h"
#include "tests/paths.h"

namespace warpmeter::model {
namespace {

using Ints = std::vector<int>;

constexpr std::uint32_t block_threads = 64;
constexpr std::size_t threads = 2 * block_threads;

/// A device whose memory lasts from launch to launch.
class Device {
 public:
  explicit Device(int arch) {
    std::ifstream file(
        fmt::format("{}/tests/collector/model/programs/orders.sm_{}.ptx", binary_dir(), arch));
    std::stringstream text;
    text << file.rdbuf();
    module_ = std::move(std::get<std::unique_ptr<ptx::Module>>(ptx::parse(text.str())));
  }

  template <class T>
  std::uint64_t buffer(const std::vector<T>& values) {
    return memory_.allocate(TestArgument::buffer(values).bytes, "buffer");
  }
  std::uint64_t zeros(std::size_t count = threads) { return buffer(Ints(count)); }
  std::uint64_t numbers() {
    Ints values(threads);
    std::iota(values.begin(), values.end(), 0);
    return buffer(values);
  }

  struct Ran {
    Program program;
    LaunchOutcome outcome;

    /// The exactness of one kind's accesses: all (1), none (0) or some (2) are called exact.
    int is_exact(AccessKind kind) const {
      std::size_t all = 0, exact = 0;
      for (std::size_t i = 0; i < program.sites.size(); ++i) {
        const SiteInfo& site = program.sites[i];
        if (site.kind != kind || site.space == AddressSpace::shared) continue;
        ++all;
        const bool is_left = !outcome.ordered.empty() && outcome.ordered[i] != 0;
        exact += site.is_ordered || is_left || !site.unknown.empty() ? 0 : 1;
      }
      EXPECT_GT(all, 0u);
      return exact == all ? 1 : exact == 0 ? 0 : 2;
    }
    /// How many accesses to global memory go by what others may store meanwhile.
    std::size_t raced() const {
      return static_cast<std::size_t>(
          std::count_if(program.sites.begin(), program.sites.end(), [](const SiteInfo& site) {
            return site.is_raced && site.space != AddressSpace::shared;
          }));
    }
    /// How many accesses of a kind go by what only the hardware knows.
    std::size_t unknown(AccessKind kind) const {
      return static_cast<std::size_t>(std::count_if(
          program.sites.begin(), program.sites.end(),
          [&](const SiteInfo& site) { return site.kind == kind && !site.unknown.empty(); }));
    }
    int stores() const { return is_exact(AccessKind::store); }
    int loads() const { return is_exact(AccessKind::load); }
  };

  template <class... Arguments>
  Ran run(const std::string& entry, Arguments... arguments) {
    return run_as(geometry(2, block_threads), entry, arguments...);
  }
  template <class... Arguments>
  Ran run_with_dynamic(const std::string& entry, Arguments... arguments) {
    return run_as(geometry(2, block_threads, 4 * block_threads), entry, arguments...);
  }
  template <class... Arguments>
  Ran run_as(const Geometry& shape, const std::string& entry, Arguments... arguments) {
    auto decoded = decode(*module_, entry);
    Ran ran{std::move(std::get<Program>(decoded)), {}};
    const std::vector<std::vector<std::byte>> values{TestArgument::scalar(arguments).bytes...};
    const auto parameters = pack_parameters(ran.program, values).value();
    ran.outcome = launch(ran.program, shape, parameters, memory_, {});
    EXPECT_FALSE(ran.outcome.trap.has_value()) << entry;
    return ran;
  }

  bool is_ordered(std::uint64_t address) const { return memory_.find(address)->is_ordered; }
  DeviceMemory& memory() { return memory_; }

 private:
  std::unique_ptr<ptx::Module> module_;
  DeviceMemory memory_;
};

class Order : public testing::TestWithParam<int> {
 protected:
  Device device{GetParam()};

  /// A queue that two blocks have filled.
  std::uint64_t filled() {
    const std::uint64_t queue = device.zeros();
    device.run("fill_queue", queue, device.numbers(), device.zeros(1));
    return queue;
  }
};

// An H200 counted 93,906 sectors of such stores where the model's order gives 93,845.
TEST_P(Order, AnAnswerIsFollowedThroughSharedMemory) {
  const std::uint64_t kept = device.zeros(), in = device.numbers(), count = device.zeros(1);
  const auto ran = device.run("keep_odd_by_block", kept, in, count);
  EXPECT_EQ(ran.stores(), 0);
  EXPECT_EQ(ran.loads(), 1);
  EXPECT_TRUE(device.is_ordered(kept));
  EXPECT_FALSE(device.is_ordered(in));
  EXPECT_FALSE(device.is_ordered(count)) << "the sum is the same in any order";
}

TEST_P(Order, AndThroughGlobalMemory) {
  const std::uint64_t out = device.zeros(4 * threads), ranks = device.zeros();
  const auto ran = device.run("rank_and_place", device.numbers(), device.zeros(4), ranks, out);
  EXPECT_EQ(ran.stores(), 2) << "those to `ranks` lie where the thread's number says";
  EXPECT_TRUE(device.is_ordered(ranks));
  EXPECT_TRUE(device.is_ordered(out));
}

TEST_P(Order, ATicketLeadsToTheSame) {
  const std::uint64_t out = device.zeros();
  const auto ran = device.run("by_ticket", out, device.numbers(), device.zeros(1));
  EXPECT_EQ(ran.stores(), 1);
  EXPECT_EQ(ran.loads(), 1);
  EXPECT_FALSE(device.is_ordered(out));
}

TEST_P(Order, APlaceThatWasFoundByTrying) {
  const std::uint64_t keys = device.zeros(400), values = device.zeros(400);
  const auto ran = device.run("insert", keys, values, int{400});
  EXPECT_EQ(ran.stores(), 0);
  EXPECT_TRUE(device.is_ordered(keys));
  EXPECT_TRUE(device.is_ordered(values));
}

TEST_P(Order, SumsOfFloatsAreRounded) {
  const std::uint64_t sums = device.buffer(std::vector<float>(4)), counts = device.zeros(4);
  device.run("add_up", sums, device.buffer(std::vector<float>(threads)));
  device.run("count_up", counts, device.numbers());
  EXPECT_TRUE(device.is_ordered(sums));
  EXPECT_FALSE(device.is_ordered(counts));
}

TEST_P(Order, WhoComesLastIsWhatStays) {
  const std::uint64_t flags = device.zeros(5), heads = device.zeros(4), next = device.zeros();
  device.run("raise", flags, device.numbers());
  device.run("chain", heads, next, device.numbers());
  EXPECT_FALSE(device.is_ordered(flags));
  EXPECT_TRUE(device.is_ordered(heads));
  EXPECT_TRUE(device.is_ordered(next));
}

TEST_P(Order, WhoWinsIsNotCertain) {
  const std::uint64_t in = device.numbers(), out = device.zeros();
  EXPECT_EQ(device.run("first_come", device.zeros(16), in, out).stores(), 0);
  EXPECT_EQ(device.run("last_come", device.zeros(1), in, out).stores(), 1);
}

TEST_P(Order, LaterLaunchesGoByWhatEarlierOnesLeft) {
  const std::uint64_t data = device.numbers(), out = device.zeros(), queue = device.numbers();
  const auto before = device.run("gather_by", queue, data, out);
  EXPECT_EQ(before.loads(), 1);
  device.run("fill_queue", queue, data, device.zeros(1));
  EXPECT_TRUE(device.is_ordered(queue));
  const auto after = device.run("gather_by", queue, data, out);
  EXPECT_EQ(after.loads(), 2) << "the load of the queue itself is certain";
  EXPECT_EQ(after.stores(), 1);
  EXPECT_TRUE(device.is_ordered(out));
  EXPECT_FALSE(device.is_ordered(data));
  EXPECT_EQ(device.run("plain", queue, out).loads(), 1);
}

TEST_P(Order, WhatIsMadeOfItsPlaceIsTheSame) {
  const std::uint64_t queue = filled(), out = device.zeros();
  EXPECT_EQ(device.run("scatter_by", queue, device.numbers(), out).stores(), 0);
  EXPECT_EQ(device.run("mark_by", queue, int{3}, out).stores(), 0);
  device.run("count_by", queue, out);
  EXPECT_FALSE(device.is_ordered(out));
  EXPECT_EQ(device.run("number_by", queue, out).stores(), 0);
  EXPECT_TRUE(device.is_ordered(out));
}

// An H200 counted 84 other values in 45 launches of exchange_pairs and its like over a queue.
TEST_P(Order, BranchesGoByWhatEarlierLaunchesLeft) {
  const std::uint64_t queue = filled(), out = device.zeros(), other = device.zeros();
  EXPECT_EQ(device.run("store_the_odd", queue, out).stores(), 0);
  const auto rounds = device.run("go_round", queue, device.numbers(), other);
  EXPECT_EQ(rounds.loads(), 2) << "the load of the queue itself is certain";
  EXPECT_EQ(rounds.stores(), 1);
  EXPECT_TRUE(device.is_ordered(other));
  const std::uint64_t pairs = device.zeros(2 * threads);
  device.run("fill_queue", pairs, device.numbers(), device.zeros(1));
  EXPECT_EQ(device.run("exchange_pairs", pairs, int{0}).stores(), 0);
}

TEST_P(Order, BranchesOverWhatIsCertainAreCertain) {
  const std::uint64_t numbers = device.numbers(), out = device.zeros(), count = device.zeros(1);
  EXPECT_EQ(device.run("store_the_odd", numbers, out).stores(), 1);
  EXPECT_EQ(device.run("exchange_pairs", device.zeros(2 * threads), int{0}).stores(), 1);
  EXPECT_FALSE(device.is_ordered(out));
  device.run("fill_queue", device.zeros(), numbers, count);
  EXPECT_EQ(device.run("store_as_many", count, out).stores(), 1);
  EXPECT_FALSE(device.is_ordered(out));
}

TEST_P(Order, SumsAndMarksOfBranchesAreTheSame) {
  const std::uint64_t queue = filled(), count = device.zeros(1), level = device.zeros();
  device.run("count_the_odd", queue, count);
  EXPECT_FALSE(device.is_ordered(count));
  const auto ran =
      device.run("mark_neighbours", queue, device.zeros(threads + 1), device.zeros(), level);
  EXPECT_EQ(ran.stores(), 0);
  EXPECT_FALSE(device.is_ordered(level));
}

TEST_P(Order, ListsAreWalkedInTheOrderOfTheirBuilding) {
  const std::uint64_t heads = device.zeros(4), next = device.zeros(), in = device.numbers();
  const std::uint64_t out = device.zeros();
  device.run("link_lists", heads, next, in);
  const auto ran = device.run("walk_lists", heads, next, in, out);
  EXPECT_EQ(ran.loads(), 2) << "the load of the head itself is certain";
  EXPECT_EQ(ran.stores(), 1);
}

TEST_P(Order, APlaceInSharedMemoryHoldsAnybodysValue) {
  EXPECT_EQ(device.run("sort_in_block", device.numbers(), device.zeros()).stores(), 0);
}

// The heap holds 8 MB (CUDA's documentation of cudaLimitMallocHeapSize).
TEST_P(Order, WhoGetsMemoryOfAFullHeapIsNotCertain) {
  const std::uint64_t out = device.zeros();
  auto few = device.run("store_if_taken", int{64}, out);
  EXPECT_FALSE(few.outcome.may_fill_heap);
  auto many = device.run("store_if_taken", int{(8 << 20) / threads + 4096}, out);
  EXPECT_TRUE(many.outcome.may_fill_heap);
  for (auto* ran : {&few, &many}) {
    ran->program.why_unaudited = ran->program.why_not_exact = "";
    for (SiteInfo& site : ran->program.sites) site.doubt = "";
  }
  using schema::Grade;
  EXPECT_EQ(counter("global_store_sectors", few.program, few.outcome).grade, Grade::exact);
  EXPECT_EQ(counter("global_store_sectors", many.program, many.outcome).grade, Grade::modelled);
  EXPECT_EQ(counter("global_load_sectors", many.program, many.outcome).grade, Grade::modelled)
      << "a thread that gets nothing may do what none did here";
}

TEST_P(Order, CopiesTakeItAlongOrEndIt) {
  HostOrder host;
  const std::uint64_t queue = filled(), other = device.zeros(), from_host = 4096;
  const auto copy = [&](std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
    follow_copy(device.memory(), host, to, from, bytes);
  };
  copy(other, queue, 4);
  EXPECT_TRUE(device.is_ordered(other));
  copy(other, from_host, 4 * threads - 4);
  EXPECT_TRUE(device.is_ordered(other)) << "the last one is as it was";
  copy(other, from_host, 4 * threads);
  EXPECT_FALSE(device.is_ordered(other));
  copy(queue, 0, 4 * threads);
  EXPECT_FALSE(device.is_ordered(queue));
}

// A list that the host takes and hands back, as searches in breadth of public programs do.
TEST_P(Order, TheHostHandsItOn) {
  HostOrder host;
  const std::uint64_t queue = filled(), other = device.zeros(), list = 4096, bytes = 4 * threads;
  follow_copy(device.memory(), host, list, queue, bytes);
  follow_copy(device.memory(), host, other, list + bytes, bytes);
  EXPECT_FALSE(device.is_ordered(other)) << "that lies behind it";
  follow_copy(device.memory(), host, other, list + 8, 4);
  EXPECT_TRUE(device.is_ordered(other));
  follow_copy(device.memory(), host, queue, 0, bytes);  // a set
  follow_copy(device.memory(), host, list, queue, bytes / 2);
  EXPECT_FALSE(host.reaches(list, bytes / 2));
  EXPECT_TRUE(host.reaches(list, bytes / 2 + 1));
  EXPECT_TRUE(host.reaches(list + bytes - 4, 4));
  EXPECT_FALSE(host.reaches(list + bytes, 4));
}

TEST_P(Order, PointersInStructuresAndInMemory) {
  struct Queue {
    int unused;
    std::uint64_t items, count;
  };
  const std::uint64_t items = device.zeros(), in = device.numbers(), out = device.zeros();
  const std::uint64_t table = device.buffer(std::vector<std::uint64_t>{items});
  EXPECT_EQ(device.run("gather_elsewhere", table, in, out).loads(), 1);
  device.run("fill_struct", Queue{0, items, device.zeros(1)}, in);
  EXPECT_TRUE(device.is_ordered(items));
  EXPECT_FALSE(device.is_ordered(in));
  EXPECT_EQ(device.run("gather_elsewhere", table, in, out).loads(), 2);
}

// Which parameter it is only a run tells: it may be any of the memory.
TEST_P(Order, PointersByNumber) {
  struct Queues {
    std::uint64_t items[4], count;
  };
  Queues queues{{}, device.zeros(1)};
  for (std::uint64_t& items : queues.items) items = device.zeros();
  device.run("fill_one_of", queues, device.numbers());
  for (const std::uint64_t items : queues.items) EXPECT_TRUE(device.is_ordered(items));
}

TEST_P(Order, GradesSayWhy) {
  const std::uint64_t queue = filled(), out = device.zeros();
  auto ran = device.run("mark_by", queue, int{3}, out);
  ran.program.why_unaudited = ran.program.why_not_exact = "";
  for (SiteInfo& site : ran.program.sites) site.doubt = "";
  const schema::Counter sectors = counter("global_store_sectors", ran.program, ran.outcome);
  EXPECT_EQ(sectors.grade, schema::Grade::modelled);
  EXPECT_NE(sectors.reason.find("an earlier launch"), std::string::npos) << sectors.reason;
}

TEST_P(Order, AnAnswerDecidesWhereThreadsGoLater) {
  const std::uint64_t in = device.numbers(), out = device.zeros();
  EXPECT_EQ(device.run("go_on_if_first", device.zeros(16), in, out).stores(), 0);
  EXPECT_TRUE(device.is_ordered(out));
  EXPECT_EQ(device.run("go_on_by_queue", in, out).stores(), 0);
}

TEST_P(Order, WhoGetsOneOfTooFewPlacesIsNotCertain) {
  const std::uint64_t has_one = device.zeros(), out = device.zeros();
  EXPECT_EQ(device.run("take_places", device.zeros(40), device.zeros(1), int{40}, has_one).stores(),
            0);
  EXPECT_TRUE(device.is_ordered(has_one));
  EXPECT_EQ(device.run("store_the_odd", has_one, out).stores(), 0);
  EXPECT_EQ(device.run("every_other", device.zeros(1), out).stores(), 0);
  EXPECT_EQ(device.run("all_but_last", device.zeros(1), int{127}, out).stores(), 0);
}

TEST_P(Order, OneThreadMakesOneRequestWhoeverItIs) {
  const std::uint64_t out = device.zeros();
  EXPECT_EQ(device.run("last_of_all", device.zeros(1), int{127}, out).stores(), 1);
  EXPECT_TRUE(device.is_ordered(out));
}

TEST_P(Order, TheLastBlockIsAsGoodAsAnyUnlessItGoesByItsNumber) {
  const std::uint64_t in = device.numbers(), sums = device.zeros(), out = device.zeros();
  const auto ran = device.run("last_block", in, sums, device.zeros(1), out);
  EXPECT_EQ(ran.stores(), 1);
  EXPECT_EQ(ran.loads(), 1);
  EXPECT_FALSE(device.is_ordered(out));
  EXPECT_EQ(device.run("last_block_by_list", in, device.zeros(1), out).stores(), 0);
  EXPECT_EQ(device.run("last_block_elsewhere", in, device.zeros(1), out).stores(), 0);
}

// A program drew tickets so: an H200 counted 944 stores where the model's order gives 943.
TEST_P(Order, ATicketThatIsOvertakenIsNone) {
  const std::uint64_t in = device.numbers(), out = device.zeros();
  const auto well = device.run("tickets_between_barriers", out, in, device.zeros(1), int{6});
  EXPECT_EQ(well.stores(), 1);
  EXPECT_EQ(well.loads(), 1);
  EXPECT_EQ(well.raced(), 0u);
  EXPECT_EQ(device.run("tickets_overtaken", out, in, device.zeros(1), int{6}).stores(), 0);
}

TEST_P(Order, WhoWinsIsNotCertainForABlockEither) {
  const std::uint64_t in = device.numbers(), out = device.zeros();
  const auto ran = device.run("first_come_by_block", device.zeros(), in, out);
  EXPECT_EQ(ran.stores(), 0);
  EXPECT_EQ(ran.loads(), 2) << "that of the place itself is certain";
}

// An H200 made 6,323 loads in such a search of a public program where the model's order gives
// 6,197.
TEST_P(Order, WhatOthersStoreMeanwhileDecidesNothingForCertain) {
  const std::uint64_t neighbours = device.numbers(), levels = device.zeros(), out = device.zeros();
  EXPECT_GT(device.run("push", neighbours, levels, int{0}).raced(), 0u);
  EXPECT_GT(device.run("pull", neighbours, levels, out, int{0}).raced(), 0u);
  EXPECT_GT(device.run("relax", neighbours, levels, device.numbers(), out).raced(), 0u);
  EXPECT_EQ(device.run("push_apart", neighbours, device.zeros(), out, int{0}).raced(), 0u);
  EXPECT_EQ(device.run("clamp", device.numbers(), out, int{5}).raced(), 0u);
}

// A public program grew the edges of a picture so: an H200 made 2,601 loads, the model's order
// 2,588.
TEST_P(Order, NorDoesWhatLiesBesideAThreadsOwnPlace) {
  const std::uint64_t out = device.zeros();
  EXPECT_GT(device.run("grow", device.numbers(), int{threads}).raced(), 0u);
  EXPECT_EQ(device.run("grow_apart", device.numbers(), out, int{threads}).raced(), 0u);
  EXPECT_EQ(device.run("exchange_pairs", device.zeros(2 * threads), int{0}).raced(), 0u);
}

// The deciding member is never stored, whosever structure it lies in.
TEST_P(Order, OtherMembersAreOtherPlaces) {
  const std::uint64_t all = device.zeros(4 * threads), out = device.zeros();
  EXPECT_EQ(device.run("move_the_living", all, out).raced(), 0u);
  EXPECT_GT(device.run("move_the_slow", all, out).raced(), 0u);
}

// A public program stops that way once one of its threads has found a password: an H200 made 370
// loads, the model's order 132.
TEST_P(Order, AFlagThatOneSetsAndAllRead) {
  const std::uint64_t found = device.zeros(1), out = device.zeros();
  EXPECT_GT(device.run("search_until_found", found, device.numbers(), out).raced(), 0u);
}

TEST_P(Order, ButNotWhereThereIsOneThread) {
  LaunchOutcome outcome;
  Program program;
  program.why_unaudited.clear();
  program.sites.resize(1);
  program.sites[0].is_raced = true;
  outcome.counts.resize(1);
  EXPECT_EQ(grade_of(program, 0, AddressSpace::global, outcome).grade, schema::Grade::modelled);
  outcome.is_of_one_thread = true;
  EXPECT_EQ(grade_of(program, 0, AddressSpace::global, outcome).grade, schema::Grade::exact);
}

// A generic access that goes to global memory may come there more often, and to shared memory
// never.
TEST_P(Order, AnAccessThatCameSaysWhichMemoryItReaches) {
  LaunchOutcome outcome;
  Program program;
  program.why_unaudited.clear();
  program.sites.resize(1);
  program.sites[0].is_raced = true;
  outcome.counts.resize(1);
  const auto grade = [&](std::string_view name) { return counter(name, program, outcome).grade; };
  EXPECT_EQ(grade("global_load_requests"), schema::Grade::modelled);
  EXPECT_EQ(grade("shared_load_requests"), schema::Grade::modelled);
  outcome.counts[0].global.requests = 3;
  EXPECT_EQ(grade("global_load_requests"), schema::Grade::modelled);
  EXPECT_EQ(grade("shared_load_requests"), schema::Grade::exact);
}

// Behind such a call lanes go on apart on an H200, which made each access once for each function.
TEST_P(Order, LanesThatCallDifferentFunctionsDoNotMeet) {
  const std::uint64_t out = device.zeros();
  const auto ran = device.run("call_by_lane", device.numbers(), out);
  ASSERT_TRUE(ran.outcome.has_parted());
  for (const SiteInfo& site : ran.program.sites) {
    const bool asks = std::any_of(site.together.begin(), site.together.end(),
                                  [&](auto call) { return ran.outcome.has_parted(call); });
    EXPECT_TRUE(asks);
  }
}

TEST_P(Order, InSharedMemoryABarrierOrders) {
  const std::uint64_t out = device.zeros();
  EXPECT_EQ(device.run("sort_block", device.numbers(), out).raced(), 0u);
  EXPECT_EQ(device.run("look_back_in_turn", device.numbers(), out).raced(), 0u);
  EXPECT_GT(device.run("look_back", device.numbers(), out).raced(), 0u);
}

// On an H200 eight of 70 kernels that print counted other wavefronts and sectors than the model.
TEST_P(Order, PrintingIsNoBarrier) {
  const std::uint64_t in = device.numbers(), out = device.zeros();
  EXPECT_GT(device.run("race_around_print", in, out).raced(), 0u);
  EXPECT_EQ(device.run("print_behind_barrier", in, out).raced(), 0u);
}

TEST_P(Order, OthersMayStoreToAThreadsOwnPlace) {
  const std::uint64_t in = device.numbers(), out = device.zeros(2 * threads);
  EXPECT_GT(device.run("store_anywhere", in, out).raced(), 0u);
  EXPECT_EQ(device.run("exchange_in_block", in, out).raced(), 0u);
}

TEST_P(Order, GradesSayWhatOthersMayStore) {
  Ints levels(threads, -1), neighbours(threads);
  for (std::size_t i = 0; i < threads; i += 2) levels[i] = 0;
  for (std::size_t i = 0; i < threads; ++i) neighbours[i] = static_cast<int>(i ^ 1);
  auto ran = device.run("push", device.buffer(neighbours), device.buffer(levels), int{0});
  ran.program.why_unaudited = ran.program.why_not_exact = "";
  for (SiteInfo& site : ran.program.sites) site.doubt = "";
  const schema::Counter sectors = counter("global_store_sectors", ran.program, ran.outcome);
  EXPECT_EQ(sectors.grade, schema::Grade::modelled);
  EXPECT_NE(sectors.reason.find("others of the launch may store meanwhile"), std::string::npos)
      << sectors.reason;
}

TEST_P(Order, TheClockDecidesHowOftenAndWhere) {
  const std::uint64_t in = device.numbers(), out = device.zeros(8 * threads);
  const auto round = device.run("load_by_clock", out, in);
  EXPECT_EQ(round.unknown(AccessKind::load), 1u);
  EXPECT_EQ(round.unknown(AccessKind::store), 0u) << "every thread stores once behind the loop";
  const auto before = device.run("load_before_the_clock", out, in, int{4});
  EXPECT_EQ(before.unknown(AccessKind::load), 1u);
  EXPECT_EQ(before.unknown(AccessKind::store), 0u);
  EXPECT_EQ(device.run("store_by_timer", out).stores(), 0);
  EXPECT_EQ(device.run("stride_by_latency", out).stores(), 0);
  EXPECT_EQ(device.run("store_by_clock_of_a_function", out).unknown(AccessKind::store), 1u);
}

TEST_P(Order, ATimeThatIsOnlyStoredDecidesNothing) {
  const std::uint64_t times = device.zeros(2 * threads), in = device.numbers();
  const std::uint64_t sums = device.zeros();
  const auto ran = device.run("store_time", times, in, sums);
  EXPECT_EQ(ran.stores(), 1);
  EXPECT_EQ(ran.loads(), 1);
  EXPECT_TRUE(device.is_ordered(times)) << "a later launch may go by it";
  EXPECT_FALSE(device.is_ordered(sums));
  EXPECT_EQ(device.run("store_the_odd", times, sums).stores(), 0);
  EXPECT_EQ(device.run("store_after_delay", sums).stores(), 1);
  EXPECT_EQ(device.run("store_in_time", sums).stores(), 1);
}

TEST_P(Order, TheHardwareChoosesMultiprocessorsAndSlots) {
  const std::uint64_t out = device.zeros(8 * threads);
  EXPECT_EQ(device.run("store_by_multiprocessor", out).stores(), 0);
  EXPECT_EQ(device.run("store_by_warp_slot", out).stores(), 0);
  EXPECT_EQ(device.run("store_by_lane", out).stores(), 1) << "a lane is the thread's own number";
}

// The store is one of 0 or 64 requests on hardware, as the time happens to be.
TEST_P(Order, ACountOfNoneIsNotExactEitherWhereTheClockDecides) {
  auto ran = device.run("store_by_timer", device.zeros());
  ran.program.why_unaudited = ran.program.why_not_exact = "";
  for (SiteInfo& site : ran.program.sites) site.doubt = "";
  for (SiteCounts& counts : ran.outcome.counts) counts.global = {};
  const schema::Counter sectors = counter("global_store_sectors", ran.program, ran.outcome);
  EXPECT_EQ(sectors.value, 0);
  EXPECT_EQ(sectors.grade, schema::Grade::modelled);
  EXPECT_NE(sectors.reason.find("depend on the clock"), std::string::npos) << sectors.reason;
  EXPECT_EQ(counter("global_load_sectors", ran.program, ran.outcome).grade, schema::Grade::exact);
}

TEST_P(Order, LoadsThatAskForAnOrderMayComeBeforeOrAfterAStore) {
  const std::uint64_t out = device.zeros(8 * threads);
  EXPECT_GT(device.run("see_a_store", device.zeros(1), out).raced(), 0u);
  EXPECT_GT(device.run("stride_by_relaxed", device.zeros(1), out).raced(), 0u);
  EXPECT_GT(device.run("stride_by_first_warp", out).raced(), 0u);
}

TEST_P(Order, NotWhereTheyAreOrdered) {
  const std::uint64_t out = device.zeros(8 * threads);
  EXPECT_EQ(device.run("stride_behind_barrier", out).raced(), 0u);
  EXPECT_EQ(device.run("scan_in_warp", device.numbers(), out).raced(), 0u);
  EXPECT_EQ(device.run("hand_on", device.zeros(2), out).raced(), 0u);
}

TEST_P(Order, TheBitsOfAnAddressOnTheHeapAreTheDriversChoice) {
  const std::uint64_t out = device.zeros(8 * threads);
  EXPECT_EQ(device.run("stride_by_heap", out).unknown(AccessKind::store), 1u);
  const auto walk = device.run("walk_on_heap", device.numbers(), out, int{8});
  EXPECT_EQ(walk.unknown(AccessKind::store), 0u);
  EXPECT_EQ(walk.unknown(AccessKind::load), 0u);
  EXPECT_EQ(device.run("store_if_taken", int{64}, out).unknown(AccessKind::store), 0u);
}

TEST_P(Order, NobodyKnowsWhatIsNeverSet) {
  const std::uint64_t out = device.zeros();
  EXPECT_EQ(device.run("store_by_unset", out).unknown(AccessKind::store), 1u);
  EXPECT_EQ(device.run_with_dynamic("store_at_unset", out).unknown(AccessKind::store), 1u);
  EXPECT_EQ(device.run("store_by_unset_register", out).unknown(AccessKind::store), 1u);
  EXPECT_EQ(device.run_with_dynamic("store_by_set", out).unknown(AccessKind::store), 0u);
  EXPECT_EQ(device.run("store_by_set_of_function", out).unknown(AccessKind::store), 0u);
}

INSTANTIATE_TEST_SUITE_P(OfBothCompilers, Order, testing::Values(90, 100),
                         [](const auto& program) { return fmt::format("sm_{}", program.param); });

}  // namespace
}  // namespace warpmeter::model
