// SPDX-License-Identifier: MIT
// A trace as people read it and as programs do.
#include "collector/cli/tables/trace_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

reports::Trace example_trace() {
  reports::TracedShape kernel, copy;
  kernel.kind = "kernel";
  kernel.name = "void reduce<4>(float*)";
  kernel.symbol = "_Z6reduceILi4EEvPf";
  kernel.device = copy.device = "NVIDIA H200";
  kernel.context = copy.context = 1;
  kernel.stream = 13;
  copy.stream = 7;
  kernel.grid = {{64, 2, 1}};
  kernel.block = {{256, 1, 1}};
  kernel.registers = 32;
  kernel.static_shared_bytes = 4096;
  kernel.dynamic_shared_bytes = 128;
  copy.kind = "copy";
  copy.name = "[CUDA memcpy HtoD]";
  copy.source_memory = "Pageable";
  copy.target_memory = "Device";
  return {{kernel, copy},
          {{1, 2, 50'000, 100'000, 1'048'576, {}, 3, {}}, {0, 1, 200'000, 1'500, {}, {}, 7, {}}}};
}

std::string written(const reports::Trace& trace, reports::Format format,
                    KernelNameBase base = KernelNameBase::function) {
  std::string text;
  write_trace(trace, format, base, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  return text;
}

TEST(TraceTables, PeopleSeeAHeadingAndALineAnActivity) {
  EXPECT_EQ(written(example_trace(), reports::Format::table),
            "    Start   Duration  Grid      Block      Registers    Static  Dynamic        Size   "
            "Throughput  Source    Target  Device       Context  Stream  Correlation  Name\n"
            "---------  ---------  --------  ---------  ---------  --------  -------  ----------  "
            "-----------  --------  ------  -----------  -------  ------  -----------  "
            "------------------\n"
            " 50.000us   100.00us  -         -                  -         -        -    1.0000MB   "
            "9.7656GB/s  Pageable  Device  NVIDIA H200        1       7            3  "
            "[CUDA memcpy HtoD]\n"
            " 200.00us   1.5000us  (64 2 1)  (256 1 1)         32  4.0000KB     128B           -   "
            "         -  -         -       NVIDIA H200        1      13            7  reduce\n");
}

TEST(TraceTables, NamesOfKernelsAreThoseThatWereAskedFor) {
  EXPECT_THAT(written(example_trace(), reports::Format::table, KernelNameBase::demangled),
              HasSubstr("  void reduce<4>(float*)\n"));
  EXPECT_THAT(written(example_trace(), reports::Format::table, KernelNameBase::mangled),
              HasSubstr("  _Z6reduceILi4EEvPf\n"));
}

TEST(TraceTables, ProgramsGetNumbersInNanosecondsAndBytes) {
  const std::string csv = written(example_trace(), reports::Format::csv);
  EXPECT_THAT(csv, StartsWith("start_ns,duration_ns,bytes,faults,throughput,correlation,kind,"));
  EXPECT_THAT(csv, HasSubstr("\n50000,100000,1048576,,10485760000,3,copy,[CUDA memcpy HtoD],,,,,,,"
                             ",,,Pageable,Device,NVIDIA H200,1,7,,\n"));
  EXPECT_THAT(csv, HasSubstr("\n200000,1500,,,,7,kernel,void reduce<4>(float*),64,2,1,256,1,1,32,"
                             "4096,128,,,NVIDIA H200,1,13,,\n"));
}

TEST(TraceTables, NothingIsWrittenOfAnEmptyTrace) {
  EXPECT_EQ(written({}, reports::Format::table), "");
  EXPECT_EQ(written({}, reports::Format::json), "[]\n");
}

}  // namespace
}  // namespace warpmeter::cli
