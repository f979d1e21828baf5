// SPDX-License-Identifier: MIT
// The inputs of `warpmeter model` besides arguments, and what it must leave alone: variables of the
// module that are set, or that nobody has set, and files that are read and must not be overwritten.
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* source = R"(
#include "shape.h"
__constant__ float lut[4];
__constant__ int n;
__constant__ int zero = 0;
__device__ unsigned total;
__device__ float scratch[32];
__device__ float* data;
namespace a { __constant__ short s; }
namespace b { __constant__ short s; }
__global__ void k(float* out) {
  scratch[threadIdx.x] = 1;
  out[threadIdx.x] = lut[threadIdx.x & 3] + n + zero + a::s + b::s + first();
}
__global__ void count(float* out) { out[0] = atomicAdd(&total, 1); }
__global__ void last(float* out) { out[0] = total; }
__global__ void through(float* out) { out[0] = data[0]; }
)";

class ModelInputs : public Workspace {
 protected:
  void SetUp() override {
    write("k.cu", source);
    write("sizes.h", "#pragma once\n");
    write("shape.h",
          "#if 1\n#  include <sizes.h>\n#endif\n"
          "__device__ inline float first() { return 0.5f; }\n");
    write("k.bin", std::string("\0\0\x80\x3f", 4) + std::string(12, '\0'));
  }
  Outcome model(std::vector<std::string> more, const std::string& kernel = "k") const {
    std::vector<std::string> words = {"model", "k.cu",    "-k", kernel,  "--grid",
                                      "1",     "--block", "4",  "--arg", "out:f32[4]"};
    words.insert(words.end(), more.begin(), more.end());
    return warpmeter(std::move(words));
  }
  std::vector<float> floats(const std::string& name) const {
    const std::string bytes = contents(name);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::copy_n(bytes.data(), values.size() * sizeof(float),
                reinterpret_cast<char*>(values.data()));
    return values;
  }
};

TEST_F(ModelInputs, NamesTheVariablesThatNobodyHasSet) {
  const Outcome outcome = model({});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("'lut', 'n', 'a::s' and 'b::s' are read and nobody has set them: "
                              "they are all zero; --set lut=FILE.npy"),
                    Not(HasSubstr("zero'")), Not(HasSubstr("scratch")), Not(HasSubstr("total"))));
  EXPECT_THAT(model({"-q"}).error, IsEmpty());
  EXPECT_THAT(model({}, "count").error,
              HasSubstr("'total' is read and written, and nobody has set it: it starts as zero"));
  EXPECT_THAT(
      model({}, "last").error,
      HasSubstr("'total' is read and nobody has set it: it is all zero; --set total=VALUE"));
}

TEST_F(ModelInputs, SetsVariablesByTheirNamesInTheSource) {
  const Outcome outcome = model({"--set", "lut:f32=1,2,3,4", "--set", "n=-5", "--set", "a::s=100",
                                 "--set", "_ZN1b1sE=1000", "--save", "out=out.bin"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.error, IsEmpty());
  EXPECT_EQ(floats("out.bin"), (std::vector<float>{1096.5, 1097.5, 1098.5, 1099.5}));
}

TEST_F(ModelInputs, SetsVariablesFromFilesAndFillsAndBuffers) {
  const std::vector<std::string> rest = {"--set", "n=0",    "--set",  "a::s=0",
                                         "--set", "b::s=0", "--save", "out=out.bin"};
  const auto lut = [&](const std::string& setting) {
    std::vector<std::string> words = rest;
    words.insert(words.begin(), {"--set", setting});
    const Outcome outcome = model(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    return floats("out.bin");
  };
  EXPECT_EQ(lut("lut=k.bin"), (std::vector<float>{1.5, 0.5, 0.5, 0.5}));
  EXPECT_EQ(lut("lut:f32[4]=iota"), (std::vector<float>{0.5, 1.5, 2.5, 3.5}));
  EXPECT_EQ(lut("lut:f32=7"), (std::vector<float>{7.5, 7.5, 7.5, 7.5}));
  EXPECT_EQ(lut("lut:bytes=0000803f000000000000000000000040"),
            (std::vector<float>{1.5, 0.5, 0.5, 2.5}));
  ASSERT_EQ(model({"--save", "out=lut.npy", "--set", "lut:f32=1"}).exit_code, 0);
  EXPECT_EQ(lut("lut=lut.npy"), (std::vector<float>{2, 2, 2, 2}));
  EXPECT_EQ(model({"--set", "data=@out", "--save", "out=out.bin"}, "through").exit_code, 0);
}

TEST_F(ModelInputs, RefusesASettingThatDoesNotFit) {
  ASSERT_EQ(model({"--save", "out=four.npy"}).exit_code, 0);
  const std::pair<const char*, const char*> table[] = {
      {"luts=1", "no variable that a kernel of k.cu uses; did you mean lut?; there are lut, n, "},
      {"s=1", "may mean 2 variables: name one as it is in the PTX, _ZN1a1sE, _ZN1b1sE"},
      {"lut=1", "says no type, and 'lut' is known as 16 bytes alone: lut:f32=1"},
      {"lut:f32=1,2", "gives 2 values of f32, 8 bytes, but 'lut' is 16 bytes"},
      {"lut:f64=1", "has the type f64, but 'lut' is aligned to 4 bytes"},
      {"lut:f32[3]=1", "has 3 elements, but 'lut' is 16 bytes: 4 of f32"},
      {"lut:f31=1", "has the type 'f31', which is none of i8"},
      {"lut:=1", "has no type after its ':'"},
      {"lut:f32=one", "starts with 'one', which is no f32"},
      {"lut:bytes=00", "gives 1 byte, but 'lut' is 16 bytes"},
      {"n=1.5", "starts with '1.5', which is no u32"},
      {"n=99999999999", "which is no u32"},
      {"n:f32=1", "has the type f32, but 'n' is u32"},
      {"n=1,2", "gives 2 values of u32, 8 bytes, but 'n' is u32, 4 bytes"},
      {"n=four.npy", "has the type f32, but 'n' is u32"},
      {"a::s=four.npy", "has the type f32, but 'a::s' is"},
      {"n=k.bin", "gives 16 bytes, but 'n' is 4 bytes"},
      {"lut:u32=four.npy", "asks for u32, but four.npy holds f32"},
      {"n=@out", "gives a buffer's address, but 'n' is u32, no pointer"},
      {"data=@nothing", "names no buffer of an earlier argument"},
      {"n", "has no value"},
      {"=5", "names no variable"},
  };
  for (const auto& [text, words] : table) {
    const Outcome outcome = model({"--set", text});
    EXPECT_EQ(outcome.exit_code, 2) << text;
    EXPECT_THAT(outcome.error, HasSubstr(words)) << text;
    EXPECT_THAT(outcome.output, IsEmpty()) << text;
  }
  EXPECT_EQ(model({"--set", "lut=no.npy"}).exit_code, 5);
  write("huge.bin", "");
  std::filesystem::resize_file(file("huge.bin"), std::uintmax_t{1} << 40);
  for (const char* option : {"--set", "--arg"}) {
    const std::string text = std::string(option) == "--set" ? "lut=huge.bin" : "f32[]=huge.bin";
    EXPECT_EQ(model({option, text}).exit_code, 2) << text;
  }
}

TEST_F(ModelInputs, SetsVariablesOfASpecBeforeEachLaunchAndKeepsThem) {
  std::filesystem::create_directory(file("specs"));
  std::filesystem::copy_file(file("k.bin"), file("specs/lut.bin"));
  write("specs/s.yaml", R"(file: ../k.cu
set: {lut: lut.bin, n: 1, "a::s": 0, "b::s": 0, "total": 40}
launches:
  - {kernel: k, grid: 1, block: 4, args: ["out:f32[4]"], save: {out: ../one.bin}}
  - {kernel: count, grid: 1, block: 2, args: ["out:f32[4]"], set: {n: 2, "lut:f32": [5, 6, 7, 8]}}
  - {kernel: k, grid: 1, block: 4, args: ["out:f32[4]"], save: {out: ../two.bin}}
  - {kernel: last, grid: 1, block: 1, args: ["in:f32[4]=lut.bin"], save: {in: ../total.bin}}
)");
  const Outcome outcome = warpmeter({"model", "--spec", "specs/s.yaml"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.error, IsEmpty());
  EXPECT_EQ(floats("one.bin"), (std::vector<float>{2.5, 1.5, 1.5, 1.5}));
  EXPECT_EQ(floats("two.bin"), (std::vector<float>{7.5, 8.5, 9.5, 10.5}));
  EXPECT_EQ(floats("total.bin").at(0), 42);
  // The command line's value holds for the first launch.
  ASSERT_EQ(warpmeter({"model", "--spec", "specs/s.yaml", "--set", "n=11"}).exit_code, 0);
  EXPECT_EQ(floats("one.bin"), (std::vector<float>{12.5, 11.5, 11.5, 11.5}));
}

TEST_F(ModelInputs, AreSetForLaterLaunchesByEarlierOnes) {
  write("s.yaml", R"(file: k.cu
launches:
  - {kernel: count, grid: 1, block: 1, args: ["out:f32[4]"]}
  - {kernel: last, grid: 1, block: 1, args: ["out:f32[4]"]}
)");
  const Outcome outcome = warpmeter({"model", "--spec", "s.yaml"});
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("'total' is read and written"),
                                   Not(HasSubstr("'total' is read and nobody"))));
}

TEST_F(ModelInputs, AreNotOverwritten) {
  write("s.yaml", R"(file: k.cu
set: {lut: k.bin}
launches:
  - {kernel: k, grid: 1, block: 4, args: ["out:f32[4]=k.bin"], save: {out: out.npy}}
  - {kernel: k, grid: 1, block: 4, args: ["@out"]}
)");
  write("s2.yaml", R"(file: k.cu
launches:
  - {kernel: k, grid: 1, block: 4, args: ["out:f32[4]"], save: {out: ./shape.bin}}
  - {kernel: k, grid: 1, block: 4, args: ["in:f32[4]=shape.bin"]}
)");
  write("shape.bin", contents("k.bin"));
  write("k.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n");
  write("k.cubin", "machine code");
  std::filesystem::create_symlink("k.cu", file("link"));
  std::filesystem::create_hard_link(file("k.bin"), file("twin.bin"));
  const std::vector<std::string> launch = {"-k", "k", "--grid", "1", "--block", "4"};
  struct Row {
    std::vector<std::string> words;
    const char* what;
  };
  const Row table[] = {
      {{"k.cu", "-o", "k.cu", "--arg", "f32[4]"}, "the kernels' source"},
      {{"k.cu", "-o", "./specs/../link", "--arg", "f32[4]"}, "the kernels' source"},
      {{"k.cu", "-o", "shape.h", "--arg", "f32[4]"}, "shape.h, which k.cu includes"},
      {{"k.cu", "--db", "k.cu", "--arg", "f32[4]"}, "would change the kernels' source"},
      {{"k.cu", "--db", "a.db", "-o", "a.db", "--arg", "f32[4]"}, "the database"},
      {{"k.cu", "--db", "a.db", "-o", "a.db-wal", "--arg", "f32[4]"}, "the database"},
      {{"k.cu", "-o", "k.bin", "--arg", "f32[]=k.bin"}, "what 'f32[]=k.bin' reads"},
      {{"k.cu", "--save", "o=k.bin", "--arg", "o:f32[]=k.bin"}, "what 'o:f32[]=k.bin' reads"},
      {{"k.cu", "--save", "o=twin.bin", "--arg", "o:f32[]=k.bin"}, "what 'o:f32[]=k.bin' reads"},
      {{"k.cu", "--save", "o=k.bin", "--arg", "o:f32[4]", "--set", "lut=k.bin"},
       "what 'lut=k.bin' reads"},
      {{"k.cu", "--save", "o=a.npy", "--save", "o=./a.npy", "--arg", "o:f32[4]"},
       "what --save o writes"},
      {{"k.cu", "--save", "o=a.npy", "-o", "a.npy", "--arg", "o:f32[4]"}, "what -o writes"},
      {{"k.ptx", "-o", "k.ptx"}, "the kernels' source"},
      {{"k.ptx", "-o", "k.cubin"}, "the machine code of k.ptx"},
      {{"k.ptx", "--cubin", "k.bin", "-o", "k.bin"}, "the machine code of k.ptx"},
      {{"--spec", "s.yaml", "-o", "s.yaml"}, "the list of launches"},
      {{"--spec", "s.yaml", "-o", "k.bin"}, "what 'out:f32[4]=k.bin' reads"},
      {{"--spec", "s2.yaml"}, "--save out ./shape.bin would overwrite what 'in:f32[4]=shape.bin'"},
      {{"--accepts", "k.ptx", "-o", "k.ptx"}, "the kernels' source"},
      {{"--accepts", "k.cu", "-o", "specs/../sizes.h", "-I", "."}, "sizes.h, which k.cu includes"},
  };
  std::filesystem::create_directory(file("specs"));
  const auto everything = [&] {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      const std::string name = entry.path().filename();
      all[name] = entry.is_directory() ? "" : contents(name);
    }
    return all;
  };
  const auto before = everything();
  for (const Row& row : table) {
    std::vector<std::string> words = row.words;
    words.insert(words.begin(), "model");
    if (words[1].starts_with("k.")) words.insert(words.end(), launch.begin(), launch.end());
    const Outcome outcome = warpmeter(words);
    EXPECT_EQ(outcome.exit_code, 2) << row.what;
    EXPECT_THAT(outcome.error, AllOf(HasSubstr(row.what), HasSubstr("choose another file")));
    EXPECT_THAT(outcome.output, IsEmpty()) << row.what;
    EXPECT_EQ(everything(), before) << row.what;
  }
}

TEST_F(ModelInputs, LeaveNoFileWhereALaunchFails) {
  const Outcome outcome = model({"--save", "out=out.npy", "--set", "data:u64=0"}, "through");
  EXPECT_EQ(outcome.exit_code, 6) << outcome.error;
  EXPECT_EQ(model({"--save", "out=nowhere/out.npy"}).exit_code, 5);
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("npy."))) << "left over";
  }
}

/// PTX whose one load has a line of that file.
std::string ptx_of(const std::string& file) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
         ".reg .b64 %d<3>; .reg .b32 %r<3>;\nld.param.u64 %d1, [p];\n.loc 1 1 1\n"
         "ld.global.u32 %r1, [%d1];\n.loc 1 1 1\nst.global.u32 [%d1+4], %r1;\nret;\n}\n.file 1 \"" +
         file + "\"\n";
}

TEST_F(ModelInputs, ShowNoFileThatAStrangersPtxNames) {
  const std::vector<std::string> more = {"--grid",      "1",       "--block", "1",          "--arg",
                                         "u32[8]=iota", "--lines", "--db",    "stranger.db"};
  const auto text_of = [&](const std::string& named) {
    write("stranger.ptx", ptx_of(named));
    std::vector<std::string> words = {"model", "stranger.ptx", "-k", "k"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(warpmeter(words).exit_code, 0) << named;
    return warpmeter({"query",
                      "SELECT count(text) AS n FROM lines WHERE text <> '' UNION ALL "
                      "SELECT count(*) FROM sources",
                      "--format", "csv", "--db", "stranger.db"})
        .output;
  };
  for (const char* named : {"/etc/passwd", "../../../../../../etc/passwd", "/dev/zero", "pipe"}) {
    ASSERT_TRUE(std::string_view(named) != "pipe" || mkfifo(file("pipe").c_str(), 0600) == 0);
    EXPECT_EQ(text_of(named), "n\n0\n0\n") << named;
  }
  write("own.h", "int first_line;\n");
  EXPECT_NE(text_of("own.h"), "n\n0\n0\n");
}

TEST_F(ModelInputs, OfYamlLieBelowItsFolderOrTheWorkingFolder) {
  write("stranger.yaml", "file: ../../../../../../etc/passwd.cu\nvariants:\n  k: {kernel: k}\n");
  const Outcome outcome = warpmeter({"run", "stranger.yaml", "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("neither below its folder nor below this one"));
}

TEST_F(ModelInputs, OfYamlWithMoreValuesThanAnybodyMeasuresAreRefusedWithTheLimit) {
  std::string sizes;
  for (int size = 1; size <= 200'000; ++size) sizes += std::to_string(size) + ",";
  write("many.yaml", "file: k.cu\nsizes: [" + sizes + "]\nvariants:\n  k: {kernel: k}\n");
  const Outcome outcome = warpmeter({"run", "many.yaml", "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("200000 values, more than the 10000"));
}

TEST_F(ModelInputs, OfThousandsOfKernelsAreNamedInPart) {
  std::string ptx = ".version 8.0\n.target sm_90\n.address_size 64\n";
  for (int i = 0; i < 8'000; ++i) {
    ptx += ".visible .entry kernel_" + std::to_string(i) + "()\n{\nret;\n}\n";
  }
  write("many.ptx", ptx);
  const Outcome outcome =
      warpmeter({"model", "many.ptx", "-k", "k", "--grid", "1", "--block", "1"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("and 7900 more"));
}

}  // namespace
}  // namespace warpmeter::cli
