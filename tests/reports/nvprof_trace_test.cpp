// SPDX-License-Identifier: MIT
// nvprof's traces and its table of managed memory. The lines are those of public logs: a vector sum
// on a Tesla T4, CSV of an RTX 2080 Ti, managed memory on a GTX 1080 and a V100.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/nvprof/memory.h"
#include "reports/nvprof/summary_rows.h"
#include "reports/nvprof/trace.h"
#include "schema/store.h"
#include "tests/reports/runs.h"

namespace warpmeter::reports::nvprof {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t process = 38262;

class NvprofTrace : public testing::Test {
 protected:
  NvprofTrace() : store_(database_.path()) {
    run_ = store_.begin_run({});
    schema::Device device;
    device.backend = "cupti";
    device.name = "Tesla T4";
    device.uuid = "GPU-1";
    device_ = store_.add_device(run_, device);
  }

  schema::ActivityShape on_device(const std::string& kind, const std::string& name) const {
    schema::ActivityShape shape;
    shape.kind = kind;
    shape.name = name;
    shape.process_id = process;
    shape.device_id = device_;
    shape.context = 1;
    shape.stream = 7;
    return shape;
  }
  void copy(const std::string& way, double start_ms, std::int64_t duration_ns, std::int64_t bytes) {
    schema::ActivityShape shape = on_device("copy", "[CUDA memcpy " + way + "]");
    shape.source_memory = way == "HtoD" ? "Pageable" : "Device";
    shape.target_memory = way == "HtoD" ? "Device" : "Pageable";
    add(shape, start_ms, duration_ns, bytes, 128);
  }
  void kernel(double start_ms, std::int64_t duration_ns) {
    schema::ActivityShape shape =
        on_device("kernel", "vectorAdd(int const*, int const*, int*, int)");
    shape.symbol = "_Z9vectorAddPKiS0_Pii";
    shape.grid = {64, 1, 1};
    shape.block = {1024, 1, 1};
    shape.registers = 16;
    shape.static_shared_bytes = 1142;
    shape.dynamic_shared_bytes = 0;
    add(shape, start_ms, duration_ns, std::nullopt, 130);
  }
  void call(const std::string& name, double start_ms, std::int64_t duration_ns,
            std::int64_t correlation) {
    schema::ActivityShape shape;
    shape.kind = "call";
    shape.name = name;
    shape.process_id = process;
    shape.thread_id = 1;
    add(shape, start_ms, duration_ns, std::nullopt, correlation);
  }
  void migration(const std::string& way, double start_ms, std::int64_t duration_ns,
                 std::int64_t bytes, std::int64_t address) {
    add(on_device("migration", "[Unified Memory Memcpy " + way + "]"), start_ms, duration_ns, bytes,
        std::nullopt, address);
  }
  void add(const schema::ActivityShape& shape, std::optional<double> start_ms,
           std::optional<std::int64_t> duration_ns, std::optional<std::int64_t> amount,
           std::optional<std::int64_t> correlation, std::optional<std::int64_t> address = {}) {
    const auto number = static_cast<std::uint32_t>(batch_.shapes.size() + 1);
    batch_.shapes.emplace_back(number, shape);
    schema::Activity activity;
    activity.shape = number;
    if (start_ms) activity.start_ns = static_cast<std::int64_t>(*start_ms * 1e6);
    activity.duration_ns = duration_ns;
    (shape.kind == "page fault" ? activity.faults : activity.bytes) = amount;
    activity.correlation = correlation;
    activity.address = address;
    batch_.activities.push_back(activity);
  }

  std::string traced(bool gpu, bool api, Style style = {}, const std::string& apis = "all") {
    store();
    TraceRequest request;
    request.run_id = run_;
    request.process_id = process;
    request.gpu = gpu;
    request.api = api;
    request.apis = apis;
    request.style = style;
    std::string text;
    print_trace(schema::Reader(database_.path()), request,
                [&](std::string_view lines) { text += lines; });
    return text;
  }
  void store() { store_.add_activities(run_, std::exchange(batch_, {})); }

  const TemporaryDatabase database_;
  schema::Store store_;
  std::int64_t run_ = 0, device_ = 0;
  schema::ActivityBatch batch_;
};

TEST_F(NvprofTrace, HasTheColumnsOfPublicLogs) {
  copy("HtoD", 465.87, 26016, 262144);
  kernel(466.21, 4992);
  copy("DtoH", 466.23, 22016, 262144);
  EXPECT_EQ(
      traced(true, false),
      "   Start  Duration            Grid Size      Block Size     Regs*    SSMem*    DSMem*      "
      "Size  Throughput  SrcMemType  DstMemType           Device   Context    Stream  Name\n"
      "465.87ms  26.016us                    -               -         -         -         -  "
      "256.00KB  9.3842GB/s    Pageable      Device     Tesla T4 (0)         1         7  [CUDA "
      "memcpy HtoD]\n"
      "466.21ms  4.9920us             (64 1 1)      (1024 1 1)        16  1.1152KB        0B       "
      "  "
      "-           -           -           -     Tesla T4 (0)         1         7  vectorAdd(int "
      "const *, int const *, int*, int) [130]\n"
      "466.23ms  22.016us                    -               -         -         -         -  "
      "256.00KB  11.089GB/s      Device    Pageable     Tesla T4 (0)         1         7  [CUDA "
      "memcpy DtoH]\n"
      "\n"
      "Regs: Number of registers used per CUDA thread. This number includes registers used "
      "internally by the CUDA driver and/or tools and can be more than what the compiler shows.\n"
      "SSMem: Static shared memory allocated per CUDA block.\n"
      "DSMem: Dynamic shared memory allocated per CUDA block.\n"
      "SrcMemType: The type of source memory accessed by memory operation/copy\n"
      "DstMemType: The type of destination memory accessed by memory operation/copy\n");
}

TEST_F(NvprofTrace, IsCsvWithAUnitForEachColumn) {
  schema::ActivityShape set = on_device("set", "[CUDA memset]");
  set.target_memory = "Device";
  add(set, 0, 1888, 1028, 272);
  copy("HtoD", 4643.346, 1536, 128);
  kernel(4643.5, 2000);
  EXPECT_EQ(
      traced(true, false, {true, TimeUnit::us}),
      "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block Z\","
      "\"Registers Per Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\",\"Throughput\","
      "\"SrcMemType\",\"DstMemType\",\"Device\",\"Context\",\"Stream\",\"Name\","
      "\"Correlation_ID\"\n"
      "us,us,,,,,,,,KB,B,KB,MB/s,,,,,,,\n"
      "0.000000,1.888000,,,,,,,,,,1.003906,519.267583,\"Device\",,\"Tesla T4 "
      "(0)\",\"1\",\"7\",\"[CUDA memset]\",272\n"
      "4643346.000000,1.536000,,,,,,,,,,0.125000,79.472860,\"Pageable\",\"Device\",\"Tesla T4 "
      "(0)\",\"1\",\"7\",\"[CUDA memcpy HtoD]\",128\n"
      "4643500.000000,2.000000,64,1,1,1024,1,1,16,1.115234,0.000000,,,,,\"Tesla T4 "
      "(0)\",\"1\",\"7\",\"vectorAdd(int const *, int const *, int*, int) [130]\",130\n");
}

TEST_F(NvprofTrace, NamesTheKernelThatACallLaunched) {
  call("cuDeviceGetCount", 17.181, 6740, 1);
  call("cudaMalloc", 66.721, 219400000, 127);
  call("cudaLaunchKernel", 286.21, 40939, 130);
  kernel(286.3, 5000);
  const std::string trace = traced(false, true);
  EXPECT_EQ(trace,
            "   Start  Duration  Name\n"
            "17.181ms  6.7400us  cuDeviceGetCount\n"
            "66.721ms  219.40ms  cudaMalloc\n"
            "286.21ms  40.939us  cudaLaunchKernel (vectorAdd(int const *, int const *, int*, int) "
            "[130])\n");
  EXPECT_THAT(traced(false, true, {false, TimeUnit::column}),
              HasSubstr("17.181ms  0.0067ms  cuDeviceGetCount\n"
                        "66.721ms  219.40ms  cudaMalloc\n"
                        "286.21ms  0.0409ms  cudaLaunchKernel"));
  EXPECT_EQ(traced(false, true, {true, TimeUnit::us}, "driver"),
            "\"Start\",\"Duration\",\"Name\",\"Correlation_ID\"\nus,us,,\n"
            "17181.000000,6.740000,\"cuDeviceGetCount\",1\n");
  EXPECT_THAT(traced(false, true, {}, "runtime"), Not(HasSubstr("cuDeviceGetCount")));
}

TEST_F(NvprofTrace, HasColumnsOfManagedMemoryInPlaceOfSizes) {
  kernel(292.44, 61221000);
  migration("DtoH", 504.36, 1088, 4096, 0x7fa016010000);
  migration("DtoH", 504.37, 10560, 126976, 0x7fa016011000);
  const std::string trace = traced(true, false);
  EXPECT_THAT(trace, HasSubstr("    DSMem*           Device   Context    Stream        Unified "
                               "Memory  Virtual Address  Name\n"));
  EXPECT_THAT(trace,
              HasSubstr("\n504.36ms  1.0880us                    -               -         "
                        "-         -         -     Tesla T4 (0)         -         -          "
                        "  4.000000KB   0x7fa016010000  [Unified Memory Memcpy DtoH]\n"));
  EXPECT_THAT(trace, HasSubstr("124.000000KB   0x7fa016011000"));
  EXPECT_THAT(trace, Not(HasSubstr("SrcMemType")));
}

TEST_F(NvprofTrace, SaysWhatIsNotThere) {
  EXPECT_EQ(traced(true, true), "No kernels were profiled.\nNo API activities were profiled.\n");
}

TEST_F(NvprofTrace, ShowsNoTimeThatIsNotKnown) {
  schema::ActivityShape shape = on_device("copy", "[CUDA memcpy HtoD]");
  add(shape, std::nullopt, std::nullopt, 4096, 3);
  EXPECT_THAT(traced(true, false), HasSubstr("\n       -         -  "));
  EXPECT_THAT(traced(true, false, {true, TimeUnit::automatic}),
              HasSubstr("\n,,,,,,,,,,,4.000000,,"));
}

TEST_F(NvprofTrace, SumsUpManagedMemory) {
  migration("HtoD", 1, 400000, 4096, 0x1000);
  migration("HtoD", 2, 443866, 1044480, 0x2000);
  migration("DtoH", 3, 357277, 4194304, 0x1000);
  add(on_device("page fault", "[Unified Memory GPU page faults]"), 4, 4243755, 3, std::nullopt,
      0x1000);
  schema::ActivityShape fault;
  fault.kind = "page fault";
  fault.name = "[Unified Memory CPU page faults]";
  fault.process_id = process;
  add(fault, 5, 0, 1, std::nullopt, 0x1000);
  add(fault, 6, 0, 1, std::nullopt, 0x2000);
  store();
  EXPECT_EQ(managed_text(schema::Reader(database_.path()), run_, process),
            "Device \"Tesla T4 (0)\"\n"
            "   Count  Avg Size  Min Size  Max Size  Total Size  Total Time  Name\n"
            "       2  512.00KB  4.0000KB  0.9961MB  1.000000MB  843.8660us  Host To Device\n"
            "       1  4.0000MB  4.0000MB  4.0000MB  4.000000MB  357.2770us  Device To Host\n"
            "       1         -         -         -           -  4.243755ms  Gpu page fault "
            "groups\n"
            "Total CPU Page faults: 2\n");
  EXPECT_EQ(managed_text(schema::Reader(database_.path()), run_, process + 1), "");
}

TEST_F(NvprofTrace, GivesTheRowsOfASummary) {
  kernel(1, 5000);
  kernel(2, 7000);
  copy("HtoD", 3, 2000, 4096);
  call("cudaMalloc", 4, 9000, 1);
  store();
  const schema::Reader reader(database_.path());
  const SummaryRequest request{run_, process, "all", true};
  EXPECT_EQ(devices_of(reader, request), std::vector<std::string>{"Tesla T4 (0)"});
  EXPECT_EQ(
      summary_text({gpu_rows(reader, request, "Tesla T4 (0)"), call_rows(reader, request)}, {}),
      "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
      " GPU activities:   85.71%  12.000us         2  6.0000us  5.0000us  7.0000us  "
      "vectorAdd(int const *, int const *, int*, int)\n"
      "                   14.29%  2.0000us         1  2.0000us  2.0000us  2.0000us  [CUDA "
      "memcpy HtoD]\n"
      "      API calls:  100.00%  9.0000us         1  9.0000us  9.0000us  9.0000us  "
      "cudaMalloc\n");
  EXPECT_TRUE(gpu_rows(reader, request, "Tesla T4 (1)").rows.empty());
}

/// As the model reports them: a kernel before the call that launched it ends.
TEST_F(NvprofTrace, PutsAKernelWithoutATimeBehindItsCall) {
  schema::ActivityShape first = on_device("kernel", "first()"),
                        second = on_device("kernel", "second()");
  call("cudaMalloc", 1, 500, 1);
  add(first, std::nullopt, std::nullopt, std::nullopt, 2);
  call("cudaLaunchKernel", 2, 500, 2);
  add(second, std::nullopt, std::nullopt, std::nullopt, 3);
  call("cudaLaunchKernel", 3, 500, 3);
  add(on_device("kernel", "last()"), std::nullopt, std::nullopt, std::nullopt, 9);
  const std::string text = traced(true, true);
  std::size_t at = 0;
  for (const char* name :
       {"  cudaMalloc\n", "  cudaLaunchKernel (first() [2])\n", "  first() [2]\n",
        "  cudaLaunchKernel (second() [3])\n", "  second() [3]\n", "  last() [9]\n"}) {
    const std::size_t found = text.find(name, at);
    EXPECT_NE(found, std::string::npos) << name << " of\n" << text;
    if (found != std::string::npos) at = found;
  }
}

}  // namespace
}  // namespace warpmeter::reports::nvprof
