// SPDX-License-Identifier: MIT
// Whatever ends the program, nothing stays that was only there for a while; and a limit on the size
// of files is an error like any other.
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string endless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, 'text' FROM n";

const std::string counts_for_minutes =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry count()\n{\n"
    "  .reg .u64 %rd<2>;\n  .reg .pred %p<2>;\n  mov.u64 %rd1, 0;\nAGAIN:\n"
    "  add.u64 %rd1, %rd1, 1;\n  setp.lt.u64 %p1, %rd1, 1000000000000;\n  @%p1 bra AGAIN;\n"
    "  ret;\n}\n";

class Endings : public Workspace {
 protected:
  void SetUp() override {
    measure_something();
    std::filesystem::create_directory(file("out"));
    std::filesystem::create_directory(file("tmp"));
  }

  std::vector<std::string> names_in(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(file(folder))) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  /// The program starts with a folder of its own for temporary files, and is ended while it works.
  Outcome ended_by(int signal, const std::vector<std::string>& words) const {
    Process process({words, folder_, {{"TMPDIR", file("tmp").string()}}});
    wait_until_it_works(process);
    kill(process.id(), signal);
    return process.wait();
  }

  /// Until the process writes a file in out, which may have no name yet, or has made its temporary
  /// folder.
  void wait_until_it_works(const Process& process) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (names_in("tmp").empty() && !writes_in(process, file("out").string() + "/")) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "nothing was begun";
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  static std::vector<pid_t> children_of(pid_t process) {
    const std::string id = std::to_string(process);
    std::vector<pid_t> children;
    std::ifstream list("/proc/" + id + "/task/" + id + "/children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
    return children;
  }
  static bool writes_in(const Process& process, const std::string& folder) {
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator(
             "/proc/" + std::to_string(process.id()) + "/fd", gone)) {
      if (std::filesystem::read_symlink(entry.path(), gone).string().starts_with(folder)) {
        return true;
      }
    }
    return false;
  }

  Outcome within(std::size_t bytes, const std::vector<std::string>& words) const {
    Start start{words, folder_, {{"TMPDIR", file("tmp").string()}}};
    start.largest_file = bytes;
    return run_program(start);
  }
};

TEST_F(Endings, BySignalsLeaveNoHalfWrittenFile) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGKILL}) {
    const Outcome outcome =
        ended_by(signal, {"query", endless, "--format", "csv", "-o", "out/huge.csv"});
    EXPECT_EQ(outcome.signal, signal);
    EXPECT_THAT(names_in("out"), IsEmpty()) << signal;
  }
}

TEST_F(Endings, LeaveTheFileThatWasThere) {
  write("out/a.csv", "old");
  ended_by(SIGINT, {"query", endless, "--format", "csv", "-o", "out/a.csv"});
  EXPECT_THAT(names_in("out"), ElementsAre("a.csv"));
  EXPECT_EQ(contents("out/a.csv"), "old");
}

TEST_F(Endings, OfTheModelLeaveNoTemporaryFolder) {
  write("count.ptx", counts_for_minutes);
  for (const int signal : {SIGQUIT, SIGXCPU, SIGINT, SIGTERM}) {
    const Outcome outcome =
        ended_by(signal, {"model", "count.ptx", "--grid", "1", "--block", "32"});
    EXPECT_EQ(outcome.signal, signal) << outcome.error;
    EXPECT_THAT(names_in("tmp"), IsEmpty()) << signal;
  }
}

TEST_F(Endings, BySecondCtrlCLeaveNoTemporaryFolder) {
  write("count.ptx", counts_for_minutes);
  Process process({{"model", "count.ptx", "--grid", "1", "--block", "32"},
                   folder_,
                   {{"TMPDIR", file("tmp").string()}}});
  wait_until_it_works(process);
  EXPECT_EQ(names_in("tmp").size(), 1U) << "a folder to be left behind";
  kill(process.id(), SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  kill(process.id(), SIGINT);
  EXPECT_EQ(process.wait().signal, SIGINT);
  EXPECT_THAT(names_in("tmp"), IsEmpty());
}

/// A source that no compiler comes to the end of: 10^11 tokens.
std::string macro_bomb() {
  std::string source = "#define A0 x x x x x x x x x x\n";
  for (int i = 1; i <= 10; ++i) {
    source += "#define A" + std::to_string(i);
    for (int j = 0; j < 10; ++j) source += " A" + std::to_string(i - 1);
    source += "\n";
  }
  return source + "extern \"C\" __global__ void k(float* o) { A10 }\n";
}

constexpr const char* family_of_bomb =
    "family: f\nfile: macro.cu\narguments: [ o: 'f32[256]' ]\n"
    "variants: { a: { kernel: k, grid: [1], block: [32] } }\n";

TEST_F(Endings, EndACompilationAndItsProcesses) {
  write("macro.cu", macro_bomb());
  write("fam.yaml", family_of_bomb);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"model", "macro.cu", "-k", "k", "--grid", "1", "--block", "32",
                                 "--arg", "f32[256]"},
        {"run", "fam.yaml", "-b", "model"},
        {"run", "fam.yaml", "-b", "model", "--compiler", "nvcc"}}) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      Process process({words, folder_, {{"TMPDIR", file("tmp").string()}}});
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (children_of(process.id()).empty() && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      const std::vector<pid_t> children = children_of(process.id());
      EXPECT_THAT(children, testing::Not(IsEmpty())) << words[0];
      kill(process.id(), signal);
      const Outcome outcome = process.wait();
      EXPECT_EQ(outcome.signal, signal) << words[0] << outcome.exit_code << outcome.error;
      EXPECT_THAT(outcome.error, HasSubstr("stopping;"));
      EXPECT_EQ(outcome.error.find("warpmeter:", outcome.error.find("stopping;")),
                std::string::npos)
          << outcome.error;
      for (const pid_t child : children) EXPECT_NE(kill(child, 0), 0) << child;
      EXPECT_THAT(names_in("tmp"), IsEmpty());
    }
  }
}

/// Writes its number, and goes on for minutes whoever asks it to end.
constexpr const char* stubborn_program =
    "#!/bin/sh\ntrap '' TERM INT HUP\necho $$ > program.pid\n"
    "while :; do sleep 0.1; done\n";

class ObservedProgram : public Endings {
 protected:
  void SetUp() override {
    Endings::SetUp();
    write("stubborn", stubborn_program);
    std::filesystem::permissions(file("stubborn"), std::filesystem::perms::owner_all);
  }
  Start start() const {
    return {{"profile", "-b", "model", "./stubborn"}, folder_, {{"TMPDIR", file("tmp").string()}}};
  }
  pid_t begun() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (contents("program.pid").empty() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return std::stoi(contents("program.pid"));
  }
  /// Soon: who dies with us does so a moment later.
  static bool has_ended(pid_t process) {
    for (int i = 0; i < 200 && kill(process, 0) == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return kill(process, 0) != 0;
  }
};

TEST_F(ObservedProgram, IsKilledByASecondSignalAndNothingIsLeft) {
  Process process(start());
  const pid_t program = begun();
  kill(process.id(), SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  kill(process.id(), SIGTERM);
  EXPECT_EQ(process.wait().signal, SIGTERM);
  EXPECT_TRUE(has_ended(program));
  EXPECT_THAT(names_in("tmp"), IsEmpty());
}

TEST_F(ObservedProgram, OutlivesAKilledWarpmeterWhoseFolderTheNextCommandRemoves) {
  Process process(start());
  const pid_t program = begun();
  kill(process.id(), SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(kill(program, 0), 0);
  kill(program, SIGKILL);
  process.wait();  // for its output, which the program shared
  run_program({{"runs"}, folder_, {{"TMPDIR", file("tmp").string()}}});
  EXPECT_THAT(names_in("tmp"), IsEmpty());
}

TEST_F(ObservedProgram, MayStartADaemonThatOutlivesIt) {
  write("stubborn", "#!/bin/sh\n(setsid sleep 30 >&- 2>&- <&- & echo $! > program.pid)\n");
  Start quiet = start();
  quiet.words.insert(quiet.words.begin() + 1, {"--target-processes", "application-only"});
  Process process(quiet);
  const pid_t daemon = begun();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  kill(process.id(), SIGKILL);
  process.wait();
  EXPECT_EQ(kill(daemon, 0), 0);
  kill(daemon, SIGKILL);
}

TEST_F(Endings, ALimitOnTheSizeOfFilesIsExitCode5ForAFile) {
  const Outcome outcome =
      within(100'000, {"query", endless, "--format", "csv", "-o", "out/huge.csv"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.signal;
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("cannot write out/huge.csv: it would be larger"),
                                   HasSubstr("ulimit -f")));
  EXPECT_THAT(names_in("out"), IsEmpty());
}

TEST_F(Endings, ALimitOnTheSizeOfFilesIsExitCode5ForStandardOutput) {
  write("out/all.csv", "");
  Start start{{"query", endless, "--format", "csv"}, folder_};
  start.output = file("out/all.csv").string();
  start.largest_file = 100'000;
  const Outcome outcome = run_program(start);
  EXPECT_EQ(outcome.exit_code, 5) << outcome.signal;
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("standard output"), HasSubstr("ulimit -f")));
}

TEST_F(Endings, ALimitOnTheSizeOfFilesIsExitCode5ForADatabase) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "vector_add", "-n", "1000", "-b", "model", "-q"},
        std::vector<std::string>{"runs", "backup", "out/copy.db"},
        std::vector<std::string>{"merge", "warpmeter.db", "-o", "out/lab.db"}}) {
    const Outcome outcome = within(40'000, words);
    EXPECT_EQ(outcome.exit_code, 5) << words[0] << outcome.signal << outcome.error;
    EXPECT_THAT(outcome.error, HasSubstr("ulimit -f")) << words[0];
  }
  EXPECT_FALSE(std::filesystem::exists(file("out/copy.db")));
  EXPECT_EQ(value_of("SELECT count(*) FROM launches"), "2");
}

TEST_F(Endings, ALimitOnTheSizeOfFilesIsExitCode5ForASave) {
  write("fill.ptx",
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry fill(.param .u64 p)\n{\n"
        "  ret;\n}\n");
  // Between the database, of half a megabyte and its journal, and the file, of four.
  for (const char* name : {"out/a.npy", "out/a.bin"}) {
    const Outcome outcome =
        within(1'500'000, {"model", "fill.ptx", "--grid", "1", "--block", "32", "--arg",
                           "a:f32[1000000]=iota", "--save", std::string("a=") + name});
    EXPECT_EQ(outcome.exit_code, 5) << outcome.error;
    EXPECT_THAT(outcome.error, AllOf(HasSubstr(name), HasSubstr("ulimit -f")));
  }
  EXPECT_THAT(names_in("out"), IsEmpty());
  EXPECT_THAT(names_in("tmp"), IsEmpty());
}

/// The folder of a process that was killed, which nobody has locked.
TEST_F(Endings, TheNextCommandRemovesWhatAKilledOneLeft) {
  std::filesystem::create_directories(file("tmp/warpmeter-abcdef/lib"));
  std::filesystem::permissions(file("tmp/warpmeter-abcdef"), std::filesystem::perms::owner_all);
  std::filesystem::create_directories(file("tmp/warpmeter-of-mine"));
  run_program({{"runs"}, folder_, {{"TMPDIR", file("tmp").string()}}});
  EXPECT_THAT(names_in("tmp"), ElementsAre("warpmeter-of-mine"));
}

TEST_F(Endings, ALimitOfOpenFilesIsNamedBeforeAnythingIsBegun) {
  for (const std::size_t files : {5, 7, 11, 16, 24}) {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"runs"}, {"report"}, {"doctor"}, {"profile", "-b", "model", "true"}}) {
      Start start{words, folder_};
      start.most_files = files;
      const Outcome outcome = run_program(start);
      EXPECT_EQ(outcome.exit_code, 5) << words[0] << " with " << files;
      EXPECT_THAT(outcome.error, HasSubstr("raise the limit: ulimit -n 1024"));
    }
  }
  Start enough{{"runs"}, folder_};
  enough.most_files = 64;
  EXPECT_EQ(run_program(enough).exit_code, 0);
}

}  // namespace
}  // namespace warpmeter::cli
