// SPDX-License-Identifier: MIT
// Unmodified CUDA programs where there is no GPU: what they print, and what warpmeter counts of
// them. Their sources lie in programs/, what they print in expected/.
#include <sys/stat.h>

#include <regex>
#include <sstream>

#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST_F(RuntimeProgram, WithTheRuntimeLinkedIntoItIsAnsweredAndCounted) {
  expect_output("launches", "launches");
  EXPECT_EQ(counts(), "scale,2,129,129\n");  // 32 warps of 4 sectors, and one of the counter
}

/// Which of the runtime's functions initialise the driver, and which make a context too.
TEST_F(RuntimeProgram, FindsTheDriverInitialisedByTheRuntime) {
  expect_output("first_calls", "first_calls");
}

/// CUDA's headers: the option of the device says that both functions are supported.
TEST_F(RuntimeProgram, WaitsForWritesOfOtherDevices) {
  EXPECT_EQ(profile("remote_writes").output, expected("remote_writes"));
}

TEST_F(RuntimeProgram, MayDestroyWhatACaptureHasUsed) {
  expect_output("capture_destroyed", "capture_destroyed");
}

/// As often as their frees allow, and no more memory than that takes.
TEST_F(RuntimeProgram, HasAllocationsOfAGraphInOnePlaceOneAfterTheOther) {
  expect_output("graph_memory", "graph_memory");
}

TEST_F(RuntimeProgram, SeesWhatAKernelPrintedWhenItWaits) {
  expect_output("printf_flush", "printf_flush");
}

TEST_F(RuntimeProgram, FindsALibcudartWhereNoneIsInstalled) {
  expect_output("launches_shared", "launches");
  EXPECT_EQ(counts(), "scale,2,129,129\n");
}

/// An H200 counts this: tests/device/profile_check.py.
TEST_F(RuntimeProgram, CostsInSharedMemoryWhatItCostsOnHardware) {
  expect_output("shared_square", "shared_square");
  EXPECT_EQ(counts({"shared_load_transactions_per_request", "shared_store_transactions_per_request",
                    "gst_transactions"}),
            "column_column,1,32,32,128\n"
            "row_column,1,32,1,128\n"
            "row_column_dynamic,1,32,1,128\n"
            "row_column_padded,1,1,1,128\n"
            "row_row,1,1,1,128\n");
}

TEST_F(RuntimeProgram, MayNameVariablesOfTheDevice) {
  expect_output("symbols", "symbols");
  EXPECT_EQ(counts(),
            "polynomial,1,0,8\n"  // constants are no global loads; two warps store 4 sectors each
            "reversed,1,8,8\n"    // backwards a warp's 128 bytes are the same 4 sectors
            "sum_up,1,65,1\n");   // one thread, one sector an access: the table, then the sum
}

TEST_F(RuntimeProgram, MayShareManagedMemoryWithItsKernels) {
  expect_output("managed", "managed");
  EXPECT_EQ(counts(),
            "add_at,2,4 32,4 32\n"  // 32 words in a row, then one in each of 32 sectors
            "walk,1,20,1\n");       // for ten nodes the value and the next one
}

TEST_F(RuntimeProgram, MayCallThrustAndCub) {
  expect_output("algorithms", "algorithms");
  const std::string all = counts();
  // 1,000 numbers are 125 sectors. is_sorted() reads them beside those one further on, which lie in
  // 5 sectors a warp, for 31 warps, and in 1 for the last one.
  EXPECT_THAT(all, ContainsRegex("DeviceReduceSingleTileKernel[^,]*,1,125,"));
  EXPECT_THAT(all, ContainsRegex("DeviceReduceSingleTileKernel[^,]*,1,281,"));
  // Each thread loads numbers that lie beside each other, so that each lane is in a sector of its
  // own.
  const std::string sort = "DeviceRadixSortSingleTileKernel[^,]*,1,1000,125\n";
  EXPECT_THAT(all, ContainsRegex(sort + sort));
}

TEST_F(RuntimeProgram, CountsTheSameEachTimeAndFromAnyThread) {
  const std::string each_count =
      "SELECT kernel, metric, value FROM results JOIN launches USING (launch_id) WHERE "
      "results.run_id = (SELECT max(run_id) FROM runs) AND value IS NOT NULL ORDER BY 1, 2";
  std::vector<std::string> tables;
  for (const char* threads : {"1", "1", "3", "8", "8"}) {
    const Outcome outcome = profile("from_threads", {}, {threads});
    EXPECT_EQ(outcome.output, expected("from_threads"));
    tables.push_back(warpmeter({"query", each_count, "--format", "csv"}).output);
    EXPECT_EQ(tables.back(), tables.front()) << threads << " threads";
  }
  // Strides of one thread's launches: 16 warps of as many sectors as they touch, and as many turns
  // at the banks as the power of two in the stride.
  profile("from_threads", {}, {"1"});
  EXPECT_EQ(counts({"gld_transactions", "shared_load_transactions", "global_reduction_requests"}),
            "strided<16>,1,512,256,16\n"
            "strided<1>,1,64,16,16\n"
            "strided<2>,1,128,32,16\n"
            "strided<32>,1,512,512,16\n"
            "strided<3>,1,192,16,16\n"
            "strided<4>,1,256,64,16\n"
            "strided<5>,1,320,16,16\n"
            "strided<8>,1,512,128,16\n");
}

TEST_F(RuntimeProgram, OfFilesThatWereCompiledApartIsLinked) {
  expect_output("apart", "apart");
  const std::string all = counts();
  // Beside 32 numbers what all lanes share, a sector each: the table of functions, the total and
  // `counter`, as often as a function that uses it is called.
  EXPECT_THAT(all, HasSubstr("first,1,5,5\n"));
  EXPECT_THAT(all, HasSubstr("second_kernel,1,7,5\n"));
  EXPECT_EQ(value_of("SELECT count(*) FROM launches"), "4");
}

TEST_F(RuntimeProgram, HasTheChosenKernelsAloneInItsSummary) {
  const std::string program = binary_dir() + "/tests/runtime/apart";
  const Outcome one = run_program({{"profile", "-b", "model", "-k", "second_kernel", program},
                                   folder_,
                                   {{"LD_LIBRARY_PATH", ""}}});
  EXPECT_THAT(one.error, AllOf(HasSubstr("second_kernel"), Not(HasSubstr("first")))) << one.error;
  const Outcome none = run_program(
      {{"profile", "-b", "model", "-k", "third", program}, folder_, {{"LD_LIBRARY_PATH", ""}}});
  EXPECT_THAT(none.error, HasSubstr("no launch passed the filters; the program launched"));
}

TEST_F(RuntimeProgram, IsCheckedInClustersToo) {
  const Outcome outcome = checked("clusters");
  EXPECT_THAT(outcome.error + outcome.output,
              AllOf(Not(HasSubstr("unchecked")), Not(HasSubstr("uninitialised read  ")),
                    Not(HasSubstr(" race  ")), Not(HasSubstr("race between blocks  "))));
}

TEST_F(RuntimeProgram, MayHaveGraphsThatBranch) {
  expect_output("conditional_graphs", "conditional_graphs");
  // The steps of two loops, five and one times, are a launch each. Three launches each of an if and
  // a switch set; they add 3 + 2 and 2 times, and the default once.
  EXPECT_EQ(counts(), "add,8,1,1\nset,6,1,0\nstep,6,3,2\n");
}

TEST_F(RuntimeProgram, MayHavePtxThatNoCompilerWrites) {
  expect_output("inline_ptx", "inline_ptx");
  // Four threads take 16 words that lie beside each other, a sector for each of a stride of 32
  // bytes.
  EXPECT_EQ(counts(), "add_vectors,1,0,0\nmultiply,1,2,16\nselect,1,0,2\n");
}

TEST_F(RuntimeProgram, MayCaptureTheBodiesOfGraphsThatBranch) {
  expect_output("captured_bodies", "captured_bodies");
  // The loop has five turns of two steps, of which two turns run the branch; then a body that one
  // of two launches runs, with a step and an addition each; then an addition.
  EXPECT_EQ(counts({"gst_transactions"}), "add,11,1\nstep,12,0\n");
}

TEST_F(RuntimeProgram, IsToldOfMistakesOfKernelsThatLaunchKernels) {
  expect_output("children_mistakes", "children_mistakes");
  for (const auto& [argument, text] :
       {std::pair{"m", "children_pending"}, {"t", "children_trap"}, {"w", "children_wild"}}) {
    EXPECT_EQ(profile("children_mistakes", {}, {argument}).output, expected(text)) << argument;
  }
}

TEST_F(RuntimeProgram, MayUseTheDriverAndCompileAsItRuns) {
  expect_output("driver", "driver");
  EXPECT_EQ(counts(), "scale,2,125,125\n");  // 1,000 floats
}

TEST_F(RuntimeProgram, MayBuildGraphsByTheDriver) {
  expect_output("driver_graphs", "driver_graphs");
  EXPECT_EQ(counts(), "add,4,4,4\nscale,4,4,4\n");  // 32 ints
}

TEST_F(RuntimeProgram, MayLoadCodeAsItRuns) {
  expect_output("libraries", "libraries");
  // 64 ints are 8 sectors; both warps read `step`, one of them counts the call.
  EXPECT_EQ(counts(), "bump,3,11,9\nclear,1,0,8\n");
}

TEST_F(RuntimeProgram, MayCopyInBatchesAndArrays) {
  expect_output("batches", "batches");
  EXPECT_EQ(counts(), "twice,2,4,4\n");  // 32 ints
  const Outcome outcome = profile("driver_arrays");
  EXPECT_EQ(outcome.output, expected("driver_arrays"));
  EXPECT_EQ(outcome.exit_code, 3) << outcome.error;  // it launches nothing
  expect_output("part_copies", "part_copies");
}

TEST_F(RuntimeProgram, MayHaveThreadsAndChildren) {
  expect_output("threads", "threads");
  // 10 launches of each thread and child; both warps add to one word, whose old value nobody asks
  // for
  EXPECT_EQ(counts({"global_reduction_requests", "global_reduction_sectors", "gld_transactions"}),
            "add,60,2,2,0\n");
}

TEST_F(RuntimeProgram, MayShareMemoryAndEventsWithItsChildren) {
  expect_output("ipc", "ipc");
  // The parent and the child each write twice: 64 ints are 8 sectors.
  EXPECT_EQ(counts({"gst_transactions", "global_reduction_sectors"}), "add,8,0,8\nfill,4,8,0\n");
}

TEST_F(RuntimeProgram, MayHandMemoryAndPoolsToOthersAsDescriptors) {
  expect_output("shareable", "shareable");
  // The child and the parent write virtual memory; of a pool by the parent once, by the child
  // twice.
  EXPECT_EQ(counts(), "add,5,4,4\n");
}

TEST_F(RuntimeProgram, MayLaunchGraphsFromKernels) {
  expect_output("graphs_of_kernels", "graphs_of_kernels");
  // Each kernel of a launched graph is a launch of its own: "again and again" five times. Scaled is
  // once in each of five cases and twice in three; one is launched by 3 + 1 + 3 + 1 kernels.
  EXPECT_EQ(counts({"gst_transactions"}),
            "again,5,2 1\ncount,2,0\nlaunch_one,8,1\nlaunch_two,2,2\nscale,11,1\nwho,3,2\n");
}

TEST_F(RuntimeProgram, IsToldWhichGraphsKernelsCannotLaunch) {
  const auto ends = [&](const char* number) {
    const Outcome outcome = profile("graphs_of_kernels", {}, {number});
    return outcome.output.substr(outcome.output.find("then: ")) + outcome.error;
  };
  for (const char* number :
       {"3", "4", "7", "8", "9"}) {  // not uploaded, none, wrong streams, itself
    EXPECT_THAT(ends(number), HasSubstr("then: 5, results 1 -1\ncudaGetLastError() = cudaSuccess"));
  }
  for (const char* number : {"5", "6"}) {  // one launch at a time
    EXPECT_THAT(ends(number), HasSubstr("then: 10, results 0 1\n"));
  }
  EXPECT_THAT(ends("10"), HasSubstr("then: 20, results 0 -1\n"));
  EXPECT_THAT(ends("12"), HasSubstr("then: 10, results 0 -1\n"));
  for (const char* number : {"2", "11"}) {  // these are no graphs for kernels
    EXPECT_THAT(ends(number), HasSubstr("cudaGetLastError() = cudaErrorIllegalAddress"));
    EXPECT_THAT(ends(number), HasSubstr("launches what is no graph for kernels"));
  }
  EXPECT_THAT(ends("1"), HasSubstr("then: 5, results -1 -1\n"));
  EXPECT_THAT(ends("1"), HasSubstr("the program launched no kernel"));
}

TEST_F(RuntimeProgram, OfCuda12GetsWhatThatVersionAnswers) {
  const Outcome outcome = profile("earlier");
  EXPECT_EQ(outcome.output, expected("earlier"));
  EXPECT_THAT(outcome.error, HasSubstr("cudaGraphicsUnregisterResource is not answered"));
}

TEST_F(RuntimeProgram, MayCaptureAndBuildGraphs) {
  expect_output("graph_capture", "graph_capture");
  // Launched five times, the last time without its root.
  EXPECT_EQ(counts(), "add,4,4,4\nscale,5,4,4\nsum,5,8,4\n");
  expect_output("graph_nodes", "graph_nodes");
  // The kernel is launched twice; four ints are one sector.
  EXPECT_EQ(counts(), "add_symbol,2,2,1\nfill,4,0,1\n");
  expect_output("graph_edges", "graph_edges");
  expect_output("capture_errors", "capture_errors");
  expect_output("capture_ends", "capture_ends");
}

TEST_F(RuntimeProgram, MayHaveFunctionsOfTheHostInItsStreams) {
  expect_output("host_functions", "host_functions");
  EXPECT_EQ(counts(), "add,5,1,1\n");  // two of its own, three of a graph
}

TEST_F(RuntimeProgram, MayPrintAllocateAndStopInKernels) {
  expect_output("device_side", "device_side");
  expect_output("heap_objects", "heap_objects");
  expect_output("trap", "trap");
  expect_output("failed_assertion", "failed_assertion");
  expect_output("after_failure", "after_failure");
}

TEST_F(RuntimeProgram, HasStreamsOfSeveralThreads) {
  expect_output("many_threads", "many_threads");
  EXPECT_EQ(counts(), "add,80,4,4\n");
  expect_output("own_default_streams", "own_default_streams");
  EXPECT_EQ(counts(), "add,1,1,1\n");  // the captured one is launched by nobody
}

TEST_F(RuntimeProgram, FindsAsManyDevicesAsItIsGiven) {
  const Outcome outcome = profile("two_devices", {"--model-devices", "2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(outcome.output, expected("two_devices"));
  EXPECT_EQ(counts(), "fill,2,0,4\n");  // the second ran on its stream's device
}

TEST_F(RuntimeProgram, HasVariablesOnEachOfItsDevices) {
  const Outcome outcome = profile("two_devices_symbols", {"--model-devices", "2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(outcome.output, expected("two_devices_symbols"));
}

/// An H100 answered this in these kernels; the last one hung there.
TEST_F(RuntimeProgram, GoesOnWhereABarrierStandsInsideAnIf) {
  expect_output("parted_barriers", "parted_barriers");
  const Outcome outcome = profile("parted_barriers", {"-m", "shared_load_transactions"});
  EXPECT_THAT(std::regex_replace(outcome.error, std::regex("\\s+"), " "),
              HasSubstr("comes to a barrier with some threads of a warp only"));
  EXPECT_EQ(value_of("SELECT DISTINCT grade FROM results WHERE variant LIKE 'reduce%' AND "
                     "metric = 'shared_load_transactions' AND "
                     "run_id = (SELECT max(run_id) FROM runs)"),
            "modelled");
  const Outcome told = checked("parted_barriers");
  EXPECT_EQ(told.exit_code, 6);
  EXPECT_THAT(told.error, HasSubstr("divergent barrier"));
}

/// An H100 printed this ("misuse"), and an H200.
TEST_F(RuntimeProgram, GetsTheErrorsOfHardwareForItsMistakes) {
  for (const char* name : {"cache_preferences", "misuse", "launch_mistakes", "limits", "resets",
                           "stack_limits", "stream_mistakes"}) {
    EXPECT_EQ(profile(name).output, expected(name)) << name;
  }
}

/// An H200 printed this (driver 580.159, CUDA 13.0, 2026-11-28), whether somebody counts or not.
TEST_F(RuntimeProgram, LaunchesNoBlockThatFindsTooFewRegisters) {
  EXPECT_EQ(profile("register_limits").output, expected("register_limits"));
  const Outcome uncounted = run_program(
      {{"profile", "-b", "model", program("register_limits")}, folder_, {{"LD_LIBRARY_PATH", ""}}});
  EXPECT_EQ(uncounted.output, expected("register_limits"));
  EXPECT_EQ(profile("register_graphs").output, expected("register_graphs"));
}

/// All bits of 160 functions and expressions on 16,384 to 131,072 operands each, as an H100 printed
/// them (driver 580.159, CUDA 13.0, 2026-11-25).
TEST_F(RuntimeProgram, ComputesFunctionsToTheLastBit) {
  EXPECT_EQ(profile("functions", {}).output, expected("functions"));
  EXPECT_EQ(profile("functions_fast", {}).output, expected("functions_fast"));
}

/// An H200 prints this.
TEST_F(RuntimeProgram, TellsOfBlocksOfAClusterThatHaveEnded) {
  const Outcome outcome = profile("cluster_ends", {});
  EXPECT_EQ(outcome.output, expected("cluster_ends"));
  EXPECT_THAT(outcome.error,
              HasSubstr("kernel 'reaches' reaches shared memory of a block of its cluster that has "
                        "ended"));
  EXPECT_THAT(outcome.error,
              HasSubstr("launch failure: kernel 'misses' loads 4 bytes of the shared "
                        "memory of block 7 of its cluster"));
}

/// The program holds its products against sums of the host.
TEST_F(RuntimeProgram, MultipliesMatrices) {
  expect_output("matrix_products", "matrix_products");
  EXPECT_EQ(value_of("SELECT count(*) FROM results WHERE grade NOT IN ('exact', 'unavailable')"),
            "0");
}

TEST_F(RuntimeProgram, MultipliesSparseMatrices) {
  expect_output("sparse_products", "sparse_products");
  EXPECT_EQ(value_of("SELECT count(*) FROM results WHERE grade NOT IN ('exact', 'unavailable')"),
            "0");
}

/// An H200 prints this, and Nsight Compute counts it.
TEST_F(RuntimeProgram, MultipliesMatricesByWarpgroups) {
  expect_output("warpgroup_gemm", "warpgroup_gemm");
  EXPECT_EQ(counts({"shared_wgmma_wavefronts", "shared_wgmma_requests", "gst_transactions"}),
            "gemm,1,6144,512,16384\n");
  // It loads by boxes of tensors alone, which no counter of loads and of shared stores holds.
  EXPECT_EQ(value_of("SELECT group_concat(name, ' ') FROM (SELECT DISTINCT metric AS name FROM "
                     "results WHERE grade NOT IN ('exact', 'unavailable') AND value = 0 AND "
                     "reason LIKE 'leaves out what copies in bulk%' ORDER BY 1)"),
            "gld_transactions global_load_bytes global_load_requests global_load_sectors "
            "shared_store_requests shared_store_transactions shared_store_wavefronts");
  EXPECT_EQ(value_of("SELECT count(*) FROM results WHERE grade NOT IN ('exact', 'unavailable') "
                     "AND value != 0"),
            "0");
}

TEST_F(RuntimeProgram, SamplesTexturesAsAGpuDoes) {
  expect_output("rotated_pictures", "rotated_pictures");
  expect_output("textures", "textures");
  expect_output("texture_edges", "texture_edges");
  EXPECT_THAT(value_of("SELECT count(*) FROM results WHERE metric = 'global_store_sectors' AND "
                       "grade = 'exact'"),
              testing::Not(testing::AnyOf("", "0")));
}

TEST_F(RuntimeProgram, ReachesSurfacesAsAGpuDoes) {
  expect_output("surfaces", "surfaces");
  expect_output("surface_formats", "surface_formats");
  EXPECT_EQ(profile("driver_textures").output, expected("driver_textures"));
}

TEST_F(RuntimeProgram, EndsBeyondTheEdgeOfASurfaceAsOnAGpu) {
  std::string all;
  for (int what = 0; what < 18; ++what) {
    all += profile("surface_traps", {}, {std::to_string(what)}).output;
  }
  EXPECT_EQ(all, expected("surface_traps"));
}

}  // namespace
}  // namespace warpmeter::cli
