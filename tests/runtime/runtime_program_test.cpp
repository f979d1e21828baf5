// Unmodified CUDA programs where there is no GPU: what they print, and what warpmeter counts of
// them. Their sources lie in programs/, what they print in expected/.
#include <sys/stat.h>

#include <regex>
#include <sstream>

#include "tests/collector/cli/workspace.h"
#include "tests/paths.h"

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string program(const std::string& name) { return binary_dir() + "/tests/runtime/" + name; }

std::string expected(const std::string& name) {
  return text_of(source_dir() + "/tests/runtime/expected/" + name + ".txt");
}

class RuntimeProgram : public Workspace {
 protected:
  /// Without the toolkit's libraries in sight, as on a machine that has none.
  Outcome profile(const std::string& name, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"profile", "-b", "model", "-m", "@default"};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(program(name));
    return run_program({words, folder_, {{"LD_LIBRARY_PATH", ""}}});
  }
  void expect_output(const std::string& name, const std::string& text) const {
    const Outcome outcome = profile(name);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_EQ(outcome.output, expected(text));
    EXPECT_EQ(outcome.error.find("no version information"), std::string::npos) << outcome.error;
  }
  std::string metric(const std::string& variant, const std::string& name) const {
    return value_of("SELECT DISTINCT value FROM results WHERE metric = '" + name +
                    "' AND variant = '" + variant + "'");
  }
};

TEST_F(RuntimeProgram, WithTheRuntimeLinkedIntoItIsAnsweredAndCounted) {
  expect_output("launches", "launches");
  EXPECT_EQ(value_of("SELECT count(*) FROM launches"), "2");
  EXPECT_EQ(metric("scale", "gld_transactions"),
            "129");  // 32 warps of 4 sectors, and one of the counter
  EXPECT_EQ(metric("scale", "gst_transactions"), "129");
}

TEST_F(RuntimeProgram, FindsALibcudartWhereNoneIsInstalled) {
  expect_output("launches_shared", "launches");
}

TEST_F(RuntimeProgram, OfFilesThatWereCompiledApartIsLinked) {
  expect_output("apart", "apart");
  EXPECT_EQ(value_of("SELECT count(*) FROM launches"), "4");
}

TEST_F(RuntimeProgram, MayUseTheDriverAndCompileAsItRuns) { expect_output("driver", "driver"); }

TEST_F(RuntimeProgram, MayHaveThreadsAndChildren) {
  expect_output("threads", "threads");
  EXPECT_EQ(value_of("SELECT count(*) FROM launches"), "60");
}

TEST_F(RuntimeProgram, OfCuda12GetsWhatThatVersionAnswers) {
  const Outcome outcome = profile("earlier");
  EXPECT_EQ(outcome.output, expected("earlier"));
  EXPECT_THAT(outcome.error, HasSubstr("cudaGraphAddDependencies is not answered"));
}

TEST_F(RuntimeProgram, MayCaptureAndBuildGraphs) {
  expect_output("graph_capture", "graph_capture");
  expect_output("graph_nodes", "graph_nodes");
  expect_output("capture_errors", "capture_errors");
}

TEST_F(RuntimeProgram, MayHaveFunctionsOfTheHostInItsStreams) {
  expect_output("host_functions", "host_functions");
}

TEST_F(RuntimeProgram, MayPrintAllocateAndStopInKernels) {
  expect_output("device_side", "device_side");
  expect_output("trap", "trap");
}

TEST_F(RuntimeProgram, HasStreamsOfSeveralThreads) {
  expect_output("many_threads", "many_threads");
  expect_output("own_default_streams", "own_default_streams");
}

TEST_F(RuntimeProgram, FindsAsManyDevicesAsItIsGiven) {
  const Outcome outcome = profile("two_devices", {"--model-devices", "2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(outcome.output, expected("two_devices"));
}

/// The rows of the table of findings, and the exit code: expected/README.md.
std::string findings_of(const Outcome& outcome) {
  std::string rows;
  std::istringstream lines(outcome.error);
  bool is_table = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("finding ")) {
      is_table = true;
      std::getline(lines, line);  // the rule below the headings
      continue;
    }
    if (line.empty() || line.starts_with("Looked") || line.starts_with("Nothing")) is_table = false;
    if (!is_table) continue;
    rows += std::regex_replace(line, std::regex("   +"), "  ") + "\n";
  }
  return rows + "exit " + std::to_string(outcome.exit_code) + "\n";
}

TEST_F(RuntimeProgram, IsToldItsMistakes) {
  for (const char* name :
       {"check_barrier", "check_children", "check_clean", "check_direction", "check_equal_writes",
        "check_host_access", "check_ignored_launch", "check_memory", "check_misaligned",
        "check_out_of_bounds", "check_race", "check_uninitialised", "check_use_after_free"}) {
    const Outcome outcome = run_program({{"profile", "--check", "-b", "model", "--db",
                                          file("warpmeter.db").string(), program(name)},
                                         source_dir(),
                                         {{"LD_LIBRARY_PATH", ""}}});
    EXPECT_EQ(findings_of(outcome), expected(name)) << name << ": " << outcome.error;
  }
}

/// What an H100 printed.
TEST_F(RuntimeProgram, GetsTheErrorsOfHardwareForItsMistakes) {
  const Outcome outcome = profile("misuse");
  EXPECT_EQ(outcome.output, expected("misuse"));
}

TEST_F(RuntimeProgram, WithMachineCodeOnlyIsToldWhatToCompileWith) {
  const Outcome outcome = profile("launches_machine_code");
  EXPECT_THAT(outcome.output, HasSubstr("cudaErrorNoKernelImageForDevice"));
  EXPECT_THAT(outcome.error, HasSubstr("machine code only"));
  EXPECT_THAT(outcome.error, HasSubstr("compute_90"));
}

TEST_F(RuntimeProgram, ThatIsStrippedIsToldHowToLinkAgain) {
  const Outcome outcome = profile("launches_stripped");
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.error, HasSubstr("-cudart shared"));
}

TEST_F(RuntimeProgram, ThatIsStaticAsAWholeIsRefused) {
  const Outcome outcome = profile("no_cuda_static");
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_THAT(outcome.error, HasSubstr("-static"));
}

TEST_F(RuntimeProgram, WithoutCudaMeasuresNothing) {
  const Outcome outcome = profile("no_cuda");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.output, "no CUDA\n");
}

TEST_F(RuntimeProgram, ThatOnlyCopiesLaunchesNothing) {
  const Outcome outcome = profile("copies");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.error;
  EXPECT_EQ(outcome.output, "4\n");
  EXPECT_THAT(outcome.error, HasSubstr("no kernel was launched"));
}

TEST_F(RuntimeProgram, HasItsFailedKernelsInTheSummaryToo) {
  const Outcome outcome = run_program(
      {{"profile", "-b", "model", program("trap")}, folder_, {{"LD_LIBRARY_PATH", ""}}});
  EXPECT_THAT(outcome.error, HasSubstr("a launch of ends failed:"));
  EXPECT_EQ(value_of("SELECT outcome FROM launches"), "failed");
}

class DoctorOfAProgram : public Workspace {
 protected:
  Outcome doctor(const std::string& name) const { return warpmeter({"doctor", program(name)}); }
};

TEST_F(DoctorOfAProgram, SaysThatItCanBeAnswered) {
  const Outcome outcome = doctor("launches");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("the CUDA runtime is linked into it"));
  EXPECT_THAT(outcome.output, HasSubstr("PTX for sm_90; machine code for sm_90"));
  EXPECT_THAT(outcome.output, HasSubstr("1 of 1 kernel can be executed"));
}

TEST_F(DoctorOfAProgram, KnowsTheOtherWaysIn) {
  const Outcome shared = doctor("launches_shared");
  EXPECT_EQ(shared.exit_code, 0) << shared.output;
  EXPECT_THAT(shared.output, HasSubstr("it needs libcudart.so"));
  const Outcome driver = doctor("driver");
  EXPECT_EQ(driver.exit_code, 0) << driver.output;
  EXPECT_THAT(driver.output, HasSubstr("it uses the driver's API"));
  const Outcome host = doctor("no_cuda");
  EXPECT_EQ(host.exit_code, 0) << host.output;
  EXPECT_THAT(host.output, HasSubstr("no CUDA in the file itself"));
  const Outcome apart = doctor("apart");
  EXPECT_EQ(apart.exit_code, 0) << apart.output;
  EXPECT_THAT(apart.output, HasSubstr("4 of 4 kernels can be executed"));
}

TEST_F(DoctorOfAProgram, SaysWhyItCannotBeAnswered) {
  const struct {
    const char* name;
    const char* why;
  } cases[] = {{"launches_stripped", "-cudart shared"},
               {"launches_machine_code", "compile with PTX too"},
               {"no_cuda_static", "link it without -static"},
               {"textures", "tex."}};
  for (const auto& [name, why] : cases) {
    const Outcome outcome = doctor(name);
    EXPECT_EQ(outcome.exit_code, 4) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(why));
  }
}

TEST_F(DoctorOfAProgram, ThatIsNotThereIsAMistakeOfUsage) {
  EXPECT_EQ(doctor("nothing").exit_code, 2);
}

}  // namespace
}  // namespace warpmeter::cli
