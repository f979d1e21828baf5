// SPDX-License-Identifier: MIT
// Where `warpmeter model` gets machine code from, and what it says where there is none. The kernel
// is one that PTX tells too much of: ptxas adds up its 32 atomics on shared memory, and makes a
// reduction of the one on global memory, whose result nobody reads.
#include <algorithm>
#include <map>
#include <sstream>

#include "tests/collector/cli/workspace.h"
#include "tests/csv.h"

namespace warpmeter::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* count_ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry count(.param .u64 out)
{
 .reg .b32 %r<4>; .reg .b64 %rd<4>;
 .shared .align 4 .b8 bins[16];
 ld.param.u64 %rd1, [out];
 atom.shared.add.u32 %r2, [bins], 1;
 atom.global.add.u32 %r3, [%rd1], 1;
 ret;
}
)";

class MachineCode : public Workspace {
 protected:
  void SetUp() override {
    write("count.ptx", count_ptx);
    std::filesystem::create_directories(file("toolkit/bin"));
    write("toolkit/bin/ptxas", "#!/bin/sh\necho ptxas is out of order\nexit 1\n");
    std::filesystem::permissions(file("toolkit/bin/ptxas"), std::filesystem::perms::owner_all);
  }

  /// The PTX of a file, assembled by the toolkit's own ptxas.
  void assemble(const std::string& ptx, const std::string& cubin, const std::string& arch,
                const std::string& more = "-lineinfo") const {
    const std::string command = std::string(WARPMETER_PTXAS) + " -arch=" + arch + " " + more +
                                " -o '" + file(cubin).string() + "' '" + file(ptx).string() +
                                "' 2>/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  Outcome model(std::vector<std::string> more, bool has_ptxas = true) const {
    std::vector<std::string> words = {"model",    "count.ptx", "--grid", "1",
                                      "--block",  "32",        "--arg",  "u32[4]",
                                      "--format", "csv",       "-m",     "@shared,@global"};
    words.insert(words.end(), more.begin(), more.end());
    Start start{std::move(words), folder_};
    if (!has_ptxas) start.environment["CUDA_HOME"] = file("toolkit").string();
    return run_program(start);
  }

  /// "value grade" by metric: columns 4 and 6 of the answer; of those that the model counts.
  static std::map<std::string, std::string> values(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    std::map<std::string, std::string> all;
    std::istringstream lines(outcome.output);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      const std::vector<std::string> cells = csv_cells(line);
      if (!cells.at(3).empty()) all[cells[2]] = cells[3] + " " + cells.at(5);
    }
    return all;
  }
};

TEST_F(MachineCode, IsWhatExactCountsComeFrom) {
  const auto exact = values(model({}));
  EXPECT_EQ(exact.at("shared_atomic_wavefronts"), "1 exact");
  EXPECT_EQ(exact.at("global_atomic_requests"), "0 exact");
  EXPECT_EQ(exact.at("global_reduction_requests"), "1 exact");
  EXPECT_EQ(exact.at("gld_transactions"), "0 exact");
}

TEST_F(MachineCode, LeavesNothingExactWhereThereIsNone) {
  const Outcome outcome = model({}, false);
  const auto counted = values(outcome);
  EXPECT_EQ(counted.at("shared_atomic_wavefronts"), "32 ptx");
  EXPECT_EQ(counted.at("global_atomic_requests"), "1 ptx");
  EXPECT_EQ(counted.at("global_reduction_requests"), "0 ptx") << "it may be one";
  for (const auto& [metric, value] : counted) EXPECT_TRUE(value.ends_with(" ptx")) << metric;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("the machine code was not read, since no cubin"),
                                    HasSubstr("(ptxas is out of order)")));
  EXPECT_THAT(outcome.error, HasSubstr("every count is graded ptx"));
  EXPECT_THAT(model({"--lines"}, false).output,
              AllOf(HasSubstr("shared atomic,1,32,32,0,100,ptx"), Not(HasSubstr("exact"))));
}

TEST_F(MachineCode, SaysWhatALaunchUses) {
  const std::vector<std::string> words = {"model",   "count.ptx", "--grid",   "1",
                                          "--block", "32",        "--arg",    "u32[4]",
                                          "--db",    "a.db",      "--format", "markdown"};
  Start start{words, folder_};
  EXPECT_THAT(
      run_program(start).output,
      HasSubstr("0 bytes of local memory a thread, 16 bytes of static shared memory a block; "
                "theoretical occupancy 50 %, limited by blocks."));
  start.environment["CUDA_HOME"] = file("toolkit").string();
  EXPECT_THAT(
      run_program(start).output,
      HasSubstr("Registers and occupancy not known: the machine code was not read, since no "
                "cubin was given and ptxas does not take the PTX (ptxas is out of order)."));
  const Outcome launches =
      warpmeter({"query", "--db", "a.db", "--format", "csv",
                 "SELECT registers > 0, local_bytes, static_shared_bytes, theoretical_occupancy, "
                 "substr(resources_reason, 1, 29) FROM launches ORDER BY launch_id"});
  EXPECT_THAT(launches.output, AllOf(HasSubstr("\n1,0,16,50,\n"),
                                     HasSubstr("\n,,16,,the machine code was not read\n")));
}

TEST_F(MachineCode, IsTakenFromTheCubinThatWasNamed) {
  assemble("count.ptx", "named.cubin", "sm_90");
  EXPECT_EQ(values(model({"--cubin", "named.cubin"}, false)).at("shared_atomic_wavefronts"),
            "1 exact");
}

TEST_F(MachineCode, OfACubinThatWasNamedHasToServe) {
  write("other.ptx", replaced(count_ptx, "entry count", "entry other"));
  write("older.ptx", replaced(count_ptx, "atom.global.add", "atom.global.max"));
  write("empty.cubin", "");
  write("text.cubin",
        "not machine code, but as long as the header of an ELF file has to be: 64 bytes");
  assemble("count.ptx", "no_lines.cubin", "sm_90", "-O3");
  assemble("other.ptx", "other.cubin", "sm_90");
  assemble("older.ptx", "older.cubin", "sm_90");
  assemble("count.ptx", "newer.cubin", "sm_100");
  assemble("count.ptx", "whole.cubin", "sm_90");
  write("torn.cubin", contents("whole.cubin").substr(0, 1000));
  std::filesystem::copy("/proc/self/exe", file("host.cubin"));
  std::filesystem::create_directory(file("folder.cubin"));
  const std::pair<const char*, const char*> table[] = {
      {"missing.cubin", "there is no file missing.cubin"},
      {"folder.cubin", "folder.cubin is no regular file"},
      {"empty.cubin", "empty.cubin is empty"},
      {"text.cubin", "text.cubin is no cubin"},
      {"torn.cubin", "torn.cubin is a damaged cubin"},
      {"host.cubin", "host.cubin is an ELF file for another machine than a GPU"},
      {"newer.cubin", "newer.cubin is machine code of sm_100, and the PTX is of sm_90"},
      {"other.cubin", "other.cubin holds no code of kernel 'count'; it has other"},
      {"no_lines.cubin", "no_lines.cubin does not say which line of PTX its code came from"},
      {"older.cubin", "older.cubin was not assembled from this PTX"},
  };
  for (const auto& [cubin, words] : table) {
    const Outcome outcome = model({"--cubin", cubin});
    EXPECT_EQ(outcome.exit_code, 5) << cubin;
    EXPECT_THAT(outcome.error, HasSubstr(words));
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
    EXPECT_THAT(outcome.output, IsEmpty()) << cubin;
  }
}

TEST_F(MachineCode, OfASpecsCubinHasToServeToo) {
  write("empty.cubin", "");
  write("spec.yaml",
        "file: count.ptx\ncubin: empty.cubin\nlaunches:\n"
        "  - {kernel: count, grid: 1, block: 32, args: ['u32[4]']}\n");
  const Outcome outcome = warpmeter({"model", "--spec", "spec.yaml"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.error, HasSubstr("empty.cubin is empty"));
}

TEST_F(MachineCode, ThatOnlyLiesBesideThePtxMayBeWrongAndPtxasIsAsked) {
  write("older.ptx", replaced(count_ptx, "atom.global.add", "atom.global.max"));
  assemble("older.ptx", "count.cubin", "sm_90");
  const Outcome assembled = model({});
  EXPECT_EQ(values(assembled).at("shared_atomic_wavefronts"), "1 exact");
  EXPECT_THAT(assembled.error, HasSubstr("ptxas assembled the PTX, since count.cubin beside the "
                                         "PTX was not assembled from this PTX"));
  const Outcome without = model({}, false);
  EXPECT_EQ(values(without).at("shared_atomic_wavefronts"), "32 ptx");
  EXPECT_THAT(without.output, AllOf(HasSubstr("count.cubin beside the PTX was not assembled"),
                                    HasSubstr("ptxas is out of order")));
  write("count.cubin", "");
  EXPECT_THAT(model({}).error, HasSubstr("count.cubin beside the PTX is empty"));
  assemble("count.ptx", "count.cubin", "sm_90");
  EXPECT_EQ(values(model({}, false)).at("shared_atomic_wavefronts"), "1 exact");
}

TEST_F(MachineCode, IsAssembledForTheTargetAsItIsWritten) {
  write("count.ptx", replaced(count_ptx, "sm_90", "sm_90a"));
  EXPECT_EQ(values(model({})).at("shared_atomic_wavefronts"), "1 exact");
}

TEST_F(MachineCode, IsNotOfAnotherArchitectureThanThePtx) {
  EXPECT_EQ(model({"--arch", "sm_90"}).exit_code, 0);
  const Outcome outcome = model({"--arch", "sm_86"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("count.ptx is PTX of sm_90, not of sm_86"));
}

}  // namespace
}  // namespace warpmeter::cli
