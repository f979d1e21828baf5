// SPDX-License-Identifier: MIT
// Files as nvprof wrote them, made by hand: the tables' statements are those that nvprof ran.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/schema/fixture.h"

namespace warpmeter::schema {

/// 2017-06-07T14:13:26.032514222Z, in nanoseconds since 1970.
constexpr std::int64_t june_2017 = 1'496'844'806'032'514'222;

/// The 8 bytes of a metric's value as a literal of SQL.
inline std::string blob_of(std::uint64_t bits) {
  std::string text = "x'";
  for (int i = 0; i < 8; ++i) text += fmt::format("{:02x}", (bits >> (8 * i)) & 0xff);
  return text + "'";
}
inline std::string blob_of(double value) { return blob_of(std::bit_cast<std::uint64_t>(value)); }

/// The tables of CUDA 8 (version 9), those that matter here.
inline constexpr std::string_view tables_of_2017 = R"sql(
CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT NOT NULL UNIQUE);
CREATE TABLE Version(version INTEGER);
INSERT INTO Version VALUES (9);
CREATE TABLE CUPTI_ACTIVITY_KIND_DEVICE(_id_ INTEGER PRIMARY KEY AUTOINCREMENT, flags INT NOT NULL,
  globalMemorySize INT NOT NULL, l2CacheSize INT NOT NULL, coreClockRate INT NOT NULL,
  numMultiprocessors INT NOT NULL, computeCapabilityMajor INT NOT NULL,
  computeCapabilityMinor INT NOT NULL, id INT NOT NULL, eccEnabled INT NOT NULL, uuid BLOB NOT NULL,
  name INT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(_id_ INTEGER PRIMARY KEY AUTOINCREMENT,
  cacheConfig BLOB NOT NULL, sharedMemoryConfig INT NOT NULL, registersPerThread INT NOT NULL,
  partitionedGlobalCacheRequested INT NOT NULL, partitionedGlobalCacheExecuted INT NOT NULL,
  start INT NOT NULL, end INT NOT NULL, completed INT NOT NULL, deviceId INT NOT NULL,
  contextId INT NOT NULL, streamId INT NOT NULL, gridX INT NOT NULL, gridY INT NOT NULL,
  gridZ INT NOT NULL, blockX INT NOT NULL, blockY INT NOT NULL, blockZ INT NOT NULL,
  staticSharedMemory INT NOT NULL, dynamicSharedMemory INT NOT NULL,
  localMemoryPerThread INT NOT NULL, localMemoryTotal INT NOT NULL, correlationId INT NOT NULL,
  gridId INT NOT NULL, name INT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(_id_ INTEGER PRIMARY KEY AUTOINCREMENT,
  cacheConfig BLOB NOT NULL, sharedMemoryConfig INT NOT NULL, registersPerThread INT NOT NULL,
  partitionedGlobalCacheRequested INT NOT NULL, partitionedGlobalCacheExecuted INT NOT NULL,
  start INT NOT NULL, end INT NOT NULL, completed INT NOT NULL, deviceId INT NOT NULL,
  contextId INT NOT NULL, streamId INT NOT NULL, gridX INT NOT NULL, gridY INT NOT NULL,
  gridZ INT NOT NULL, blockX INT NOT NULL, blockY INT NOT NULL, blockZ INT NOT NULL,
  staticSharedMemory INT NOT NULL, dynamicSharedMemory INT NOT NULL,
  localMemoryPerThread INT NOT NULL, localMemoryTotal INT NOT NULL, correlationId INT NOT NULL,
  gridId INT NOT NULL, name INT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_METRIC(_id_ INTEGER PRIMARY KEY AUTOINCREMENT, id INT NOT NULL,
  value BLOB NOT NULL, correlationId INT NOT NULL, flags INT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_METRIC_INSTANCE(_id_ INTEGER PRIMARY KEY AUTOINCREMENT,
  id INT NOT NULL, value BLOB NOT NULL, instance INT NOT NULL, correlationId INT NOT NULL,
  flags INT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_EVENT(_id_ INTEGER PRIMARY KEY AUTOINCREMENT, id INT NOT NULL,
  value INT NOT NULL, domain INT NOT NULL, correlationId INT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_EVENT_INSTANCE(_id_ INTEGER PRIMARY KEY AUTOINCREMENT,
  id INT NOT NULL, domain INT NOT NULL, instance INT NOT NULL, value INT NOT NULL,
  correlationId INT NOT NULL);
)sql";

/// A row of a table of kernels of 2017: 4 × 1 × 1 blocks of 32 × 32 × 1 threads, 1,256 ns.
inline std::string kernel_row(const std::string& table, std::int64_t start, int correlation,
                              int name) {
  return fmt::format(
      "INSERT INTO CUPTI_ACTIVITY_KIND_{0} VALUES (NULL, x'00', 1, 12, 2, 2, {1}, {2}, {2}, 0, 1, "
      "7, 4, 1, 1, 32, 32, 1, 4096, 128, 16, 78643200, {3}, 5, {4});",
      table, start, start + 1'256, correlation, name);
}

/// The square tile's two kernels on a Quadro P2000: traced, and counted with three metrics and an
/// event.
inline void write_nvprof_file(const std::string& path) {
  const Handle db = open_plain(path);
  execute(db.get(), tables_of_2017);
  execute(
      db.get(),
      "INSERT INTO StringTable VALUES (1, 'Quadro P2000'), (2, '_Z13setRowReadRowPi'), "
      "(3, '_Z13setColReadColPi');"
      "INSERT INTO CUPTI_ACTIVITY_KIND_DEVICE VALUES (NULL, 0, 5368709120, 1310720, 1480500, 8, "
      "6, 1, 0, 0, x'000102030405060708090a0b0c0d0e0f', 1);");
  execute(db.get(), kernel_row("CONCURRENT_KERNEL", june_2017, 487, 2) +
                        kernel_row("KERNEL", june_2017 + 1'000'000, 488, 3));
  // Numbers of Pascal, from CUPTI 11.8's cuptiMetricGetAttribute and cuptiEventGetAttribute.
  execute(db.get(),
          fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_METRIC (id, value, correlationId, flags) "
                      "VALUES (19923062, {}, 488, 0), ({}, {}, 488, 0), ({}, {}, 488, 0), "
                      "({}, {}, 488, 0), ({}, {}, 488, 0);"
                      "INSERT INTO CUPTI_ACTIVITY_KIND_EVENT (id, value, domain, correlationId) "
                      "VALUES (83886184, 4711, 3, 488);",
                      blob_of(0.5), 0x465, blob_of(32.0), 0x46d, blob_of(std::uint64_t{96}), 0x454,
                      blob_of(std::uint64_t{1'165'500'000}), 0x48e, blob_of(std::uint64_t{2})));
}

}  // namespace warpmeter::schema
