// SPDX-License-Identifier: MIT
// The counts of instructions, added up by line. The counts themselves need a GPU
// (device/lines_check.sh).
#include "collector/inject/lines/line_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace warpmeter::inject {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* load_requests = "smsp__sass_inst_executed_op_shared_ld";
constexpr const char* wavefronts = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared";
constexpr const char* wavefronts_ideal = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal";
constexpr const char* sectors = "smsp__sass_sectors_mem_global";
constexpr const char* sectors_ideal = "smsp__sass_sectors_mem_global_ideal";

InstructionCounts at(std::uint32_t offset,
                     std::map<std::string, std::uint64_t, std::less<>> values) {
  return {{0x1234, "kernel", offset}, std::move(values)};
}

/// Sixteen bytes an instruction; the first has no line.
SourcePlace place(const Instruction& instruction) {
  return {"a.cu", static_cast<int>(instruction.offset / 32)};
}

TEST(LinesOf, AddsUpTheInstructionsOfALineByKindOfAccess) {
  const auto lines = lines_of(
      {at(32, {{load_requests, 4}, {wavefronts, 128}, {wavefronts_ideal, 4}}),
       at(48, {{load_requests, 4}, {wavefronts, 4}, {wavefronts_ideal, 4}}),
       at(56, {{"smsp__sass_inst_executed_op_shared_st", 2}, {wavefronts, 2}}),
       at(64, {{"smsp__sass_inst_executed_op_global_red", 2}, {sectors, 9}, {sectors_ideal, 8}})},
      place);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[0].access, "shared load");
  EXPECT_EQ(lines[0].line, 1);
  EXPECT_EQ(lines[0].requests, 8U);
  EXPECT_EQ(lines[0].transactions, 132U);
  EXPECT_EQ(lines[0].ideal, 8U);
  EXPECT_EQ(lines[0].grade, schema::Grade::measured);
  EXPECT_EQ(lines[0].bytes, std::nullopt);
  EXPECT_EQ(lines[1].access, "shared store");
  EXPECT_EQ(lines[2].access, "global reduction");
  EXPECT_EQ(lines[2].line, 2);
  EXPECT_EQ(lines[2].transactions, 9U);
}

TEST(LinesOf, HasACopyFromGlobalToSharedMemoryAsBoth) {
  const auto lines = lines_of({at(32, {{"smsp__sass_inst_executed_op_ldgsts", 2},
                                       {wavefronts, 8},
                                       {wavefronts_ideal, 8},
                                       {sectors, 32},
                                       {sectors_ideal, 30}})},
                              place);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0].access, "global load");
  EXPECT_EQ(lines[0].requests, 2U);
  EXPECT_EQ(lines[0].transactions, 32U);
  EXPECT_EQ(lines[0].ideal, 30U);
  EXPECT_EQ(lines[1].access, "shared async copy");
  EXPECT_EQ(lines[1].transactions, 8U);
}

TEST(LinesOf, LeavesOutWhatNeverRanAndWhatHasNoLine) {
  const std::vector<InstructionCounts> counts = {at(0, {{load_requests, 4}, {wavefronts, 128}}),
                                                 at(64, {{load_requests, 0}, {wavefronts, 0}})};
  EXPECT_THAT(lines_of(counts, place), IsEmpty());
  EXPECT_TRUE(counts_accesses(counts));
  EXPECT_FALSE(counts_accesses({counts[1]}));
}

TEST(Modules, KeepsTheCodeThatNamesTheKernelAndFindsItByItsChecksum) {
  cupti::CuptiApi api{};
  api.cuptiGetCubinCrc = [](CUpti_GetCubinCrcParams* parameters) {
    parameters->cubinCrc = parameters->cubinSize;  // tells these three apart
    return CUPTI_SUCCESS;
  };
  Modules modules("kernel");
  for (const std::string cubin : {"...other...", "..kernel..", ".kernel"}) {
    CUpti_ModuleResourceData module{};
    module.pCubin = cubin.data();
    module.cubinSize = cubin.size();
    modules.add(module);
  }
  EXPECT_EQ(modules.find(api, 10), "..kernel..");
  EXPECT_EQ(modules.find(api, 7), ".kernel");
  EXPECT_EQ(modules.find(api, 11), "");
}

TEST(Places, JoinFolderAndFileAndKnowNoPlaceWithoutALine) {
  cupti::CuptiApi api{};
  api.cuptiGetCubinCrc = [](CUpti_GetCubinCrcParams* parameters) {
    parameters->cubinCrc = 7;
    return CUPTI_SUCCESS;
  };
  api.cuptiGetSassToSourceCorrelation = [](CUpti_GetSassToSourceCorrelationParams* parameters) {
    if (parameters->pcOffset == 0) return CUPTI_ERROR_UNKNOWN;
    parameters->lineNumber = parameters->pcOffset == 16 ? 0 : 44;
    parameters->dirName = strdup(parameters->pcOffset == 48 ? "" : "kernels/./");
    parameters->fileName = strdup("transpose.cu");
    return CUPTI_SUCCESS;
  };
  Modules modules("kernel");
  Places unseen(api, modules);
  EXPECT_EQ(unseen.of({7, "kernel", 32}).line, 0);
  EXPECT_THAT(unseen.why_none(), testing::HasSubstr("was not seen"));
  const std::string cubin = "kernel";
  CUpti_ModuleResourceData module{};
  module.pCubin = cubin.data();
  module.cubinSize = cubin.size();
  modules.add(module);
  Places places(api, modules);
  EXPECT_EQ(places.of({7, "kernel", 0}).line, 0);
  EXPECT_THAT(places.why_none(), testing::HasSubstr("-lineinfo"));
  EXPECT_EQ(places.of({7, "kernel", 16}).line, 0);
  EXPECT_EQ(places.of({7, "kernel", 32}).line, 44);
  EXPECT_EQ(places.of({7, "kernel", 32}).file, "kernels/transpose.cu");
  EXPECT_EQ(places.of({7, "kernel", 48}).file, "transpose.cu");
  EXPECT_EQ(places.of({8, "kernel", 48}).line, 0) << "another module";
}

}  // namespace
}  // namespace warpmeter::inject
