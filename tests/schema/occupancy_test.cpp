// SPDX-License-Identifier: MIT
// The theoretical occupancy of `launches`, held to NVIDIA's own calculation (cuda_occupancy.h of
// the toolkit).
#include <cuda_occupancy.h>

#include <fstream>
#include <random>

#include "collector/model/machine/device_limits.h"
#include "tests/csv.h"
#include "tests/paths.h"
#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

using ::testing::ElementsAre;

class Occupancy : public ::testing::Test {
 protected:
  std::string path() const { return folder_ / "warpmeter.db"; }

  void store(int compute_capability, const std::vector<Launch>& launches) {
    Device device = example_device();
    device.compute_capability = compute_capability;
    Store store(path());
    const std::int64_t run = store.begin_run(example_run(""));
    store.add_launches(run, store.add_device(run, device), launches);
    store.end_run(run, RunOutcome::done, "");
  }

 private:
  Folder folder_;
};

Launch launch_with(std::int64_t registers, std::uint32_t threads, std::int64_t static_bytes,
                   std::uint32_t dynamic_bytes = 0) {
  Launch launch = example_launch();
  launch.block[0] = threads;
  launch.block[1] = 1;
  launch.registers = registers;
  launch.local_bytes = 0;
  launch.static_shared_bytes = static_bytes;
  launch.dynamic_shared_bytes = dynamic_bytes;
  return launch;
}

/// A device as the toolkit's header wants it. How much shared memory it has, the header itself
/// knows: the most that it finds a configuration for.
cudaOccDeviceProp properties_of(int compute_capability, int most_threads) {
  cudaOccDeviceProp device;
  device.computeMajor = compute_capability / 10;
  device.computeMinor = compute_capability % 10;
  device.maxThreadsPerBlock = 1024;
  device.maxThreadsPerMultiprocessor = most_threads;
  device.regsPerBlock = device.regsPerMultiprocessor = 65536;
  device.warpSize = 32;
  device.numSms = 1;
  for (std::size_t kib = 256; kib > 0; --kib) {
    std::size_t bytes = kib * 1024;
    if (cudaOccAlignUpShmemSizeVoltaPlus(&bytes, &device) != CUDA_OCC_SUCCESS) continue;
    device.sharedMemPerMultiprocessor = bytes;
    break;
  }
  device.reservedSharedMemPerBlock = compute_capability < 80 ? 0 : 1024;
  device.sharedMemPerBlockOptin =
      device.sharedMemPerMultiprocessor - device.reservedSharedMemPerBlock;
  device.sharedMemPerBlock = device.sharedMemPerBlockOptin;
  return device;
}

/// "resident blocks|resident warps|occupancy|limiter" as the header has it.
std::string expected(const cudaOccDeviceProp& device, const Launch& launch) {
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = 1024;
  kernel.numRegs = static_cast<int>(*launch.registers);
  kernel.sharedSizeBytes = static_cast<std::size_t>(*launch.static_shared_bytes);
  kernel.maxDynamicSharedSizeBytes = launch.dynamic_shared_bytes;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  const cudaOccDeviceState state{};
  cudaOccResult result;
  const auto threads = static_cast<int>(launch.block[0]);
  if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads,
                                              launch.dynamic_shared_bytes) != CUDA_OCC_SUCCESS) {
    return "the header refuses it";
  }
  const int blocks = result.activeBlocksPerMultiprocessor, warps = blocks * ((threads + 31) / 32);
  const int most_warps = device.maxThreadsPerMultiprocessor / 32;
  std::string limiter;
  const auto add = [&](unsigned factor, const char* name) {
    if ((result.limitingFactors & factor) != 0)
      limiter += (limiter.empty() ? "" : ", ") + std::string(name);
  };
  add(OCC_LIMIT_REGISTERS, "registers");
  add(OCC_LIMIT_SHARED_MEMORY, "shared memory");
  add(OCC_LIMIT_WARPS, "threads");
  add(OCC_LIMIT_BLOCKS, "blocks");
  return text_of(std::int64_t{blocks}) + "|" + text_of(std::int64_t{warps}) + "|" +
         text_of(100.0 * warps / most_warps) + "|" + (warps == most_warps ? "none" : limiter);
}

TEST_F(Occupancy, IsWhatTheToolkitCalculatesOnEveryDevice) {
  const std::pair<int, int> devices[] = {
      {70, 2048}, {72, 2048},  {75, 1024},  {80, 2048},  {86, 1536},  {87, 1536}, {89, 1536},
      {90, 2048}, {100, 2048}, {103, 2048}, {110, 1536}, {120, 1536}, {121, 1536}};
  std::mt19937 random(13);
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  for (const auto& [compute_capability, threads] : devices) {
    const cudaOccDeviceProp device = properties_of(compute_capability, threads);
    ASSERT_GE(device.sharedMemPerMultiprocessor, 64 * 1024U) << compute_capability;
    std::vector<Launch> launches;
    for (int i = 0; i < 500; ++i) {
      const int shared = i % 3 == 0 ? 0 : number(0, i % 3 == 1 ? 8192 : 240 * 1024);
      const int fixed = number(0, std::min(shared, 48 * 1024));
      launches.push_back(launch_with(number(1, 255), static_cast<std::uint32_t>(number(1, 1024)),
                                     fixed, static_cast<std::uint32_t>(shared - fixed)));
    }
    store(compute_capability, launches);
    const std::vector<std::string> answers =
        lines_of(path(),
                 "SELECT resident_blocks, resident_warps, theoretical_occupancy, occupancy_limiter "
                 "FROM launches WHERE run_id = (SELECT max(run_id) FROM runs) ORDER BY launch_id");
    ASSERT_EQ(answers.size(), launches.size());
    for (std::size_t i = 0; i < launches.size(); ++i) {
      ASSERT_EQ(answers[i], expected(device, launches[i]))
          << "compute capability " << compute_capability << ", " << *launches[i].registers
          << " registers, " << launches[i].block[0] << " threads, "
          << *launches[i].static_shared_bytes << " + " << launches[i].dynamic_shared_bytes
          << " bytes";
    }
  }
}

// tests/golden/h200_occupancy.csv: cuOccupancyMaxActiveBlocksPerMultiprocessor on an NVIDIA H200,
// driver 580, of the built-in kernels and of some that were made to need many registers.
TEST_F(Occupancy, IsWhatTheDriverOfAnH200Says) {
  std::ifstream file(source_dir() + "/tests/golden/h200_occupancy.csv");
  std::vector<Launch> launches;
  std::vector<std::string> recorded;
  for (const auto& row : csv_rows(file)) {
    const auto number = [&](const char* column) { return std::stoll(row.at(column)); };
    launches.push_back(launch_with(
        number("registers"), static_cast<std::uint32_t>(number("threads")),
        number("static_shared_bytes"), static_cast<std::uint32_t>(number("dynamic_shared_bytes"))));
    recorded.push_back(row.at("resident_blocks"));
  }
  ASSERT_GT(launches.size(), 1000U);
  store(90, launches);
  EXPECT_EQ(lines_of(path(), "SELECT resident_blocks FROM launches ORDER BY launch_id"), recorded);
}

TEST_F(Occupancy, NamesWhatLimitsIt) {
  store(90, {launch_with(32, 256, 0), launch_with(128, 256, 0), launch_with(32, 256, 40 * 1024),
             launch_with(32, 32, 0), launch_with(32, 768, 0), launch_with(64, 256, 56 * 1024),
             launch_with(255, 1024, 0)});
  EXPECT_THAT(
      lines_of(path(),
               "SELECT resident_blocks, resident_warps, theoretical_occupancy, "
               "occupancy_limiter, resources_reason FROM launches ORDER BY launch_id"),
      ElementsAre("8|64|100|none|NULL", "2|16|25|registers|NULL", "5|40|62.5|shared memory|NULL",
                  "32|32|50|blocks|NULL", "2|48|75|registers, threads|NULL",
                  "4|32|50|registers, shared memory|NULL", "0|0|0|registers|NULL"));
}

/// Two tables of what devices have: the view's and the model's.
TEST_F(Occupancy, IsWhatTheModelSays) {
  int known = 0;
  for (int arch = 50; arch < 130; ++arch) {
    const model::DeviceLimits& limits = model::device_limits(arch);
    const std::uint32_t most = limits.shared_of_block;
    struct Case {
      std::uint32_t registers, threads, shared_bytes;
    };
    const std::vector<Case> cases = {{32, 32, most}, {32, 32, most + 1}, {16, 32, 0},
                                     {255, 256, 0},  {40, 96, 5000},     {24, 1024, 20000}};
    std::vector<Launch> launches;
    for (const Case& c : cases) {
      launches.push_back(launch_with(c.registers, c.threads, 0, c.shared_bytes));
    }
    store(arch, launches);
    const std::vector<std::string> blocks =
        lines_of(path(),
                 "SELECT resident_blocks FROM launches WHERE run_id = "
                 "(SELECT max(run_id) FROM runs) ORDER BY launch_id");
    if (blocks.front() == "NULL") continue;  // an architecture that the view does not have
    ++known;
    ASSERT_EQ(limits.arch, arch);
    EXPECT_EQ(blocks[0], "1") << arch;
    EXPECT_EQ(blocks[1], "0") << arch;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Case& c = cases[i];
      EXPECT_EQ(blocks[i], std::to_string(model::blocks_at_a_time(
                               limits, {c.threads, c.shared_bytes, c.registers})))
          << "compute capability " << arch << ", case " << i;
    }
  }
  EXPECT_GE(known, 13);
}

TEST_F(Occupancy, SaysWhyItIsNotKnown) {
  Launch unread = launch_with(32, 256, 0), old = unread, without_local = unread;
  unread.registers.reset();
  unread.resources_reason = "the machine code was not read";
  old.registers.reset();
  without_local.local_bytes.reset();
  store(90, {unread, old, without_local});
  store(61, {launch_with(32, 256, 0)});
  EXPECT_THAT(
      lines_of(path(),
               "SELECT theoretical_occupancy, occupancy_limiter, resources_reason FROM launches "
               "ORDER BY launch_id"),
      ElementsAre("NULL|NULL|the machine code was not read", "NULL|NULL|it was not recorded",
                  "100|none|local memory was not recorded",
                  "NULL|NULL|the limits of compute capability 6.1 are not known"));
}

}  // namespace
}  // namespace warpmeter::schema
