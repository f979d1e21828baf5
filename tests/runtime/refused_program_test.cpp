// SPDX-License-Identifier: MIT
// Programs that cannot be answered without a GPU, or not in full: what they are told, the exit
// code, and what `doctor` says of them beforehand.
#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class RuntimeProgramRefused : public RuntimeProgram {};

TEST_F(RuntimeProgramRefused, WithMachineCodeOnlyIsToldWhatToCompileWith) {
  const Outcome outcome = profile("launches_machine_code");
  EXPECT_THAT(outcome.output, HasSubstr("cudaErrorNoKernelImageForDevice"));
  EXPECT_THAT(outcome.error, HasSubstr("machine code only"));
  EXPECT_THAT(outcome.error, HasSubstr("compute_90"));
}

/// The loader reads no sections: the program runs, whatever its header says of them.
TEST_F(RuntimeProgramRefused, WhoseHeaderNamesSectionsBehindTheFilesEndRunsAsAlone) {
  std::string bytes = text_of(program("check_clean"));
  constexpr std::size_t number_of_sections = 60;  // e_shnum of the ELF header, two bytes
  ASSERT_GT(bytes.size(), number_of_sections + 2);
  bytes[number_of_sections] = bytes[number_of_sections + 1] = static_cast<char>(0xff);
  std::ofstream(file("damaged"), std::ios::binary) << bytes;
  std::filesystem::permissions(file("damaged"), std::filesystem::perms::owner_all);
  for (const char* check : {"-q", "--check"}) {
    const Outcome outcome = run_program({{"profile", "-b", "model", check, "./damaged"}, folder_});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_THAT(outcome.error, Not(HasSubstr("signal"))) << outcome.error;
  }
}

TEST_F(RuntimeProgramRefused, NoneOfWhoseLaunchesCanRunHasNothingMeasured) {
  const Outcome counted = profile("launches_machine_code");
  EXPECT_EQ(counted.exit_code, 3);
  EXPECT_THAT(counted.error, HasSubstr("nothing was measured: no launch of the program could run"));
  EXPECT_EQ(value_of("SELECT outcome FROM runs"), "failed");
  EXPECT_THAT(value_of("SELECT reason FROM runs"),
              HasSubstr("'scale' failed: there is machine code"));
}

TEST_F(RuntimeProgramRefused, IsToldOnceWhyNoneOfItsLaunchesCouldRun) {
  const Outcome outcome = profile("refused");
  EXPECT_EQ(outcome.exit_code, 3);
  const std::string why = "asks for the type of a handle";
  const std::size_t at = outcome.error.find(why);
  ASSERT_NE(at, std::string::npos) << outcome.error;
  EXPECT_EQ(outcome.error.find(why, at + 1), std::string::npos) << outcome.error;
  EXPECT_THAT(outcome.error,
              HasSubstr("a launch of 'ask' failed: the model cannot run it: 'istypep."));
  const Outcome quiet = profile("refused", {"-q"});
  EXPECT_THAT(quiet.error, HasSubstr("no launch of the program could run; a launch of 'ask'"));
  EXPECT_THAT(quiet.error, HasSubstr(why));
}

TEST_F(RuntimeProgramRefused, WhoseMachineCodeIsOfOtherCodeIsToldSo) {
  // An H200 prints 90.
  const Outcome apart = profile("architectures_apart");
  EXPECT_EQ(apart.output, "1\n");
  EXPECT_THAT(apart.error,
              HasSubstr("machine code for sm_90a, which is compiled apart from the PTX "
                        "for sm_90 that runs here"));
  EXPECT_EQ(value_of("SELECT DISTINCT grade FROM results WHERE metric = 'gst_transactions'"),
            "ptx");
  // As -arch=sm_90a compiles it, with PTX for both.
  const Outcome together = profile("architectures");
  EXPECT_EQ(together.output, "90\n");
  EXPECT_THAT(together.error, Not(HasSubstr("compiled apart")));
  EXPECT_EQ(value_of("SELECT DISTINCT grade FROM results WHERE metric = 'gst_transactions' AND "
                     "run_id = 2"),
            "exact");
}

TEST_F(RuntimeProgramRefused, ForALaterArchitectureIsToldWhichOneToAskFor) {
  const Outcome outcome = profile("launches_later");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.error, HasSubstr("there is PTX for sm_100 only"));
  EXPECT_THAT(outcome.error, HasSubstr("--arch sm_100 gives it such a device"));
  EXPECT_EQ(profile("launches_later", {"--arch", "sm_100"}).output, expected("launches"));
}

TEST_F(RuntimeProgramRefused, ThatIsStrippedIsToldHowToLinkAgain) {
  const Outcome outcome = profile("launches_stripped");
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.error, HasSubstr("-cudart shared"));
}

TEST_F(RuntimeProgramRefused, ThatIsStaticAsAWholeIsRefused) {
  const Outcome outcome = profile("no_cuda_static");
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_THAT(outcome.error, HasSubstr("-static"));
}

TEST_F(RuntimeProgramRefused, WithoutCudaMeasuresNothing) {
  const Outcome outcome = profile("no_cuda");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.output, "no CUDA\n");
  EXPECT_THAT(outcome.error, HasSubstr("is it the one that uses CUDA?"));
}

TEST_F(RuntimeProgramRefused, ThatOnlyCopiesLaunchesNothing) {
  const Outcome outcome = profile("copies");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.error;
  EXPECT_EQ(outcome.output, "4\n" + expected("copies"));  // with variables of its own
  EXPECT_THAT(outcome.error, HasSubstr("the program launched no kernel"));
}

TEST_F(RuntimeProgramRefused, OrNotThatOnlyCopiesIsCheckedAllTheSame) {
  const Outcome outcome = checked("check_copies");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("Nothing was found of what was looked for in the program, "
                                       "which launched nothing"));
  EXPECT_THAT(outcome.error, Not(HasSubstr("launched no kernel")));
}

TEST_F(RuntimeProgramRefused, IsToldThatAllItsLaunchesWereAndWhy) {
  const std::string why = "a launch was refused: kernel 'fill' takes at most 1024 threads a block";
  const std::vector<std::string> loud, quiet = {"-q"};
  for (const auto* options : {&loud, &quiet}) {
    const Outcome outcome = profile("check_ignored_launch", *options);
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_THAT(outcome.error, HasSubstr(why));
    EXPECT_THAT(outcome.error, HasSubstr("every launch of the program was refused"));
    EXPECT_THAT(outcome.error, Not(HasSubstr("launched no kernel")));
  }
  EXPECT_THAT(checked("check_ignored_launch").error,
              HasSubstr("the program, all of whose launches were refused"));
}

TEST_F(RuntimeProgramRefused, IsToldWhichOfItsLaunchesWereBesideThoseThatRan) {
  const Outcome outcome = profile("launch_mistakes");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.error, HasSubstr("2 launches were refused: kernel 'k' is launched without a "
                                       "block"));
  EXPECT_THAT(outcome.error, HasSubstr("kernel 'plain' is launched cooperatively with 100000 "
                                       "blocks, more than fit on the device at a time"));
}

/// The names are those of CUDA's documentation.
TEST_F(RuntimeProgramRefused, IsToldWhichOfItsCallsFailedWhereItEndsBadly) {
  const Outcome outcome = profile("failed_calls");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("first CUDA call that failed: cudaSetDevice returned "
                                       "cudaErrorInvalidDevice (invalid device ordinal)\n"));
  EXPECT_THAT(outcome.error, HasSubstr("next CUDA call that failed: cudaDeviceGetAttribute"));
  EXPECT_THAT(profile("failed_calls", {"-q"}).error, HasSubstr("cudaSetDevice returned"));
  EXPECT_THAT(profile("launches").error, Not(HasSubstr("call that failed")));
}

TEST_F(RuntimeProgramRefused, HasItsFailedKernelsInTheSummaryToo) {
  const Outcome outcome = run_program(
      {{"profile", "-b", "model", program("trap")}, folder_, {{"LD_LIBRARY_PATH", ""}}});
  EXPECT_THAT(outcome.error, HasSubstr("a launch of 'ends' failed:"));
  EXPECT_EQ(value_of("SELECT outcome FROM launches"), "failed");
  EXPECT_EQ(outcome.exit_code, 0) << "the program's own, which saw it";
  EXPECT_EQ(value_of("SELECT outcome FROM runs"), "failed");
  EXPECT_THAT(value_of("SELECT reason FROM runs"), HasSubstr("a launch of 'ends' failed:"));
}

TEST_F(RuntimeProgramRefused, IsEndedByATimeoutWithOneExitCodeWhateverItMakesOfIt) {
  for (const char* script : {"exec sleep 60", "trap 'exit 0' TERM; while :; do sleep 0.1; done"}) {
    const Outcome outcome = run_program(
        {{"profile", "-b", "model", "--timeout", "0.5", "/bin/sh", "-c", script}, folder_, {}});
    EXPECT_EQ(outcome.exit_code, 3) << script;
    EXPECT_THAT(outcome.error, HasSubstr("ended after --timeout 0.5")) << script;
  }
}

TEST_F(RuntimeProgramRefused, IsToldWhichKernelRanWhenItWasStopped) {
  const auto stopped = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"profile", "-b", "model", "--timeout", "2"});
    options.push_back(program("endless"));
    return run_program({options, folder_, {{"LD_LIBRARY_PATH", ""}}});
  };
  const Outcome counted = stopped({"-m", "gst_transactions"});
  EXPECT_EQ(counted.exit_code, 3);
  EXPECT_THAT(counted.error,
              HasSubstr("ended after --timeout 2 while 'waits' ran; what was measured "
                        "before is kept"));
  EXPECT_EQ(value_of("SELECT group_concat(variant) FROM launches"), "ends");
  EXPECT_EQ(value_of("SELECT reason FROM runs"), "ended after --timeout 2 while 'waits' ran");
  EXPECT_THAT(stopped({"-m", "gst_transactions", "-k", "waits"}).error,
              HasSubstr("while 'waits' ran; no chosen launch had come to its end"));
}

TEST_F(RuntimeProgramRefused, ThatEndsBadlyIsToldThatTheFiltersTookNothing) {
  const Outcome outcome = profile("endless", {"-k", "another"}, {"1"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.error, HasSubstr("ended with exit code 5; no launch passed the filters; the "
                                       "program launched 'ends'"));
  EXPECT_THAT(outcome.error, Not(HasSubstr("is kept")));
}

/// A remark names what hardware does not notice; beyond that it ends the launch.
TEST_F(RuntimeProgramRefused, IsWhatLeavesTheLastBytesThatHardwareGives) {
  const Outcome beside = profile("beside_buffers");
  EXPECT_EQ(beside.exit_code, 0) << beside.error;
  EXPECT_EQ(beside.output, "no error\nno error\n96\nno error\nno error 32\n");
  for (const char* kernel : {"behind_an_allocation", "behind_shared_memory", "beside_a_variable"}) {
    EXPECT_THAT(beside.error, HasSubstr(std::string("kernel '") + kernel +
                                        "' accesses memory beside its buffers"));
  }
  const Outcome far = profile("beside_buffers", {}, {"far"});
  EXPECT_THAT(far.output, testing::StartsWith("no error\nno error\n96\nan illegal memory access"));
  const Outcome looked = checked("beside_buffers");
  EXPECT_EQ(looked.exit_code, 6);
  EXPECT_THAT(looked.error, HasSubstr("out of bounds"));
}

struct Diagnosis {
  std::string program;
  int exit_code = 0;
  std::vector<std::string> words = {};
};

class DoctorOfAProgram : public Workspace, public testing::WithParamInterface<Diagnosis> {};

TEST_P(DoctorOfAProgram, SaysHowItCanBeAnsweredOrWhyNot) {
  const Diagnosis& expected = GetParam();
  const Outcome outcome = warpmeter({"doctor", program(expected.program)});
  EXPECT_EQ(outcome.exit_code, expected.exit_code) << outcome.output << outcome.error;
  for (const std::string& words : expected.words) EXPECT_THAT(outcome.output, HasSubstr(words));
}

INSTANTIATE_TEST_SUITE_P(
    Programs, DoctorOfAProgram,
    testing::Values(Diagnosis{"launches",
                              0,
                              {"the CUDA runtime is linked into it",
                               "PTX for sm_90; machine code for sm_90",
                               "1 of 1 kernel can be executed"}},
                    Diagnosis{"launches_shared", 0, {"it needs libcudart.so"}},
                    Diagnosis{"driver", 0, {"it uses the driver's API"}},
                    Diagnosis{"no_cuda", 0, {"no CUDA in the file itself"}},
                    Diagnosis{"apart", 0, {"4 of 4 kernels can be executed"}},
                    Diagnosis{"launches_stripped", 4, {"-cudart shared"}},
                    Diagnosis{"launches_machine_code", 4, {"compile with PTX too"}},
                    Diagnosis{"launches_later", 4, {"--arch sm_100 gives it such a device"}},
                    Diagnosis{"no_cuda_static", 4, {"link it without -static"}},
                    Diagnosis{"refused", 4, {"istypep."}}, Diagnosis{"nothing", 2}),
    [](const testing::TestParamInfo<Diagnosis>& info) { return info.param.program; });

}  // namespace
}  // namespace warpmeter::cli
