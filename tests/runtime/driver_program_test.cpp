// SPDX-License-Identifier: MIT
// Programs of the driver's API where there is no GPU: what they print, and what --check says of
// them. Their sources lie in programs/, what they print in expected/.
#include <regex>

#include "tests/collector/cli/workspace.h"
#include "tests/paths.h"

namespace warpmeter::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class DriverProgram : public Workspace {
 protected:
  static std::string program(const std::string& name) {
    return binary_dir() + "/tests/runtime/" + name;
  }
  static std::string expected(const std::string& name) {
    std::ifstream stream(source_dir() + "/tests/runtime/expected/" + name + ".txt");
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  /// Without the toolkit's libraries in sight, as on a machine that has none.
  Outcome profile(const std::string& name, std::vector<std::string> words,
                  const std::vector<std::string>& arguments = {}) const {
    words.insert(words.begin(), {"profile", "-b", "model"});
    words.push_back(program(name));
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_program({words, folder_, {{"LD_LIBRARY_PATH", ""}}});
  }
};

TEST_F(DriverProgram, MayMapMemoryToAddressesOfItsChoice) {
  const Outcome outcome = profile("driver_memory", {"-m", "gst_transactions"});
  EXPECT_EQ(outcome.output, expected("driver_memory"));
  EXPECT_THAT(outcome.error, HasSubstr("one behind the other"));
  // The chunks of 2 MiB, first three, then of four, all are written, then a word; then one of the
  // host's.
  EXPECT_EQ(value_of("SELECT group_concat(CAST(value AS INTEGER), ' ') FROM (SELECT value FROM "
                     "results WHERE metric = 'gst_transactions' ORDER BY launch_id)"),
            "196608 262144 1 65536");
}

/// The model runs the PTX that it was made of, and takes the machine code for the audit.
TEST_F(DriverProgram, MayLoadMachineCodeThatNvrtcMade) {
  const Outcome outcome = profile("driver_compiled", {"-m", "global_load_sectors"});
  EXPECT_EQ(outcome.output, expected("driver_compiled"));
  EXPECT_EQ(value_of("SELECT value || ' ' || grade FROM results WHERE metric = "
                     "'global_load_sectors'"),
            "8.0 exact");
}

/// Code for link-time optimization and PTX, which the model's linker and nvJitLink share.
TEST_F(DriverProgram, MayLoadMachineCodeThatNvJitLinkMade) {
  if (!std::filesystem::exists(program("driver_linked")))
    GTEST_SKIP() << "the toolkit has no nvJitLink";
  const Outcome outcome = profile("driver_linked", {"-m", "gld_transactions"});
  EXPECT_EQ(outcome.output, expected("driver_linked"));
  // Every second of 64 floats of x, 8 sectors in each of 2 warps, and y, 4 in each.
  EXPECT_EQ(value_of("SELECT group_concat(CAST(value AS INTEGER), ' ') FROM results WHERE metric = "
                     "'gld_transactions'"),
            "24 24");
}

/// 32 lanes load every second float, 8 sectors, in each of the launches.
TEST_F(DriverProgram, MayBeAFrameworkOfPython) {
  const std::string script = source_dir() + "/tests/runtime/programs/frameworks.py";
  const auto run = [&](const std::string& when) {
    return run_program(
        {{"profile", "-b", "model", "-m", "global_load_sectors", "python3", script,
          folder_.string(), WARPMETER_PTXAS, WARPMETER_NVRTC, WARPMETER_OTHER_NVRTC, when},
         folder_,
         {{"LD_LIBRARY_PATH", ""}, {"XDG_CACHE_HOME", folder_.string()}}});
  };
  const Outcome fresh = run("fresh");
  EXPECT_EQ(fresh.output.substr(0, fresh.output.find("Device")),
            "made here True\nmade by ptxas True\nptxas failed True\nmade by ptxas before True\n"
            "made of earlier PTX True\nwith any PTX beside it None\nof an earlier process True\n"
            "with PTX beside it True\nof nobody None\nfrom a file whose name is no text 0\n"
            "beside another interpreter True\n")
      << fresh.error;
  EXPECT_THAT(fresh.error, HasSubstr("cuModuleLoadData returned CUDA_ERROR_NO_BINARY_FOR_GPU"));
  EXPECT_THAT(fresh.error, HasSubstr("frameworks.py:45"));
  EXPECT_EQ(value_of("SELECT count(*) || ' ' || group_concat(DISTINCT value || ' ' || grade) FROM "
                     "results WHERE metric = 'global_load_sectors'"),
            "6 8.0 exact");
  const Outcome again = run("again");
  EXPECT_EQ(again.output.substr(0, again.output.find("Device")),
            "of an earlier process True\nwith PTX beside it True\nof nobody None\n"
            "from a file whose name is no text 0\nbeside another interpreter True\n")
      << again.error;
}

TEST_F(DriverProgram, MayHaveGraphsThatWaitForValues) {
  EXPECT_EQ(profile("driver_value_nodes", {}).output, expected("driver_value_nodes"));
}

TEST_F(DriverProgram, MaySplitTheMultiprocessors) {
  const Outcome outcome = profile("green_contexts", {"-m", "gst_transactions"});
  EXPECT_EQ(outcome.output, expected("green_contexts"));
  EXPECT_THAT(outcome.error, HasSubstr("is launched cooperatively with 257 blocks"));
}

TEST_F(DriverProgram, IsToldOfMappedMemoryThatStays) {
  const Outcome outcome = profile("check_mapped", {"--check"});
  EXPECT_THAT(outcome.error, HasSubstr("2,097,152 bytes of 'kept' (allocated at "));
  EXPECT_THAT(outcome.error, HasSubstr("are never released"));
  EXPECT_THAT(outcome.error, HasSubstr("2,097,152 bytes of 'mapped' (allocated at "));
  EXPECT_THAT(outcome.error, HasSubstr("are never unmapped"));
  EXPECT_THAT(outcome.error, Not(HasSubstr("'whole'")));
  // These two, two copies of what nobody has set, and three calls that are refused.
  EXPECT_THAT(outcome.error, HasSubstr("--check found 7 mistakes"));
}

TEST_F(DriverProgram, IsToldWhyItsRangesAreRefusedInAFile) {
  const Outcome outcome = profile("check_mapped", {"--check", "-q", "-o", file("found.txt")});
  EXPECT_THAT(outcome.error, Not(HasSubstr("'table'")));
  const std::string text = std::regex_replace(contents("found.txt"), std::regex("\\s+"), " ");
  EXPECT_THAT(text, HasSubstr("Looked for in the program"));
  EXPECT_THAT(text, HasSubstr("something is mapped there already, in 'table'"));
  EXPECT_THAT(text, HasSubstr("(invalid argument): nothing is mapped there"));
  EXPECT_THAT(text, HasSubstr("something is mapped still in 'table'"));
}

TEST_F(DriverProgram, IsToldItsFindingsInTheFormatThatWasAskedFor) {
  EXPECT_THAT(
      profile("check_mapped", {"--check", "--csv"}).error,
      AllOf(HasSubstr("finding,place,weight,times,message\n"),
            Not(HasSubstr("Looked for in the program")), HasSubstr("--check found 7 mistakes")));
  EXPECT_THAT(profile("check_mapped", {"--check", "--csv", "-q"}).error,
              Not(HasSubstr("finding,")));
}

TEST_F(DriverProgram, IsToldOfMappedMemoryThatNothingHasSet) {
  const Outcome outcome = profile("check_mapped", {"--check"});
  EXPECT_THAT(outcome.error, HasSubstr("cuMemcpyDtoH copies 64 bytes of 'table' (allocated at "));
  EXPECT_THAT(outcome.error, HasSubstr("from byte 256 on, that nothing has written"));
  EXPECT_THAT(outcome.error, HasSubstr("from byte 2097152 on, that nothing has written"));
  EXPECT_THAT(outcome.error, Not(HasSubstr("from byte 64 on")));
}

TEST_F(DriverProgram, MayNotWriteWhatItMayOnlyRead) {
  const Outcome outcome = profile("check_mapped", {"--check"}, {"writes"});
  EXPECT_THAT(outcome.error, HasSubstr("2097148 bytes into 'table' (allocated at "));
  EXPECT_THAT(outcome.error, HasSubstr("which the device may only read"));
}

TEST_F(DriverProgram, MayLinkPartsAsItRuns) {
  const Outcome outcome =
      profile("linker", {"-m", "gst_transactions"},
              {program("linked_part.fatbin"), program("linked_part.o"), program("linked_part.a")});
  EXPECT_EQ(outcome.output, expected("linker"));
  EXPECT_EQ(value_of("SELECT count(*) || ' ' || count(DISTINCT kernel) FROM launches"), "8 2");
}

TEST_F(DriverProgram, IsToldThatTheLinkerNeedsPtx) {
  const Outcome outcome = profile("linker", {}, {"cubin", program("linked_part.cubin")});
  EXPECT_THAT(outcome.output, HasSubstr("CUDA_ERROR_NO_BINARY_FOR_GPU"));
  EXPECT_THAT(outcome.error, HasSubstr("linked_part.cubin is machine code"));
}

TEST_F(DriverProgram, IsRefusedWhatIsNoPtxAndMemoryThatIsGone) {
  EXPECT_EQ(profile("driver_refused", {"-m", "gst_transactions"}).output,
            expected("driver_refused"));
}

TEST_F(DriverProgram, MayHaveStreamsThatWaitForValues) {
  EXPECT_EQ(profile("stream_values", {"-m", "gst_transactions"}).output, expected("stream_values"));
}

TEST_F(DriverProgram, MayLaunchAsItDidBeforeCuda4) {
  const Outcome outcome = profile("driver_earlier", {"-m", "gst_transactions"});
  EXPECT_EQ(outcome.output, expected("driver_earlier"));
  // 64 bytes a block are two sectors.
  EXPECT_EQ(value_of("SELECT group_concat(CAST(value AS INTEGER), ' ') FROM (SELECT value FROM "
                     "results WHERE metric = 'gst_transactions' ORDER BY launch_id)"),
            "2 4 6");
}

TEST_F(DriverProgram, IsToldWhatItHasSetAndWhatThereIs) {
  const Outcome outcome = profile("questions", {"-m", "gst_transactions"});
  EXPECT_EQ(outcome.output, expected("questions"));
  EXPECT_THAT(outcome.error, Not(HasSubstr("is not answered")));
}

}  // namespace
}  // namespace warpmeter::cli
