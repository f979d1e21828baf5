// SPDX-License-Identifier: MIT
// nvprof's printed forms. The expected lines are those of public logs of nvprof 8 to 12, whose
// numbers are given to the code; the columns are held one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/nvprof/counted.h"
#include "reports/nvprof/kernel_name.h"
#include "reports/nvprof/summary.h"
#include "reports/nvprof/units.h"
#include "tests/reports/runs.h"

namespace warpmeter::reports::nvprof {
namespace {

TEST(NvprofUnits, FillEightCharactersWithATime) {
  const std::pair<double, const char*> cases[] = {{0, "0ns"},
                                                  {896, "896ns"},
                                                  {1696, "1.6960us"},
                                                  {92128, "92.128us"},
                                                  {362620, "362.62us"},
                                                  {999996, "1.0000ms"},
                                                  {1.3440e6, "1.3440ms"},
                                                  {438.47e6, "438.47ms"},
                                                  {1.32762e9, "1.32762s"},
                                                  {13.0696e9, "13.0696s"},
                                                  {2400e9, "2.4e+03s"}};
  for (const auto& [ns, text] : cases) EXPECT_EQ(time_text(ns), text);
}

TEST(NvprofUnits, CountSizesAndRatesBy1024) {
  EXPECT_EQ(size_text(0), "0B");
  EXPECT_EQ(size_text(4), "4B");
  EXPECT_EQ(size_text(64 * 1024), "64.000KB");
  EXPECT_EQ(size_text(1142), "1.1152KB");
  EXPECT_EQ(size_text(1024 * 1024), "1.0000MB");
  EXPECT_EQ(size_text(1020 * 1024), "0.9961MB");
  EXPECT_EQ(size_text(102.4e6), "97.656MB");
  EXPECT_EQ(rate_text(0), "0.00000B/s");
  EXPECT_EQ(rate_text(1 / 1280e-9), "762.94KB/s");
  EXPECT_EQ(rate_text(256 * 1024 / 26.016e-6), "9.3842GB/s");
  EXPECT_EQ(rate_text(560.66 * 1024 * 1024), "560.66MB/s");
  EXPECT_EQ(rate_text(2073.4 * 1024 * 1024 * 1024), "2073.4GB/s");
}

TEST(NvprofUnits, GiveSumsTenCharacters) {
  EXPECT_EQ(total_size_text(8 * 1024 * 1024), "8.000000MB");
  EXPECT_EQ(total_size_text(12 * 1024 * 1024), "12.00000MB");
  EXPECT_EQ(total_time_text(843866), "843.8660us");
  EXPECT_EQ(total_time_text(21207210), "21.20721ms");
}

TEST(NvprofUnits, KeepTheUnitThatWasAskedFor) {
  EXPECT_EQ(time_text(1696, TimeUnit::ns), "1696ns");
  EXPECT_EQ(time_text(1696, TimeUnit::ms), "0.0017ms");
  EXPECT_EQ(time_text(12345678, TimeUnit::us), "12346us");
}

TEST(NvprofUnits, ChooseOneUnitForAColumn) {
  EXPECT_EQ(time_unit(7570567921., TimeUnit::automatic).name, "s");
  EXPECT_EQ(time_unit(7570567921., TimeUnit::us).name, "us");
  EXPECT_EQ(in_unit(7570567921., time_unit(0, TimeUnit::us)), "7570567.921000");
  EXPECT_EQ(in_unit(128, size_unit(1028)), "0.125000");
  EXPECT_EQ(in_unit(1028, size_unit(1028)), "1.003906");
  EXPECT_EQ(in_unit(1888, time_unit(0, TimeUnit::ns)), "1888");
}

TEST(NvprofKernelName, HasTheTypesOfTemplateArguments) {
  const std::pair<const char*, const char*> cases[] = {
      {"vectorAdd(float const*, float const*, float*, int)",
       "vectorAdd(float const *, float const *, float*, int)"},
      {"void matrixMulCUDA<32>(float*, float*, float*, int, int)",
       "void matrixMulCUDA<int=32>(float*, float*, float*, int, int)"},
      {"void update_agents<false>(char*, int*, char const*)",
       "void update_agents<bool=0>(char*, int*, char const *)"},
      {"void k<bulk<agent<1ul>, 0ul>, (Mode)2, int>(int)",
       "void k<bulk<agent<unsigned long=1>, unsigned long=0>, Mode=2, int>(int)"},
      {"void f<4u, -1>(S<int> const&)", "void f<unsigned int=4, int=-1>(S<int> const &)"},
      {"plain", "plain"}};
  for (const auto& [name, text] : cases) EXPECT_EQ(kernel_name(name), text);
}

TEST(NvprofSummary, HasTheColumnsOfPublicLogs) {
  SummaryPart gpu{gpu_part, no_kernels, {}};
  gpu.rows = {{"[CUDA memcpy HtoD]", 2, 1408, 608, 800},
              {"vectorAddition(float*, float*, float*, int)", 1, 1696, 1696, 1696},
              {"[CUDA memcpy DtoH]", 1, 832, 832, 832}};
  SummaryPart calls{call_part, no_calls, {}};
  calls.rows = {{"cudaMalloc", 3, 438.47e6, 2271, 438.468e6},
                {"cuDeviceGetAttribute", 97, 203590, 185, 88886}};
  EXPECT_EQ(
      summary_text({gpu, calls}, {}),
      "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
      " GPU activities:   43.09%  1.6960us         1  1.6960us  1.6960us  1.6960us  "
      "vectorAddition(float*, float*, float*, int)\n"
      "                   35.77%  1.4080us         2     704ns     608ns     800ns  [CUDA memcpy "
      "HtoD]\n"
      "                   21.14%     832ns         1     832ns     832ns     832ns  [CUDA memcpy "
      "DtoH]\n"
      "      API calls:   99.95%  438.47ms         3  146.16ms  2.2710us  438.47ms  cudaMalloc\n"
      "                    0.05%  203.59us        97  2.0980us     185ns  88.886us  "
      "cuDeviceGetAttribute\n");
}

/// nvprof's help: "col" is a fixed unit for each column.
TEST(NvprofSummary, HasOneUnitForEachColumn) {
  SummaryPart gpu{gpu_part, no_kernels, {{"k(int*)", 1, 1696, 1696, 1696}}};
  SummaryPart calls{call_part, no_calls, {{"cudaMalloc", 3, 438.47e6, 2271, 438.468e6}}};
  EXPECT_EQ(summary_text({gpu, calls}, {false, TimeUnit::column}),
            "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
            " GPU activities:  100.00%  0.0017ms         1  0.0017ms  1.6960us  0.0017ms  k(int*)\n"
            "      API calls:  100.00%  438.47ms         3  146.16ms  2.2710us  438.47ms  "
            "cudaMalloc\n");
}

TEST(NvprofSummary, SaysWhatIsNotThere) {
  SummaryPart gpu{gpu_part, no_kernels, {{"k(int*)", 2, std::nullopt, 0, 0}}};
  const SummaryPart calls{call_part, no_calls, {}};
  EXPECT_EQ(summary_text({gpu, calls}, {}),
            "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
            " GPU activities:        -         -         2         -         -         -  k(int*)\n"
            "No API activities were profiled.\n");
  gpu.rows.clear();
  EXPECT_EQ(summary_text({gpu, calls}, {}),
            "No kernels were profiled.\nNo API activities were profiled.\n");
}

TEST(NvprofSummary, HasALineOfUnitsInCsv) {
  SummaryPart calls{call_part, no_calls, {}};
  calls.rows = {{"cudaFree", 4, 357751097, 541, 357741117}, {"a \"b\"", 1, 184844416, 1, 2}};
  EXPECT_EQ(summary_text({calls}, {true, TimeUnit::us}),
            "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n"
            ",%,us,,us,us,us,\n"
            "\"API calls\",65.933294,357751.097000,4,89437.774000,0.541000,357741.117000,"
            "\"cudaFree\"\n"
            "\"API calls\",34.066706,184844.416000,1,184844.416000,0.001000,0.002000,"
            "\"a \"\"b\"\"\"\n");
}

TEST(NvprofValue, HasTheFormOfItsName) {
  EXPECT_EQ(value_text(1346634880, Form::count, false), "1346634880");
  EXPECT_EQ(value_text(3.3255e10, Form::count, false), "3.3255e+10");
  EXPECT_EQ(value_text(50258116400, Form::count, true), "50258116400");
  EXPECT_EQ(value_text(0.725294, Form::ratio, false), "0.725294");
  EXPECT_EQ(value_text(78.14, Form::percent, false), "78.14%");
  EXPECT_EQ(value_text(87.467949, Form::percent, true), "87.467949%");
  EXPECT_EQ(value_text(715.782047 * 1024 * 1024, Form::rate, true), "715.782047MB/s");
  const std::pair<double, const char*> levels[] = {{0, "Idle (0)"},  {0.4, "Low (1)"},
                                                   {20, "Low (2)"},  {31, "Mid (4)"},
                                                   {65, "High (7)"}, {100, "Max (10)"}};
  for (const auto& [percent, text] : levels)
    EXPECT_EQ(value_text(percent, Form::level, false), text);
}

schema::Launch launch_of(const std::string& kernel, double load_wavefronts,
                         double store_wavefronts) {
  schema::Launch launch;
  launch.family = "checkSmemSquare";
  launch.variant = kernel;
  launch.kernel = kernel;
  launch.counters = {{"shared_load_wavefronts", load_wavefronts, schema::Grade::measured, ""},
                     {"shared_load_requests", 32, schema::Grade::measured, ""},
                     {"shared_store_wavefronts", store_wavefronts, schema::Grade::measured, ""},
                     {"shared_store_requests", 32, schema::Grade::measured, ""},
                     {"global_load_sectors", 0, schema::Grade::measured, ""},
                     {"global_load_requests", 0, schema::Grade::measured, ""}};
  return launch;
}

/// A run whose numbers are those of ../shared_square: 32 requests of a block of 1,024 threads.
class NvprofCounted : public testing::Test {
 protected:
  NvprofCounted() {
    schema::Store store(database_.path());
    run_ = store.begin_run({});
    schema::Device device;
    device.backend = "cupti";
    device.name = "Quadro P2000";
    device.uuid = "GPU-1";
    const std::int64_t id = store.add_device(run_, device);
    const schema::Launch launches[] = {launch_of("_Z13setColReadColPi", 1024, 1024),
                                       launch_of("_Z13setRowReadRowPi", 32, 32),
                                       launch_of("_Z13setColReadColPi", 512, 1024)};
    store.add_launches(run_, id, launches);
    store.end_run(run_, schema::RunOutcome::done, "");
  }

  CountedText told(std::vector<Counted> names, bool csv = false, bool each_launch = false) const {
    CountedRequest request;
    request.run_id = run_;
    request.names = std::move(names);
    request.kernel_text = [](const std::string& kernel) { return kernel.substr(4, 13) + "(int*)"; };
    request.shows = shows_;
    request.each_launch = each_launch;
    request.origin = [](std::int64_t id) {
      return Origin{42, 1, id == 2 ? 13U : 7U, static_cast<std::uint32_t>(100 + id)};
    };
    return counted_text(schema::Reader(database_.path()), request, {csv, TimeUnit::automatic});
  }

  static Counted loads() {
    return {"shared_load_transactions_per_request", "shared_load_transactions_per_request",
            "Shared Memory Load Transactions Per Request", Form::ratio};
  }
  static Counted event() {
    Counted counted{"shared_ld_transactions", "shared_load_wavefronts", "", Form::count};
    counted.is_event = true;
    return counted;
  }

  const TemporaryDatabase database_;
  std::int64_t run_ = 0;
  std::function<bool(const CountedLaunch&, std::size_t)> shows_;
};

TEST_F(NvprofCounted, HasABlockAKernelAndARowAName) {
  EXPECT_EQ(told({loads()}).metrics,
            "Invocations                               Metric Name                            "
            "Metric Description         Min         Max         Avg\n"
            "Device \"Quadro P2000 (0)\"\n"
            "    Kernel: setColReadCol(int*)\n"
            "          2      shared_load_transactions_per_request   Shared Memory Load "
            "Transactions Per Request   16.000000   32.000000   24.000000\n"
            "    Kernel: setRowReadRow(int*)\n"
            "          1      shared_load_transactions_per_request   Shared Memory Load "
            "Transactions Per Request    1.000000    1.000000    1.000000\n");
}

TEST_F(NvprofCounted, GivesAnEventItsTotal) {
  EXPECT_EQ(
      told({event()}).events,
      "Invocations                                Event Name         Min         Max         "
      "Avg       Total\n"
      "Device \"Quadro P2000 (0)\"\n"
      "    Kernel: setColReadCol(int*)\n"
      "          2                    shared_ld_transactions         512        1024         "
      "768        1536\n"
      "    Kernel: setRowReadRow(int*)\n"
      "          1                    shared_ld_transactions          32          32          "
      "32          32\n");
}

TEST_F(NvprofCounted, IsCsvWithoutUnits) {
  EXPECT_EQ(
      told({loads()}, true).metrics,
      "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric Description\",\"Min\","
      "\"Max\",\"Avg\"\n"
      "\"Quadro P2000 (0)\",\"setColReadCol(int*)\",2,\"shared_load_transactions_per_request\""
      ",\"Shared Memory Load Transactions Per Request\",16.000000,32.000000,24.000000\n"
      "\"Quadro P2000 (0)\",\"setRowReadRow(int*)\",1,\"shared_load_transactions_per_request\""
      ",\"Shared Memory Load Transactions Per Request\",1.000000,1.000000,1.000000\n");
}

TEST_F(NvprofCounted, ShowsTheChosenInvocation) {
  shows_ = [](const CountedLaunch& launch, std::size_t) { return launch.invocation == 2; };
  const std::string table = told({event()}).events;
  EXPECT_THAT(table, testing::HasSubstr("         512         512         512         512\n"));
  EXPECT_THAT(table, testing::Not(testing::HasSubstr("setRowReadRow")));
}

TEST_F(NvprofCounted, IsARowALaunchInATrace) {
  EXPECT_EQ(told({event(), loads()}, false, true).launches,
            "         Device          Context           Stream"
            "                                    Kernel   Correlation_ID  shared_ld_transactions"
            "  shared_load_transactions_per_request\n"
            "Quadro P2000 (0                1                7"
            "                       setColReadCol(int*)              101                    1024"
            "                             32.000000\n"
            "Quadro P2000 (0                1               13"
            "                       setRowReadRow(int*)              102                      32"
            "                              1.000000\n"
            "Quadro P2000 (0                1                7"
            "                       setColReadCol(int*)              103                     512"
            "                             16.000000\n");
  shows_ = [](const CountedLaunch& launch, std::size_t) { return launch.origin.stream == 13; };
  EXPECT_EQ(told({event()}, true, true).launches,
            "\"Device\",\"Context\",\"Stream\",\"Kernel\",\"Correlation_ID\","
            "\"shared_ld_transactions\"\n"
            "\"Quadro P2000 (0)\",1,13,\"setRowReadRow(int*)\",102,32\n");
}

TEST_F(NvprofCounted, SaysWhyAValueIsMissing) {
  Counted no_loads{"gld_transactions_per_request", "gld_transactions_per_request",
                   "Global Load Transactions Per Request", Form::ratio};
  const std::map<std::string, std::vector<std::string>> why = {
      {"no global load requests", {no_loads.name}}};
  EXPECT_EQ(told({no_loads}).missing, why);
  no_loads.undefined = "no global load requests";
  const CountedText text = told({no_loads});
  EXPECT_EQ(text.undefined, why);
  EXPECT_TRUE(text.missing.empty());
  EXPECT_THAT(text.metrics, testing::HasSubstr("0.000000"));
}

}  // namespace
}  // namespace warpmeter::reports::nvprof
