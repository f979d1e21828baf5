// SPDX-License-Identifier: MIT
// Runs as files that readers of `nvprof -o` take. The statements are those that public readers run:
// nvprof2json, nvprof-tools, PyTorch's load_nvprof, PyProf's NVVP, openvprof.
#include "schema/nvprof_file/export.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "schema/merge/merge.h"
#include "schema/nvprof_file/import.h"
#include "tests/schema/nvprof_database.h"

namespace warpmeter::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Each row of a file of nvprof's as one line, values joined with '|'.
std::vector<std::string> rows_of(const std::string& path, std::string_view sql) {
  const Handle db = open_plain(path);
  Statement statement(db.get(), sql);
  std::vector<std::string> lines;
  while (statement.step()) {
    std::string line;
    for (int i = 0; i < statement.columns(); ++i) {
      line += (i == 0 ? "" : "|") + text_of(statement.value(i));
    }
    lines.push_back(line);
  }
  return lines;
}

/// A thread that copies to the device in a range, launches and copies back; then a peer copy, a
/// migration and faults. The second kernel's time is not known.
std::int64_t store_traced_run(const std::string& path) {
  Store store(path);
  const std::int64_t run = store.begin_run(example_run());
  Device record = example_device();
  record.uuid = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f";
  const std::int64_t device = store.add_device(run, record);
  const auto shape = [&](const std::string& kind, const std::string& name, bool is_on_device) {
    ActivityShape s;
    s.kind = kind;
    s.name = name;
    s.process_id = 4711;
    if (is_on_device) {
      s.device_id = device;
      s.context = 1;
      s.stream = 7;
    } else {
      s.thread_id = 17;
    }
    return s;
  };
  ActivityShape kernel = shape("kernel", "setRowReadRow(int*)", true);
  kernel.symbol = "_Z13setRowReadRowPi";
  kernel.grid = {4, 1, 1};
  kernel.block = {32, 16, 1};
  kernel.registers = 12;
  kernel.static_shared_bytes = 4096;
  kernel.dynamic_shared_bytes = 128;
  ActivityShape copy = shape("copy", "[CUDA memcpy HtoD]", true);
  copy.source_memory = "Pageable";
  copy.target_memory = "Device";
  ActivityShape peer = shape("copy", "[CUDA memcpy PtoP]", true);
  peer.source_memory = peer.target_memory = "Device";
  peer.source_device = 0;
  peer.source_context = 1;
  peer.target_device = 1;
  peer.target_context = 2;
  ActivityShape set = shape("set", "[CUDA memset]", true);
  set.target_memory = "Device";
  ActivityShape migration = shape("migration", "[Unified Memory Memcpy DtoH]", false);
  migration.source_device = 0;
  ActivityBatch batch;
  batch.shapes = {{1, shape("call", "cudaMemcpyAsync", false)},
                  {2, copy},
                  {3, shape("call", "cudaLaunchKernel", false)},
                  {4, kernel},
                  {5, shape("range", "step", false)},
                  {6, peer},
                  {7, migration},
                  {8, shape("page fault", "[Unified Memory GPU page faults]", false)},
                  {9, shape("call", "cuMemAlloc_v2", false)},
                  {10, set},
                  {11, shape("page fault", "[Unified Memory CPU page faults]", false)}};
  batch.activities = {{5, 100, 900, {}, {}, {}, {}},  {1, 200, 50, {}, {}, 9, {}},
                      {2, 300, 64, 4096, {}, 9, {}},  {3, 400, 20, {}, {}, 10, {}},
                      {4, 500, 1256, {}, {}, 10, {}}, {4, {}, {}, {}, {}, 11, {}},
                      {6, 2000, 70, 512, {}, 12, {}}, {7, 2100, 30, 65536, {}, {}, 4096},
                      {8, 2200, 5, {}, 3, {}, 8192},  {9, 2300, 4, {}, {}, 13, {}},
                      {10, 2400, 6, 256, {}, 14, {}}, {11, 2500, {}, {}, 1, {}, 12288}};
  store.add_activities(run, batch);
  store.end_run(run, RunOutcome::done, "");
  return run;
}

std::string family_of(const std::string& path) {
  return lines_of(path, "SELECT min(family) FROM launches").at(0);
}

class NvprofExport : public ::testing::Test {
 protected:
  NvprofExported write(std::int64_t run) {
    return export_nvprof_file(Reader(database), run, FileClaims().write(file, "-o"));
  }
  /// The run began at june_2017, without its microseconds.
  void export_traced() {
    const std::int64_t run = store_traced_run(database);
    execute(open_plain(database).get(), "UPDATE t_run SET started = '2017-06-07T14:13:26.032Z'");
    exported = write(run);
  }
  Folder folder;
  std::string database = folder / "lab.db", file = folder / "out.nvvp";
  NvprofExported exported;
};

constexpr std::int64_t begin = june_2017 / 1'000'000 * 1'000'000;

TEST_F(NvprofExport, CountsItsRows) {
  export_traced();
  EXPECT_EQ(exported.kernels, 2);
  EXPECT_EQ(exported.copies, 2);
  EXPECT_EQ(exported.sets, 1);
  EXPECT_EQ(exported.calls, 3);
  EXPECT_EQ(exported.ranges, 1);
  EXPECT_EQ(exported.managed, 3);
  EXPECT_TRUE(exported.has_unknown_times);
}

/// nvprof2json takes columns by their names, nvprof-tools by their places.
TEST_F(NvprofExport, WritesKernelsAsTheyAreRead) {
  export_traced();
  EXPECT_THAT(
      rows_of(
          file,
          "SELECT start, end, completed, deviceId, contextId, streamId, gridX, gridY, gridZ, "
          "blockX, blockY, blockZ, registersPerThread, staticSharedMemory, "
          "dynamicSharedMemory, correlationId, value FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL "
          "JOIN StringTable s ON s._id_ = name"),
      ElementsAre(fmt::format("{0}|{1}|{1}|0|1|7|4|1|1|32|16|1|12|4096|128|10|_Z13setRowReadRowPi",
                              begin + 500, begin + 1756),
                  "0|0|0|0|1|7|4|1|1|32|16|1|12|4096|128|11|_Z13setRowReadRowPi"));
  EXPECT_THAT(rows_of(file,
                      "SELECT cid, name FROM pragma_table_info("
                      "'CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL') WHERE name IN "
                      "('start', 'end', 'deviceId', 'name')"),
              ElementsAre("6|start", "7|end", "9|deviceId", "24|name"));
  EXPECT_THAT(rows_of(file,
                      "SELECT cid FROM pragma_table_info('CUPTI_ACTIVITY_KIND_DEVICE') "
                      "WHERE name = 'id'"),
              ElementsAre("26"));
}

TEST_F(NvprofExport, WritesCallsUnderTheirNumbers) {
  export_traced();
  EXPECT_THAT(rows_of(file,
                      "SELECT cbid, start, end, processId, threadId, correlationId FROM "
                      "CUPTI_ACTIVITY_KIND_RUNTIME"),
              ElementsAre(fmt::format("41|{}|{}|4711|17|9", begin + 200, begin + 250),
                          fmt::format("211|{}|{}|4711|17|10", begin + 400, begin + 420)));
  // CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2
  EXPECT_THAT(rows_of(file, "SELECT cbid FROM CUPTI_ACTIVITY_KIND_DRIVER"), ElementsAre("243"));
}

TEST_F(NvprofExport, WritesCopiesSetsAndManagedMemory) {
  export_traced();
  // A copy that its caller did not wait for has the flag 1.
  EXPECT_THAT(rows_of(file,
                      "SELECT copyKind, srcKind, dstKind, flags, bytes, start, end, "
                      "correlationId FROM CUPTI_ACTIVITY_KIND_MEMCPY"),
              ElementsAre(fmt::format("1|1|3|1|4096|{}|{}|9", begin + 300, begin + 364)));
  EXPECT_THAT(rows_of(file,
                      "SELECT copyKind, bytes, srcDeviceId, srcContextId, dstDeviceId, "
                      "dstContextId FROM CUPTI_ACTIVITY_KIND_MEMCPY2"),
              ElementsAre("10|512|0|1|1|2"));
  EXPECT_THAT(rows_of(file,
                      "SELECT bytes, memoryKind, correlationId FROM "
                      "CUPTI_ACTIVITY_KIND_MEMSET"),
              ElementsAre("256|3|14"));
  EXPECT_THAT(rows_of(file,
                      "SELECT counterKind, value, address, processId FROM "
                      "CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER"),
              ElementsAre("2|65536|4096|4711", "4|3|8192|4711", "3|0|12288|4711"));
}

/// PyProf joins the markers with flags 2 and 4, and finds the thread's by the bytes of its number;
/// PyTorch and nvprof2json tell the two by the name.
TEST_F(NvprofExport, WritesARangeAsTwoMarkers) {
  export_traced();
  EXPECT_THAT(
      rows_of(file,
              "SELECT s.value, a.timestamp, b.timestamp, hex(a.objectId) FROM "
              "CUPTI_ACTIVITY_KIND_MARKER a JOIN CUPTI_ACTIVITY_KIND_MARKER b ON a.id = b.id "
              "JOIN StringTable s ON s._id_ = a.name WHERE a.flags = 2 AND b.flags = 4 AND "
              "a.name != 0 AND b.name = 0"),
      ElementsAre(fmt::format("step|{}|{}|671200001100000000000000", begin + 100, begin + 1000)));
}

TEST_F(NvprofExport, WritesTheDevice) {
  export_traced();
  EXPECT_THAT(rows_of(file,
                      "SELECT id, value, computeCapabilityMajor, computeCapabilityMinor, "
                      "numMultiprocessors, hex(uuid) FROM CUPTI_ACTIVITY_KIND_DEVICE d JOIN "
                      "StringTable s ON s._id_ = d.name"),
              ElementsAre("0|NVIDIA H200|9|0|132|000102030405060708090A0B0C0D0E0F"));
  EXPECT_THAT(rows_of(file,
                      "SELECT contextId, deviceId, nullStreamId FROM "
                      "CUPTI_ACTIVITY_KIND_CONTEXT"),
              ElementsAre("1|0|7"));
  EXPECT_THAT(rows_of(file, "SELECT version FROM Version"), ElementsAre("11"));
}

/// A launch that was counted: nvprof's kernel that ran alone, its values under numbers of CUPTI.
TEST_F(NvprofExport, WritesMetricsAsBytes) {
  store_run(database, {example_launch()});
  exported = write(1);
  EXPECT_EQ(exported.kernels, 1);
  EXPECT_TRUE(exported.has_unknown_times);
  EXPECT_GT(exported.left_out, 0) << "shared_load_wavefronts was no metric of nvprof's";
  // gld_efficiency is 4,194,304 bytes of 131,072 sectors: 100 %. gst_transactions is a count.
  EXPECT_THAT(rows_of(file,
                      "SELECT hex(m.value) FROM CUPTI_ACTIVITY_KIND_METRIC m JOIN "
                      "CUPTI_ACTIVITY_KIND_KERNEL k USING (correlationId) WHERE m.id = "
                      "(SELECT max(id) FROM CUPTI_ACTIVITY_KIND_METRIC WHERE hex(value) IN "
                      "('0000000000005940'))"),
              ElementsAre("0000000000005940"));
  EXPECT_THAT(rows_of(file,
                      "SELECT hex(value) FROM CUPTI_ACTIVITY_KIND_METRIC WHERE hex(value) = "
                      "'0000080000000000'"),
              SizeIs(1));
}

/// There and back: the run reads as it was.
TEST_F(NvprofExport, IsReadAgainAsItWas) {
  export_traced();
  const std::string again = folder / "again.db";
  import_nvprof_file(file, again, {"app", {}});
  const char* sql =
      "SELECT kind, name, process_id, thread_id, start_ns - (SELECT min(start_ns) FROM "
      "activities), "
      "duration_ns, context, stream, correlation, grid_x, block_y, registers, "
      "dynamic_shared_bytes, "
      "bytes, faults, address, source_memory, target_memory, symbol FROM activities "
      "WHERE kind IN ('call', 'range', 'copy') ORDER BY kind, start_ns";
  EXPECT_EQ(lines_of(again, sql), lines_of(database, sql));
  EXPECT_THAT(lines_of(again,
                       "SELECT name, grid_x, block_y, duration_ns, device FROM activities "
                       "WHERE kind = 'kernel' ORDER BY activity_id"),
              ElementsAre("setRowReadRow(int*)|4|16|1256|NVIDIA H200",
                          "setRowReadRow(int*)|4|16|NULL|NVIDIA H200"));
  EXPECT_THAT(lines_of(again,
                       "SELECT kind, name, bytes, faults, address FROM activities WHERE kind "
                       "IN ('migration', 'page fault') ORDER BY activity_id"),
              ElementsAre("migration|[Unified Memory Memcpy DtoH]|65536|NULL|4096",
                          "page fault|[Unified Memory GPU page faults]|NULL|3|8192",
                          "page fault|[Unified Memory CPU page faults]|NULL|1|12288"));
  EXPECT_THAT(lines_of(again,
                       "SELECT family, variant, samples, median_ns FROM launches LEFT JOIN "
                       "timings USING (launch_id) ORDER BY samples"),
              ElementsAre("app|setRowReadRow|NULL|NULL", "app|setRowReadRow|1|1256"));
}

TEST_F(NvprofExport, WritesOnlyTheMetricsThatWereAskedFor) {
  store_run(database, {example_launch()});
  const std::vector<std::string> names = {"gst_transactions", "no_name_of_nvprof"};
  exported = export_nvprof_file(Reader(database), 1, FileClaims().write(file, "-o"), names);
  EXPECT_EQ(exported.values, 1);
  EXPECT_THAT(rows_of(file, "SELECT hex(value) FROM CUPTI_ACTIVITY_KIND_METRIC"),
              ElementsAre("0000080000000000"));
}

TEST_F(NvprofExport, GivesMetricsBackAsTheyWere) {
  const std::string old = folder / "old.nvvp", again = folder / "again.db";
  write_nvprof_file(old);
  import_nvprof_file(old, database, {});
  exported = write(1);
  import_nvprof_file(file, again, {"old", {}});
  const char* sql =
      "SELECT x.variant, x.metric, x.value, x.unit, x.reason FROM results x JOIN counters c ON "
      "c.launch_id = x.launch_id AND c.counter = x.metric WHERE x.variant = 'setColReadCol' AND "
      "x.metric <> 'duration_profiled' ORDER BY x.metric";
  EXPECT_THAT(lines_of(database, sql), SizeIs(6));
  EXPECT_EQ(lines_of(again, sql), lines_of(database, sql));
}

/// Objects as CUPTI has them: a process with a thread, and a device with a context and a stream; 4
/// bytes each, and 8 of a thread.
TEST_F(NvprofExport, NamesProcessesAndContexts) {
  const std::int64_t run = store_traced_run(database);
  NvprofNaming naming;
  naming.process = [](std::int64_t process) { return fmt::format("process {}", process); };
  naming.context = [](std::int64_t process, std::int64_t context) {
    return fmt::format("{} in {}", context, process);
  };
  export_nvprof_file(Reader(database), run, FileClaims().write(file, "-o"), {}, naming);
  const auto names = rows_of(file,
                             "SELECT objectKind, hex(objectId), value FROM "
                             "CUPTI_ACTIVITY_KIND_NAME JOIN StringTable s ON s._id_ = name ORDER "
                             "BY objectKind, objectId");
  // 4711 is 0x1267. The run has no launch, so nothing says which program it is of.
  EXPECT_THAT(names, ElementsAre("1|671200000000000000000000|process 4711",
                                 "4|000000000100000000000000|1 in 4711"));
}

/// The only name of an object that can be a program's: warpmeter's own before a process's.
TEST_F(NvprofExport, IsReadAsTheProgramThatItNames) {
  store_run(database, {example_launch()});
  write(1);
  const auto family_with = [&](const std::string& sql) {
    const std::string other = folder / "other.nvvp", again = folder / "again.db";
    std::filesystem::copy_file(file, other, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::remove(again);
    execute(open_plain(other).get(), sql);
    import_nvprof_file(other, again, {});
    return family_of(again);
  };
  const std::string none = "DELETE FROM CUPTI_ACTIVITY_KIND_NAME;",
                    text =
                        "INSERT INTO StringTable VALUES (900, 'solver'), (901, '../solver'), "
                        "(902, 'other');",
                    process =
                        "INSERT INTO CUPTI_ACTIVITY_KIND_NAME (objectKind, objectId, name) "
                        "VALUES (1, x'00', ";
  EXPECT_EQ(family_with(""), family_of(database));
  EXPECT_EQ(family_with(none), "other");  // the file's
  EXPECT_EQ(family_with(none + text + process + "900)"), "solver");
  EXPECT_EQ(family_with(none + text + process + "901)"), "other");
  EXPECT_EQ(family_with(none + text + process + "900), (1, x'01', 902)"), "other");
  EXPECT_EQ(family_with(text + process + "900)"), family_of(database));
}

TEST_F(NvprofExport, SaysWhereItCannotWrite) {
  store_run(database, {example_launch()});
  file = folder / "no/such/folder/out.nvvp";
  expect_failure(failure_of([&] { write(1); }), ExitCode::file, HasSubstr("no/such/folder"));
}

}  // namespace
}  // namespace warpmeter::schema
