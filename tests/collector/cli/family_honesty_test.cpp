// SPDX-License-Identifier: MIT
// Family files with false or empty statements are refused or remarked: wrong element types, outputs
// that nobody changes, inputs that a variant changes, files and values that do not fit. On the
// model.
#include <signal.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/collector/cli/family_file.h"

namespace warpmeter::cli {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

struct FamilyHonesty : FamilyFile {
  /// The refusal comes before a run is opened.
  void expect_refusal(const std::string& yaml, const std::string& what, int exit_code = 2) {
    const Outcome outcome = run(yaml);
    EXPECT_THAT(outcome.error, HasSubstr(what));
    EXPECT_EQ(outcome.exit_code, exit_code) << yaml;
    EXPECT_FALSE(std::filesystem::exists(file("warpmeter.db"))) << yaml;
  }

  /// f.yaml under --watch, ended after its first round.
  Outcome watched() const {
    Process watch({{"run", "f.yaml", "-b", "model", "--watch", "--no-progress"}, folder_});
    for (int i = 0; i < 600; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (!std::filesystem::exists(file("warpmeter.db"))) continue;
      const Outcome ended = warpmeter(
          {"query", "SELECT outcome FROM runs WHERE outcome IS NOT NULL", "--format", "csv"});
      const bool has_ended = ended.output.find("done") != std::string::npos ||
                             ended.output.find("failed") != std::string::npos;
      if (has_ended) break;
    }
    kill(watch.id(), SIGINT);
    return watch.wait();
  }
};

TEST_F(FamilyHonesty, ElementsOfBuffersAreThoseThatTheKernelPointsTo) {
  expect_refusal(replaced(head, "in: f32[n*n]", "in: f64[n*n]"),
                 "f.yaml:7:9: parameter 2 of void copy(float* out, const float* in, int n) is "
                 "float const*, and 'in:f64[n*n]=iota' does not fit: it points to f32: write f32 "
                 "in place of f64");
  // A template's type is known from its instance, that of extern "C" from the source.
  write("k.cu",
        "template <class T> __global__ void fill(T* out) { out[threadIdx.x] = 1; }\n"
        "extern \"C\" __global__ void plain(float* out) { out[threadIdx.x] = 1; }\n"
        "typedef double real;\n"
        "extern \"C\" __global__ void hidden(real* out) { out[threadIdx.x] = 1; }\n");
  const auto one = [](const std::string& kernel, const std::string& type) {
    return "file: k.cu\narguments: [out: '" + type + "[32]']\nvariants:\n  v: { kernel: '" +
           kernel + "', grid: 1, block: 32 }\n";
  };
  expect_refusal(one("fill<float>", "f64"),
                 "f.yaml:2:18: parameter 1 of template <class T> void fill(T* out) is float*");
  expect_refusal(one("plain", "i32"),
                 "f.yaml:2:18: parameter 1 of void plain(float* out) is "
                 "float* out, and 'out:i32[32]' does not fit");
  EXPECT_EQ(run(one("fill<double>", "f64")).exit_code, 0);
  EXPECT_EQ(run(one("plain", "f32")).exit_code, 0);
  EXPECT_EQ(run(one("hidden", "f64")).exit_code, 0);
}

TEST_F(FamilyHonesty, AParameterThatACommentNamesIsNotUsed) {
  write("k.cu",
        "// SIZE is the block\n/* also SIZE */\n"
        "__global__ void k(float* out) { out[threadIdx.x] = 1; }  // SIZE\n");
  const std::string yaml =
      "file: k.cu\narguments: ['out: f32[32]']\nvariants:\n"
      "  v: { kernel: k, parameters: { SIZE: 4 }, grid: 1, block: 32 }\n";
  expect_refusal(yaml, "f.yaml:4:33: nothing uses the parameter 'SIZE'");
  write("k.cu", "__global__ void k(float* out) { out[threadIdx.x] = \"//\"[0] + SIZE; }\n");
  EXPECT_EQ(run(yaml).exit_code, 0);
}

TEST_F(FamilyHonesty, OutputsThatNobodyChangesVerifyNothingAndItIsSaid) {
  const std::string idle =
      "  idle: { kernel: idle, grid: 1, block: 1 }\n  idler: { kernel: idle, grid: 1, block: 1 }\n";
  const Outcome outcome = run("outputs: [in]" + head + idle);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(value_of("SELECT count(*) FROM launches WHERE verified"), "0");
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("mine/idle 64 is not verified: it was compared in 'in' alone, which "
                              "neither it nor its reference naive changes; name in outputs what "
                              "the kernels write; so it is with 1 other launch\n"),
                    HasSubstr("no result was verified")));
  // Beside one that is changed it is said too, and the other is compared.
  const Outcome both = run("outputs: [in, out]" + head + tiled);
  EXPECT_EQ(both.exit_code, 0) << both.error;
  EXPECT_THAT(both.error, HasSubstr("was compared in 'in' too, which neither it nor its reference "
                                    "naive changes: that verifies nothing"));
  EXPECT_EQ(value_of("SELECT count(*) FROM launches WHERE verified AND run_id = 2"), "4");
}

TEST_F(FamilyHonesty, AVariantThatChangesAnInputIsNamed) {
  write("k.cu", std::string(own_kernels) +
                    "__global__ void careless(float* out, float* in, int n) {\n"
                    "  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + "
                    "threadIdx.y;\n"
                    "  out[x * n + y] = in[y * n + x];\n  in[y * n + x] = 0;\n}\n");
  const Outcome outcome =
      run(head + "  careless: { kernel: careless, grid: [n/16, n/16], block: [16, 16] }\n" + tiled);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(
      outcome.error,
      AllOf(HasSubstr("mine/careless 64 changes 'in' too, which its reference naive does not "
                      "and which was compared with nothing"),
            Not(HasSubstr("mine/tiled"))));
}

TEST_F(FamilyHonesty, ResultsAreHeldToWhatTheCpuComputes) {
  const std::string yaml =
      replaced(head, "reference: naive", "reference: { out: 'cpu:transpose(in, n, n)' }");
  expect_refusal(replaced(yaml, "(in, n, n)", "(inn, n, n)"),
                 "there is no buffer 'inn' to compute with; did you mean in?");
  expect_refusal(replaced(yaml, "(in, n, n)", "(in, n, 2*n)"),
                 "needs 8192 elements of f32 in 'out', which has 4096 of f32");
  const Outcome outcome =
      run(yaml + "  wrong: { kernel: copy, grid: [n/16, n/16], block: [16, 16] }\n" + tiled);
  EXPECT_EQ(outcome.exit_code, 6) << outcome.error;
  EXPECT_EQ(value_of("SELECT group_concat(variant) FROM launches WHERE outcome = 'failed'"),
            "wrong");
  EXPECT_EQ(value_of("SELECT verified FROM launches WHERE variant = 'naive'"), "1");
}

TEST_F(FamilyHonesty, FilesThatAreMissingAreSaidWithTheirPlaceBeforeARunIsOpened) {
  expect_refusal(replaced(head, "f32[n*n] = iota", "f32[n*n] = nowhere.npy"),
                 "f.yaml:7:9: there is no file nowhere.npy; check its name", 5);
  expect_refusal(replaced(head, "reference: naive", "reference: { out: nowhere.npy }"),
                 "f.yaml:9:19: there is no file nowhere.npy; check its name", 5);
  expect_refusal("set: { factor: nowhere.npy }" + head, "f.yaml:1:8: there is no file nowhere.npy",
                 5);
  expect_refusal(replaced(head, "file: k.cu", "file: nowhere.cu"),
                 "f.yaml:3:7: there is no file nowhere.cu", 5);
}

TEST_F(FamilyHonesty, FilesOfAnotherLengthOrTypeAreRefusedBeforeARunIsOpened) {
  const Outcome made = warpmeter({"model", "k.cu", "-k", "naive", "--grid", "4,4", "--block",
                                  "16,16", "--arg", "out:f32[4096]", "--arg", "in:f32[4096]=iota",
                                  "--arg", "i32=64", "--save", "out=good.npy"});
  ASSERT_EQ(made.exit_code, 0) << made.error;
  const std::string yaml = replaced(head, "reference: naive", "reference: { out: good.npy }");
  EXPECT_EQ(run(yaml).exit_code, 0);
  std::filesystem::remove(file("warpmeter.db"));
  // The lengths are known at every size that will be run, also at the last.
  expect_refusal(replaced(yaml, "sizes: [64]", "sizes: [64, 128]"),
                 "f.yaml:9:19: good.npy holds 4096 elements, and 'out' has 16384 at n = 128: write "
                 "it again, or run the size that it is of (-n)");
  expect_refusal(replaced(head, "f32[n*n] = iota", "f32[2*n*n] = good.npy"),
                 "f.yaml:7:9: 'in:f32[2*n*n]=good.npy' asks for 8192 elements, but good.npy holds "
                 "4096");
  write("short.bin", "123");
  expect_refusal(replaced(head, "f32[n*n] = iota", "f32[] = short.bin"),
                 "f.yaml:7:9: short.bin holds 3 bytes");
  // The reference is run though it was not chosen.
  const Outcome alone =
      run(replaced(head, "  naive: { kernel: naive,",
                   "  other: { kernel: naive, grid: [n/16, n/16], block: [16, 16] }\n"
                   "  naive: { kernel: naive, arguments: [out: 'f32[n*n]', in: 'f32[] = none.npy', "
                   "i32: n],"),
          {"mine/other"});
  EXPECT_EQ(alone.exit_code, 5);
  EXPECT_THAT(alone.error, HasSubstr("there is no file none.npy"));
  EXPECT_FALSE(std::filesystem::exists(file("warpmeter.db")));
}

TEST_F(FamilyHonesty, AValueThatIsNoNumberIsNamedWhereItStands) {
  const std::string variant =
      "  v: { kernel: naive, parameters: { B: [16, abc] }, grid: ceil(n/B), block: B }\n";
  expect_refusal(head + variant,
                 "f.yaml:15:45: 'abc' is no number, and grid computes with B: 'ceil(n/B)'");
  expect_refusal(head + replaced(variant, "ceil(n/B)", "4"),
                 "f.yaml:15:45: 'abc' is no number, and block computes with B: 'B'");
}

TEST_F(FamilyHonesty, WatchSaysACompilersWordsOnceForAllVariants) {
  write("k.cu", std::string(own_kernels) + "__device__ int wrong() { return no_such_name; }\n");
  write("f.yaml", head + tiled);
  const Outcome outcome = watched();
  const std::string text = outcome.output + outcome.error;
  EXPECT_THAT(text, HasSubstr("mine/copy, mine/naive, mine/tiled[TILE=16,PAD=0] and 3 more "
                              "failed: k.cu does not compile:"));
  const std::size_t first = text.find("no_such_name");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("does not compile", text.find("does not compile") + 1), std::string::npos);
}

/// The only kernel of a source needs no name, and no name is one that a source lacks.
TEST_F(FamilyHonesty, ASourceThatDoesNotCompileSaysSoWhereNoKernelIsNamed) {
  write("k.cu", "__global__ void only(int* out) { no_such_name; }\n");
  const Outcome outcome =
      run("file: k.cu\ncompiler: nvrtc\narguments: [out: 'i32[4]']\nvariants:\n"
          "  v: { grid: 1, block: 1 }\n");
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("k.cu does not compile:"), HasSubstr("no_such_name"),
                                   Not(HasSubstr("holds no kernel"))));
}

TEST_F(FamilyHonesty, WatchSaysWhatIsNotVerified) {
  write("f.yaml", "outputs: [in]" + head + "  idle: { kernel: idle, grid: 1, block: 1 }\n");
  EXPECT_THAT(watched().output, HasSubstr("\nmine/idle 64 is not verified: it was compared in 'in' "
                                          "alone"));
}

/// 32 lanes add to words of 32 sectors, or to words of 32 banks.
TEST_F(FamilyHonesty, WatchCountsWhatAtomicsMove) {
  write("k.cu", R"(
__global__ void far(unsigned* bins) { atomicAdd(&bins[threadIdx.x * 8], 1u); }
__global__ void near(unsigned* bins) {
  __shared__ unsigned counts[32];
  counts[threadIdx.x] = 0;
  atomicAdd(&counts[threadIdx.x], 1u);
  bins[threadIdx.x * 8] = counts[threadIdx.x];
}
)");
  write("f.yaml", R"(
family: mine
file: k.cu
arguments: [ 'bins: u32[256] = zeros' ]
reference: far
variants:
  far: { kernel: far, grid: 1, block: 32 }
  near: { kernel: near, grid: 1, block: 32 }
)");
  const std::string text = watched().output;
  EXPECT_THAT(text, ContainsRegex("atomics +reductions\n"));
  EXPECT_THAT(text, ContainsRegex("mine/far[^\n]* 0 +32 *\n"));
  EXPECT_THAT(text, ContainsRegex("mine/near[^\n]* 1 +0 *\n"));
}

}  // namespace
}  // namespace warpmeter::cli
