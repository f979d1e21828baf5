// SPDX-License-Identifier: MIT
// `warpmeter model` as a person uses it: PTX and CUDA sources, arguments, outputs.
#include <algorithm>

#include "tests/collector/cli/model_workspace.h"

namespace warpmeter::cli {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class Model : public ModelWorkspace {};

TEST_F(Model, CompilesACudaSourceAndCountsIt) {
  const Outcome outcome = transposed({"--format", "csv"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output, HasSubstr("transpose_tiled,shared_load_transactions_per_request,8,"));
  EXPECT_THAT(outcome.output, HasSubstr("transpose_tiled,gst_efficiency,100,%,exact,"));
}

TEST_F(Model, ShowsTheLineWithTheBankConflictFirst) {
  const Outcome outcome = transposed({"--lines", "--format", "csv"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  const std::string first = outcome.output.substr(outcome.output.find('\n') + 1);
  EXPECT_THAT(first.substr(0, first.find('\n')),
              // 128 warps read two columns of rows of 16 words: 8 words in each of four banks.
              AllOf(HasSubstr("transpose.cu,8,"), HasSubstr("tile[threadIdx.x][threadIdx.y]"),
                    HasSubstr("shared load,128,1024,128,896,12.5,exact")));
}

TEST_F(Model, IsExactOnlyOnArchitecturesThatWereMeasured) {
  for (const std::string arch : {"sm_75", "sm_86", "sm_120"}) {
    const Outcome outcome = transposed({"--arch", arch, "--format", "json", "--lines"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_THAT(outcome.output,
                AllOf(HasSubstr(R"("grade":"modelled","reason":"by the rules of sm_90, not )"
                                R"(measured on )" +
                                arch + "\""),
                      HasSubstr(R"("access":"shared load")"), Not(HasSubstr("exact"))));
  }
  write("spec.yaml",
        "file: transpose.cu\narch: sm_86\nlaunches:\n"
        "  - {kernel: transpose_tiled, grid: 1, block: [16, 16],\n"
        "     args: ['f32[256]', 'f32[256]', i32=16, i32=16]}\n");
  EXPECT_THAT(model({"--spec", "spec.yaml"}).output,
              AllOf(HasSubstr("not measured on sm_86"), Not(HasSubstr("exact"))));
}

TEST_F(Model, KeepsOneKernelAtTwoGridsApartByTheNamesAndSizesOfTheSpec) {
  write("spec.yaml",
        "file: transpose.cu\nlaunches:\n"
        "  - {kernel: transpose_tiled, name: small, size: 16, grid: 1, block: [16, 16],\n"
        "     args: ['f32[256]', 'f32[256]', i32=16, i32=16]}\n"
        "  - {kernel: transpose_tiled, grid: 1, block: [16, 16], size: 8,\n"
        "     args: ['f32[256]', 'f32[256]', i32=8, i32=8]}\n");
  ASSERT_EQ(model({"--spec", "spec.yaml", "--db", "warpmeter.db"}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT group_concat(variant || ' ' || size) FROM launches"),
            "\"small 16,transpose_tiled 8\"");
}

TEST_F(Model, SaysOneEfficiencyOfALaunchAndOfItsLine) {
  // Full warps, skipped words and shared ones: of bytes and of the fewest sectors for them these
  // made other numbers.
  write("strided.cu",
        "__global__ void strided(float* out, const float* in, int n, int stride, int same) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) out[i] = in[i / same * stride];\n"
        "}\n");
  std::string spec = "file: strided.cu\nlaunches:\n";
  for (const char* numbers :
       {"i32=64, i32=1, i32=1", "i32=33, i32=8, i32=1", "i32=41, i32=16, i32=1",
        "i32=64, i32=1, i32=32", "i32=64, i32=3, i32=2"}) {
    spec +=
        std::string("  - {grid: 2, block: 32, args: ['f32[64]', 'f32[1024]', ") + numbers + "]}\n";
  }
  write("spec.yaml", spec);
  const Outcome outcome = model({"--spec", "spec.yaml", "--db", "warpmeter.db"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  const auto count = [&](const std::string& condition) {
    return value_of(
        "SELECT count(*) FROM results r JOIN lines n USING (launch_id) WHERE n.access = "
        "CASE r.metric WHEN 'gld_efficiency' THEN 'global load' WHEN 'gst_efficiency' THEN "
        "'global store' END AND " +
        condition);
  };
  // Two accesses a launch. A sector for 4 bytes: the loads of strides 8 and 16, and of one word.
  // The fewest sectors are others there, and where 33 and 41 lanes store.
  EXPECT_EQ(count("r.value = n.efficiency"), "10");
  EXPECT_EQ(count("r.value = 12.5"), "3");
  EXPECT_EQ(count("abs(r.value - 100.0 * n.ideal / n.transactions) > 1"), "5");
}

TEST_F(Model, ShowsAtomicsByDefaultWhereThereAreAny) {
  write("count.cu",
        "__global__ void count(unsigned* out) {\n"
        "  __shared__ unsigned bins[32];\n"
        "  bins[threadIdx.x] = atomicExch(&out[32 + threadIdx.x], 1u);\n"
        "  __syncthreads();\n"
        "  atomicMax(&bins[threadIdx.x / 2], out[threadIdx.x]);\n"
        "  __syncthreads();\n"
        "  atomicMax(&out[threadIdx.x], bins[threadIdx.x]);\n"
        "}\n");
  const Outcome outcome =
      model({"count.cu", "--grid", "1", "--block", "32", "--arg", "u32[64]", "--db", "mine.db"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  for (const char* row :
       {"shared_atomic_wavefronts", "shared_atomic_requests", "global_atomic_sectors",
        "global_atomic_requests", "global_reduction_sectors", "global_reduction_requests"}) {
    EXPECT_THAT(outcome.output, HasSubstr(row));
  }
  EXPECT_THAT(warpmeter({"report", "--db", "mine.db"}).output,
              AllOf(HasSubstr("shared_atomic_requests"), HasSubstr("global reductions (sectors)")));
  ASSERT_EQ(transposed({"--db", "other.db"}).exit_code, 0);
  EXPECT_THAT(transposed({}).output, Not(HasSubstr("atomic")));
  EXPECT_THAT(transposed({"-m", "shared_atomic_requests"}).output,
              HasSubstr("shared_atomic_requests"))
      << "asked for";
  EXPECT_THAT(warpmeter({"report", "--db", "other.db"}).output,
              AllOf(HasSubstr("gst efficiency"), Not(HasSubstr("atomic"))));
}

TEST_F(Model, ShowsMatricesByDefaultWhereThereAreAny) {
  write(
      "matrix.cu",
      "extern \"C\" __global__ void turned(unsigned* out) {\n"
      "  __shared__ __align__(128) unsigned tile[1024];\n"
      "  for (int i = threadIdx.x; i < 1024; i += 32) tile[i] = i;\n"
      "  __syncwarp();\n"
      "  unsigned row = (unsigned)__cvta_generic_to_shared(tile) + threadIdx.x * 128, a, b, c, d;\n"
      "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\"\n"
      "               : \"=r\"(a), \"=r\"(b), \"=r\"(c), \"=r\"(d) : \"r\"(row));\n"
      "  asm volatile(\"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};\" :: \"r\"(row), "
      "\"r\"(a + b + c + d) : \"memory\");\n"
      "  __syncwarp();\n"
      "  out[threadIdx.x] = tile[threadIdx.x];\n"
      "}\n");
  const Outcome outcome =
      model({"matrix.cu", "--grid", "1", "--block", "32", "--arg", "u32[32]", "--lines"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output, testing::ContainsRegex("shared_matrix_load_wavefronts +32 "));
  EXPECT_THAT(outcome.output, testing::ContainsRegex("shared_matrix_store_wavefronts +8 "));
  EXPECT_THAT(outcome.output, HasSubstr("shared matrix load")) << "the line says what it is";
  EXPECT_THAT(transposed({}).output, Not(HasSubstr("matrix")));
}

TEST_F(Model, StoresTheLaunchWhereADatabaseIsNamed) {
  ASSERT_EQ(transposed({"--db", "mine.db"}).exit_code, 0);
  const Outcome outcome = warpmeter({"query", "--db", "mine.db", "--format", "csv",
                                     "SELECT family, variant, value FROM results WHERE metric = "
                                     "'shared_load_transactions_per_request'"});
  EXPECT_THAT(outcome.output, HasSubstr("model,transpose_tiled,8"));
  EXPECT_FALSE(std::filesystem::exists(file("warpmeter.db")));
}

TEST_F(Model, SavesWhatAKernelWrote) {
  const Outcome saved = transposed({"--save", "out=out.bin"});
  ASSERT_EQ(saved.exit_code, 0) << saved.error;
  const std::string bytes = contents("out.bin");
  ASSERT_EQ(bytes.size(), 4096u * 4);
  std::vector<float> values(4096);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(values.data()));
  EXPECT_EQ(values[1], 64.0f);
  EXPECT_EQ(values[64], 1.0f);
}

TEST_F(Model, InstantiatesATemplate) {
  const Outcome outcome =
      model({"transpose.cu", "-k", "fill<double, 32>", "--grid", "1", "--block", "64", "--arg",
             "out:f64[32]", "--arg", "f64=2.5", "--save", "out=out.npy"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output, HasSubstr("fill<double, 32>"));
  EXPECT_THAT(contents("out.npy"), HasSubstr("'descr': '<f8'"));
}

TEST_F(Model, ShowsTheCompilersMessages) {
  write("broken.cu", "__global__ void k(int* p) {\n  p[0] = q;\n}\n");
  const Outcome outcome = model({"broken.cu", "--grid", "1", "--block", "1"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("broken.cu(2): error"), HasSubstr("\"q\" is undefined")));
}

TEST_F(Model, NamesTheEntriesThereAre) {
  const Outcome outcome = model({"transpose.cu", "-k", "transpose", "--grid", "1", "--block", "1"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("no kernel 'transpose'"), HasSubstr("transpose_tiled")));
}

TEST_F(Model, ListsInstancesInAFormThatCanBeGivenBack) {
  write("instances.cu", R"(
template <class T, int N> __global__ void fill(T* out) { out[threadIdx.x % N] = N; }
template __global__ void fill<float, 4>(float*);
template __global__ void fill<unsigned, 8>(unsigned*);
__global__ void same(int* p) { p[0] = 1; }
__global__ void same(float* p) { p[0] = 1; }
)");
  const auto chosen = [&](const std::string& kernel, const std::string& argument) {
    return model({"instances.cu", "-k", kernel, "--grid", "1", "--block", "32", "--arg", argument});
  };
  Outcome outcome = chosen("fill", "f32[32]");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("2 kernels 'fill'; choose one with -k (in a spec, kernel:): "
                                       "'fill<float, 4>', 'fill<unsigned int, 8>'"));
  outcome = chosen("fill<unsigned int, 8>", "u32[8]");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  outcome = chosen("same", "i32[1]");
  EXPECT_THAT(outcome.error, HasSubstr("'same(int*)', 'same(float*)'"));
  outcome = chosen("same(float*)", "f32[1]");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  outcome = chosen("fill<int>", "i32[32]");  // the source is fine, the name is not
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("no instance could be made of fill<int>"),
                    HasSubstr("no kernel 'fill<int>'"), Not(HasSubstr("does not compile"))));
}

TEST_F(Model, NamesNoOptionThatASpecHasNot) {
  write("spec.yaml",
        "file: add.ptx\nlaunches:\n  - {kernel: add, grid: 1, block: 2048, args: [null, u32=1]}\n");
  Outcome outcome = model({"--spec", "spec.yaml"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("at most 1024 threads"), Not(HasSubstr("--block"))));
  write("spec.yaml",
        "file: add.ptx\nlaunches:\n  - {kernel: add, grid: 1, block: 1, args: [null]}\n");
  outcome = model({"--spec", "spec.yaml"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("takes 2 arguments and 1 was given"), Not(HasSubstr("--arg"))));
}

TEST_F(Model, KeepsTheModulesVariablesFromLaunchToLaunch) {
  write("spec.yaml", R"(file: add.ptx
launches:
  - {kernel: add, grid: 1, block: 1, args: ["out:u32[1]", "n:u32=5"]}
  - kernel: add
    grid: [1]
    block: [1]
    args: ["@out", {"n:u32": 7}]
    save: {out: out.bin}
)");
  const Outcome outcome = model({"--spec", "spec.yaml", "--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(contents("out.bin"), std::string("\x0c\0\0\0", 4));
  EXPECT_THAT(outcome.output, HasSubstr(R"("launch_id":2,"variant":"add")"));
}

TEST_F(Model, SaysWhereASpecIsWrong) {
  const std::pair<const char*, const char*> table[] = {
      {"file: add.ptx\nlaunches:\n  - {kernel: add, grid: 1, blok: 1}\n",
       "spec.yaml:3:28: 'blok' is none of kernel, name, size, grid, block, shared, args, set, "
       "save; "
       "did you mean block"},
      {"file: add.ptx\nlaunches: [\n", "spec.yaml:3:1: "},
      {"file: add.ptx\nfile: b.ptx\n", "spec.yaml:2:1: 'file' stands here a second time"},
      {"file: add.ptx\nset: {a: 1, a: 2}\n", "spec.yaml:2:13: 'a' stands here a second time"},
      {"file: add.ptx\n", "no list of launches"},
      {"[1, 2]", "spec.yaml:1:1: is no table of names and values"},
      {"file: add.ptx\nlaunches:\n  - {kernel: add, grid: 0, block: 1}\n", "spec.yaml:3:25: grid"},
      {"file: add.ptx\nlaunches:\n  - {kernel: add, grid: {x: 1}, block: 1}\n",
       "spec.yaml:3:25: grid has to be a value or a list"},
      {"file: add.ptx\nlaunches:\n  - {kernel: add, size: 0, grid: 1, block: 1}\n",
       "spec.yaml:3:25: size"},
      {"", "spec.yaml:1:1: is no table of names and values"},
      {"file: add.ptx\narch: sm_91\nlaunches:\n", "spec.yaml:2:7: arch takes an architecture"},
      {"file: add.ptx\nstd: c++14\nlaunches:\n", "spec.yaml:2:6: std takes c++17 or c++20"},
      {"file: add.ptx\n\ninclude: nowhere\nlaunches:\n", "spec.yaml:3:10: include takes a folder"},
      {"file: add.ptx\ndefine: [N, 1x]\nlaunches:\n", "spec.yaml:2:13: define takes NAME"},
      {"file: add.ptx\nset: [1]\nlaunches:\n", "spec.yaml:2:6: set has to be a table"},
  };
  for (const auto& [text, words] : table) {
    write("spec.yaml", text);
    const Outcome outcome = model({"--spec", "spec.yaml"});
    EXPECT_EQ(outcome.exit_code, 2) << text;
    EXPECT_THAT(outcome.error, HasSubstr(words)) << text;
  }
  EXPECT_THAT(model({"--spec", "spec.yaml"}).error, HasSubstr("(see: warpmeter model --help)"));
  write("spec.yaml", std::string((4 << 20) + 1, ' '));
  EXPECT_THAT(model({"--spec", "spec.yaml"}).error,
              HasSubstr("spec.yaml is larger than a list of launches can be (4194304 bytes)"));
}

TEST_F(Model, FailsWithTheKernel) {
  const Outcome outcome = model({"add.ptx", "--grid", "1", "--block", "1", "--arg", "null", "--arg",
                                 "u32=1", "--db", "failed.db"});
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("illegal address"), HasSubstr("add.ptx:13")));
  EXPECT_THAT(outcome.error, EndsWith("warpmeter: kernel 'add' failed: illegal address (above)\n"));
  EXPECT_THAT(outcome.error, Not(HasSubstr("add.ptx:13")));
  const Outcome for_programs = model({"add.ptx", "--grid", "1", "--block", "1", "--arg", "null",
                                      "--arg", "u32=1", "--format", "csv"});
  EXPECT_THAT(for_programs.error, AllOf(HasSubstr("illegal address"), HasSubstr("add.ptx:13")));
}

TEST_F(Model, SaysWhichKernelsItAccepts) {
  std::string text = counter_source;
  text +=
      ".visible .entry twin()\n{\n .reg .b32 %r<5>;\n mov.u32 %r1, 1;\n"
      " tex.1d.v4.s32.s32 {%r1,%r2,%r3,%r4}, [t, {%r1}];\n ret;\n}\n";
  write("two.ptx", text);
  write("torn.ptx", ".version 8.0\n.target sm_90\n.visible .entry k( {");
  const Outcome outcome = model({"--accepts", "two.ptx", "torn.ptx", "--format", "csv"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("two.ptx,add,yes,"), HasSubstr("two.ptx,twin,no,"),
                                    HasSubstr("tex.1d"), HasSubstr("torn.ptx,,no,,")));
  EXPECT_EQ(model({"--accepts", "add.ptx"}).exit_code, 0);
}

TEST_F(Model, NamesKernelsOfHeadersAfterOnesOwn) {
  std::filesystem::create_directories(file("library"));
  std::filesystem::create_directories(file("own"));
  write("library/sort.cuh", "__global__ void library_sort(int* out) { out[threadIdx.x] = 1; }\n");
  write("own/near.cuh", "__global__ void near(int* out) { out[threadIdx.x] = 3; }\n");
  write("own/a.cu",
        "#include \"sort.cuh\"\n#include \"near.cuh\"\n"
        "__global__ void mine(int* out) { out[threadIdx.x] = 2; }\n");
  const std::vector<std::string> file_and_folders = {"own/a.cu", "-I", "library", "-I", "own"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), file_and_folders.begin(), file_and_folders.end());
    return model(words);
  };
  const Outcome choice = with({"--grid", "1", "--block", "1"});
  EXPECT_EQ(choice.exit_code, 2);
  EXPECT_THAT(choice.error,
              testing::AnyOf(HasSubstr("'near', 'mine'; of headers: 'library_sort'"),
                             HasSubstr("'mine', 'near'; of headers: 'library_sort'")));
  const std::string table = with({"--accepts"}).output;
  const std::size_t line = table.find("Kernels of headers outside of the file's folder:");
  EXPECT_LT(table.find("mine"), line) << table;
  EXPECT_LT(table.find("near"), line);
  EXPECT_LT(line, table.find("library_sort"));
  EXPECT_THAT(
      with({"--accepts", "--format", "csv"}).output,
      AllOf(HasSubstr("own/a.cu,library_sort,yes,"), HasSubstr(",yes\n"), HasSubstr(",no\n")));
  EXPECT_THAT(model({"--accepts", "add.ptx"}).output, Not(HasSubstr("headers")));
}

TEST_F(Model, KeepsANameThatWouldAlsoBeAMangledType) {
  std::string text = counter_source;
  text.replace(text.find("add("), 3, "f");
  write("f.ptx", text);
  const Outcome outcome = model({"f.ptx", "-k", "f", "--grid", "1", "--block", "1", "--arg",
                                 "u32[1]", "--arg", "u32=1", "--format", "csv"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("\n1,f,"), Not(HasSubstr(",float,"))));
}

TEST_F(Model, StoresALaunchThatHasALabel) {
  const std::vector<std::string> add = {"add.ptx", "--grid", "1",     "--block", "1",   "--arg",
                                        "u32[1]",  "--arg",  "u32=1", "--label", "mine"};
  ASSERT_EQ(model(add).exit_code, 0);
  EXPECT_EQ(value_of("SELECT label FROM runs"), "mine");
  std::vector<std::string> words = add;
  words.insert(words.begin(), "model");
  Start start{words, folder_};
  start.environment = {{"WARPMETER_DB", "lab.db"}};
  ASSERT_EQ(run_program(start).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(file("lab.db")));
  EXPECT_EQ(value_of("SELECT count(*) FROM runs"), "1");
  const Outcome refused = model({"--accepts", "add.ptx", "--label", "mine"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.error, HasSubstr("--accepts runs nothing"));
}

TEST_F(Model, EstimatesAGridFromSomeOfItsBlocks) {
  const std::vector<std::string> large = {"transpose.cu",
                                          "-k",
                                          "transpose_tiled",
                                          "--grid",
                                          "32,32",
                                          "--block",
                                          "16,16",
                                          "--arg",
                                          "out:f32[262144]",
                                          "--arg",
                                          "in:f32[262144]=iota",
                                          "--arg",
                                          "i32=512",
                                          "--arg",
                                          "i32=512",
                                          "--blocks",
                                          "2%"};
  const Outcome outcome = model(large);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  // 2 % of 32 × 32 blocks, rounded up; 4 × 30 are on the edges. 512 × 512 floats are 32,768
  // sectors.
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("21 of 1024 blocks (2.05 %): 4 of 4 corners, 9 of 120 on the edges"),
                    HasSubstr("Those of one part cost the same"), HasSubstr("sampled"),
                    Not(HasSubstr("exact"))));
  std::vector<std::string> counted = large;
  counted.insert(counted.end(), {"--format", "csv", "-m", "global_load_sectors"});
  const Outcome csv = model(counted);
  EXPECT_THAT(csv.output, HasSubstr("global_load_sectors,32768,"));
  EXPECT_THAT(csv.error, HasSubstr("'transpose_tiled' is estimated from 21 of 1024 blocks"));
  std::vector<std::string> checked = large;
  checked.insert(checked.end(), {"--check"});
  std::string told = model(checked).output;
  std::replace(told.begin(), told.end(), '\n', ' ');
  EXPECT_THAT(told, HasSubstr("Not looked for: the blocks that --blocks left out"));
}

// 400 blocks of 8 warps, and each warp copies once without a byte: L1 gets no request of it.
TEST_F(Model, EstimatesCopiesWithoutAByteTooFromSomeBlocks) {
  write("empty.ptx", R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry copies(.param .u64 in) {
  .reg .b32 %r<3>; .reg .b64 %d; .shared .align 16 .b8 s[16];
  ld.param.u64 %d, [in]; mov.u32 %r1, s; mov.u32 %r2, 0;
  cp.async.cg.shared.global [%r1], [%d], 16, %r2;
  cp.async.wait_all;
  ret;
}
)");
  const Outcome outcome =
      model({"empty.ptx", "--grid", "400", "--block", "256", "--arg", "in:i32[4]", "--blocks",
             "10%", "--format", "csv", "-m", "async_copy_requests,global_load_requests"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("async_copy_requests,3200,"), HasSubstr("global_load_requests,0,")));
}

TEST_F(Model, GivesTheSameOnOneThreadAndMany) {
  const Outcome one = transposed({"--threads", "1", "--lines", "--format", "json"});
  const Outcome many = transposed({"--threads", "64", "--lines", "--format", "json"});
  EXPECT_EQ(one.output, many.output);
  EXPECT_THAT(one.output, Not(testing::IsEmpty()));
}

}  // namespace
}  // namespace warpmeter::cli
