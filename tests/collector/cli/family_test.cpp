// SPDX-License-Identifier: MIT
// `warpmeter run` with files: families in YAML, kernels in .cu and .ptx, on the model.
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>

#include "tests/collector/cli/either_compiler.h"
#include "tests/collector/cli/family_file.h"
#include "tests/paths.h"

namespace warpmeter::cli {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Another one as soon as the file is written anew.
ino_t inode_of(const std::filesystem::path& path) {
  struct stat status {};
  EXPECT_EQ(stat(path.c_str(), &status), 0);
  return status.st_ino;
}

TEST_F(FamilyFile, IsMeasuredVerifiedAndStoredAsTheCatalogueIs) {
  const Outcome outcome = run(head + tiled);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output, HasSubstr("tiled[TILE=32,PAD=0]"));
  EXPECT_EQ(value_of("SELECT value FROM results WHERE variant = 'tiled[TILE=32,PAD=0]' AND "
                     "metric = 'shared_load_transactions_per_request'"),
            "32");
  EXPECT_EQ(value_of("SELECT value FROM results WHERE variant = 'tiled[TILE=32,PAD=1]' AND "
                     "metric = 'shared_load_transactions_per_request'"),
            "1");
  // The reference and the ceiling are compared with nothing.
  EXPECT_EQ(value_of("SELECT group_concat(variant, ' ') FROM launches WHERE NOT verified"),
            "naive copy");
  EXPECT_EQ(value_of("SELECT count(*) FROM expectations WHERE verdict = 'holds'"), "4");
  EXPECT_EQ(value_of("SELECT DISTINCT useful_bytes_read FROM launches"), "16384");
}

/// Sixteen tiles of 32 × 32 floats are 512 warps, which store a row (1 wavefront) and load a
/// column. Rows of 32 words put it on 1 bank of 32: 512 × (1 + 32) = 16,896. Rows of 33 put it on
/// all: 1,024. Rows of 48 put it on 2: 512 × (1 + 16) = 8,704.
TEST_F(FamilyFile, ComparesVariantsByWhatLimitsThem) {
  const Outcome outcome = run(head + R"(
  tiled:
    kernel: tiled<32, PAD>
    parameters: { PAD: [0, 1, 16] }
    grid: [n/32, n/32]
    block: [32, 32]
)",
                              {"-n", "128", "-m", "@limits"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  const auto compared = [&](const std::string& contender) {
    return warpmeter(
               {"compare", "--by", "variant", "tiled[PAD=0]", contender, "--format", "markdown"})
        .output;
  };
  EXPECT_THAT(compared("tiled[PAD=16]"),
              HasSubstr("moves less of what limits both, shared memory: 8,704 wavefronts against "
                        "16,896 (1 a cycle)."));
  EXPECT_THAT(
      compared("tiled[PAD=1]"),
      AllOf(HasSubstr("is limited by shared memory, "), HasSubstr(" by device memory. "),
            HasSubstr("needs fewer cycles of shared memory: 1,024 wavefronts against 16,896 (1 a "
                      "cycle). Both need as many cycles of device memory: 131,072 bytes of input "
                      "and output (18.4 a cycle).")));
}

TEST_F(FamilyFile, TakesSelectorsAndSizes) {
  const Outcome outcome =
      run(head + tiled, {"mine/tiled[TILE=16,PAD=1]", "mine/na*", "-n", "32,128"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(value_of("SELECT group_concat(variant || ' ' || size) FROM launches"),
            "\"naive 32,tiled[TILE=16,PAD=1] 32,naive 128,tiled[TILE=16,PAD=1] 128\"");
}

TEST_F(FamilyFile, DryRunSaysHowManyLaunchesThereWouldBeAndRunsNone) {
  const Outcome outcome = run(head + tiled, {"--dry-run"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("6 launches would be measured"));
  EXPECT_FALSE(std::filesystem::exists(file("warpmeter.db")));
}

TEST_F(FamilyFile, AWrongAnswerNamesElementAndReference) {
  const Outcome outcome =
      run(head + "  idle: { kernel: idle, grid: [n/16, n/16], block: [16, 16] }\n");
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_THAT(outcome.error, HasSubstr("mine/idle 64: wrong answer: out[0] is nan, expected 0 "
                                       "(4096 of 4096 elements differ"));
}

TEST_F(FamilyFile, AVariantThatDoesNotCompileFailsAloneWithTheCompilersWords) {
  const Outcome outcome = run(head +
                              "  broken: { kernel: broken<N>, parameters: { N: [1, 2] }, "
                              "reference: none, grid: 1, block: 1 }\n");
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_EQ(value_of("SELECT group_concat(variant) FROM launches WHERE outcome = 'failed'"),
            "broken[N=2]");
  EXPECT_THAT(
      value_of("SELECT replace(reason, char(10), ' ') FROM launches WHERE outcome = 'failed'"),
      HasSubstr("N is too large"));
}

TEST_F(FamilyFile, AMisspeltTemplateArgumentIsNamedBeforeTheCompilersWords) {
  const Outcome outcome = run(head +
                              "  v: { kernel: broken<SIED>, parameters: { SIDE: 1 }, reference: "
                              "none, grid: 1, block: SIDE }\n");
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_THAT(outcome.error, HasSubstr("does not compile: the template argument 'SIED' is no "
                                       "parameter; did you mean SIDE?\n"));
}

TEST_F(FamilyFile, AParameterMayBeAMacroOfAHeader) {
  write("twice.cuh", "__device__ float twice(float a) { return a * FACTOR*2; }\n");
  write("k.cu", "#include \"twice.cuh\"\n__global__ void k(float* out) { out[0] = twice(1); }\n");
  const Outcome outcome =
      run("file: k.cu\narguments: ['out: f32[1]']\nvariants:\n"
          "  v: { kernel: k, parameters: { FACTOR: 1+2 }, grid: 1, block: 1 }\n",
          {"--print-output", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output, HasSubstr("v[FACTOR=1+2] out: 6"));
}

TEST_F(FamilyFile, VariablesAreSetAndInPlaceBuffersStartAnewEachTime) {
  const Outcome outcome = run(head +
                                  "  scaled: { kernel: scaled, set: { factor: 1.0 }, grid: [n/16, "
                                  "n/16], block: [16, 16] }\n"
                                  "  twice: { kernel: scaled, set: { factor: 2.0 }, reference: "
                                  "none, grid: [n/16, n/16], block: [16, 16] }\n"
                                  "  in_place: { kernel: in_place, arguments: [data: 'f32[32] = "
                                  "1'], reference: none, grid: 1, block: 32 }\n",
                              {"--print-output", "2"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(value_of("SELECT verified FROM launches WHERE variant = 'scaled'"), "1");
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("mine/twice 64 out: 0 128"),
                                    HasSubstr("mine/in_place 64 data: 2 2")));
}

TEST_F(FamilyFile, ComparesWithANpyOfEachOutput) {
  const Outcome made = warpmeter({"model", "k.cu", "-k", "naive", "--grid", "4,4", "--block",
                                  "16,16", "--arg", "out:f32[4096]", "--arg", "in:f32[4096]=iota",
                                  "--arg", "i32=64", "--save", "out=good.npy"});
  ASSERT_EQ(made.exit_code, 0) << made.error;
  std::string yaml = head;
  yaml.replace(yaml.find("reference: naive"), 16, "reference: { out: good.npy }");
  EXPECT_EQ(run(yaml + tiled).exit_code, 0);
  EXPECT_EQ(value_of("SELECT count(*) FROM launches WHERE verified"), "5");
  EXPECT_EQ(run(yaml + "  idle: { kernel: idle, grid: 1, block: 1 }\n").exit_code, 6);
}

TEST_F(FamilyFile, IsCompiledOnce) {
  const auto entries = [this] {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(file("cache") / "warpmeter")) {
      if (entry.path().extension() == ".cbor") all.push_back(entry.path());
    }
    return all;
  };
  ASSERT_EQ(run(head + tiled).exit_code, 0);
  ASSERT_EQ(entries().size(), 1U);
  const std::filesystem::path entry = entries().front();
  // The second run finds it, which makes it young, and does not write it anew.
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(100);
  std::filesystem::last_write_time(entry, long_ago);
  const ino_t written = inode_of(entry);
  EXPECT_EQ(run(head + tiled).exit_code, 0);
  EXPECT_THAT(entries(), testing::ElementsAre(entry));
  EXPECT_GT(std::filesystem::last_write_time(entry), long_ago + std::chrono::hours(99));
  EXPECT_EQ(inode_of(entry), written);
  EXPECT_THAT(warpmeter({"doctor"}).output, HasSubstr("1 compilation"));
  // Other code is another compilation.
  write("k.cu", std::string(own_kernels) + "// changed\n");
  EXPECT_EQ(run(head + tiled).exit_code, 0);
  EXPECT_EQ(entries().size(), 2U);
}

struct FamilyMistake {
  std::string variants, what;
};

TEST_F(FamilyFile, MistakesAreSaidWithTheirPlaceBeforeAnythingRuns) {
  const std::vector<FamilyMistake> mistakes = {
      {"  v: { kernel: nave, grid: 1, block: 1 }\n",
       "f.yaml:15:16: k.cu holds no kernel 'nave'; did you mean naive"},
      {"  v: { kernel: naive, grid: m, block: 1 }\n", "f.yaml:15:29: 'm' names 'm'"},
      {"  v: { kernel: naive, grid: n/0, block: 1 }\n", "f.yaml:15:30: 'n/0' divides by zero"},
      {"  v: { kernel: naive, grid: n/128, block: 1 }\n",
       "'n/128' gives 0.5, which is no whole number"},
      {"  v: { kernel: in_place, grid: 1, block: 1 }\n",
       "void in_place(float* data) takes 1 argument and 3 were given"},
      {"  v: { kernel: idle, arguments: ['f32[4]', 'f32[4]', 'f32=1'], grid: 1, block: 1 }\n",
       "parameter 3 of void idle(float* out, const float* in, int n) is u32, and 'f32=1' does not "
       "fit"},
      {"  v: { kernel: idle, reference: nave, grid: 1, block: 1 }\n",
       "the reference 'nave' is not among the variants; did you mean naive"},
      {"  v: { kernel: idle, expect: { 'gld_eficiency == 1': x }, grid: 1, block: 1 }\n",
       "there is no metric 'gld_eficiency'; did you mean gld_efficiency"},
      {"  v: { kernel: in_place, arguments: ['f32[1<<50]'], grid: 1, block: 1 }\n",
       "f.yaml:15:38: 'f32[1<<50]' does not fit into this machine's memory"},
  };
  for (const FamilyMistake& mistake : mistakes) {
    const Outcome outcome = run(head + mistake.variants);
    EXPECT_THAT(outcome.error, HasSubstr(mistake.what));
    EXPECT_EQ(outcome.exit_code, 2) << mistake.variants;
    EXPECT_FALSE(std::filesystem::exists(file("warpmeter.db"))) << mistake.variants;
  }
}

TEST_F(FamilyFile, OfLaunchesIsForTheModelsSpec) {
  const Outcome outcome = run("file: k.cu\nlaunches: []\n");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("warpmeter model --spec f.yaml"));
}

TEST_F(FamilyFile, TheBestVariantsAreNamed) {
  const Outcome one = run(head + tiled, {"--best", "shared_load_transactions_per_request"});
  ASSERT_EQ(one.exit_code, 0) << one.error;
  const std::size_t begin = one.output.find("Best by shared_load_transactions_per_request");
  ASSERT_NE(begin, std::string::npos);
  const std::string best = one.output.substr(begin);
  EXPECT_LT(best.find("tiled[TILE=32,PAD=1]"), best.find("tiled[TILE=16,PAD=1]"));
  // The report has the same variant before all.
  const Outcome report = warpmeter({"report", "--db", file("warpmeter.db"), "--section", "sweeps"});
  EXPECT_EQ(report.exit_code, 0) << report.error;
  EXPECT_THAT(report.output, HasSubstr("tiled\\[TILE=32,PAD=1\\]"));
  EXPECT_THAT(report.output, HasSubstr("| TILE\u00a0↓ PAD\u00a0→ |"));
  // The ending of a file's name says the format.
  const std::string page = file("report.json");
  EXPECT_EQ(warpmeter({"report", "--db", file("warpmeter.db"), "-o", page}).exit_code, 0);
  EXPECT_EQ(std::ifstream(page).peek(), '{');
  const Outcome front =
      run(head + tiled, {"--best", "shared_load_transactions_per_request,inst_executed"});
  ASSERT_EQ(front.exit_code, 0) << front.error;
  const std::string several = front.output.substr(front.output.find("Best by"));
  EXPECT_THAT(several, AllOf(HasSubstr("tiled[TILE=32,PAD=1]"), Not(HasSubstr("PAD=0"))));
  EXPECT_EQ(run(head, {"--best", "duraton"}).exit_code, 2);
}

TEST_F(FamilyFile, OfVariantsThatAreEqualTheOneOfFewestTransactionsIsNamedFirst) {
  const std::string padded = R"(
  tiled:
    kernel: tiled<TILE, PAD>
    parameters: { TILE: [8, 16, 32], PAD: [1, 2, 4] }
    grid: [ceil(n/TILE), ceil(n/TILE)]
    block: [TILE, TILE]
)";
  const Outcome outcome = run(head + padded, {"--best", "shared_load_transactions_per_request"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  // TILE=8,PAD=4 and TILE=16,PAD=2 need one transaction a request too, but their stores need two.
  const std::string best = outcome.output.substr(outcome.output.find("Best by"));
  const std::size_t first = best.find("tiled[TILE=32,PAD=1]");
  EXPECT_LT(first, best.find("tiled[TILE=8,PAD=4]"));
  EXPECT_LT(first, best.find("tiled[TILE=16,PAD=2]"));
  // 64 × 64 floats: 128 wavefronts each way, and 512 sectors.
  EXPECT_THAT(warpmeter({"report", "--section", "sweeps", "--format", "csv"}).output,
              HasSubstr("\ntiled,64,\"tiled[TILE=32,PAD=1]\",1280,"));
}

TEST_F(FamilyFile, WatchRunsAgainWhatASaveChanged) {
  write("f.yaml", head + tiled);
  std::thread editor([this] {
    const auto runs = [this](const std::string& n) {
      for (int i = 0; i < 600; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        if (!std::filesystem::exists(file("warpmeter.db"))) continue;
        const Outcome outcome = warpmeter(
            {"query", "SELECT count(*) FROM runs WHERE outcome = 'done'", "--format", "csv"});
        if (outcome.output.find("\n" + n) != std::string::npos) return true;
      }
      return false;
    };
    EXPECT_TRUE(runs("1"));
    std::string text = own_kernels;
    text.replace(text.find("out[x * n + y] = in[y * n + x];"), 31,
                 "out[x * n + y] = in[y * n + x] + 0.0f * x;");
    write("k.cu", text);
    EXPECT_TRUE(runs("2"));
    std::system(("pkill -INT -f '" + file("marker.db").string() + "'").c_str());
  });
  const Outcome outcome =
      run_program({{"run", "f.yaml", "-b", "model", "--watch", "--no-progress", "--db",
                    file("warpmeter.db").string(), "--label", file("marker.db").string()},
                   folder_});
  editor.join();
  EXPECT_THAT(outcome.output, HasSubstr("6 of 6 launches changed and ran"));
  // The others must give naive's result, the ceiling aside: they are compared again.
  EXPECT_THAT(outcome.output, HasSubstr("5 of 6 launches changed and ran"));
  // The main cost of a variant stands under its row.
  EXPECT_THAT(outcome.output,
              ContainsRegex("mine/naive[^\n]*\n  ↳ [^\n]*k\\.cu:[0-9]+ a strided access: "
                            "[0-9.]+ sectors a request, 4 are possible"));
}

TEST_F(FamilyFile, TheFilesOfTheCatalogueGiveItsCounts) {
  const std::string folder = std::string(source_dir()) + "/kernels/";
  const std::vector<std::string> families = {"transpose",  "matmul",      "reduction",
                                             "vector_add", "smem_square", "smem_rectangle"};
  std::vector<std::string> words = {"run", "-b", "model", "-q", "-n", "64"};
  ASSERT_EQ(warpmeter(words).exit_code, 0);
  words = {"run", "-b", "model", "-q", "-n", "64"};
  for (const std::string& family : families) words.push_back(folder + family + ".yaml");
  const Outcome outcome = warpmeter(words);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  const std::string joined =
      "FROM results a JOIN results b USING (family, variant, metric) "
      "WHERE a.run_id = 1 AND b.run_id = 2 AND a.value IS NOT NULL";
  EXPECT_EQ(value_of("SELECT count(*) " + joined + " AND (b.value IS NULL OR a.value <> b.value)"),
            "0");
  EXPECT_EQ(value_of("SELECT count(DISTINCT family || variant) = (SELECT count(DISTINCT family || "
                     "variant) FROM launches WHERE run_id = 1 AND variant <> 'cublas') " +
                     joined),
            "1");
}

TEST_F(FamilyFile, AFileOfKernelsIsListedWithCommandsToStartFrom) {
  const Outcome outcome = warpmeter({"run", "k.cu"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("void naive(float* out, const float* in, int n)"),
                    HasSubstr("warpmeter run k.cu -k naive --grid 16,16 --block 16,16 --arg "
                              "'out:f32[1<<20]' --arg 'in:f32[1<<20]=random' --arg n:i32=256"),
                    HasSubstr("template <int TILE, int PAD> void tiled")));
  EXPECT_FALSE(std::filesystem::exists(file("warpmeter.db")));
}

TEST_F(FamilyFile, AParameterOfTheBlockAloneBreaksNoOtherKernel) {
  write("k.cu",
        "__global__ void scale(float* out, int n) { out[blockIdx.x * blockDim.x + threadIdx.x] = "
        "n; }\n"
        "__global__ void add(float* C, const float* A, const float* B) { C[0] = A[0] + B[0]; }\n");
  const Outcome outcome = run(R"(
file: k.cu
sizes: [512]
arguments: [ 'out: f32[n]', 'i32=n' ]
variants:
  scale: { kernel: scale, parameters: { B: [64, 128] }, grid: n/B, block: B }
)");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(value_of("SELECT count(*) FROM launches WHERE outcome = 'done'"), "2");
}

TEST_F(FamilyFile, ErrorsOfACompilerAreFewAndSaidOnce) {
  std::string source = "__global__ void scale(float* out, int n) { out[0] = n * B; }\n";
  for (int i = 0; i < 30; ++i)
    source += "__device__ int f" + std::to_string(i) + "() { return no; }\n";
  write("k.cu", source);
  const Outcome outcome = run(R"(
file: k.cu
sizes: [512]
arguments: [ 'out: f32[n]', 'i32=n' ]
variants:
  scale: { kernel: scale, parameters: { B: [16, 32, 64, 128] }, grid: n/B, block: B }
)");
  EXPECT_EQ(outcome.exit_code, 6) << outcome.error;
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("\n… and 27 more errors\n"),
                    HasSubstr("f/scale[B=128] 512: k.cu does not compile: the errors "
                              "are those named above\n")));
  EXPECT_LT(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 25);
}

TEST_F(FamilyFile, HasTheVariantsFailThatPtxasRefuses) {
  const std::string large = R"(
  tiled:
    kernel: tiled<TILE, 0>
    parameters: { TILE: [16, 32, 128] }
    grid: [ceil(n/TILE), ceil(n/TILE)]
    block: [TILE, TILE]
)";
  for (const char* compiler : {"nvrtc", "nvcc"}) {
    const Outcome outcome = run(head + large, {"--compiler", compiler});
    EXPECT_EQ(outcome.exit_code, 6) << outcome.error;
    EXPECT_THAT(outcome.error, Not(HasSubstr("since NVRTC could not")));
    const std::string last = " AND run_id = (SELECT max(run_id) FROM runs)";
    EXPECT_EQ(value_of("SELECT group_concat(variant) FROM launches WHERE outcome = 'failed' AND "
                       "reason LIKE '%uses too much shared data%'" +
                       last),
              "tiled[TILE=128]");
    EXPECT_EQ(value_of("SELECT count(*) FROM launches WHERE outcome = 'done'" + last), "4");
    EXPECT_EQ(value_of("SELECT count(*) FROM results WHERE grade = 'ptx'" + last), "0");
  }
  EXPECT_THAT(warpmeter({"model", "k.cu", "-k", "tiled<128, 0>", "--grid", "1", "--block", "128",
                         "--arg", "f32[16384]", "--arg", "f32[16384]", "--arg", "i32=128"})
                  .error,
              HasSubstr("uses too much shared data"));
}

TEST_F(FamilyFile, IsCompiledByTheCompilerThatItAsksFor) {
  write("k.cu", loads_if_nvrtc);
  const std::string family =
      "family: f\nfile: k.cu\narguments: [ out: 'f32[32]', in: 'f32[32]' ]\n"
      "variants:\n  v: { kernel: k, grid: 1, block: 32 }\n";
  const std::string loads =
      "SELECT CAST(sum(value) AS INTEGER) FROM results WHERE metric = 'gld_transactions' AND "
      "run_id "
      "= (SELECT max(run_id) FROM runs)";
  const auto ran = [&](const std::string& text, const std::vector<std::string>& options) {
    const Outcome outcome = run(text, options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    return value_of(loads);
  };
  EXPECT_EQ(ran(family, {}), "4");
  EXPECT_EQ(ran("compiler: nvcc\n" + family, {}), "0");
  EXPECT_EQ(ran(family, {"--compiler", "nvcc"}), "0");
  EXPECT_EQ(ran("compiler: nvcc\n" + family, {"--compiler", "nvrtc"}), "4");
  // nvcc compiles a file that NVRTC cannot, unless NVRTC was asked for.
  write("k.cu", "#include <vector>\n" + contents("k.cu"));
  EXPECT_EQ(ran(family, {}), "0");
  const Outcome refused = run(family, {"--compiler", "nvrtc"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.output + refused.error, HasSubstr("does not compile"));
  const Outcome wrong = run("compiler: gcc\n" + family);
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.error, HasSubstr("f.yaml:1:11: compiler takes nvrtc or nvcc, not 'gcc'"));
}

TEST_F(FamilyFile, AKernelOfAFileRunsFromTheCommandLineAtSeveralSizes) {
  const Outcome outcome =
      warpmeter({"run", "k.cu", "-k", "tiled<16, 1>", "--grid", "ceil(n/16),ceil(n/16)", "--block",
                 "16,16", "--arg", "out:f32[n*n]", "--arg", "in:f32[1<<14]=iota", "--arg", "i32=n",
                 "-n", "32,64", "-b", "model", "--no-progress"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(value_of("SELECT group_concat(family || '/' || variant || ' ' || size) FROM launches"),
            "\"k/tiled<16,1> 32,k/tiled<16,1> 64\"");
}

TEST_F(FamilyFile, ABlockMayBeWrittenWithAnXAndIsNamedWhereItIsWrong) {
  const auto run = [this](const char* block) {
    return warpmeter({"run", "k.cu", "-k", "naive", "--grid", "1", "--block", block, "--arg",
                      "out:f32[256]", "--arg", "in:f32[256]=iota", "--arg", "i32=16", "-b", "model",
                      "--no-progress"});
  };
  ASSERT_EQ(run("16x16").exit_code, 0) << run("16x16").error;
  EXPECT_EQ(value_of("SELECT block FROM launches LIMIT 1"), "16x16x1");
  const Outcome none = run("0");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.error, HasSubstr("block '0' gives 0, which is not from 1"));
}

TEST_F(FamilyFile, WhatIsOfAFileNeedsOne) {
  EXPECT_EQ(warpmeter({"run", "-k", "naive"}).exit_code, 2);
  EXPECT_EQ(warpmeter({"run", "--watch"}).exit_code, 2);
  const Outcome missing = warpmeter({"run", "nowhere.cu"});
  EXPECT_EQ(missing.exit_code, 5);
  EXPECT_THAT(missing.error, HasSubstr("there is no file nowhere.cu"));
}

}  // namespace
}  // namespace warpmeter::cli
