// SPDX-License-Identifier: MIT
// Slips of a person's hand: each message names the slip and the words that are right.
#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/collector/cli/model_workspace.h"

namespace warpmeter::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* three_kernels =
    "template <int T> __global__ void tr(float* o) { o[threadIdx.x] = T; }\n"
    "template <class E, bool B> __global__ void fill(E* o) { o[threadIdx.x] = B; }\n"
    "__global__ void twice(float* o, int n) { if (threadIdx.x < n) o[threadIdx.x] *= 2; }\n";

class Mistakes : public Workspace {
 protected:
  void SetUp() override { write("k.cu", three_kernels); }

  std::string refusal(const std::vector<std::string>& words) const {
    const Outcome outcome = warpmeter(words);
    EXPECT_EQ(outcome.exit_code, 2) << words[0] << outcome.error;
    return outcome.error;
  }
};

TEST_F(Mistakes, DoctorRefusesOptionsThatItWouldIgnore) {
  EXPECT_THAT(refusal({"doctor", "--peaks", "./app"}), HasSubstr("takes no program"));
  EXPECT_THAT(refusal({"doctor", "-d", "3"}), HasSubstr("--device is for --peaks alone"));
  EXPECT_THAT(refusal({"doctor", "./app", "-d", "3"}), HasSubstr("--device is for --peaks alone"));
}

TEST_F(Mistakes, AnyProgramIsNoOtherBuild) {
  EXPECT_THAT(refusal({"run", "vector_add", "-b", "model", "--against", "/bin/true"}),
              HasSubstr("/bin/true stored no run in warpmeter.db: --against needs a build"));
}

/// With -P Python imports nothing of the working folder, or, before 3.11, refuses to start.
TEST_F(Mistakes, AModuleInTheWorkingFolderIsNotOurs) {
  write("warpmeter.py", "open('imported', 'w').close()\n");
  EXPECT_NE(warpmeter({"mcp", "--folder", "."}).exit_code, -1);
  EXPECT_FALSE(std::filesystem::exists(file("imported")));
  write("python3", "#!/bin/sh\necho \"first: $1\"\n");
  std::filesystem::permissions(file("python3"), std::filesystem::perms::owner_all);
  const std::string path = folder_.string() + ":/usr/bin:/bin";
  const Outcome outcome = run_program({{"mcp", "--folder", "."}, folder_, {{"PATH", path}}});
  EXPECT_EQ(outcome.output, "first: -P\n");
}

TEST_F(Mistakes, ALineEndInANameStaysInItsSentence) {
  EXPECT_EQ(warpmeter({"model", "no\nfile.cu", "--grid", "1", "--block", "1"}).error,
            "warpmeter: there is no file no file.cu; check its name\n");
  EXPECT_EQ(warpmeter({"profile", "./no\nprogram"}).error,
            "warpmeter: ./no program cannot be started: there is no such file; name the program as "
            "you would in a shell\n");
}

TEST_F(Mistakes, AFileWithoutKernelsIsNamed) {
  write("none.cu", "int x;\n");
  const Outcome outcome = warpmeter({"model", "--accepts", "none.cu"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("none.cu holds no kernel"));
}

TEST_F(Mistakes, AMissingFileIsOneThatCannotBeReadWithAcceptsToo) {
  EXPECT_EQ(warpmeter({"model", "none.cu"}).exit_code, 5);
  const Outcome outcome = warpmeter({"model", "--accepts", "k.cu", "none.cu"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.output, HasSubstr("there is no file none.cu"));
}

/// nvprof's --db keeps figures: it names no file to print.
TEST_F(Mistakes, NvprofNamesTheOptionOfTheFileThatItCannotPrint) {
  write("text.db", std::string(1000, 'x'));
  const Outcome outcome = warpmeter({"nvprof", "-i", "text.db"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.error,
              HasSubstr("text.db is not a database: name another file with --import-profile"));
}

TEST_F(Mistakes, NvprofNamesTheCommandThatReadsADatabaseOfWarpmeter) {
  ASSERT_EQ(warpmeter({"run", "vector_add", "-n", "256", "-b", "model", "-q"}).exit_code, 0);
  const Outcome outcome = warpmeter({"nvprof", "-i", "warpmeter.db"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.error, HasSubstr("read it with `warpmeter report --db warpmeter.db`"));
}

/// These need no driver to be refused: -b model, or a machine without a GPU.
TEST_F(Mistakes, AClockAndRepetitionsNeedAGpu) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--timing"}, {"--replay", "application"}}) {
    std::vector<std::string> all = {"profile", "-b", "model", "-m", "@default"};
    all.insert(all.end(), words.begin(), words.end());
    all.emplace_back("true");
    const Outcome outcome = warpmeter(all);
    EXPECT_EQ(outcome.exit_code, 4);
    EXPECT_THAT(outcome.error, HasSubstr(words.front()));
    EXPECT_THAT(outcome.error, HasSubstr(" needs a GPU: the model "));
  }
}

TEST_F(Mistakes, ASizeThatNoNumberHoldsIsRefusedAsItWasTyped) {
  for (const char* option : {"-n", "--size"}) {
    EXPECT_THAT(
        refusal({"run", "transpose", option, "99999999999999999999", "-b", "model"}),
        HasSubstr("transpose cannot be run at size 99999999999999999999: its largest size is"));
  }
}

TEST_F(Mistakes, AWrongShapeLeavesNoRun) {
  write("s.cu",
        "__global__ void s(float* o) { __shared__ float t[32]; t[threadIdx.x] = 1; "
        "__syncthreads(); o[threadIdx.x] = t[31 - threadIdx.x]; }\n");
  for (const char* shape : {"t=3x3:f32", "other=32:f32"}) {
    EXPECT_THAT(refusal({"model", "s.cu", "--grid", "1", "--block", "32", "--arg", "o:f32[32]",
                         "--db", "warpmeter.db", "--shape", shape}),
                HasSubstr("--shape "));
  }
  EXPECT_EQ(value_of("SELECT count(*) FROM runs"), "0");
}

TEST_F(Mistakes, ATemplateIsToldAnInstance) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"run", "k.cu", "-b", "model"}, {"model", "k.cu"}}) {
    const auto with = [&](const char* kernel) {
      std::vector<std::string> words = command;
      words.insert(words.end(),
                   {"-k", kernel, "--grid", "1", "--block", "32", "--arg", "o:f32[32]"});
      return refusal(words);
    };
    EXPECT_THAT(with("tr"), HasSubstr("tr is a template of k.cu: write an instance with values of "
                                      "yours, 'tr<32>'"));
    EXPECT_THAT(with("fill"), HasSubstr("'fill<float, true>'"));
    EXPECT_THAT(with("trr"), HasSubstr("holds no kernel 'trr'"));
  }
}

TEST_F(Mistakes, ATimelineNeedsAClock) {
  const Outcome outcome =
      warpmeter({"profile", "-b", "model", "--trace-out", "t.pftrace", "/bin/true"});
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_THAT(outcome.error, HasSubstr("the model has no clock"));
  EXPECT_THAT(refusal({"profile", "-m", "@default", "--trace-out", "t.pftrace", "/bin/true"}),
              HasSubstr("--trace-out shows when everything ran"));
  EXPECT_THAT(refusal({"report", "--brief", "--section", "run"}), HasSubstr("leave one out"));
  EXPECT_THAT(refusal({"report", "--trace-out", "t.pftrace", "-o", "report.md"}),
              HasSubstr("--trace-out writes no report"));
}

TEST_F(Mistakes, ASizeThatIsUsedHasToBeGiven) {
  const std::vector<std::string> words = {"run",   "k.cu",    "-k", "twice", "-b",
                                          "model", "--block", "32", "--grid"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return more;
  };
  EXPECT_THAT(refusal(with({"1", "--arg", "o:f32[n*n]", "--arg", "n:i32=4"})),
              HasSubstr("--arg 'o:f32[n*n]' uses n, the size, and none was given: add -n 1024"));
  EXPECT_THAT(refusal(with({"ceil(n/32)", "--arg", "o:f32[4]", "--arg", "n:i32=4"})),
              HasSubstr("--grid 'ceil(n/32)' uses n"));
  EXPECT_EQ(warpmeter(with({"1", "--arg", "o:f32[32]", "--arg", "n:i32=4"})).exit_code, 0);
}

TEST_F(Mistakes, NumbersOfAGridAreOneWord) {
  for (const char* command : {"run", "model"}) {
    EXPECT_THAT(refusal({command, "k.cu", "-k", "twice", "--grid", "4", "8", "--block", "32"}),
                HasSubstr("'8' stands alone: the numbers of --grid or --block are one word, 4,8"));
  }
}

TEST_F(Mistakes, AreBlamedOnTheOptionAsItWasWritten) {
  for (const char* option : {"-n", "--size"}) {
    EXPECT_THAT(refusal({"run", "transpose", option, "1k", "-b", "model"}),
                HasSubstr(std::string("warpmeter: ") + option + " takes a whole number"));
    EXPECT_THAT(refusal({"run", "k.cu", option, "1M"}), HasSubstr(" takes a whole number"));
  }
  refusal({"run", "k.cu", "--shape", "1024"});
}

TEST_F(Mistakes, ASectionFileIsMissingOrEmpty) {
  measure_something();
  write("empty.sql", "");
  const auto of = [&](const char* name) {
    const Outcome outcome = warpmeter({"report", "--section", name});
    EXPECT_EQ(outcome.exit_code, 5) << name;
    return outcome.error;
  };
  EXPECT_THAT(of("none.sql"), HasSubstr("none.sql cannot be read (No such file or directory)"));
  EXPECT_THAT(of("empty.sql"), HasSubstr("empty.sql is empty"));
}

TEST_F(Mistakes, HelpIsACommandToo) {
  EXPECT_EQ(warpmeter({"help"}).output, warpmeter({"--help"}).output);
  EXPECT_EQ(warpmeter({"help", "run"}).output, warpmeter({"run", "--help"}).output);
}

TEST_F(Mistakes, ALabelThatGoesIsSaid) {
  measure_something();
  EXPECT_EQ(warpmeter({"runs", "label", "last", "before"}).error, "run 1 is 'before' now\n");
  EXPECT_EQ(warpmeter({"runs", "label", "last", ""}).error, "run 1 has no label now\n");
}

TEST_F(Mistakes, WhatDoesNotCompileIsNotToBeChecked) {
  write("bad.cu", "__global__ void k(float* o) { o[0] = x; }");
  const Outcome outcome = warpmeter({"run", "bad.cu", "-k", "k", "--grid", "1", "--block", "32",
                                     "--arg", "o:f32[32]", "-b", "model"});
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("does not compile"), Not(HasSubstr("--check"))));
}

/// A file may be a stranger's: its names do not act on the terminal.
TEST_F(Mistakes, AreShownWithoutControlCharacters) {
  write("esc.yaml",
        "file: k.cu\narguments: [o: 'f32[32]', i32: 4]\nvariants:\n"
        "  \"a\\e[31m\\a\": { kernel: twiec, grid: [1], block: [32] }\n"
        "  \"b\\e]0;x\\a\": { kernel: twice, grid: [x], block: [32] }\n");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "esc.yaml", "-b", "model"},
        {"explain", "x\x1b[31m/y\a"},
        {"history", "no\x1b[2Jsuch"},
        {"report", "--run", "no\x1b[2Jsuch"}}) {
    const Outcome outcome = warpmeter(words);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_THAT(outcome.error, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\a")))) << words[0];
  }
}

TEST_F(Mistakes, NamesOfAnyLengthAreCut) {
  const std::string name(60'000, 'k');
  write("long.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry " + name +
                        "()\n{\n  ret;\n}\n");
  const Outcome outcome =
      warpmeter({"model", "long.ptx", "-k", "no", "--grid", "1", "--block", "32"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("'kkkkkk"));
  EXPECT_THAT(outcome.error, HasSubstr("kkk…"));
  EXPECT_LT(outcome.error.size(), 1000U);
}

TEST_F(Mistakes, WithClosedStreamsAreExitCode5) {
  for (const char* closed : {">&-", ">&- 2>&-", ">&- 2>&- <&-"}) {
    const std::string line = std::string(WARPMETER_PROGRAM) +
                             " run vector_add -n 1000 -b model --db " + file("closed.db").string() +
                             " " + closed;
    const int status = std::system(line.c_str());
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 5) << closed;
  }
}

}  // namespace
}  // namespace warpmeter::cli
