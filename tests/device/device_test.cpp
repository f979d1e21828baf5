// SPDX-License-Identifier: MIT
// The hardware backend on a GPU. Small kernels in PTX, which the driver compiles, so that every
// figure can be worked out by hand.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "collector/cupti/backend.h"
#include "collector/cupti/context.h"
#include "collector/cupti/device.h"
#include "collector/cupti/diagnose.h"
#include "collector/cupti/library.h"
#include "schema/store.h"
#include "tests/device/kernels.h"

namespace warpmeter::cupti {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int32_t n = 1000;

run::Launch launch_of(const char* entry, std::uint32_t block = 250) {
  return {&image, entry, {{(n + block - 1) / block, 1, 1}, {block, 1, 1}, 0}};
}

/// i32 data[n] = {0, 1, 2, …}
kernels::Problem ascending() {
  kernels::Buffer buffer{"data", Element::i32, {}};
  std::vector<std::int32_t> values(n);
  std::iota(values.begin(), values.end(), 0);
  buffer.initial.resize(n * sizeof(std::int32_t));
  std::memcpy(buffer.initial.data(), values.data(), buffer.initial.size());
  return {{buffer}, {kernels::BufferArgument{0}, kernels::ScalarArgument::of(n)}};
}

std::vector<std::int32_t> values_of(const run::Execution& execution) {
  std::vector<std::int32_t> values(execution.buffers.at(0).size() / sizeof(std::int32_t));
  std::memcpy(values.data(), execution.buffers.at(0).data(), execution.buffers.at(0).size());
  return values;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

using Names = std::vector<std::string>;
const Names loads_and_stores = {
    "smsp__sass_inst_executed_op_global_ld.sum", "smsp__sass_inst_executed_op_global_st.sum",
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "smsp__sass_data_bytes_mem_global_op_st.sum", "gpu__time_duration.sum"};

class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!driver_library().ok()) GTEST_SKIP() << driver_library().sentence();
    if (!cupti_library().ok()) GTEST_SKIP() << cupti_library().sentence();
    backend_ = open();
    problem_ = ascending();
    workload_ = backend_->load(problem_);
  }

  std::unique_ptr<run::Backend> backend_;
  kernels::Problem problem_;
  std::unique_ptr<run::Workload> workload_;
};

const Names standard_set = {
    "shared_load_wavefronts", "shared_load_requests", "shared_store_wavefronts",
    "shared_store_requests",  "global_load_sectors",  "global_load_requests",
    "global_load_bytes",      "global_store_sectors", "global_store_requests",
    "global_store_bytes",     "duration_profiled"};

/// The test is skipped where this user may not count.
class GpuCounters : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    const std::string why = backend_->counters_unavailable();
    if (!why.empty()) GTEST_SKIP() << why;
  }
};

TEST_F(Gpu, DescribesItself) {
  const schema::Device& device = backend_->device();
  EXPECT_EQ(device.backend, "cupti");
  EXPECT_FALSE(device.name.empty());
  EXPECT_FALSE(device.chip.empty());
  EXPECT_THAT(device.uuid, HasSubstr("GPU-"));
  EXPECT_GE(device.compute_capability, 75);
  EXPECT_THAT(device.l2_bytes.value_or(0), Gt(0));
  EXPECT_THAT(backend_->problem_capacity(), Gt(std::uint64_t{1} << 30));
}

TEST_F(Gpu, TellsItsStateThroughNvml) {
  const schema::DeviceState state = backend_->state("before");
  EXPECT_EQ(state.unavailable, "");
  EXPECT_THAT(state.sm_clock_mhz.value_or(0), Gt(0));
  EXPECT_THAT(state.memory_clock_mhz.value_or(0), Gt(0));
  EXPECT_THAT(state.temperature_c.value_or(0), Gt(0));
  // This process has a context on the card and is not told of itself.
  for (const schema::Disturbance& one : state.disturbances) EXPECT_NE(one.process_id, getpid());
}

TEST_F(Gpu, IsFoundByTheDiagnosis) {
  std::vector<std::string> names;
  for (const Finding& finding : diagnose()) names.push_back(finding.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"driver", "CUPTI", "NVML", "device 0", "counters"}));
}

TEST_F(Gpu, HasNoDeviceOfALargeNumber) {
  try {
    open({.ordinal = 999});
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("no device 999"));
  }
}

TEST_F(Gpu, StartsEveryExecutionFromTheInitialInput) {
  for (int i = 0; i < 3; ++i) {
    const run::Execution execution = workload_->execute(launch_of("add_one"));
    ASSERT_EQ(execution.failure, "");
    EXPECT_EQ(values_of(execution).front(), 1);
    EXPECT_EQ(values_of(execution).back(), n);
    EXPECT_THAT(execution.registers.value_or(0), Gt(0));
  }
}

TEST_F(Gpu, SaysWhatAKernelUses) {
  const run::Execution indexed = workload_->execute(launch_of("indexed", 1));
  EXPECT_EQ(indexed.local_bytes, 96);
  EXPECT_EQ(indexed.static_shared_bytes, 0);
  const run::Execution broadcast = workload_->execute(launch_of("broadcast"));
  EXPECT_EQ(broadcast.local_bytes, 0);
  EXPECT_EQ(broadcast.static_shared_bytes, 1024);
  EXPECT_EQ(broadcast.resources_reason, "");
}

/// How many blocks of a kernel the driver says that a multiprocessor holds.
class DriversOccupancy {
 public:
  DriversOccupancy() : context_(0) {
    void* library = dlopen(driver_library().path.c_str(), RTLD_NOW);
    ask_ = reinterpret_cast<Ask>(dlsym(library, "cuOccupancyMaxActiveBlocksPerMultiprocessor"));
    context_.make_current();
    check(context_.api(), context_.api().cuModuleLoadDataEx(&module_, ptx, 0, nullptr, nullptr),
          "loading");
  }
  ~DriversOccupancy() { context_.api().cuModuleUnload(module_); }
  DriversOccupancy(const DriversOccupancy&) = delete;
  DriversOccupancy& operator=(const DriversOccupancy&) = delete;

  std::int64_t blocks(const char* entry, int threads, std::size_t dynamic_bytes) {
    const DriverApi& api = context_.api();
    CUfunction function = nullptr;
    check(api, api.cuModuleGetFunction(&function, module_, entry), "finding a kernel");
    check(api,
          api.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 static_cast<int>(dynamic_bytes)),
          "asking for shared memory");
    int blocks = 0;
    check(api, ask_(&blocks, function, threads, dynamic_bytes), "asking for the occupancy");
    return blocks;
  }

 private:
  using Ask = CUresult (*)(int*, CUfunction, int, std::size_t);
  Context context_;
  CUmodule module_ = nullptr;
  Ask ask_ = nullptr;
};

TEST_F(Gpu, HoldsAsManyBlocksAsTheViewOfLaunchesSays) {
  const std::string path = testing::TempDir() + "warpmeter_occupancy.db";
  std::remove(path.c_str());
  std::vector<std::int64_t> expected;
  {
    DriversOccupancy driver;
    schema::Store store(path);
    schema::Run run;
    run.backend = "cupti";
    const std::int64_t run_id = store.begin_run(run);
    const std::int64_t device_id = store.add_device(run_id, backend_->device());
    for (const char* entry : {"add_one", "broadcast", "indexed"}) {
      const run::Execution execution = workload_->execute(launch_of(entry, 1));
      for (std::uint32_t threads = 32; threads <= 1024; threads += 32) {
        for (const std::uint32_t bytes : {0U, 1000U, 9000U, 20000U, 40000U}) {
          schema::Launch launch;
          launch.family = "device_test";
          launch.variant = launch.kernel = entry;
          launch.block[0] = threads;
          launch.dynamic_shared_bytes = bytes;
          launch.registers = execution.registers;
          launch.static_shared_bytes = execution.static_shared_bytes;
          launch.local_bytes = execution.local_bytes;
          store.add_launch(run_id, device_id, launch);
          expected.push_back(driver.blocks(entry, static_cast<int>(threads), bytes));
        }
      }
    }
    store.end_run(run_id, schema::RunOutcome::done, "");
  }
  std::vector<std::int64_t> answers;
  for (const auto& row :
       schema::Reader(path).query("SELECT resident_blocks FROM launches ORDER BY launch_id").rows) {
    answers.push_back(std::get<std::int64_t>(row.at(0)));
  }
  EXPECT_EQ(answers, expected);
  std::remove(path.c_str());
}

TEST_F(Gpu, SaysWhyALaunchIsRefusedAndGoesOn) {
  EXPECT_THAT(workload_->execute(launch_of("add_one", 2048)).failure, HasSubstr("INVALID_VALUE"));
  EXPECT_THAT(workload_->execute(launch_of("missing")).failure, HasSubstr("no kernel missing"));
  run::Launch greedy = launch_of("add_one");
  greedy.geometry.dynamic_shared_bytes = 1 << 24;
  EXPECT_THAT(workload_->execute(greedy).failure, HasSubstr("dynamic shared memory"));
  EXPECT_EQ(workload_->execute(launch_of("add_one")).failure, "");
}

TEST_F(Gpu, HasNoRoomForMoreThanItsMemory) {
  kernels::Problem large;
  large.buffers.push_back({"a", Element::i32, std::vector<std::byte>(1 << 20)});
  const std::uint64_t capacity = backend_->problem_capacity();
  EXPECT_LT(capacity, static_cast<std::uint64_t>(*backend_->device().memory_bytes));
  EXPECT_NO_THROW(backend_->load(large));
}

// 1,000 threads in blocks of 250: 8 warps a block, so 32 loads, 32 stores. A warp of 32 threads
// reads 128 bytes, but blocks begin at 1,000-byte steps: sectors by hand below.
TEST_F(GpuCounters, CountsWhatCanBeWorkedOutByHand) {
  backend_->select(loads_and_stores);
  const run::Launch launch = launch_of("add_one");
  ASSERT_EQ(workload_->execute(launch).failure, "");
  int sectors = 0;
  for (int block = 0; block < 4; ++block) {
    for (int warp = 0; warp < 8; ++warp) {
      const int first = block * 250 + warp * 32, last = std::min(first + 31, block * 250 + 249);
      sectors += last * 4 / 32 - first * 4 / 32 + 1;
    }
  }
  // More launches than a batch of the profiler holds, and not a multiple of one.
  const std::vector<run::Launch> launches(101, launch);
  const auto counted = workload_->count(launches);
  ASSERT_THAT(counted, SizeIs(101));
  for (const auto& counters : counted) {
    ASSERT_THAT(counters, SizeIs(5));
    EXPECT_EQ(counters[0].value, 32);
    EXPECT_EQ(counters[1].value, 32);
    EXPECT_EQ(counters[2].value, sectors);
    EXPECT_EQ(counters[3].value, 4.0 * n);
    EXPECT_THAT(counters[4].value.value_or(0), Gt(300));
    EXPECT_EQ(counters[0].grade, schema::Grade::measured);
  }
}

// halve stores an even number's half: from the initial input each time, all 32 warps store; from
// what it left before, fewer would.
TEST_F(GpuCounters, RestoresTheInputBetweenPassesAndLaunches) {
  backend_->select(loads_and_stores);
  const run::Launch halve = launch_of("halve"), add_one = launch_of("add_one");
  ASSERT_EQ(workload_->execute(halve).failure, "");
  ASSERT_EQ(workload_->execute(add_one).failure, "");
  const std::vector<run::Launch> launches = {halve, halve, add_one, halve, halve};
  for (int repetition = 0; repetition < 3; ++repetition) {
    const auto counted = workload_->count(launches);
    for (const std::size_t i : {0, 1, 3, 4}) {
      EXPECT_EQ(counted[i][1].value, 32);
      EXPECT_EQ(counted[i][3].value, 4.0 * n / 2);
    }
    EXPECT_EQ(counted[2][3].value, 4.0 * n);
  }
}

TEST_F(GpuCounters, CountsAnotherSelectionAfterTheFirst) {
  const run::Launch launch = launch_of("add_one");
  ASSERT_EQ(workload_->execute(launch).failure, "");
  backend_->select(Names{"smsp__sass_inst_executed_op_global_ld.sum"});
  EXPECT_EQ(workload_->count({&launch, 1})[0][0].value, 32);
  // Hardware counters and SASS counters share no pass, whatever their order.
  backend_->select(Names{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                         "lts__t_sector_hit_rate.pct", "smsp__sass_inst_executed_op_global_st.sum",
                         "sm__warps_active.avg.pct_of_peak_sustained_active",
                         "dram__bytes_read.sum"});
  const auto counters = workload_->count({&launch, 1})[0];
  for (const schema::Counter& counter : counters) {
    EXPECT_TRUE(counter.value.has_value()) << counter.name << ": " << counter.reason;
  }
  EXPECT_EQ(counters[2].value, 32);
  backend_->select(Names{});
  EXPECT_THAT(workload_->count({&launch, 1})[0], IsEmpty());
}

// The catalogue builds on this: the exact counters of executed instructions are those of the unit,
// and leave out warps whose every lane was predicated off, as the unit does; bytes are distinct
// bytes.
TEST_F(GpuCounters, SassCountersAreThoseOfTheL1Unit) {
  backend_->select(Names{"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
                         "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                         "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum",
                         "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                         "smsp__sass_inst_executed_op_global_ld.sum",
                         "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
                         "smsp__sass_inst_executed_op_global_st.sum",
                         "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"});
  // Whole warps of odd numbers: halve stores nothing there.
  std::vector<std::int32_t> numbers(n);
  for (std::int32_t i = 0; i < n; ++i)
    numbers[static_cast<std::size_t>(i)] = i / 80 % 2 ? 1 : 2 * i;
  kernels::Problem problem = ascending();
  std::memcpy(problem.buffers[0].initial.data(), numbers.data(), n * sizeof(std::int32_t));
  const auto workload = backend_->load(problem);
  for (const char* entry : {"halve", "add_one"}) {
    const run::Launch launch = launch_of(entry);
    ASSERT_EQ(workload->execute(launch).failure, "");
    const auto counters = workload->count({&launch, 1})[0];
    for (std::size_t i = 0; i < counters.size(); i += 2) {
      EXPECT_EQ(counters[i].value, counters[i + 1].value) << entry << ' ' << counters[i].name;
      EXPECT_THAT(counters[i].value.value_or(0), Gt(0));
    }
    if (std::string_view(entry) == "halve") {
      EXPECT_LT(counters[6].value, counters[4].value);
    }
  }
}

TEST_F(GpuCounters, BytesAreDistinctBytes) {
  backend_->select(Names{"smsp__sass_data_bytes_mem_shared_op_st.sum",
                         "smsp__sass_data_bytes_mem_shared_op_ld.sum",
                         "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"});
  const run::Launch launch{&image, "broadcast", {{1, 1, 1}, {256, 1, 1}, 0}};
  ASSERT_EQ(workload_->execute(launch).failure, "");
  const auto counters = workload_->count({&launch, 1})[0];
  EXPECT_EQ(counters[0].value, 8 * 128);  // 8 warps
  EXPECT_EQ(counters[1].value, 8 * 4);
  EXPECT_EQ(counters[2].value, 8);
}

// Nsight Compute's command line takes 14 to 92 ms for the same. Measured here: 0.1 ms.
TEST_F(GpuCounters, ALaunchMoreCostsAFractionOfAMillisecond) {
  backend_->select(standard_set);
  const run::Launch launch = launch_of("add_one");
  ASSERT_EQ(workload_->execute(launch).failure, "");
  const auto milliseconds = [&](std::size_t launches) {
    const std::vector<run::Launch> repeated(launches, launch);
    const auto begin = std::chrono::steady_clock::now();
    workload_->count(repeated);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
  };
  milliseconds(1);  // pays for the start
  const double few = milliseconds(60), many = milliseconds(600);
  std::printf("one launch %.2f ms, 60 launches %.2f ms, 600 launches %.2f ms: %.4f ms a launch\n",
              milliseconds(1), few, many, (many - few) / 540);
  EXPECT_LT((many - few) / 540, 0.25);
}

TEST_F(GpuCounters, AMetricThatDividesByNothingIsUnavailable) {
  backend_->select(Names{"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct"});
  const run::Launch launch = launch_of("add_one");
  ASSERT_EQ(workload_->execute(launch).failure, "");
  const schema::Counter counter = workload_->count({&launch, 1})[0][0];
  if (counter.value) {
    EXPECT_EQ(*counter.value, 0);
  } else {
    EXPECT_THAT(counter.reason, HasSubstr("divides by is 0"));
  }
}

TEST_F(Gpu, TimesAsManySamplesAsWereAskedFor) {
  const run::Launch launch = launch_of("spin");
  ASSERT_EQ(workload_->execute(launch).failure, "");
  for (const auto cache : {schema::CacheState::cold, schema::CacheState::warm}) {
    for (const int samples : {1, 10, 300}) {
      const std::vector<double> times = workload_->time(launch, cache, 3, samples);
      EXPECT_THAT(times, SizeIs(static_cast<std::size_t>(samples)));
      EXPECT_THAT(times, Each(Gt(5000.0)));
    }
  }
}

TEST_F(GpuCounters, TimesTheSameAfterCounting) {
  const run::Launch launch = launch_of("spin");
  ASSERT_EQ(workload_->execute(launch).failure, "");
  const double before = median(workload_->time(launch, schema::CacheState::warm, 5, 100));
  backend_->select(loads_and_stores);
  workload_->count(std::vector<run::Launch>(40, launch));
  const double after = median(workload_->time(launch, schema::CacheState::warm, 5, 100));
  EXPECT_NEAR(after / before, 1, 0.02);
  EXPECT_EQ(workload_->count({&launch, 1})[0][1].value, 32);  // and counts the same after timing
}

TEST_F(Gpu, AColdCacheIsSlowerThanAWarmOne) {
  const run::Launch launch = launch_of("add_one");
  ASSERT_EQ(workload_->execute(launch).failure, "");
  const double warm = median(workload_->time(launch, schema::CacheState::warm, 5, 200));
  const double cold = median(workload_->time(launch, schema::CacheState::cold, 5, 200));
  std::printf("warm %.0f ns, cold %.0f ns\n", warm, cold);
  EXPECT_GT(cold, warm);
}

TEST_F(GpuCounters, StopsWhenAPersonHasHadEnough) {
  bool enough = false;
  const auto backend = open({.ordinal = 0, .cancelled = [&] { return enough; }});
  backend->select(loads_and_stores);
  const auto workload = backend->load(problem_);
  const run::Launch launch = launch_of("add_one");
  ASSERT_EQ(workload->execute(launch).failure, "");
  enough = true;
  EXPECT_THAT(workload->time(launch, schema::CacheState::cold, 3, 100), IsEmpty());
  const auto counted = workload->count({&launch, 1});
  EXPECT_FALSE(counted[0][0].value.has_value());
  enough = false;
  EXPECT_EQ(workload->count({&launch, 1})[0][0].value, 32);
}

// The last test: it breaks the process's context on the device.
using GpuBroken = GpuCounters;

TEST_F(GpuBroken, AStrayStoreFailsItsLaunchAndNamesItselfInTheNext) {
  backend_->select(loads_and_stores);
  const run::Launch good = launch_of("add_one");
  ASSERT_EQ(workload_->execute(good).failure, "");
  ASSERT_EQ(workload_->count({&good, 1})[0][0].value, 32);
  EXPECT_THAT(workload_->execute(launch_of("stray")).failure, HasSubstr("ILLEGAL_ADDRESS"));
  EXPECT_THAT(workload_->execute(good).failure, HasSubstr("stray: CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_THAT(backend_->timing_unavailable(), HasSubstr("stray"));
  EXPECT_THAT(workload_->count({&good, 1})[0][0].reason, HasSubstr("stray"));
  EXPECT_THAT(backend_->load(problem_)->execute(good).failure, HasSubstr("stray"));
  EXPECT_EQ(backend_->state("after").unavailable, "");
}

}  // namespace
}  // namespace warpmeter::cupti
