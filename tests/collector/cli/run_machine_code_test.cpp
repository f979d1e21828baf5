// SPDX-License-Identifier: MIT
// `run` with files that are machine code alone, from its command line to its exit code: on a GPU
// that is none and leaves a byte in the first buffer, and where there is no GPU.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/temporary.h"
#include "collector/cli/options.h"
#include "collector/cupti/backend.h"
#include "schema/store.h"
#include "tests/collector/family/cubins.h"
#include "tests/collector/run/fake_backend.h"

namespace warpmeter::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// The GPU of a test.
struct Gpu {
  int compute_capability = 90;  ///< 0: there is none
  std::string no_counters = {};
  std::string wrong_entry = {};  ///< the kernel that leaves something else
};

struct Answer {
  ExitCode code = ExitCode::done;
  std::string output, error;
};

class RunMachineCode : public testing::Test {
 protected:
  RunMachineCode() {
    EXPECT_TRUE(family::assemble(family::kernels_ptx("sm_90"), path("k.cubin")));
    write("f.yaml", "file: k.cubin\n" + std::string(variants));
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }

  /// `warpmeter run` and these words, in this process.
  Answer run(const std::vector<std::string>& more, const Gpu& gpu = {}) const {
    std::vector<std::string> words = {"warpmeter", "run", "--max-samples", "5", "--db", database_};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    CLI::App program;
    const Command command = add_run(program, words, [&](const cupti::Options&) {
      if (gpu.compute_capability == 0) {
        throw Error(ExitCode::no_hardware, "there is no driver here; use the model");
      }
      auto fake = std::make_unique<run::FakeBackend>();
      fake->description.compute_capability = gpu.compute_capability;
      fake->no_counters = gpu.no_counters;
      fake->answer = [right = fake->answer, gpu](const run::Launch& launch,
                                                 const kernels::Problem& problem) {
        run::Execution execution = right(launch, problem);
        const bool is_wrong = launch.entry == gpu.wrong_entry;
        if (!execution.buffers.empty()) {
          execution.buffers.front().front() =
              std::byte{is_wrong ? std::uint8_t{1} : std::uint8_t{2}};
        }
        return execution;
      };
      return fake;
    });
    Answer answer;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    try {
      program.parse(static_cast<int>(arguments.size()), arguments.data());
      answer.code = command.run();
    } catch (const Error& error) {
      answer.code = error.code();
      answer.error = error.what();
    }
    answer.output = testing::internal::GetCapturedStdout();
    answer.error += testing::internal::GetCapturedStderr();
    return answer;
  }

  /// One kernel with its arguments.
  Answer run_tiled(const std::vector<std::string>& more, const Gpu& gpu = {}) const {
    std::vector<std::string> words = {path("k.cubin"), "-k",    "tiled<16>", "--grid",      "1",
                                      "--block",       "16",    "--arg",     "out:f32[16]", "--arg",
                                      "in:f32[16]",    "--arg", "i32=5"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, gpu);
  }

  std::vector<std::string> rows(const std::string& sql) const {
    std::vector<std::string> all;
    const schema::Rows found = schema::Reader(database_).query(sql);
    for (const auto& row : found.rows) all.push_back(std::get<std::string>(row.at(0)));
    return all;
  }

  bool is_measured() const { return std::filesystem::exists(database_); }

  static constexpr const char* variants = R"(
arguments: [out: 'f32[16] = zeros', in: 'f32[16] = iota', i32: 3]
outputs: [out]
reference: 'tiled[T=16]'
variants:
  tiled: { kernel: 'tiled<T>', parameters: { T: [16, 32] }, grid: 1, block: 16 }
)";
  static constexpr const char* alone =
      "k.cubin is machine code alone, and the model executes PTX: give the .ptx or the .cu that it "
      "was made of";

  const TemporaryFolder folder_;
  const std::string database_ = path("a.db");
};

TEST_F(RunMachineCode, ListsItsKernelsWithoutAGpu) {
  const Answer listing = run({path("k.cubin")}, {0});
  EXPECT_EQ(listing.code, ExitCode::done) << listing.error;
  EXPECT_THAT(
      listing.output,
      AllOf(HasSubstr("k.cubin holds 4 kernels for sm_90, and nothing was run."),
            HasSubstr("\n  tiled<16>(float*, float const*, int)\n    (parameters of 8, 8 and 4 "
                      "bytes; "),
            HasSubstr("k.cubin -k 'tiled<16>' --grid 8 --block 128 --arg 'f32[1<<20]=zeros' --arg "
                      "'f32[1<<20]=random' --arg i32=1024\n"),
            HasSubstr("\n  plain(b64, b64, b8[40], b16, b32)\n")));
  EXPECT_FALSE(is_measured());
}

TEST_F(RunMachineCode, MeasuresAKernelOnAGpu) {
  const Answer answer = run_tiled({});
  EXPECT_EQ(answer.code, ExitCode::done) << answer.error;
  EXPECT_THAT(rows("SELECT family || '/' || variant || ' ' || kernel FROM launches"),
              ElementsAre("k/tiled<16> _Z5tiledILi16EEvPfPKfi"));
  EXPECT_THAT(rows("SELECT metric || ' ' || value || ' ' || grade FROM results WHERE metric IN "
                   "('duration', 'gld_transactions') ORDER BY metric"),
              ElementsAre("duration 1000.0 measured", "gld_transactions 32.0 measured"));
}

TEST_F(RunMachineCode, MeasuresAndVerifiesAFamilyOfIt) {
  const Answer answer = run({path("f.yaml")});
  EXPECT_EQ(answer.code, ExitCode::done) << answer.error;
  EXPECT_THAT(rows("SELECT variant || ' ' || verified FROM launches ORDER BY 1"),
              ElementsAre("tiled[T=16] 0", "tiled[T=32] 1"));
  EXPECT_THAT(rows("SELECT grade || ' ' || count(*) FROM results WHERE metric = 'gld_efficiency' "
                   "GROUP BY grade"),
              ElementsAre("measured 2"));
  const Answer wrong = run({path("f.yaml")}, {90, "", "_Z5tiledILi32EEvPfPKfi"});
  EXPECT_EQ(wrong.code, ExitCode::kernel);
  EXPECT_THAT(wrong.error, HasSubstr("failed: f/tiled[T=32]: wrong answer: out[0] is "));
}

TEST_F(RunMachineCode, OfAnotherArchitectureIsRefusedBeforeAnythingIsMeasured) {
  write("other.yaml", "file: old.cubin\n" + std::string(variants));
  ASSERT_TRUE(family::assemble(family::kernels_ptx("sm_80"), path("old.cubin"), "sm_80"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{path("other.yaml")},
        {path("old.cubin"), "-k", "ns::none", "--grid", "1", "--block", "1"}}) {
    const Answer answer = run(words);
    EXPECT_EQ(answer.code, ExitCode::no_hardware);
    EXPECT_THAT(answer.error,
                HasSubstr("old.cubin is for sm_80 and this device is an sm_90: machine code of "
                          "sm_80 runs on 8.x from 8.0 on; compile it for this device (nvcc -cubin "
                          "-arch=sm_90), or give the .ptx or the .cu that it was made of"));
    EXPECT_FALSE(is_measured());
    EXPECT_EQ(run(words, {86}).code, ExitCode::done) << "a higher minor version runs it";
    std::filesystem::remove(database_);
  }
  EXPECT_EQ(run_tiled({}, {100}).code, ExitCode::no_hardware);
}

TEST_F(RunMachineCode, HasItsArgumentsCheckedOnAGpuBeforeAnythingIsMeasured) {
  const Answer answer = run({path("k.cubin"), "-k", "tiled<16>", "--grid", "1", "--block", "16",
                             "--arg", "f32[16]", "--arg", "f32[16]", "--arg", "i64=5"});
  EXPECT_EQ(answer.code, ExitCode::usage);
  EXPECT_THAT(answer.error,
              StartsWith("parameter 3 of tiled<16>(float*, float const*, int) is u32, and 'i64=5' "
                         "does not fit: the parameter has 4 bytes, not 8"));
  EXPECT_FALSE(is_measured());
}

TEST_F(RunMachineCode, IsNothingForTheModel) {
  const Answer asked = run_tiled({"-b", "model"});
  EXPECT_EQ(asked.code, ExitCode::usage);
  EXPECT_THAT(asked.error, testing::EndsWith(alone));
  EXPECT_EQ(run_tiled({"--arch", "sm_90"}).code, ExitCode::usage);
  EXPECT_EQ(run({path("f.yaml"), "-b", "model"}).code, ExitCode::usage);
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"-b", "cupti"}}) {
    const Answer none = run_tiled(more, {0});
    EXPECT_EQ(none.code, ExitCode::no_hardware);
    EXPECT_THAT(none.error, testing::EndsWith(std::string(alone) +
                                              " (no GPU is usable: there is no driver here)"));
  }
  EXPECT_EQ(run({path("f.yaml")}, {0}).code, ExitCode::no_hardware);
  EXPECT_FALSE(is_measured());
}

TEST_F(RunMachineCode, IsCheckedBeforeAGpuIsLookedFor) {
  write("empty.cubin", "");
  write("empty.yaml", "file: empty.cubin\n" + std::string(variants));
  struct Wrong {
    Answer answer;
    ExitCode code;
    const char* words;
  };
  for (const Wrong& wrong :
       {Wrong{run({path("empty.yaml")}, {0}), ExitCode::file, "empty.cubin is empty"},
        {run({path("empty.yaml"), "--dry-run"}, {0}), ExitCode::file, "empty.cubin is empty"},
        {run({path("empty.yaml"), "-b", "model"}, {0}), ExitCode::file, "empty.cubin is empty"},
        {run({path("k.cubin"), "-k", "tiled<16>", "--grid", "1", "--block", "16", "--arg", "i32=1"},
             {0}),
         ExitCode::usage, "parameter 1 of tiled<16>"},
        {run_tiled({"-k", "nosuch"}, {0}), ExitCode::usage, "holds no kernel 'nosuch'"},
        {run_tiled({"--grid", "1/0"}, {0}), ExitCode::usage, "divides by zero"},
        {run({path("f.yaml"), "f/nosuch"}, {0}), ExitCode::usage, "nosuch"},
        {run({path("f.yaml"), "--dry-run"}, {0}), ExitCode::no_hardware, "no GPU is usable"}}) {
    EXPECT_EQ(wrong.answer.code, wrong.code) << wrong.answer.error;
    EXPECT_THAT(wrong.answer.error, HasSubstr(wrong.words));
  }
  EXPECT_FALSE(is_measured());
}

TEST_F(RunMachineCode, ThatIsNamedBesideASourceOrIsNoneIsRefused) {
  write("k.cu", "extern \"C\" __global__ void k(float* p) { p[0] = 1; }\n");
  write("k.ptx", family::kernels_ptx("sm_90"));
  write("garbage", "no machine code, but as long as the header of an ELF file has to be: 64 bytes");
  const std::vector<std::string> launch = {"-b", "model", "--grid", "1", "--block", "1"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), launch.begin(), launch.end());
    return run(words);
  };
  write("s.yaml",
        "file: k.cu\ncubin: nosuch.cubin\narguments: [out: 'f32[1]']\n"
        "variants:\n  k: { kernel: k, grid: 1, block: 1 }\n");
  for (const Answer& answer :
       {run({path("s.yaml"), "-b", "model"}),
        with({path("k.cu"), "-k", "k", "--arg", "f32[1]", "--cubin", path("nosuch.cubin")})}) {
    EXPECT_EQ(answer.code, ExitCode::usage);
    EXPECT_THAT(answer.error,
                AllOf(HasSubstr("k.cu is a source, which is compiled here: leave out "),
                      HasSubstr("nosuch.cubin")));
  }
  const Answer garbage = with({path("k.ptx"), "-k", "ns::none", "--cubin", path("garbage")});
  EXPECT_EQ(garbage.code, ExitCode::file);
  EXPECT_THAT(garbage.error, HasSubstr("garbage is no cubin (an ELF file of 64 bits)"));
  EXPECT_FALSE(is_measured());
}

TEST_F(RunMachineCode, IsCountedByNobodyWithoutPermission) {
  const Gpu without_counters{90, "it takes a permission"};
  const Answer answer = run_tiled({}, without_counters);
  EXPECT_EQ(answer.code, ExitCode::done) << answer.error;
  EXPECT_THAT(answer.error,
              AllOf(HasSubstr("Fake 9000 gives the times, and nobody counts: its counters are "
                              "unavailable (it takes a permission), and "),
                    HasSubstr(alone), Not(HasSubstr("gives the times and model"))));
  EXPECT_THAT(rows("SELECT metric || ' ' || coalesce(value, 'none') || ' ' || coalesce(reason, '') "
                   "FROM results WHERE metric IN ('duration', 'gld_transactions') ORDER BY metric"),
              ElementsAre("duration 1000.0 ", "gld_transactions none it takes a permission"));
  const Answer asked = run_tiled({"-b", "cupti"}, without_counters);
  EXPECT_EQ(asked.code, ExitCode::no_hardware);
  EXPECT_THAT(asked.error,
              AllOf(HasSubstr("--timing-only measures without"), Not(HasSubstr("--counts model"))));
}

TEST_F(RunMachineCode, BesidePtxLeavesAReasonInPlaceOfTheModelsCounts) {
  write("k.ptx", family::kernels_ptx("sm_90"));
  write("p.yaml", "file: k.ptx\n" + std::string(variants));
  const Answer answer = run({path("f.yaml"), path("p.yaml")}, {90, "it takes a permission"});
  EXPECT_EQ(answer.code, ExitCode::done) << answer.error;
  EXPECT_THAT(
      rows("SELECT DISTINCT family || ' ' || (value IS NULL) || ' ' || coalesce(reason, '') FROM "
           "results WHERE metric = 'gst_transactions' ORDER BY 1"),
      ElementsAre(AllOf(StartsWith("f 1 model sm_90 cannot count it: "),
                        HasSubstr("k.cubin is machine code alone, and the model executes PTX")),
                  StartsWith("p 0 ")));
}

TEST_F(RunMachineCode, RefusesCountsOfTheModel) {
  const Answer answer = run_tiled({"--counts", "model"});
  EXPECT_EQ(answer.code, ExitCode::usage);
  EXPECT_THAT(answer.error,
              testing::EndsWith(std::string(alone) + ", or leave out --counts model"));
  EXPECT_FALSE(is_measured());
}

TEST_F(RunMachineCode, ThatIsNoneIsAFileThatCannotBeRead) {
  write("fat.cubin", "\x50\xed\x55\xba");
  write("text.cubin", "int main() {}");
  write("text.yaml", "file: text.cubin\n" + std::string(variants));
  for (const auto& [words, why] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{path("fat.cubin")}, "is a fatbin"},
           {{path("text.cubin")}, "is no cubin"},
           {{path("text.yaml")}, "is no cubin"},
           {{path("missing.cubin")}, "there is no file"}}) {
    const Answer answer = run(words);
    EXPECT_EQ(answer.code, ExitCode::file) << words.front();
    EXPECT_THAT(answer.error, HasSubstr(why));
    EXPECT_THAT(answer.output, IsEmpty());
  }
}

}  // namespace
}  // namespace warpmeter::cli
